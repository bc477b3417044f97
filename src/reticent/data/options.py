"""How a user's own data are read: a table's columns (the label, what is no feature), a folder's pictures."""

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge
from pydantic import Field, model_validator

from reticent.errors import InputError
from reticent.spec import Spec

Count = Annotated[int, Ge(2)]
Kind = Literal["table", "pictures", "arrays"]
ABOUT = {"table": "columns of a table (csv, Parquet, or a data frame)", "pictures": "a folder of pictures"}


class DataOptions(Spec):
    """How a user's own data are read."""

    label: str | None = None
    """For csv and Parquet files: the label's column; without it, the one named label, y, target or class. Texts, and
    whole numbers that do not count from 0, name their classes, in sorted order."""
    not_features: tuple[str, ...] = ()
    """For csv and Parquet files: columns that models do not see, such as a record's number; records can be grouped by
    them, and they may have gaps."""
    rare: dict[str, Count] = Field(default_factory=dict)
    """For csv and Parquet files: by column, texts of fewer records than this are one category: ``{diagnosis = 10}``."""
    hash: dict[str, Count] = Field(default_factory=dict)
    """For csv and Parquet files: by column, a number of features that its texts are put into by their hash, several
    into one: ``{diagnosis = 64}``."""
    missing: Literal["refuse", "indicator"] = "refuse"
    """For csv and Parquet files: what a column of numbers with gaps becomes. indicator fills in the column's median,
    and adds a feature that is 1 where it did. Gaps among texts are a category of their own, whatever stands here."""
    scale: Literal["none", "standard"] = "none"
    """For csv and Parquet files: standard takes from each column of numbers its mean, and divides by its standard
    deviation. Means, medians and categories are taken over all records, members or not."""

    image_size: Annotated[int, Ge(1)] | None = None
    """For a folder of pictures: the pixels that the shorter side of each is scaled to; its middle is cut out."""

    @model_validator(mode="before")
    @classmethod
    def _one_column(cls, data: Any) -> Any:
        """Take a single name where several may be given."""
        if isinstance(data, dict) and isinstance(data.get("not_features"), str):
            return data | {"not_features": (data["not_features"],)}
        return data

    def given(self) -> dict[str, Any]:
        """Return what was asked for that is not usual."""
        fields = DataOptions.model_fields.items()
        usual = {key: field.get_default(call_default_factory=True) for key, field in fields}
        return {key: getattr(self, key) for key, value in usual.items() if getattr(self, key) != value}

    def check(self, kind: Kind, what: str | Path) -> None:
        """Refuse what was asked for that these data do not have."""
        for key in self.given():
            belongs: Kind = "pictures" if key == "image_size" else "table"
            if belongs != kind:
                raise InputError(f"{key}: is about {ABOUT[belongs]}, got {what}: leave it out")


def flag(option: str, column: str, value: int | None = None) -> str:
    """Write a flag that a shell takes, whatever the column is called."""
    return f"--{option} {shlex.quote(column if value is None else f'{column}={value}')}"
