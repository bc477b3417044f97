"""What makes a claim reproduced, or not, or open: one rule for all studies, fixed before anything is looked at.

A claim stands on parts, each a number with an interval and two levels: for "yes" the whole interval must exceed the
one and the number itself reach the other, and for "no" the whole interval must lie below the other. A part of which
the conditions do not hold is open, whatever its number. Of one kind of network all parts "yes" are a yes, some part
"no" is a no, and the rest is open. For "yes" no correction is due, since every part must hold by itself; "no" needs
one part alone, so the interval there is widened for their number (Bonferroni).

The smallest effect that matters is a part of the rule: a difference that is real but smaller than that is a "no".

Kinds of network are judged apart, and none decides for another: a claim has a verdict where those that it is about
agree. A claim of the paper's also needs that what was run is the paper's setting, or a fair stand-in for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reticent.errors import InputError
from reticent.findings import study as findings
from reticent.findings.base import Interval
from reticent.findings.study import Answer, Form, Reason
from reticent.studies.numbers import CONFIDENCE, Pooled

BY_PART: tuple[Reason, ...] = ("setting", "condition", "unmatched", "unmeasured", "interval")
"""Those that a part may have, the first that any part has being that of all."""


@dataclass(frozen=True)
class Part:
    """One number that a claim stands on.

    Attributes:
        number: over seeds; None where this scale does not measure it.
        yes_above: "yes" if the whole interval lies above this, and the number itself is at least `no_below`.
        no_below: "no" if the whole interval lies below this; asked first.
        lower: smaller is better: the number's sign is turned before it is held against the two levels.
        metric: how the number is written.
        void: why the number decides nothing, whatever it is; None where it may.
        setting: what it is measured in, in words; empty where it is of none.
    """

    label: str
    number: Pooled | None
    yes_above: float = 0.0
    no_below: float = 0.0
    lower: bool = False
    metric: Form = "number"
    void: Reason | None = None
    setting: str = ""

    def __post_init__(self) -> None:
        if self.no_below < self.yes_above:
            raise InputError(
                f"{self.label}: no_below ({self.no_below:g}) is less than yes_above ({self.yes_above:g}), so that a "
                "number between the two would be neither: raise it"
            )

    def answer(self, parts: int = 1) -> Answer:
        """Hold the interval against the two levels."""
        if self.number is None or not self.number.bounded or self.void is not None:
            return "open"
        if self._turned(1 - (1 - CONFIDENCE) / parts)[1] < self.no_below:
            return "no"
        value = -self.number.value if self.lower else self.number.value
        return "yes" if self._turned(CONFIDENCE)[0] > self.yes_above and value >= self.no_below else "open"

    @property
    def why_open(self) -> Reason:
        """Why nothing can be told from it, where it is open."""
        return self.void or ("unmeasured" if self.number is None else "interval")

    def _turned(self, confidence: float) -> Interval:
        assert self.number is not None
        low, high = self.number.limits(confidence)
        return (-high, -low) if self.lower else (low, high)

    def finding(self, parts: int) -> findings.Part:
        """State it, with its answer among so many parts, in the number's own direction."""
        answer, sign = self.answer(parts), -1 if self.lower else 1
        return findings.Part(
            label=self.label,
            setting=self.setting,
            metric=self.metric,
            better="lower" if self.lower else "higher",
            yes=sign * self.yes_above,
            no=sign * self.no_below,
            answer=answer,
            reason=self.why_open if answer == "open" else None,
            **({} if self.number is None else dict(self.number.finding())),
        )


def better(label: str, number: Pooled | None, least: float, *, lower: bool = False, metric: Form = "number") -> Part:
    """Ask whether a difference is in favour: surely above 0, and itself at least as large as what matters."""
    return Part(label, number, 0.0, least, lower, metric)


def no_worse(label: str, number: Pooled | None, loss: float, *, lower: bool = False, metric: Form = "number") -> Part:
    """Ask whether a difference is not against it by more than a loss that is allowed."""
    return Part(label, number, -loss, -loss, lower, metric)


def reaches(label: str, number: Pooled | None, level: float, *, lower: bool = False, metric: Form = "number") -> Part:
    """Ask whether a number is above a level."""
    turned = -level if lower else level
    return Part(label, number, turned, turned, lower, metric)


def voided(part: Part, void: Reason | None) -> Part:
    """Let a part decide nothing, if there is a reason and it has a number."""
    return part if part.number is None or void is None else replace(part, void=void)


def finding(parts: Sequence[Part]) -> tuple[Answer, Reason | None]:
    """Say what the numbers of one kind of network say of a claim."""
    answers = [part.answer(len(parts)) for part in parts]
    if "no" in answers:
        return "no", None
    if answers and set(answers) == {"yes"}:
        return "yes", None
    reasons = {part.why_open for part, answer in zip(parts, answers, strict=True) if answer == "open"}
    return "open", next((one for one in BY_PART if one in reasons), "unmeasured")
