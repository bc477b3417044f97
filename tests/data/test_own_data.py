"""A user's own files: every form that is taken, and the words with which others are refused."""

import gzip
import subprocess
import sys

import numpy as np
import pytest

from reticent.data import conversion, delimited
from reticent.data.load import load, of_python
from reticent.errors import (
    CorruptFileError,
    InputError,
    MissingExtraError,
    MissingFileError,
    ShapeError,
    UnknownNameError,
)
from reticent.options import DataOptions

X = np.array([[0.5, 1], [2, 3], [4, 5], [6, 7]])
Y = np.array([0, 1, 1, 0])
PICTURES = np.arange(4 * 5 * 6 * 3, dtype=np.uint8).reshape(4, 5, 6, 3)


@pytest.mark.parametrize("names", [("x", "y"), ("features", "labels"), ("images", "labels"), ("X", "y")])
def test_npz(names, tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, **{names[0]: X, names[1]: Y}, class_names=np.array(["no", "yes"]))
    records = load(path)
    assert np.array_equal(records.x, X)
    assert np.array_equal(records.y, Y)
    assert records.class_names == ("no", "yes")
    assert records.name == str(path)


def test_npz_mirror_with_one_hot_labels(tmp_path):
    np.savez(tmp_path / "purchase100.npz", features=X.astype(bool), labels=np.eye(2)[Y])
    records = load(tmp_path / "purchase100.npz")
    assert np.array_equal(records.y, Y)
    assert records.kind == "tabular"


@pytest.mark.parametrize("given", ["folder", "x.npy"])
def test_npy_pair(given, tmp_path):
    np.save(tmp_path / "x.npy", PICTURES)
    np.save(tmp_path / "y.npy", Y)
    records = load(tmp_path if given == "folder" else tmp_path / given)
    assert np.array_equal(records.x, PICTURES.transpose(0, 3, 1, 2))
    assert np.array_equal(records.y, Y)


@pytest.mark.parametrize(
    ("labels", "expected", "names"),
    [
        (Y.astype(np.float64), Y, ()),
        (Y.astype(bool), Y, ()),
        (Y[:, None], Y, ()),
        (np.array(["dog", "cat", "cat", "dog"]), [1, 0, 0, 1], ("cat", "dog")),
    ],
)
def test_labels_of_many_forms(labels, expected, names, tmp_path):
    np.savez(tmp_path / "d.npz", x=X, y=labels)
    records = load(tmp_path / "d.npz")
    assert records.y.tolist() == list(expected)
    assert records.y.dtype == np.int64
    assert records.class_names == names


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pictures_divided_by_255_are_taken_back_exactly(dtype, tmp_path):
    np.savez(tmp_path / "d.npz", x=PICTURES.astype(dtype) / dtype(255), y=Y)
    assert np.array_equal(load(tmp_path / "d.npz").x, PICTURES.transpose(0, 3, 1, 2))


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_pictures_of_whole_numbers_are_taken(dtype, tmp_path):
    np.savez(tmp_path / "d.npz", x=PICTURES.astype(dtype), y=Y)
    assert np.array_equal(load(tmp_path / "d.npz").x, PICTURES.transpose(0, 3, 1, 2))


