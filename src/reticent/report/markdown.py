"""Pieces of Markdown, for kinds of documents that are not made of blocks yet."""

from collections.abc import Sequence
from typing import Any

from reticent.report.render.markdown import SPECIAL
from reticent.report.view import short


def table(heads: Sequence[str], lines: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Lay out a table."""
    rule = ["---"] * texts + ["---:"] * (len(heads) - texts)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *lines))


def with_interval(value: str, interval: str) -> str:
    """Write a number with its interval."""
    return f"{value} ({interval})" if interval else value


def escape(text: Any, most: int = 80) -> str:
    """Keep Markdown and HTML in text from outside from meaning anything."""
    return "".join("\\" + c if c in SPECIAL else c for c in short(text, most))
