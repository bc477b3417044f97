"""From a problem to numbers: every attack scored, every score audited, every record's exposure."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent import seeds, spec
from reticent.attacks import ATTACKS, score
from reticent.attacks.base import Problem
from reticent.auditing.audit import Audit, audit
from reticent.auditing.exposure import Exposure, exposure
from reticent.errors import TooFewReferencesError
from reticent.signals.matrix import Floats
from reticent.spec import Spec

log = logging.getLogger(__name__)
CALIBRATION_MODELS = 4
"""How many references are scored to choose a threshold on, where targets do not serve each other."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What the attacks found.

    Attributes:
        audits: one an attack, in the order asked for.
        scores: by attack, ``(T, N)``, higher means member.
        exposure: of every record, over the models that its margins are known of.
    """

    audits: tuple[Audit, ...]
    scores: dict[str, Floats]
    exposure: Exposure


def measure(
    problem: Problem,
    attacks: Sequence[Spec],
    *,
    seed: int,
    replicates: int = 1000,
    confidence: float = 0.95,
    progress: Callable[[str], None] | None = None,
) -> Measured:
    """Run attacks on every target and audit their scores.

    Args:
        problem: signals, membership, targets and references.
        attacks: their specs.
        seed: the master seed; an attack's stream and its bootstrap's are named after it.
        replicates: of the bootstrap.
        confidence: of every interval.
        progress: called with an attack's name before it runs.

    Returns:
        Audits, scores and exposures.
    """
    scores: dict[str, Floats] = {}
    audits = []
    members = problem.membership.matrix[problem.targets]
    for attack in attacks:
        if progress is not None:
            progress(attack.method)
        scores[attack.method] = score(attack, problem, seed)
        audits.append(
            audit(
                attack.method,
                spec.full(attack),
                scores[attack.method],
                members,
                problem.targets,
                rng=seeds.rng(seed, "bootstrap", attack.method),
                access=ATTACKS[attack.method].access,
                confidence=confidence,
                replicates=replicates,
                reference_scores=_calibration(problem, attack, seed),
            )
        )
    return Measured(tuple(audits), scores, exposure(problem.signals, problem.membership))


def _calibration(problem: Problem, attack: Spec, seed: int) -> tuple[Floats, NDArray[np.bool_]] | None:
    """Score a few references as if they were targets, to choose a threshold on.

    Not needed where all targets are references of each other: then each learns its threshold from the other targets.
    """
    if len(problem.targets) > 1 and np.isin(problem.targets, problem.references).all():
        return None
    rows = np.setdiff1d(problem.references, problem.targets)[:CALIBRATION_MODELS]
    if len(rows) == 0:
        return None
    pretended = Problem(problem.signals, problem.membership, rows, problem.references, problem.population)
    try:
        return score(attack, pretended, seed), problem.membership.matrix[rows]
    except TooFewReferencesError:
        log.debug("no threshold can be learned for %s on the references alone", attack.method, exc_info=True)
        return None
