"""What an audit will take, and what it can resolve."""

from typing import Annotated

from reticent.findings.base import Finding, LeftOut, Number
from reticent.findings.numbers import Count, Share, ShareEstimate
from reticent.findings.training import Stacking


class PlannedRate(Finding):
    """A usual false positive rate: whether it can be measured, and the non-members that it needs."""

    fpr: Share
    measurable: bool
    non_members_needed: Count


class PlannedPaper(Finding):
    """The same audit with as many models as a paper has."""

    name: str
    models: Count
    seconds: Number
    "Of training and asking all models, in as many workers."
    seconds_audit: Number
    disk_bytes: Count


class Plan(Finding):
    """What an audit will take; estimates from one probe on this machine."""

    models: Count
    finished: Count
    "How many of them lie finished in the store."
    workers: Count
    stack: Count
    "Models that each of them trains as one batched computation; 1 is each alone."
    stacking: Annotated[Stacking | None, LeftOut] = None
    "Only with `stack = auto`: what was measured to pick that; the audit keeps to it."
    device: str
    records: Count
    "That are audited."
    unit: Annotated[str | None, LeftOut] = None
    "Only where units of several records are audited: the column that names them. Rates are then of units."
    units: Annotated[Count | None, LeftOut] = None
    parameters: Count
    "Of one model."
    seconds_per_model: Number
    "Training and asking, in one worker, if nothing of it lies in the store."
    seconds: Number
    "Of all unfinished models, until they are trained and asked."
    memory_bytes: Count
    "Of all workers together."
    disk_bytes: Count
    "That the unfinished models will take, with runs of first stages that later ones share."
    seconds_audit: Number
    "Of attacks and the audit of their scores, by a probe on made-up records; without those that see more than outputs."
    seconds_around: Number
    "Of what comes before the first model and after the last number: loading, checks and the report."
    temporary_bytes: Count
    "That scores take in temporary files while they are audited; 0 where they fit into memory."
    papers: tuple[PlannedPaper, ...] = ()
    smallest_fpr: Share
    "The smallest false positive rate that one model's non-members can resolve."
    rates: tuple[PlannedRate, ...]


class SizePoint(Finding):
    """What is found in models of one size of training set."""

    members: Count
    "Training records of a model."
    auc: ShareEstimate


class Predicted(Finding):
    """An AUC that a power law predicts."""

    members: Count
    "Training records of a model."
    auc: Share
    interval: tuple[Share, Share]
    "It assumes that the law holds at this size."


class LeakCurve(Finding):
    """How the leak of one recipe falls with the number of training records."""

    attack: str
    "The one with the largest AUC at the largest size."
    confidence: Number
    "Of every interval."
    points: tuple[SizePoint, ...]
    "The smallest first."
    held_out: Predicted | None = None
    "The largest size, predicted from the smaller ones; `null` where an AUC does not resolve a leak, or is 1."
    beyond: Predicted | None = None
    "Models trained on all the records, predicted from all sizes."

    @property
    def held(self) -> bool | None:
        """Whether the AUC found at the largest size is compatible with what was predicted for it."""
        if self.held_out is None:
            return None
        (low, high), found = self.held_out.interval, self.points[-1].auc.interval
        return low <= found[1] and found[0] <= high
