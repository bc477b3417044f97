"""What all audits of a run together say: how many members an attacker finds, and whether that is a leak.

Intervals are widened for the choice among K attacks (Bonferroni: each at confidence ``1 - (1 - c) / K``, its arms
stretched by the ratio of the normal quantiles). With them, the leak is

* "found" if, for some attack, the lower limit of the AUC is above 0.5, or that of the TPR above the false-positive
  rate that its threshold has on average (see `expected_fpr`); both statistics of all attacks together call a leak that
  is not there at most at rate ``1 - c``;
* "not found" if some attack compares models and, for every attack, the upper limit of the AUC is below `MATERIAL_AUC`,
  and that of the TPR below `MATERIAL_LIFT` times the false-positive rate: the audit was large enough to see a leak of
  that size; and equal scores decide the TPR of no attack that compares models, nor that of all attacks;
* "found" by other means where members and non-members differ without the model (`auditing.blind`): if what some attack
  that compares models finds beyond the blind baseline is more than 0. For it, what is a fixed function of the record
  cancels; one model's answers may tell the shift better than the baseline, which learns it from few records. A leak is
  never excluded there, since a shift can hide one;
* "found", where reticent did not draw who is a member, by attacks that compare models alone, if any ran: one model's
  answers tell easy records, and these may be members more often, which few models do not show;
* "found" by other limits where records are in different shares of the models, or easier ones in more: some attack that
  compares models must find more than with the membership permuted among the models, record by record, which keeps the
  shares. Where models that hold the same records are alike in how sure they are of all, it must find more, too, than
  with the membership exchanged among the records, which keeps who holds what together. A leak is never excluded there;
* "found", too, if single records leak beyond doubt, at a level that holds for all records together
  (`exposure.count_exposed`), or if a group of records leaks, and more than the others, at limits that hold for all
  groups and attacks together (`group_limits`): a leak of few records does not show in the mean over all;
* "cannot tell" otherwise, and wherever two to four models, from which their spread is hardly known, show no leak, or
  one model is audited with fewer than `FEWEST` members or non-members; or an attack works backwards: the upper limit of
  its AUC is below 0.5. That is a leak too, and told as one, but "found" keeps its error rate by not counting it.

The sentence quotes a figure that is more than chance by itself, where a leak is found: the TPR if any attack's is, else
the AUC. Its attack is the one that finds most by that figure, of those under which it is more than chance if there are
any; the AUC decides between equal TPRs, and where no rate can be measured or equal scores decide all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reticent.auditing.intervals import tail, widened
from reticent.auditing.roc import threshold_rate
from reticent.errors import InputError
from reticent.findings.attack import Audit
from reticent.findings.audit import ExposureCount, Leak, Reason, Unequal, Verdict
from reticent.findings.base import Interval
from reticent.findings.group_limits import ExposedGroup
from reticent.findings.numbers import OverallRate, PairedDifference, Statistic
from reticent.findings.population import Population

MATERIAL_AUC = 0.55
"""An AUC that would matter."""
MATERIAL_LIFT = 2.0
"""A TPR that would matter, as a multiple of the false-positive rate, which is what guessing finds."""
ENOUGH_FALSE_POSITIVES = 5
"""False positives that a rate should allow, to be relied on."""
FEWEST = 20
"""With fewer members, or non-members, of one model, redrawing them does not show what other ones would give."""
ENOUGH_TARGETS = 5
"""Models from which their spread is known well enough."""
MOST_CONTRADICTED = 0.05
"""A larger share of records that have a copy with the other membership hides a leak."""
ENOUGH_WORSE = 8
"""Models, each of a training set of its own, that all do worse on members hardly do so by chance."""


def too_few(models: int) -> bool:
    """Tell whether models are several, and so few that their spread is hardly known."""
    return 1 < models < ENOUGH_TARGETS


def unsure(audit: Audit) -> bool:
    """Tell whether one model was audited, with so few records that no interval over them can be relied on.

    So are models of one training set.
    """
    fewest = min((min(one.members, one.non_members) for one in audit.targets), default=FEWEST)
    return audit.training_sets == 1 and fewest < FEWEST


def may_show(audits: Sequence[Audit], *, drawn: bool, unequal: bool = False) -> frozenset[str]:
    """Name the attacks that may show a leak.

    Only those that compare models where who is a member depends on more than chance (`unequal`); or where reticent did
    not draw it, and any of them ran.
    """
    comparing = frozenset(audit.name for audit in audits if audit.strong)
    return comparing if unequal or (comparing and not drawn) else frozenset(audit.name for audit in audits)


@dataclass(frozen=True)
class _Judged:
    """One attack with its widened intervals, at the reported rate."""

    audit: Audit
    auc: Interval
    rate: OverallRate | None
    tpr: Interval | None
    alpha: float
    nulls: "tuple[_Judged | None, ...]" = ()
    unequal: bool = False
    counts: bool = True

    @property
    def least(self) -> tuple[float, float]:
        """The AUC and the TPR that chance explains; where `unequal`, as far as permuted membership reaches."""
        expected = 1.0 if self.rate is None else expected_fpr(self.audit, self.rate.fpr)
        if not self.unequal:
            return 0.5, expected
        reach = self.reach
        return (1.0, 1.0) if reach is None else (reach.auc, 1.0 if reach.tpr is None else max(expected, reach.tpr))

    @property
    def reach(self) -> Unequal | None:
        """How far it reaches with permuted membership."""
        nulls = [one for one in self.nulls if one is not None]
        if not nulls or len(nulls) < len(self.nulls):
            return None
        rates = [one.tpr[1] for one in nulls if one.tpr is not None]
        return Unequal(
            auc=max(0.5, *(one.auc[1] for one in nulls)), tpr=None if len(rates) < len(nulls) else max(rates)
        )

    @property
    def enough(self) -> bool:
        """Whether an interval over records alone can be relied on."""
        return not unsure(self.audit)

    @property
    def by_auc(self) -> bool:
        excess = self.audit.excess
        return self.enough and self.auc[0] > self.least[0] and (excess is None or self._more(excess.auc))

    @property
    def by_tpr(self) -> bool:
        if not self.enough or self.rate is None or self.tpr is None or self.tpr[0] <= self.least[1]:
            return False
        if self.audit.excess is None:
            return True
        beyond = self.audit.excess.at(self.rate.fpr)
        return beyond is not None and self._more(beyond.tpr)

    def _more(self, excess: PairedDifference) -> bool:
        """Tell whether what goes beyond the blind baseline is more than chance; the choice of attack is allowed for."""
        return excess.difference > 0 and excess.p <= self.alpha

    @property
    def backwards(self) -> bool:
        return self.enough and self.auc[1] < 0.5 and self.audit.excess is None and not self.unequal

    @property
    def more(self) -> bool:
        """Whether it finds more than chance, or than the blind baseline."""
        return self.by_auc or self.by_tpr

    @property
    def found(self) -> bool:
        """Whether that shows a leak."""
        return self.more and self.counts and (self.audit.excess is None or self.audit.excess.counts)

    @property
    def tied(self) -> bool:
        """Whether equal scores decide the rate."""
        return self.rate is not None and self.rate.tied

    @property
    def area(self) -> float:
        return self.audit.auc.mean

    @property
    def excluded(self) -> bool:
        """Whether a leak that matters is excluded."""
        if self.rate is None or self.tpr is None or too_few(self.audit.training_sets) or not self.enough:
            return False
        if self.audit.excess is not None or self.unequal:
            return False
        area, found = unguessed(self.audit, self.auc[1], 0.5), unguessed(self.audit, self.tpr[1])
        return area < MATERIAL_AUC and found < MATERIAL_LIFT * self.rate.fpr

    @property
    def share(self) -> tuple[float, float]:
        """What is found at the reported rate, or less than nothing where that is not known; then the AUC."""
        return (self.rate.tpr.mean if self.rate is not None and self.rate.tpr is not None else -1.0), self.area


def verdict(audits: Sequence[Audit], nulls: Sequence[Sequence[Audit]] | None = None, *, drawn: bool = True) -> Verdict:
    """Say what the audits of one run show.

    Where who is a member depends on more than chance, `nulls` are the same attacks' audits with the membership
    permuted, in one way or several; none where that cannot be done. `drawn`: reticent drew who is a member.

    The rate reported is chosen by `reported_fpr`. The attack reported is the one that finds most by the figure that the
    sentence quotes, of those that show a leak by it, else of those that do better than chance by it; it is
    chosen on the audited records, so it is labelled with the number of attacks it was chosen from. Without its
    sentences (`say.verdict`).
    """
    if not audits:
        raise InputError("audits: expected at least one attack, got none")
    confidences = sorted({audit.confidence for audit in audits})
    if len(confidences) > 1:
        raise InputError(f"audits: expected one confidence for all attacks, got {confidences}")
    fpr = reported_fpr(audits)
    showing = may_show(audits, drawn=drawn, unequal=nulls is not None)
    known = [{null.name: _judge(null, fpr, len(audits)) for null in way} for way in nulls or ()]
    judged = [
        replace(
            _judge(audit, fpr, len(audits)),
            nulls=tuple(way.get(audit.name) for way in known),
            unequal=nulls is not None,
            counts=audit.name in showing,
        )
        for audit in audits
    ]
    leak, reason = _leak(judged)
    best, figure, among = _headline(judged)
    rate = best.rate
    return Verdict(
        attack=best.audit.name,
        best_of=len(audits),
        best_by=figure,
        best_among=among,
        fpr=fpr,
        tpr=None if rate is None or rate.tpr is None else rate.tpr.mean,
        tpr_interval=best.tpr,
        chance=None if fpr is None or best.audit.excess is not None else expected_fpr(best.audit, fpr),
        tied=None if rate is None else rate.tied,
        auc=best.audit.auc.mean,
        auc_interval=best.auc,
        confidence=confidences[0],
        leak=leak,
        reason=reason,
        shown_by=((Statistic.AUC,) * best.by_auc + (Statistic.TPR,) * best.by_tpr) if best.found else (),
        unequal=best.reach,
        excess=best.audit.excess,
        wrong_sign=tuple(one.audit.name for one in judged if one.backwards),
    )


def with_group(said: Verdict, exposed: ExposedGroup | None) -> Verdict:
    """Put the group that stands out into the verdict; where nothing else shows a leak, it does.

    The limits of a group hold for all groups and attacks together (`group_limits`), apart from those over all records.
    """
    if exposed is None:
        return said
    if said.leak is Leak.FOUND:
        return said.with_(group=exposed)
    return said.with_(group=exposed, leak=Leak.FOUND, reason=Reason.IN_A_GROUP)


def with_records(said: Verdict, exposed: ExposureCount, population: Population) -> Verdict:
    """Find a leak where nothing else shows one, if single records leak beyond doubt (`exposure.count_exposed`).

    Their test allows for having looked at all records, apart from the intervals over all. It takes the models that were
    trained on a record for as good as the others.
    """
    if said.leak is Leak.FOUND or said.excess is not None or population.unequal or not exposed.exposed:
        return said
    return said.with_(leak=Leak.FOUND, reason=Reason.IN_RECORDS)


def allow_for_exchanged(said: Verdict, audits: Sequence[Audit], population: Population) -> Verdict:
    """Mark where members and non-members may be exchanged; only where `membership` was brought.

    Attacks that compare models say nothing of it: they learn from it which way round it is. Nor do others where members
    are other records than non-members, such as the harder ones, or where labels may be those of other records.
    """
    targets, unknown = population.targets, population.unequal or population.mostly_unlearned
    if targets is None or said.excess is not None or unknown:
        return said
    alone = [_judge(one, said.fpr, len(audits)) for one in audits if not one.strong]
    right = [(one.accuracy_members, one.accuracy_non_members) for one in population.per_model if one.model in targets]
    enough = min(len(right), audits[0].training_sets) >= ENOUGH_WORSE
    worse = enough and all((inside or 0.0) < (outside or 0.0) for inside, outside in right)
    turned = any(one.backwards for one in alone) and not any(one.by_auc for one in alone)
    return said.with_(exchanged=worse or turned)


def allow_for_unlearned(said: Verdict, population: Population) -> Verdict:
    """Exclude nothing where models did not learn, or nobody knows whether they did.

    What learned nothing pulls the figures of a population to chance, and serves attacks badly as a reference: that
    would make any leak of the others look smaller, by an amount that is not known.
    """
    if said.leak is Leak.FOUND or said.reason in {Reason.FEW_RECORDS, Reason.BACKWARDS, Reason.UNCOMPARED}:
        return said
    if population.mostly_unlearned:
        return said.with_(leak=Leak.CANNOT_TELL, reason=Reason.MOST_UNLEARNED)
    if said.leak is Leak.NOT_FOUND and population.unlearned:
        return said.with_(leak=Leak.CANNOT_TELL, reason=Reason.SOME_UNLEARNED)
    if said.leak is Leak.NOT_FOUND and population.health is None:
        return said.with_(leak=Leak.CANNOT_TELL, reason=Reason.LEARNING_UNKNOWN)
    return said


def contradicted(population: Population) -> bool:
    """Tell whether so many records have a copy with the other membership that low figures exclude nothing."""
    return (population.contradicted or 0.0) > MOST_CONTRADICTED


def allow_for_copies(said: Verdict, population: Population) -> Verdict:
    """Exclude nothing where many records have a copy with the other membership.

    What attacks find in one is counted against them in the other, which more models, or more records, would not change.
    """
    if said.reason in {Reason.EXCLUDED, Reason.TOO_SMALL, Reason.FEW_MODELS} and contradicted(population):
        return said.with_(leak=Leak.CANNOT_TELL, reason=Reason.COPIES)
    return said


def reported_fpr(audits: Sequence[Audit]) -> float | None:
    """Choose the false-positive rate of the verdict; it depends on the counts only, never on what was found.

    It is the smallest that allows `ENOUGH_FALSE_POSITIVES` false positives for every target; failing that, the largest
    that can be measured. None if none can be measured by all.
    """
    fewest: dict[float, list[int]] = {}
    for audit in audits:
        for rate in audit.rates:
            fewest.setdefault(rate.fpr, []).append(rate.false_positives_allowed)
    common = {fpr: min(counts) for fpr, counts in fewest.items() if len(counts) == len(audits)}
    enough = [fpr for fpr, count in common.items() if count >= ENOUGH_FALSE_POSITIVES]
    some = [fpr for fpr, count in common.items() if count >= 1]
    return min(enough) if enough else max(some, default=None)


def expected_fpr(audit: Audit, fpr: float) -> float:
    """Compute the false-positive rate that the thresholds of a rate truly have, on average; guessing finds as many.

    That is more than the rate asked for where few false positives are allowed (see `roc.threshold_rate`). With many
    targets the interval of the TPR is narrow enough to show the difference, which is no leak. The mean over targets, or
    `fpr` if that is larger.
    """
    rates = [
        threshold_rate(rate.false_positives_allowed, target.non_members)
        for target in audit.targets
        for rate in target.tpr_at_fpr
        if rate.fpr == fpr
    ]
    return max(fpr, sum(rates) / len(rates)) if rates else fpr


def unguessed(audit: Audit, upper: float, chance: float = 0.0) -> float:
    """Raise an upper limit by what guesses hide of it: they make what an attack finds smaller by about their share."""
    return min(1.0, chance + (upper - chance) / (1 - (audit.guessed or 0.0))) if upper > chance else upper


def _judge(audit: Audit, fpr: float | None, choices: int) -> _Judged:
    rate = audit.rate(fpr)
    tpr = None if rate is None or rate.tpr is None else widened(rate.tpr, audit.confidence, choices)
    alpha = 2 * tail(audit.confidence) / choices
    return _Judged(audit, widened(audit.auc, audit.confidence, choices, area=True), rate, tpr, alpha)


def _headline(judged: Sequence[_Judged]) -> tuple[_Judged, Statistic, int]:
    """Choose the attack of the sentence, the figure that it quotes, and say of how many attacks it was chosen.

    An attack that shows the leak goes before one that only happens to find as much.
    """
    shown = [one for one in judged if one.found] or judged
    by_tpr, by_auc = [one for one in shown if one.by_tpr], [one for one in shown if one.by_auc]
    among = by_tpr or by_auc or judged
    rated = by_tpr or ([] if by_auc else [one for one in judged if one.share[0] >= 0 and not one.tied])
    if not rated:
        return max(among, key=lambda one: one.area), Statistic.AUC, len(among)
    return max(rated, key=lambda one: one.share), Statistic.TPR, len(among)


def _leak(judged: Sequence[_Judged]) -> tuple[Leak, Reason]:
    shift = judged[0].audit.excess is not None
    if any(attack.found for attack in judged):
        return Leak.FOUND, Reason.MORE_THAN_SHIFT if shift else Reason.MORE_THAN_CHANCE
    if any(attack.backwards for attack in judged):
        return Leak.CANNOT_TELL, Reason.BACKWARDS
    if _tied(judged):
        return Leak.CANNOT_TELL, Reason.TIES
    if all(attack.excluded for attack in judged):
        compared = any(attack.audit.strong for attack in judged)
        return (Leak.NOT_FOUND, Reason.EXCLUDED) if compared else (Leak.CANNOT_TELL, Reason.WEAK_ATTACKS)
    if unsure(judged[0].audit):
        return Leak.CANNOT_TELL, Reason.FEW_RECORDS
    if shift:
        return Leak.CANNOT_TELL, Reason.UNCOMPARED if any(attack.more for attack in judged) else Reason.SHIFT
    if judged[0].unequal:
        return Leak.CANNOT_TELL, Reason.UNEQUAL
    if any(attack.more for attack in judged):
        return Leak.CANNOT_TELL, Reason.WEAK_ALONE
    return Leak.CANNOT_TELL, Reason.FEW_MODELS if too_few(judged[0].audit.training_sets) else Reason.TOO_SMALL


def _tied(judged: Sequence[_Judged]) -> bool:
    """Whether a leak would be excluded, had equal scores not decided the rates that this rests on."""
    ties = [attack.tied for attack in judged]
    strong = any(tie and attack.audit.strong for tie, attack in zip(ties, judged, strict=True))
    return all(attack.excluded for attack in judged) and (strong or all(ties))
