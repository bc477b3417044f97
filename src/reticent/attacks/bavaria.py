"""BaVarIA: LiRA in which each record's law is a posterior, from its own references and a prior of all records.

Paper: "BaVarIA" (2026), arXiv 2603.11799; formulas and constants are those of its authors' code. The margins of a kind
are normal with an unknown mean and variance, whose prior is normal-inverse-gamma: its centre and spread are those of
all margins of the kind, over all records and references (empirical Bayes). So a record with few references is judged by
a law of its own, and still a wide one.

Deviation: the posterior holds the number of references, which would tell a target's members, which have one IN
reference fewer, from its non-members: with four models and nothing to find the AUC would be 0.22 (t) and 0.04
(normal). So all records keep equally many of a kind (`balance`). The authors leave out pairs of models, and never meet
this. The prior is of all references but the target: it is one for all records.
"""

from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import Ge
from scipy.special import gammaln

from reticent import threads
from reticent.attacks import leave_one_out, sides
from reticent.attacks.base import AttackEntry, Needs, Problem
from reticent.attacks.leave_one_out import Split
from reticent.attacks.sides import FLOOR, Compared, Side
from reticent.signals.matrix import Floats
from reticent.spec import Spec

KAPPA = 1.0
"""How many references the prior's centre counts as."""
ALPHA = {"t": 2.0, "normal": 1.0}
"""Shape of the prior of variances; with 2 its predictive law has a variance."""


class Bavaria(Spec):
    """Options of BaVarIA."""

    method: ClassVar[str] = "bavaria"

    law: Literal["t", "normal"] = "t"
    """BaVarIA-t compares Student's predictive laws, BaVarIA-n normal ones with the posterior's mean variance."""
    mode: Literal["online", "offline"] = "online"
    """Compare IN with OUT references of a record, or its OUT references with the prior of IN: then no reference that
    was trained on the record is looked at for it, but some must have been trained on other audited records."""
    queries: Annotated[int, Ge(1)] | None = None
    """How many queries of a record are used; by default all."""


class _Seen(NamedTuple):
    """References of a kind: their number k, mean (less the block's shift) and sum of squares around it, ``(t, n)``."""

    k: Floats
    mean: Floats
    squares: Floats


class _Prior(NamedTuple):
    """What all margins of a kind are like: their mean and variance, ``(t, 1)``."""

    mean: Floats
    variance: Floats


def needs(spec: Bavaria) -> Needs:
    """Say which references it needs; offline, some that were trained on other records."""
    return Needs(references=2, references_out=1) if spec.mode == "offline" else Needs(references_in=1, references_out=1)


def score(spec: Bavaria, problem: Problem, rng: np.random.Generator) -> Floats:
    """Score each record by its log-likelihood ratio, a mean over queries.

    Cost: O((R + T) N Q) for all targets; the signals are read twice.
    """
    mean, variance = _priors(problem, spec.queries or problem.signals.queries)

    def ratio(one: Compared) -> Floats:
        prior_in, prior_out = (
            _Prior(mean[kind, one.query, one.targets, None], variance[kind, one.query, one.targets, None])
            for kind in (0, 1)
        )
        outside = _log_density(spec, one, _seen(one.sides[-1]), prior_out)
        nothing = _Seen(np.zeros(1), prior_in.mean - one.shift, np.zeros(1))
        inside = _seen(one.sides[0]) if spec.mode == "online" else nothing
        return _log_density(spec, one, inside, prior_in) - outside

    return sides.averaged(problem, spec.queries, ratio, online=spec.mode == "online")


def _seen(side: Side) -> _Seen:
    return _Seen(side.count, side.mean, side.squares())


def _priors(problem: Problem, queries: int) -> tuple[Floats, Floats]:
    """Return mean and variance of all margins of a kind, the target's left out: ``(2, Q, T)`` each, IN first."""
    rows = leave_one_out.rows(problem.targets, problem.references)
    sums = np.zeros((2, queries, 3, len(rows)))

    def seen(records: slice) -> list[list[Floats]]:
        found = []
        for block in sides.blocks(problem, queries, records):
            values = Split(block.references.values + block.shift)
            both = [Side(rows, values, mask) for mask in (block.inside, ~block.inside)]
            firsts = [side.count * side.mean for side in both]
            found.append([
                np.stack([side.count, first, side.squares() + first * side.mean])
                for side, first in zip(both, firsts, strict=True)
            ])
        return found

    cells = len(rows) * problem.signals.records
    for told in threads.ordered(seen, sides.slices(problem), cells, step="priors"):
        for query, both in enumerate(told):
            for kind, found in enumerate(both):
                sums[kind, query] = leave_one_out.added(sums[kind, query], found)
    count, first, second = np.moveaxis(sums, 2, 0)
    mean = first / count
    return mean, np.maximum(second / count - mean**2, 0.0)


def _log_density(spec: Bavaria, one: Compared, seen: _Seen, prior: _Prior) -> Floats:
    """Compute the targets' log-density, but for a constant, under the posterior of a kind ``(t, n)``."""
    start = ALPHA[spec.law]
    kappa, alpha = KAPPA + seen.k, start + 0.5 * seen.k
    off = seen.mean + one.shift - prior.mean
    least = np.maximum(prior.variance * (start - 1 if start > 1 else 1), FLOOR)
    beta = least + 0.5 * seen.squares + 0.5 * KAPPA * seen.k * off**2 / kappa
    residual = one.target - seen.mean
    if spec.law == "normal":
        variance = np.maximum(beta / np.where(alpha > 1, alpha - 1, 1), FLOOR)
        return np.asarray(-0.5 * (residual**2 / variance + np.log(variance)))
    scale = np.maximum(beta * (kappa + 1) / (alpha * kappa), FLOOR)
    residual = residual + KAPPA * off / kappa
    each = start + 0.5 * np.arange(int(seen.k.max()) + 1)  # The shape follows from a count of references.
    constant = (gammaln(each + 0.5) - gammaln(each))[seen.k.astype(np.int64)] - 0.5 * np.log(alpha * scale)
    return np.asarray(constant - (alpha + 0.5) * np.log1p(residual**2 / (2 * alpha * scale)))


ENTRY = AttackEntry(
    spec=Bavaria,
    score=score,
    needs=needs,
    summary="LiRA in which a prior of all records makes up for few references of each.",
    paper="BaVarIA (2026), arXiv 2603.11799",
    access="margins",
    strong=True,
)
