"""What is compared: the attacks' scores of each recipe; and that all recipes answer for the same records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reticent import checks
from reticent.arrays import Bools, Floats
from reticent.auditing.roc import two_groups
from reticent.errors import InputError, ShapeError, about
from reticent.findings.comparison import Role


@dataclass(frozen=True, eq=False)
class RowScores:
    """One row's part in a comparison.

    Attributes:
        scores: by attack, ``(T, N)``; higher means member.
        members: booleans ``(T, N)``: the targets' rows of the membership.
        correct: booleans ``(T, N)``, whether each target is right on each record; None if it is not known.
        role: what the row is there for.
        matches: names of the rows whose accuracy a control has, or of the row whose models these are; of the baseline,
            names of the rows that it stands beside by itself, since nothing earlier is as accurate.
        runs: what names the models, so that rows of the same ones are known; None if it is not known.
        unlearned: how many of them are known not to have learned.
        unequal: who is a member of them depends on more than chance.
    """

    name: str
    scores: Mapping[str, Floats]
    members: Bools
    correct: Bools | None = None
    role: Role = Role.RECIPE
    matches: Sequence[str] = ()
    runs: str | None = None
    models: int = 0
    unlearned: int = 0
    unequal: bool = False

    @property
    def learned(self) -> bool:
        """Whether at most half of the models are known not to have learned."""
        return 2 * self.unlearned <= self.models

    def same_scores(self, other: "RowScores") -> bool:
        """Tell whether all attacks give every record the same score in two rows, as where a defense never acted."""
        known = self.scores.keys() == other.scores.keys()
        return known and all(np.array_equal(self.scores[name], other.scores[name]) for name in self.scores)


def checked(rows: Sequence[RowScores]) -> tuple[RowScores, ...]:
    """Check every row's arrays, and that all rows can be compared in pairs."""
    if len(rows) < 2:
        raise InputError(f"rows: expected at least two recipes to compare, got {len(rows)}")
    names = [row.name for row in rows]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"rows: expected a name of its own for each recipe, got {twice!r} more than once")
    found = tuple(_checked(row) for row in rows)
    for other in found[1:]:
        _same(found[0], other)
    return found


def _checked(row: RowScores) -> RowScores:
    """Check one row by itself."""
    if not row.scores:
        raise InputError(f"{row.name}: scores: expected at least one attack, got none")
    with about(row.name):
        scores = {}
        members = row.members
        for attack, values in row.scores.items():
            scores[attack], members = two_groups(checks.array(ndim=2, scores=values), row.members, ndim=2)
        correct = None
        if row.correct is not None:
            correct = checks.boolean(correct=row.correct, ndim=2)
            checks.shape(correct=correct, expected=members.shape, meaning="(targets, records), as `members` has")
        return replace(row, scores=scores, members=members, correct=correct)


def _same(first: RowScores, other: RowScores) -> None:
    """Check that another row has the first one's memberships."""
    if first.members.shape != other.members.shape:
        raise ShapeError(
            f"{other.name}: expected shape {first.members.shape} (targets, records), as {first.name} has, got "
            f"{other.members.shape}: train both with the same number of models, on the same records"
        )
    differ = int((first.members != other.members).sum())
    if differ:
        raise InputError(
            f"{other.name}: expected the membership of {first.name}, got another one in {differ:,} of "
            f"{first.members.size:,} places: train both with the same seed, number of models and roles"
        )
