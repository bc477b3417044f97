"""What is compared: the attacks' scores of each recipe; and that all recipes answer for the same records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import checks
from reticent.auditing.roc import two_groups
from reticent.errors import InputError, ShapeError, UnknownNameError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Entry:
    """One recipe's part in a comparison.

    Attributes:
        name: of the recipe.
        scores: by attack, ``(T, N)``; higher means member.
        members: booleans ``(T, N)``: the targets' rows of the membership.
        accuracy: share of records classified correctly by each target ``(T,)``: among its members, and among its
            non-members; None if it is not known.
        correct: booleans ``(T, N)``, whether each target is right on each record; takes the place of `accuracy`, and
            gives sharper tests. None if it is not known.
        targets: ``(T,)``, the targets' numbers; None if they are not known.
        data: what names the records, such as their digest; None if it is not known.
        role: "control" for an undefended model that is there to be as accurate as another row; "non-adaptive" for the
            models of another row, attacked by one who does not know of their defense.
        matches: names of the rows whose accuracy a control has, or of the row whose models these are; of the baseline,
            names of the rows that it stands beside by itself, since nothing earlier is as accurate.
        models: what names the models, so that rows of the same ones are known; None if it is not known.
        unlearned: how many of the models are known not to have learned, and how many there are.
    """

    name: str
    scores: Mapping[str, ArrayLike]
    members: ArrayLike
    accuracy: tuple[ArrayLike, ArrayLike] | None = None
    correct: ArrayLike | None = None
    targets: ArrayLike | None = None
    data: str | None = None
    role: Literal["recipe", "control", "non-adaptive"] = "recipe"
    matches: Sequence[str] = ()
    models: str | None = None
    unlearned: tuple[int, int] = (0, 0)

    @property
    def learned(self) -> bool:
        """Whether at most half of the models are known not to have learned."""
        sick, models = self.unlearned
        return 2 * sick <= models


@dataclass(frozen=True, eq=False)
class Checked:
    """An entry whose arrays were checked.

    Attributes:
        entry: as it was given.
        scores: by attack, ``(T, N)``.
        members: ``(T, N)``.
        correct: ``(T, N)`` or None.
        accuracy: of members and of non-members, each ``(T,)``; or None.
    """

    entry: Entry
    scores: Mapping[str, Floats]
    members: Bools
    correct: Bools | None
    accuracy: tuple[Floats, Floats] | None

    @property
    def name(self) -> str:
        """Name of the recipe."""
        return self.entry.name


def check(entries: Sequence[Entry]) -> tuple[Checked, ...]:
    """Check every entry, and that all of them can be compared in pairs.

    Args:
        entries: two or more.

    Returns:
        The entries with their arrays, in the same order.

    Raises:
        InputError: fewer than two, equal names, no attack, bad scores; or other records, targets or memberships than
            the first entry has.
        ShapeError: arrays of one entry do not fit each other, or not the first entry's.
        UnknownNameError: a control matches a row that is not there.
    """
    if len(entries) < 2:
        raise InputError(f"entries: expected at least two recipes to compare, got {len(entries)}")
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"entries: expected a name of its own for each recipe, got {twice!r} more than once")
    checked = tuple(_one(entry) for entry in entries)
    for other in checked[1:]:
        _same(checked[0], other)
    for entry in entries:
        for matched in entry.matches:
            if matched not in names:
                raise UnknownNameError(f"row that {entry.name!r} matches", matched, names)
    return checked


def _one(entry: Entry) -> Checked:
    """Check one entry by itself."""
    if not entry.scores:
        raise InputError(f"{entry.name}: scores: expected at least one attack, got none")
    try:
        scores = {}
        members = np.empty((0, 0), dtype=np.bool_)
        for attack, values in entry.scores.items():
            scores[attack], members = two_groups(checks.array(ndim=2, scores=values), entry.members, ndim=2)
        correct = None
        if entry.correct is not None:
            correct = checks.boolean(correct=entry.correct, ndim=2)
            checks.shape(correct=correct, expected=members.shape, meaning="(targets, records), as `members` has")
        return Checked(entry, scores, members, correct, _accuracy(entry, members, correct))
    except InputError as error:
        raise error.prefixed(f"{entry.name}: ") from None


def _accuracy(entry: Entry, members: Bools, correct: Bools | None) -> tuple[Floats, Floats] | None:
    if correct is not None:
        inside, outside = ((correct & group).sum(axis=1) / group.sum(axis=1) for group in (members, ~members))
        return inside, outside
    if entry.accuracy is None:
        return None
    inside, outside = (checks.floats(ndim=1, accuracy=value).astype(np.float64) for value in entry.accuracy)
    for value in (inside, outside):
        checks.shape(accuracy=value, expected=(len(members),), meaning="(targets,)")
        if value.min() < 0 or value.max() > 1:
            raise InputError(f"accuracy: expected fractions from 0 to 1, got {value.min():g} to {value.max():g}")
    return inside, outside


def _same(first: Checked, other: Checked) -> None:
    """Check that another entry has the first one's records, targets and memberships."""
    one, two = first.entry, other.entry
    if one.data is not None and two.data is not None and one.data != two.data:
        raise InputError(
            f"{other.name}: expected the records of {first.name} ({one.data}), got others ({two.data}): "
            "audit both on the same data set and roles"
        )
    if first.members.shape != other.members.shape:
        raise ShapeError(
            f"{other.name}: expected shape {first.members.shape} (targets, records), as {first.name} has, got "
            f"{other.members.shape}: train both with the same number of models, on the same records"
        )
    if one.targets is not None and two.targets is not None:
        wanted, got = checks.integers(targets=one.targets, ndim=1), checks.integers(targets=two.targets, ndim=1)
        if not np.array_equal(wanted, got):
            raise InputError(
                f"{other.name}: expected the targets of {first.name}, {wanted.tolist()}, got {got.tolist()}: "
                "audit the same models in both"
            )
    differ = int((first.members != other.members).sum())
    if differ:
        raise InputError(
            f"{other.name}: expected the membership of {first.name}, got another one in {differ:,} of "
            f"{first.members.size:,} places: train both with the same seed, number of models and roles"
        )
