import math
from functools import partial

import pytest

from reticent import rounding
from reticent.findings.numbers import Area, Estimate
from reticent.findings.population import Population
from reticent.models.butterfly import Butterfly
from reticent.models.cnn import CNN
from reticent.report import cells, estimates
from reticent.report.blocks import Cell, Span
from reticent.report.kinds import method
from reticent.report.render.text import clean
from reticent.rounding import level, percent
from reticent.say.epsilon import shown
from reticent.spec import full
from reticent.training.recipe import Recipe

NBSP = "\u00a0"


def test_a_percentage_is_one_word_on_a_page():
    assert (clean(percent(0.066)), clean(level(0.29))) == (f"6.6{NBSP}%", f"29{NBSP}%")
    assert percent(None) == "–"


@pytest.mark.parametrize(
    ("value", "text"), [(-0.0001, "0.000"), (-1.5, "−1.500"), (None, "–"), (math.nan, "–"), (2, "2.000")]
)
def test_number(value, text):
    assert rounding.number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.94, "1.9 s"), (59.96, "1 min"), (74.2, "1 min 14 s"), (3600, "1 h"), (90_061, "1 day 1 h"), (None, "–")],
)
def test_duration(seconds, text):
    assert rounding.duration(seconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 * 1024**3, "5.0 GiB"), (3 * 1024**4, "3072.0 GiB")],
)
def test_size(amount, text):
    assert rounding.memory(amount) == text


def test_estimates_of_one_target_and_over_targets():
    known = Estimate(mean=0.5, interval=(0.4, 0.6))
    assert estimates.middle(known) == estimates.middle(Area(value=0.5, interval=(0.4, 0.6))) == 0.5
    assert estimates.middle(0.5) == 0.5
    assert estimates.middle(None) is None
    assert estimates.limits(known) == (0.4, 0.6)
    assert estimates.limits(0.5) is None


def test_intervals_are_written_as_their_estimates_are():
    assert rounding.interval((0.0512, 0.0831), rounding.percent) == "5.1 to 8.3 %"
    assert rounding.interval((0.00012, 0.99996), partial(rounding.percent, digits=2)) == "0.01 to >99.99 %"
    assert rounding.interval((0.00012, 0.99996)) == "<0.001 to >0.999"
    assert rounding.interval((-0.0004, 0.9996), rounding.number) == "0.000 to 1.000"


def test_an_estimate_and_its_interval_have_the_same_decimals():
    known = Estimate(mean=0.50, interval=(0.4, 0.506))
    assert cells.estimate(known) == Cell("0.500", 0.5, (Span("0.400", "0.506"),))
    assert cells.estimate(known, True, 2) == Cell("50.00 %", 0.5, (Span("40.00 %", "50.60 %"),))
    assert estimates.written(-0.25, digits=2) == "−0.25"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (True, "yes"),
        (0.0005, "0.0005"),
        ([128, 64], "128, 64"),
        ([], "none"),
        ({"a_b": 1}, "a b 1"),
        ("x", "x"),
    ],
)
def test_plain_values(value, text):
    assert method.value(value) == text


def test_the_line_of_an_architecture_says_which_layers_are_butterfly_layers():
    recipe = full(Recipe(architecture=CNN(butterfly=Butterfly(layers=("4", "8")))))
    assert method.parts(recipe)[0] == ("Architecture", "cnn, butterfly (layers 4 8, factors 2)")


def test_a_bound_from_below_is_rounded_down_and_that_there_is_none_is_told():
    assert [shown(value) for value in (5.0579, 0.41, 0.0, 0.00996)] == ["5.05", "0.41", "none shown", "0.00996"]


def test_very_large_numbers_are_short():
    shown = [rounding.number(value, 2) for value in (999_999.5, 1.25e9, -3e12)]
    assert shown == ["999999.50", "1.2e9", f"{rounding.MINUS}3.0e12"]


def test_models_that_were_trained_together_are_told_of():
    told = dict(method.about_models(None, Population(models=4, stacked=True)))["The models"]
    assert ("several trained together, as one computation (--stack)", "yes") in told
    assert "together" not in str(method.about_models(None, Population(models=4)))
