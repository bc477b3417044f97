"""As many references for members as for non-members: which references are left out of a record, besides the target.

Where each record is in equally many of the models, a target's members have one IN reference fewer, and one OUT
reference more, than its non-members. What is computed from more references is less noisy, so scores would tell the two
apart where nothing leaks: with four models and skewed margins, LiRA's AUC is 0.55. No formula mends that for every
distribution; only equal counts do. So each record keeps as many of either kind as the poorest has, and drops the one
that is too many.

Where counts differ by more than one, as when the references are some of the models only, and about half are IN, online
LiRA keeps equally many of both kinds: then members and non-members mirror each other. Where counts differ and records
are in far more or fewer than half of the models, nothing is dropped; if memberships were drawn one by one, the count
says nothing of the target there.

Those dropped are drawn by a hash of the target's and the record's number: what any model says, and the target's
membership, have no part in it. So a record that stands elsewhere in the data has another draw. Records of one unit have
one draw, so that the scores of all of them together are exchangeable too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.attacks import reference_counts
from reticent.attacks.base import Problem, Rows
from reticent.attacks.hashed_draws import ODD, below, mixed
from reticent.attacks.leave_one_out import Mask, row_or, rows

REGULAR = 0.9
"""Share of the records whose counts must be one number or its neighbour, for the counts to be made equal."""
FEW = 0.01
"""Share of the records up to which a count is an exception, for which no others drop a reference."""
NEARLY = 0.1
"""How far from one half the share of IN references may be, for both kinds to be made equal."""


@dataclass(frozen=True, eq=False)
class Dropped:
    """On a block of n records, for every target.

    Attributes:
        inside: an IN reference is dropped, ``(T, n)``.
        outside: an OUT reference is dropped.
        which: its position among the references; any where none is dropped.
    """

    inside: Mask
    outside: Mask
    which: Rows

    def side(self, *, member: bool) -> Mask:
        """Return where an IN reference, or an OUT one, is dropped, ``(T, n)``."""
        return self.inside if member else self.outside

    def take_from(self, mask: Mask, row: int, *, member: bool) -> None:
        """Take the IN, or the OUT, references that the target of a row drops out of a mask ``(R, n)``."""
        records = np.flatnonzero(self.side(member=member)[row])
        mask[self.which[row, records], records] = False


class Balance:
    """Decides for all records of a problem; made once, asked block by block.

    Attributes:
        least: IN and OUT references that every record keeps, for each target ``(T, 2)``; where they are not one number,
            more than there are.
        uneven: which targets' records keep equally many of both kinds, by `kept`.
    """

    def __init__(self, problem: Problem) -> None:
        """Count every target's references."""
        self._rows, self._units = rows(problem.targets, problem.references), problem.units
        self._words = mixed((problem.targets.astype(np.uint64) + np.uint64(1)) * ODD)[:, None]
        counted = reference_counts.counts(problem.membership, problem.targets, problem.references)
        found = [_least(inside, outside) for inside, outside in counted]
        self.least = np.array([least for least, _ in found])
        self.uneven = np.flatnonzero([uneven for _, uneven in found])

    @property
    def mirrored(self) -> bool:
        """Whether members have as many IN as non-members have OUT, and the other way round."""
        return bool((self.least[:, 0] == self.least[:, 1]).all())

    def dropped(self, block: slice, inside: Mask) -> Dropped | None:
        """Choose what is left out on a block, given who is IN ``(R, n)``; None where nothing is. Cost: O((R + T) n)."""
        own = row_or(inside, self._rows, fill=False)
        members = inside.sum(axis=0)
        others = len(inside) - members
        count_in = members - own
        count_out = others - ((self._rows < len(inside))[:, None] & ~own)
        from_in, from_out = count_in > self.least[:, :1], count_out > self.least[:, 1:]
        if not (from_in.any() or from_out.any()):
            return None
        turn = self._turn(block, slice(None), np.where(from_in, count_in, count_out))
        self._pass_over(turn, inside, from_in, own == from_in)
        # One list: every record's IN references in their order, and then every record's OUT references.
        turned = np.ascontiguousarray(inside.T)
        listed = np.concatenate([np.flatnonzero(turned), np.flatnonzero(~turned)])
        starts = np.cumsum(members) - members, np.cumsum(others) - others + members.sum()
        turn += np.where(from_in, *starts)
        which = np.take(listed, turn, mode="clip")
        which -= np.arange(len(members)) * len(inside)
        return Dropped(from_in, from_out, np.clip(which, 0, len(inside) - 1, out=which))

    def serving(self, row: int, block: slice, inside: Mask, dropped: Dropped | None) -> tuple[Mask, Mask]:
        """Say which IN and which OUT references serve the target of a row, ``(R, n)`` each, given what is dropped."""
        if row in self.uneven:
            return self.kept(row, block, inside)
        there = (np.arange(len(inside)) != self._rows[row])[:, None]
        kept = inside & there, ~inside & there
        if dropped is not None:
            for mask, member in zip(kept, (True, False), strict=True):
                dropped.take_from(mask, row, member=member)
        return kept

    def kept(self, row: int, block: slice, inside: Mask) -> tuple[Mask, Mask]:
        """Choose equally many IN and OUT references for the target of a row, the target never: masks ``(R, n)`` each.

        Of the larger kind, a run is dropped that begins anywhere and goes around.
        """
        there = (np.arange(len(inside)) != self._rows[row])[:, None]
        masks = inside & there, ~inside & there
        counts = [mask.sum(axis=0) for mask in masks]
        result = []
        for mask, count in zip(masks, counts, strict=True):
            start = self._turn(block, slice(row, row + 1), count)
            turn = (np.cumsum(mask, axis=0) - 1 - start) % np.maximum(count, 1)
            result.append(mask & (turn >= count - np.minimum(*counts)))
        return result[0], result[1]

    def _turn(self, block: slice, targets: slice, counts: Rows) -> Rows:
        """Draw a number from 0 up to a count for each target and record, ``(T, n)``."""
        records = np.arange(block.start, block.start + counts.shape[-1], dtype=np.uint64)
        if self._units is not None:
            records = self._units.codes[block.start : block.start + counts.shape[-1]].astype(np.uint64)
        return below(mixed(mixed(records * ODD) + self._words[targets]), counts)

    def _pass_over(self, turn: Rows, inside: Mask, from_in: Mask, same_kind: Mask) -> None:
        """Count the target out of its own references, where it is one of those that are drawn from."""
        same_kind &= (self._rows < len(inside))[:, None]
        for kind, mask in ((True, inside), (False, ~inside)):
            target, record = np.nonzero(same_kind & (from_in == kind))
            if len(target):
                rank = np.cumsum(mask, axis=0) - 1
                turn[target, record] += rank[self._rows[target], record] <= turn[target, record]


def _least(inside: NDArray[np.int64], outside: NDArray[np.int64]) -> tuple[tuple[int, int], bool]:
    """Return how many IN and OUT references each record keeps, and whether both must be made equal instead."""
    together = int(inside[0] + outside[0])
    tally = np.bincount(inside, minlength=together + 2)
    low = int(np.argmax(tally[:-1] + tally[1:]))
    if tally[low] + tally[low + 1] >= REGULAR * len(inside):
        known = tally > FEW * len(inside)
        return (low + int(not known[low]), together - low - int(known[low + 1])), False
    return (together, together), abs(inside.mean() - 0.5 * together) <= NEARLY * together
