"""What the renderers share: text without markup, and the signs of footnotes."""

from reticent.report.blocks import Code, Dot, Footnote, Link, Name, Piece, Span, Text, pieces

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


def plain(text: Text, to: str = " to ") -> str:
    """Write text without markup and footnotes."""
    return "".join(_plain(piece, to) for piece in pieces(text))


def _plain(piece: Piece, to: str) -> str:
    match piece:
        case str():
            return clean(piece)
        case Name(said, most):
            return clean(said, most).strip()
        case Span(low, high):
            return f"{low}{to}{high}"
        case Code(said) | Link(said):
            return clean(said)
        case Footnote() | Dot():
            return ""
