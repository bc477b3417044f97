"""LiRA: how much likelier is the target's margin under models that saw the record than under models that did not.

Paper: Carlini et al. (2022), "Membership inference attacks from first principles", algorithm 1 (online) and section
IV-E (offline). Deviations: the shared ("pooled") variance is the one within records, so that the spread between records
does not enter it; a record's own variance is the unbiased one, since a balanced membership would otherwise give the
target's row away through the number of references; offline, several queries are combined by their mean z-score, which
does not saturate; where members and non-members of a target differ by one reference, one is dropped (`balance`). What
the authors' code computes is `lira-released`.

A centre that is learned from k references misses a fresh margin by a variance of 1 + 1/k, not 1. The factor is not put
into the logarithm of the variance: where counts differ, it would depend on them alone there, and they can give the
membership away. The pooled variance is of all references: it is one number a target.
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from reticent.attacks import leave_one_out, reference_counts, sides
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.random_effects import FLOOR, RandomEffects
from reticent.attacks.sides import Compared, Side
from reticent.errors import SpecError
from reticent.signals.matrix import Floats
from reticent.spec import Spec

ENOUGH = 32
"""IN and OUT references for every record, from which "auto" gives a record variances of its own (64 models)."""
FEWEST = 4
"""References of a kind, below which a record's own variance is refused."""


class Lira(Spec):
    """Options of LiRA."""

    method: ClassVar[str] = "lira"

    mode: Literal["online", "offline"] = "online"
    """Compare IN with OUT references, or test against OUT references alone, one-sided."""
    variance: Literal["auto", "per-record", "pooled"] = "auto"
    """A variance for each record, or one for all; "auto" is per-record from 32 IN and 32 OUT references on."""
    centre: Literal["mean", "median"] = "mean"
    """Centre of the references' margins."""
    queries: Annotated[int, Ge(1)] | None = None
    """How many queries of a record are used; by default all."""
    uncertainty: Literal["centre", "none"] = "centre"
    """Whether a centre learned from k references counts as uncertain: residuals are judged by a variance 1 + 1/k times
    as large (about 1 + pi/2k for a median). The paper has none; see the module's text."""
    shift: Literal["own", "shared"] = "own"
    """Where a record's centres come from: its own references alone, as in the paper, or also from what IN less OUT is
    over all records, by as much as the record's own references leave open. "shared" finds more where models are few,
    and is "own" where a record has variances of its own; it is not the paper's, and takes means and the online mode."""


def needs(spec: Lira) -> Needs:
    """Say which references it needs."""
    if spec.shift == "shared":
        others = {"mode": "offline", "variance": "per-record", "centre": "median", "uncertainty": "none"}
        for key, value in others.items():
            if getattr(spec, key) == value:
                raise SpecError(f"lira: shift = shared does not go with {key} = {value}: leave one of them out")
    least = FEWEST if spec.variance == "per-record" else 1
    return Needs(references_in=0 if spec.mode == "offline" else least, references_out=least)


