"""Where a probe's accuracy stops to grow: gains between stages before a place and from it on, there and elsewhere."""

from collections.abc import Sequence

import numpy as np

from reticent.studies.numbers import Estimate, Floats


def share(value: float, records: int) -> Estimate:
    """Take a share of records, with its binomial error; one that is 0 or 1 errs as if one record were otherwise.

    The error is of the records alone, with the network as it is.
    """
    kept = min(max(value, 1 / records), 1 - 1 / records)
    return Estimate(value, (kept * (1 - kept) / records) ** 0.5, partial=True)


def places(stages: int) -> range:
    """List where an onset can be held against the probe: with a gain between stages before it, and one from it on."""
    return range(2, stages)


def levelling(levels: Sequence[float], onset: int, records: int) -> Estimate:
    """Compare how much the probe gains a stage before the onset and from it on."""
    return _weighed(levels, _weights(len(levels), onset), records)


def rivals(levels: Sequence[float], onset: int, records: int) -> dict[int, Estimate]:
    """Compare that difference at the onset with what it is at each other place: any curve that flattens has some."""
    own = _weights(len(levels), onset)
    others = {place: own - _weights(len(levels), place) for place in places(len(levels)) if place != onset}
    return {place: _weighed(levels, weights, records) for place, weights in others.items()}


def _weights(stages: int, onset: int) -> Floats:
    """Write the mean gain before a place less that from it on as weights of the accuracies."""
    weights = np.zeros(stages)
    before, after = onset - 1, stages - onset
    weights[0] -= 1 / before
    weights[onset - 1] += 1 / before + 1 / after
    weights[-1] -= 1 / after
    return weights


def _weighed(levels: Sequence[float], weights: Floats, records: int) -> Estimate:
    errors = np.array([share(level, records).error for level in levels])
    return Estimate(float(weights @ np.asarray(levels)), float(np.linalg.norm(weights * errors)), partial=True)
