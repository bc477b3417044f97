"""How close models' answers are to what Split-AI of other models says of a record, for every target, block by block."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reticent.attacks import leave_one_out
from reticent.attacks.balance import Balance, Dropped
from reticent.attacks.base import Problem, Rows
from reticent.attacks.leave_one_out import Mask, Split
from reticent.attacks.softmax import log_probabilities
from reticent.errors import InputError
from reticent.signals.matrix import Floats


@dataclass(frozen=True, eq=False)
class Seen:
    """What an attacker of one target sees on a block of n records.

    Attributes:
        target: how close its answers are to the replicas, and their margins, ``(2, n)``, or one of the two.
        references: the same of the references ``(2, R, n)``; none is its own replica.
        inside: IN references, ``(R, n)``: their soft targets are the replicas. The target is never among them.
        outside: OUT references, ``(R, n)``.
    """

    target: Floats
    references: Floats
    inside: Mask
    outside: Mask


def walk(problem: Problem, floor: float, features: slice) -> Iterator[tuple[slice, int, Seen]]:
    """Go through blocks of records, and on each through the targets.

    Cost: O(U R N C) for distances of the U models that are targets or references, and O(T U N) beyond.
    """
    references, places = problem.references, leave_one_out.rows(problem.targets, problem.references)
    models = np.union1d(problem.targets, references)
    at_targets, at_references = np.searchsorted(models, problem.targets), np.searchsorted(models, references)
    balance, count = Balance(problem), len(references)
    for block, logs in log_probabilities(problem.signals, models, width=4 * count + problem.signals.classes):
        inside = problem.membership.matrix[:, block][references]
        near = _nearness(problem, block, np.exp(logs), inside, floor)
        near[np.arange(count), at_references] = 0.0
        margins = problem.signals.plain(block, models).astype(np.float64)
        sums = leave_one_out.Sums(Split(near.reshape(count, -1)))
        dropped = balance.dropped(block, inside)
        for row, place in enumerate(places):
            kept = balance.serving(row, block, inside, dropped)
            if row in balance.uneven:
                total = leave_one_out.total(np.where(kept[0][:, None], near, 0.0).reshape(count, -1))
            else:
                total = sums.of(np.array([place]), None if dropped is None else _places(near, dropped, row))
            total = total.reshape(near.shape[1:])
            replicas = kept[0].sum(axis=0)
            own: list[Floats] = [total[at_targets[row]] / replicas, margins[at_targets[row]]]
            theirs: list[Floats] = [total[at_references] / np.maximum(replicas - kept[0], 1), margins[at_references]]
            yield block, row, Seen(np.stack(own[features]), np.stack(theirs[features]), *kept)


def _nearness(problem: Problem, block: slice, said: Floats, inside: Mask, floor: float) -> Floats:
    """Compare answers with every replica: ``-log(||p - s||_1 + floor)``, ``(R, U, n)``.

    Zero where a reference does not hold the record, and where it is the only target, whose replicas nobody looks at.
    """
    result = np.zeros((len(inside), *said.shape[:2]))
    if problem.replicas is None:
        return result
    replicas = np.asarray(problem.replicas[problem.references, block])
    for place, model in enumerate(problem.references):
        if np.array_equal(problem.targets, [model]):
            continue
        held = np.flatnonzero(inside[place])
        taught = replicas[place, held].astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(taught).all(axis=1))
        if len(bad):
            raise InputError(
                f"replicas: expected soft targets of every record that a model holds, got none of record "
                f"{block.start + held[bad[0]]} by model {model}: the membership is not that of these models"
            )
        result[place][:, held] = -np.log(np.abs(said[:, held] - taught).sum(axis=2) + floor)
    return result


def _places(near: Floats, dropped: Dropped, row: int) -> Rows:
    """Place what every model's answers are to the replica that is dropped among all that is summed, ``(1, U n)``."""
    which, gone = (np.tile(each[row], near.shape[1])[None] for each in (dropped.which, dropped.inside))
    return leave_one_out.places(which, gone, len(near))