def score(spec: Lira, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by its log-likelihood ratio (online) or its z-score (offline), a mean over queries.

    Cost: O((R + T) N Q) for all targets, plus a sort of the references for medians; the signals are read once, and once
    more for a pooled variance. Memory: the scores and a block. Targets whose counts of references differ by more than
    one cost O(R N Q) each.
    """
    queries = spec.queries or problem.signals.queries
    own = _own_variance(spec, problem)
    pooled, effects = (np.ones((2, len(own), queries)), None) if own.all() else _pooled(spec, problem, queries)

    def ratio(one: Compared) -> Floats:
        effect = None if effects is None else effects[one.query].of(one.targets)
        return _against(spec, one, own[one.targets], pooled[:, one.targets, one.query], effect)

    return sides.averaged(problem, queries, ratio, online=spec.mode == "online")


def _against(spec: Lira, one: Compared, own: NDArray[np.bool_], pooled: Floats, effect: RandomEffects | None) -> Floats:
    """Hold targets against OUT references, or against IN and OUT ones, on one block, ``(T, n)``."""
    if effect is not None and not own.all():
        inside, outside = one.sides
        counts = np.maximum(inside.count, 1), np.maximum(outside.count, 1)
        shared = effect.ratio(one.target, (inside.mean, outside.mean), counts)
        return np.where(own[:, None], _against(spec, one, own, pooled, None), shared) if own.any() else shared
    residual, variance = _residual(spec, one.sides[-1], one.target), _variance(one.sides[-1], own, pooled[1])
    if len(one.sides) == 1:
        return residual / np.sqrt(variance)
    result = 0.5 * (residual**2 / variance + np.log(variance))
    residual, variance = _residual(spec, one.sides[0], one.target), _variance(one.sides[0], own, pooled[0])
    result -= 0.5 * (residual**2 / variance + np.log(variance))
    return result


def _residual(spec: Lira, side: Side, target: Floats) -> Floats:
    """Return how far the targets are from the centre, over what its uncertainty adds to it, ``(T, n)``."""
    median = spec.centre == "median"
    distance = target - (side.medians() if median else side.mean)
    if spec.uncertainty == "none":
        return distance
    count = np.maximum(side.count, 1)
    return np.asarray(distance / np.sqrt(1 + (_median_variance(count) if median else 1 / count)))


def _variance(side: Side, own: NDArray[np.bool_], pooled: Floats) -> Floats:
    """Return, for each target, the records' own variances or the pooled one, ``(T, n)`` or ``(T, 1)``."""
    shared = np.maximum(pooled, FLOOR)[:, None]
    if not own.any():
        return shared
    each = np.maximum(side.squares() / np.maximum(side.count - 1, 1), FLOOR)
    return each if own.all() else np.where(own[:, None], each, shared)


def _median_variance(count: Floats) -> Floats:
    """Return the variance of the median of k standard normal values, ``pi / 2k`` for large k.

    Exact for k = 1 and 2, within 2.5 % for others (odd and even k lie on two curves).
    """
    return np.asarray(np.pi / (2 * count + np.where(count % 2 == 1, np.pi - 2, 2 * np.pi - 4)))


def _own_variance(spec: Lira, problem: Problem) -> NDArray[np.bool_]:
    """Say for each target whether records have variances of their own ``(T,)``."""
    if spec.variance != "auto":
        return np.full(len(problem.targets), spec.variance == "per-record")
    least = []
    for inside, outside in reference_counts.counts(problem.membership, problem.targets, problem.references):
        least.append(outside.min() if spec.mode == "offline" else min(inside.min(), outside.min()))
    return np.array(least) >= ENOUGH


def _pooled(spec: Lira, problem: Problem, queries: int) -> tuple[Floats, list[RandomEffects] | None]:
    """Pool the variance within records, ``(2, T, Q)`` for IN and OUT; for a shared shift, also its effects by query.

    A kind that has no two references of one record takes the other kind's variance; if neither has, both are 1 (with
    one common variance, no value changes the ranking of one query), and no shift is shared: what is noise is not known.
    """
    squares = np.zeros((2, len(problem.targets), queries))
    freedom = np.zeros((2, len(problem.targets), 1))
    shifts = [_Shifts(len(problem.targets)) for _ in range(queries)] if spec.shift == "shared" else None
    rows = leave_one_out.rows(problem.targets, problem.references)
    for block in (block for part in sides.slices(problem) for block in sides.blocks(problem, queries, part)):
        both = [Side(rows, block.references, mask) for mask in (block.inside, ~block.inside)]
        for kind, side in enumerate(both):
            if kind == 0 and spec.mode == "offline":
                continue
            squares[kind, :, block.query] = leave_one_out.added(squares[kind, :, block.query], side.squares())
            if block.query == 0:
                freedom[kind, :, 0] += np.maximum(side.count - 1, 0).sum(axis=1)
        if shifts is not None:
            shifts[block.query].add(*both)
    known = freedom > 0
    variance = np.where(known, squares / np.maximum(freedom, 1), 1.0)
    variance = np.where(known | ~known[::-1], variance, variance[::-1])
    if shifts is None:
        return variance, None
    return variance, [
        one.effects(variance[:, :, query], np.any(known, axis=(0, 2))) for query, one in enumerate(shifts)
    ]


class _Shifts:
    """How far IN lies from OUT over all records, and how much that differs between them, for every target."""

    def __init__(self, targets: int) -> None:
        # Sums over records of: the shift, its square, one over the counts of IN and of OUT, and the records themselves.
        self._sums = np.zeros((5, targets))

    def add(self, inside: Side, outside: Side) -> None:
        """Take a block in; a record of which a target has no reference of one kind says nothing and is left out."""
        both = (inside.count > 0) & (outside.count > 0)
        shift = np.where(both, inside.mean - outside.mean, 0.0)
        inverse = [both / np.maximum(side.count, 1) for side in (inside, outside)]
        self._sums = leave_one_out.added(self._sums, np.stack([shift, shift**2, *inverse, both.astype(np.float64)]))

    def effects(self, variance: Floats, known: NDArray[np.bool_]) -> RandomEffects:
        """Return what they are, given the variances ``(2, T)`` and whether they are known ``(T,)``."""
        inner, outer = np.maximum(variance, FLOOR)[:, :, None]
        found = RandomEffects.learned((inner, outer), list(self._sums[:, :, None]))
        return replace(found, between=np.where(known[:, None], found.between, np.inf))


ENTRY = AttackEntry(
    spec=Lira,
    score=score,
    needs=needs,
    summary="Compares a record's margin with Gaussians of models that saw it and of models that did not.",
    paper="Carlini et al. (2022), Membership inference attacks from first principles",
    access="margins",
    strong=True,
)
