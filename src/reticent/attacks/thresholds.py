"""Thresholds learned on references, one for all classes or one for each.

Paper: Song and Mittal (2021), section 4. The rule is theirs: of the values seen, members' first, the first that
maximises the balanced accuracy of "member if and only if at least as large"; a later one replaces it only if it is
strictly better. A class without members or without non-members takes the threshold of all classes (the released code
makes NaN of it). Deviation: accuracies are compared as whole numbers, so that rounding breaks no tie.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent.attacks import _leave_one_out
from reticent.attacks.base import Needs, Problem, Rows
from reticent.errors import InputError
from reticent.signals.matrix import Floats

Threshold = Literal["global", "class-wise"]


def best(train: ArrayLike, test: ArrayLike) -> float:
    """Find the threshold that tells members from non-members best.

    Example:
        >>> best([0.9, 0.8, 0.6], [0.7, 0.5, 0.4])
        0.8
    """
    members, others = np.ravel(np.asarray(train, dtype=np.float64)), np.ravel(np.asarray(test, dtype=np.float64))
    if not (len(members) and len(others)):
        raise InputError(f"train, test: expected values of both, got {len(members)} and {len(others)}")
    is_member = np.arange(len(members) + len(others)) < len(members)
    owners = np.zeros(len(is_member), dtype=np.int64)
    return float(_learn(np.concatenate([members, others]), is_member, owners, np.array([-1]))[0])


def needs(threshold: Threshold) -> Needs:
    """Say which references a threshold attack needs."""
    return Needs(references=1 if threshold == "class-wise" else 0)


def read(problem: Problem, threshold: Threshold) -> Rows:
    """List the models whose values a threshold attack needs."""
    return problem.targets if threshold == "global" else np.union1d(problem.targets, problem.references)


def apply(values: Floats, models: Rows, problem: Problem, threshold: Threshold) -> Floats:
    """Turn the values of `read`'s models into scores.

    Args:
        values: ``(len(models), N)``, larger for members.
        models: what `read` gave.
        problem: the problem.
        threshold: "global" leaves the values; "class-wise" subtracts, for each target, its references' threshold of the
            record's class, so that zero is the decision of every class.

    Returns:
        ``(T, N)``.

    Cost: nothing, or one sort of the references' values and O(T R N) whole-number passes.
    """
    if threshold == "global":
        return values
    targets = values[np.searchsorted(models, problem.targets)]
    learned = values[np.searchsorted(models, problem.references)]
    labels = problem.signals.labels
    left_out = _leave_one_out.rows(problem.targets, problem.references)
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