@pytest.mark.parametrize(
    ("arrays", "error", "words"),
    [
        ({"x": (PICTURES / 255 - 0.5) / 0.25, "y": Y}, InputError, "Take Normalize and random augmentation out"),
        ({"x": PICTURES / 256, "y": Y}, InputError, "images must be uint8 from 0 to 255; got float64 from 0"),
        ({"x": PICTURES.astype(int) - 1, "y": Y}, InputError, "from -1"),
        ({"x": X, "y": Y + 1}, InputError, "1 of 3 classes have no record (class 0)"),
        ({"x": Y[:, None] - 1, "y": Y}, InputError, "are tokens of texts; give features as floats"),
        ({"x": X, "y": Y - 1}, InputError, "y: expected integers of at least 0, got -1 at position 0: renumber them"),
        ({"x": X, "y": [0, 0.5, 1, 1]}, InputError, "whole numbers as labels, got 0.5 for record 1"),
        ({"x": X, "y": [0, np.nan, 1, 1]}, InputError, "got nan for record 1"),
        ({"x": X, "y": np.ones((4, 2))}, InputError, "rows with a single 1"),
        ({"x": X, "y": Y[:3]}, ShapeError, "x has 4 records, y has 3"),
        (
            {"x": X * [1, np.inf], "y": Y},
            InputError,
            "4 NaN or infinite of 8, the first is inf of record 0, feature 1 (from 0)",
        ),
        ({"x": X[:, 0], "y": Y}, ShapeError, "2 or 3 or 4 axes"),
        ({"x": X.astype(str), "y": Y}, ShapeError, ": give texts as the numbers of their tokens"),
        ({"a": X, "b": Y}, InputError, "expected arrays x and y, or features and labels; got a, b"),
    ],
)
def test_bad_arrays_are_refused_by_name(arrays, error, words, tmp_path):
    path = tmp_path / "d.npz"
    np.savez(path, **arrays)
    with pytest.raises(error) as caught:
        load(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X_train": X, "Y_train": Y}, "got X_train, Y_train; did you mean 'x_train' by 'X_train', 'y_train' by 'Y_"),
        ({"x": np.where(np.arange(6).reshape(3, 2, 1) == 3, np.nan, np.zeros((3, 2, 2))), "y": [0, 1, 1]},
         "x: expected finite numbers, got 2 NaN or infinite of 12, the first is nan of record 1 (from 0)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_its_place_or_the_nearest_name(arrays, words, tmp_path):
    np.savez(tmp_path / "d.npz", **arrays)
    with pytest.raises(InputError) as caught:
        load(tmp_path / "d.npz")
    assert words in str(caught.value)


def test_arrays_that_are_not_read_are_named(tmp_path, caplog):
    np.savez(tmp_path / "d.npz", x=X, y=Y, sex=Y, clas_names=np.array(["a", "b"]), mean=np.zeros(3))
    assert list(load(tmp_path / "d.npz").columns) == ["sex"]
    assert "clas_names, mean: not read: expected one value a record, class_names or vocabulary" in caplog.text
    assert "did you mean 'class_names' by 'clas_names'?" in caplog.text


@pytest.mark.parametrize("labels", [["Yes", "yes", "no", "no"], ["new york", "no", "newyork", "no"]])
def test_classes_that_differ_in_capitals_or_blanks_alone_are_told(labels, tmp_path, caplog):
    np.savez(tmp_path / "d.npz", x=X.astype(np.float32), y=np.array(labels))
    assert load(tmp_path / "d.npz").classes == 3
    first, second = sorted({labels[0], *labels} - {"no"})
    assert f"the classes {first!r} and {second!r} differ in capitals or blanks alone: write their labels" in caplog.text


def test_python_objects_are_never_loaded(tmp_path):
    np.savez(tmp_path / "d.npz", x=np.array([[1], [1, 2]], dtype=object), y=Y[:2])
    np.save(tmp_path / "x.npy", np.array([[1], [1, 2]], dtype=object))
    np.save(tmp_path / "y.npy", Y[:2])
    for path in (tmp_path / "d.npz", tmp_path):
        with pytest.raises(CorruptFileError, match=r"an array of Python objects .*; nothing was unpickled"):
            load(path)


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
def test_damaged_numpy_files_are_refused(suffix, tmp_path):
    np.savez(tmp_path / "x.npz", x=X, y=Y)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    path = tmp_path / f"x{suffix}"
    whole = path.read_bytes()
    for content in (b"h", b"hello", whole[:-40]):
        path.write_bytes(content)
        with pytest.raises(CorruptFileError, match=r"is cut off or damaged|begins with b'h(ello)?': write"):
            load(path)


def test_an_npz_file_of_one_array_is_refused(tmp_path):
    with (tmp_path / "d.npz").open("wb") as stream:
        np.save(stream, X)
    with pytest.raises(CorruptFileError, match=r"got one array, an \.npy file: call it x\.npy, beside y\.npy"):
        load(tmp_path / "d.npz")


def test_a_damaged_member_of_an_npz_file_is_refused(tmp_path):
    path = tmp_path / "d.npz"
    np.savez(path, x=np.zeros((500, 8)), y=np.arange(500) % 2)
    content = bytearray(path.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(CorruptFileError, match="Bad CRC-32"):
        load(path)


@pytest.mark.parametrize("name", ["gone.npz", "folder/gone.csv", "./gone"])
def test_missing_files_are_named(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingFileError) as caught:
        load(name)
    assert name.removeprefix("./") in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_half_a_pair_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(MissingFileError, match=r"there is no .*y\.npy"):
        load(tmp_path / "x.npy")
    np.save(tmp_path / "y.npy", Y)
    with pytest.raises(InputError, match="holds the labels"):
        load(tmp_path / "y.npy")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("digit", "unknown data set 'digit': did you mean 'digits'?"),
        ("zzz", "expected one of adult, cifar10"),
        ("zzz", "(or give your own: a file, .npz, .npy, .csv, .tsv, .csv.gz, .tsv.gz, .parquet, or module:function)"),
    ],
)
def test_unknown_names_get_the_nearest(name, words):
    with pytest.raises(UnknownNameError) as caught:
        load(name)
    assert words in str(caught.value)


def test_other_suffixes_are_refused(tmp_path):
    (tmp_path / "d.pkl").write_bytes(b"")
    for asked in ({}, {"label": "div"}):
        with pytest.raises(InputError, match=r"expected a file of type \.npz, .*, \.parquet, or a folder, got \.pkl$"):
            load(tmp_path / "d.pkl", **asked)


def csv(tmp_path, text):
    path = tmp_path / "d.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("label,a,b\n0,0.5,1\n1,2,3\n1,4,5\n", None),
        ("a,b,y\n0.5,1,0\n2,3,1\n4,5,1", None),
        ("Target,a,b\n0,0.5,1\n1,2,3\n1,4,5\n", None),
        ("a,b,c\n0.5,1,0\n2,3,1\n4,5,1", "c"),
    ],
)
def test_csv_of_numbers(text, label, tmp_path):
    records = load(csv(tmp_path, text), label=label)
    assert records.x.tolist() == [[0.5, 1], [2, 3], [4, 5]]
    assert records.y.tolist() == [0, 1, 1]
    assert records.kind == "tabular"


