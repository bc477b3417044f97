"""Blocks as Markdown (GFM), for a model card or a pull request."""

from collections.abc import Iterable, Sequence

from reticent.report import blocks as b
from reticent.report.render.text import clean, signs
from reticent.rounding import joined

SPECIAL = "\\`*_{}[]<>#|~&$"
"""Characters that Markdown, or the HTML inside it, gives a meaning."""
Signs = dict[str, str]


def markdown(document: b.Report) -> str:
    """Write a document as a section of another one."""
    section = document.section or document.brand[:1].upper() + document.brand[1:]
    return "\n\n".join([f"## {escape(section)}", *_blocks(document.blocks)]) + "\n"


def escape(text: str, most: int = 1500) -> str:
    """Keep text from meaning anything to Markdown and HTML."""
    return "".join("\\" + c if c in SPECIAL else c for c in clean(text, most))


def _blocks(blocks: Iterable[b.Block]) -> list[str]:
    made = [part for block in blocks if b.MARKDOWN & block.only for part in _block(block)]
    return [part for part in made if part]


def _block(block: b.Block) -> list[str]:  # noqa: C901 - one line or two a kind
    match block:
        case b.Banner(_, sentence, _, word, inside):
            return [_write((b.Strong(f"{word}."), " ", sentence) if word else b.Strong(sentence)), *_blocks(inside)]
        case b.Heading(text, _, _, level):
            return [f"{'#' * (level + 1)} {_write(text)}"]
        case b.Prose(text) | b.Notice(text):
            marks = signs(b.footnotes(text))
            return [_write(b.Strong(text) if isinstance(block, b.Notice) else text, marks), *_notes(marks)]
        case b.Bullets(items):
            return [_list(items)]
        case b.Folded(title, inside):
            return [_write(b.Strong(title)), *_blocks(inside)]
        case b.Facts(groups):
            return [
                part for title, values in groups for part in (_write(b.Strong(title)) * bool(title), _values(values))
            ]
        case b.Terms(items):
            return [_list([(b.Strong(word), ": ", said) for word, said in items])]
        case b.Bars(title, bars):
            return [_write(b.Strong(title)) * bool(title), _list([bar.label for bar in bars])]
        case b.Cards(cards):
            return [part for card in cards if isinstance(card, b.Bars) for part in _block(card)] + _cards(cards)
        case b.Figures(figures, _, beside):
            drawn = [f"![{_write(figure.caption)}]({figure.png})" for figure in figures if figure.png]
            return [*drawn, *_blocks(beside)]
        case b.Gallery():
            return []
        case b.Table():
            return _table(block.shown("markdown"))


def _write(text: b.Text, marks: Signs | None = None) -> str:
    match text:
        case str():
            return escape(text)
        case tuple():
            return "".join(_write(part, marks) for part in text)
        case b.Strong(inside):
            return f"**{''.join(_write(piece, marks) for piece in b.pieces(inside))}**"
        case b.Code(said):
            return escape(said) if "`" in said else f"`{clean(said)}`"
        case b.Link(said):
            return escape(said)
        case b.Name(said, most):
            return escape(said, most)
        case b.Span(low, high):
            return escape(joined((low, high)))
        case b.Footnote(said):
            return f" {(marks or signs((said,)))[said]}"
        case b.Dot():
            return ""


def _list(items: Iterable[b.Text]) -> str:
    return "\n".join(f"- {_write(item)}" for item in items)


def _values(values: b.Values, depth: int = 0) -> str:
    lines = []
    for name, value in values:
        told = f" {escape(value, 300)}" if isinstance(value, str) else "\n" + _values(value, depth + 1)
        lines.append(f"{'  ' * depth}- {escape(name)}:{told}")
    return "\n".join(lines)


def _cards(cards: Sequence[b.Card | b.Bars]) -> list[str]:
    shown = [card for card in cards if isinstance(card, b.Card)]
    marks = signs(b.footnotes(*(text for card in shown for text in (card.value, card.note))))
    lines = [
        f"- {escape(card.title)}: {_write(card.value, marks)}" + (f" ({_write(card.note, marks)})" if card.note else "")
        for card in shown
    ]
    return ["\n".join(lines), *_notes(marks)]


def _table(table: b.Table) -> list[str]:
    marks = signs(table.footnotes)
    heads = [escape(f"{column.title} ({column.note})" if column.note else column.title) for column in table.columns]
    rule = ["---:" if column.numbers and i else "---" for i, column in enumerate(table.columns)]
    rows = [
        [_cell(cell, marks, at == table.strong and i == 0) for i, cell in enumerate(row)]
        for at, row in enumerate(table.rows)
    ]
    lines = ["| " + " | ".join(cells) + " |" for cells in (heads, rule, *rows)]
    return ["\n".join(lines), *_notes(marks)]


def _cell(cell: b.Cell, marks: Signs, strong: bool) -> str:
    below = [_write(one, marks) for one in cell.below]
    text = _write(b.Strong(cell.text) if strong else cell.text, marks)
    return f"{text} ({'; '.join(below)})" if below else text


def _notes(marks: Signs) -> list[str]:
    return [f"{sign} {escape(said)}" for said, sign in marks.items()]
