"""A whole audit's bounds on epsilon: every attack by every method, and one bound that allows for the choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import checks, seeds, spec
from reticent.auditing.epsilon import METHODS, AllThresholds, Gaussian, Method, OneRun, Split, TwiceMedian
from reticent.auditing.epsilon.base import Bound, Groups, groups
from reticent.auditing.epsilon.combine import Combine, combined, level
from reticent.auditing.epsilon.limits import checked_delta, error_rate
from reticent.auditing.epsilon.one_run import balanced
from reticent.errors import InputError
from reticent.findings.epsilon import Accountant, EpsilonAudit, EpsilonBounds, MethodBound

HEADLINE = AllThresholds()
"""The method of the one bound that is reported first; fixed in advance, so that only attacks are chosen among."""


@dataclass(frozen=True, eq=False)
class Epsilons:
    """What an audit says of epsilon.

    Attributes:
        attacks: the bounds by each attack.
        overall: the bound over all attacks, without its sentence (`say.epsilon`).
    """

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
) -> list[Bound]:
    """Bound epsilon from the scores of each of T targets alone; nothing is corrected for their number.

    Args:
        scores: ``(T, N)``, or ``(N,)`` for one target; higher means member.
        members: booleans of the same shape.
        method: its options.
        delta: of the (epsilon, delta) that is refuted, from 0 up to 1.
        rng: divides the records where the method does.
        confidence: of each bound, one-sided.

    Returns:
        One a target. Cost: T sorts.

    Raises:
        ShapeError: the shapes differ, or `members` is not boolean.
        InputError: NaN scores, a target without members or non-members, or a bad option.
    """
    checked_delta(delta)
    alpha = error_rate(confidence)
    values = checks.array(scores=scores, ndim=(1, 2))
    rows = checks.array(members=members, ndim=values.ndim)
    targets = groups(np.atleast_2d(values), np.atleast_2d(rows))
    return _each(method, targets, delta, alpha, rng)


def default_methods(members: ArrayLike, delta: float) -> tuple[Method, ...]:
    """Choose the methods that can say something.

    Args:
        members: booleans ``(T, N)``.
        delta: of the bounds.

    Returns:
        All but a given threshold; without the Gaussian one at delta 0, and without "one-run" where membership was not
        drawn by fair coins.
    """
    rows = checks.boolean(members=members, ndim=2)
    fair = all(balanced(int(count), rows.shape[1]) for count in rows.sum(axis=1))
    methods: list[Method] = [AllThresholds(), Split()]
    methods += [Gaussian()] * (delta > 0)
    methods += [OneRun()] * fair
    return tuple(methods)


def audit_epsilon(
    scores: Mapping[str, ArrayLike],
    members: ArrayLike,
    *,
    delta: float,
    rng: np.random.Generator,
    confidence: float = 0.95,
    methods: Sequence[Method] | None = None,
    headline: Method = HEADLINE,
    combine: Combine = TwiceMedian(),  # noqa: B008 (frozen)
    accountant: Accountant | None = None,
    proven: Accountant | None = None,
) -> Epsilons:
    """Bound epsilon from below by every attack and method, and by the best attack corrected for the choice.

    The targets' bounds are combined under any dependence (see `combine`); the best of K attacks is judged at an error
    rate of ``(1 - confidence) / K``, by the headline method alone, which does not depend on what was found.

    Args:
        scores: by attack, ``(T, N)``; higher means member.
        members: booleans ``(T, N)``: the targets' rows of the membership matrix.
        delta: of the (epsilon, delta) that is refuted, from 0 up to 1.
        rng: divides the records; an attack's and method's stream is named after them.
        confidence: one-sided; of each bound of an attack, and of the overall one.
        methods: by default `default_methods`.
        headline: the method of the overall bound.
        combine: how the targets' bounds become one.
        accountant: what training promises, if it does.
        proven: the same of what training proves, where `accountant` is what the user states.

    Returns:
        Both objects. Cost: T sorts an attack.

    Raises:
        ShapeError: the shapes differ, or `members` is not boolean.
        InputError: no attack, NaN scores, a target without members or non-members, or a bad option.
    """
    if not scores:
        raise InputError("scores: expected at least one attack, got none")
    alpha = error_rate(confidence)
    rows = checks.boolean(members=members, ndim=2)
    chosen = default_methods(rows, checked_delta(delta)) if methods is None else tuple(methods)
    key = int(rng.integers(2**63))
    attacks: dict[str, EpsilonBounds] = {}
    lowest: dict[str, float] = {}
    for name, values in scores.items():
        asked = _Asked(name, _sorted(name, values, rows), delta, combine, key)
        found = tuple(asked.bound(method, alpha) for method in chosen)
        attacks[name] = EpsilonBounds(delta=delta, confidence=confidence, combined=spec.full(combine), bounds=found)
        lowest[name] = combined(combine, asked.bounds(headline, alpha / len(scores)))
    best = max(lowest, key=lambda name: lowest[name])
    overall = EpsilonAudit(
        delta=delta,
        confidence=confidence,
        lower=lowest[best],
        attack=best,
        method=headline.method,
        best_of=len(scores),
        accountant=accountant,
        proven=None if accountant is None else proven,
        consistent=None if accountant is None else consistent(lowest[best], delta, accountant),
    )
    return Epsilons(attacks, overall)


def consistent(lower: float, delta: float, accountant: Accountant) -> bool | None:
    """Say whether a bound from below and one from above can both be true; None where that cannot be told.

    An epsilon from above at one delta holds at every larger one, and says nothing of smaller ones.
    """
    if lower <= accountant.epsilon:
        return True
    return False if accountant.delta <= delta else None


@dataclass(frozen=True, eq=False)
class _Asked:
    """One attack's scores, and what is asked of them."""

    name: str
    targets: list[Groups]
    delta: float
    combine: Combine
    key: int

    def bounds(self, method: Method, alpha: float) -> list[float]:
        """Bound each target's epsilon at the level that the combined bound needs."""
        needed = level(self.combine, len(self.targets), alpha)
        rng = seeds.rng(self.key, self.name, method.method)
        return [bound.epsilon for bound in _each(method, self.targets, self.delta, needed, rng)]

    def bound(self, method: Method, alpha: float) -> MethodBound:
        """Bound epsilon by one method."""
        each = self.bounds(method, alpha)
        return MethodBound(
            method=method.method,
            spec=spec.full(method),
            assumes=METHODS[method.method].assumes,
            epsilon=combined(self.combine, each),
            targets=tuple(each),
        )


def _each(method: Method, targets: list[Groups], delta: float, alpha: float, rng: np.random.Generator) -> list[Bound]:
    bound = METHODS[method.method].bound
    return [bound(method, own, delta, alpha, rng) for own in targets]


def _sorted(name: str, values: ArrayLike, rows: NDArray[np.bool_]) -> list[Groups]:
    try:
        return groups(values, rows)
    except InputError as error:
        raise error.prefixed(f"attack {name!r}: ") from None
