"""A whole audit's bounds on epsilon: every attack by every method, over targets, and over attacks.

Targets of one population share records, and each is a reference of the others, so nothing is assumed of how their
errors go together. They are combined by twice the median p-value (Rueger 1978; see Vovk and Wang 2020, "Combining
p-values via averaging"): if a share of half of T bounds is too high, at level alpha/2 each, then by Markov's inequality
that happens with probability alpha at most. It reports what about half of the targets show, and holds for the epsilon
of *one* training procedure that all came from.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reticent import checks, seeds, spec, threads
from reticent.auditing.epsilon import METHODS, AllThresholds, FDp, Gaussian, Method, OneRun, Split
from reticent.auditing.epsilon.base import Groups, checked_delta, groups
from reticent.auditing.epsilon.guesses import balanced
from reticent.auditing.intervals import tail
from reticent.errors import InputError, about
from reticent.findings.epsilon import Accountant, EpsilonAudit, EpsilonBounds, MethodBound

HEADLINE = AllThresholds()
"""The method of the one bound that is reported first; fixed in advance, so that only attacks are chosen among."""


RULE = "twice-median"
"""How the targets' bounds become one."""


def level(targets: int, alpha: float) -> float:
    """Return the error rate of each target's bound: ``alpha ceil(T / 2) / T``."""
    return alpha * ((targets + 1) // 2) / targets


def combined(bounds: Sequence[float]) -> float:
    """Combine bounds that hold at `level` each: one that ``ceil(T / 2)`` targets reach or exceed."""
    return sorted(bounds, reverse=True)[(len(bounds) + 1) // 2 - 1]


@dataclass(frozen=True, eq=False)
class Epsilons:
    """What an audit says of epsilon: by each attack, and over all, without its sentence (`say.epsilon`)."""

    attacks: dict[str, EpsilonBounds]
    overall: EpsilonAudit


def bounds(
    scores: ArrayLike,
    members: ArrayLike,
    method: Method,
    *,
    delta: float,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> list[float]:
    """Bound epsilon from the scores of each of T targets alone; nothing is corrected for their number.

    At least 0, which says nothing, and finite. Cost: a sort a target.
    """
    checked_delta(delta)
    alpha = 2 * tail(confidence)
    values = checks.array(scores=scores, ndim=(1, 2))
    rows = checks.array(members=members, ndim=values.ndim)
    return _each([(method, alpha)], groups(np.atleast_2d(values), np.atleast_2d(rows)), delta, [rng])[0]


def default_methods(members: ArrayLike, delta: float, *, fair: bool = True) -> tuple[Method, ...]:
    """Choose the methods that can say something.

    All but a given threshold; without the Gaussian ones at delta 0, and without those of one run where membership was
    not drawn by fair coins, as `fair` or the numbers of members say.
    """
    rows = checks.boolean(members=members, ndim=2)
    fair = fair and all(balanced(int(count), rows.shape[1]) for count in rows.sum(axis=1))
    some = delta > 0
    gaussian, one_run, f_dp = (Gaussian(),) * some, (OneRun(),) * fair, (FDp(),) * (some and fair)
    return (AllThresholds(), Split(), *gaussian, *one_run, *f_dp)


def audit_epsilon(
    scores: Mapping[str, ArrayLike],
    members: ArrayLike,
    *,
    delta: float,
    rng: np.random.Generator,
    confidence: float = 0.95,
    methods: Sequence[Method] | None = None,
    accountant: Accountant | None = None,
    proven: Accountant | None = None,
    of_record: Accountant | None = None,
) -> Epsilons:
    """Bound epsilon from below by every attack and method, and by the best attack corrected for the choice.

    The targets' bounds are combined under any dependence (see `combined`); the best of K attacks is judged at an error
    rate of ``(1 - confidence) / K``, by `HEADLINE` alone, which does not depend on what was found. An attack's
    and method's stream is named after them. `accountant` holds what training promises, and `proven` what it proves,
    where the first is what the user states; `of_record` is what it proves of a record, where units are audited. Cost: T
    sorts an attack.
    """
    if not scores:
        raise InputError("scores: expected at least one attack, got none")
    alpha = 2 * tail(confidence)
    rows = checks.boolean(members=members, ndim=2)
    chosen = default_methods(rows, checked_delta(delta)) if methods is None else tuple(methods)
    key = int(rng.integers(2**63))
    attacks: dict[str, EpsilonBounds] = {}
    lowest: dict[str, float] = {}
    needed, strict = (level(len(rows), rate) for rate in (alpha, alpha / len(scores)))
    asked = [*((method, needed) for method in chosen), (HEADLINE, strict)]

    def bound(name: str) -> None:
        with about(f"attack {name!r}"):
            targets = groups(scores[name], rows)
        *each, least = _each(asked, targets, delta, [seeds.rng(key, name, method.method) for method, _ in asked])
        found = tuple(_bound(method, own) for method, own in zip(chosen, each, strict=True))
        attacks[name] = EpsilonBounds(delta=delta, confidence=confidence, combined={"method": RULE}, bounds=found)
        lowest[name] = combined(least)

    threads.each(bound, scores, rows.size)
    attacks, lowest = {name: attacks[name] for name in scores}, {name: lowest[name] for name in scores}
    best = max(lowest, key=lambda name: lowest[name])
    overall = EpsilonAudit(
        delta=delta,
        confidence=confidence,
        lower=lowest[best],
        attack=best,
        method=HEADLINE.method,
        best_of=len(scores),
        accountant=accountant,
        proven=None if accountant is None else proven,
        of_record=of_record,
        consistent=None if accountant is None else consistent(lowest[best], delta, accountant),
    )
    return Epsilons(attacks, overall)


def consistent(lower: float, delta: float, accountant: Accountant) -> bool | None:
    """Tell whether a bound from below and one from above can both be true; None where that cannot be told.

    An epsilon from above at one delta holds at every larger one, and says nothing of smaller ones.
    """
    if lower <= accountant.epsilon:
        return True
    return False if accountant.delta <= delta else None


def _each(
    asked: Sequence[tuple[Method, float]],
    targets: Iterable[Groups],
    delta: float,
    streams: Sequence[np.random.Generator],
) -> list[list[float]]:
    """Bound epsilon by every method at its level, of every target."""
    bounds: list[list[float]] = [[] for _ in asked]
    for own in targets:
        for found, (method, alpha), rng in zip(bounds, asked, streams, strict=True):
            found.append(METHODS[method.method].bound(method, own, delta, alpha, rng))
    return bounds


def _bound(method: Method, each: list[float]) -> MethodBound:
    return MethodBound(
        method=method.method,
        spec=spec.full(method),
        assumes=METHODS[method.method].assumes,
        epsilon=combined(each),
        targets=tuple(each),
    )
