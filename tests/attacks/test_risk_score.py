"""The privacy risk score: histograms of references, and what is made of them."""

from dataclasses import replace

import numpy as np
import pytest
from attack_cases import auc, problem, used
from scipy.special import softmax

from reticent.attacks import Problem, parse, score
from reticent.attacks.risk_score import Histograms
from reticent.data.membership import Membership
from reticent.errors import InputError, TooFewReferencesError
from reticent.signals.matrix import Signals


def test_equal_histograms_give_one_half_everywhere():
    values = np.random.default_rng(0).normal(size=50)
    asked = np.linspace(-5, 5, 40)
    np.testing.assert_array_equal(Histograms.of(values, values, 5).share_in(asked), np.full(40, 0.5))
    np.testing.assert_array_equal(Histograms.of(np.ones(3), np.ones(7), 5).share_in(asked), np.full(40, 0.5))


def test_disjoint_histograms_give_zero_or_one():
    found = Histograms.of(np.array([0.0, 1.0]), np.array([9.0, 10.0]), 5).share_in(np.linspace(-3, 13, 60))
    assert set(found) == {0.0, 1.0}
    assert (np.diff(found) <= 0).all()


def test_an_empty_bin_takes_the_nearest_and_of_two_the_lower():
    found = Histograms.of(np.array([0.0]), np.array([5.0]), 5)
    np.testing.assert_array_equal(found.share, [1.0, 1.0, 1.0, 0.0, 0.0])


def released(train, test, values, bins):
    """Song and Mittal's code for one class, of entropies."""
    train, test = np.maximum(train, 1e-10), np.maximum(test, 1e-10)
    both = np.concatenate([train, test])
    edges = np.logspace(np.log10(both.min()), np.log10(both.max()), bins + 1)
    edges[0], edges[-1] = both.min(), both.max()
    heights = [np.histogram(one, edges, weights=np.full(len(one), 1 / len(one)))[0] for one in (train, test)]

    def told(value):
        place = bins - 1 if value >= edges[-1] else 0 if value <= edges[0] else np.argwhere(edges <= value)[-1][0]
        for step in range(bins):
            for near in (place - step, place + step):
                if 0 <= near < bins and heights[0][near] + heights[1][near]:
                    return heights[0][near] / (heights[0][near] + heights[1][near])
        raise AssertionError

    return np.array([told(value) for value in values])


def entropies(signals):
    """Modified entropies, by the formula."""
    p = softmax(signals.logits, axis=2)
    own = np.arange(3) == signals.labels[:, None]
    return np.where(own, -(1 - p) * np.log(p), -p * np.log1p(-p)).sum(axis=2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bins", [1, 5, 8])
def test_scores_equal_the_released_code_over_equally_many_references(seed, bins):
    case = problem(seed, models=8, records=60, population=0)
    values, labels, inside = entropies(case.signals), case.signals.labels, case.membership.matrix
    found = score(parse({"method": "risk-score", "bins": bins}), case)
    for target in (0, 5):
        kept = used(case, target, online=True)
        for label in range(3):
            ids = np.flatnonzero(labels == label)
            train, test = (values[:, ids][(kept & mask)[:, ids]] for mask in (inside, ~inside))
            np.testing.assert_allclose(found[target, ids], released(train, test, values[target, ids], bins), rtol=1e-12)


def test_a_record_needs_both_kinds_of_references():
    case = problem(1, models=2)
    with pytest.raises(TooFewReferencesError, match="risk-score: expected at least 1 IN and 1 OUT references"):
        score("risk-score", case)


def test_what_references_always_find_easy_says_nothing_of_the_target():
    """Each record answers alike under all models, so that a bin's IN and OUT answers are those of its records."""
    rng = np.random.default_rng(3)
    labels, known = rng.integers(0, 3, 600), Membership.draw(8, 600, 3)
    logits = np.repeat(rng.normal(size=(1, 600, 3)), 8, axis=0)
    scores = score("risk-score", Problem.make(Signals.from_logits(logits, labels), known))
    np.testing.assert_allclose(scores, 0.5, atol=1e-12)


def test_margins_alone_are_refused_by_name():
    case = problem(0)
    bare = replace(case, signals=replace(case.signals, logits=None), population=None, replicas=None)
    with pytest.raises(InputError, match="risk-score: expected logits of all 3 classes, got margins only"):
        score("risk-score", bare)


def test_it_finds_a_leak():
    case = problem(5, models=16, records=400)
    areas = [auc(row, own) for row, own in zip(score("risk-score", case), case.membership.matrix, strict=True)]
    assert min(areas) > 0.6
