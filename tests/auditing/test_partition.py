"""Groups from columns: names, ranges, missing values, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.auditing.partition import MISSING, by_class, by_column
from reticent.errors import InputError, ShapeError
from reticent.findings.audit import Group, GroupDifference, Grouping
from reticent.findings.numbers import ShareEstimate
from reticent.findings.population import Population
from reticent.say.groups import spoken


def grouped(values):
    found = by_column("c", values, len(values))
    return found.names, found.values()


def test_texts_are_groups_in_sorted_order():
    names, values = grouped(np.array(["m", "f", " m", "x"]))
    assert names == ("f", "m", "x")
    assert values == ["m", "f", "m", "x"]


def test_what_is_missing_is_a_group_of_its_own():
    for column in (["a", "", "b"], ["a", None, "b"], np.array(["a", np.nan, "b"], dtype=object)):
        assert grouped(column) == (("a", "b", MISSING), ["a", MISSING, "b"])
    assert grouped(np.array(["nan", "b"]))[0] == ("b", "nan")
    assert grouped([1.0, np.nan, 10.0, 2.0]) == (("1", "2", "10", MISSING), ["1", MISSING, "10", "2"])
    assert grouped(np.array(["2001-01-01", "NaT"], dtype="datetime64[D]"))[0] == ("2001-01-01", MISSING)


def test_few_numbers_are_groups_ordered_by_size():
    assert grouped(np.array([10, 9, 9, 100]))[0] == ("9", "10", "100")
    assert grouped(np.array([0.1, 0.25], dtype=np.float32))[0] == ("0.1", "0.25")
    assert grouped(np.array([True, False]))[0] == ("False", "True")


def test_many_numbers_are_cut_at_their_quartiles():
    ages = np.concatenate([np.arange(17, 91), [np.nan]])
    found = by_column("age", ages, 75)
    assert found.names == ("17 to 35", "36 to 53", "54 to 72", "73 to 90", MISSING)
    assert np.bincount(found.codes).tolist() == [19, 18, 19, 18, 1]
    texts = by_column("age", np.array(["" if np.isnan(age) else f"{age:.0f}" for age in ages]), 75)
    assert texts.names == found.names
    assert texts.codes.tolist() == found.codes.tolist()


def test_a_value_that_most_records_share_is_one_range():
    gains = np.concatenate([np.zeros(80), np.arange(1, 31)])
    found = by_column("gain", gains, 110)
    assert found.names == ("0", "1 to 2", "3 to 30") or found.names[0] == "0"
    assert (found.codes[:80] == 0).all()
    assert (found.codes[80:] > 0).all()


def test_ranges_that_round_alike_get_more_digits():
    values = 1 + np.arange(40) * 1e-7
    names = by_column("x", values, 40).names
    assert len(set(names)) == 4
    assert names[0].startswith("1 to 1.0000009")


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), min_size=1, max_size=60))
def test_every_record_is_in_exactly_one_group_that_holds_its_value(values):
    found = by_column("x", np.array(values), len(values))
    assert len(set(found.names)) == len(found.names) == len(set(found.codes.tolist()))
    for value, code in zip(values, found.codes, strict=True):
        assert (found.names[code] == MISSING) == (value != value)
    known = [(value, code) for value, code in zip(values, found.codes, strict=True) if value == value]
    # Larger values are never in an earlier group.
    assert all(a[1] <= b[1] for a, b in zip(sorted(known), sorted(known)[1:], strict=False))


def test_classes_are_named_by_number():
    found = by_class(np.array([2, 0, 2]))
    assert (found.by, found.names) == ("class", ("0", "2"))
    assert found.codes.tolist() == [1, 0, 1]


def test_too_many_groups_say_what_to_do():
    with pytest.raises(InputError, match=r"'zip' has 201 different values, at most 200 .* give a coarser column"):
        by_column("zip", [f"Z{i}" for i in range(201)], 201)
    assert len(by_column("zip", [f"Z{i}" for i in range(200)], 200).names) == 200


def test_one_value_a_record():
    with pytest.raises(ShapeError, match=r"'sex': expected one value a record, \(3,\), got shape \(2,\)"):
        by_column("sex", ["f", "m"], 3)


def test_that_numbers_were_cut_is_told():
    numbers = by_column("id", np.arange(100), 100)
    assert numbers.cut
    assert not by_column("kind", np.arange(100) % 3, 100).cut
    same = ShareEstimate(mean=0.5, interval=(0.4, 0.6))
    apart = GroupDifference(mean=0.0, interval=(-0.1, 0.1), p=1.0, p_corrected=1.0)
    groups = tuple(Group(name=name, auc=same, difference=apart) for name in numbers.names)
    for some in (groups, groups[:1]):
        entry = spoken(Grouping(by="id", cut=True, groups=some, records_needed=40), (), Population(models=2))
        assert entry.sentence.endswith("was cut at its quartiles.")
