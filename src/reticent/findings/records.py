"""What is known of each audited record: a line of ``records.csv``."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

PICTURED = 24
"""How many of the most exposed records a page shows as pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """One record, as `auditing` measures it; None where that cannot be measured.

    Attributes:
        record: its id in the data set.
        label: its true label.
        label_name: the label's name, or the number again.
        exposure: how far apart models with and without it put its margin, in standard deviations.
        memorisation: how much more often models with it label it correctly.
        margin_in: mean margin of models with it (nats).
        margin_out: that of models without it.
        models_in: how many models were trained on it.
        models_out: how many were not.
        margin_std_in: standard deviation of the margins of models with it.
        margin_std_out: that of models without it.
        exposure_error: standard error of `exposure`.
        distance: the gap between the margins in standard errors.
        distance_p: chance of such a distance or a larger one, had the record left no trace, if margins are normal.
        distance_p_corrected: the same without that assumption where it could count, by Holm over all records: what to
            judge a record by.
        memorisation_error: standard error of `memorisation`.
        memorisation_soft: how much more probable models with it find its label.
        memorisation_soft_error: its standard error.
        probability: how probable online LiRA makes membership, from even odds.
        probability_low: lower confidence limit.
        probability_high: upper one.
        found_at_own_rate: share of the models trained on it under which it is found at a false-positive rate of 1 % of
            its own.
        found_low: lower confidence limit.
        found_high: upper one.
        risk_score: how probable membership is by the modified entropy, given the class, from even odds: the privacy
            risk score of Song and Mittal, a mean over the audited models trained on it.
        groups: the groups that it is in, by what they group by (``group_...`` in the file).
    """

    record: int
    label: int
    label_name: str
    exposure: float | None = None
    memorisation: float | None = None
    margin_in: float | None = None
    margin_out: float | None = None
    models_in: int
    models_out: int
    margin_std_in: float | None = None
    margin_std_out: float | None = None
    exposure_error: float | None = None
    distance: float | None = None
    distance_p: float | None = None
    distance_p_corrected: float | None = None
    memorisation_error: float | None = None
    memorisation_soft: float | None = None
    memorisation_soft_error: float | None = None
    probability: float | None = None
    probability_low: float | None = None
    probability_high: float | None = None
    found_at_own_rate: float | None = None
    found_low: float | None = None
    found_high: float | None = None
    risk_score: float | None = None
    groups: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "RecordRow":
        """Take what `to_json` gave, or a later version, whose other keys are ignored."""
        groups = {key.removeprefix(GROUP): value for key, value in plain.items() if key.startswith(GROUP)}
        return cls(**{name: plain[name] for name in COLUMNS if name in plain}, groups=groups)

    def to_json(self) -> dict[str, Any]:
        """Return plain values under the names, and in the order, of ``records.csv``."""
        return {name: getattr(self, name) for name in COLUMNS} | {f"{GROUP}{by}": of for by, of in self.groups.items()}


GROUP = "group_"
COLUMNS = tuple(one.name for one in fields(RecordRow) if one.name != "groups")
"""The columns of ``records.csv`` before those of the groups."""
