"""Names from outside, on one line."""

from typing import Any

from reticent.report.render.text import clean


def short(text: Any, most: int = 80) -> str:
    """Cut long text, and take out what does not print or would turn the direction of the line."""
    return clean(str(text), most).strip()
