"""Exposure: how far each record gives itself away, from the models that saw it and those that did not.

`exposure` is a record's own d': how far apart, in standard deviations, the two groups of models put its margin. An
attacker with reference models sees just that difference. A record's variance is drawn toward the mean variance of all
records with the weight of `PRIOR` degrees of freedom (empirical Bayes: Smyth 2004): with few models the largest
exposures would else be those of records whose models agree by chance.

`distance` is the same difference in standard errors, and `distance_p` Student's one-sided test of it: had the record
left no trace, the two groups of models would be alike, so their variance is pooled. Here the variance is the larger of
the record's own and the one above, so that the test never finds more than Student's, whatever the variances of other
records. No chance is smaller than that of the membership that was drawn, so neither is `distance_p`. Models that hold
none of the records, or all, such as shadow models trained on others, were in no draw: they have no part in these
chances. Models of nearly the same members are one draw, of which `distance` takes the mean margin, and complementary
pairs one of the difference; where models hold different numbers of records, memberships are not equally likely
(`draws`).

That takes margins as roughly normal in a group of models, as LiRA does. Margins of two modes are not: by chance all IN
models may have the high ones, and then the record's own variance is next to nothing. And the most exposed of N records
look worse than they are. So what counts is `distance_p_corrected`. Where `distance_p` could count at all, it is first
raised to the exact chance over all memberships (`permutation_test`), which takes nothing for granted but that chance
drew them, or to an upper limit of it that is small enough, or where exact chances would be too many (`EXACT`); then all
are corrected for N by Holm's method: the chance that *any* record without a trace falls below a level is at most that
level.

Paper: Feldman and Zhang (2020), "What neural networks memorize and why", section 1.2, for `memorisation`; its standard
error is that of Agresti and Caffo (2000), one success and one failure added to each group, which is not 0 where all
models agree. `memorisation_soft` has the probability of the true label in place of its being predicted.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from reticent import checks, threads
from reticent.arrays import Bools, Floats, Ints
from reticent.auditing import permutation_test
from reticent.auditing.comparison.multiple import holm
from reticent.auditing.draws import Draws
from reticent.auditing.intervals import tail
from reticent.data.membership import Membership, as_membership
from reticent.findings.audit import ExposureCount
from reticent.signals.correctness import correct, knows
from reticent.signals.matrix import Signals, log_probability

PRIOR = 4
"""Degrees of freedom that the mean variance of all records has in each record's own."""
COULD = 0.5
"""A corrected p-value from here on counts at no confidence, so that the exact one need not be computed."""
SURELY = 1e-3
"""Where an upper limit of the exact chance, corrected, is at most this, it stands for it."""
EPS = float(np.finfo(np.float64).eps)
EXACT = 2**27
"""Exact chances are computed for so many records times the square of the number of models: those nearest to being
decided; for more the upper limit stands, which counts fewer of them. 2,048 records of 256 models, 32,768 of 64."""
Masked = np.ma.MaskedArray[Any, np.dtype[np.float64]]
"""``(N,)``; masked where too few models saw, or did not see, the record. `tolist` gives None there."""


@dataclass(frozen=True, eq=False)
class Exposure:
    """One entry a record.

    Attributes:
        label: true labels.
        models: number of models.
        draws: number of draws (`draws`), and of those that hold some of the records and not others.
        memberships: minus the logarithm of the smallest chance of a membership of these with as many of them trained on
            the record; that of how many memberships there are, where all are equally likely.
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
        distance: ``(mean_in - mean_out)`` in standard errors ``max(s, s_own) sqrt(1 / k_in + 1 / k_out)``, s_own the
            record's own pooled standard deviation, and all of draws; needs three, and s > 0.
        distance_p: chance of such a distance or a larger one, had the record left no trace: Student's, with
            ``draws - 2`` degrees of freedom, and no less than that of the membership that was drawn.
        distance_p_corrected: the same or, where it is larger and `distance_p`, corrected, is below `COULD`, the chance
            over all memberships; by Holm, over all records that have one.
        memorisation: share of IN models that label the record correctly, minus that of OUT models, from -1 to 1; needs
            a model in each group, and logits or two classes.
        memorisation_error: its standard error.
        memorisation_soft: mean probability of the true label IN minus OUT, from -1 to 1.
        memorisation_soft_error: its standard error, from the two groups' variances; needs two draws in each.
    """

    label: Ints
    models: int
    draws: tuple[int, int]
    memberships: Floats
    k_in: Ints
    k_out: Ints
    mean_in: Masked
    mean_out: Masked
    std_in: Masked
    std_out: Masked
    exposure: Masked
    exposure_error: Masked
    distance: Masked
    distance_p: Masked
    distance_p_corrected: Masked
    memorisation: Masked
    memorisation_error: Masked
    memorisation_soft: Masked
    memorisation_soft_error: Masked


