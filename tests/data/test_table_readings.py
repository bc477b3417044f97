"""What the columns of a table become: the right features, what is refused with its remedy, and what is said."""

import csv
import hashlib
import re
from datetime import UTC, date, datetime, time
from decimal import Decimal

import numpy as np
import pytest

from reticent.cli.data import app
from reticent.data import delimited
from reticent.data.load import load, of_python, together
from reticent.data.notices import notices
from reticent.data.records import Records
from reticent.data.units import Units
from reticent.errors import ColumnsError, InputError, SpecError, UnknownNameError
from reticent.options import DataOptions

N = 60


def table(tmp_path, file="t.csv", /, **columns):
    """Write a table; a label is put behind it."""
    columns.setdefault("label", [i % 2 for i in range(N)])
    with (tmp_path / file).open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return tmp_path / file


def reading(records, column):
    return next(one for one in records.readings if one.column == column)


def cycle(*values):
    return [values[i % len(values)] for i in range(N)]


def test_each_column_becomes_what_it_is(tmp_path):
    path = table(
        tmp_path,
        age=cycle(31, 42, 53),
        when=cycle("2020-01-01", "2020-01-03"),
        rate=cycle("5%", "12.5 %"),
        income=cycle("1,234.5", "900"),
        colour=cycle("red", "blue", ""),
        zip=cycle("01", "1", "10"),
    )
    records = load(path)
    assert records.x[:3].tolist() == [
        pytest.approx([31, 18262, 0.05, 1234.5, 0, 0, 1, 1, 0, 0]),
        pytest.approx([42, 18264, 0.125, 900, 0, 1, 0, 0, 1, 0]),
        pytest.approx([53, 18262, 0.05, 1234.5, 1, 0, 0, 0, 0, 1]),
    ]
    told = [(one.column, one.read_as, one.values, one.missing, one.features) for one in records.readings]
    assert told == [
        ("age", "number", 3, 0, 1),
        ("when", "date", 2, 0, 1),
        ("rate", "percentage", 2, 0, 1),
        ("income", "number in another notation", 2, 0, 1),
        ("colour", "category", 2, 20, 3),
        ("zip", "category", 3, 0, 3),
        ("label", "label", 2, 0, 0),
    ]
    assert reading(records, "colour").note == "gaps are a category of their own"
    assert reading(records, "zip").note == "codes, since some begin with a zero"


def test_codes_and_labels_of_a_table_of_numbers_alone_are_not_merged(tmp_path):
    records = load(table(tmp_path, code=cycle("01", "1", "1"), x=range(N)))
    assert records.x[:3, :2].tolist() == [[1, 0], [0, 1], [0, 1]]
    with pytest.raises(InputError, match=r"holds both '01' \(line 2\) and '1' \(line 3\), which are one number"):
        load(table(tmp_path, x=range(N), label=cycle("01", "1")))
    quoted = tmp_path / "q.csv"
    quoted.write_text("x,code,label\n" + "".join(f'{i},"0{i % 3}",{i % 2}\r\n' for i in range(N)))
    assert reading(load(quoted), "code").read_as == "category"
    plain = load(table(tmp_path, a=cycle(0, 0.5, "-0.25"), b=cycle(0, 10, 100)))
    assert [one.read_as for one in plain.readings[:2]] == ["number", "number"]


def test_labels_with_underscores_are_texts(tmp_path):
    records = load(table(tmp_path, x=cycle(1, 2), label=cycle("1_0", "10", "2")))
    assert (records.class_names, records.y[:3].tolist()) == (("10", "1_0", "2"), [1, 0, 2])


def test_a_label_that_is_not_known_is_no_class_among_numbers_and_told_among_texts(tmp_path, caplog):
    for gap in ("NA", "None", "?", "nan", "null"):
        with pytest.raises(InputError, match=r"the label's column 'label' is empty, NaN or infinite in 20 records"):
            load(table(tmp_path, x=cycle(1, 2), label=cycle(0, 1, gap)))
        caplog.clear()
        assert len(load(table(tmp_path, x=cycle(1, 2), label=cycle("a", "b", gap))).class_names) == 3
        assert f"has {gap!r} as a class: if it stands for no label, leave those records out" in caplog.text


