"""What a document says, as blocks: `report.render` writes any list of them as a page, as Markdown, on a terminal.

Text is plain `str`, which every renderer escapes; what is more than that is an inline piece. Nothing here draws or
measures: a figure brings the function that draws it, which only a page calls.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar, Union

Medium = Literal["html", "markdown", "terminal"]
Media: TypeAlias = frozenset[Medium]
PAGE: Media = frozenset({"html"})
MARKDOWN: Media = frozenset({"markdown"})
TERMINAL: Media = frozenset({"terminal"})
TEXTS: Media = MARKDOWN | TERMINAL
DOCUMENTS: Media = PAGE | MARKDOWN
EVERYWHERE: Media = PAGE | TEXTS

Tone = Literal["bad", "good", "unsure", "neutral"]
"""Shown by an icon or a sign and a colour, beside a word."""
Weight = Literal["usual", "lead", "note"]
"""How loud a text is: a note is secondary."""


@dataclass(frozen=True)
class Strong:
    """What must be seen."""

    text: "Text"


@dataclass(frozen=True)
class Code:
    """A file name, an option, a command."""

    text: str


@dataclass(frozen=True)
class Link:
    """Text that leads to the heading of a key; on a page alone."""

    text: str
    to: str


@dataclass(frozen=True)
class Name:
    """A name from outside: it breaks where its parts end, and what was cut off is told when one points at it."""

    text: str
    most: int = 60


@dataclass(frozen=True)
class Span:
    """The ends of an interval, written."""

    low: str
    high: str


@dataclass(frozen=True)
class Footnote:
    """A mark in prose, on a card or in a table, and what stands below that block."""

    text: str


@dataclass(frozen=True)
class Dot:
    """The sign that a row has in the figure, and its number there; on a page alone."""

    kind: str
    number: str = ""


Piece: TypeAlias = str | Code | Link | Name | Span | Footnote | Dot
Text: TypeAlias = Piece | Strong | tuple["Text", ...]


def pieces(text: Text) -> Iterator[Piece]:
    """List the pieces that a text is made of."""
    if isinstance(text, tuple):
        for part in text:
            yield from pieces(part)
    elif isinstance(text, Strong):
        yield from pieces(text.text)
    else:
        yield text


def footnotes(*texts: Text) -> tuple[str, ...]:
    """List the footnotes of texts, each once."""
    return tuple(dict.fromkeys(one.text for text in texts for one in pieces(text) if isinstance(one, Footnote)))


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One part of a document; `only` names the media that show it."""

    only: Media = EVERYWHERE


B = TypeVar("B", bound=Shown)


def only(media: Media, *blocks: B) -> tuple[B, ...]:
    """Show blocks in some media alone."""
    return tuple(replace(block, only=block.only & media) for block in blocks)


@dataclass(frozen=True)
class Heading(Shown):
    """A heading; one of level 2 begins a section, which the menu of the page names by `menu`."""

    text: Text
    key: str = ""
    menu: str = ""
    level: Literal[2, 3] = 3


@dataclass(frozen=True)
class Prose(Shown):
    """A paragraph."""

    text: Text
    weight: Weight = "usual"


@dataclass(frozen=True)
class Bullets(Shown):
    """A list."""

    items: tuple[Text, ...]
    weight: Weight = "usual"


@dataclass(frozen=True)
class Notice(Shown):
    """What must not be overlooked."""

    text: Text
    tone: Tone = "unsure"


@dataclass(frozen=True)
class Folded(Shown):
    """Blocks that a page shows when they are asked for."""

    title: Text
    blocks: tuple["Block", ...]


@dataclass(frozen=True)
class Banner(Shown):
    """The head of a document: of what it is, and its finding in a sentence."""

    about: Text
    sentence: Text
    tone: Tone = "neutral"
    word: str = ""
    blocks: tuple["Block", ...] = ()
    menu: str = "Finding"


@dataclass(frozen=True)
class Facts(Shown):
    """Names and values, in groups with titles; a value may be such a list itself."""

    groups: tuple[tuple[str, "Values"], ...]


Values: TypeAlias = tuple[tuple[str, Union[str, "Values"]], ...]


@dataclass(frozen=True)
class Terms(Shown):
    """Words with their meanings."""

    items: tuple[tuple[str, Text], ...]


@dataclass(frozen=True)
class Card:
    """One number that stands out."""

    title: str
    value: Text
    note: Text = ""


