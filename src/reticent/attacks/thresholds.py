"""Thresholds learned on references, one for all classes or one for each.

Paper: Song and Mittal (2021), section 4. The rule is theirs: of the values seen, members' first, the first that
maximises the balanced accuracy of "member if and only if at least as large"; a later one replaces it only if it is
strictly better. A class without members or without non-members takes the threshold of all classes (the released code
makes NaN of it). Deviation: accuracies are compared as whole numbers, so that rounding breaks no tie.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reticent.attacks import leave_one_out
from reticent.attacks.base import Needs, Problem, Rows
from reticent.signals.matrix import Floats

Threshold = Literal["global", "class-wise"]
Values = Iterator[tuple[slice, Floats]]


def needs(spec: Any) -> Needs:
    """Say which references a threshold attack needs."""
    return Needs(references=1 if spec.threshold == "class-wise" else 0)


def score(problem: Problem, threshold: Threshold, values: Callable[[Rows], Values]) -> Floats:
    """Turn values of models, larger for members, into scores ``(T, N)``.

    "global" leaves the values; "class-wise" subtracts, for each target, its references' threshold of the record's
    class, so that zero is the decision of every class.

    Cost: nothing, or one sort of the references' values and O(T R N) whole-number passes.
    """
    together = threshold == "class-wise"
    models = np.union1d(problem.targets, problem.references) if together else problem.targets
    read = np.empty((len(models), problem.signals.records))
    for block, found in values(models):
        read[:, block] = found
    if not together:
        return read
    targets = read[np.searchsorted(models, problem.targets)]
    learned = read[np.searchsorted(models, problem.references)]
    labels = problem.signals.labels
    left_out = leave_one_out.rows(problem.targets, problem.references)
    inside = problem.inside
    overall: Floats | None = None
    for label in np.unique(labels):
        ids = np.flatnonzero(labels == label)
        cuts = _pooled(learned[:, ids], inside[:, ids], left_out)
        if np.isnan(cuts).any():
            overall = _pooled(learned, inside, left_out) if overall is None else overall
            cuts = np.where(np.isnan(cuts), overall, cuts)
        targets[:, ids] -= cuts[:, None]
    return targets


def _pooled(values: Floats, inside: NDArray[np.bool_], left_out: Rows) -> Floats:
    owners = np.repeat(np.arange(len(values)), values.shape[1])
    return _learn(values.ravel(), inside.ravel(), owners, left_out)


def _learn(values: Floats, is_member: NDArray[np.bool_], owners: Rows, left_out: Rows) -> Floats:
    """Learn one threshold for each owner left out, from one sort; NaN where members or non-members are missing."""
    order = np.argsort(values, kind="stable")
    ordered, member, owner = values[order], is_member[order], owners[order]
    fresh = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    first_equal = np.maximum.accumulate(np.where(fresh, np.arange(len(ordered)), 0))
    turn = order + np.where(member, 0, len(order))  # members are tried first, in the order given
    result = np.full(len(left_out), np.nan)
    for i, who in enumerate(left_out):
        keep = owner != who
        train, test = member & keep, ~member & keep
        trained, tested = int(train.sum()), int(test.sum())
        if not (trained and tested):
            continue
        train_below = (np.cumsum(train) - train)[first_equal]
        test_below = (np.cumsum(test) - test)[first_equal]
        accuracy = (trained - train_below) * tested + test_below * trained
        winners = np.flatnonzero(keep & (accuracy == accuracy[keep].max()))
        result[i] = ordered[winners[np.argmin(turn[winners])]]
    return result
