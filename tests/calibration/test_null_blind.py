"""How often the blind baseline's interval, and what goes beyond it, are wrong, over 400 seeds.

A shift is found by chance where the lower limit is above 0.5: in at most 2.5 % of cases, so in at most 17 of 400 (the
99 % quantile of the binomial). The interval covers the AUC that the same learner would reach with other records in at
least 92 % (the 1 % quantile of 95 %). An attack that sees no more than the baseline does is called a leak as seldom.
Measured: see the comments at the tests.
"""

import numpy as np
import pytest
from scipy.stats import binom

from reticent.auditing.blind.baseline import baseline
from reticent.auditing.blind.excess import Beyond

SEEDS = 400
AT_MOST = binom.ppf(0.99, SEEDS, 0.025)


def drawn(seed, records=400, shift=0.0):
    rng = np.random.default_rng([seed, records])
    x, members = rng.normal(size=(records, 8)), rng.permutation(np.arange(records) < records // 2)
    x[members, 0] += shift
    return rng, x, members, rng.integers(0, 5, records)


@pytest.mark.calibration
def test_labels_that_say_nothing_are_a_shift_in_one_of_forty_cases():
    found = 0
    for seed in range(SEEDS):
        _, _, members, labels = drawn(seed)
        found += baseline(members[None], labels, seed=seed).found.shift
    assert found <= AT_MOST, found


@pytest.mark.calibration
def test_records_that_say_nothing_are_a_shift_in_one_of_forty_cases():
    found, covered, areas = 0, 0, []
    for seed in range(SEEDS):
        _, x, members, labels = drawn(seed)
        said = baseline(members[None], labels, x, seed=seed).found
        found += said.shift
        covered += said.interval[0] <= 0.5 <= said.interval[1]
        areas.append(said.auc)
    assert found <= AT_MOST, found
    assert covered >= binom.ppf(0.01, SEEDS, 0.95), covered
    assert np.mean(areas) == pytest.approx(0.497, abs=0.005)


@pytest.mark.calibration
@pytest.mark.parametrize("scale", [0.0, 0.5])
def test_an_attack_that_sees_the_shift_alone_is_seldom_called_a_leak(scale):
    """The ideal attack on the shift, without and with noise: it has no learning to do, and the baseline has."""
    called = {"auc": 0, "tpr": 0}
    for seed in range(SEEDS):
        rng, x, members, labels = drawn(seed, shift=1.0)
        blind = baseline(members[None], labels, x, seed=seed)
        scores = x[:, 0] + scale * rng.normal(size=len(x))
        said = Beyond(blind, members[None], (0.1,), rng, 500).excess(scores[None], 0.95)
        called["auc"] += said.auc.interval[0] > 0
        called["tpr"] += said.at(0.1).tpr.interval[0] > 0
    assert max(called.values()) <= AT_MOST, called


@pytest.mark.calibration
def test_the_difference_of_an_attack_that_sees_half_of_the_shift_is_covered():
    """Its AUC in truth is Phi(1 / 2); the baseline's truth is the mean of its AUCs over all seeds."""
    from scipy.special import ndtr

    said = []
    for seed in range(SEEDS):
        rng, x, members, labels = drawn(seed, shift=1.0)
        blind = baseline(members[None], labels, x, seed=seed)
        scores = x[:, 0] + rng.normal(size=len(x))
        excess = Beyond(blind, members[None], (), rng, 500).excess(scores[None], 0.95)
        said.append((blind.found.auc, *excess.auc.interval))
    areas, low, high = np.transpose(said)
    truth = ndtr(0.5) - areas.mean()
    assert np.sum((low <= truth) & (truth <= high)) >= binom.ppf(0.01, SEEDS, 0.95)