@dataclass(frozen=True)
class Bar:
    """A bar from one share of its track to another, with an interval on it."""

    label: Text
    end: float
    start: float = 0.0
    interval: tuple[float, float] | None = None
    style: Literal["members", "others", "ruled-out", "promised"] = "members"


@dataclass(frozen=True)
class Bars(Shown):
    """Bars on one scale."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Cards(Shown):
    """Numbers beside each other."""

    cards: tuple[Card | Bars, ...]


@dataclass(frozen=True)
class Figure:
    """A drawing: `draw` answers an SVG element with its text alternative; `png` names its file beside Markdown."""

    draw: Callable[[], str]
    caption: Text = ""
    png: str = ""


@dataclass(frozen=True)
class Figures(Shown):
    """Drawings beside each other, and what stands beside them."""

    figures: tuple[Figure, ...]
    size: Literal["usual", "small", "wide"] = "usual"
    beside: tuple["Block", ...] = ()


@dataclass(frozen=True)
class Picture:
    """A thumbnail: its bytes as an address, what it shows, and what stands below it."""

    source: str
    alternative: str
    title: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gallery(Shown):
    """Thumbnails; on a page alone."""

    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class Column:
    """The head of a column; numbers stand at the right; what is kept whole is never broken on a terminal."""

    title: str
    note: str = ""
    numbers: bool = True
    only: Media = EVERYWHERE
    whole: bool = False


@dataclass(frozen=True)
class Cell:
    """What stands in a table's cell, and by what it is sorted if not by that; below it the interval, or remarks."""

    text: Text
    key: float | None = None
    below: tuple[Text, ...] = ()
    tone: Literal["usual", "strong", "quiet", "bad", "good"] = "usual"


@dataclass(frozen=True)
class Table(Shown):
    """A table; a page's can be sorted, searched, and filtered by columns of text.

    Attributes:
        rows: its lines, each with a cell a column; the first names it.
        key: its name in the page.
        strong: the line that stands out.
        sortable: by every column.
        sorted: the column that it is sorted by, falling.
        find: what can be searched for, for the empty field.
        choices: columns with a list of their values to choose from.
        least: a column with a field for its smallest value.
        total: lines there are, where the table has fewer.
        stacks: on a phone, a line becomes a card; else the table is moved sideways.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    key: str = ""
    strong: int | None = None
    sortable: bool = False
    sorted: int | None = None
    find: str = ""
    choices: tuple[int, ...] = ()
    least: int | None = None
    total: int | None = None
    stacks: bool = True

    def shown(self, medium: Medium) -> "Table":
        """Leave out the columns that a medium does not show."""
        kept = [i for i, column in enumerate(self.columns) if medium in column.only]
        rows = tuple(tuple(row[i] for i in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in kept), rows=rows)

    @property
    def footnotes(self) -> tuple[str, ...]:
        """The notes that its marks stand for."""
        return footnotes(*(text for row in self.rows for cell in row for text in (cell.text, *cell.below)))


def words(*titles: str, only: Media = EVERYWHERE) -> tuple[Column, ...]:
    """Make the heads of columns of texts."""
    return tuple(Column(title, numbers=False, only=only) for title in titles)


def table(title: str, heads: Iterable[Column | str], rows: Iterable[Iterable[Text | Cell]], **more: Any) -> Table:
    """Make a table of texts and cells; below a head that is a text stand numbers, below the first one names."""
    columns = (Column(head, numbers=i > 0) if isinstance(head, str) else head for i, head in enumerate(heads))
    lines = (tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row) for row in rows)
    return Table(title, tuple(columns), tuple(lines), **more)


Line: TypeAlias = tuple[Text | Cell, ...]
"""A row as `table` takes it."""
Heads: TypeAlias = tuple[Column | str, ...]
"""The heads of columns as `table` takes them."""
Block: TypeAlias = (
    Heading | Prose | Bullets | Notice | Folded | Banner | Facts | Terms | Bars | Cards | Figures | Gallery | Table
)


@dataclass(frozen=True)
class Report:
    """All that a document of reticent's says, on any medium.

    Attributes:
        title: of the page's window.
        brand: what kind of page it is.
        files: where the same numbers are, for the foot of the page.
        section: its heading in Markdown; by default `brand`.
    """

    title: str
    brand: str
    blocks: tuple[Block, ...]
    files: Text
    version: str | None
    section: str = ""


def coded(text: str) -> Text:
    """Make pieces of code of what stands between backticks."""
    return tuple(Code(part) if i % 2 else part for i, part in enumerate(text.split("`")) if part)
