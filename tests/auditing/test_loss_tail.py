"""The tail of large losses: closed forms, ties, and what cannot be measured."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import beta

from reticent.auditing.loss_tail import loss_tail
from reticent.say.loss_tail import spoken


def normal(count, mean=0.0):
    return ndtri((np.arange(count) + 0.5) / count) + mean


def test_normal_losses_have_the_closed_form():
    """Members N(0, 1), non-members N(2, 1): Phi(2 - Phi^-1(.999)) = .137805 at a false-negative rate of .001."""
    losses, members = np.concatenate([normal(40_000), normal(40_000, 2)]), np.arange(80_000) < 40_000
    first, second = loss_tail(-losses, members).rates
    assert (first.fnr, second.fnr) == (0.01, 0.001)
    assert second.tnr == pytest.approx(0.137805, abs=1e-3)
    assert first.tnr == pytest.approx(ndtr(2 - ndtri(0.99)), abs=1e-3)
    found = round(second.tnr * 40_000)
    assert second.interval[0] == pytest.approx(beta.ppf(0.025, found, 40_000 - found + 1))


def test_equal_losses_give_the_rate_itself():
    losses, members = np.tile(normal(10_000), 2), np.arange(20_000) < 10_000
    assert [rate.tnr for rate in loss_tail(-losses, members).rates] == [0.01, 0.001]


def test_equal_scores_are_never_cut_and_few_members_are_not_measured():
    members = np.arange(400) < 200
    tied, none = loss_tail(np.where(members, 0.0, -1.0) * (np.arange(400) % 2), members).rates
    assert tied.tnr == 0.5  # half of the non-members lie above all members
    assert (none.tnr, none.interval, none.records_needed) == (None, None, 1_000)
    assert loss_tail(np.zeros(400), members).rates[0].tnr == 0
    found = spoken(loss_tail(np.arange(60.0), np.arange(60) < 30))
    assert found.sentence == "The tail of large losses cannot be measured: that needs 100 members."
    assert spoken(loss_tail(np.where(members, 0.0, -1.0), members)).sentence.startswith(">99.9 %") is False


def test_the_sentence_gives_both_shares():
    members = np.arange(400) < 200
    losses = np.concatenate([normal(200), normal(200, 2)])
    said = spoken(loss_tail(-losses, members)).sentence
    assert "of non-members have a larger loss than all but 1 % of the members (95 % interval" in said
    assert said.endswith("if both had alike losses, it would be 1.5 % on average.")


def test_alike_losses_give_what_is_said_of_them():
    rng = np.random.default_rng(0)
    found = [loss_tail(rng.normal(size=1100), np.arange(1100) < 100).rates[0] for _ in range(400)]
    assert np.mean([one.tnr for one in found]) == pytest.approx(found[0].alike, abs=0.002)
