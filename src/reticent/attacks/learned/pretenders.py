"""References that play the target: which do, what they are compared with, and as many of both kinds for all.

A record's draws follow from a hash of what the models say of it, not from its place, so that records may stand in any
order. Records of one unit have one hash, and so one fold and one draw. Who is a member of the target, and what other
targets there are, has no part in anything here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.attacks import cross_fitting
from reticent.attacks.balance import FEW
from reticent.attacks.base import Problem, Rows
from reticent.attacks.complements import complements
from reticent.attacks.hashed_draws import ODD, Words, below, mixed
from reticent.attacks.learned.features import SCALARS, Answers, Scales, Side, answers, features
from reticent.attacks.reference_counts import MOST_GUESSED
from reticent.errors import TooFewReferencesError
from reticent.findings.evidence import Family
from reticent.signals.matrix import Floats

ROWS = 150_000
"""About as many rows are learned from at most, whatever the numbers of records, references and turns are."""
TURNS = 4
"""Times that references play, with other draws and folds, and rules are learned, at most: of few rows, one rule depends
much on how they were drawn."""
SAMPLE = 2000
"""Records on which the spread within a record is measured, at most."""
TOGETHER = 4
"""References that play the target for which others are averaged at once."""
VALUES = 2**25
"""Numbers that are read for it at most: 268 MB."""
PLENTY = 3
"""References of a kind of which one is left without the target and the one that plays it."""


@dataclass(frozen=True, eq=False)
class Group:
    """References that some targets are compared with.

    Attributes:
        targets: numbers of models, of which none is a reference here.
        references: numbers of models ``(R,)``.
        apart: which references one that plays the target is not compared with: itself, and its near-complements
            ``(R, R)``.
        count: how many of either kind each record is compared with ``(N,)``; 0 where a reference that plays the target
            has none of one kind. It tells nothing of who the targets' members are (`_level`).
    """

    targets: Rows
    references: Rows
    apart: NDArray[np.bool_]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, problem: Problem, targets: Rows, references: Rows) -> "Group":
        """Find what of these references ``(R,)`` is compared with what."""
        apart = complements(problem.drawn, references, references) | np.eye(len(references), dtype=np.bool_)
        left = (~apart).astype(np.float32)  # sums of ones and zeros are exact
        count = np.empty(problem.signals.records, dtype=np.int64)
        for block in problem.signals.blocks():
            members = left @ problem.membership.matrix[references, block].astype(np.float32)
            others = left.sum(axis=1)[:, None] - members
            count[block] = np.minimum(members, others).min(axis=0, initial=len(references))
        return cls(targets, references, apart, np.minimum(count, _level(problem, references)))

    def players(self, word: Words) -> NDArray[np.int64]:
        """Choose positions of references that play the target, ``(P, n)``, each once a record."""
        first = below(word.copy(), np.full(len(word), len(self.references)))
        return (first + np.arange(self.plays)[:, None]) % len(self.references)

    @property
    def plays(self) -> int:
        """How many references play the target, for each record."""
        return min(len(self.references), max(1, ROWS // len(self.count)))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which records are compared with anything, ``(N,)``."""
        return self.count > 0

    def turns(self, word: Words) -> Words:
        """Make words for as many turns as there is room for, ``(W, N)``; the first has the given ones ``(N,)``."""
        count = min(TURNS, max(1, ROWS // (self.plays * len(word))))
        return np.stack([word, *(mixed(word + np.uint64(turn)) for turn in range(1, count))])


def _level(problem: Problem, references: Rows) -> int:
    """Say how many of a kind a record has among the references, but one, whichever other models are trained on it.

    Where all records are in as many models, but not in half of them, those that a target is not trained on have fewer
    of the scarcer kind than its members. Otherwise nothing is to be hidden, and it is the number of references.
    """
    inside = np.zeros(problem.signals.records, dtype=np.int64)
    for model in references:
        inside += problem.membership.matrix[model]
    known = np.flatnonzero(np.bincount(inside) > FEW * len(inside)).tolist()
    least, most = known[0], known[-1]
    if most - least > problem.membership.models - len(references) or least == len(references) - most:
        return len(references)
    return max(0, min(least, len(references) - most) - 1)


def groups(problem: Problem) -> Iterator[Group]:
    """Divide the targets into those that share a fit, or each alone where references are too few for comparisons."""
    for one in cross_fitting.groups(problem):
        group = Group.of(problem, one.targets, one.references)
        if group.known.all():
            yield group
            continue
        for alone in cross_fitting.alone(problem, one.targets):
            yield _enough(Group.of(problem, alone.targets, alone.references))


def check(problem: Problem) -> None:
    """Check that those that play a target keep references of both kinds: all do, but of few or of near-complements."""
    inside = np.add.reduce(problem.membership.of(problem.references), axis=0, dtype=np.int64)
    scarce = np.minimum(inside, len(problem.references) - inside).min() < PLENTY
    if scarce or complements(problem.drawn, problem.references, problem.references).any():
        everyone(problem)
        for _ in groups(problem):
            pass


def everyone(problem: Problem) -> Group:
    """Compare no target, and learn from all references."""
    return _enough(Group.of(problem, np.array([], dtype=np.int64), np.asarray(problem.references)))


def _enough(group: Group) -> Group:
    short = np.count_nonzero(~group.known)
    if short > MOST_GUESSED * len(group.known):
        raise TooFewReferencesError(
            f"learned: expected IN and OUT references of every record for each reference that plays the target, but "
            f"{short} of {len(group.count)} records have none of one kind for some: train more models, or use lira or "
            "rmia"
        )
    return group


def scales(problem: Problem, group: Group, order: Rows) -> Scales:
    """Measure the spread of references within records, on the first of them in an order of their own."""
    width = 2 if problem.signals.logits is None else len(SCALARS) + 2 * problem.signals.classes
    chosen = np.sort(order[: min(SAMPLE, max(1, VALUES // (width * len(group.references))))])
    found = [_read(problem, group.references, block, chosen) for block in blocks(problem)]
    values = np.concatenate([seen.values for seen in found], axis=1)
    back = np.argsort(np.argsort(order)[chosen])
    inside = problem.membership.matrix[np.ix_(group.references, chosen[back])]
    return Scales.learned(Answers(values[:, back], found[0].classes), inside)


def blocks(problem: Problem) -> Iterator[slice]:
    """Divide the records into blocks whose answers, taken apart, are held at once."""
    signals = problem.signals
    return signals.blocks(signals.queries + 12 * (signals.classes if signals.logits is not None else 1))


def _read(problem: Problem, models: Rows, block: slice, chosen: Rows | None = None) -> Answers:
    """Read what models say of a block; of some records ``(K,)`` only, in ascending order, if they are given."""
    signals = problem.signals
    some = slice(None) if chosen is None else chosen[(chosen >= block.start) & (chosen < block.stop)] - block.start
    margins = np.asarray(signals.margins[models, block])[:, some]
    logits = None if signals.logits is None else np.asarray(signals.logits[models, block])[:, some]
    return answers(margins, logits, signals.labels[block][some])


def played(
    problem: Problem, group: Group, turned: Words, known: Scales
) -> Iterator[tuple[slice, int, Floats, list[Family]]]:
    """Compare references that play the target with the others, by words ``(W, N)``, one turn after the other.

    Gives the block, the place among the `Group.players` of all turns, ``(n, F)``, and each column's family.
    """
    for block in blocks(problem):
        seen, records = _read(problem, group.references, block), np.arange(block.stop - block.start)
        for turn, word in enumerate(turned[:, block]):
            players = group.players(word)
            for first in range(0, len(players), TOGETHER):
                some = players[first : first + TOGETHER]
                asked = [(word + player.astype(np.uint64), group.apart[player].T) for player in some]
                sides = _sides(problem, group, block, seen, known, asked)
                for place, (player, both) in enumerate(zip(some, sides, strict=True), turn * group.plays + first):
                    yield block, place, *features(seen.values[player, records], *both, known, seen.classes)


def compared(
    problem: Problem, group: Group, block: slice, word: Words, known: Scales, draws: int
) -> NDArray[np.float32]:
    """Compare the targets of a group, on a block, with several draws of its references: ``(T, draws, n, F)``."""
    count, found = len(group.references), []
    every = _read(problem, np.concatenate([group.references, group.targets]), block)
    seen = Answers(every.values[:count], every.classes)
    for place, target in enumerate(map(int, group.targets)):
        word_of = mixed(word[block] - np.uint64(target + 1))
        apart = ~_pool(problem.membership.matrix[group.references, block], group.count[block] + 1, word_of)
        asked = [(word_of + np.uint64(draw + 1), apart) for draw in range(draws)]
        sides, own = _sides(problem, group, block, seen, known, asked), every.values[count + place]
        found += [features(own, *both, known, seen.classes)[0].astype(np.float32) for both in sides]
    return np.stack(found).reshape(len(group.targets), draws, *found[0].shape)


def _sides(
    problem: Problem,
    group: Group,
    block: slice,
    seen: Answers,
    known: Scales,
    asked: Sequence[tuple[Words, NDArray[np.bool_]]],
) -> list[tuple[Side, Side]]:
    """Average as many IN as OUT references as each draw says: a run that begins anywhere, of those not `apart`.

    Draws are words ``(n,)``, and which references are apart ``(R, n)``.
    """
    inside, kept = problem.membership.matrix[group.references, block], []
    for draw, apart in asked:
        drawn = mixed(draw * ODD)
        kept += [_run(mask & ~apart, group.count[block], drawn) for mask in (inside, ~inside)]
    sides = Side.of(seen, np.stack(kept), known.margin * len(asked))
    return list(zip(sides[::2], sides[1::2], strict=True))


def _pool(inside: NDArray[np.bool_], many: NDArray[np.int64], word: Words) -> NDArray[np.bool_]:
    """Choose so many of both kinds: a mean over draws from more would be less noisy."""
    return _run(inside, many, word) | _run(~inside, many, word)


def _run(mask: NDArray[np.bool_], many: NDArray[np.int64], word: Words) -> NDArray[np.bool_]:
    """Keep so many of the masked references ``(R, n)`` of each record: a run that begins anywhere and goes around."""
    total = np.maximum(mask.sum(axis=0), 1)
    place = np.cumsum(mask, axis=0, dtype=np.int32)
    place -= (1 + below(word.copy(), total)).astype(np.int32)
    place += (place < 0) * total.astype(np.int32)
    return np.asarray(mask & (place < many))
