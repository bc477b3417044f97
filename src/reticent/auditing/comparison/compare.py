"""Compare recipes that were trained under the same membership: rows, paired tests, and how each recipe stands."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from reticent import checks
from reticent.arrays import Bools
from reticent.auditing.comparison.pairs import pairs
from reticent.auditing.comparison.rows import MeasuredRow, measured
from reticent.auditing.comparison.scores import RowScores, checked
from reticent.auditing.comparison.standing import standing
from reticent.auditing.intervals import tail
from reticent.auditing.roc import records_needed
from reticent.errors import InputError, UnknownNameError
from reticent.findings.comparison import Comparison, PairTests, Role

__all__ = ["RowScores", "compare"]


def compare(
    rows: Sequence[RowScores],
    *,
    fpr: float | None,
    rng: np.random.Generator,
    confidence: float = 0.95,
    replicates: int = 1000,
    baseline: str | None = None,
) -> Comparison:
    """Compare recipes in pairs: AUC, TPR at one false-positive rate, and accuracy.

    By each statistic, a recipe is judged by the attack that finds most under it. Every two recipes are compared on the
    same replicates of models and records. All p-values are corrected together (Holm); what is not significant then is
    called a tie. A recipe without a known accuracy is not put on the Pareto front.

    Args:
        rows: two or more, trained under the same membership and audited on the same records.
        fpr: false-positive rate of the TPR; None leaves it out.
        rng: for the bootstrap; the same state gives the same comparison.
        confidence: of every interval; one minus it is the rate of false verdicts among all of them.
        replicates: of the bootstrap, at least 100.
        baseline: name of the row that the others are held against; by default the first.

    Returns:
        The comparison. Cost: a bootstrap an attack and recipe.

    Raises:
        InputError: rows that cannot be compared, or a bad option.
        UnknownNameError: no row is called as `baseline` says.
    """
    tail(confidence)
    if fpr is not None:
        records_needed(fpr)
    if replicates < 100:
        raise InputError(f"replicates: expected at least 100 for an interval, got {replicates}")
    by_name = {one.name: one for one in checked(rows)}
    first = next(iter(by_name)) if baseline is None else baseline
    if first not in by_name:
        raise UnknownNameError("baseline", first, by_name)
    if by_name[first].role != Role.RECIPE:
        raise InputError(f"baseline: expected a recipe, got {first!r}, which is there to be compared with another row")
    seed = int(rng.integers(2**63))
    found = [measured(one, fpr, seed, replicates, confidence) for one in by_name.values()]
    tests = pairs(found, fpr, confidence)
    known = PairTests(tests)
    unbeaten = _unbeaten(found)
    held = {
        name: standing(list(by_name.values()), one, first, known)
        for name, one in by_name.items()
        if one.role == Role.RECIPE and name != first
    }
    sets = found[0].sets
    return Comparison(
        fpr=fpr,
        confidence=confidence,
        baseline=first,
        targets=sets.models,
        training_sets=sets.count if sets.count < sets.models else None,
        rows=tuple(one.numbers(pareto=one.name in unbeaten, control=held.get(one.name)) for one in found),
        pairs=tests,
    )


def _unbeaten(rows: Sequence[MeasuredRow]) -> set[str]:
    """Name the rows on the Pareto front, among those whose accuracy and best attacker are known."""
    known = [
        (row.name, row.accuracy[1].mean, row.strongest[row.leak].estimates[row.leak].mean)
        for row in rows
        if row.accuracy is not None and row.scores.role != Role.NON_ADAPTIVE
    ]
    marked = front([accuracy for _, accuracy, _ in known], [leak for _, _, leak in known])
    return {name for (name, _, _), mark in zip(known, marked, strict=True) if mark}


def front(accuracy: ArrayLike, leak: ArrayLike) -> Bools:
    """Find the rows that are on the Pareto front, by the estimates alone.

    A row is beaten by another one that is at least as accurate, leaks at most as much, and is better in one of the two.
    Rows that are equal in both are both kept. Cost: ``O(K**2)``.
    """
    gain = checks.floats(accuracy=accuracy, ndim=1)
    loss = checks.floats(leak=leak, ndim=1)
    checks.shape(leak=loss, expected=gain.shape, meaning="as `accuracy` has")
    as_good = (gain[None, :] >= gain[:, None]) & (loss[None, :] <= loss[:, None])
    better = (gain[None, :] > gain[:, None]) | (loss[None, :] < loss[:, None])
    return np.asarray(~(as_good & better).any(axis=1))
