"""What a gate reads of a document, held against what an audit writes there, so that nothing is passed over in silence.

Any part may be missing or null, as in the documents of older versions: then the gate cannot judge what needs it. A part
of another kind, such as text in place of a number, is refused: it would be read as if it were not there, and what is
not there fails nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from reticent.auditing.gate.check import number
from reticent.errors import InputError

Plain = Mapping[str, Any]
REQUIRED = "!"
"""Behind a key: it may be neither missing nor null."""


@dataclass(frozen=True)
class Number:
    """A finite number within limits, both allowed."""

    low: float = -inf
    high: float = inf

    def __str__(self) -> str:
        if self.high == inf:
            return "a number" if self.low == -inf else f"a number of at least {self.low:g}"
        return f"a number from {self.low:g} to {self.high:g}"


ANY, TEXT, FLAG = object(), "text", "true or false"
SHARE, COUNT = Number(0, 1), Number(0)
CONFIDENCE = Number(0.5, 1 - 1e-9)
SPREAD = {"mean": SHARE, "std": SHARE, "interval": (SHARE, SHARE), "freedom": COUNT, "tied": FLAG}
"""An estimate; one without an interval, or outside of it, is no wrong document, but cannot be judged."""
ALLOWED = {"fpr": SHARE, "false_positives_allowed": COUNT}
RATE = {**ALLOWED, "measurable": FLAG, "records_needed": COUNT, "non_members": COUNT, "tpr": SPREAD}
ATTACK = {
    "name!": TEXT,
    "strong": FLAG,
    "confidence": CONFIDENCE,
    "overall": {"auc": SPREAD, "tpr_at_fpr": [RATE]},
    "targets": [{"non_members": COUNT, "tpr_at_fpr": [ALLOWED]}],
}
GROUPS = {
    "by": TEXT,
    "fpr": SHARE,
    "confidence": CONFIDENCE,
    "groups": [{"name!": TEXT, "auc": SPREAD, "tpr": SPREAD}],
}
EPSILON = {
    "delta": SHARE,
    "confidence": CONFIDENCE,
    "lower": COUNT,
    "attack": TEXT,
    "accountant": {"epsilon": COUNT, "delta": SHARE},
    "consistent": FLAG,
}
AUDIT = {
    "data": {"name": TEXT, "records": COUNT, "class_names": [TEXT]},
    "population": {"models": COUNT, "health": [ANY], "accuracy": {"non_members": SPREAD}},
    "attacks": [ATTACK],
    "groups": [GROUPS],
    "epsilon": EPSILON,
    "control": {"passed!": FLAG},
}


def check_shape(document: Plain) -> None:
    """Hold the parts that a gate reads against what an audit writes there."""
    _object(document, AUDIT, "")


def _check(value: Any, shape: Any, place: str) -> None:
    if shape is ANY:
        return
    if isinstance(shape, dict):
        if not isinstance(value, Mapping):
            raise _wrong(place, "an object", value)
        _object(value, shape, f"{place}.")
    elif isinstance(shape, (list, tuple)):
        _list(value, shape, place)
    elif isinstance(shape, Number):
        read = number(value)
        if read is None or not shape.low <= read <= shape.high:
            raise _wrong(place, str(shape), value)
    elif not isinstance(value, bool if shape == FLAG else str):
        raise _wrong(place, shape, value)


def _list(value: Any, shape: Sequence[Any], place: str) -> None:
    # A shape that is a list of one is of a list of any length; a tuple, of one as long as itself.
    if not isinstance(value, (list, tuple)):
        raise _wrong(place, "a list", value)
    if isinstance(shape, tuple) and len(value) != len(shape):
        raise _wrong(place, f"{len(shape)} values in the list", len(value))
    for index, item in enumerate(value):
        _check(item, shape[index % len(shape)], f"{place}[{index}]")


def _object(value: Plain, shape: Mapping[str, Any], place: str) -> None:
    for name, inner in shape.items():
        key = name.removesuffix(REQUIRED)
        part = value.get(key)
        if part is not None:
            _check(part, inner, f"{place}{key}")
        elif name.endswith(REQUIRED):
            raise _wrong(f"{place}{key}", inner, None)


def _wrong(place: str, expected: Any, got: Any) -> InputError:
    return InputError(
        f"{place}: expected {expected}, as `reticent audit` writes it, got {told(got)}: the document was changed or "
        "cut; run the audit again"
    )


def told(value: Any) -> str:
    """Name a value of a document in short, however large or deep it is."""
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
