"""Exposure by class, and by any column of the data: which groups of people or things give themselves away more."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.view import label, short
from reticent.report.wording import Plain, level, middle, share

DRAWN = 30
"""Most groups in a figure; the table has all of them."""

OUT = {"more": ("▲", "more"), "less": ("▼", "less")}
"""How a group stands out -> sign and words."""


def parts(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Bring every grouping into a table, the group with the highest AUC first."""
    names = list((document.get("data") or {}).get("class_names") or ())
    return [_grouping(i, entry, names) for i, entry in enumerate(document.get("groups") or ()) if entry.get("groups")]


def columns(document: Mapping[str, Any], row: Plain | None) -> list[tuple[str, str]]:
    """List the columns of the records that hold groups."""
    found = []
    for entry in document.get("groups") or ():
        by = str(entry["by"])
        key = next((key for key in (f"group_{by}", by) if row is not None and key in row), None)
        if by != "class" and key is not None:
            found.append((key, short(by, 40)))
    return found


def _grouping(index: int, entry: Plain, names: Sequence[Any]) -> dict[str, Any]:
    by, fpr = entry["by"], entry.get("fpr")
    lines = sorted((_line(group, by, names) for group in entry["groups"]), key=_by_auc)
    named = {line["raw"]: line["name"] for line in lines}
    most = entry.get("most_exposed")
    return {
        "key": f"group-{index}",
        "heading": "By class" if by == "class" else f"By {short(by)}",
        "title": "Class" if by == "class" else short(by, 40),
        "by": "class" if by == "class" else short(by, 40),
        "attack": entry.get("attack"),
        "confidence": level(entry.get("confidence", 0.95)),
        "fpr": fpr,
        "found": f"Found at {level(fpr)}" if fpr else "Found",
        "odds": share(fpr) if fpr else None,
        "sentence": entry.get("sentence"),
        "most_exposed": named.get(str(most), most) if most is not None else None,
        "lines": lines,
        "drawn": _drawn(lines),
        "known": sum(line["auc"] is not None for line in lines),
        "has": {
            key: any(line[key] is not None for line in lines)
            for key in ("tpr", "exposure", "memorisation", "difference")
        },
    }


def _line(group: Plain, by: str, names: Sequence[Any]) -> dict[str, Any]:
    sign, words = OUT.get(group.get("stands_out") or "", ("", "no"))
    return {
        "raw": str(group["name"]),
        "name": _named(group["name"], names) if by == "class" else str(group["name"]),
        "records": group.get("records"),
        "members": group.get("members"),
        "non_members": group.get("non_members"),
        **{key: group.get(key) for key in ("auc", "tpr", "exposure", "memorisation", "difference")},
        "stands_out": group.get("stands_out"),
        "sign": sign,
        "out": words,
    }


def _named(name: Any, names: Sequence[Any]) -> str:
    """Name a class as the record table does."""
    text = str(name)
    known = names[int(text)] if text.isascii() and text.isdigit() and int(text) < len(names) else None
    return label({"label": text, "label_name": known}) if known is not None or text.isdigit() else text


def _by_auc(line: Plain) -> tuple[bool, float]:
    auc = middle(line["auc"])
    return auc is None, -(auc or 0.0)


def _drawn(lines: Sequence[Plain]) -> list[Plain]:
    """Choose the groups of the figure: all, or the two ends where there are too many."""
    known = [line for line in lines if line["auc"] is not None]
    if len(known) <= DRAWN:
        return known
    return [*known[: 2 * DRAWN // 3], *known[-DRAWN // 3 :]]
