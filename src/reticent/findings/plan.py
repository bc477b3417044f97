"""What an audit will take, and what it can resolve."""

from reticent.findings.base import Finding, Number
from reticent.findings.numbers import Count, Share


class PlannedRate(Finding):
    """A usual false positive rate: whether it can be measured, and the non-members that it needs."""

    fpr: Share
    measurable: bool
    non_members_needed: Count


class Plan(Finding):
    """What an audit will take; estimates from one probe on this machine."""

    models: Count
    finished: Count
    "How many of them lie finished in the store."
    workers: Count
    device: str
    records: Count
    "That are audited."
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
    smallest_fpr: Share
    "The smallest false positive rate that one model's non-members can resolve."
    rates: tuple[PlannedRate, ...]
