"""What is shown of single groups of records, with limits that hold for all groups and attacks together."""

from reticent.findings.base import Finding
from reticent.findings.numbers import Count, Share


class AreaShown(Finding):
    """The largest AUC inside a group that an attack is shown to reach."""

    attack: str
    auc: Share
    "The estimate."
    least: Share
    "Its lower limit."


class AreaBackwards(Finding):
    """The AUC inside a group of an attack that is shown to rank its members below its non-members."""

    attack: str
    auc: Share
    "The estimate."
    most: Share
    "Its upper limit, below 0.5."


class ExcessShown(Finding):
    """The largest share of a group that an attack is shown to find beyond the group's own false alarms.

    Both shares are at the threshold that gives the grouping's `fpr` over all records.
    """

    attack: str
    tpr: Share
    "Share of the group's members at or above it."
    tpr_least: Share
    "Its lower limit."
    fpr: Share
    "Share of the group's non-members at or above it."
    fpr_most: Share
    "Its upper limit."

    @property
    def least(self) -> float:
        """What is found beyond false alarms, at least."""
        return self.tpr_least - self.fpr_most


class ExposedGroup(Finding):
    """A group that leaks, and leaks more than the other groups, beyond what looking at all of them explains."""

    by: str
    "`class`, or the column."
    name: str
    records: Count
    attack: str
    "The attack that shows it: the verdict's, if that does."
    auc: Share
    "Inside the group."
    auc_least: Share
    "Its lower limit, which holds for all groups and attacks together."
    others: Share
    "Mean of the other groups' own AUCs, weighted by their records."
    p_corrected: Share
    "Of the difference, two-sided; corrected (Bonferroni) for all groups and attacks."
    groups: Count
    "How many groups of all groupings were looked at."
    attacks: Count
    "Under how many attacks."
    tpr: Share | None = None
    "Share of the group's members at or above the threshold that gives the verdict's `fpr` over all records."
    false_alarms: Share | None = None
    "Share of the group's non-members there."
