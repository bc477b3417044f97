"""What an audit of one attack holds, and its JSON form."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reticent import spec

Interval = tuple[float, float]


@dataclass(frozen=True)
class Summary:
    """A number over targets.

    Attributes:
        mean: over targets.
        std: standard deviation over targets (n - 1), or None for one target.
        interval: confidence interval of the mean.
        freedom: degrees of freedom of the Student quantile in it; None for a normal one.
        tied: of a TPR, whether equal scores decide it (see `roc.tied`); None for other numbers.
    """

    mean: float
    std: float | None
    interval: Interval
    freedom: float | None = None
    tied: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        ties = {} if self.tied is None else {"tied": self.tied}
        return {
            "mean": self.mean,
            "std": self.std,
            "interval": list(self.interval),
            "freedom": self.freedom,
            **ties,
        }


@dataclass(frozen=True)
class Rate:
    """The TPR of one target at one false-positive rate.

    Attributes:
        fpr: the rate asked for.
        records_needed: non-members from which the rate allows one false positive.
        false_positives_allowed: ``floor(fpr * non_members)``.
        realised_fpr: the rate at the threshold, at most `fpr`; None if not measurable, as are the next three.
        realised_fpr_interval: Clopper-Pearson.
        threshold: scores at or above it are called members; infinite if even the highest scores are too many.
        true_positives: members found.
        tpr: their share of all members.
        interval: Clopper-Pearson interval of the TPR at this threshold.
    """

    fpr: float
    records_needed: int
    false_positives_allowed: int
    realised_fpr: float | None = None
    realised_fpr_interval: Interval | None = None
    threshold: float | None = None
    true_positives: int | None = None
    tpr: float | None = None
    interval: Interval | None = None

    @property
    def measurable(self) -> bool:
        """Whether the target has enough non-members for this rate."""
        return self.false_positives_allowed >= 1

    def to_json(self) -> dict[str, Any]:
        """Return plain values; an infinite threshold is None."""
        finite = self.threshold is not None and math.isfinite(self.threshold)
        return {
            "fpr": self.fpr,
            "measurable": self.measurable,
            "records_needed": self.records_needed,
            "false_positives_allowed": self.false_positives_allowed,
            "realised_fpr": self.realised_fpr,
            "realised_fpr_interval": _pair(self.realised_fpr_interval),
            "threshold": self.threshold if finite else None,
            "true_positives": self.true_positives,
            "tpr": self.tpr,
            "interval": _pair(self.interval),
        }


@dataclass(frozen=True)
class TargetAudit:
    """One attack on one model.

    Attributes:
        model: the target's row in the membership matrix.
        members: number of members.
        non_members: number of non-members.
        auc: area under the ROC curve.
        auc_interval: DeLong, on the logit scale.
        rates: TPR at each false-positive rate.
        transferred: balanced accuracy at a threshold chosen on other models, or None.
        oracle: balanced accuracy at the best threshold for this target, an upper bound.
        threshold: the transferred threshold, or None.
    """

    model: int
    members: int
    non_members: int
    auc: float
    auc_interval: Interval
    rates: tuple[Rate, ...]
    transferred: float | None
    oracle: float
    threshold: float | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "model": self.model,
            "members": self.members,
            "non_members": self.non_members,
            "auc": {"value": self.auc, "interval": list(self.auc_interval)},
            "tpr_at_fpr": [rate.to_json() for rate in self.rates],
            "balanced_accuracy": {
                "transferred": self.transferred,
                "oracle": self.oracle,
                "threshold": self.threshold,
            },
        }


@dataclass(frozen=True)
class OverallRate:
    """The TPR over targets at one false-positive rate.

    Attributes:
        fpr: the rate asked for.
        records_needed: non-members from which the rate allows one false positive.
        members: of the target that has the fewest.
        non_members: of the target that has the fewest.
        false_positives_allowed: for that target.
        realised_fpr: mean over targets; None if not measurable.
        tpr: over targets; None if some target is too small for the rate.
    """

    fpr: float
    records_needed: int
    members: int
    non_members: int
    false_positives_allowed: int
    realised_fpr: float | None
    tpr: Summary | None

    @property
    def measurable(self) -> bool:
        """Whether every target has enough non-members for this rate."""
        return self.false_positives_allowed >= 1

    @property
    def tied(self) -> bool:
        """Whether there is a TPR, and equal scores decide it."""
        return self.tpr is not None and self.tpr.tied is True

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "fpr": self.fpr,
            "measurable": self.measurable,
            "records_needed": self.records_needed,
            "members": self.members,
            "non_members": self.non_members,
            "false_positives_allowed": self.false_positives_allowed,
            "realised_fpr": self.realised_fpr,
            "tpr": None if self.tpr is None else self.tpr.to_json(),
        }


@dataclass(frozen=True)
class Audit:
    """One attack's audit: each target, all of them, and what the report draws.

    Attributes:
        name: the attack.
        spec: its options, as plain values.
        access: what the attacker may see.
        confidence: of every interval.
        targets: one result a target.
        auc: over targets.
        rates: over targets, at each false-positive rate.
        transferred: balanced accuracy over targets at transferred thresholds, or None.
        oracle: the same at each target's best threshold, an upper bound.
        roc: the mean curve with its band, see `curves.mean_roc`.
        histogram: of the scores, see `curves.histogram`.
        replicates: number of bootstrap replicates.
        over: what the bootstrap redraws.
        strong: the attack compares models that saw a record with models that did not; None where that is not known.
    """

    name: str
    spec: Mapping[str, Any]
    access: str
    confidence: float
    targets: tuple[TargetAudit, ...]
    auc: Summary
    rates: tuple[OverallRate, ...]
    transferred: Summary | None
    oracle: Summary
    roc: Mapping[str, Any]
    histogram: Mapping[str, Any]
    replicates: int
    over: str
    strong: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values: every number finite, what is not known None."""
        return {
            "name": self.name,
            "spec": spec.canonical(self.spec),
            "access": self.access,
            "strong": self.strong,
            "confidence": self.confidence,
            "overall": {
                "auc": self.auc.to_json(),
                "tpr_at_fpr": [rate.to_json() for rate in self.rates],
                "balanced_accuracy": {
                    "transferred": None if self.transferred is None else self.transferred.to_json(),
                    "oracle": self.oracle.to_json(),
                },
            },
            "targets": [target.to_json() for target in self.targets],
            "roc": dict(self.roc),
            "histogram": dict(self.histogram),
            "bootstrap": {"replicates": self.replicates, "over": self.over},
        }


def _pair(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
