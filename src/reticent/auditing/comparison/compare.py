"""Compare recipes that were trained under the same membership: rows, paired tests, and what they say."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from reticent.auditing.comparison import wording
from reticent.auditing.comparison.entry import Entry, check
from reticent.auditing.comparison.findings import Findings, standing
from reticent.auditing.comparison.many import MANY, counted
from reticent.auditing.comparison.pairs import pairs
from reticent.auditing.comparison.pareto import front
from reticent.auditing.comparison.rows import Row, row
from reticent.auditing.intervals import tail
from reticent.auditing.roc import records_needed
from reticent.errors import InputError, UnknownNameError

__all__ = ["Entry", "compare"]

AMONG = 4
"""Recipes, beside the baseline, that are compared with each other in words, too."""


def compare(
    entries: Sequence[Entry],
    *,
    fpr: float | None,
    rng: np.random.Generator,
    confidence: float = 0.95,
    replicates: int = 1000,
    baseline: str | None = None,
) -> dict[str, Any]:
    """Compare recipes in pairs: AUC, TPR at one false-positive rate, and accuracy.

    By each statistic, a recipe is judged by the attack that finds most under it. Every two recipes are compared on the
    same replicates of models and records. All p-values are corrected together (Holm); what is not significant then is
    called a tie. A recipe without a known accuracy is not put on the Pareto front.

    Args:
        entries: two or more, trained under the same membership and audited on the same records.
        fpr: false-positive rate of the TPR; None leaves it out.
        rng: for the bootstrap; the same state gives the same comparison.
        confidence: of every interval; one minus it is the rate of false verdicts among all of them.
        replicates: of the bootstrap, at least 100.
        baseline: name of the row that the others are held against; by default the first.

    Returns:
        Plain values, the keys as in ``compare.json``: ``sentence``, ``detail``, ``fpr``, ``confidence``, ``baseline``,
        ``cannot_say``, ``rows`` (``name``, ``accuracy``, ``attack``, ``auc_attack``, ``best_of``, ``auc``, ``tpr``,
        ``attacks``, ``pareto``, ``control``) and ``pairs``. Cost: a bootstrap an attack and recipe.

    Raises:
        InputError: entries that cannot be compared, or a bad option.
        UnknownNameError: no entry is called as `baseline` says.
    """
    tail(confidence)
    if fpr is not None:
        records_needed(fpr)
    if replicates < 100:
        raise InputError(f"replicates: expected at least 100 for an interval, got {replicates}")
    checked = check(entries)
    first = checked[0].name if baseline is None else baseline
    if first not in [one.name for one in checked]:
        raise UnknownNameError("baseline", first, [one.name for one in checked])
    if next(one for one in checked if one.name == first).entry.role != "recipe":
        raise InputError(f"baseline: expected a recipe, got {first!r}, which is there to be compared with another row")
    seed = int(rng.integers(2**63))
    rows = [row(one, fpr, seed, replicates, confidence) for one in checked]
    tested = pairs(rows, fpr, confidence)
    findings = Findings(tested, fpr, confidence, rows)
    on_front = _front(rows)
    held = {one.name: _held(rows, one, first, findings) for one in rows}
    others = sum(one.entry.role == "recipe" for one in checked) - 1
    return {
        "sentence": (counted if others > MANY else wording.headline)(rows, first, findings),
        "detail": wording.detail(rows, first, findings, among=others <= AMONG),
        "fpr": fpr,
        "confidence": confidence,
        "baseline": first,
        "cannot_say": wording.limits(rows, tested, findings),
        "rows": [one.to_json() | {"pareto": on_front[one.name], "control": held[one.name]} for one in rows],
        "pairs": [test.to_json() for test in tested],
    }


def _held(rows: Sequence[Row], one: Row, baseline: str, findings: Findings) -> dict[str, Any] | None:
    """Say how a recipe stands to its control; None for the baseline, and for rows that are none of their own."""
    if one.checked.entry.role != "recipe" or one.name == baseline:
        return None
    return standing(rows, one.name, baseline, findings).to_json()


def _front(rows: Sequence[Row]) -> dict[str, bool]:
    """Say which rows are on the Pareto front, among those whose accuracy and best attacker are known."""
    known = [
        (row.name, row.accuracy[1].mean, row.mean(row.leak))
        for row in rows
        if row.accuracy is not None and row.checked.entry.role != "non-adaptive"
    ]
    marked = front([accuracy for _, accuracy, _ in known], [leak for _, _, leak in known])
    kept = {name for (name, _, _), mark in zip(known, marked, strict=True) if mark}
    return {row.name: row.name in kept for row in rows}
