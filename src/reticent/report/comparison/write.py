"""The three files of a comparison: the page, a table of its rows, the numbers."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.report.comparison.text import markdown
from reticent.report.comparison.view import costs, matched
from reticent.report.files import replacing, together
from reticent.report.place import COMPARISON, left_over
from reticent.report.wording import Plain, limits, middle
from reticent.report.write import as_json, write_section

COLUMNS = (
    "name",
    "role",
    "matches",
    "epochs_kept",
    "models",
    "accuracy_members",
    "accuracy_non_members",
    "accuracy_non_members_low",
    "accuracy_non_members_high",
    "attack",
    "best_of",
    "auc_attack",
    "auc",
    "auc_low",
    "auc_high",
    "fpr",
    "tpr",
    "tpr_low",
    "tpr_high",
    "tpr_tied",
    "epsilon",
    "accountant_epsilon",
    "pareto",
    "seconds_per_model",
    "peak_memory_bytes_per_model",
    "control",
    "leaks",
    "shown_by",
    "control_missed",
    "unlearned",
    "settled",
    "notices",
)
"""The columns of ``compare.csv``."""


def write_comparison(folder: Path, document: Mapping[str, Any], form: str = "html") -> tuple[Path, ...]:
    """Write ``compare.html``, ``compare.csv`` and, last, ``compare.json``: all of them, or none."""
    from reticent.report.comparison.page import html  # draws with matplotlib, which takes half a second to import

    page, numbers = html(document), as_json(document)
    paths = folder / "compare.html", folder / "compare.csv", folder / "compare.json"
    with together(folder, document, left_over(folder, COMPARISON, COMPARISON.names(form))):
        with replacing(paths[0]) as stream:
            stream.write(page)
        with replacing(paths[1]) as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(_line(row, document) for row in document.get("rows") or ())
        section = write_section(folder / "compare.md", markdown(document)) if form == "md" else ()
        with replacing(paths[2]) as stream:
            stream.write(numbers)
    return (*paths, *section)


def _line(row: Plain, document: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten a row; numbers keep all their digits, an unknown value is empty."""
    accuracy = row.get("accuracy") or {}
    line: dict[str, Any] = {
        key: row.get(key)
        for key in ("name", "role", "epochs_kept", "models", "attack", "best_of", "auc_attack", "epsilon")
    }
    line |= {
        "matches": "; ".join(matched(row)),
        "accuracy_members": middle(accuracy.get("members")),
        "fpr": document.get("fpr"),
        "seconds_per_model": costs(document, row).get("seconds_per_model"),
        "peak_memory_bytes_per_model": costs(document, row).get("peak_memory_bytes_per_model"),
        "accountant_epsilon": (row.get("accountant") or {}).get("epsilon"),
        "pareto": {True: "yes", False: "no"}.get(row.get("pareto")),  # type: ignore[arg-type]
    }
    held = row.get("control") or {}
    line |= {
        "control": held.get("name"),
        "leaks": held.get("leak"),
        "shown_by": "; ".join(held.get("by") or ()),
        "control_missed": held.get("missed"),
        "unlearned": held.get("unlearned"),
        "settled": {True: "yes", False: "no"}.get(held.get("settled")),  # type: ignore[arg-type]
        "notices": "; ".join(row.get("notices") or ()),
        "tpr_tied": {True: "yes", False: "no"}.get((row.get("tpr") or {}).get("tied")),  # type: ignore[arg-type]
    }
    for key, estimate in (
        ("accuracy_non_members", accuracy.get("non_members")),
        ("auc", row.get("auc")),
        ("tpr", row.get("tpr")),
    ):
        low, high = limits(estimate) or (None, None)
        line |= {key: middle(estimate), f"{key}_low": low, f"{key}_high": high}
    return line
