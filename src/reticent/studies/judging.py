"""What makes a claim reproduced, or not, or open: one rule for all studies, fixed before anything is looked at.

A claim stands on parts, each a number with an interval and two levels: for "yes" the whole interval must exceed the
one and the number itself reach the other, and for "no" the whole interval must lie below the other. A part whose
conditions do not allow a comparison is open, whatever its number. All parts "yes": reproduced. Some part "no": not
reproduced. Else it can't be told at this scale. For "reproduced" no correction is due, since every part must hold by
itself; "not reproduced" needs one part alone, so the interval there is widened for their number (Bonferroni).

The smallest effect that matters is a part of the rule: a difference that is real but smaller than that is a "no".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reticent.auditing.intervals import Interval
from reticent.errors import InputError
from reticent.studies.numbers import CONFIDENCE, Pooled

Answer = Literal["yes", "no", "open"]
REPRODUCED, NOT, OPEN = "reproduced", "not reproduced", "can't tell at this scale"
VERDICTS = (REPRODUCED, NOT, OPEN)


@dataclass(frozen=True)
class Part:
    """One number that a claim stands on.

    Attributes:
        label: what it is, in words.
        number: over seeds; None where this scale does not measure it.
        yes_above: "yes" if the whole interval lies above this, and the number itself is at least `no_below`.
        no_below: "no" if the whole interval lies below this; asked first.
        lower: smaller is better: the number's sign is turned before it is held against the two levels.
        metric: how the number is written: "share", "points" (a difference of shares), or "number".
        fair: what the comparison takes for granted holds; else it is open, and the label says why.
    """

    label: str
    number: Pooled | None
    yes_above: float = 0.0
    no_below: float = 0.0
    lower: bool = False
    metric: str = "number"
    fair: bool = True

    def __post_init__(self) -> None:
        if self.no_below < self.yes_above:
            raise InputError(
                f"{self.label}: no_below ({self.no_below:g}) is less than yes_above ({self.yes_above:g}), so that a "
                "number between the two would be neither: raise it"
            )

    def answer(self, parts: int = 1) -> Answer:
        """Hold the interval against the two levels.

        Args:
            parts: how many parts the claim has; "no" allows for all of them.

        Returns:
            "yes", "no" or "open".
        """
        if self.number is None or not self.number.bounded or not self.fair:
            return "open"
        if self._turned(1 - (1 - CONFIDENCE) / parts)[1] < self.no_below:
            return "no"
        value = -self.number.value if self.lower else self.number.value
        return "yes" if self._turned(CONFIDENCE)[0] > self.yes_above and value >= self.no_below else "open"

    def _turned(self, confidence: float) -> Interval:
        assert self.number is not None
        low, high = self.number.limits(confidence)
        return (-high, -low) if self.lower else (low, high)

    def to_json(self, parts: int) -> dict[str, Any]:
        """Return plain values.

        Args:
            parts: as for `answer`.

        Returns:
            An entry of ``claims[].parts`` of ``study.json``.
        """
        sign = -1 if self.lower else 1
        return {
            "label": self.label,
            "metric": self.metric,
            "better": "lower" if self.lower else "higher",
            "yes": sign * self.yes_above,
            "no": sign * self.no_below,
            "answer": self.answer(parts),
            **(self.number.to_json() if self.number is not None else {"mean": None, "interval": None}),
        }


def better(label: str, number: Pooled | None, least: float, *, lower: bool = False, metric: str = "number") -> Part:
    """Ask whether a difference is in favour: surely above 0, and itself at least as large as what matters.

    Args:
        label: what is compared.
        number: the first minus the second.
        least: the smallest difference that matters, above 0.
        lower: a negative difference is in favour.
        metric: as in `Part`.

    Returns:
        The part.
    """
    return Part(label, number, 0.0, least, lower, metric)


def no_worse(label: str, number: Pooled | None, allowed: float, *, lower: bool = False, metric: str = "number") -> Part:
    """Ask whether a difference is not against it by more than is allowed.

    Args:
        label: what is compared.
        number: the first minus the second.
        allowed: the largest loss that does not matter.
        lower: a positive difference is a loss.
        metric: as in `Part`.

    Returns:
        The part.
    """
    return Part(label, number, -allowed, -allowed, lower, metric)


def reaches(label: str, number: Pooled | None, level: float, *, lower: bool = False, metric: str = "number") -> Part:
    """Ask whether a number is above a level.

    Args:
        label: what it is.
        number: the number.
        level: to exceed, or with `lower` to stay below.
        lower: to stay below.
        metric: as in `Part`.

    Returns:
        The part.
    """
    turned = -level if lower else level
    return Part(label, number, turned, turned, lower, metric)


def verdict(parts: Sequence[Part]) -> str:
    """Judge a claim.

    Args:
        parts: what it stands on.

    Returns:
        One of `VERDICTS`; with no part at all it can't be told.
    """
    answers = [part.answer(len(parts)) for part in parts]
    if "no" in answers:
        return NOT
    return REPRODUCED if answers and set(answers) == {"yes"} else OPEN
