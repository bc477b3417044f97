"""How often the blind baseline's interval, and what goes beyond it, are wrong.

A shift is found by chance where the lower limit is above 0.5: in at most 2.5 % of cases, so in at most 17 of 400 seeds
(the 99 % quantile of the binomial). The interval covers 0.5 in at least 92 % (the 1 % quantile of 95 %). An attack that
sees no more than the baseline could is called a leak as seldom, over 200 seeds. Measured: labels
7 of 400; an attack called a leak 0 of 200 by its AUC and at most 3 by its TPR; the difference covered in 192 to 200.
"""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from reticent.auditing.blind.baseline import baseline
from reticent.auditing.blind.excess import Beyond

SEEDS, FEWER = 400, 200
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
        said = baseline(members[None], labels, x.__getitem__, seed=seed).found
        found += said.shift
        covered += said.interval[0] <= 0.5 <= said.interval[1]
        areas.append(said.auc)
    assert found <= AT_MOST, found
    assert covered >= binom.ppf(0.01, SEEDS, 0.95), covered
    assert np.mean(areas) == pytest.approx(0.497, abs=0.005)


@pytest.fixture(scope="module")
def shifted():
    """What attacks find beyond the baseline, over seeds: the ideal one on the shift, one with noise, and a weak one."""
    found = {0.0: [], 0.5: [], 1.0: []}
    for seed in range(FEWER):
        rng, x, members, labels = drawn(seed, shift=1.0)
        blind = baseline(members[None], labels, x.__getitem__, seed=seed)
        beyond = Beyond(blind, members[None], (0.1,), rng, 500)
        for scale, said in found.items():
            scores = x[:, 0] + scale * rng.normal(size=len(x))
            said.append((blind.found.auc, beyond.excess(scores[None], 0.95)))
    return found


@pytest.mark.calibration
@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0])
def test_an_attack_that_sees_the_shift_alone_is_seldom_called_a_leak(shifted, scale):
    """Without noise it is the ideal attack on the shift, which has no learning to do, as the baseline has."""
    called = {
        "auc": sum(said.auc.interval[0] > 0 for _, said in shifted[scale]),
        "tpr": sum(said.at(0.1).tpr.interval[0] > 0 for _, said in shifted[scale]),
    }
    assert max(called.values()) <= binom.ppf(0.99, FEWER, 0.025), called


@pytest.mark.calibration
@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0])
def test_the_difference_is_covered(shifted, scale):
    """The attack's AUC in truth is Phi(1 / sqrt(2 + s^2)); the baseline's truth is the mean of its AUCs over seeds."""
    truth = ndtr(1 / np.sqrt(2 + scale**2)) - np.mean([area for area, _ in shifted[scale]])
    covered = sum(said.auc.interval[0] <= truth <= said.auc.interval[1] for _, said in shifted[scale])
    assert covered >= binom.ppf(0.01, FEWER, 0.95), covered
