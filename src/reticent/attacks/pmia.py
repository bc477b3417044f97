"""PMIA: offline LiRA whose IN side is borrowed from other records of the same label, which stand for the record.

Paper: Du et al. (2026), "Cascading and proxy membership inference attack", NDSS; the form by class. OUT is the record's
own OUT references: median and standard deviation. IN is every margin of an audited record of the same label under a
reference that was trained on it: median and standard deviation, over the audited records of any label where these are
fewer than ten. As released, standard deviations are divided by n. So no model need be trained on the record itself.

Deviations: the authors' proxies are the attacker's own records; here they are the audited ones, and all records keep
equally many OUT references (`balance`). A record is one of its own proxies: were it left out, a member, which has an IN
reference fewer, would leave out less, and where models answer alike that alone would tell it from a non-member.
"""

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from reticent.attacks import leave_one_out, sides
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.sides import Compared
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


def score(spec: Pmia, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by its log-likelihood ratio, a mean over queries.

    Cost: O(T R N Q), for medians of a label; the signals are read once a query, and once more. Memory: references
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
    labels, place = problem.signals.labels, np.arange(len(values))[:, None]
    centre, spread = np.empty((2, *problem.shape))
    for row, out in enumerate(rows):
        inside = problem.inside & (place != out)
        every = _law(values[inside])
        for label in np.unique(labels):
            of = np.flatnonzero(labels == label)
            pool = values[:, of][inside[:, of]]
            centre[row, of], spread[row, of] = every if len(pool) < FEW else _law(pool)
    return centre, spread


def _law(pool: Floats) -> tuple[float, float]:
    """Return median and standard deviation of margins."""
    return (float(np.median(pool)), float(pool.std()) + TINY) if len(pool) else (0.0, TINY)


ENTRY = AttackEntry(
    spec=Pmia,
    score=score,
    needs=lambda _: Needs(references=3, references_out=2),
    summary="LiRA for models that were never trained on a record: others of its label stand for it.",
    paper="Du et al. (2026), Cascading and proxy membership inference attack",
    access="margins",
    strong=True,
    usual=False,
)
