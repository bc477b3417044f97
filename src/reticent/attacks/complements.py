"""Near-complements: references whose training records are nearly those of a target, or nearly all the others.

Where models are trained in complementary pairs, a common design for shadow models, a target has one reference that
shares no record with it. What that model says is the least like the target's, and it is OUT exactly where the target
is IN, so an attack that looks at likeness would read membership off the design. A copy of the target's row does the
same the other way round. Every attack that compares records with references is given neither.

Which rows are near each other says `Membership.likeness`; where units are audited, of the units' membership.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Problem, Rows
from reticent.data.membership import Membership
from reticent.findings.evidence import NearComplements


def complements(drawn: Membership, rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Tell which models are near-complements of which, or copies: ``(K, R)``; a model of itself is neither.

    A row turned into its opposite has the same ones. Cost: O(M^2 N), once a membership.
    """
    return np.asarray((drawn.likeness[np.ix_(rows, others)] != 0) & (rows[:, None] != others[None, :]))


def near_complements(problem: Problem) -> NearComplements | None:
    """State how many targets are not compared with how many references for this; None where all are."""
    near = complements(problem.drawn, problem.targets, problem.references).sum(axis=1)
    return NearComplements(targets=int(np.count_nonzero(near)), references=int(near.max())) if near.any() else None


def compared(problem: Problem) -> list[Rows]:
    """List for each target the references that it is compared with: not itself, nor near-complements of it."""
    near = complements(problem.drawn, problem.targets, problem.references)
    itself = problem.targets[:, None] == problem.references[None, :]
    return [problem.references[left] for left in ~(near | itself)]


def designs(drawn: Membership, targets: Rows, references: Rows) -> Iterator[tuple[Rows, Rows]]:
    """Divide targets by the references that they may be compared with.

    Yields:
        Positions among the targets, and those references: all of them for all targets that have no near-complement,
        in one go, then each of the others by itself.
    """
    near = complements(drawn, targets, references)
    usual = np.flatnonzero(~near.any(axis=1))
    if len(usual):
        yield usual, references
    for row in np.flatnonzero(near.any(axis=1)):
        yield np.array([row]), references[~near[row]]
