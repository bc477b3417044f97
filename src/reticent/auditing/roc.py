"""The exact ROC curve of scores, and the numbers that are read off it.

A record is called a member when its score is at or above the threshold. Equal scores are one vertex, so neither the
order of the records nor the order within ties can change a number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from reticent import checks, scratch
from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.sorted_scores import Ranked
from reticent.errors import InputError

UNUSED = 0.1
"""Equal scores decide a rate where they leave more than this share of the false positives that it allows unused."""


@dataclass(frozen=True)
class Point:
    """One operating point of an attack; its threshold is the smallest score called a member, infinite if none is."""

    tpr: float
    threshold: float
    realised_fpr: float
    true_positives: int
    false_positives: int
    false_positives_allowed: int
    members: int
    non_members: int


@dataclass(frozen=True, eq=False)
class Roc:
    """The vertices of a ROC curve ``(V,)``, from (0, 0) to (1, 1): counts at or above falling thresholds."""

    thresholds: Floats
    true_positives: Ints
    false_positives: Ints

    @property
    def members(self) -> int:
        """Number of members."""
        return int(self.true_positives[-1])

    @property
    def non_members(self) -> int:
        """Number of non-members."""
        return int(self.false_positives[-1])

    @property
    def tpr(self) -> Floats:
        """True-positive rate at each vertex."""
        return self.true_positives / self.members

    @property
    def fpr(self) -> Floats:
        """False-positive rate at each vertex."""
        return self.false_positives / self.non_members

    def at_fpr(self, fpr: float) -> Point:
        """Return the vertex with the largest TPR whose FPR is at most the one asked for; nothing is interpolated."""
        limit = allowed(fpr, self.non_members)
        vertex = int(np.searchsorted(self.false_positives, limit, side="right")) - 1
        found, false = int(self.true_positives[vertex]), int(self.false_positives[vertex])
        return Point(
            tpr=found / self.members,
            threshold=float(self.thresholds[vertex]),
            realised_fpr=false / self.non_members,
            true_positives=found,
            false_positives=false,
            false_positives_allowed=limit,
            members=self.members,
            non_members=self.non_members,
        )

    def balanced_accuracy(self) -> tuple[float, float]:
        """Return ``max_t (TPR(t) + 1 - FPR(t)) / 2`` and its threshold: an oracle's, chosen on the audited records."""
        gap = self.tpr - self.fpr
        best = int(np.argmax(gap))
        return (1 + float(gap[best])) / 2, float(self.thresholds[best])


def exact(rate: float) -> Fraction:
    """Take a rate as the fraction that was meant: 0.1 is one tenth, not the nearest binary number.

    The nearest fraction with a denominator up to 10**9.
    """
    return Fraction(checks.between(fpr=float(rate), low=0.0, high=1.0)).limit_denominator(10**9)


def allowed(fpr: float, non_members: int) -> int:
    """Count the false positives that a rate allows: ``floor(fpr * non_members)``, free of rounding errors.

    0 means that the rate cannot be resolved.
    """
    return int(exact(fpr) * non_members)


def records_needed(fpr: float) -> int:
    """Count the non-members that a rate needs so that it allows one false positive: ``ceil(1 / fpr)``.

    A rate below 1e-9 is refused.
    """
    fraction = exact(fpr)
    if fraction == 0:
        raise InputError(f"fpr: expected a rate of at least 1e-9, got {fpr}")
    return math.ceil(1 / fraction)


def tied(points: Sequence[Point]) -> bool:
    """Tell whether equal scores decide a rate: thresholds accuse clearly fewer non-members than it allows, or too many.

    Then the TPR is that of a smaller rate, and no threshold gives the one that was asked for. True where the targets
    together leave more than `UNUSED` of the false positives allowed unused.
    """
    allowed = sum(point.false_positives_allowed for point in points)
    return sum(point.false_positives for point in points) < (1 - UNUSED) * allowed


def threshold_rate(allowed: float, non_members: float) -> float:
    """Compute the false-positive rate that a threshold has on average, if it was chosen on the same non-members.

    A threshold that lets a of n non-members pass lies just above the (a + 1)-th of them, beyond which a share of
    ``(a + 1) / (n + 1)`` is expected: more than a / n, and much more where a is small.
    """
    return (allowed + 1) / (non_members + 1)


def two_groups(scores: ArrayLike, members: ArrayLike, ndim: int | tuple[int, ...] = 1) -> tuple[Floats, Bools]:
    """Check scores and who is a member.

    Refused: other shapes, NaN or infinite scores, and a row without members or without non-members.
    """
    values = checks.floats(scores=scores, ndim=ndim)
    truth = checks.boolean(members=members, ndim=values.ndim)
    checks.shape(members=truth, expected=values.shape, meaning="as `scores` has")
    count = np.atleast_1d(truth.sum(axis=-1))
    total = values.shape[-1]
    for missing, what in ((count == 0, "members"), (count == total, "non-members")):
        if missing.any():
            row = f" in row {int(np.argmax(missing))}" if values.ndim == 2 else ""
            raise InputError(
                f"members: expected members and non-members, got no {what} among {total} records{row}; "
                "audit records of both kinds"
            )
    return values, truth


def roc(scores: ArrayLike, members: ArrayLike) -> Roc:
    """Compute every vertex of the ROC curve, equal scores grouped.

    Cost: one sort.
    """
    return curve(Ranked.of(*two_groups(scores, members)))


def curve(ranked: Ranked) -> Roc:
    """Take every vertex of the curve of records in their order; see `roc`."""
    ends = ranked.ends
    found = ranked.found[ends]
    return Roc(
        thresholds=np.concatenate([[np.inf], ranked.scores[ends - 1]]),
        true_positives=np.concatenate([[0], found]),
        false_positives=np.concatenate([[0], ends - found]),
    )


def auc(scores: ArrayLike, members: ArrayLike) -> Floats:
    """Compute the probability that a member scores above a non-member, ties counted half.

    From ranks (Mann and Whitney 1947): ``AUC = (R - m (m + 1) / 2) / (m n)``, R the sum of the m members' midranks. Of
    ``(N,)``, or a row each of ``(T, N)``. Cost: one sort a row.
    """
    values, truth = two_groups(scores, members, ndim=(1, 2))
    if values.ndim == 1:
        return np.asarray(Ranked.of(values, truth).auc())
    return np.array([Ranked.of(*row).auc() for row in scratch.rows(values, truth)])


def tpr_at_fpr(scores: ArrayLike, members: ArrayLike, fpr: float) -> Point:
    """Find the largest TPR whose FPR is at most the one asked for (``<=``, no interpolation, ties kept together).

    The point has the realised FPR and the number of false positives allowed; at 0, none is.
    """
    return roc(scores, members).at_fpr(fpr)


def tnr_at_fnr(scores: ArrayLike, members: ArrayLike, fnr: float) -> Point:
    """Find the largest true-negative rate whose false-negative rate is at most the one asked for.

    The point has the two groups exchanged in every field: `tpr` is the rate of non-members found, and a record is
    called a non-member when its score is at or below `threshold`.
    """
    values, truth = two_groups(scores, members)
    point = roc(-values, ~truth).at_fpr(fnr)
    return Point(**{**point.__dict__, "threshold": -point.threshold})
