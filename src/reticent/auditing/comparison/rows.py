"""One row a recipe: its accuracy, what every attack finds, and which attack is the strongest.

By each statistic the strongest attack is that with the largest mean. The AUC of the attack with the best TPR would not
do: where two attacks find about as much, chance decides which one that is, and their AUCs may be far apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from reticent.auditing.bootstrap import NO_SPREAD, Bootstrap, bootstrap
from reticent.auditing.comparison.entry import Checked
from reticent.auditing.intervals import clopper_pearson, degenerate, tail
from reticent.auditing.roc import allowed, auc, roc, tied
from reticent.auditing.weighted_roc import FIXED
from reticent.findings.numbers import Estimate

Floats = NDArray[np.float64]
AUC, TPR = FIXED.index("auc"), len(FIXED)
"""Columns of the replicates."""


@dataclass(frozen=True, eq=False)
class Found:
    """What one attack finds under one recipe.

    Attributes:
        name: of the attack.
        scores: ``(T, N)``.
        replicates: of its AUC, and of its TPR if that is measurable.
        observed: by column of the replicates, each target's value ``(T,)``.
        summaries: by column, the mean over targets with its interval.
    """

    name: str
    scores: Floats
    replicates: Bootstrap
    observed: Mapping[int, Floats]
    summaries: Mapping[int, Estimate]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        tpr = self.summaries.get(TPR)
        return {"auc": self.summaries[AUC].to_json(), "tpr": None if tpr is None else tpr.to_json()}


@dataclass(frozen=True, eq=False)
class Row:
    """One recipe.

    Attributes:
        checked: its entry.
        attacks: what each attack finds.
        strongest: by column, the attack that finds most; it is chosen on the audited records.
        accuracy: of members and of non-members, over targets; None if it is not known.
    """

    checked: Checked
    attacks: tuple[Found, ...]
    strongest: Mapping[int, Found]
    accuracy: tuple[Estimate, Estimate] | None

    @property
    def name(self) -> str:
        """Name of the recipe."""
        return self.checked.name

    @property
    def leak(self) -> int:
        """The column that the Pareto front is about: the TPR, or the AUC where that is not measurable."""
        return TPR if TPR in self.strongest else AUC

    def mean(self, column: int) -> float:
        """Return what the strongest attack finds."""
        return self.strongest[column].summaries[column].mean

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        known = dict(zip(("members", "non_members"), self.accuracy or (None, None), strict=True))
        return {
            "name": self.name,
            "accuracy": {group: None if summary is None else summary.to_json() for group, summary in known.items()},
            "attack": self.strongest[self.leak].name,
            "auc_attack": self.strongest[AUC].name,
            "best_of": len(self.attacks),
            "auc": self.strongest[AUC].to_json()["auc"],
            "tpr": self.strongest[self.leak].to_json()["tpr"],
            "attacks": [{"name": attack.name, **attack.to_json()} for attack in self.attacks],
        }


def row(checked: Checked, fpr: float | None, seed: int, replicates: int, confidence: float) -> Row:
    """Measure one recipe.

    Args:
        checked: its entry.
        fpr: false-positive rate of the TPR; None if there is none.
        seed: of the record weights; the same one for all rows, which pairs their replicates.
        replicates: of the bootstrap.
        confidence: of every interval.

    Returns:
        The row. Cost: one bootstrap an attack.
    """
    attacks = tuple(
        _found(name, scores, checked, fpr, np.random.default_rng(seed), replicates, confidence)
        for name, scores in checked.scores.items()
    )
    strongest = {
        column: max(attacks, key=lambda attack: attack.summaries[column].mean) for column in attacks[0].summaries
    }
    return Row(checked, attacks, strongest, _accuracies(checked, confidence))


def _found(
    name: str,
    scores: Floats,
    checked: Checked,
    fpr: float | None,
    rng: np.random.Generator,
    replicates: int,
    confidence: float,
) -> Found:
    members = checked.members
    inside, outside = int(members.sum(axis=1).min()), int((~members).sum(axis=1).min())
    # A rate that allows no false positive for some target is not measurable.
    rates = (fpr,) if fpr is not None and allowed(fpr, outside) >= 1 else ()
    observed = {AUC: auc(scores, members)}
    points = [roc(s, own).at_fpr(rate) for rate in rates for s, own in zip(scores, members, strict=True)]
    if points:
        observed[TPR] = np.array([point.tpr for point in points])
    drawn = bootstrap(scores, members, rates, replicates, rng, oracle=False)
    pairs = {AUC: min(inside, outside), TPR: inside}
    summaries = {
        column: _summary(each, drawn.interval(column, each, confidence), pairs[column], confidence)
        for column, each in observed.items()
    }
    if points:
        summaries[TPR] = summaries[TPR].with_(tied=tied(points))
    return Found(name, scores, drawn, observed, summaries)


def _summary(each: Floats, interval: tuple[float, float] | None, pairs: int, confidence: float) -> Estimate:
    mean = float(each.mean())
    return Estimate(
        mean=mean,
        std=float(each.std(ddof=1)) if len(each) > 1 else None,
        interval=interval or degenerate(mean, pairs, confidence),
    )


def _accuracies(checked: Checked, confidence: float) -> tuple[Estimate, Estimate] | None:
    if checked.accuracy is None:
        return None
    inside, outside = (
        _accuracy(each, group.sum(axis=1), confidence)
        for each, group in zip(checked.accuracy, (checked.members, ~checked.members), strict=True)
    )
    return inside, outside


def _accuracy(each: Floats, counted: NDArray[np.int64], confidence: float) -> Estimate:
    """Bound by Student's interval over targets, within [0, 1]; for one target, by Clopper and Pearson's."""
    if len(each) == 1:
        right = np.rint(each * counted)
        low, high = clopper_pearson(right, counted, confidence)
        return _summary(each, (float(low[0]), float(high[0])), int(counted[0]), confidence)
    error = float(each.std(ddof=1)) / len(each) ** 0.5
    if error**2 <= NO_SPREAD:
        return _summary(each, None, int(counted.min()), confidence)
    arm = -float(stdtrit(len(each) - 1, tail(confidence))) * error
    mean = float(each.mean())
    return _summary(each, (max(0.0, mean - arm), min(1.0, mean + arm)), int(counted.min()), confidence)