@pytest.mark.parametrize(
    ("text", "label", "words"),
    [
        ("a,b,c\n1,2,0\n3,4,1\n", None, r"which column is the label\? .*, got a, b, c: give --label"),
        ("label,y,b\n0,0,1\n1,1,3\n", None, "got both label and y: give --label COLUMN"),
        ("a,b,c\n1,2,0\n3,4,1\n", "d", "no column 'd'"),
    ],
)
def test_a_label_that_is_not_clear_is_asked_for(text, label, words, tmp_path):
    with pytest.raises(InputError, match=words):
        load(csv(tmp_path, text), label=label)


def test_csv_with_texts(tmp_path):
    path = csv(tmp_path, '\ufeffage,colour,label\n31,red,yes\n42,"blue, dark",no\n53,red,yes\n')
    records = load(path)
    # Sorted: "blue, dark", then "red".
    assert records.x.tolist() == [[31, 0, 1], [42, 1, 0], [53, 0, 1]]
    assert records.y.tolist() == [1, 0, 1]
    assert records.class_names == ("no", "yes")


def test_csv_with_texts_and_numbered_labels(tmp_path):
    records = load(csv(tmp_path, "colour,label\nred,0\nblue,1\n"))
    assert records.y.tolist() == [0, 1]
    assert records.class_names == ()


@pytest.mark.parametrize(
    ("labels", "y", "names"),
    [
        (["10", "2", "1", "2"], [2, 1, 0, 1], ("1", "2", "10")),
        (["-1", "1.0", "-1", "1.0"], [0, 1, 0, 1], ("-1", "1")),
        (["1.0", "0", "1", "0.0"], [1, 0, 1, 0], ()),
    ],
)
@pytest.mark.parametrize("colours", [["3"] * 4, ["red"] * 4])
def test_numbers_of_a_table_that_do_not_count_from_0_name_their_classes(labels, y, names, colours, tmp_path):
    rows = "".join(f"{colour},{label}\n" for colour, label in zip(colours, labels, strict=True))
    records = load(csv(tmp_path, f"colour,label\n{rows}"))
    assert (records.y.tolist(), records.class_names) == (y, names)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (("9007199254740992", "9007199254740993"), r"column 'label': expected labels below 9007199254740992, got 900"),
        (("-9007199254740993", "1"), r"expected labels below 9007199254740992, got -9007199254740992"),
        (("1", "01"), r"holds both '01' \(line 3\) and '1' \(line 2\), which are one number"),
        (("-0", "0"), r"holds both '-0' \(line 2\) and '0' \(line 3\)"),
    ],
)
def test_labels_that_would_become_one_class_are_refused(labels, words, tmp_path):
    with pytest.raises(InputError, match=words):
        load(csv(tmp_path, "colour,label\n" + "".join(f"red,{label}\n" for label in labels)))