def exposure(signals: Signals, membership: Membership | Bools, draws: Draws | None = None) -> Exposure:
    """Compute every record's exposure, distance and memorisation.

    By the plain query. Values are of the models; errors and tests are of the `draws`, by default those of the
    membership. Cost: three passes over the margins, and one over the logits, by blocks of records; and about
    M^2 / 2 microseconds for each record that could be exposed, of at most `EXACT` / M^2.
    """
    known = as_membership(membership)
    matrix, draws = known.matrix, draws or Draws.make(known)
    checks.shape(membership=matrix, expected=(signals.models, signals.records), meaning="(models, records)")
    one, other = _groups(signals, matrix)
    counts = (draws.count(matrix), draws.count(~matrix)) if draws.repeated else (one.count, other.count)
    distances = _distances(one, other, *counts)
    if draws.repeated:
        apart = _groups(signals, draws.membership, draws)
        distances["distance"] = _distances(*apart, *(group.count for group in apart))["distance"]
    sets = permutation_test.Sets.of(draws.log_odds)
    return Exposure(
        label=signals.labels,
        models=signals.models,
        draws=(len(draws.first), len(draws.drawn)),
        memberships=-sets.log_least(draws.drawn_membership.sum(axis=0)),
        k_in=one.count,
        k_out=other.count,
        mean_in=_masked(one.margin, one.count > 0),
        mean_out=_masked(other.margin, other.count > 0),
        std_in=one.deviation,
        std_out=other.deviation,
        **distances,
        **_tests(signals, draws, sets, distances["distance"]),
        **_memorisation(signals, matrix, (one.count, other.count), counts),
        **_soft(one, other, counts),
    )


def count_exposed(found: Exposure, confidence: float = 0.95) -> ExposureCount:
    """Count the records whose distance is more than chance, corrected for the number of records.

    With that confidence none of them is there by chance.
    """
    allowed = 2 * tail(confidence)
    tested = ~np.ma.getmaskarray(found.distance)
    records, (draws, drawn) = int(tested.sum()), found.draws
    count = ExposureCount(
        records=records,
        untested=len(found.label) - records,
        copies=found.models - draws,
        exposed=int(np.count_nonzero(found.distance_p_corrected.filled(1.0) <= allowed)),
        confidence=confidence,
    )
    if not records:
        return count.with_(same=draws > 2 and bool(((found.k_in > 0) & (found.k_out > 0)).any()))
    ways = found.memberships[tested].max()
    if math.log(records) - ways > math.log(allowed):
        return count.with_(models=drawn, memberships=math.exp(ways))
    return count.with_(models=draws, distance_needed=-float(stdtrit(draws - 2, allowed / records)))


@dataclass(frozen=True, eq=False)
class _Group:
    """Mean and sum of squared deviations of margins and of probabilities over the models of one group, ``(N,)``."""

    count: Ints
    margin: Floats
    margin_squares: Floats
    probability: Floats
    probability_squares: Floats

    @property
    def deviation(self) -> Masked:
        """Standard deviation of the margins."""
        return _masked(np.sqrt(self.margin_squares / np.maximum(self.count - 1, 1)), self.count > 1)


def _groups(signals: Signals, inside: Bools, draws: Draws | None = None) -> tuple[_Group, _Group]:
    """Go once through the margins, by blocks of records, for the IN models and the OUT models of each.

    Or for the draws: of these, a margin stands for no probability.
    """
    trained = inside.sum(axis=0, dtype=np.int64)
    counts = trained, len(inside) - trained
    moments = np.zeros((2, 2, 2, signals.records))

    def seen(block: slice) -> None:
        margins = np.asarray(signals.plain(block), np.float64)
        told = (margins, np.exp(log_probability(margins))) if draws is None else (draws.margins(margins, block),)
        for i, values in enumerate(told):
            for group, chosen in enumerate((inside[:, block], ~inside[:, block])):
                mean = np.where(chosen, values, 0.0).sum(axis=0) / np.maximum(counts[group][block], 1)
                squares = np.where(chosen, (values - mean) ** 2, 0.0).sum(axis=0)
                rounding = counts[group][block] * (counts[group][block] * EPS * mean) ** 2  # At most, of equal numbers.
                moments[group, i, :, block] = mean, np.where(squares > rounding, squares, 0.0)

    threads.each(seen, signals.blocks(8 * signals.queries), inside.size)
    one, other = (_Group(count, *own.reshape(4, -1)) for count, own in zip(counts, moments, strict=True))
    return one, other


