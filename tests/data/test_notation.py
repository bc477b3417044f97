"""Texts as numbers: the right number of each notation, and none where two would fit."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from reticent.data import number_formats


def days(*moments):
    """Count days since 1970 by the standard library."""
    return [moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() / 86400 for moment in moments]


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["5%", "12.5 %", "-3%"], "percentage", [0.05, 0.125, -0.03]),
        (["3,5 %", "10 %"], "percentage", [0.035, 0.1]),
        (["1,234", "999", "-1,000,000.5"], "number in another notation", [1234, 999, -1000000.5]),
        (["1.234,5", "2", "12.000.000"], "number in another notation", [1234.5, 2, 12e6]),
        (["3,14", "2,7", "-10"], "number in another notation", [3.14, 2.7, -10]),
        (["0,123", "1,500"], "number in another notation", [0.123, 1.5]),
        (["$1,200", "-$5", "$0.50"], "number in another notation", [1200, -5, 0.5]),
        (["9.99 €", "1000 €"], "number in another notation", [9.99, 1000]),
        (["$5", "$1000"], "number in another notation", [5, 1000]),
        (["1 234 567", "12"], "number in another notation", [1234567, 12]),
        (["1'234", "1'000'000"], "number in another notation", [1234, 1e6]),
        (["12:30", "00:00", "23:59:59"], "time of day", [0.5208333333333334, 0, 86399 / 86400]),
        (["1:30 PM", "12:00 am", "12:15 pm"], "time of day", [0.5625, 0, 0.5104166666666666]),
    ],
)
def test_numbers_in_another_notation(texts, kind, values):
    found = number_formats.read(texts)
    assert found.kind == kind
    assert found.values.tolist() == pytest.approx(values, rel=1e-15)


@pytest.mark.parametrize(
    ("texts", "moments"),
    [
        (["1970-01-02", "2024-02-29", "1969-12-31"], [(1970, 1, 2), (2024, 2, 29), (1969, 12, 31)]),
        (["2024/1/5", "2024.12.31"], [(2024, 1, 5), (2024, 12, 31)]),
        (["31.12.2020", "01.02.2020"], [(2020, 12, 31), (2020, 2, 1)]),
        (["31/12/2020", "01/02/2020"], [(2020, 12, 31), (2020, 2, 1)]),
        (["12/31/2020", "01/02/2020"], [(2020, 12, 31), (2020, 1, 2)]),
        (["5 Jan 2020", "17-Feb-2021", "1 September 2021"], [(2020, 1, 5), (2021, 2, 17), (2021, 9, 1)]),
        (["March 5, 2020", "Dec. 1 2019"], [(2020, 3, 5), (2019, 12, 1)]),
        (
            ["2020-01-01 06:00", "2020-01-02", "2020-01-01 1:30 pm"],
            [(2020, 1, 1, 6), (2020, 1, 2), (2020, 1, 1, 13, 30)],
        ),
        (["2020-01-01T12:00:00Z", "2020-01-01"], [(2020, 1, 1, 12), (2020, 1, 1)]),
    ],
)
def test_dates_are_days_since_1970(texts, moments):
    found = number_formats.read(texts)
    assert found.kind == "date"
    assert found.values.tolist() == pytest.approx(days(*(datetime(*moment, tzinfo=UTC) for moment in moments)))


def test_times_with_a_zone_are_brought_to_utc():
    found = number_formats.read(["2020-01-01T12:00:00+02:00", "2020-06-30 23:59-0330"])
    east, west = timezone(timedelta(hours=2)), timezone(-timedelta(hours=3, minutes=30))
    right = days(datetime(2020, 1, 1, 12, tzinfo=east), datetime(2020, 6, 30, 23, 59, tzinfo=west))
    assert found.values.tolist() == pytest.approx(right)
    assert found.note.endswith("days since 1970-01-01, in UTC")


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["1,234", "1234"], "holds numbers such as 1,234, whose comma may stand for thousands or for decimals"),
        (["01/02/2020", "03/04/2021"], "holds dates that may begin with the day or with the month, such as 01/02/2020"),
        (["1/2/20", "3/4/99"], "holds dates with years of two digits, such as 1/2/20"),
        (["2020-01-01T12:00Z", "2020-01-01 10:00"], "holds times of which some have a time zone, and others none"),
    ],
)
def test_what_can_be_read_in_two_ways_is_not_read(texts, words):
    found = number_formats.read(texts)
    assert found.values is None
    assert found.note.startswith(f"{words}: write ")


def test_dates_that_mean_one_day_either_way_are_read():
    assert number_formats.read(["01/01/2020", "02/02/2020"]).values.tolist() == [18262, 18294]


@pytest.mark.parametrize(
    "texts",
    [
        ["1.5", "3,14"],
        ["12 kg"],
        ["5%", "5"],
        ["$5", "5 €"],
        ["2020-02-30"],
        ["2020-01-01", "31.12.2020"],
        ["31/12/2020", "12/31/2020"],
        ["25:00"],
        ["13:00 PM"],
        ["10-19"],
        ["red"],
        [],
    ],
)
def test_what_fits_no_one_notation_is_none(texts):
    assert number_formats.read(texts) is None


def test_thousands_that_may_be_decimals_are_told():
    assert number_formats.read(["1,234", "999"]).unsure
    assert not number_formats.read(["1,234", "1,234,567"]).unsure
    assert not number_formats.read(["1,234.5", "1,234"]).unsure
    assert not number_formats.read(["0,123", "1,500"]).unsure


def test_numbers_beside_something_else_are_recognised():
    semi = ["<5", ">= 100", "12 kg", "12kg", "3/4", "$5", "5 %", "2020-01-01", "12:30", "5mg/l", "1/2/20"]
    assert [text for text in semi if not number_formats.is_mixed(text)] == []
    other = ["10-19", "V57", "250.83", "7", "[0-10)", "A12", "red", "none", "2020-02-30"]
    assert [text for text in other if number_formats.is_mixed(text)] == []


def test_codes_are_whole_numbers_with_a_zero_in_front():
    assert number_formats.are_codes(["01", "12"])
    assert not number_formats.are_codes(["0", "12"])
    assert not number_formats.are_codes(["01", "1.5"])
    assert not number_formats.are_codes(["01", "a"])
