"""Blocks as a page: one file with its style and script inside, under a policy that forbids the browser any request."""

import base64
import hashlib
import html as standard
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from reticent.report import blocks as b
from reticent.report.render.elements import Html, class_of, element, escaped, icon, lines, start
from reticent.report.render.text import clean, plain, signs
from reticent.rounding import joined

TALL = 20
"""Tables with more lines scroll in a frame of their own."""
QUIET = 12
"""Tables with fewer lines have no field for searching."""
CHOICES = 200
"""Most entries of a list of values."""
PRINTED = 120
"""Lines of a table that are printed; the style sheet has the same number."""


def html(document: b.Report) -> str:
    """Write a document as a page that loads nothing; the same document gives the same text."""
    main = _Page().sections(document.blocks)
    style, script = _asset("page.css"), _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode("ascii")
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    by = f"reticent {clean(document.version or '', 40)}"
    menu = [
        element("a", block.menu, href="#finding" if isinstance(block, b.Banner) else f"#{block.key}")
        for block in document.blocks
        if isinstance(block, (b.Banner, b.Heading)) and block.menu and b.PAGE & block.only
    ]
    head = element(
        "head",
        Html('<meta charset="utf-8">\n'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">\n'),
        Html('<meta name="color-scheme" content="light dark">\n'),
        Html(f'<meta name="generator" content="{standard.escape(by)}">\n'),
        element("title", clean(document.title, 200)),
        Html(f"\n<style>\n{style}\n</style>\n"),
    )
    body = element(
        "body",
        element("a", "Skip to the content", class_="skip", href="#main"),
        element(
            "header",
            element("p", "reticent ", element("span", document.brand), class_="brand"),
            element("nav", Html(" ".join(menu)), aria_label="Sections"),
            class_="top",
        ),
        Html("\n"),
        element("main", main, id="main"),
        Html("\n"),
        element(
            "footer",
            element(
                "p",
                f"Written by {by}. This page is one file: it loads nothing and sends nothing. ",
                _Page().text(document.files),
            ),
        ),
        Html(f"\n<script>\n{script}\n</script>\n"),
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n{head}\n{body}\n</html>\n'


@dataclass
class _Page:
    """What the writing of one page has to remember."""

    heading: str = ""
    tile: str = "h3"
    tables: int = 0
    notes: int = 0
    marks: dict[str, tuple[str, str]] = field(default_factory=dict)

    def sections(self, blocks: Sequence[b.Block]) -> Html:
        """Write all blocks; a banner, and a heading of level 2, begin a section."""
        parts: list[Html] = []
        for block in blocks:
            if not b.PAGE & block.only:
                continue
            if isinstance(block, b.Heading) and block.level == 2:
                opened = start("section", id=block.key, aria_labelledby=f"{block.key}-title")
                parts.append(Html(f"{'</section>' if parts else ''}\n{opened}"))
            elif isinstance(block, b.Banner):
                parts.append(start("section", id="finding", class_=f"verdict {block.tone}"))
            parts.append(self.block(block))
        return Html("\n".join(parts) + "\n</section>\n")

    def blocks(self, blocks: Iterable[b.Block]) -> Html:
        """Write blocks inside another one."""
        return lines(*(self.block(block) for block in blocks if b.PAGE & block.only))

    def block(self, block: b.Block) -> Html:  # noqa: C901, PLR0912 - one line or two a kind
        """Write one block."""
        match block:
            case b.Banner():
                return self.banner(block)
            case b.Heading(text, key, _, level):
                self.heading = f"{key}-title" if key and level == 2 else key
                return element(f"h{level}", self.text(text), id=self.heading or None)
            case b.Prose(text, weight):
                noted = self.announce(b.footnotes(text))
                return Html(element("p", self.text(text), class_=class_of(weight)) + noted)
            case b.Bullets(items, weight):
                return element("ul", *(element("li", self.text(item)) for item in items), class_=class_of(weight))
            case b.Notice(text, tone):
                return element("p", icon(tone), " ", element("span", self.text(text)), class_=f"notice {tone}")
            case b.Folded(title, inside):
                return element("details", element("summary", self.text(title)), self.blocks(inside))
            case b.Facts(groups):
                made = (element("div", element("h3", clean(title)), _values(values)) for title, values in groups)
                return element("div", *made, class_="columns")
            case b.Terms(items):
                pairs = ((self.text(word), self.text(said)) for word, said in items)
                made = (element("div", element("dt", word), element("dd", said)) for word, said in pairs)
                return element("dl", *made, class_="glossary")
            case b.Bars():
                return self.bars(block)
            case b.Cards(cards):
                texts = [text for card in cards if isinstance(card, b.Card) for text in (card.value, card.note)]
                marked = self.announce(b.footnotes(*texts))
                tiles = element("div", *map(self.card, cards), class_="tiles")
                return Html(tiles + marked)
            case b.Figures(figures, size, beside):
                side = [element("div", self.blocks(beside), class_="side")] if beside else []
                drawn = (self.figure(figure) for figure in figures)
                return element("div", *drawn, *side, class_=f"figures {size}")
            case b.Gallery(pictures):
                return element("ol", *map(_picture, pictures), class_="gallery")
            case b.Table():
                return self.table(block.shown("html"))

    def text(self, text: b.Text) -> Html:
        """Write text with all its pieces."""
        match text:
            case str():
                return escaped(clean(text))
            case tuple():
                return Html("".join(map(self.text, text)))
            case b.Strong(inside):
                return element("strong", self.text(inside))
            case b.Code(said):
                whole = re.sub(r"(?<= )--[\w-]+", r"<span>\g<0></span>", escaped(clean(said)))  # Flags are not broken.
                return element("code", Html(whole))
            case b.Link(said, to):
                return element("a", said, href=f"#{to}")
            case b.Name(said, most):
                broken = re.sub("([,:+])(?=[^ ])", r"\1<wbr>", escaped(clean(said, most)))
                return element("bdi", Html(broken), title=clean(said, 600) if len(said) > most else None)
            case b.Span(low, high):
                return escaped(clean(joined((low, high))))
            case b.Footnote(said):
                sign, key = self.marks[said]
                return element("a", sign, class_="mark", href=f"#{key}", aria_label="see the note")
            case b.Dot(kind, number):
                at = element("span", number, class_="number") if number else ""
                return Html(at + element("i", class_=f"dot {kind}", aria_hidden="true"))

    def announce(self, notes: tuple[str, ...]) -> Html:
        """Number the footnotes of a block, and write them, to stand below it."""
        made = []
        for said, sign in signs(notes).items():
            self.notes += 1
            self.marks[said] = sign, f"note-{self.notes}"
            made.append(element("p", f"{sign} {said}", class_="note", id=self.marks[said][1]))
        return Html("".join(made))

    def banner(self, banner: b.Banner) -> Html:
        """Write the head of a page, inside its section."""
        self.heading = "finding-sentence"
        badge = [element("p", icon(banner.tone), " ", element("strong", banner.word), class_="badge")]
        size = "long" if len(plain(banner.sentence)) > 180 else None
        self.tile = "h2"
        inside = self.blocks(banner.blocks)
        self.tile = "h3"
        return lines(
            element("p", self.text(banner.about), class_="about"),
            *(badge if banner.word else []),
            element("h1", self.text(banner.sentence), id="finding-sentence", class_=size),
            inside,
        )

    def card(self, card: b.Card | b.Bars) -> Html:
        """Write one number that stands out."""
        if isinstance(card, b.Bars):
            return element("div", self.bars(card), class_="tile wide")
        said = plain(card.value)
        size = "big long" if len(said) > (6 if said[:1].isalpha() else 8) else "big"
        value = element("p", self.text(card.value), class_=size)
        note = element("p", self.text(card.note), class_="note")
        return element("div", element(self.tile, card.title), value, note, class_="tile")

    def bars(self, bars: b.Bars) -> Html:
        """Write bars on one track each."""
        made = (
            element(
                "p",
                element("span", self.text(bar.label), class_="bar-label"),
                element("span", *_bar(bar), class_="track", aria_hidden="true"),
            )
            for bar in bars.bars
        )
        title = [element(self.tile, bars.title)] if bars.title else []
        return element("div", *title, *made, class_="bars")

    def figure(self, figure: b.Figure) -> Html:
        """Draw a figure."""
        caption = [element("figcaption", self.text(figure.caption))] if figure.caption else []
        return element("figure", Html(f"\n{figure.draw()}\n"), *caption)

    def table(self, table: b.Table) -> Html:
        """Write a table, with what it is searched by above it and its footnotes below."""
        self.tables += 1
        key = table.key or f"table-{self.tables}"
        notes = self.announce(table.footnotes)
        texts = next((i for i, column in enumerate(table.columns) if i and column.numbers), len(table.columns))
        heads = [_head(column, i == table.sorted) for i, column in enumerate(table.columns)]
        classes = ["sortable" * table.sortable, "stack" * table.stacks, "words" * (texts == len(heads))]
        made = element(
            "table",
            element("caption", clean(table.title, 300)),
            element("thead", _row(heads), role="rowgroup"),
            element(
                "tbody", *(self.row(row, table, i == table.strong) for i, row in enumerate(table.rows)), role="rowgroup"
            ),
            role="table",
            class_=" ".join(filter(None, classes)) or None,
            id=key,
            data_texts=str(texts) if table.sortable else None,
        )
        framed = element(
            "div",
            made,
            class_="scroll tall" if len(table.rows) > TALL else "scroll",
            role="region",
            aria_labelledby=self.heading or None,
            aria_label=None if self.heading else clean(table.title, 300),
            tabindex="0",
        )
        hints = []
        if not table.stacks:
            hints.append(element("p", "Move the table sideways to see all columns.", class_="note narrow-only"))
        if len(table.rows) > PRINTED:
            hints.append(element("p", f"On paper: the first {PRINTED} lines.", class_="note print-only"))
        return lines(*hints, *_controls(table, key), framed, notes)

    def row(self, row: tuple[b.Cell, ...], table: b.Table, strong: bool) -> Html:
        """Write a line of a table."""
        pairs = enumerate(zip(row, table.columns, strict=True))
        cells = [self.cell(cell, column, i == 0, table.stacks) for i, (cell, column) in pairs]
        return _row(cells, "strongest" if strong else None)

    def cell(self, cell: b.Cell, column: b.Column, first: bool, stacks: bool) -> Html:
        """Write a cell; where lines become cards, it says which column it is of, since the heads are not above it."""
        signs, said = _parted(cell.text)
        text = self.text(said)
        if text and (first or not column.numbers):
            text = Html(self.text(signs) + (text if isinstance(said, b.Name) else element("bdi", text)))
        elif stacks and (cell.below or cell.tone != "usual"):
            text = element("span", text, class_="value")
        below = (element("span", self.text(one), class_="span") for one in cell.below)
        label = f"{column.title} ({column.note})" if column.note else column.title
        classes = " ".join(filter(None, ["" if column.numbers else "text", "" if cell.tone == "usual" else cell.tone]))
        return element(
            "th" if first else "td",
            text,
            *below,
            scope="row" if first else None,
            role=("rowheader" if first else "cell") if stacks else None,
            class_=classes or None,
            data_label=clean(label) if stacks and not first else None,
            data_key=None if cell.key is None else f"{cell.key:.9g}",
        )


def _parted(text: b.Text) -> tuple[b.Text, b.Text]:
    """Part the signs that a cell begins with from its name, which a table is sorted by."""
    if not isinstance(text, tuple) or not text or not isinstance(text[0], b.Dot):
        return (), text
    return text[0], text[1] if len(text) == 2 else text[1:]


def _values(values: b.Values) -> Html:
    made = []
    for name, value in values:
        nested = isinstance(value, tuple)
        told = _values(value) if isinstance(value, tuple) else element("bdi", clean(value, 300))
        pair = element("dt", clean(name)), element("dd", told)
        made.append(element("div", *pair, class_="nested" if nested else None))
    return element("dl", *made, class_="facts")


def _bar(bar: b.Bar) -> list[Html]:
    place = f"left:{100 * bar.start:.2f}%;width:{100 * (bar.end - bar.start):.2f}%"
    made = [element("span", class_=f"bar {bar.style}", style=place)]
    if bar.interval is not None:
        low, high = bar.interval
        made.append(element("span", class_="whisker", style=f"left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%"))
    return made


def _picture(picture: b.Picture) -> Html:
    alternative = standard.escape(clean(picture.alternative, 120))
    image = Html(f'<img src="{standard.escape(picture.source)}" alt="{alternative}" width="96" height="96">')
    lines = (element("span", clean(line)) for line in picture.lines)
    return element("li", image, element("p", element("b", element("bdi", clean(picture.title, 40))), *lines))


def _row(cells: Sequence[Html], class_: str | None = None) -> Html:
    return Html(element("tr", *cells, role="row", class_=class_) + "\n")


def _head(column: b.Column, falling: bool) -> Html:
    note = [element("span", column.note)] if column.note else []
    return element(
        "th",
        clean(column.title),
        *note,
        scope="col",
        role="columnheader",
        class_=None if column.numbers else "text",
        aria_sort="descending" if falling else None,
    )


def _controls(table: b.Table, key: str) -> list[Html]:
    """Offer a field for searching, lists of values, and a least value; the script shows them."""
    offered = [(i, _options(table, i)) for i in table.choices]
    lists = [
        element("label", element("bdi", table.columns[i].title), " ", _select(i, options))
        for i, options in offered
        if 1 < len(options) <= CHOICES
    ]
    if not table.find or (len(table.rows) < QUIET and not lists):
        return []
    search = Html(f'<input type="search" data-find autocomplete="off" placeholder="{standard.escape(table.find)}">')
    least = []
    if table.least is not None:
        number = Html(f'<input type="number" step="any" data-least="{table.least}">')
        least.append(element("label", f"{table.columns[table.least].title} at least ", number))
    status = element("output", role="status", aria_live="polite", data_total=str(table.total or len(table.rows)))
    fields = element("label", "Find ", search), *lists, *least, status
    return [element("form", *fields, class_="controls", hidden="", data_table=key, aria_label="Filter the table")]


def _select(column: int, options: Iterable[str]) -> Html:
    entries = (element("option", one, value=one) for one in options)
    return element("select", element("option", "all", value=""), *entries, data_column=str(column))


def _options(table: b.Table, column: int) -> list[str]:
    """List a column's values, ``class 2`` before ``class 10``."""
    return sorted({plain(row[column].text) for row in table.rows}, key=_natural)


def _natural(text: str) -> list[tuple[bool, int, str]]:
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split("([0-9]+)", text)]


@cache
def _asset(name: str) -> str:
    return files("reticent.report.render").joinpath(name).read_text(encoding="utf-8").strip()
