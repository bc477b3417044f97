"""PMIA: offline LiRA whose IN side is borrowed from other records of the same label, which stand for the record.

Paper: Du et al. (2026), "Cascading and proxy membership inference attack", NDSS; the form by class. OUT is the record's
own OUT references: median and standard deviation. IN is every margin of another audited record of the same label under
a reference that was trained on that one: median and standard deviation, over the other audited records of any label
where these are fewer than ten. As released, standard deviations are divided by n. So no model need be trained on the
record itself.

Deviation: the authors' proxies are the attacker's own records; here they are the other audited ones, and all records
keep equally many OUT references (`balance`).
"""

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from reticent.attacks import leave_one_out, sides
from reticent.attacks.base import AttackEntry, Needs, Problem, Rows
from reticent.attacks.sides import Compared, Mask, Side
from reticent.signals.matrix import Floats
from reticent.spec import Spec

FEW = 10
"""Margins of a class below which those of all records are borrowed."""
TINY = 1e-30
"""Added to every standard deviation, as released."""


class Pmia(Spec):
    """Options of PMIA."""

    method: ClassVar[str] = "pmia"

    queries: Annotated[int, Ge(1)] | None = None
    """How many queries of a record are used; by default all."""


def needs(_: Pmia) -> Needs:
    """Say which references it needs; some that were trained on other records."""
    return Needs(references=3, references_out=2)


def score(spec: Pmia, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by its log-likelihood ratio, a mean over queries.

    Cost: O(T R N Q), for the medians of others; the signals are read once a query, and once more. Memory: references
    and twice the scores, for every query.
    """
    borrowed = [_borrowed(problem, query) for query in range(spec.queries or problem.signals.queries)]

    def ratio(one: Compared) -> Floats:
        outside = one.sides[0]
        spread = np.sqrt(outside.squares() / np.maximum(outside.count, 1)) + TINY
        far = 0.5 * ((one.target - outside.medians()) / spread) ** 2 + np.log(spread)
        centre, spread = (part[one.targets, one.records] for part in borrowed[one.query])
        return np.asarray(far - 0.5 * ((one.target + one.shift - centre) / spread) ** 2 - np.log(spread))

    return sides.averaged(problem, spec.queries, ratio, online=False)


def _borrowed(problem: Problem, query: int) -> tuple[Floats, Floats]:
    """Return centre and standard deviation of what every record borrows, ``(T, N)`` each."""
    rows = leave_one_out.rows(problem.targets, problem.references)
    values = np.empty((len(problem.references), problem.signals.records))
    for block in problem.signals.blocks():
        values[:, block] = problem.signals.margins[:, block][problem.references, :, query]
    inside, labels = problem.inside, problem.signals.labels
    centre, spread, count = np.empty((3, *problem.shape))
    for label in np.unique(labels):
        of = np.flatnonzero(labels == label)
        centre[:, of], spread[:, of], count[:, of] = _others(values[:, of], inside[:, of], rows)
    if (count < FEW).any():
        every = _others(values, inside, rows)
        centre, spread = np.where(count < FEW, every[0], centre), np.where(count < FEW, every[1], spread)
    return centre, spread


def _others(values: Floats, inside: Mask, rows: Rows) -> tuple[Floats, Floats, Floats]:
    """Return median, standard deviation and number of other records' IN margins, the target left out, ``(T, n)``."""
    side = Side(rows, values - values.mean(), inside)
    first = side.count * side.mean
    sums = np.stack([side.count, first, side.squares() + first * side.mean])
    count, first, second = sums.sum(axis=2, keepdims=True) - sums
    many = np.maximum(count, 1)
    spread = np.sqrt(np.maximum(second / many - (first / many) ** 2, 0.0)) + TINY
    return _medians(values, inside, rows, count.astype(np.int64)), spread, count


def _medians(values: Floats, inside: Mask, rows: Rows, count: Rows) -> Floats:
    """Take medians from one sort: the place of the j-th that is left moves by each that is not, in their order."""
    model, record = np.nonzero(inside)
    order = np.argsort(values[model, record], kind="stable")
    model, record = model[order], record[order]
    ordered = values[model, record]
    rank = np.full(values.shape, len(order))
    rank[model, record] = np.arange(len(order))
    turn = np.argsort(rank, axis=0)
    rank = np.take_along_axis(rank, turn, axis=0)
    result = np.zeros((len(rows), values.shape[1]))
    for row, out in enumerate(rows):
        pool = ordered[model != out]
        if len(pool) == 0:
            continue
        own = (rank < len(order)) & (turn != out)
        places = rank - np.append(0, np.cumsum(model == out))[rank]
        halves = np.stack([np.maximum(count[row] - 1, 0) // 2, count[row] // 2])
        for mine, place in zip(own, places, strict=True):
            halves += mine & (halves >= place)
        result[row] = pool[np.minimum(halves, len(pool) - 1)].mean(axis=0)
    return result


ENTRY = AttackEntry(
    spec=Pmia,
    score=score,
    needs=needs,
    summary="LiRA for models that were never trained on a record: others of its label stand for it.",
    paper="Du et al. (2026), Cascading and proxy membership inference attack",
    access="margins",
    strong=True,
    usual=False,
)
