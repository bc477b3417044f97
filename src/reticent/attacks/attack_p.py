"""Attack-P: the share of the population whose loss is at least as large; one threshold for all records.

Paper: Ye et al. (2022), "Enhanced membership inference attacks against machine learning models", the population attack:
``1 - F(loss)``, F being the share of population losses below. Deviation: without a population the other audited records
stand for it, of which about half are members.
"""

from typing import ClassVar

import numpy as np

from reticent.attacks.base import AttackEntry, Needs, Problem, Rows
from reticent.signals.matrix import Floats, Signals
from reticent.spec import Spec


class AttackP(Spec):
    """Attack-P; it has no options."""

    method: ClassVar[str] = "attack-p"


def score(spec: AttackP, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by one minus the share of comparison records whose loss is smaller.

    Scores are from 0 to 1, in steps of one over the number of comparison records.

    Cost: O(T (N + Z) log Z).
    """
    # A loss is smaller exactly where the margin is larger, and margins do not saturate.
    audited = _margins(problem.signals, problem.targets)
    alone = problem.population is None
    compared = audited if problem.population is None else _margins(problem.population, problem.targets)
    not_smaller = [np.searchsorted(np.sort(z), x, side="right") for z, x in zip(compared, audited, strict=True)]
    return np.asarray((np.stack(not_smaller) - alone) / (compared.shape[1] - alone))


def _margins(signals: Signals, models: Rows) -> Floats:
    parts = [signals.plain(block, models) for block in signals.blocks()]
    return np.concatenate(parts, axis=1).astype(np.float64)


def claims(problem: Problem, scores: Floats) -> Floats | None:
    """Tell the share of the population whose loss is smaller; None without a population."""
    return None if problem.population is None else 1 - scores


ENTRY = AttackEntry(
    spec=AttackP,
    score=score,
    needs=lambda _: Needs(population=True),
    summary="Ranks records by how many of the population have no smaller loss.",
    paper="Ye et al. (2022), Enhanced membership inference attacks against machine learning models",
    access="margins",
    usual=False,
    claims=claims,
)
