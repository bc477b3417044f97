"""The files of a comparison: the page, a table of its rows, a section of a model card."""

from pathlib import Path
from typing import Any

from reticent.findings.comparison import ComparisonDocument, Role, Row
from reticent.findings.numbers import Estimate
from reticent.report import csv
from reticent.report.output import Output


def write_comparison(output: Output, document: ComparisonDocument) -> tuple[Path, ...]:
    """Write ``compare.html``, ``compare.csv``, ``compare.md`` if it is asked for and, last, ``compare.json``."""
    from reticent.report.kinds.comparison import comparison  # draws with Matplotlib, half a second to import
    from reticent.report.render.html import html
    from reticent.report.render.markdown import markdown

    blocks = comparison(document)
    lines = [_line(row, document) for row in document.rows]
    section = {"compare.md": markdown(blocks)} if output.kind == "md" else {}
    return output.write(document, {"compare.html": html(blocks), "compare.csv": csv.table(lines[0], lines), **section})


def _line(row: Row, document: ComparisonDocument) -> dict[str, Any]:
    """Flatten a row; numbers keep all their digits, an unknown value is empty."""
    costs, held = document.costs(row), row.control
    return {
        "name": row.name,
        "role": row.role.value,
        "matches": "" if row.role is Role.RECIPE else "; ".join(row.matches),
        "epochs_kept": row.epochs_kept,
        "models": row.models,
        "accuracy_members": None if row.accuracy.members is None else row.accuracy.members.mean,
        **_estimate("accuracy_non_members", row.accuracy.non_members),
        "attack": row.attack,
        "best_of": row.best_of,
        "auc_attack": row.auc_attack,
        **_estimate("auc", row.auc),
        "fpr": document.fpr,
        **_estimate("tpr", row.tpr),
        "tpr_tied": None if row.tpr is None else _yes(row.tpr.tied),
        "epsilon": row.epsilon,
        "accountant_epsilon": None if row.accountant is None else row.accountant.epsilon,
        "pareto": _yes(row.pareto),
        "seconds_per_model": costs.seconds_per_model,
        "peak_memory_bytes_per_model": costs.peak_memory_bytes_per_model,
        "control": held and held.name,
        "leaks": held and held.leak.value,
        "shown_by": "; ".join(held.by) if held else None,
        "control_missed": held and held.missed,
        "unlearned": held and held.unlearned,
        "settled": _yes(held.settled) if held else None,
        "notices": "; ".join(row.notices),
    }


def _estimate(name: str, found: Estimate | None) -> dict[str, float | None]:
    low, high = (None, None) if found is None or found.interval is None else found.interval
    return {name: None if found is None else found.mean, f"{name}_low": low, f"{name}_high": high}


def _yes(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"
