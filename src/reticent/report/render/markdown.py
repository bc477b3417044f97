"""Blocks as Markdown (GFM), for a model card or a pull request."""

from collections.abc import Iterable, Sequence

from reticent.report.blocks import (
    MARKDOWN,
    Banner,
    Bars,
    Block,
    Bullets,
    Card,
    Cards,
    Cell,
    Code,
    Document,
    Dot,
    Facts,
    Figures,
    Folded,
    Footnote,
    Gallery,
    Heading,
    Link,
    Name,
    Notice,
    Prose,
    Span,
    Strong,
    Table,
    Terms,
    Text,
    Values,
    footnotes,
    pieces,
)
from reticent.report.render.text import clean, signs

SPECIAL = "\\`*_{}[]<>#|~&$"
"""Characters that Markdown, or the HTML inside it, gives a meaning."""
Signs = dict[str, str]


def markdown(document: Document) -> str:
    """Write a document as a section of another one."""
    return "\n\n".join([f"## {escape(document.section)}", *_blocks(document.blocks)]) + "\n"


def escape(text: str, most: int = 1500) -> str:
    """Keep text from meaning anything to Markdown and HTML."""
    return "".join("\\" + c if c in SPECIAL else c for c in clean(text, most))


def _blocks(blocks: Iterable[Block]) -> list[str]:
    made = [part for block in blocks if MARKDOWN & block.only for part in _block(block)]
    return [part for part in made if part]


def _block(block: Block) -> list[str]:  # noqa: C901 - one line or two a kind
    match block:
        case Banner(_, sentence, _, word, inside):
            return [_write((Strong(f"{word}."), " ", sentence) if word else Strong(sentence)), *_blocks(inside)]
        case Heading(text, _, _, level):
            return [f"{'#' * (level + 1)} {_write(text)}"]
        case Prose(text) | Notice(text):
            marks = signs(footnotes(text))
            return [_write(Strong(text) if isinstance(block, Notice) else text, marks), *_notes(marks)]
        case Bullets(items):
            return [_list(items)]
        case Folded(title, inside):
            return [_write(Strong(title)), *_blocks(inside)]
        case Facts(groups):
            return [part for title, values in groups for part in (_write(Strong(title)) * bool(title), _values(values))]
        case Terms(items):
            return [_list([(Strong(word), ": ", said) for word, said in items])]
        case Bars(title, bars):
            return [_write(Strong(title)) * bool(title), _list([bar.label for bar in bars])]
        case Cards(cards):
            return [part for card in cards if isinstance(card, Bars) for part in _block(card)] + _cards(cards)
        case Figures(figures, _, beside):
            drawn = [f"![{_write(figure.caption)}]({figure.png})" for figure in figures if figure.png]
            return [*drawn, *_blocks(beside)]
        case Gallery():
            return []
        case Table():
            return _table(block.shown("markdown"))


def _write(text: Text, marks: Signs | None = None) -> str:
    match text:
        case str():
            return escape(text)
        case tuple():
            return "".join(_write(part, marks) for part in text)
        case Strong(inside):
            return f"**{''.join(_write(piece, marks) for piece in pieces(inside))}**"
        case Code(said):
            return escape(said) if "`" in said else f"`{clean(said)}`"
        case Link(said):
            return escape(said)
        case Name(said, most):
            return escape(said, most)
        case Span(low, high):
            return escape(f"{low} to {high}")
        case Footnote(said):
            return f" {(marks or signs((said,)))[said]}"
        case Dot():
            return ""


def _list(items: Iterable[Text]) -> str:
    return "\n".join(f"- {_write(item)}" for item in items)


def _values(values: Values, depth: int = 0) -> str:
    lines = []
    for name, value in values:
        told = f" {escape(value, 300)}" if isinstance(value, str) else "\n" + _values(value, depth + 1)
        lines.append(f"{'  ' * depth}- {escape(name)}:{told}")
    return "\n".join(lines)


def _cards(cards: Sequence[Card | Bars]) -> list[str]:
    shown = [card for card in cards if isinstance(card, Card)]
    marks = signs(footnotes(*(text for card in shown for text in (card.value, card.note))))
    lines = [
        f"- {escape(card.title)}: {_write(card.value, marks)}" + (f" ({_write(card.note, marks)})" if card.note else "")
        for card in shown
    ]
    return ["\n".join(lines), *_notes(marks)]


def _table(table: Table) -> list[str]:
    marks = signs(table.footnotes)
    heads = [escape(f"{column.title} ({column.note})" if column.note else column.title) for column in table.columns]
    rule = ["---:" if column.numbers and i else "---" for i, column in enumerate(table.columns)]
    rows = [[_cell(cell, marks, row.strong and i == 0) for i, cell in enumerate(row.cells)] for row in table.rows]
    lines = ["| " + " | ".join(cells) + " |" for cells in (heads, rule, *rows)]
    return ["\n".join(lines), *_notes(marks)]


def _cell(cell: Cell, marks: Signs, strong: bool) -> str:
    below = [_write(one, marks) for one in cell.below]
    text = _write(Strong(cell.text) if strong else cell.text, marks)
    return f"{text} ({'; '.join(below)})" if below else text


def _notes(marks: Signs) -> list[str]:
    return [f"{sign} {escape(said)}" for said, sign in marks.items()]
