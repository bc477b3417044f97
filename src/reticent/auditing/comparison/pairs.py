"""Every two rows against each other: differences, their p-values corrected for their number, and what is a tie."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from reticent.auditing.comparison.mcnemar import McNemar, found, mcnemar
from reticent.auditing.comparison.multiple import holm
from reticent.auditing.comparison.paired import Difference, bootstrapped, over_models, over_records
from reticent.auditing.comparison.rows import AUC, TPR, Row

Statistic = Literal["auc", "tpr", "accuracy"]
Verdict = Literal["first lower", "second lower", "tie"]


@dataclass(frozen=True)
class Pair:
    """One statistic of two recipes.

    Attributes:
        first: name of a row.
        second: name of another.
        statistic: "auc", "tpr" (each of the row's strongest attack by it), or "accuracy" (of non-members).
        difference: first minus second; its interval is of this pair alone.
        p_corrected: by Holm, over all pairs and statistics.
        verdict: which is lower, if `p_corrected` is below one minus the confidence; else "tie".
        mcnemar: for the TPR.
    """

    first: str
    second: str
    statistic: Statistic
    difference: Difference
    p_corrected: float = 1.0
    verdict: Verdict = "tie"
    mcnemar: McNemar | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "first": self.first,
            "second": self.second,
            "statistic": self.statistic,
            "difference": self.difference.value,
            "interval": list(self.difference.interval),
            "p": self.difference.p,
            "p_corrected": self.p_corrected,
            "verdict": self.verdict,
            "mcnemar": None if self.mcnemar is None else self.mcnemar.to_json(),
        }


def pairs(rows: Sequence[Row], fpr: float | None, confidence: float) -> tuple[Pair, ...]:
    """Test every two rows; a control only against those that it matches.

    Args:
        rows: measured with the same seed, so that their replicates took the same records.
        fpr: false-positive rate of the TPR; used where it is measurable.
        confidence: of the intervals; one minus it is the rate of false verdicts among all of them.

    Returns:
        For each two rows, each statistic that both have.
    """
    caught = {
        row.name: found(row.strongest[TPR].scores, row.checked.members, fpr)
        for row in rows
        if fpr is not None and TPR in row.strongest
    }
    tests: list[Pair] = []
    for first, second in combinations(rows, 2):
        if not _asked(first, second):
            continue
        tests.append(_attacked(first, second, "auc", confidence))
        if first.name in caught and second.name in caught:
            tested = mcnemar(caught[first.name], caught[second.name])
            tests.append(replace(_attacked(first, second, "tpr", confidence), mcnemar=tested))
        accuracy = _accuracy(first, second, confidence)
        if accuracy is not None:
            tests.append(Pair(first.name, second.name, "accuracy", accuracy))
    corrected = holm([test.difference.p for test in tests])
    return tuple(_judged(test, float(p), confidence) for test, p in zip(tests, corrected, strict=True))


def _asked(first: Row, second: Row) -> bool:
    """Whether two rows answer a question: what is no recipe is there for the rows that it matches only."""
    for one, other in ((first, second), (second, first)):
        entry = one.checked.entry
        if entry.role != "recipe" and entry.matches and other.name not in entry.matches:
            return False
    return True


def _attacked(first: Row, second: Row, statistic: Literal["auc", "tpr"], confidence: float) -> Pair:
    column = AUC if statistic == "auc" else TPR
    members = first.checked.members.sum(axis=1)
    others = first.checked.members.shape[1] - members
    counted = int(members.min()) if statistic == "tpr" else int(np.minimum(members, others).min())
    one, two = (
        (attack.replicates, attack.observed[column]) for attack in (first.strongest[column], second.strongest[column])
    )
    return Pair(first.name, second.name, statistic, bootstrapped(one, two, column, counted, confidence))


def _accuracy(first: Row, second: Row, confidence: float) -> Difference | None:
    """Compare accuracies on non-members, by records where both rows know what is right."""
    one, two = first.checked, second.checked
    if one.correct is not None and two.correct is not None:
        models = one.entry.models
        if models is not None and models == two.entry.models and np.array_equal(one.correct, two.correct):
            return Difference(0.0, (0.0, 0.0), 1.0)  # Not by chance: they are the same models.
        return over_records(one.correct, two.correct, ~one.members, confidence)
    if one.accuracy is None or two.accuracy is None:
        return None
    return over_models(one.accuracy[1], two.accuracy[1], (~one.members).sum(axis=1), confidence)


def _judged(test: Pair, p_corrected: float, confidence: float) -> Pair:
    verdict: Verdict = "tie"
    if p_corrected < 1 - confidence:
        verdict = "first lower" if test.difference.value < 0 else "second lower"
    return replace(test, p_corrected=p_corrected, verdict=verdict)