def test_large_whole_numbers_stay_apart_where_they_are_no_floats(tmp_path):
    records = load(parquet(tmp_path, a=[1, 2], label=[2**53 + 1, 2**53]))
    assert records.class_names == (str(2**53), str(2**53 + 1))
    with pytest.raises(InputError, match="expected labels below 16777216, got 16777216"):
        conversion.numbered(np.array([2**24 + 1, 3], np.float32))
    with pytest.raises(InputError, match="expected labels below 9007199254740992"):  # a table of numbers alone
        load(csv(tmp_path, "a,label\n1,9007199254740993\n2,3\n"))


def test_labels_of_parquet_and_of_a_data_frame_are_numbered_too_and_those_of_an_array_refused(tmp_path):
    records = load(parquet(tmp_path, a=[1, 2, 3], label=[3, 1, 3]))
    assert (records.y.tolist(), records.class_names) == ([1, 0, 1], ("1", "3"))

    class Column(list):
        def to_numpy(self):
            return np.array(self)

    records = conversion.records([[1.0], [2.0], [3.0]], Column([3, 1, 3]), name="frame")
    assert (records.y.tolist(), records.class_names) == ([1, 0, 1], ("1", "3"))
    with pytest.raises(InputError, match=r"renumber them, for example with numpy\.unique"):
        conversion.records([[1.0], [2.0], [3.0]], np.array([3, 1, 3]), name="array")


def test_a_slip_among_numbers_is_told_with_its_line_and_texts_are_not(tmp_path, caplog):
    rows = ["1.5,red,0", "", "2,blue,1", "abc,7,0", ",red,1", "n/a,red,0", "4,red,1"]
    path = csv(tmp_path, "size,colour,label\n" + "\n".join(rows) + "\n")
    assert load(path).x.shape[1] == 6 + 3
    (size,) = (record.getMessage() for record in caplog.records)
    assert "column 'size': read as texts" in size
    assert "2 of its 6 values are no numbers, the first is 'abc' in line 5" in size
    caplog.clear()
    load(csv(tmp_path, "colour,size,label\nred,1,0\nnan,2,1\nblue,3,0\n"))
    assert not caplog.records
    load(csv(tmp_path, "size,label\n1,0\n2,1\n3,o\n"))
    assert "label's column 'label' is read as texts" in caplog.text
    assert "which is 'o' in line 4" in caplog.text


def test_a_slip_among_very_many_numbers_is_named_where_they_are_refused(tmp_path):
    rows = "".join(f"{i / 7},{i % 2}\n" for i in range(600)) + "abc,1\n"
    with pytest.raises(
        InputError, match=r"601 different texts.*1 of its 601 values is no number, which is 'abc' in line 602"
    ):
        load(csv(tmp_path, f"size,label\n{rows}"))


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", CorruptFileError, "is empty (0 bytes): copy or download it again"),
        ("\n", CorruptFileError, "expected a header line"),
        ("a,label\n", CorruptFileError, "expected a record a line below the header"),
        ("1,2\n3,4\n5,6\n", CorruptFileError, "got numbers: add one"),
        ("a,label\n1,0\n2\n", CorruptFileError, "line 3 has 1 field, the header has 2"),
        ("label\n1\n0\n", CorruptFileError, "expected columns beside the label 'label'"),
        (
            "a,label\n1,0\nnan,1\n",
            InputError,
            "column 'a' is empty or NaN in 1 of 2 records, the first is line 3: mend it, or add --missing indicator",
        ),
        ("a,b,label\n1,x,0\n,x,1\n", InputError, "column 'a' is empty or NaN in 1 of 2 records"),
        ("a,label\n1,0\n2,1.5\n", InputError, "y: expected whole numbers as labels, got 1.5 for record 1"),
        ("a,label\n1,7\n2,7\n", InputError, "every record has the label 7"),
        ("a,label\n1,no\n2,no\n", InputError, "every record has the label no,"),
        ("a,label\n1,7\n2,nan\n", InputError, "label's column 'label' is empty, NaN or infinite in 1 records"),
        (
            "a,label\n" + "".join(f"1,{i + 7}\n" for i in range(501)),
            InputError,
            "has 501 different numbers, which are not",
        ),
        (
            "name,label\n" + "".join(f"n{i % 501},{i % 2}\n" for i in range(1002)),
            InputError,
            "'name' has 501 different texts, at most 500 make categories",
        ),
    ],
)
def test_bad_csv_is_refused(text, error, words, tmp_path):
    path = csv(tmp_path, text)
    with pytest.raises(error) as caught:
        load(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("rows", ["1;2;0", "1,5;2;0"])
def test_another_separator_is_hinted_at(rows, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(f"a;b;label\n{rows}\n{rows}\n")
    for label in (None, "label"):
        with pytest.raises((InputError, CorruptFileError), match="separated by semicolons, expected commas") as caught:
            load(path, label=label)
    command = str(caught.value).split("for example by ")[1].replace("FILE", path.name)  # What is advised, works.
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert delimited.read(tmp_path / "NEW.csv")[0] == ["a", "b", "label"]


@pytest.mark.parametrize(
    ("header", "label", "hint"),
    [
        ("1,12.0,red,0", "6", True),
        ("1,12.0,red,0", None, True),
        ("1,1,red,0", "0", True),
        ("red,blue,1", "6", False),
        ("0,1,2,red", "6", True),
    ],
)
def test_a_first_line_of_data_is_told(header, label, hint, tmp_path):
    path = csv(tmp_path, f"{header}\n{header}\n")
    with pytest.raises((InputError, CorruptFileError)) as caught:
        load(path, label=label)
    words = ". The first line seems to be data, not a header: add one with the names of the columns"
    assert str(caught.value).endswith(words) == hint


def test_columns_of_a_frame_that_are_counted_are_no_first_line():
    import pyarrow as pa

    frame = pa.table({"0": [1, 2], "1": [3, 4], "2": [0, 1]})
    with pytest.raises(InputError, match=r"no column '6': expected one of 0, 1, 2$"):
        of_python("dataset", frame, DataOptions(label="6"))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".tsv.gz"])