def test_numbers_too_large_for_a_feature_are_told_with_their_column(tmp_path):
    path = table(tmp_path, big=cycle(1e40, 1), huge=cycle(1, 1e200))
    with pytest.raises(
        ColumnsError, match=r"'big' reaches 1e\+40, expected at most 3.4e\+38\n  'huge' reaches 1e\+200,"
    ):
        load(path)
    with pytest.raises(ColumnsError, match=r"column 'huge' reaches 1e\+200, expected at most 1e\+150: mend it, or add"):
        load(path, scale="standard")
    assert load(path, scale="standard", not_features="huge").x[:2].tolist() == [[1], [-1]]


@pytest.mark.parametrize("cell", ["01", "-01", "+09", " 00", '"01"'])
@pytest.mark.parametrize("separator", [",", "\t", "\r", "\n"])
def test_codes_are_found_wherever_a_cell_begins(cell, separator):
    assert delimited.has_codes(f"a,b\n1{separator}{cell}")


def test_numbers_are_no_codes():
    assert not delimited.has_codes("a,b\n0,0.5\n-0.01,1e-05\n100,10.07\n0")


def test_codes_of_one_part_are_codes_of_all(tmp_path):
    one = table(tmp_path, "a.csv", code=cycle("01", "12"))
    two = table(tmp_path, "b.csv", code=cycle("1", "12"))
    records, rows = together({"a": one, "b": two})
    assert records.x[:2].tolist() == [[1, 0, 0], [0, 0, 1]]
    assert records.x[rows["b"][:2]].tolist() == [[0, 1, 0], [0, 0, 1]]


def test_all_bad_columns_are_told_at_once_with_one_line_that_mends_them(tmp_path):
    n = 1200
    columns = {
        "": range(n),
        "name": [f"p{i}" for i in range(n)],
        "the diagnosis": [f"d{i % 600 if i < 600 else i % 60}" for i in range(n)],
        "code": [f"c{i % 600}" for i in range(n)],
        "weight": ["" if i % 3 == 0 else i % 40 for i in range(n)],
        "seen": [f"0{1 + i % 9}/0{1 + i % 8}/2020" for i in range(n)],
        "label": [i % 2 for i in range(n)],
    }
    path = table(tmp_path, **columns)
    with pytest.raises(ColumnsError) as caught:
        load(path)
    assert str(caught.value).splitlines() == [
        f"{path}: 6 columns cannot be features as they are:",
        "  '' has no name and a number of its own for every record: it is the index that the table was written with",
        "  'name' has a text of its own for every record: it names records and does not describe them",
        "  'the diagnosis' has 600 different texts, at most 500 make categories",
        "  'code' has 600 different texts, at most 500 make categories",
        "  'weight' is empty or NaN in 400 of 1200 records, the first is line 2",
        "  'seen' holds dates that may begin with the day or with the month, such as 01/01/2020: write them as "
        "2020-12-31 or 2020-12-31T23:59:00Z",
        "mend them, or add --not-feature '' --not-feature name --rare 'the diagnosis=10' --hash code=64 --missing "
        "indicator --not-feature seen (--not-feature leaves a column out; --rare COLUMN=N joins texts of fewer than N "
        "records; --hash COLUMN=N puts texts into N features; --missing indicator fills gaps by the median and says "
        "where)",
    ]
    assert [one.read_as for one in caught.value.readings] == ["refused"] * 6 + ["label"]
    records = load(
        path, not_features=["", "name", "seen"], rare={"the diagnosis": 10}, hash={"code": 64}, missing="indicator"
    )
    assert records.x.shape == (n, 61 + 64 + 2)


