"""Every two rows against each other: differences, their p-values corrected for their number, and what is a tie."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from reticent.auditing.comparison.mcnemar import found, mcnemar
from reticent.auditing.comparison.multiple import holm
from reticent.auditing.comparison.paired import bootstrapped, over_records
from reticent.auditing.comparison.rows import AUC, TPR, MeasuredRow
from reticent.findings.comparison import PairTest, Role
from reticent.findings.numbers import Lower, PairedDifference, Statistic

SAME = PairedDifference(difference=0.0, interval=(0.0, 0.0), p=1.0)
"""Of rows that give the same answers: that is no matter of chance."""


def pairs(rows: Sequence[MeasuredRow], fpr: float | None, confidence: float) -> tuple[PairTest, ...]:
    """Test every two rows that answer a question, by each statistic that both have.

    The rows are measured with the same seed, so that their replicates took the same records.
    """
    caught = {
        row.name: found(row.strongest[TPR].scores, row.scores.members, fpr)
        for row in rows
        if fpr is not None and TPR in row.strongest
    }
    tests: list[tuple[MeasuredRow, MeasuredRow, Statistic, PairedDifference]] = []
    for first, second in combinations(rows, 2):
        if not _asked(first, second):
            continue
        tests.append((first, second, Statistic.AUC, _attacked(first, second, AUC, confidence)))
        if first.name in caught and second.name in caught:
            tests.append((first, second, Statistic.TPR, _attacked(first, second, TPR, confidence)))
        accuracy = _accuracy(first, second, confidence)
        if accuracy is not None:
            tests.append((first, second, Statistic.ACCURACY, accuracy))
    corrected = holm([difference.p for *_, difference in tests])
    return tuple(
        PairTest(
            first=first.name,
            second=second.name,
            statistic=statistic,
            difference=difference.difference,
            interval=difference.interval,
            p=difference.p,
            p_corrected=float(p),
            verdict=_lower(difference, float(p), confidence),
            mcnemar=mcnemar(caught[first.name], caught[second.name]) if statistic is Statistic.TPR else None,
            same_scores=statistic is not Statistic.ACCURACY and first.scores.same_scores(second.scores),
        )
        for (first, second, statistic, difference), p in zip(tests, corrected, strict=True)
    )


def _asked(first: MeasuredRow, second: MeasuredRow) -> bool:
    """Whether two rows answer a question: what is no recipe is there for the rows that it matches only."""
    return all(
        one.scores.role == Role.RECIPE or not one.scores.matches or other.name in one.scores.matches
        for one, other in ((first, second), (second, first))
    )


def _attacked(first: MeasuredRow, second: MeasuredRow, column: int, confidence: float) -> PairedDifference:
    if first.scores.same_scores(second.scores):
        return SAME
    members = first.scores.members.sum(axis=1)
    others = first.scores.members.shape[1] - members
    counted = int(members.min()) if column == TPR else int(np.minimum(members, others).min())
    one, two = (
        (attack.replicates, attack.observed[column]) for attack in (first.strongest[column], second.strongest[column])
    )
    return bootstrapped(one, two, column, counted, confidence)


def _accuracy(first: MeasuredRow, second: MeasuredRow, confidence: float) -> PairedDifference | None:
    """Compare accuracies on non-members, record by record, where both rows know what is right."""
    one, two = first.scores, second.scores
    if one.correct is None or two.correct is None:
        return None
    models = one.runs is not None and one.runs == two.runs
    if (models or one.same_scores(two)) and np.array_equal(one.correct, two.correct):
        return SAME
    return over_records(one.correct, two.correct, ~one.members, first.sets, confidence)


def _lower(difference: PairedDifference, p_corrected: float, confidence: float) -> Lower:
    if p_corrected >= 1 - confidence:
        return Lower.TIE
    return Lower.FIRST if difference.difference < 0 else Lower.SECOND
