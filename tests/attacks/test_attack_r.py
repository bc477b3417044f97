"""Attack-R: where a record's loss lies among those under models that were not trained on it."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from attack_cases import problem, used

from reticent.attacks import Problem, score
from reticent.attacks.attack_r import rates
from reticent.signals.matrix import Signals


def test_examples_of_the_algorithms_page():
    references = np.log([[2.0] * 6, [1.0] * 6, [3.0] * 6, [np.inf] * 6])
    losses = np.log([1.5, 2.0, 1e-300, 0.25, 501.5, 2000.0])
    expected = [0.375, 0.5, 0.0, 0.0625, 0.875, 1.0]
    np.testing.assert_allclose(rates(references, losses), expected, rtol=1e-12, atol=1e-12)


def loss(margin):
    """``ln(1 + e^-margin)``, however small or large."""
    with localcontext(prec=60):
        odds = (-Decimal(margin)).exp()
        return odds if odds < Decimal("1e-30") else (1 + odds).ln()


def plain(references, margin):
    """The released interpolation, in numbers that hold any loss."""
    own, known = loss(margin), sorted(loss(one) for one in references)
    ends = [Decimal(0), *known, max(Decimal(1000), *known)]
    if own >= ends[-1]:
        return 1.0
    place = sum(end <= own for end in ends) - 1
    return (place + float((own - ends[place]) / (ends[place + 1] - ends[place]))) / (len(known) + 1)


def compare(case, **within):
    margins, found = case.signals.margins[:, :, 0], score("attack-r", case)
    outside = ~case.membership.matrix
    for row, target in enumerate(case.targets):
        kept = used(case, target, online=False) & outside
        for record in range(case.signals.records):
            expected = plain(margins[kept[:, record], record].tolist(), float(margins[target, record]))
            assert found[row, record] == pytest.approx(1 - expected, **within)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rows", [{}, {"targets": [1, 4], "references": [0, 1, 2, 5, 6, 7]}])
def test_scores_equal_the_plain_interpolation_over_equally_many_references(seed, rows):
    compare(problem(seed, models=8, records=24, population=0, **rows), rel=1e-9)


@pytest.mark.parametrize("middle", [-1200, -1000, 0, 60, 700, 5000])
def test_losses_that_are_no_numbers_are_told_apart(middle):
    """Below the smallest number, and above the largest loss that the released code knows."""
    case = problem(0, models=8, records=24, population=0)
    margins = np.random.default_rng(middle + 2000).normal(middle, 100, (8, 24))
    compare(Problem.make(Signals.from_margins(margins, np.arange(24) % 2), case.membership), abs=1e-9)


def test_members_and_non_members_have_equally_many_references():
    """Else the steps of the scores, of one over their number plus one, would tell the two apart where nothing leaks."""
    case = problem(3, models=8, records=40, population=0, effect=0.0)
    flat = Signals.from_margins(np.zeros((8, 40)) + np.arange(8)[:, None] * (np.arange(8)[:, None] == 0), np.zeros(40))
    known = Problem.make(flat, case.membership, targets=[0])
    assert len(np.unique(np.round(score("attack-r", known), 12))) == 1


def test_losses_beyond_every_number_stay_finite():
    margins = np.array([[-5000.0, 5000.0, -5000.0], [900.0, 900.0, -5000.0], [900.0, 900.0, -5000.0]])
    known = [[True, True, False], [True, False, False], [False, False, True]]
    case = Problem.make(Signals.from_margins(margins, np.zeros(3)), known, targets=[0])
    assert np.isfinite(score("attack-r", case)).all()
    assert score("attack-r", case)[0, :2].tolist() == [0.0, 1.0]
