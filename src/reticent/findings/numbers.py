"""Estimates and rates: numbers with their intervals and the counts behind them."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from reticent.findings.base import Finding, Interval, LeftOut, Number

Share = Annotated[Number, Field(ge=0, le=1)]
"""A fraction from 0 to 1."""
CHANCE = 0.5
"""The AUC of what tells nothing."""
Count = Annotated[int, Field(ge=0)]


class Statistic(StrEnum):
    """What attacks are judged by, and rows are compared by."""

    AUC = "auc"
    TPR = "tpr"
    ACCURACY = "accuracy"


class Lower(StrEnum):
    """Which row of a pair is lower."""

    FIRST = "first lower"
    SECOND = "second lower"
    TIE = "tie"


class Estimate(Finding):
    """A number over models."""

    mean: Number
    "Over the targets."
    std: Number | None = None
    "Standard deviation over the targets (n - 1); `null` for one target."
    interval: Interval
    "Lower and upper confidence limit of the mean."
    freedom: Number | None = None
    "Degrees of freedom of Student's quantile in the interval; `null` for the normal one."
    tied: Annotated[bool | None, LeftOut] = None
    """Only of a share of members found: whether equal scores decide it, that is whether thresholds leave more than a
    tenth of the false positives that the rate allows unused."""


class ShareEstimate(Estimate):
    """A share over models: an AUC, a TPR, an accuracy."""

    mean: Share
    interval: tuple[Share, Share]


class PairedDifference(Finding):
    """One paired test, of a mean over targets."""

    difference: Number
    "First minus second."
    interval: Interval
    "Two-sided; not cut off at -1 and 1."
    p: Share
    "Two-sided, of no difference."
    freedom: Annotated[Number | None, LeftOut] = None
    "Degrees of freedom of Student's quantile in the interval; left out where it is no such interval."


class Spread(Finding):
    """A share a model has."""

    mean: Share
    std: Share | None = None
    "Standard deviation over models (n - 1); `null` for one model."


class Area(Finding):
    """The area under one target's ROC curve."""

    value: Share
    interval: Interval
    "DeLong, on the logit scale."

    @property
    def shown(self) -> bool:
        """Whether it is shown to be above chance."""
        return self.interval[0] > CHANCE

    @property
    def backwards(self) -> bool:
        """Whether it is shown to be below chance."""
        return self.interval[1] < CHANCE


class Rate(Finding):
    """The TPR of one target at one false-positive rate."""

    fpr: Share
    "The rate asked for."
    measurable: bool = False
    "Whether the target has enough non-members to allow one false positive."
    records_needed: Count
    "Non-members from which the rate is measurable."
    false_positives_allowed: Count
    "`floor(fpr * non_members)`."
    realised_fpr: Share | None = None
    "The rate at the threshold, at most `fpr`; `null` if not measurable, as are the next keys."
    realised_fpr_interval: Interval | None = None
    "Clopper-Pearson."
    threshold: Number | None = None
    "Scores at or above it are called members; `null` if even the highest scores are too many."
    true_positives: Count | None = None
    "Members found."
    tpr: Share | None = None
    "Their share of all members."
    interval: Interval | None = None
    "Clopper-Pearson interval of the TPR at this threshold."


class OverallRate(Finding):
    """The TPR over targets at one false-positive rate."""

    fpr: Share
    "The rate asked for."
    measurable: bool = False
    "Whether every target has enough non-members to allow one false positive."
    records_needed: Count = 0
    "Non-members from which the rate is measurable."
    members: Count = 0
    "Of the target that has the fewest."
    non_members: Count = 0
    "Of the target that has the fewest."
    false_positives_allowed: Count = 0
    "`floor(fpr * non_members)`, of that target."
    realised_fpr: Share | None = None
    "The mean rate at the thresholds used, at most `fpr`; `null` if not measurable."
    tpr: ShareEstimate | None = None
    "`null` if not measurable, never 0."

    @property
    def tied(self) -> bool:
        """Whether there is a TPR, and equal scores decide it."""
        return self.tpr is not None and self.tpr.tied is True
