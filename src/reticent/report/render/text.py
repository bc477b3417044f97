"""What the renderers share: text without markup, and the signs of footnotes."""

from reticent.report import blocks as b
from reticent.rounding import joined

LONGEST = 1500
"""Most characters of one piece of text."""
SIGNS = "†‡§"
"""Of footnotes, in the order in which a block has them."""


def signs(notes: tuple[str, ...]) -> dict[str, str]:
    """Give every footnote of a block its sign."""
    return {said: SIGNS[i % len(SIGNS)] for i, said in enumerate(notes)}


def clean(text: str, most: int = LONGEST) -> str:
    """Cut long text, and take out what does not print or would turn the direction of the line."""
    kept = "".join(c if c.isprintable() else " " for c in text[: most + 1]).replace(" %", "\N{NO-BREAK SPACE}%")
    return kept if len(text) <= most else kept[: most - 1].rstrip() + "…"


def plain(text: b.Text, to: str = " to ") -> str:
    """Write text without markup and footnotes."""
    return "".join(_plain(piece, to) for piece in b.pieces(text))


def _plain(piece: b.Piece, to: str) -> str:
    match piece:
        case str():
            return clean(piece)
        case b.Name(said, most):
            return clean(said, most).strip()
        case b.Span(low, high):
            return clean(joined((low, high), to))
        case b.Code(said) | b.Link(said):
            return clean(said)
        case b.Footnote() | b.Dot():
            return ""
