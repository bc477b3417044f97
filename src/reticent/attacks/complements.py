"""Near-complements: references whose training records are nearly those of a target, or nearly all the others.

Where models are trained in complementary pairs, a common design for shadow models, a target has one reference that
shares no record with it. What that model says is the least like the target's, and it is OUT exactly where the target
is IN, so an attack that looks at likeness would read membership off the design. A copy of the target's row does the
same the other way round. Every attack that compares records with references is given neither.

A reference is left out where the correlation of the two rows is further from zero than one half (rows of equal halves
then agree on fewer than a quarter of the records, or on more than three quarters) and than chance takes it:
``1 / (M - 1) + 5 / sqrt(4 q (1 - q) N)``, of which the first is what exact halves of M models have, and q is the share
of members in the row that is further from a half. Where units are audited, N is their number. None of 20,000 random
exact-half memberships of 8 models and 60 records had such a pair (`tests/attacks/test_complements.py` draws some). With
few records (below 57 for 4 models, 35 for 8) no pair can be told from chance, and none is left out.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Problem, Rows
from reticent.data.membership import Membership
from reticent.findings.evidence import NearComplements

FAR = 0.5
"""Correlation of two rows up to which a design says little of one from the other."""
CHANCE = 5.0
"""Standard deviations up to which a correlation is put down to chance."""


def complements(drawn: Membership, rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Tell which models are near-complements of which, or copies: ``(K, R)``; a model of itself is neither.

    A row turned into its opposite has the same ones. Cost: O(M^2 N), once a membership.
    """
    models, records = drawn.matrix.shape
    both = drawn.shared[np.ix_(rows, others)]
    share = drawn.matrix.mean(axis=1)
    variance = share * (1 - share)
    first, second = variance[rows][:, None], variance[others][None, :]
    told = np.sqrt(np.where(first * second > 0, first * second, np.inf))  # A row of one kind is like no other.
    correlation = np.abs(both / records - np.outer(share[rows], share[others])) / told
    least = np.where(np.isinf(told), 1.0, np.minimum(first, second))
    far = correlation > np.maximum(FAR, 1 / max(1, models - 1) + CHANCE / np.sqrt(4 * least * records))
    return np.asarray(far & (rows[:, None] != others[None, :]))


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
