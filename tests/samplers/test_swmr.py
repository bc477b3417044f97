"""SWMR: the window first, then the two strengths within it."""

from labelled import known, visits

from reticent.samplers import rmr, rsw, swmr
from reticent.samplers.rmr import Rmr
from reticent.samplers.rsw import Rsw
from reticent.samplers.swmr import Swmr

GIVEN = known(9, 5)


def test_the_window_is_divided_by_the_threshold():
    """Scores fall from 1 by 1/13: rows 0 to 5 are at 0.6 or more."""
    spec = Swmr(width=4, stride=2, threshold=0.6, strength=1.0)
    assert visits(swmr.build, spec, GIVEN, 3) == [
        [([0, 1, 2, 3], 1.0), ([9, 10, 11, 12], 5e-4)],
        [([2, 3, 4, 5], 1.0), ([11, 12, 13], 5e-4)],
        [([4, 5], 1.0), ([6, 7, 13], 5e-4)],
    ]


def test_a_whole_window_that_stands_still_is_rmr():
    wanted = visits(rmr.build, Rmr(threshold=0.6, strength=1.0), GIVEN, 3)
    assert visits(swmr.build, Swmr(width=9, stride=0, threshold=0.6, strength=1.0), GIVEN, 3) == wanted


def test_one_strength_is_rsw_with_the_risky_members_first():
    """What an epoch visits is the same, under one weight decay and so by one optimizer."""
    wanted = visits(rsw.build, Rsw(width=4, stride=2), GIVEN, 6)
    for groups, one in zip(visits(swmr.build, Swmr(width=4, stride=2, strength=5e-4), GIVEN, 6), wanted, strict=True):
        assert {decay for _, decay in groups} <= {5e-4}
        assert sorted(row for rows, _ in groups for row in rows) == [row for rows, _ in one for row in rows]
