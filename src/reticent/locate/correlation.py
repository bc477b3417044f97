"""How two scores of the same weights agree: Pearson, Pearson of the logarithms, Spearman; and shares, all by blocks.

Pearson's correlation of scores with heavy tails is that of few weights, so the other two stand beside it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata
from torch import Tensor

from reticent.locate.scoring import BLOCK

EXACT = 2**23
"""So many entries are ranked exactly. Above, scores that agree in their first 13 binary digits count as equal, which
moves Spearman's correlation by less than one in ten thousand."""
SHIFT = 11
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """How two scores agree over some weights.

    Attributes:
        positive: weights with two scores above zero, which the logarithm needs.
        pearson: None, as the next two, where a score does not vary.
        log_pearson: correlation of the logarithms.
        spearman: of the ranks, ties at their mean rank.
    """

    entries: int
    positive: int
    pearson: float | None
    log_pearson: float | None
    spearman: float | None


@dataclass
class Moments:
    """Means and centred products of pairs, added up block by block (Chan et al., 1979), in float64."""

    count: int = 0
    mean: Floats = field(default_factory=lambda: np.zeros(2))
    products: Floats = field(default_factory=lambda: np.zeros((2, 2)))

    def add(self, x: Floats, y: Floats) -> None:
        """Add pairs."""
        if not len(x):
            return
        both = np.stack([x, y])
        mean = both.mean(axis=1)
        centred = both - mean[:, None]
        total, shift = self.count + len(x), mean - self.mean
        self.products += centred @ centred.T + np.outer(shift, shift) * (self.count * len(x) / total)
        self.mean = self.mean + shift * (len(x) / total)
        self.count = total

    @property
    def correlation(self) -> float | None:
        """Pearson's correlation, or None where one side does not vary."""
        variances = self.products[0, 0], self.products[1, 1]
        least = 1e-24 * self.count * np.square(self.mean)
        if self.count < 2 or variances[0] <= least[0] or variances[1] <= least[1]:
            return None
        value = self.products[0, 1] / math.sqrt(variances[0]) / math.sqrt(variances[1])
        return float(np.clip(value, -1, 1))


def agreement(a: Mapping[str, Tensor], b: Mapping[str, Tensor], names: Sequence[str]) -> Agreement:
    """Measure how two scores agree over some parameters.

    Cost: three passes over the scores; memory of some blocks, and where entries are ranked exactly a copy of those.
    """
    plain, logs = Moments(), Moments()
    for x, y in pairs(a, b, names):
        plain.add(x, y)
        known = (x > 0) & (y > 0)
        logs.add(np.log(x[known]), np.log(y[known]))
    return Agreement(plain.count, logs.count, plain.correlation, logs.correlation, _spearman(a, b, names))


def pairs(a: Mapping[str, Tensor], b: Mapping[str, Tensor], names: Sequence[str]) -> Iterator[tuple[Floats, Floats]]:
    """Visit two scores side by side, a block at a time."""
    for name in names:
        parts = (torch.split(side[name].detach().reshape(-1), BLOCK) for side in (a, b))
        for x, y in zip(*parts, strict=True):
            yield _array(x), _array(y)


def total(scores: Mapping[str, Tensor], names: Sequence[str], mask: Mapping[str, Tensor] | None = None) -> float:
    """Add scores up, in float64."""
    parts = [scores[name] if mask is None else scores[name][mask[name]] for name in names]
    return math.fsum(float(torch.sum(part, dtype=torch.float64)) for part in parts)


def _array(block: Tensor) -> Floats:
    found: Floats = block.double().cpu().numpy()
    return found


def _spearman(a: Mapping[str, Tensor], b: Mapping[str, Tensor], names: Sequence[str]) -> float | None:
    ranks = Moments()
    if sum(a[name].numel() for name in names) <= EXACT:
        parts = list(pairs(a, b, names))
        if parts:
            ranks.add(*(rankdata(np.concatenate(side)) for side in zip(*parts, strict=True)))
        return ranks.correlation
    tables = [_mid_ranks(side, names) for side in (a, b)]
    for name in names:
        for x, y in zip(_bins(a[name]), _bins(b[name]), strict=True):
            ranks.add(tables[0][x], tables[1][y])
    return ranks.correlation


def _bins(scores: Tensor) -> Iterator[NDArray[np.int64]]:
    """Give each score the number of its bin, a block at a time: its first binary digits, in the order of the scores."""
    for block in torch.split(scores.detach().reshape(-1), BLOCK):
        raw = (block.to("cpu", torch.float32) + 0.0).view(torch.int32).to(torch.int64)  # Both zeros are one number.
        found: NDArray[np.int64] = ((torch.where(raw < 0, raw ^ (2**31 - 1), raw) + 2**31) >> SHIFT).numpy()
        yield found


def _mid_ranks(scores: Mapping[str, Tensor], names: Sequence[str]) -> Floats:
    """Count the scores by their first binary digits; the mean rank of those with the same digits."""
    counts = np.zeros(2 ** (32 - SHIFT), dtype=np.int64)
    for name in names:
        for bins in _bins(scores[name]):
            counts += np.bincount(bins, minlength=len(counts))
    found: Floats = np.cumsum(counts) - (counts - 1) / 2
    return found