def test_rare_texts_are_one_category_and_hashes_are_those_of_blake2(tmp_path):
    path = table(tmp_path, code=["a"] * 30 + ["b"] * 25 + ["c"] * 4 + ["d"])
    joined = load(path, rare={"code": 5})
    assert joined.x.argmax(axis=1).tolist() == [0] * 30 + [1] * 25 + [2] * 5
    assert reading(joined, "code").note == "2 texts of fewer than 5 records are one category"
    assert load(path, rare={"code": 2}).x.argmax(axis=1).tolist() == [0] * 30 + [1] * 25 + [2] * 4 + [3]
    hashed = load(path, hash={"code": 7})
    right = [int.from_bytes(hashlib.blake2b(c.encode(), digest_size=8).digest(), "little") % 7 for c in "abcd"]
    assert hashed.x.shape == (N, 7)
    assert hashed.x.argmax(axis=1)[[0, 30, 55, 59]].tolist() == right
    assert len({joined.digest, hashed.digest, load(path).digest}) == 3  # what is read otherwise is trained anew


def test_numbers_that_are_codes_may_be_joined_or_hashed(tmp_path):
    fast = load(table(tmp_path, code=cycle(7, 7, 7, 1)), rare={"code": 20})
    slow = load(table(tmp_path, code=cycle("7", "7.0", "7", "1"), text=cycle("a", "b")), rare={"code": 20})
    assert fast.x[:4].tolist() == slow.x[:4, :2].tolist() == [[1, 0], [1, 0], [1, 0], [0, 1]]


def test_gaps_among_numbers_are_filled_by_the_median_of_all_records_and_said(tmp_path):
    path = table(tmp_path, a=cycle("", 1, 2, 9, "NA", 4), when=cycle("2020-01-01", "?", "2020-01-05"))
    with pytest.raises(ColumnsError, match=r"'a' is empty or NaN in 20 of 60 records, the first is line 2"):
        load(path)
    records = load(path, missing="indicator")
    assert records.x[:6, :2].tolist() == [[3, 1], [1, 0], [2, 0], [9, 0], [3, 1], [4, 0]]
    assert records.x[:3, 2:].tolist() == [[18262, 0], [18264, 1], [18266, 0]]
    assert reading(records, "a").note == "gaps are filled by the median 3, and a feature says where"
    with pytest.raises(ColumnsError, match=r"'a' is empty or NaN in 60 of 60 records.*or add --not-feature a"):
        load(table(tmp_path, a=[np.nan] * N), missing="indicator")
    with pytest.raises(ColumnsError, match=r"'a' is infinite in 1 of 60 records, the first is line 3"):
        load(table(tmp_path, a=[1, "inf", *range(58)]), missing="indicator")


def test_scale_standard_takes_mean_and_deviation_of_all_records_before_anything_is_rounded(tmp_path):
    big = [10**9 + i % 4 for i in range(N)]
    path = table(tmp_path, big=big, colour=cycle("a", "b"))
    assert load(path).x[:4, 0].tolist() == [1e9] * 4  # float32 cannot tell them apart
    scaled = load(path, scale="standard")
    right = (np.array(big) - np.mean(big)) / np.std(big)
    assert scaled.x[:, 0].tolist() == pytest.approx(right.tolist(), rel=1e-6)
    assert scaled.x[:2, 1:].tolist() == [[1, 0], [0, 1]]
    assert notices(scaled) == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"a": cycle(1e9, 2e9), "b": cycle(1, 2)}, "'a' reaches up to 2e+09, 'b' up to 2: networks learn badly"),
        ({"a": cycle(1e9, 2e9), "b": cycle(0, 1), "c": cycle("u", "v")}, "'a' reaches up to 2e+09: networks learn"),
        ({"year": cycle(1e6, ""), "b": cycle("u", "v"), "c": cycle(2, 3)}, "'year' reaches up to 1e+06, 'c' up to 3:"),
        ({"a": cycle(1e-5, 2e-5), "b": cycle(0, 1)}, "'b' reaches up to 1, 'a' up to 2e-05"),
        ({"year": cycle(2010, 2011, ""), "b": cycle(0, 1), "c": cycle("u", "v")}, None),
        ({"a": cycle(1, -999), "b": cycle(1, 2)}, None),
    ],
)
def test_columns_of_very_different_size_are_told_with_the_remedy(values, words, tmp_path, caplog):
    path = table(tmp_path, **values)
    load(path, missing="indicator")
    assert (
        (words in caplog.text and "--scale standard brings all numbers to one scale" in caplog.text)
        if words
        else (caplog.text == "")
    )


