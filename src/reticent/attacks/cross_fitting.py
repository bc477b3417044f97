"""What keeps an attack honest that learns from references: who learns for whom, from which records, in equal numbers.

No target is a reference in its own fit: targets whose numbers are equal modulo a count share one, in which none of them
is. A record is scored by a rule that was learned from other records and other units: a rule that recognised a record
would know how many of the other models were trained on it, which tells the target's membership where that makes half of
the models. And a rule learns from pairs, a member and a non-member of the same record, so that it knows of no kind of
record how many references were trained on it.

All draws follow from a hash of what the models say of a record, not from its place; a target's membership has no part
in them.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Problem, Rows
from reticent.attacks.hashed_draws import ODD, Words, mixed

GROUPS = 8
"""Targets whose numbers are equal modulo this share one fit; none of them is a reference in it."""
HELD = 5
"""Of so many records to learn from, one is held out, on which is seen when to stop."""


class Group(NamedTuple):
    """Targets that share a fit, and models to learn from; the name is the same whatever other targets there are."""

    name: tuple[str, int]
    targets: Rows
    references: Rows


class Pairs(NamedTuple):
    """Members and non-members to learn from, equally many: models and records ``(K,)``, members before the others."""

    models: Rows
    records: Rows

    @property
    def members(self) -> NDArray[np.bool_]:
        """Which of them are members ``(K,)``."""
        return np.arange(len(self.models)) < len(self.models) // 2


def words(problem: Problem, rng: np.random.Generator, models: Rows | None = None) -> Words:
    """Hash what models, by default all, say of each record, ``(N,)``, or of each unit's; `rng` gives the salt."""
    rows = np.arange(problem.signals.models) if models is None else models
    salt = rng.integers(2**63, size=problem.signals.models, dtype=np.uint64)[rows, None]
    result = np.empty(problem.signals.records, dtype=np.uint64)
    for block in problem.signals.blocks():
        bits = problem.signals.plain(block, rows).astype(np.float64).view(np.uint64)
        result[block] = mixed(mixed(bits + salt).sum(axis=0, dtype=np.uint64))
    if problem.units is None:
        return result
    least = np.full(problem.units.count, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(least, problem.units.codes, result)
    return least[problem.units.codes]


def folds(word: Words, count: int) -> NDArray[np.int64]:
    """Divide the records, ``(N,)``; those of one word, a unit's or duplicates, stay together."""
    return np.unique(word, return_inverse=True)[1].astype(np.int64) % count


def held(word: Words, count: int) -> NDArray[np.bool_]:
    """Tell which records ``(N,)`` are held out of every fold, one in `HELD`; duplicates and units stay together."""
    return np.asarray(np.unique(word, return_inverse=True)[1] // count % HELD == HELD - 1)


def groups(problem: Problem, count: int = GROUPS, references: int | None = None) -> Iterator[Group]:
    """Divide the targets into those that share a fit: by their number, or each alone where no reference is left.

    Of the references of each group, so many are taken, or all: a run of them that begins at the group's number.
    """
    known = np.asarray(problem.references)
    for number in np.unique(problem.targets % count).tolist():
        targets = problem.targets[problem.targets % count == number]
        left = known[known % count != number]
        for one in [Group(("group", number), targets, left)] if len(left) else alone(problem, targets):
            some = one.references if references is None else np.roll(one.references, -number)[:references]
            yield one._replace(references=some)


def alone(problem: Problem, targets: Rows) -> Iterator[Group]:
    """Let each target have a fit of its own, from all other references."""
    known = np.asarray(problem.references)
    for one in targets.tolist():
        yield Group(("target", one), np.array([one]), known[known != one])


def own_records(problem: Problem) -> Iterator[Group]:
    """Let each target be learned from by itself, on what is known of some of its own records."""
    for one in problem.targets:
        yield Group(("own", int(one)), np.array([one]), np.array([one]))


def pairs(problem: Problem, references: Rows, chosen: Rows, word: Words, most: int | None = None) -> Pairs:
    """Draw pairs of a reference that was trained on a record and one that was not.

    Every record gives as many pairs as the others, as far as it has them. Where no record has both kinds, as with one
    reference, a member and a non-member are two records of one label. Of the records chosen, at most `most` rows; none
    where there are no pairs. `word` hashes all records ``(N,)``. Cost: O(R n log R) and, while records are ordered, 8
    bytes for each of R n.
    """
    inside = problem.membership.matrix[np.ix_(references, chosen)]
    count = np.minimum(inside.sum(axis=0), (~inside).sum(axis=0))
    limit = inside.size if most is None else max(1, most // 2)
    if not count.any():
        return _of_labels(problem, references, chosen, word, limit)
    order = np.argsort(np.where(count > 0, word[chosen], np.iinfo(np.uint64).max), kind="stable")
    order = order[: min(limit, int(np.count_nonzero(count)))]
    inside, count = inside[:, order], count[order]
    draw = mixed(word[chosen[order]] + mixed((references.astype(np.uint64) + np.uint64(1)) * ODD)[:, None])
    turns = [np.argsort(np.where(kind, draw, np.iinfo(np.uint64).max), axis=0) for kind in (inside, ~inside)]
    place, record = np.nonzero(np.arange(count.max())[:, None] < count)
    rows = [(turn[place, record][:limit], order[record][:limit]) for turn in turns]
    return Pairs(*(np.concatenate(part) for part in zip(*((references[a], chosen[b]) for a, b in rows), strict=True)))


def _of_labels(problem: Problem, references: Rows, chosen: Rows, word: Words, limit: int) -> Pairs:
    """Draw pairs of two records of one label."""
    place, record = (part.ravel() for part in np.indices((len(references), len(chosen))))
    draw = mixed(word[chosen[record]] + (references[place].astype(np.uint64) + np.uint64(1)) * ODD)
    order = np.argsort(draw, kind="stable")
    place, record, draw = place[order], record[order], draw[order]
    member = problem.membership.matrix[references[place], chosen[record]]
    label = problem.signals.labels[chosen[record]]
    none = np.array([], dtype=np.int64)
    found = [(none, none)]
    for one in np.unique(label):
        kinds = [np.flatnonzero((label == one) & (member == kind)) for kind in (True, False)]
        least = min(map(len, kinds))
        found.append((kinds[0][:least], kinds[1][:least]))
    both = [np.concatenate(part) for part in zip(*found, strict=True)]
    kept = np.argsort(draw[both[0]], kind="stable")[:limit]
    rows = np.concatenate([part[kept] for part in both])
    return Pairs(references[place[rows]], chosen[record[rows]])
