"""The base of all findings: frozen, checked, and one JSON form."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
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


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"expected a finite number, got {value}")
    return value


Number = Annotated[float, AfterValidator(_finite)]
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
        cls._left_out = {name: found[0].value for name, found in marks.items() if found}

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        for name, usual in self._left_out.items():
            if getattr(self, name) == usual:
                values.pop(name, None)
        return values

    def to_json(self) -> dict[str, Any]:
        """Return plain values in the order of the fields, as the JSON file holds them."""
        return self.model_dump(mode="json", by_alias=True)

    def with_(self, **changes: Any) -> Self:
        """Return a copy in which these fields are others."""
        return self.model_copy(update=changes)


class Document(Finding):
    """What a JSON file of reticent holds."""

    @classmethod
    def read(cls, plain: Mapping[str, Any], where: str) -> Self:
        """Check a document that was read from a file.

        Args:
            plain: what the file holds.
            where: what messages call it.

        Returns:
            The document.

        Raises:
            InputError: it is another document, or a part of it is not what reticent writes; names each such part.
        """
        try:
            return cls.model_validate(plain)
        except ValidationError as error:
            raise InputError(f"{where}: {told(error)}") from None


def told(error: ValidationError, most: int = 3) -> str:
    """Say which parts of a document are not what they must be."""
    wrong = error.errors(include_url=False)
    parts = [
        f"{'.'.join(map(str, one['loc'])) or 'the document'}: {one['msg'][:1].lower()}{one['msg'][1:]}"
        for one in wrong[:most]
    ]
    more = f"; and {len(wrong) - most} more" if len(wrong) > most else ""
    return f"not what reticent writes: {'; '.join(parts)}{more}"
