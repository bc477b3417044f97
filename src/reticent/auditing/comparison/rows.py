"""One row a recipe: its accuracy, what every attack finds, and which attack is the strongest.

By each statistic the strongest attack is that with the largest mean. The AUC of the attack with the best TPR would not
do: where two attacks find about as much, chance decides which one that is, and their AUCs may be far apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from reticent.arrays import Bools, Floats
from reticent.auditing.bootstrap import NO_SPREAD, Bootstrap, bootstrap
from reticent.auditing.comparison.paired import crossed
from reticent.auditing.comparison.scores import RowScores
from reticent.auditing.intervals import degenerate, exact_interval, tail
from reticent.auditing.roc import allowed, auc, roc, tied
from reticent.auditing.training_sets import TrainingSets
from reticent.auditing.weighted_roc import FIXED
from reticent.findings.comparison import AttackFound, RowAccuracy, RowNumbers, Standing
from reticent.findings.numbers import ShareEstimate

AUC, TPR = FIXED.index("auc"), len(FIXED)
"""Columns of the replicates."""


@dataclass(frozen=True, eq=False)
class MeasuredAttack:
    """What one attack finds under one recipe, with the replicates of it.

    Attributes:
        replicates: of its AUC, and of its TPR if that is measurable.
        observed: by column of the replicates, each target's value ``(T,)``.
        estimates: by column, the mean over targets with its interval.
    """

    name: str
    scores: Floats
    replicates: Bootstrap
    observed: Mapping[int, Floats]
    estimates: Mapping[int, ShareEstimate]


@dataclass(frozen=True, eq=False)
class MeasuredRow:
    """One recipe, with the replicates that its pairs need.

    Attributes:
        strongest: by column, the attack that finds most; it is chosen on the audited records.
        accuracy: of members and of non-members, over targets; None if it is not known.
    """

    scores: RowScores
    attacks: tuple[MeasuredAttack, ...]
    strongest: Mapping[int, MeasuredAttack]
    accuracy: tuple[ShareEstimate, ShareEstimate] | None

    @property
    def sets(self) -> TrainingSets:
        """What the targets count for."""
        return self.attacks[0].replicates.training_sets

    @property
    def name(self) -> str:
        """Name of the recipe."""
        return self.scores.name

    @property
    def leak(self) -> int:
        """The column that the Pareto front is about: the TPR, or the AUC where that is not measurable."""
        return TPR if TPR in self.strongest else AUC

    def numbers(self, *, pareto: bool, control: Standing | None) -> RowNumbers:
        """Write the row down."""
        inside, outside = self.accuracy or (None, None)
        return RowNumbers(
            name=self.name,
            accuracy=RowAccuracy(members=inside, non_members=outside),
            attack=self.strongest[self.leak].name,
            auc_attack=self.strongest[AUC].name,
            best_of=len(self.attacks),
            auc=self.strongest[AUC].estimates[AUC],
            tpr=self.strongest[TPR].estimates[TPR] if TPR in self.strongest else None,
            attacks=tuple(
                AttackFound(name=one.name, auc=one.estimates[AUC], tpr=one.estimates.get(TPR)) for one in self.attacks
            ),
            pareto=pareto,
            control=control,
            role=self.scores.role,
            matches=tuple(self.scores.matches),
            models=self.scores.models,
            unlearned=self.scores.unlearned,
        )


def measured(row: RowScores, fpr: float | None, seed: int, replicates: int, confidence: float) -> MeasuredRow:
    """Measure one recipe; the same seed of the record weights for all rows pairs their replicates."""
    attacks = tuple(
        _attack(name, scores, row.members, fpr, np.random.default_rng(seed), replicates, confidence)
        for name, scores in row.scores.items()
    )
    strongest = {
        column: max(attacks, key=lambda attack: attack.estimates[column].mean) for column in attacks[0].estimates
    }
    return MeasuredRow(row, attacks, strongest, _accuracies(row, attacks[0].replicates.training_sets, confidence))


def _attack(
    name: str,
    scores: Floats,
    members: Bools,
    fpr: float | None,
    rng: np.random.Generator,
    replicates: int,
    confidence: float,
) -> MeasuredAttack:
    inside, outside = int(members.sum(axis=1).min()), int((~members).sum(axis=1).min())
    # A rate that allows no false positive for some target is not measurable.
    rates = (fpr,) if fpr is not None and allowed(fpr, outside) >= 1 else ()
    observed = {AUC: auc(scores, members)}
    points = [roc(s, own).at_fpr(rate) for rate in rates for s, own in zip(scores, members, strict=True)]
    if points:
        observed[TPR] = np.array([point.tpr for point in points])
    drawn = bootstrap(scores, members, rates, replicates, rng, oracle=False)
    pairs = {AUC: min(inside, outside), TPR: inside}
    estimates = {
        column: drawn.estimate(column, each, pairs[column], confidence).with_(freedom=None)
        for column, each in observed.items()
    }
    if points:
        estimates[TPR] = estimates[TPR].with_(tied=tied(points))
    return MeasuredAttack(name, scores, drawn, observed, estimates)


def _accuracies(row: RowScores, sets: TrainingSets, confidence: float) -> tuple[ShareEstimate, ShareEstimate] | None:
    if row.correct is None:
        return None
    inside, outside = (_accuracy(row.correct, group, sets, confidence) for group in (row.members, ~row.members))
    return inside, outside


def _accuracy(correct: Bools, group: Bools, sets: TrainingSets, confidence: float) -> ShareEstimate:
    """Bound by Student's interval over targets crossed with records, within [0, 1]; for one target, the exact one."""
    each, variance = crossed(correct.astype(np.float64), group, sets)
    mean, counted = float(each.mean()), int(group.sum(axis=1).min())
    if len(each) == 1:
        return ShareEstimate(mean=mean, interval=exact_interval(round(mean * counted), counted, confidence))
    std = float(each.std(ddof=1))
    if variance.total <= NO_SPREAD:
        return ShareEstimate(mean=mean, std=std, interval=degenerate(mean, counted, confidence))
    arm = -float(stdtrit(variance.freedom, tail(confidence))) * variance.total**0.5
    return ShareEstimate(mean=mean, std=std, interval=(max(0.0, mean - arm), min(1.0, mean + arm)))
