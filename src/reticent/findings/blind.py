"""How far members and non-members differ without the model, and what attacks find beyond that."""

from enum import StrEnum
from typing import Annotated

from reticent.findings.base import Finding, Interval, LeftOut, Number
from reticent.findings.numbers import Count, PairedDifference, Share


class Known(StrEnum):
    """What the blind baseline knows of a record."""

    LABELS = "labels"
    SIZES = "sizes"
    RECORDS = "records"
    REFERENCES = "records-and-references"


class Unlooked(StrEnum):
    """Why it was not looked at whether members and non-members differ without the model."""

    FEW_RECORDS = "few-records"


class ExcessRate(Finding):
    """The share of members found beyond what is found without the model, at one false-positive rate."""

    fpr: Share
    blind_tpr: Share
    "What the blind baseline finds."
    tpr: PairedDifference
    "The attack's share minus that; the interval is over records."


class Excess(Finding):
    """What an attack finds beyond what is found without the model: only that may count as leak, if `counts` says so."""

    blind_auc: Share
    auc: PairedDifference
    "The attack's AUC minus the blind one, on the same records; the interval is over records."
    counts: bool = False
    """Whether it may be called a leak: the attack compares a record with models that were not trained on it, so that
    what all models say of the record alike cancels."""
    rates: tuple[ExcessRate, ...] = ()
    "One a false-positive rate that can be measured."

    def at(self, fpr: float | None) -> ExcessRate | None:
        """Return what is found at one false-positive rate, or None where it was not measured."""
        return next((rate for rate in self.rates if rate.fpr == fpr), None)


class BlindArea(Finding):
    """How well one set of features tells members from non-members."""

    auc: Share
    "Mean over the folds."
    interval: Interval
    "DeLong's variance of a fold, corrected for training sets that overlap."


class Blind(BlindArea):
    """The blind baseline: members told from non-members by the records alone, without asking the model.

    Learned on four fifths of the records, judged on the rest, five times.
    """

    by: Known
    "What it knows of a record: the most that was at hand. `records` and `records-and-references` include the label."
    labels: Annotated[BlindArea | None, LeftOut] = None
    "By the label alone, where `by` is more than that."
    shift: bool
    "Whether members and non-members differ without the model: the lower limit is above 0.5."
    detectable: Annotated[Share | None, LeftOut] = None
    "Where no difference was found: the smallest AUC that would have been one."
    confidence: Number
    "Of both intervals."
    folds: Count
    records: Count
    "How many were looked at."
    models: Count
    "Of how many models the membership was looked at; numbers are means over them."
    sentence: str = ""
    "The finding, for people."
