"""The three files of a comparison: the page, a table of its rows, the numbers."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reticent.report.comparison.text import markdown
from reticent.report.comparison.view import costs, matched
from reticent.report.output import Output
from reticent.report.wording import Plain, limits, middle

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


def write_comparison(output: Output, document: Mapping[str, Any]) -> tuple[Path, ...]:
    """Write ``compare.html``, ``compare.csv`` and, last, ``compare.json``: all of them, or none."""
    from reticent.report.comparison.page import html  # draws with matplotlib, which takes half a second to import

    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_line(row, document) for row in document.get("rows") or ())
    section = {"compare.md": markdown(document)} if output.kind == "md" else {}
    return output.write(document, {"compare.html": html(document), "compare.csv": stream.getvalue(), **section})


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
