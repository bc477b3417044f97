"""How each column of a table was read."""

from dataclasses import asdict, dataclass
from typing import Any

FITTED = (
    "Categories, medians and scales of columns are fixed in advance or taken over all records, members or not, without "
    "the label: every model gets the same features."
)
"""On what encoders were fitted."""


@dataclass(frozen=True)
class Reading:
    """How one column was read.

    Attributes:
        column: its name.
        kind: "number", "number in another notation", "percentage", "date", "time of day", "category", "category, rare
            joined", "category, hashed", "label", "not a feature" or "refused".
        values: how many different ones it has; None where nobody looked.
        missing: how many records have none.
        features: how many features it became.
        note: what is to be said of it; empty if it is plain.
        telling: whether that should not be overlooked.
    """

    column: str
    kind: str
    values: int | None
    missing: int
    features: int
    note: str = ""
    telling: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the reading as plain values, as ``docs/schema.md`` has them."""
        values = asdict(self)
        return {"column": values.pop("column"), "read_as": values.pop("kind"), **values}