def test_arrays_of_very_different_size_are_told_too(tmp_path, caplog):
    np.savez(tmp_path / "d.npz", x=np.array([[1e6, 2], [2e6, 0]]), y=[0, 1])
    load(tmp_path / "d.npz")
    assert "feature 0 reaches up to 2e+06, feature 1 up to 2" in caplog.text
    assert "(x - x.mean(axis=0)) / x.std(axis=0)" in caplog.text


def test_values_that_32_bits_do_not_tell_apart_are_told_with_their_counts(tmp_path, caplog):
    seconds = 1_700_000_000 + 17 * np.arange(N)  # 1,003 seconds: 128 lie between two numbers of 32 bits
    load(table(tmp_path, sold=cycle("0", *map(str, seconds[:-1]))))
    assert "of 60 different values the 32 bits of a feature keep 10 apart: --scale standard" in caplog.text
    caplog.clear()
    scaled = load(table(tmp_path, sold=list(seconds)), scale="standard")
    assert len(np.unique(scaled.x[:, 0])) == N
    assert "32 bits" not in caplog.text
    np.savez(tmp_path / "d.npz", x=np.stack([seconds / 1.0, np.linspace(0, 1, N)], axis=1), y=np.arange(N) % 2)
    load(tmp_path / "d.npz")
    assert "x: feature 0: of 60 different values the 32 bits of a feature keep 9 apart" in caplog.text
    assert "feature 1:" not in caplog.text


def test_categories_that_differ_in_capitals_alone_are_told(tmp_path, caplog):
    records = load(table(tmp_path, a=cycle("Yes", "yes", "no"), label=cycle(0, 1)))
    assert reading(records, "a").telling
    assert "column 'a': 'Yes' and 'yes' differ in capitals or blanks alone, and are two categories" in caplog.text


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("x", range(5, 5 + N), "seems to number the records (counts from 5 to 64)"),
        ("patientID", [int(1e6) + 7 * i for i in range(N)], "seems to number the records (has a telling name)"),
        ("patient_nbr", [7 * (i // 2 * 2 if i < 40 else i) for i in range(N)], "(has a telling name)"),
        ("x", [i + i // 9 for i in range(N)], "seems to number the records (counts from 0 to 65)"),
        ("income", [int(1e6) + 7 * i for i in range(N)], None),
        ("income", [int(1e6) + 7 * max(i, 1) for i in range(N)], None),
        ("income", [int(1e6) + 7.5 * i for i in range(N)], None),
        ("id", cycle(1, 2, 3), None),
        ("text", [f"t{i % 40}" for i in range(N)], "40 texts for 60 records, by which a model knows most of them"),
        (
            "text",
            [f"t{i % 30}" for i in range(N)],
            "30 texts for 60 records, by which a model knows them a few at",
        ),
        (
            "text",
            [f"t{i % 13}" for i in range(N)],
            "13 texts for 60 records, by which a model knows them a few at",
        ),
        ("text", [f"t{i % 12}" for i in range(N)], None),
        ("share", cycle("5%", "6"), "most of its values are numbers or dates, such as '5%', but not all can be read"),
        ("share", cycle("5%", "6", "low", "high"), None),
        ("share", cycle("5%", "6", "7", "low", "high"), "most of its values are numbers or dates, such as '5%'"),
        ("code", cycle("01", "02", "1"), None),
        ("dose", cycle("12 kg", "<5", "7 kg"), "most of its values are numbers or dates, such as '12 kg'"),
        ("day", [*(["2020-01-01", "2020-01-02"] * 29), "soon", "soon"], "numbers or dates, such as '2020-01-01'"),
        ("sales", cycle("1,234", "999"), "1,234 is read as 1234: if the comma is a decimal one, write a point"),
    ],
)
def test_what_should_not_be_overlooked_is_told(name, values, words, tmp_path, caplog):
    records = load(table(tmp_path, **{name: values}))
    found = reading(records, name)
    assert found.telling == (words is not None)
    told = [sentence for sentence in notices(records) if sentence.startswith("column")]
    if words is None:
        assert told == []
    else:
        assert words in found.note
        assert f"column {name!r}: " in caplog.text
        assert words in told[0]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([f"p{i}" for i in range(N)], 60),
        ([f"{2000 + i // 12}-{1 + i % 12:02}-01" for i in range(N)], 60),
        ([date(2000 + i, 1, 1) for i in range(N)], 60),
        (range(N), 60),
        (range(100, 100 + N), 60),
        ([0, 0, 0, *range(1, N - 2)], 58),
    ],
)
def test_a_label_that_names_the_records_is_refused(labels, classes, tmp_path):
    path = table(tmp_path, x=cycle(1, 2), label=labels)
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(caught.value) == (
        f"{path}: the label's column 'label' has {classes} classes for 60 records: it names records and does not "
        "describe them; give the column of a class"
    )


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (cycle("2020-01-01", "2020-02-01"), "holds dates, and each of 2 is a class: is it meant as the label?"),
        (
            [0] * 30 + list(range(1, 31)),
            "30 of its 31 classes have a single record, which a model knows by its class",
        ),
        ([0, 1] * 29 + [2, 3], "2 of its 4 classes have a single record, which a model knows by its class"),
        ([0, 1, 2] * 19 + [0, 1, 3], ""),
    ],
)
def test_a_label_that_should_not_be_overlooked_is_told(labels, words, tmp_path, caplog):
    found = reading(load(table(tmp_path, x=cycle(1, 2), label=labels)), "label")
    assert (found.read_as, found.note, found.telling) == ("label", words, bool(words))
    assert (f"column 'label': {words}" in caplog.text) == bool(words)


