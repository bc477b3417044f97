"""The base of all findings: frozen, checked, and one JSON form."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from reticent.errors import InputError
from reticent.spec import expected, written

LeftOut = Field(exclude_if=lambda value: value is None)
"""Marks a key that the JSON form leaves out where it is None."""
Empty = Field(exclude_if=lambda value: not value)
"""Marks a key that the JSON form leaves out where there is nothing in it."""
Number = Annotated[float, Field(allow_inf_nan=False)]
"""A finite number: JSON has no NaN and no infinity."""
Plain = dict[str, JsonValue]
"""Options and other values that only their owner knows the meaning of."""
Interval = tuple[Number, Number]
"""Lower and upper confidence limit."""


class Finding(BaseModel):
    """Something found."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        protected_namespaces=(),
        validate_by_name=True,
        validate_by_alias=True,
        ser_json_inf_nan="constants",
    )

    def to_json(self) -> dict[str, Any]:
        """Return plain values in the order of the fields, as the JSON file holds them."""
        return self.model_dump(mode="json", by_alias=True)

    def with_(self, **changes: Any) -> Self:
        """Return a copy in which these fields are others, checked again."""
        return type(self)(**{**dict(self), **changes})


class Document(Finding):
    """What a JSON file of reticent holds."""

    schema_: Annotated[str, Field(alias="schema")]

    @classmethod
    def read(cls, plain: Mapping[str, Any], where: str = "") -> Self:
        """Check a document that was read from a file, `where`; keys that a later version added are passed over.

        Raises:
            InputError: a part of it is not what reticent writes; names the first such part.
        """
        try:
            return cls.model_validate_json(json.dumps(plain), strict=True, extra="ignore")
        except (ValidationError, ValueError, RecursionError) as error:
            what = told(error) if isinstance(error, ValidationError) else "nested too deeply, or no plain values"
            raise InputError(f"{f'{where}: ' if where else ''}{what}: {CHANGED}") from None

    def unplaced(self) -> Self:
        """Return a copy for a report that lies in no folder."""
        return self


class Spoken(Document):
    """A document whose finding is told in one sentence."""

    sentence: str = ""
    "The finding, for people."


class ContradictionError(ValueError):
    """Parts of a document that cannot both be true, as after an edit by hand."""


def agree(where: str, wanted: object, got: object) -> None:
    """Refuse a part of a document that is not what other parts say it is."""
    if wanted != got:
        raise ContradictionError(f"{where}: expected {wanted}, as other parts of the document say, got {got}")


CHANGED = "the document was changed or cut, or an old version wrote it; run the command again"


def told(error: ValidationError) -> str:
    """Say which part of a document is not what it must be."""
    first = error.errors(include_url=False)[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    if first["type"] == "missing":
        return f"{place}: it is missing"
    if isinstance(first.get("ctx", {}).get("error"), ContradictionError):
        return f"{place}{'.' if place else ''}{expected(first)}"
    if first["type"] in {"model_type", "dict_type"}:
        first["msg"] = "an object"
    got = "null" if first["input"] is None else written(first["input"])
    return f"{place}: expected {expected(first)}, got {got}"
