import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent import rounding


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.066, "6.6 %"),
        (0.5, "50.0 %"),
        (0.00999, "1.0 %"),
        (0.0004, "<0.1 %"),
        (0.0005, "0.1 %"),
        (0.0002, "<0.1 %"),
        (0.0, "0.0 %"),
        (1.0, "100.0 %"),
        (0.9998, ">99.9 %"),
        (0.9994, "99.9 %"),
        (1 - 1e-12, "100.0 %"),
        (1e-13, "0.0 %"),
        (-0.0004, ">−0.1 %"),
        (-0.25, "−25.0 %"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_percent(value, text):
    assert rounding.percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.50, "0.500"), (0.506, "0.506"), (0.0, "0.000"), (1.0, "1.000"), (0.9996, ">0.999"), (0.0003, "<0.001")],
)
def test_fraction(value, text):
    assert rounding.fraction(value) == text


@given(st.floats(0, 1), st.integers(1, 6))
def test_what_is_not_0_or_1_is_not_written_as_if_it_were_and_decimals_are_fixed(value, digits):
    for text, whole in ((rounding.fraction(value, digits), 1), (rounding.percent(value, digits)[:-2], 100)):
        bare, exact = text.lstrip("<>"), round(whole * value, rounding.BITS)
        assert len(bare.partition(".")[2]) == digits
        assert math.isclose(float(bare), exact, abs_tol=1.001 * 10.0**-digits)
        if text[0] not in "<>":
            assert (float(text) == 0, float(text) == whole) == (exact == 0, exact == whole)
        elif text[0] == "<":
            assert 0 < exact < float(bare)
        else:
            assert float(bare) < exact < whole


def test_what_is_found_at_small_rates_of_false_alarms_has_the_decimals_that_these_need():
    assert [rounding.decimals(fpr) for fpr in (None, 0.5, 0.1, 0.01, 0.001, 0.0001)] == [1, 1, 1, 1, 2, 3]
    assert rounding.percent(0.00013, rounding.decimals(0.0001)) == "0.013 %"


@pytest.mark.parametrize(
    ("rate", "text"), [(0.1, "10 %"), (0.01, "1 %"), (0.0001, "0.01 %"), (0.29, "29 %"), (0.95, "95 %")]
)
def test_level(rate, text):
    assert rounding.level(rate) == text


def test_limits_are_rounded_outwards_and_as_far_as_tells_them_from_what_they_are_held_against():
    assert [rounding.down(0.57189), rounding.up(0.57181), rounding.up(0.3)] == ["0.5718", "0.5719", "0.3000"]
    assert [rounding.down(0.600004, 0.6), rounding.up(0.599996, 0.6)] == ["0.600004", "0.599996"]
    assert [rounding.down(0.6, 0.6), rounding.up(0.60001, 0.6)] == ["0.6000", "0.6001"]
    assert [rounding.down(0.57015, 0.57012), rounding.up(0.57005, 0.57008)] == ["0.57015", "0.57005"]
    assert [rounding.down(0.57012, 0.57012), rounding.up(0.57012, 0.57012)] == ["0.57012", "0.57012"]
    assert rounding.down(0.6 + 1e-15, 0.6) == "0.600000000000"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0124, 3, "+0.012"),
        (0.0003, 3, "+0.0003"),
        (-0.0003, 3, "−0.0003"),
        (0.04, 1, "+0.04"),
        (-0.004, 2, "−0.004"),
        (0.0, 3, "0.000"),
        (1e-12, 3, "0.000"),
        (-1e-12, 3, "0.000"),
        (None, 3, "–"),
        (math.nan, 3, "–"),
    ],
)
def test_a_difference_is_written_as_zero_only_where_it_is(value, digits, text):
    assert rounding.signed(value, digits) == text


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (0.5004, 0.5, "0.5004"),
        (0.4996, 0.5, "0.4996"),
        (0.5, 0.5, "0.500"),
        (0.5006, 0.5, "0.501"),
        (0.5497, 0.55, "0.5497"),
        (0.55, 0.5 + 0.05, "0.550"),
        (0.5334, 0.5 + 1 / 30, "0.5334"),
        (0.9997, 0.5, ">0.999"),
    ],
)
def test_a_number_held_against_a_limit_is_written_on_its_side(value, limit, text):
    assert rounding.beside(value, limit) == text
    assert rounding.around((value, 1.0), limit) == f"{text} to 1.000"


def test_a_share_held_against_a_rate_is_written_on_its_side():
    assert rounding.percent_beside(0.0103, 0.01) == "1.03 %"
    assert rounding.percent_beside(0.0097, 0.01) == "0.97 %"
    assert rounding.percent_beside(0.01, 0.01) == "1.0 %"
    assert rounding.percent_beside(0.00102, 0.001, 2) == "0.102 %"


@pytest.mark.parametrize(
    ("p", "level", "text"),
    [
        (0.0498, 0.05, "0.0498"),
        (0.0502, 0.05, "0.0502"),
        (0.05, 0.05, "0.050"),
        (0.05, 1 - 0.95, "0.050"),
        (0.0098, 0.05, "0.010"),
        (0.0098, 1 - 0.99, "0.0098"),
        (0.00998, 1 - 0.99, "0.00998"),
        (0.0004, 0.05, "<\N{NO-BREAK SPACE}0.001"),
        (0.0004, 1 - 0.9999, "0.0004"),
        (0.00004, 1 - 0.9999, "<\N{NO-BREAK SPACE}0.0001"),
        (1.0, 0.05, "1.000"),
        (None, 0.05, "–"),
    ],
)
def test_a_p_value_is_written_on_its_side_of_the_level(p, level, text):
    assert rounding.p_value(p, level) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (1234, "1,234"),
        (36.0, "36"),
        (36.5, "36.5"),
        (1234.54, "1,234.5"),
        (2**53 + 1, "9,007,199,254,740,993"),
    ],
)
def test_a_mean_of_counts_is_not_cut_off(value, text):
    assert rounding.count(value) == text
