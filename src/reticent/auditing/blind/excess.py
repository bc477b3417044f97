"""What attacks find beyond the blind baseline: differences on the same records, by a bootstrap that redraws both."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from reticent.arrays import Bools, Floats
from reticent.auditing.blind.baseline import FOLDS, Baseline, Told
from reticent.auditing.bootstrap import Variance, affordable, crossed_variance, poisson, replicated
from reticent.auditing.comparison.paired import difference
from reticent.auditing.roc import allowed, auc, tpr_at_fpr
from reticent.auditing.training_sets import TrainingSets
from reticent.auditing.weighted_roc import FIXED
from reticent.findings.blind import Excess, ExcessRate
from reticent.findings.numbers import PairedDifference


class Beyond:
    """The blind baseline's replicates, which every attack is held against.

    The bootstrap takes the baseline's scores as they are. What another training of it would change is added: as in the
    baseline's own interval, its variance grows by ``K / (K - 1)`` of what its records give.
    """

    def __init__(
        self, blind: Baseline, members: Bools, fprs: Sequence[float], rng: np.random.Generator, replicates: int
    ) -> None:
        """Draw the replicates.

        Rates that allow no false positive are left out.
        """
        self._blind, self._members = blind, members[np.ix_(blind.targets, blind.ids)]
        fewest = int((~self._members).sum(axis=1).min())
        self._fprs = tuple(fpr for fpr in fprs if allowed(fpr, fewest))
        targets, records = self._members.shape
        self._sets = TrainingSets.of(self._members)
        self._weights = poisson(rng, (records, affordable(replicates, targets, records)))
        ranks = np.stack([_ranks(one) for one in blind.told])
        self._rates = _rates(ranks, self._members, self._fprs)
        values = replicated(ranks, self._members, self._fprs, self._weights)
        areas = [self._areas(one, row) for one, row in zip(blind.told, self._members, strict=True)]
        self._values = np.concatenate([np.stack(areas, axis=1)[:, :, None], values[:, :, len(FIXED) :]], axis=2)

    def _areas(self, told: Told, members: Bools) -> Floats:
        """Compute the mean of the folds' AUCs in every replicate ``(B,)``."""
        parts = [told.folds == fold for fold in range(FOLDS)]
        each = [
            replicated(told.scores[None, part], members[None, part], (), self._weights[part])[:, 0, 0] for part in parts
        ]
        return np.asarray(np.mean(each, axis=0))

    def excess(self, scores: Floats, confidence: float) -> Excess:
        """Hold an attack against the baseline.

        Means over the targets that were looked at.
        """
        rows = scores[np.ix_(self._blind.targets, self._blind.ids)]
        values = replicated(rows, self._members, self._fprs, self._weights)
        values = np.concatenate([values[:, :, :1], values[:, :, len(FIXED) :]], axis=2)
        observed = np.stack([auc(rows, self._members), *_rates(rows, self._members, self._fprs)])
        blind = np.stack([np.array([one.area for one in self._blind.told]), *self._rates])
        found = [self._difference(k, values, observed[k] - blind[k], confidence) for k in range(len(observed))]
        return Excess(
            blind_auc=float(blind[0].mean()),
            auc=found[0],
            rates=tuple(
                ExcessRate(fpr=fpr, blind_tpr=float(blind[k].mean()), tpr=found[k])
                for k, fpr in enumerate(self._fprs, 1)
            ),
        )

    def _difference(self, statistic: int, values: Floats, observed: Floats, confidence: float) -> PairedDifference:
        own = self._values[:, :, statistic]
        each = values[:, :, statistic] - own
        each = np.where(np.isnan(each), observed, each)
        variance = crossed_variance(each, observed, self._sets)
        known = own[~np.isnan(own).all(axis=1)]  # In a redraw of few records a fold may have no non-member left.
        trained = float(np.nanmean(known, axis=1).var(ddof=1)) * FOLDS / (FOLDS - 1)
        variance = Variance(variance.by_records + trained, variance.by_models, variance.training_sets)
        pairs = int(min(self._members.sum(axis=1).min(), (~self._members).sum(axis=1).min()))
        return difference(observed, variance, pairs, confidence)


def _ranks(told: Told) -> Floats:
    """Bring the folds to one scale: each record's rank in its own fold, from 0 to 1."""
    ranks = np.empty(len(told.scores))
    for fold in range(FOLDS):
        part = told.folds == fold
        ranks[part] = rankdata(told.scores[part]) / (part.sum() + 1)
    return ranks


def _rates(scores: Floats, members: Bools, fprs: Sequence[float]) -> list[Floats]:
    """Compute the TPR of each target at each rate."""
    return [np.array([tpr_at_fpr(row, own, fpr).tpr for row, own in zip(scores, members, strict=True)]) for fpr in fprs]
