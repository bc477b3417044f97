"""Exposure: how far each record gives itself away, from the models that saw it and those that did not.

Paper: Feldman and Zhang (2020), "What neural networks memorize and why", for the memorisation score; here in its soft
form, with the probability of the true label in place of its being predicted. `exposure` is a record's own d': how far
apart, in standard deviations, the two groups of models put its margin. An attacker with reference models sees just that
difference. A record's variance is drawn toward the mean variance of all records with the weight of `PRIOR` degrees of
freedom (empirical Bayes: Smyth 2004): with few models the largest exposures would else be those of records whose models
agree by chance.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent import checks
from reticent.data.membership import Membership, as_membership
from reticent.signals.matrix import Signals, log_probability

Floats = NDArray[np.float64]
PRIOR = 4
"""Degrees of freedom that the mean variance of all records has in each record's own."""
Masked = np.ma.MaskedArray[Any, np.dtype[np.float64]]
"""``(N,)``; masked where too few models saw, or did not see, the record. `tolist` gives None there."""


@dataclass(frozen=True, eq=False)
class Exposure:
    """One entry a record.

    Attributes:
        label: true labels.
        k_in: number of models that were trained on the record.
        k_out: number of those that were not.
        mean_in: mean margin of the former (nats); needs one.
        mean_out: mean margin of the latter.
        std_in: standard deviation (k - 1) of the former's margins; needs two.
        std_out: that of the latter's.
        exposure: ``(mean_in - mean_out) / s``, s the pooled standard deviation within the groups, drawn toward that of
            all records; needs a model in each group, and s > 0.
        exposure_error: its standard error, ``sqrt(1 / k_in + 1 / k_out + exposure^2 / (2 f))`` with
            ``f = k_in + k_out - 2 + PRIOR``.
        memorisation: mean probability of the true label IN minus OUT, from -1 to 1.
        memorisation_error: its standard error, from the two groups' variances; needs two models in each.
    """

    label: NDArray[np.int64]
    k_in: NDArray[np.int64]
    k_out: NDArray[np.int64]
    mean_in: Masked
    mean_out: Masked
    std_in: Masked
    std_out: Masked
    exposure: Masked
    exposure_error: Masked
    memorisation: Masked
    memorisation_error: Masked

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary a record, in the order of the records.

        Returns:
            `record` and every field; None where it is not known.
        """
        names = [field.name for field in fields(self)]
        columns = [getattr(self, name).tolist() for name in names]
        return [
            {"record": record, **dict(zip(names, row, strict=True))}
            for record, row in enumerate(zip(*columns, strict=True))
        ]

    def most_exposed(self, count: int) -> NDArray[np.int64]:
        """Return the records with the largest exposure, those without one left out.

        Args:
            count: how many, at most.

        Returns:
            Record ids, the most exposed first; ties in the order of the records.
        """
        order = np.argsort(-self.exposure.filled(-np.inf), kind="stable")
        return order[: min(count, int(self.exposure.count()))]


@dataclass(frozen=True, eq=False)
class _Group:
    """Mean and variance of margins and probabilities over the models of one group."""

    count: NDArray[np.int64]
    margin: Floats
    margin_squares: Floats
    probability: Floats
    probability_squares: Floats


def exposure(signals: Signals, membership: Membership | NDArray[np.bool_]) -> Exposure:
    """Compute every record's exposure and memorisation score.

    Args:
        signals: of M models on N records; the plain query is used.
        membership: who was trained on what ``(M, N)``.

    Returns:
        One entry a record. Cost: one pass over the margins, by blocks of records.

    Raises:
        ShapeError: the two do not fit each other.
    """
    matrix = as_membership(membership).matrix
    checks.shape(membership=matrix, expected=(signals.models, signals.records), meaning="(models, records)")
    inside, outside = [], []
    for block in signals.blocks():
        margins = np.asarray(signals.margins[:, block], dtype=np.float64)[:, :, 0]
        chances = np.exp(log_probability(margins))
        inside.append(_group(margins, chances, matrix[:, block]))
        outside.append(_group(margins, chances, ~matrix[:, block]))
    return _compare(signals.labels, _join(inside), _join(outside))


def _group(margins: Floats, chances: Floats, chosen: NDArray[np.bool_]) -> _Group:
    count = chosen.sum(axis=0, dtype=np.int64)
    divisor = np.maximum(count, 1)
    moments = []
    for values in (margins, chances):
        mean = np.where(chosen, values, 0.0).sum(axis=0) / divisor
        moments += [mean, np.where(chosen, (values - mean) ** 2, 0.0).sum(axis=0)]
    return _Group(count, *moments)


def _join(groups: list[_Group]) -> _Group:
    return _Group(*(np.concatenate([getattr(group, field.name) for group in groups]) for field in fields(_Group)))


def _compare(labels: NDArray[np.int64], one: _Group, other: _Group) -> Exposure:
    """Put the two groups side by side, masking what too few models say."""
    both = (one.count > 0) & (other.count > 0)
    freedom = one.count + other.count - 2
    squares = one.margin_squares + other.margin_squares
    usable = both & (freedom > 0)
    # s0^2, the mean variance within groups; s^2 = (squares + PRIOR s0^2) / (freedom + PRIOR).
    prior = squares[usable].sum() / max(int(freedom[usable].sum()), 1)
    freedom = np.maximum(freedom, 0) + PRIOR
    variance = (np.where(usable, squares, 0.0) + PRIOR * prior) / freedom
    known = both & (variance > 0)
    pooled = np.sqrt(variance)
    distance = (one.margin - other.margin) / np.where(known, pooled, 1.0)
    sampling = 1 / np.maximum(one.count, 1) + 1 / np.maximum(other.count, 1)
    error = np.sqrt(sampling + distance**2 / (2 * freedom))
    two = (one.count > 1) & (other.count > 1)
    share = [g.probability_squares / np.maximum(g.count * (g.count - 1), 1) for g in (one, other)]
    return Exposure(
        label=labels,
        k_in=one.count,
        k_out=other.count,
        mean_in=_masked(one.margin, one.count > 0),
        mean_out=_masked(other.margin, other.count > 0),
        std_in=_deviation(one),
        std_out=_deviation(other),
        exposure=_masked(distance, known),
        exposure_error=_masked(error, known),
        memorisation=_masked(one.probability - other.probability, both),
        memorisation_error=_masked(np.sqrt(share[0] + share[1]), two),
    )


def _deviation(group: _Group) -> Masked:
    return _masked(np.sqrt(group.margin_squares / np.maximum(group.count - 1, 1)), group.count > 1)


def _masked(values: Floats, known: NDArray[np.bool_]) -> Masked:
    """Mask what is not known; the value under the mask is 0, so that no file can hold a number that means nothing."""
    return np.ma.MaskedArray(np.where(known, values, 0.0), mask=~known)
