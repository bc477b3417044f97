"""RSW: the exact windows of each class, their order, and what a training visits."""

import pytest
import torch
from labelled import known, visits

from reticent.errors import SpecError
from reticent.samplers import rsw
from reticent.samplers.rsw import Rsw
from reticent.samplers.windows import Window, places, sizes


def rows(spec, given, epochs):
    window = Window(spec, given)
    return [window.rows(epoch).tolist() for epoch in range(epochs)]


def test_the_windows_of_seven_members():
    """algorithms.md 6.4.3: n_c = 7, w = 3, s = 2."""
    assert rows(Rsw(width=3, stride=2), known(7), 6) == [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6], [], []]


def test_each_class_has_its_own_end():
    """Classes of 4 and 7, epoch 1; the released code keeps the end of the first for the second: [2, 4) and [2, 4)."""
    assert rows(Rsw(width=3, stride=2), known(4, 7), 2)[1] == [2, 3, 4 + 2, 4 + 3, 4 + 4]


def test_a_slow_twin():
    """The paper's words, class by class and epoch by epoch, for unequal classes whose rows are mixed."""
    drawn = torch.Generator().manual_seed(0)
    y = torch.randint(0, 4, (60,), generator=drawn)
    scores = torch.rand(60, generator=drawn, dtype=torch.float64).mul(10).round()  # With ties.
    given = known(60, scores=scores.tolist())
    given = type(given)(y, 9, 0.0, scores)
    for order, sign in (("high-to-low", -1), ("low-to-high", 1)):
        ranked = {c: sorted((r for r in range(60) if y[r] == c), key=lambda r: sign * scores[r]) for c in range(4)}
        wanted = [sorted(r for members in ranked.values() for r in members[3 * e : 3 * e + 5]) for e in range(9)]
        assert rows(Rsw(width=5, stride=3, order=order), given, 9) == wanted


def test_a_whole_window_that_stands_still_is_shuffling():
    assert visits(rsw.build, Rsw(width=7, stride=0), known(4, 7), 3) == [[(list(range(11)), 5e-4)]] * 3


def test_one_member_is_no_epoch():
    assert [len(one) for one in visits(rsw.build, Rsw(width=3, stride=2), known(7), 5)] == [1, 1, 1, 0, 0]


def test_equal_scores_are_ranked_by_row_either_way():
    equal = torch.zeros(5, dtype=torch.float64), torch.tensor([0, 1, 0, 1, 0])
    assert places(*equal, descending=True).tolist() == places(*equal, descending=False).tolist() == [0, 0, 1, 1, 2]


def test_the_usual_sizes_come_to_the_end_of_a_mean_class_in_the_last_epoch():
    width, stride = sizes(Rsw(), known(90, 90, epochs=11))
    assert (width, stride) == (40, 5)
    assert stride * 10 + width == 90
    assert sizes(Rsw(), known(3, epochs=1)) == (1, 2)
    assert sizes(Rsw(width=20, stride=0), known(90, epochs=11)) == (20, 0)


def test_wrong_options_are_refused():
    with pytest.raises(SpecError, match="rsw: expected outside below models \\(10\\), got 10"):
        Rsw(outside=10)
    with pytest.raises(SpecError, match="rsw: width"):
        Rsw(width=0)
