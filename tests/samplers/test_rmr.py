"""RMR: who is risky, batches that mix nobody, their order, and an optimizer for each strength."""

import pytest
import torch
from labelled import known, visits

from reticent.samplers import rmr
from reticent.samplers.rmr import Rmr
from reticent.samplers.strengths import risky

SCORES = torch.tensor([0.2, -0.3, 0.7, 0.45, 0.2], dtype=torch.float64)


def test_who_is_risky_by_scaled_scores_and_by_rank():
    """Scaled: 0.5, 0, 1, 0.75, 0.5; the shares of members below: 0.2, 0, 0.8, 0.6, 0.2."""
    assert risky(Rmr(threshold=0.5), SCORES).tolist() == [True, False, True, True, True]
    assert risky(Rmr(threshold=0.6), SCORES).tolist() == [False, False, True, True, False]
    assert risky(Rmr(threshold=0.2, scale="quantile"), SCORES).tolist() == [True, False, True, True, True]
    assert risky(Rmr(threshold=0.8, scale="quantile"), SCORES).tolist() == [False, False, True, False, False]


def test_risky_members_come_first_and_share_no_group_with_the_others():
    given = known(5, scores=SCORES.tolist(), weight_decay=0.01)
    assert visits(rmr.build, Rmr(threshold=0.6, strength=1.0), given, 2) == [[([2, 3], 1.0), ([0, 1, 4], 0.01)]] * 2


@pytest.mark.parametrize(("threshold", "wanted"), [(1.0, 0.01), (0.5, 1.0)])
def test_a_part_of_one_member_joins_the_other(threshold, wanted):
    given = known(5, scores=SCORES.tolist(), weight_decay=0.01)
    assert visits(rmr.build, Rmr(threshold=threshold, strength=1.0), given, 1) == [[(list(range(5)), wanted)]]


def test_nobody_is_risky_where_nothing_tells_members_apart():
    assert not risky(Rmr(threshold=0.0), torch.zeros(3, dtype=torch.float64)).any()