def test_a_label_of_dates_in_a_frame_is_told():
    import pyarrow as pa

    frame = pa.table({"x": cycle(1, 2), "day": cycle(date(2020, 1, 1), date(2020, 1, 2))})
    found = reading(of_python("dataset", frame, DataOptions(label="day")), "day")
    assert found.note == "holds dates, and each of 2 is a class: is it meant as the label?"


def test_a_table_of_few_records_has_no_identifiers(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("name,x,label\na,1,0\nb,2,1\nc,3,0\n")
    assert [one.telling for one in load(path).readings] == [False] * 3


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_the_index_that_a_table_was_written_with_is_refused(name, tmp_path):
    path = table(tmp_path, **{name: range(N), "x": cycle(1, 2)})
    with pytest.raises(ColumnsError, match="it is the index that the table was written with"):
        load(path)
    assert load(path, not_features=[name]).x.shape == (N, 1)


def test_a_nameless_column_of_whole_numbers_that_repeat_is_told(tmp_path, caplog):
    records = load(table(tmp_path, **{"": 2 * list(range(N // 2)), "x": cycle(1, 2), "Unnamed: 2": cycle(0.5, 1)}))
    assert [one.telling for one in records.readings] == [True, False, False, False]
    assert "column '': has no name and holds whole numbers, as an index does that the table was written with: " in (
        caplog.text
    )
    assert "--not-feature '' leaves it out" in caplog.text


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"rare": {"codes": 5}}, UnknownNameError, "column in rare of .* 'codes': did you mean 'code'"),
        ({"hash": {"label": 5}}, InputError, "hash: 'label' is the label's column"),
        ({"rare": {"code": 5}, "hash": {"code": 5}}, InputError, "column 'code' is in rare and in hash"),
        ({"rare": {"code": 1}}, SpecError, "rare.code: expected greater than or equal to 2, got 1"),
        ({"missing": "mean"}, SpecError, "missing: expected 'refuse' or 'indicator', got 'mean'"),
        ({"scales": "standard"}, SpecError, "unknown key 'scales': did you mean 'scale'"),
    ],
)
def test_options_of_columns_are_checked(asked, error, words, tmp_path):
    with pytest.raises(error, match=words):
        load(table(tmp_path, code=cycle("a", "b")), **asked)


def test_types_of_parquet_become_what_they_are(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "day": pa.array([date(1970, 1, 2), None, date(2020, 1, 1)]),
        "moment": pa.array([datetime(2020, 1, 1, 12, tzinfo=UTC)] * 3, pa.timestamp("ns", "Europe/Berlin")),
        "clock": pa.array([time(6), time(12), time(18)]),
        "price": pa.array([Decimal("1.50"), Decimal(2), Decimal("-0.25")]),
        "yes": pa.array([True, None, False]),
        "count": pa.array([1, None, 3], pa.int32()),
        "colour": pa.array(["b", None, "a"]).dictionary_encode(),
        "label": pa.array([0, 1, 1]),
    }
    pq.write_table(pa.table(columns), tmp_path / "d.parquet")
    with pytest.raises(ColumnsError, match=r"(?s)3 columns.*'day' is empty.*'yes' is empty.*'count' is empty"):
        load(tmp_path / "d.parquet")
    records = load(tmp_path / "d.parquet", missing="indicator")
    assert [one.read_as for one in records.readings] == [
        "date", "date", "time of day", "number", "number", "number", "category", "label",
    ]  # fmt: skip
    assert records.x.tolist() == [
        [1, 0, 18262.5, 0.25, 1.5, 1, 0, 1, 0, 0, 0, 1],
        [9131.5, 1, 18262.5, 0.5, 2, 0.5, 1, 2, 1, 1, 0, 0],
        [18262, 0, 18262.5, 0.75, -0.25, 0, 0, 3, 0, 0, 1, 0],
    ]


def test_nanoseconds_of_parquet_are_rounded_down_to_microseconds(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    moment = 1_577_836_800_000_000_000  # 2020-01-01
    columns = {
        "when": pa.array([moment + 1, moment + 43_200_000_000_999], pa.timestamp("ns")),
        "clock": pa.array([1, 21_600_000_000_999], pa.time64("ns")),
        "lasts": pa.array([1, 2], pa.duration("ns")),
        "label": pa.array([0, 1]),
    }
    pq.write_table(pa.table(columns), tmp_path / "d.parquet")
    with pytest.raises(ColumnsError, match="column 'lasts' holds timedelta: expected numbers or texts"):
        load(tmp_path / "d.parquet")
    assert load(tmp_path / "d.parquet", not_features="lasts").x.tolist() == [[18262, 0], [18262.5, 0.25]]
    beside = load(tmp_path / "d.parquet", not_features=("lasts", "when"))
    assert beside.columns["when"].tolist() == [datetime(2020, 1, 1), datetime(2020, 1, 1, 12)]


def check(capsys, *arguments):
    app(["check", *arguments], result_action="return_value")
    return capsys.readouterr().out


def test_data_check_lists_what_each_column_becomes(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    path = str(table(tmp_path, id=range(N), code=cycle("x", "y"), rate=cycle("5%", "6%"), w=cycle("", 1)))
    with pytest.raises(ColumnsError, match="'w' is empty or NaN in 30 of 60"):
        check(capsys, path)
    out = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert next(line for line in out if line[:1] == ["w"])[:5] == ["w", "refused", "1", "30", "0"]
    out = check(
        capsys, path, "--not-feature", "id", "--hash", "code=4", "--missing", "indicator", "--scale", "standard"
    )
    words = " ".join(out.split())
    assert "code category, hashed 2 0 4 2 texts share 4 features" in words
    assert "rate percentage 2 0 1 5% is read as 0.05; less its mean 0.055" in words
    assert "taken over all records, members or not, without the label" in words
    with pytest.raises(SpecError, match=r"--rare code: expected COLUMN=N, such as diagnosis=10"):
        check(capsys, path, "--rare", "code")


FRAMES = [
    pytest.param(lambda columns: __import__("pyarrow").table(columns), id="pyarrow"),
    pytest.param(lambda columns: pytest.importorskip("pandas").DataFrame(columns), id="pandas"),
    pytest.param(lambda columns: pytest.importorskip("polars").DataFrame(columns), id="polars"),
]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_data_frame_is_read_as_a_table(frame):
    columns = {"n": cycle(3, 4), "day": cycle(date(1970, 1, 2), date(1970, 1, 5)), "rate": cycle("5%", "7%")}
    whole = frame(columns | {"out": cycle("no", "yes")})
    right = [[3, 1, pytest.approx(0.05)], [4, 4, pytest.approx(0.07)]]
    records = of_python("dataset", whole, DataOptions(label="out"))
    assert (records.x[:2].tolist(), records.y[:2].tolist(), records.class_names) == (right, [0, 1], ("no", "yes"))
    beside = of_python("dataset", (frame(columns), np.array(cycle(0, 1))), DataOptions(not_features="n"))
    assert (beside.x[:2].tolist(), beside.y[:2].tolist()) == ([row[1:] for row in right], [0, 1])
    assert [one.read_as for one in beside.readings] == ["not a feature", "date", "percentage"]
    assert of_python("dataset", {"x": frame(columns), "y": cycle(0, 1)}).x.shape == (N, 3)
    with pytest.raises(InputError, match="label: the labels stand beside the columns"):
        of_python("dataset", (frame(columns), cycle(0, 1)), DataOptions(label="n"))


INDICES = [
    pytest.param(lambda pd: pd.Index([7 * i % 61 for i in range(N)], name="pidnum"), id="named"),
    pytest.param(lambda pd: pd.Index([f"p{i}" for i in range(N)]), id="texts"),
    pytest.param(lambda pd: pd.MultiIndex.from_arrays([range(N), cycle("a", "b")]), id="two levels"),
    pytest.param(lambda pd: pd.Index(2 * list(range(N // 2))), id="put together"),
    pytest.param(lambda pd: pd.Index([7 * i % 61 for i in range(N)]), id="shuffled"),
]


@pytest.mark.parametrize("index", INDICES)
def test_the_index_of_a_frame_is_no_feature(index):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": cycle(3, 4), "out": cycle(0, 1)}).set_index(index(pd))
    for given in (frame, frame.iloc[: N // 2], (frame, frame["out"])):
        records = of_python("dataset", given, DataOptions(label=None if isinstance(given, tuple) else "out"))
        assert [one.column for one in records.readings] == ["a", "out"]
        assert records.x[:2, 0].tolist() == [3, 4]


def test_labels_in_another_order_than_the_frame_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": np.arange(N) * 0.5, "out": cycle(0, 1)}, index=np.arange(N) * 3)
    x, y = frame[["a"]], frame["out"].sample(frac=1, random_state=0)
    words = (
        "y: rows go together by position, and its index has the labels of x's in another order: give y.loc[x.index], "
        "or y.to_numpy() if the positions are right"
    )
    roads = {
        "dataset: ": lambda y: of_python("dataset", (x, y)),
        "mine: ": lambda y: of_python("mine", {"x": x, "y": y, "name": "n"}),
        "members: ": lambda y: together({"members": (x, y), "non-members": (x, y)})[0],
        "": lambda y: Records.make(x, y),
    }
    for prefix, road in roads.items():
        with pytest.raises(InputError, match=re.escape(words)) as caught:
            road(y)
        assert str(caught.value) in {prefix + words, "n: " + words}
        for right in (y.loc[x.index], y.to_numpy(), y.reset_index(drop=True)):
            assert road(right).y[:N].tolist() == np.asarray(right).tolist()
    with pytest.raises(InputError, match=r"columns\['site'\]: rows go together by position"):
        Records.make(x, frame["out"], columns={"site": y})


def test_arrays_have_no_columns_to_ask_about():
    with pytest.raises(InputError, match=r"scale: is about columns of a table .*, got arrays"):
        of_python("dataset", (np.eye(4), cycle(0, 1)[:4]), DataOptions(scale="standard"))


def test_what_mends_a_column_does_not_depend_on_its_name(tmp_path):
    path = table(tmp_path, **{"--rare": [f"text {i}" for i in range(N)], "x": cycle(0, 1)})
    with pytest.raises(ColumnsError, match=r"add --not-feature --rare \(--not-feature leaves a column out\)$"):
        load(path)


def test_whole_numbers_that_64_bits_do_not_tell_apart_are_codes(tmp_path):
    lines = [f"{2**53 + i // 2},{i % 7},{i % 2}" for i in range(40)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["person,a,y", *lines]) + "\n")
    records = load(path, label="y", not_features=["person"])
    units = Units.of("person", records.columns["person"])
    assert units.count == 20
    assert units.names[1] == str(2**53 + 1)
    assert records.x[:8, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 0]
