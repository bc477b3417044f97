"""What is known of each audited record: a line of ``records.csv``."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

PICTURED = 24
"""How many of the most exposed records a page shows as pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """One record, as `auditing` measures it; None where that cannot be measured.

    What each column says stands in `reticent.say.records.COLUMNS`; `groups` are those that it is in, by what they group
    by (``group_...`` in the file).
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
