"""Blocks on a terminal: text and tables in its width; no figures."""

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from rich import table as rich
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text as Styled

from reticent.report import blocks as b
from reticent.report.render.text import clean, plain, signs
from reticent.say.grammar import plural

TONES: dict[b.Tone, tuple[str, str]] = {
    "bad": ("▲ ", "bold red"),
    "good": ("✓ ", "bold green"),
    "unsure": ("? ", "bold yellow"),
    "neutral": ("", "bold"),
}
"""Tone -> sign and style; a word stands beside them."""
WEIGHTS = {"usual": "", "lead": "bold", "note": "dim"}
CELLS = {"usual": "", "strong": "bold", "quiet": "dim", "bad": "red", "good": "green"}
HEAD = 10
"""From this width on, the head of a column is broken into lines."""
MOST = 12
"""Rows of a document's table; the others are in its files."""
WORD = re.compile(r"[^ ]+ *| +")
Signs = dict[str, str]


def terminal(*found: b.Report | b.Block) -> RenderableType:
    """Lay documents, with the beginnings of their tables, or whole blocks out for a terminal."""
    return Group(*(part for one in found for part in _blocks(_begun(one) if isinstance(one, b.Report) else [one])))


def _begun(report: b.Report) -> Iterator[b.Block]:
    """Cut tables short, and say so: a document has files that hold the rest."""
    for block in report.blocks:
        rest = len(block.rows) - MOST if isinstance(block, b.Table) and b.TERMINAL & block.only else 0
        if not isinstance(block, b.Table) or rest <= 0:
            yield block
            continue
        yield replace(block, rows=block.rows[:MOST])
        yield b.Prose(f"{plural(rest, 'more line')} of this table: in the files below.", "note")


class Wrapped:
    """Text that breaks at plain spaces only: rich breaks at no-break ones too."""

    def __init__(self, text: Styled) -> None:
        """Keep the text."""
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Break it into lines, none wider than the console."""
        for line in self.text.split("\n", allow_blank=True):
            for part in line.divide(list(_breaks(line.plain, options.max_width))):
                part.rstrip()
                part.no_wrap, part.overflow = cell_len(part.plain) <= options.max_width, "fold"
                yield part


def _breaks(line: str, width: int) -> Iterator[int]:
    """Find where the lines begin, but for the first."""
    used = 0
    for word in WORD.finditer(line):
        size = cell_len(word[0].rstrip(" "))
        if used and used + size > width:
            yield word.start()
            used = 0
        used += cell_len(word[0])


def _blocks(blocks: Iterable[b.Block]) -> list[RenderableType]:
    return [part for block in blocks if b.TERMINAL & block.only for part in _block(block)]


def _block(block: b.Block) -> list[RenderableType]:  # noqa: C901, PLR0912 - one line or two a kind
    match block:
        case b.Banner(_, sentence, tone, word, inside):
            sign, style = TONES[tone]
            head = Styled.assemble((f"{sign}{word}. " if word else "", style), _styled(sentence, style="bold"))
            return [Wrapped(head), *_blocks(inside)]
        case b.Heading(text):
            return ["", Wrapped(_styled(text, style="bold"))]
        case b.Prose(text, weight):
            marks = signs(b.footnotes(text))
            return [Wrapped(_styled(text, marks, WEIGHTS[weight])), *_notes(marks)]
        case b.Notice(text):
            return [Wrapped(_styled(text, style="yellow"))]
        case b.Bullets(items, weight):
            return [Wrapped(_styled(("- ", item), style=WEIGHTS[weight])) for item in items]
        case b.Folded(title, inside):
            return [Wrapped(_styled(title, style="bold")), *_blocks(inside)]
        case b.Facts(groups):
            return [part for title, values in groups for part in (*_lines([title] * bool(title)), *_values(values))]
        case b.Terms(items):
            return _lines(f"{word}: {plain(said)}" for word, said in items)
        case b.Bars(title, bars):
            return _lines([*[title] * bool(title), *(f"  {plain(bar.label)}" for bar in bars)])
        case b.Cards(cards):
            return [part for card in cards for part in (_block(card) if isinstance(card, b.Bars) else [_card(card)])]
        case b.Figures(_, _, beside):
            return _blocks(beside)
        case b.Gallery():
            return []
        case b.Table():
            return _table(block.shown("terminal"))


def _styled(text: b.Text, marks: Signs | None = None, style: str = "") -> Styled:
    match text:
        case tuple():
            return Styled.assemble(*(_styled(part, marks) for part in text), style=style)
        case b.Strong(inside):
            return _styled(inside, marks, f"{style} bold".strip())
        case b.Footnote(said):
            return Styled(f" {(marks or signs((said,)))[said]}", style)
        case _:
            return Styled(plain(text, "–"), style)


def _lines(lines: Iterable[str]) -> list[RenderableType]:
    return [Wrapped(Styled(clean(line))) for line in lines]


def _values(values: b.Values, depth: int = 1) -> list[RenderableType]:
    made: list[RenderableType] = []
    for name, value in values:
        made += _lines([f"{'  ' * depth}{name}:" + (f" {value}" if isinstance(value, str) else "")])
        made += [] if isinstance(value, str) else _values(value, depth + 1)
    return made


def _card(card: b.Card) -> RenderableType:
    marks = signs(b.footnotes(card.value, card.note))
    note: b.Text = (" (", card.note, ")") if card.note else ""
    return Wrapped(_styled((f"{card.title}: ", card.value, note), marks))


def _table(table: b.Table) -> list[RenderableType]:
    marks = signs(table.footnotes)
    grid = rich.Table(box=None, pad_edge=False, padding=(0, 1), collapse_padding=True, header_style="bold")
    for i, column in enumerate(table.columns):
        head = textwrap.wrap(clean(column.title), HEAD, break_long_words=False, break_on_hyphens=False)
        side: Literal["left", "right"] = "right" if column.numbers and i else "left"
        grid.add_column("\n".join(head), justify=side, overflow="fold", no_wrap=column.whole)
    for i, row in enumerate(table.rows):
        grid.add_row(*(_cell(cell, marks) for cell in row), style="bold" if i == table.strong else "")
    return [Padding(grid, (1, 0)), *_notes(marks)]


def _cell(cell: b.Cell, marks: Signs) -> Styled:
    text = _styled(cell.text, marks, CELLS[cell.tone])
    for one in cell.below:
        text.append("\n").append(_styled(one, marks, "dim"))
    return text


def _notes(marks: Signs) -> list[RenderableType]:
    return [Wrapped(Styled(f"{sign} {clean(said)}", "dim")) for said, sign in marks.items()]