def _distances(one: _Group, other: _Group, k_in: Ints, k_out: Ints) -> dict[str, Masked]:
    """Put the two groups' margins side by side, in standard deviations and in standard errors of so many draws."""
    both = (one.count > 0) & (other.count > 0)
    freedom = one.count + other.count - 2
    squares = one.margin_squares + other.margin_squares
    usable = both & (freedom > 0)
    # s0^2, the mean variance within groups; s^2 = (squares + PRIOR s0^2) / (freedom + PRIOR).
    prior = squares[usable].sum() / max(int(freedom[usable].sum()), 1)
    drawn = np.maximum(freedom, 0) + PRIOR
    variance = (np.where(usable, squares, 0.0) + PRIOR * prior) / drawn
    known = both & (variance > 0)
    gap = one.margin - other.margin
    exposure = gap / np.where(known, np.sqrt(variance), 1.0)
    sampling = 1 / np.maximum(k_in, 1) + 1 / np.maximum(k_out, 1)
    independent = np.maximum(k_in + k_out - 2, 0) + PRIOR
    tested = known & usable
    careful = np.maximum(variance, squares / np.maximum(freedom, 1))
    distance = gap / np.where(tested, np.sqrt(careful * sampling), 1.0)
    return {
        "exposure": _masked(exposure, known),
        "exposure_error": _masked(np.sqrt(sampling + exposure**2 / (2 * independent)), known),
        "distance": _masked(distance, tested),
    }


def _tests(signals: Signals, draws: Draws, sets: permutation_test.Sets, distance: Masked) -> dict[str, Masked]:
    """Test each distance by Student's law and, where that could count, by the exact one; correct for their number.

    The exact one is of the models that were drawn.
    """
    tested, inside = ~np.ma.getmaskarray(distance), draws.drawn_membership
    if not len(inside):
        return dict.fromkeys(("distance_p", "distance_p_corrected"), _masked(distance.data, np.zeros_like(tested)))
    student = stdtr(max(len(draws.first) - 2, 1), -distance.data)
    plain = np.where(tested, np.maximum(student, np.exp(sets.log_chance(inside))), 1.0)
    p = plain.copy()
    could = np.flatnonzero(_corrected(p, tested) < COULD)
    chances = p.copy()
    for here, margins in _of(signals, draws, could):
        chances[here] = permutation_test.limits(margins, inside[:, here], sets)
    count = max(1, int(np.count_nonzero(tested)))
    unsure = could[chances[could] > SURELY / count]
    # Of too many, those that are the nearest to being decided: the limit is up to some hundred times the chance.
    nearest = np.argsort(np.abs(np.log(chances[unsure] * count)), kind="stable")
    for here, margins in _of(signals, draws, np.sort(unsure[nearest[: EXACT // len(inside) ** 2]])):
        rows, size = zip(margins.T, inside[:, here].T, strict=True), margins.size
        found = threads.ordered(lambda row: permutation_test.chance(*row, sets), rows, size, step="exact chances")
        chances[here] = list(found)
    p[could] = np.maximum(p[could], chances[could])
    return {"distance_p": _masked(plain, tested), "distance_p_corrected": _masked(_corrected(p, tested), tested)}


def _of(signals: Signals, draws: Draws, ids: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Read some records' margins by the models that were drawn ``(D, n)``, block by block."""
    for block in signals.blocks():
        here = ids[np.searchsorted(ids, block.start) : np.searchsorted(ids, block.stop)]
        if len(here):
            margins = np.asarray(signals.margins[:, block], dtype=np.float64)[:, here - block.start, 0]
            yield here, draws.margins(margins, here)[draws.drawn]


def _corrected(p: Floats, tested: Bools) -> Floats:
    corrected = np.ones(len(p))
    corrected[tested] = holm(p[tested])
    return corrected


def _memorisation(
    signals: Signals, inside: Bools, models: tuple[Ints, Ints], draws: tuple[Ints, Ints]
) -> dict[str, Masked]:
    """Compare how many models of either group label each record correctly."""
    k_in, k_out = models
    value, variance = np.zeros(signals.records), np.zeros(signals.records)
    known = (k_in > 0) & (k_out > 0)
    if not knows(signals):
        known = np.zeros_like(known)
    else:
        right = correct(signals, np.arange(signals.models))
        hits = [(right & chosen).sum(axis=0) for chosen in (inside, ~inside)]
        # One division of whole numbers: a difference of two shares may miss the threshold that it is exactly at.
        value = (hits[0] * k_out - hits[1] * k_in) / np.maximum(k_in * k_out, 1)
        for count, own, independent in zip(models, hits, draws, strict=True):
            share = (own * independent / np.maximum(count, 1) + 1) / (independent + 2)
            variance += share * (1 - share) / (independent + 2)
    return {"memorisation": _masked(value, known), "memorisation_error": _masked(np.sqrt(variance), known)}


def _soft(one: _Group, other: _Group, draws: tuple[Ints, Ints]) -> dict[str, Masked]:
    both, two = (one.count > 0) & (other.count > 0), (draws[0] > 1) & (draws[1] > 1)
    share = [
        group.probability_squares / np.maximum((group.count - 1) * independent, 1)
        for group, independent in zip((one, other), draws, strict=True)
    ]
    return {
        "memorisation_soft": _masked(one.probability - other.probability, both),
        "memorisation_soft_error": _masked(np.sqrt(share[0] + share[1]), two),
    }


def _masked(values: Floats, known: Bools) -> Masked:
    """Mask what is not known; the value under the mask is 0, so that no file can hold a number that means nothing."""
    return np.ma.MaskedArray(np.where(known, values, 0.0), mask=~known)
