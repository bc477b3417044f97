"""The slope of offline RMIA, chosen on references that play the target; never on a target."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reticent.attacks import _references, _rmia_ratio
from reticent.attacks._rmia_counts import auc, beaten
from reticent.attacks.base import Problem
from reticent.errors import TooFewReferencesError
from reticent.signals.matrix import Floats

if TYPE_CHECKING:
    from reticent.attacks.rmia import Rmia

GRID = np.linspace(0, 1, 11)
"""The slopes tried."""
PRETENDERS = 4
"""How many references play the target, for each target."""


def slopes(spec: "Rmia", problem: Problem, queries: int, *, population: bool, rng: np.random.Generator) -> Floats:
    """Choose for each target the slope that attacks some of its references best.

    A reference that plays the target is attacked with the others, the target itself left out of everything, so that the
    target's membership row has no part in the choice.

    Args:
        spec: the options of RMIA.
        problem: the problem.
        queries: how many queries are used.
        population: whether records are compared with the population or with each other.
        rng: draws which references play the target.

    Returns:
        ``(T,)``: the smallest of the slopes with the largest mean AUC.

    Raises:
        TooFewReferencesError: a target's references are too few for one of them to be attacked with the rest.

    Cost: for each target a pass over the signals and 44 counts.
    """
    turn = rng.permutation(problem.references)
    chosen = np.empty(len(problem.targets))
    for row, target in enumerate(problem.targets):
        others = problem.references[problem.references != target]
        pretenders = turn[turn != target][:PRETENDERS]
        areas = _areas(spec, replace(problem, targets=pretenders, references=others), queries, population=population)
        if len(areas) == 0:
            raise TooFewReferencesError(
                f"rmia: a='auto' expected references that can be attacked with the other references, got {len(others)} "
                f"references for target {target}, none of which can: train more models, or give a number for a, say 0.3"
            )
        chosen[row] = GRID[np.argmax(areas.mean(axis=0))]
    return chosen


def _areas(spec: "Rmia", problem: Problem, queries: int, *, population: bool) -> Floats:
    """Attack each target with each slope: AUC ``(targets that can be attacked, slopes)``."""
    audited = _rmia_ratio.audited(spec, problem, queries)
    held_out = _rmia_ratio.held_out(spec, problem, queries) if population else None
    areas = []
    for row, (_, outside) in enumerate(_references.counts(problem.membership, problem.targets, problem.references)):
        usable = outside > 0
        members = problem.membership.matrix[problem.targets[row]][usable]
        if members.all() or not members.any():
            continue
        curve = []
        for a in GRID:
            log_x = audited.logs(a, spec.epsilon).of(row, usable)
            log_z = log_x if held_out is None else held_out.logs(a, spec.epsilon).of(row)
            counts = beaten(log_x, log_z, float(np.log(spec.gamma)))
            curve.append(auc(counts, members, len(log_z.size)))
        areas.append(curve)
    return np.array(areas).reshape(-1, len(GRID))
