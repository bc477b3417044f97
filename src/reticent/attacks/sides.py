"""Each target against its IN and its OUT references, record by record, with as many for members as for non-members.

What an attack that learns from both sides walks over: LiRA and its relatives.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reticent import scratch, threads
from reticent.attacks import leave_one_out
from reticent.attacks.balance import Balance, Dropped
from reticent.attacks.base import Problem, Rows
from reticent.attacks.leave_one_out import Split
from reticent.signals.matrix import Floats

BLOCK = 128
"""Blocks are this much smaller than `BLOCK_BYTES`, so that the steps on one stay in the processor's cache."""
FLOOR = 1e-10
"""Smallest variance of BASE and BaVarIA, as released."""
Mask = NDArray[np.bool_]


class Side:
    """The IN or the OUT references of targets for n records and one query: counts and mean margins ``(T, n)``."""

    def __init__(
        self, rows: Rows, references: Split, mask: Mask, dropped: Dropped | None = None, *, member: bool = False
    ) -> None:
        self._rows, self._references, self._mask = rows, references, mask
        self.count = leave_one_out.counts(mask, rows)
        self._dropped, self._member, self._gone = dropped, member, None
        self._places: Rows | None = None
        if dropped is not None:
            self._gone = dropped.side(member=member)
            self._places = leave_one_out.places(dropped.which, self._gone, len(mask))
            self.count = self.count - self._gone
        self.mean = self._sums(references) / np.maximum(self.count, 1)

    def _sums(self, values: Split) -> Floats:
        return leave_one_out.Sums(values, self._mask).of(self._rows, self._places)

    def squares(self) -> Floats:
        """Return the sum of squared deviations from the mean, ``(T, n)``."""
        second = self._sums(self._references.squares)
        return np.maximum(second - self.count * self.mean**2, 0.0)

    def serving(self, row: int) -> Floats:
        """Return the margins ``(R, n)`` that the target of a row is compared with; minus infinity for the others."""
        kept = self._mask & (np.arange(len(self._mask)) != self._rows[row])[:, None]
        if self._dropped is not None:
            self._dropped.take_from(kept, row, member=self._member)
        return np.where(kept, self._references.values, -np.inf)

    def medians(self) -> Floats:
        """Return the medians, ``(T, n)``, from one sort a record."""
        which = None if self._dropped is None else self._dropped.which
        return leave_one_out.medians(self._references.values, self._mask, self._rows, self._gone, which)


@dataclass(frozen=True, eq=False)
class Block:
    """Margins of n records under all models, for one query.

    Attributes:
        records: which records these are.
        query: which query.
        target: margins of the targets ``(T, n)``.
        references: margins of the references ``(R, n)``.
        inside: which references were trained on which of the records ``(R, n)``.
        shift: what all margins are less, ``(n,)``: the references' mean, so that squares lose no digits.
    """

    records: slice
    query: int
    target: Floats
    references: Split
    inside: Mask
    shift: Floats


@dataclass(frozen=True, eq=False)
class Compared:
    """Some targets on one block of records, for one query.

    Attributes:
        records: which records these are.
        query: which query.
        targets: which targets, to index the first axis of scores.
        target: their margins ``(t, n)``, less `shift`.
        sides: their IN and their OUT references, or the OUT ones alone; margins less `shift`.
        shift: ``(n,)``.
    """

    records: slice
    query: int
    targets: Rows | slice
    target: Floats
    sides: tuple[Side, ...]
    shift: Floats


def slices(problem: Problem) -> Iterator[slice]:
    """Divide the records into blocks."""
    return problem.signals.blocks(BLOCK * problem.signals.queries)


def blocks(problem: Problem, queries: int, records: slice) -> Iterator[Block]:
    """Read the margins of a block, query by query."""
    margins = problem.signals.margins[:, records]
    inside = problem.membership.matrix[:, records][problem.references]
    for query in range(queries):
        references = margins[problem.references, :, query].astype(np.float64)
        target = margins[problem.targets, :, query].astype(np.float64)
        shift = leave_one_out.total(references) / max(len(references), 1)
        yield Block(records, query, target - shift, Split(references - shift), inside, shift)


def averaged(problem: Problem, queries: int | None, ratio: Callable[[Compared], Floats], *, online: bool) -> Floats:
    """Score targets by a ratio ``(t, n)`` of what they are compared with: the mean over queries, by default all.

    Blocks are scored side by side, a core each.
    """
    number, scores = queries or problem.signals.queries, scratch.zeros(problem.shape)
    against = comparing(problem, number, online=online)

    def scored(records: slice) -> None:
        for one in against(records):
            scores[one.targets, records] += ratio(one)
        scratch.release(scores)

    threads.each(scored, slices(problem), scores.size, step="scores")
    for (row,) in scratch.rows(scores):
        np.divide(row, number, out=row)
    return scores


def comparing(problem: Problem, queries: int, *, online: bool) -> Callable[[slice], Iterator[Compared]]:
    """Hold the targets of a block against equally many references of a kind for members and non-members.

    Online, targets whose counts of references differ by more than one come by themselves (`Balance.kept`).
    """
    balance = Balance(problem)
    every, uneven = np.arange(len(problem.targets)), balance.uneven if online else balance.uneven[:0]
    even = np.setdiff1d(every, uneven) if len(uneven) else slice(None)
    some = replace(problem, targets=problem.targets[even])
    usual = Balance(some) if len(uneven) and len(some.targets) else balance
    rows, alone = leave_one_out.rows(some.targets, problem.references), np.array([len(problem.references)])

    def compared(records: slice) -> Iterator[Compared]:
        dropped = None
        for one in blocks(problem, queries, records):
            if len(some.targets):
                dropped = usual.dropped(records, one.inside) if one.query == 0 else dropped
                kinds = [(True, one.inside), (False, ~one.inside)][not online :]
                sides = [Side(rows, one.references, mask, dropped, member=member) for member, mask in kinds]
                yield Compared(records, one.query, even, one.target[even], tuple(sides), one.shift)
            for row in map(int, uneven):
                kept = [Side(alone, one.references, mask) for mask in balance.kept(row, records, one.inside)]
                target = every[[row]]
                yield Compared(records, one.query, target, one.target[target], tuple(kept), one.shift)

    return compared
