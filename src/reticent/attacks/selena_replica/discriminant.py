"""Several tests whose shifts are learned (`random_effects`), and how much each of them counts.

Several features of one answer are dependent, and none is quite normal. So each is tested alone, and how much each test
counts is learned on the references, each judged as a target is, itself left out: a linear discriminant (Fisher, 1936).
"""

from collections.abc import Sequence

import numpy as np

from reticent.attacks import leave_one_out
from reticent.attacks.leave_one_out import Mask
from reticent.attacks.random_effects import FLOOR, Pair, RandomEffects
from reticent.attacks.selena_replica.replicas import Seen
from reticent.signals.matrix import Floats


class Sums:
    """What the references of one target say, summed over records one after the other: blocks change no bit."""

    def __init__(self, features: int) -> None:
        """Start at zero."""
        self._total = np.zeros(4 * features + 5)

    def add(self, seen: Seen) -> None:
        """Take a block in."""
        rows = []
        for values in seen.references:
            inside, outside = _centred(values, seen.inside), _centred(values, seen.outside)
            shift = inside[0] - outside[0]
            rows += [inside[1], outside[1], shift, shift**2]
        counts = [mask.sum(axis=0).astype(np.float64) for mask in (seen.inside, seen.outside)]
        rows += [count - 1 for count in counts] + [1 / count for count in counts] + [np.ones_like(counts[0])]
        self._total = leave_one_out.added(self._total, np.stack(rows))

    def effects(self) -> list[RandomEffects]:
        """Return how each feature behaves."""
        free_in, free_out, *counts = self._total[-5:]
        found = []
        for inside, outside, *shifts in self._total[:-5].reshape(-1, 4):
            variances = max(FLOOR, inside / max(free_in, 1.0)), max(FLOOR, outside / max(free_out, 1.0))
            found.append(RandomEffects.learned(variances, [*shifts, *counts]))
        return found


class Discriminant:
    """How much each feature's test counts, learned on the references of one target."""

    def __init__(self, effects: Sequence[RandomEffects]) -> None:
        """Start with no record."""
        self._effects = effects
        self._total = np.zeros((2, 1 + len(effects) + len(effects) ** 2))

    def judge(self, seen: Seen) -> Floats:
        """Judge the target by each feature, and its references for `weights`."""
        masks = seen.inside, seen.outside
        counts = tuple(mask.sum(axis=0).astype(np.float64) for mask in masks)
        target, ratios = [], []
        for effect, value, values in zip(self._effects, seen.target, seen.references, strict=True):
            centres = tuple(_centred(values, mask)[0] for mask in masks)
            target.append(effect.ratio(value, (centres[0], centres[1]), (counts[0], counts[1])))
            # As if each reference were the target: its own kind has lost it.
            left = [(c * k - values) / np.maximum(k - 1, 1) for c, k in zip(centres, counts, strict=True)]
            fewer = [np.maximum(k - 1, 1) for k in counts]
            ratios.append((
                effect.ratio(values, (left[0], centres[1]), (fewer[0], counts[1])),
                effect.ratio(values, (centres[0], left[1]), (counts[0], fewer[1])),
            ))
        for kind, mask in enumerate(masks):
            one = [np.where(mask, ratio[kind], 0.0) for ratio in ratios]
            rows = [mask.astype(np.float64), *one, *(first * second for first in one for second in one)]
            self._total[kind] = leave_one_out.added(
                self._total[kind], np.stack([leave_one_out.total(row) for row in rows])
            )
        return np.stack(target)

    def weights(self) -> Floats:
        """Return the weights of the features.

        The covariance of references' ratios, inverse, times IN less OUT means.
        """
        size = len(self._effects)
        if size == 1:
            return np.ones(1)
        means, covariances = [], []
        for total in self._total:
            mean = total[1 : size + 1] / total[0]
            means.append(mean)
            covariances.append(total[size + 1 :].reshape(size, size) / total[0] - np.outer(mean, mean))
        return np.asarray(np.linalg.pinv((covariances[0] + covariances[1]) / 2, rcond=1e-10) @ (means[0] - means[1]))


def _centred(values: Floats, mask: Mask) -> Pair:
    """Return the mean of the masked references, ``(n,)``, and the sum of their squared deviations."""
    count = mask.sum(axis=0)
    centre = leave_one_out.total(np.where(mask, values, 0.0)) / count
    return centre, leave_one_out.total(np.where(mask, values - centre, 0.0) ** 2)
