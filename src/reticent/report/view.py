"""Questions to the document that every form of the report asks: which attacks, which rates, which names."""

from collections.abc import Mapping
from typing import Any

from reticent.report.render.text import clean
from reticent.report.wording import Plain


def rate_at(overall: Plain, fpr: float) -> Plain | None:
    """Find one rate of an attack."""
    return next((rate for rate in overall.get("tpr_at_fpr", ()) if rate["fpr"] == fpr), None)


def tied(part: Any) -> bool:
    """Tell whether equal scores decide a rate anywhere in a document, so that its mark must be explained."""
    if isinstance(part, Mapping):
        return part.get("tied") is True or any(map(tied, part.values()))
    return isinstance(part, (list, tuple)) and any(map(tied, part))


def title(attack: Plain) -> str:
    """Name an attack for people."""
    return str(attack.get("title") or attack["name"])


def label(row: Plain) -> str:
    """Name a record's class."""
    name, number = row.get("label_name"), str(row.get("label", ""))
    return f"class {number}" if name in {None, "", number} else str(name)


def short(text: Any, most: int = 80) -> str:
    """Cut long text, and take out what does not print or would turn the direction of the line."""
    return clean(str(text), most).strip()
