"""What may be said of one record: its own false-positive rate, records that are named, epsilon of one record."""

from enum import StrEnum
from typing import Annotated, Literal

from reticent.findings.base import Empty, Finding, Number
from reticent.findings.numbers import Count, Share, ShareEstimate


class RecordMethod(StrEnum):
    """How a record's p-value is made of its margin and those of models without it."""

    STUDENT = "student"
    RESIDUAL = "residual"
    RANK = "rank"


class RateOfTenth(Finding):
    """The false-positive rate of the records of one tenth, each at its own rate."""

    by: Literal["exposure", "scale"]
    "What the records are ordered by; the scale is the standard deviation of margins of models without the record."
    tenth: Count
    "From 1, the lowest."
    rate: ShareEstimate
    "Of non-members; the intervals of all tenths hold together at 99 %."
    off: Annotated[bool, Empty] = False
    "Only where the interval misses the rate asked for."


class RecordRates(Finding):
    """What an attacker finds who accepts one rate of false alarms for each record, not over all of them."""

    method: RecordMethod
    """`student`: Student's tail, exact for normal margins; `residual`: the share of non-members of other models whose
    standardized margins are as high, exact on average; `rank`: the record's own models without it, exact."""
    references: Count
    "How many models without the record each of its p-values rests on; of the record with the fewest."
    fpr: Share
    "The rate for each record."
    false_alarms: ShareEstimate
    "Share of non-members that are called members: the rate in fact."
    found: ShareEstimate
    "Share of members that are: mean over records of what is found at each record's own rate."
    tenths: tuple[RateOfTenth, ...] = ()
    "The calibration; empty with fewer than 200 records."


class NamedRecord(Finding):
    """A record that is named as a member of one target."""

    target: Count
    "The model."
    record: Count
    label: Count
    p: Share
    p_adjusted: Share
    "By Benjamini and Hochberg, within the target."
    member: bool
    "Whether it was one."


class NamedRecords(Finding):
    """Records that an attacker names as members of a target, so that few of the names are wrong."""

    rate: Share
    "The false discovery rate of each target's list: at most so many of its names are wrong on average."
    references: Count
    "How many models without it each record, audited or of the population, is compared with."
    population: Count
    "Records that no model was trained on, which say how non-members look."
    targets: Count
    named: Count
    "Over all targets."
    wrong: Count
    "How many of them were no members."
    longest: Count
    "Names in the longest list."


class RecordEpsilon(Finding):
    """A bound on the epsilon of one record, from models of which half chose it and half tested it."""

    record: Count
    "The record's number; the one that the first half of the models shows most of."
    epsilon: Number
    "At least; 0 where nothing is shown."
    delta: Share
    confidence: Number
    found: Count
    "Of the other half's models that were trained on it, how many lie above the threshold."
    trained: Count
    wrong: Count
    "Of those that were not, how many do."
    untrained: Count


class RecordTests(Finding):
    """What may be said of one record."""

    rates: RecordRates | None = None
    "`null` where too few models were not trained on a record, or a target that is no reference is a copy of one."
    named: NamedRecords | None = None
    "`null` without a population."
    epsilon: RecordEpsilon | None = None
    """`null` with fewer than 24 models, which can show nothing, those of one draw (`copies`) being one; or where models
    hold different numbers of the records."""
    sentences: tuple[str, ...] = ()
    "The same, for people."
