"""The slope of offline RMIA, chosen on references that play the target; never on a target."""

from dataclasses import replace

import numpy as np

from reticent.attacks import reference_counts
from reticent.attacks.base import Problem
from reticent.attacks.rmia import ratios
from reticent.attacks.rmia.dominance import auc, beaten
from reticent.attacks.rmia.options import Rmia
from reticent.data.membership import divided
from reticent.signals.matrix import Floats

GRID = np.linspace(0, 1, 11)
"""The slopes tried."""
USUAL = 0.3
"""The slope where no reference can be attacked to choose one."""
PRETENDERS = 4
"""How many references play the target, for each target."""


def choose(spec: Rmia, problem: Problem, queries: int, rng: np.random.Generator) -> Floats:
    """Choose for each target the smallest of the slopes that attack some of its references best, ``(T,)``.

    A reference that plays the target is attacked with the others, the target itself left out of everything, so that the
    target's membership row has no part in the choice. `rng` draws which references play the target. Where none can, as
    where none holds any of the records, the slope is `USUAL`.

    Cost: for each target a pass over the signals and 44 counts.
    """
    turn = rng.permutation(problem.references)
    turn = turn[divided(problem.membership.of(turn))]
    best = np.full(len(problem.targets), USUAL)
    for row, target in enumerate(problem.targets):
        others = problem.references[problem.references != target]
        pretenders = turn[turn != target][:PRETENDERS]
        if len(pretenders) == 0:
            continue
        areas = _areas(spec, replace(problem, targets=pretenders, references=others), queries)
        if len(areas):
            best[row] = GRID[np.argmax(areas.mean(axis=0))]
    return best


def _areas(spec: Rmia, problem: Problem, queries: int) -> Floats:
    """Attack each target with each slope: AUC ``(targets that can be attacked, slopes)``."""
    audited, held_out = ratios.audited(spec, problem, queries), ratios.held_out(spec, problem, queries)
    areas = []
    counted = reference_counts.counts(problem.membership, problem.targets, problem.references)
    for row, (_, outside) in enumerate(counted):
        usable = outside > 0
        members = problem.membership.matrix[problem.targets[row]][usable]
        if members.all() or not members.any():
            continue
        curve = []
        for a in GRID:
            log_x = audited.of(row, a).among(usable)
            log_z = log_x if held_out is None else held_out.of(row, a)
            curve.append(auc(beaten(log_x, log_z, float(np.log(spec.gamma))), members, len(log_z.size)))
        areas.append(curve)
    return np.array(areas).reshape(-1, len(GRID))
