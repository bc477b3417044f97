"""One estimate of a document with its interval, or why it cannot be judged; and what a group is called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from reticent.auditing.gate.check import Doubt, Found, estimate, number
from reticent.auditing.labelling import CLASS
from reticent.say.grammar import short

Plain = Mapping[str, Any]


class Why(Enum):
    """Why an estimate cannot be judged."""

    NO_INTERVAL = "the audit has no interval for {}"
    NO_CONFIDENCE = "the audit does not say the confidence of the intervals of {}"
    CONTRADICTS = "{}"


@dataclass(frozen=True)
class Missing:
    """An estimate that cannot be judged.

    Attributes:
        why: what is missing or wrong; its value is the sentence of all that share it.
        told: its name; where it contradicts itself, in a whole sentence.
    """

    why: Why
    told: str


def read_estimate(name: Any, value: Any, holder: Plain, scale: float = 1.0) -> Found | Missing:
    """Read an estimate."""
    spread = value if isinstance(value, Mapping) else {}
    if spread.get("mean") is None or spread.get("interval") is None:
        return Missing(Why.NO_INTERVAL, str(name))
    confidence, summary = number(holder.get("confidence")), estimate(value)
    if confidence is None:
        return Missing(Why.NO_CONFIDENCE, str(name))
    if summary is None:
        low, high = spread["interval"]
        told = f"{name} has {spread['mean']:g}, outside of its own interval {low:g} to {high:g}"
        return Missing(Why.CONTRADICTS, told)
    return Found(str(name), summary, confidence, scale)


def without_interval(missing: Sequence[Missing]) -> list[Doubt]:
    """Say that there is nothing to judge."""
    told = []
    for why in Why:
        listed = [one.told for one in missing if one.why is why]
        told += [why.value.format("; ".join(listed) if why is Why.CONTRADICTS else ", ".join(listed))] if listed else []
    return [Doubt("no-interval", "; ".join(told))] if told else []


def called(document: Plain, by: str, name: Any) -> str:
    """Name a group of records as the report does: a class by its name, if it has one."""
    text = str(name)
    if by == CLASS and text.isascii() and text.isdigit():
        data = document.get("data")
        names = (data.get("class_names") if isinstance(data, Mapping) else None) or ()
        text = str(names[int(text)]) if int(text) < len(names) else text
    return short(text)
