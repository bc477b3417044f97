"""The base of all findings: frozen, checked, and one JSON form."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from reticent.errors import InputError


@dataclass(frozen=True)
class Unless:
    """Marks a key that the JSON form leaves out while it has this value."""

    value: Any = None


LeftOut = Unless()
"""Marks a key that the JSON form leaves out where it is None."""


Number = Annotated[float, Field(allow_inf_nan=False)]
"""A finite number: JSON has no NaN and no infinity."""
Plain = dict[str, JsonValue]
"""Options and other values that only their owner knows the meaning of."""
Interval = tuple[Number, Number]
"""Lower and upper confidence limit."""


class Finding(BaseModel):
    """Something found. Unknown keys are ignored, so that a document of a later version can be read."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        use_attribute_docstrings=True,
        protected_namespaces=(),
        validate_by_name=True,
        validate_by_alias=True,
    )
    _left_out: ClassVar[dict[str, Any]] = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Note which keys may be left out."""
        super().__pydantic_init_subclass__(**kwargs)
        marks = {
            name: [one for one in field.metadata if isinstance(one, Unless)] for name, field in cls.model_fields.items()
        }
        cls._left_out = {
            name: list(found[0].value) if isinstance(found[0].value, tuple) else found[0].value
            for name, found in marks.items()
            if found
        }

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        for name, usual in self._left_out.items():
            value = values.get(name)
            if (list(value) if isinstance(value, tuple) else value) == usual:
                values.pop(name, None)
        return values

    def to_json(self) -> dict[str, Any]:
        """Return plain values in the order of the fields, as the JSON file holds them."""
        return self.model_dump(mode="json", by_alias=True)

    def with_(self, **changes: Any) -> Self:
        """Return a copy in which these fields are others."""
        copy = self.model_copy(update=changes)
        for name in vars(copy).keys() - type(self).model_fields:
            del copy.__dict__[name]  # What was cached is of the old values.
        return copy


class Document(Finding):
    """What a JSON file of reticent holds."""

    @classmethod
    def read(cls, plain: Mapping[str, Any], where: str = "") -> Self:
        """Check a document that was read from a file.

        Args:
            plain: what the file holds.
            where: what messages call it.

        Returns:
            The document.

        Raises:
            InputError: a part of it is not what reticent writes; names the first such part.
        """
        try:
            return cls.model_validate_json(json.dumps(plain), strict=True)
        except (ValidationError, ValueError, RecursionError) as error:
            what = told(error) if isinstance(error, ValidationError) else "nested too deeply, or no plain values"
            raise InputError(f"{f'{where}: ' if where else ''}{what}: {CHANGED}") from None


class Spoken(Document):
    """A document whose finding is told in one sentence."""

    schema_: Annotated[str, Field(alias="schema")]
    sentence: str = ""
    "The finding, for people."


CHANGED = "the document was changed or cut, or an old version wrote it; run the command again"


def told(error: ValidationError) -> str:
    """Say which part of a document is not what it must be."""
    first = error.errors(include_url=False)[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    if first["type"] == "missing":
        return f"{place}: it is missing"
    if first["type"] in {"model_type", "dict_type"}:
        first["msg"] = "an object"
    what = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ").removeprefix("expected ")
    value = repr(first["input"])
    return f"{place}: expected {what}, got {value if len(value) <= 60 else f'{value[:57]}...'}"