@pytest.mark.parametrize(("row", "words"), [("1,", "'label' is empty"), ("nan,0", "'a' is empty"), ("1", "1 field,")])
def test_a_record_is_named_by_its_line_in_every_text(suffix, row, words, tmp_path):
    text = f"a,label\n1,0\n\n2,x\n{row}\n".replace(",", "\t" if "tsv" in suffix else ",")
    path = tmp_path / f"d{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
    with pytest.raises((InputError, CorruptFileError)) as caught:
        load(path)
    assert words in str(caught.value)
    assert "line 5" in str(caught.value)


def test_two_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,a,label\n1,2,0\n3,4,1\n")
    with pytest.raises(CorruptFileError, match="2 columns are called 'a': rename them, or leave out one"):
        load(path)


def test_binary_csv_is_refused(tmp_path):
    path = tmp_path / "d.csv"
    path.write_bytes(b"a,label\n1,\x930\n")
    with pytest.raises(CorruptFileError, match="expected UTF-8 text, got the byte 0x93 in line 2"):
        load(path)


def parquet(tmp_path, **columns):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "d.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet(tmp_path):
    import pyarrow as pa

    path = parquet(
        tmp_path,
        age=[31, 42, 53],
        label=["yes", "no", "yes"],
        colour=pa.array(["red", "blue", "red"]).dictionary_encode(),
        member=[True, False, True],
    )
    records = load(path)
    assert records.x.tolist() == [[31, 0, 1, 1], [42, 1, 0, 0], [53, 0, 1, 1]]
    assert records.y.tolist() == [1, 0, 1]
    assert records.class_names == ("no", "yes")


def test_columns_of_parquet_that_are_no_features_may_be_anything(tmp_path):
    path = parquet(tmp_path, a=[1, 2], seen=[None, 3], tags=[["x"], []], label=[0, 1])
    records = load(path, not_features=["seen", "tags"])
    assert records.x.tolist() == [[1], [2]]
    assert records.columns["seen"].tolist() == [None, 3]
    assert records.columns["tags"].tolist() == [["x"], []]
    assert records.label == "label"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": [1, None], "label": [0, 1]}, "column 'a' is empty or NaN in 1 of 2 records, the first is record 1"),
        ({"a": [[1], [2]], "label": [0, 1]}, "column 'a' holds list"),
    ],
)
def test_bad_parquet_is_refused(columns, words, tmp_path):
    with pytest.raises(InputError, match=words):
        load(parquet(tmp_path, **columns))


def test_damaged_parquet_is_refused(tmp_path):
    path = parquet(tmp_path, a=[1, 2], label=[0, 1])
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(CorruptFileError, match="cannot be read as Parquet"):
        load(path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = parquet(tmp_path, a=[1, 2], label=[0, 1])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"reading Parquet files needs pyarrow.*pip install 'pyarrow>=17'"):
        load(path)


def test_a_record_without_a_label_is_named(tmp_path):
    file = tmp_path / "gap.csv"
    file.write_text("a,y\n1,yes\n2,\n3,no\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"label's column 'y' is empty in 1 records, the first is line 3:"):
        load(str(file))
