"""What all audits of a run together say: how many members an attacker finds, and whether that is a leak.

Intervals are widened for the choice among K attacks (Bonferroni: each at confidence ``1 - (1 - c) / K``, its arms
stretched by the ratio of the normal quantiles). With them, the leak is

* "found" if, for some attack, the lower limit of the AUC is above 0.5, or that of the TPR above the false-positive
  rate that its threshold has on average (see `expected_fpr`); both statistics of all attacks together call a leak that
  is not there at most at rate ``1 - c``;
* "not found" if, for every attack, the upper limit of the AUC is below `MATERIAL_AUC`, and that of the TPR below
  `MATERIAL_LIFT` times the false-positive rate: the audit was large enough to see a leak of that size; and equal scores
  decide the TPR of no attack that compares models, nor that of all attacks;
* "cannot tell" otherwise, and wherever two to four models, whose intervals are too short, show no leak, or one model is
  audited with fewer than `wording.FEWEST` members or non-members.

The sentence quotes a figure that is more than chance by itself, where a leak is found: the TPR if any attack's is, else
the AUC. Its attack is the one that finds most by that figure, of those under which it is more than chance if there are
any; the AUC decides between equal TPRs, and where no rate can be measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri, stdtrit

from reticent.auditing import wording
from reticent.auditing.intervals import tail
from reticent.auditing.results import Audit, Interval, OverallRate, Summary
from reticent.auditing.roc import threshold_rate
from reticent.auditing.wording import ENOUGH_FALSE_POSITIVES
from reticent.errors import InputError

MATERIAL_AUC = 0.55
"""An AUC that would matter."""
MATERIAL_LIFT = 2.0
"""A TPR that would matter, as a multiple of the false-positive rate, which is what guessing finds."""
EXCLUDED = (
    f"{wording.NOTHING}, and a leak that matters (an AUC of {MATERIAL_AUC}, or {MATERIAL_LIFT:g} "
    "times as many records as chance at that rate of false alarms) is excluded."
)
"""What is said where no leak is found."""


@dataclass(frozen=True)
class _Judged:
    """One attack with its widened intervals, at the reported rate."""

    audit: Audit
    auc: Interval
    rate: OverallRate | None
    tpr: Interval | None

    @property
    def enough(self) -> bool:
        """Whether an interval over records alone can be relied on."""
        return not wording.unsure(self.audit.targets)

    @property
    def by_auc(self) -> bool:
        return self.enough and self.auc[0] > 0.5

    @property
    def by_tpr(self) -> bool:
        if not self.enough:
            return False
        return self.rate is not None and self.tpr is not None and self.tpr[0] > expected_fpr(self.audit, self.rate.fpr)

    @property
    def found(self) -> bool:
        return self.by_auc or self.by_tpr

    @property
    def area(self) -> float:
        return self.audit.auc.mean

    @property
    def excluded(self) -> bool:
        """Whether a leak that matters is excluded."""
        if self.rate is None or self.tpr is None or wording.too_few(len(self.audit.targets)) or not self.enough:
            return False
        return self.auc[1] < MATERIAL_AUC and self.tpr[1] < MATERIAL_LIFT * self.rate.fpr

    @property
    def share(self) -> tuple[float, float]:
        """What is found at the reported rate, or less than nothing where that is not known; then the AUC."""
        return (self.rate.tpr.mean if self.rate is not None and self.rate.tpr is not None else -1.0), self.area


def verdict(audits: Sequence[Audit]) -> dict[str, Any]:
    """Say what the audits of one run show.

    The rate reported is chosen by `reported_fpr`. The attack reported is the one that finds most by the figure that the
    sentence quotes, of those that do better than chance by it, if any does; it is chosen on the audited records, so it
    is labelled with the number of attacks it was chosen from.

    Args:
        audits: of all attacks, on the same targets and at the same rates.

    Returns:
        The verdict object of `audit.json`: plain values, what is not known None.

    Raises:
        InputError: there are no audits, or their confidences differ.
    """
    if not audits:
        raise InputError("audits: expected at least one attack, got none")
    confidences = sorted({audit.confidence for audit in audits})
    if len(confidences) > 1:
        raise InputError(f"audits: expected one confidence for all attacks, got {confidences}")
    fpr = reported_fpr(audits)
    judged = [_judge(audit, fpr, len(audits)) for audit in audits]
    leak, tied = _leak(judged), _tied(judged)
    best, figure, among = _headline(judged)
    summary = None if best.rate is None else best.rate.tpr
    by_pairs = figure == "auc"
    widest = max(judged, key=lambda attack: attack.area).audit
    detail = [
        *wording.intervals(best.audit, best.rate, best.tpr, best.auc, by_pairs),
        *wording.basis(best.audit, len(audits), figure, among, widest),
        *wording.few(len(best.audit.targets)),
        wording.carried(best.by_auc, best.by_tpr, best.rate) if leak == "found" else _concluded(leak, best, tied),
    ]
    return {
        "sentence": wording.sentence(None if by_pairs else best.rate, best.audit.auc.mean),
        "detail": " ".join(detail),
        "attack": best.audit.name,
        "best_of": len(audits),
        "best_by": figure,
        "best_among": among,
        "fpr": fpr,
        "tpr": None if summary is None else summary.mean,
        "tpr_interval": None if best.tpr is None else list(best.tpr),
        "tied": None if best.rate is None else best.rate.tied,
        "auc": best.audit.auc.mean,
        "auc_interval": list(best.auc),
        "confidence": best.audit.confidence,
        "leak": leak,
        "cannot_say": wording.limits(
            best.audit, [attack.audit for attack in judged if attack.auc[1] < 0.5], leak, tied
        ),
    }


def reported_fpr(audits: Sequence[Audit]) -> float | None:
    """Choose the false-positive rate of the verdict; it depends on the counts only, never on what was found.

    It is the smallest that allows `ENOUGH_FALSE_POSITIVES` false positives for every target; failing that, the largest
    that can be measured.

    Args:
        audits: of all attacks.

    Returns:
        The rate, or None if none can be measured by all.
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
    targets the interval of the TPR is narrow enough to show the difference, which is no leak.

    Args:
        audit: of one attack.
        fpr: the rate asked for.

    Returns:
        The mean over targets, or `fpr` if that is larger.
    """
    rates = [
        threshold_rate(rate.false_positives_allowed, target.non_members)
        for target in audit.targets
        for rate in target.rates
        if rate.fpr == fpr
    ]
    return max(fpr, sum(rates) / len(rates)) if rates else fpr


def widened(summary: Summary, confidence: float, choices: int) -> Interval:
    """Widen an interval for a choice among several.

    Args:
        summary: with its interval.
        confidence: of that interval.
        choices: number of intervals that shall hold together.

    Returns:
        The interval at confidence ``1 - (1 - confidence) / choices``, within [0, 1].

    Raises:
        InputError: a bad confidence.
    """
    alpha = tail(confidence)
    if summary.freedom is None:
        stretch = float(ndtri(alpha / choices) / ndtri(alpha))
    else:
        stretch = float(stdtrit(summary.freedom, alpha / choices) / stdtrit(summary.freedom, alpha))
    low, high = summary.interval
    return (
        max(0.0, summary.mean - stretch * (summary.mean - low)),
        min(1.0, summary.mean + stretch * (high - summary.mean)),
    )


def _judge(audit: Audit, fpr: float | None, choices: int) -> _Judged:
    rate = next((rate for rate in audit.rates if rate.fpr == fpr), None)
    tpr = None if rate is None or rate.tpr is None else widened(rate.tpr, audit.confidence, choices)
    return _Judged(audit, widened(audit.auc, audit.confidence, choices), rate, tpr)


def _headline(judged: Sequence[_Judged]) -> tuple[_Judged, str, int]:
    """Choose the attack of the sentence, the figure that it quotes, and say of how many attacks it was chosen.

    An attack that shows the leak goes before one that only happens to find as much.
    """
    by_tpr, by_auc = [one for one in judged if one.by_tpr], [one for one in judged if one.by_auc]
    among = by_tpr or by_auc or judged
    if (by_auc and not by_tpr) or all(one.share[0] < 0 for one in among):
        return max(among, key=lambda one: one.area), "auc", len(among)
    return max(among, key=lambda one: one.share), "tpr", len(among)


def _leak(judged: Sequence[_Judged]) -> str:
    if any(attack.found for attack in judged):
        return "found"
    if _tied(judged):
        return "cannot tell"
    return "not found" if all(attack.excluded for attack in judged) else "cannot tell"


def _tied(judged: Sequence[_Judged]) -> bool:
    """Whether a leak would be excluded, had equal scores not decided the rates that this rests on."""
    ties = [attack.rate is not None and attack.rate.tied for attack in judged]
    strong = any(tie and attack.audit.strong for tie, attack in zip(ties, judged, strict=True))
    return all(attack.excluded for attack in judged) and (strong or all(ties))


def _concluded(leak: str, best: _Judged, tied: bool) -> str:
    if leak == "not found":
        return EXCLUDED
    if tied:
        return wording.TIED
    return wording.TOO_SMALL if best.enough else wording.UNJUDGED
