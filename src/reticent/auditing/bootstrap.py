"""The bootstrap over models and records: how far the means over targets would move with other models and other records.

One replicate draws T targets with replacement, and one set of record weights that all targets share (records are
crossed with models: every model answers for the same records). Weights are independent counts that are nearly
Poisson(1), the usual stand-in for multinomial ones (Hanley and MacGibbon 2006).

Resampling both ways counts three times the noise that belongs to a model and a record together (Owen 2007, "The
pigeonhole bootstrap"), which is most of it where there is little to find. The replicates themselves show how much that
is, so the interval keeps their shape (an AUC's is made of the variance alone) and is scaled to the unbiased variance

    V = var(mean over the same targets, records redrawn) + max(0, 2 s^2 - mean s*^2) / T,

``s^2`` being the variance between targets and ``s*^2`` the same in a replicate. Where some targets are of one training
set, as checkpoints of one run are, the second term is larger (`TrainingSets.by_models`). Whether models differ is seen
from the spread of D training sets alone, so Student's quantile with D - 1 degrees of freedom replaces the normal one,
also where the second term comes out as 0: few targets often look alike by chance. (Satterthwaite's degrees by the
share of the second term take that for knowledge: of five models that differ as much as records make them, 9 % of AUCs
were above, or below, their interval on one side in place of 2.5 %, and 3 % in place of 0.25 %.)
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from reticent import scratch, threads
from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.intervals import area_interval, degenerate, exact_interval, percentile, tail
from reticent.auditing.sorted_scores import Ranked
from reticent.auditing.training_sets import TrainingSets
from reticent.auditing.weighted_roc import FIXED, Weights, rank, statistics
from reticent.findings.numbers import ShareEstimate

CELLS = 4 * 10**9
"""Replicates times targets times records that are evaluated at most (some ten seconds)."""
AREA = FIXED.index("auc")
NO_SPREAD = 1e-18
"""A variance that is rounding and no more."""
MANY = 1e9
"""Degrees of freedom from which Student's law is the normal one."""
FEWEST = 100
"""Replicates that are drawn whatever their cost; the least that may be asked for."""
RANKED = 2**23
"""Records of targets whose order is held at once."""
BLOCK_CELLS = 2**20
"""Weights held at once, each one byte."""
BLOCK_COLUMNS = 32, 512
"""Replicates held at once, whatever the number of records: at least, and at most."""
# The weight is the number of these that a random byte reaches: 0 to 5 have 94, 95, 46, 16, 4 and 1 of the 256 values.
_BYTES = 2**18
_STEPS = np.array([94, 189, 235, 251, 255], dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Replicates of each statistic, for each target.

    Attributes:
        values: ``(B, T, S)``: replicate, target, statistic: as `FIXED`, then the rates.
        drawn: ``int64 (B, T)``, how often each replicate takes each target.
        training_sets: what the targets count for.
    """

    values: Floats
    drawn: Ints
    training_sets: TrainingSets

    @property
    def over(self) -> str:
        """What was drawn again: "models and records", or "records" for targets of one training set."""
        return "models and records" if self.training_sets.count > 1 else "records"

    @property
    def replicates(self) -> int:
        """Number of replicates B that were drawn."""
        return len(self.values)

    def estimate(self, statistic: int, observed: Floats, pairs: int, confidence: float) -> ShareEstimate:
        """Estimate the mean over targets of one statistic; of an AUC, the interval is on the logit scale.

        `statistic` is a column of `values`, and `observed` the same on the records as they are. So many `pairs`, the
        smaller group that the statistic is about, bound the mean where nothing varies. The interval of a rate of one
        training set holds Clopper and Pearson's as well. All lie within [0, 1]; the degrees of freedom of the variance
        behind an interval are None where the normal quantile serves, or where nothing varies.
        """
        values, mean = self.replicated(statistic, observed), float(observed.mean())
        std = float(observed.std(ddof=1)) if len(observed) > 1 else None
        means = (self.drawn * values).sum(axis=1) / values.shape[1]
        spread = float(means.var(ddof=1))
        if spread <= NO_SPREAD:
            return ShareEstimate(mean=mean, std=std, interval=degenerate(mean, pairs, confidence))
        found = crossed_variance(values, observed, self.training_sets)
        freedom = found.freedom if found.freedom < MANY else None
        if statistic == AREA:
            interval = area_interval(mean, found.total, freedom, pairs, confidence)
            return ShareEstimate(mean=mean, std=std, interval=interval, freedom=freedom)
        scale = (found.total / spread) ** 0.5 * found.student(confidence)
        low, high = percentile(mean + (means - means.mean()) * scale, confidence)
        interval = max(0.0, min(mean, float(low))), min(1.0, max(mean, float(high)))
        # Of a few hits alone, replicates lie on one side of 0.
        if statistic >= len(FIXED) and self.training_sets.count == 1:
            exact = exact_interval(round(mean * pairs), pairs, confidence)
            interval = min(interval[0], exact[0]), max(interval[1], exact[1])
        return ShareEstimate(mean=mean, std=std, interval=interval, freedom=freedom)

    def replicated(self, statistic: int, observed: Floats) -> Floats:
        """Replicates of one statistic, ``(B, T)``; the observed value where records of a kind are missing."""
        values = self.values[:, :, statistic]
        return np.where(np.isnan(values), observed, values)


@dataclass(frozen=True)
class Variance:
    """The variance of a mean over targets of so many training sets: of other records, and of other targets."""

    by_records: float
    by_models: float
    training_sets: int

    @property
    def total(self) -> float:
        """The unbiased variance V."""
        return self.by_records + self.by_models

    @property
    def freedom(self) -> float:
        """Degrees of freedom of Student's law: those of a spread between targets; `MANY` for one target."""
        return self.training_sets - 1.0 if self.training_sets > 1 else MANY

    def student(self, confidence: float) -> float:
        """Divide Student's quantile by the normal one."""
        alpha = tail(confidence)
        return float(stdtrit(self.freedom, alpha) / ndtri(alpha)) if self.freedom < MANY else 1.0


def crossed_variance(values: Floats, observed: Floats, sets: TrainingSets | None = None) -> Variance:
    """Estimate the variance V of a mean over targets (see above), from replicates of the records.

    From ``(B, T)`` replicates of the targets' statistics, and the statistics on the records as they are; by default
    each target has a training set of its own.
    """
    targets, spread = len(observed), np.array(0.0)
    if targets > 1:
        spread = 2 * observed.var(ddof=1) - values.var(axis=1, ddof=1).mean()
    sets = sets or TrainingSets.apart(targets)
    return Variance(float(values.mean(axis=1).var(ddof=1)), float(sets.by_models(spread)), sets.count)


def affordable(replicates: int, targets: int, records: int) -> int:
    """Say how many replicates are drawn: as asked, but at most `CELLS` / (T N), and then at least `FEWEST`."""
    return min(replicates, max(FEWEST, CELLS // (targets * records)))


def poisson(rng: np.random.Generator, shape: tuple[int, int]) -> Weights:
    """Draw counts that stand in for Poisson(1) ones, each from one random byte.

    Probabilities are rounded to 1/256 such that mean and variance stay exactly 1; the third central moment is 0.984 in
    place of 1, and no probability is off by more than 0.0045. Of any shape: whole numbers from 0 to 5.
    """
    weights = np.empty(shape, dtype=np.uint8)
    flat = weights.reshape(-1)
    reached = np.empty(_BYTES, dtype=np.bool_)
    for start in range(0, len(flat), _BYTES):
        part = flat[start : start + _BYTES]
        bits = rng.integers(0, 2**64, size=-(-len(part) // 8), dtype=np.uint64).view(np.uint8)[: len(part)]
        np.greater_equal(bits, _STEPS[0], out=part.view(np.bool_))
        for step in _STEPS[1:]:
            np.greater_equal(bits, step, out=reached[: len(part)])
            np.add(part, reached[: len(part)].view(np.uint8), out=part)
    return weights


def bootstrap(
    scores: Floats,
    members: Bools,
    fprs: tuple[float, ...],
    replicates: int,
    rng: np.random.Generator,
    thresholds: Floats | None = None,
    *,
    oracle: bool = True,
    look: Callable[[int, Ranked], None] = lambda t, ranked: None,
) -> Bootstrap:
    """Draw the replicates of every statistic of every target.

    The same state of the generator gives the same replicates. `thresholds` ``(T,)`` were chosen elsewhere; the
    `oracle`, each replicate's best threshold, takes a third of the time; `look` is shown every target's records in
    order, since they are sorted here.

    Cost: T sorts, then O(B T N) additions: 0.3 s for B = 1000, T = 1 and N = 50,000; some targets a core. Memory: O(N +
    B T), the order of `RANKED` records, and some blocks of `BLOCK_CELLS` weights.
    """
    targets, records = scores.shape
    count = affordable(replicates, targets, records)
    drawn = rng.multinomial(targets, np.full(targets, 1 / targets), size=count)
    begun, ended = copy.deepcopy(rng), rng

    def weights() -> Iterator[Weights]:
        nonlocal ended
        ended = own = copy.deepcopy(begun)
        return (poisson(own, (records, block.stop - block.start)) for block in _blocks(records, count))

    values = _evaluated(scores, members, fprs, weights, thresholds, oracle=oracle, look=look)
    rng.bit_generator.state = ended.bit_generator.state
    return Bootstrap(values, drawn, TrainingSets.of(members))


def replicated(scores: Floats, members: Bools, fprs: tuple[float, ...], weights: Weights) -> Floats:
    """Compute AUC and rates of every target under given weights, so that other statistics can share them.

    By weights ``(N, B)``, as `poisson` draws them: ``(B, T, S)``, statistics as in `Bootstrap`, without the oracle; NaN
    where records of a kind are missing.
    """

    def blocks() -> Iterator[Weights]:
        return (weights[:, block] for block in _blocks(*weights.shape))

    return _evaluated(scores, members, fprs, blocks, None, oracle=False)


def _evaluated(
    scores: Floats,
    members: Bools,
    fprs: tuple[float, ...],
    weights: Callable[[], Iterator[Weights]],
    thresholds: Floats | None,
    *,
    oracle: bool,
    look: Callable[[int, Ranked], None] = lambda t, ranked: None,
) -> Floats:
    """Evaluate every target under all blocks of weights, ``(B, T, S)``, some targets at once, from the same weights."""
    given = [None] * len(scores) if thresholds is None else thresholds.tolist()
    found: list[list[Floats]] = [[] for _ in given]

    def evaluate(some: range) -> None:
        rankings = []
        for t in some:
            ranked = Ranked.of(scores[t], members[t])
            look(t, ranked)
            rankings.append(rank(ranked, given[t]))
        scratch.release(scores)
        for block in weights():
            for t, ranking in zip(some, rankings, strict=True):
                found[t].append(statistics(ranking, block, fprs, oracle=oracle).T)

    step = max(1, RANKED // scores.shape[1])
    parts = (range(len(given))[t : t + step] for t in range(0, len(given), step))
    threads.each(evaluate, parts, scores.size, step="bootstrap")
    return np.stack([np.concatenate(one) for one in found], axis=1)


def _blocks(records: int, replicates: int) -> Iterator[slice]:
    step = min(max(BLOCK_COLUMNS[0], BLOCK_CELLS // records // 16 * 16), BLOCK_COLUMNS[1])
    for start in range(0, replicates, step):
        yield slice(start, min(start + step, replicates))
