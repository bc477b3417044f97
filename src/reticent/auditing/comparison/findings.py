"""What the tests of a comparison show of two rows, and how a recipe stands to its control."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reticent.auditing.comparison.pairs import Pair, Statistic
from reticent.auditing.comparison.rows import Row
from reticent.findings.base import Interval

Relation = Literal["less", "more", "tie", "mixed"]

NEAR = 0.01
"""A control that is closer than this, and whose difference's own interval holds 0, is as accurate as its row."""

LEAK: tuple[Statistic, ...] = ("auc", "tpr")
MEASURES: dict[Statistic, str] = {"auc": "AUC", "tpr": "share of members found"}
"""Statistics in the words of a sentence."""


class Findings:
    """The pairs of a comparison, asked from either side.

    Attributes:
        fpr: false-positive rate of the TPR.
        confidence: of the intervals.

    With the rows, it is known too which of them have the same scores.
    """

    def __init__(self, pairs: Sequence[Pair], fpr: float | None, confidence: float, rows: Sequence[Row] = ()) -> None:
        self.fpr, self.confidence = fpr, confidence
        self._scores = {row.name: row.checked.scores for row in rows}
        self._unlearned = {row.name for row in rows if not row.checked.entry.learned}
        self._pairs: dict[tuple[str, str, Statistic], Pair] = {(p.first, p.second, p.statistic): p for p in pairs}

    def get(self, first: str, second: str, statistic: Statistic) -> tuple[float, Interval, Relation] | None:
        """Look up a difference."""
        pair = self._pairs.get((first, second, statistic))
        if pair is not None:
            relation: Relation = {"first lower": "less", "second lower": "more", "tie": "tie"}[pair.verdict]  # type: ignore[assignment]
            return pair.difference.value, pair.difference.interval, relation
        if (second, first, statistic) not in self._pairs:
            return None
        value, (low, high), reverse = self.get(second, first, statistic) or (0.0, (0.0, 0.0), "tie")
        relation = {"less": "more", "more": "less"}.get(reverse, reverse)  # type: ignore[assignment]
        return -value, (-high, -low), relation

    def same(self, first: str, second: str) -> bool:
        """Tell whether all attacks give every record the same score in two rows, as where a defense never acted."""
        one, other = self._scores.get(first), self._scores.get(second)
        if one is None or other is None or one.keys() != other.keys():
            return False
        return all(np.array_equal(one[name], other[name]) for name in one)

    def leak(self, first: str, second: str) -> Relation:
        """Say whether the first leaks less than the second: by AUC, TPR or both, and by neither more."""
        tested = [self.get(first, second, statistic) for statistic in LEAK]
        found = {one[2] for one in tested if one is not None} - {"tie"}
        return "mixed" if len(found) > 1 else found.pop() if found else "tie"

    def shown(self, first: str, second: str) -> tuple[Statistic, ...]:
        """List the statistics by which two rows leak differently."""
        tested = {name: self.get(first, second, name) for name in LEAK}
        return tuple(name for name, one in tested.items() if one is not None and one[2] != "tie")

    def partly(self, first: str, second: str) -> str:
        """Say where two rows differ by one measure and are a tie by the other; empty if they do not."""
        told = self.shown(first, second)
        tied = [name for name in LEAK if name not in told and self.get(first, second, name) is not None]
        return f" (by the {MEASURES[told[0]]}; not shown by the {MEASURES[tied[0]]})" if tied and told else ""

    def missed(self, name: str, control: str) -> float | None:
        """Say by how much a control misses the accuracy that it was stopped for.

        Judged by the difference's own interval, not corrected for the other tests: the more tests there are, the more
        a correction hides, and what it hides is not equal for that.
        """
        found = self.get(control, name, "accuracy")
        if found is None:
            return None
        value, (low, high), _ = found
        return None if low <= 0 <= high and abs(value) < NEAR else value

    def standing(self, name: str, control: str) -> "Standing":
        """Hold a row against another, which was stopped for its accuracy or is the baseline."""
        relation = self.leak(name, control)
        return Standing(
            control,
            relation,
            self.shown(name, control),
            self.missed(name, control),
            known=self.get(control, name, "accuracy") is not None,
            unlearned=self._idle(name, control, relation),
        )

    def _idle(self, name: str, control: str, relation: Relation) -> str | None:
        """Name the row whose models did not learn, where nothing follows from the relation for that.

        Such models have nothing to give away; what they do give away is shown all the same.
        """
        if name in self._unlearned and relation != "more":
            return name
        return control if control in self._unlearned and relation != "less" else None


def control_of(rows: Sequence[Row], name: str) -> Row | None:
    """Find the control that has the accuracy of a row.

    Args:
        rows: of all recipes and controls.
        name: of a recipe.

    Returns:
        The control's row, or None.
    """
    controls = (row for row in rows if row.checked.entry.role == "control" and name in row.checked.entry.matches)
    return next(controls, None)


def held_against(rows: Sequence[Row], name: str) -> Row | None:
    """Find the row that was chosen for a recipe's accuracy: its control, or the baseline where that is it as it is.

    Args:
        rows: of all recipes and controls.
        name: of a recipe.

    Returns:
        The row, or None where nothing was chosen.
    """
    roles = ("control", "recipe")  # An attacker who does not know of a defense matches a row by its models.
    chosen = (row for row in rows if row.checked.entry.role in roles and name in row.checked.entry.matches)
    return next(chosen, None)


@dataclass(frozen=True)
class Standing:
    """How a recipe stands to its control, or to the baseline where it has none.

    Attributes:
        control: name of the row that it is held against.
        relation: what the tests show: "less", "more", "tie", or "mixed".
        by: the statistics that show it.
        missed: the control's accuracy minus the recipe's; None if they are equally accurate, or it is not known.
        known: both accuracies are known.
        unlearned: the one of the two rows of whose models more than half did not learn, if that leaves the relation
            without meaning; else None.
    """

    control: str
    relation: Relation
    by: tuple[Statistic, ...]
    missed: float | None
    known: bool = True
    unlearned: str | None = None

    @property
    def settled(self) -> bool:
        """Whether the models learned, and the accuracies are known and leave the relation as it is.

        A model that is more accurate gives away more by that alone: that a recipe leaks less than a control that is
        more accurate shows nothing, nor does a tie with one that is not as accurate, or what differs both ways.
        """
        if self.unlearned is not None:
            return False
        if self.missed is None:
            return self.known
        return self.relation == ("more" if self.missed > 0 else "less")

    @property
    def apart(self) -> bool:
        """Whether the accuracies are known, and may be all that sets the two apart."""
        return self.missed is not None and not self.settled and self.unlearned is None

    def to_json(self) -> dict[str, Any]:
        """Return plain values, as ``docs/schema.md`` has them."""
        return {
            "name": self.control,
            "leak": self.relation,
            "by": list(self.by),
            "missed": self.missed,
            "unlearned": self.unlearned,
            "settled": self.settled,
        }


def standing(rows: Sequence[Row], name: str, baseline: str, findings: Findings) -> Standing:
    """Hold a recipe against its control, or against the baseline where there is none.

    Args:
        rows: of all recipes and controls.
        name: of a recipe.
        baseline: name of the row that the others are held against.
        findings: the tests.

    Returns:
        How it stands.
    """
    control = control_of(rows, name)
    return findings.standing(name, baseline if control is None else control.name)
