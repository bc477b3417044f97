"""The forms in which a user's data may come, and what is said of those that are not taken."""

import gzip
from pathlib import Path

import numpy as np
import pytest

import reticent
from reticent import user_files
from reticent.cli import app
from reticent.cli.run import guarded
from reticent.data.load import load
from reticent.errors import ColumnsError, CorruptFileError, InputError, MissingFileError
from reticent.jobs.config import gather
from reticent.jobs.locate.source import member_ids
from reticent.jobs.signals_file import read_signals
from reticent.spec import read_toml

ROWS = "age,city,label\n31,Köln,yes\n47,Bonn,no\n22,Köln,no\n"
X = [[31.0, 0.0, 1.0], [47.0, 1.0, 0.0], [22.0, 0.0, 1.0]]
NAMES = ("no", "yes")


def right(records):
    return records.x.tolist() == X and records.y.tolist() == [1, 0, 0] and records.class_names == NAMES


TABS = ROWS.replace(",", "\t")
TEXTS = {
    "d.csv": ROWS.encode(),
    "D.CSV": ROWS.encode(),
    "d.tsv": TABS.encode(),
    "D.TSV": TABS.encode(),
    "d.csv.gz": gzip.compress(ROWS.encode()),
    "D.Csv.GZ": gzip.compress(ROWS.encode()),
    "d.tsv.gz": gzip.compress(TABS.encode()),
    "packed-all-the-same.csv": gzip.compress(ROWS.encode()),
    "with-a-mark.csv": ROWS.encode("utf-8-sig"),
    "utf-16.csv": ROWS.encode("utf-16"),
    "utf-16-be.csv": b"\xfe\xff" + ROWS.encode("utf-16-be"),
    "utf-32.csv": ROWS.encode("utf-32"),
    "of.windows.tsv": TABS.replace("\n", "\r\n").encode("utf-16"),
    "packed-utf-16.csv.gz": gzip.compress(ROWS.encode("utf-16")),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_read_however_it_is_packed_and_encoded(name, tmp_path):
    (tmp_path / name).write_bytes(TEXTS[name])
    assert right(load(tmp_path / name))


@pytest.mark.parametrize("name", TEXTS)
def test_a_gap_is_told_with_its_line_however_a_text_is_packed_and_encoded(name, tmp_path):
    packed = TEXTS[name].startswith(b"\x1f\x8b")
    content = gzip.decompress(TEXTS[name]) if packed else TEXTS[name]
    gap = next(content.replace(a, b"") for code in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-8")
               if (a := "47".encode(code)) in content)  # fmt: skip
    (tmp_path / name).write_bytes(gzip.compress(gap) if packed else gap)
    with pytest.raises(ColumnsError, match=r"'age' is empty or NaN in 1 of 3 records, the first is line 3: mend it"):
        load(tmp_path / name)


def test_lines_are_counted_as_the_editor_does(tmp_path):
    (tmp_path / "d.csv").write_bytes('\ufeffa,b,label\r\n"x\r\ny",1,0\r\n\r\nx\u2028z\x0c,,1\r\n'.encode())
    with pytest.raises(ColumnsError, match=r"'b' is empty or NaN in 1 of 2 records, the first is line 5: mend it"):
        load(tmp_path / "d.csv")


def test_a_file_is_read_again_once_for_all_lines_that_are_told(tmp_path, monkeypatch):
    names = ",".join(f"c{i}" for i in range(40))
    (tmp_path / "d.csv").write_text(f"{names},label\n{',' * 40}0\n{'1,' * 40}1\n")
    read = []
    monkeypatch.setattr(user_files, "text", lambda path, *_, text=user_files.text: read.append(path) or text(path))
    with pytest.raises(ColumnsError, match="40 columns cannot be features as they are"):
        load(tmp_path / "d.csv")
    assert len(read) == 2


@pytest.mark.parametrize("name", ["n.csv", "n.tsv", "n.csv.gz", "N.TSV.GZ"])
def test_numbers_alone_are_read_too(name, tmp_path):
    text = "a,b,label\n1,2.5,0\n3,-4e2,1\n"
    text = text.replace(",", "\t") if "tsv" in name.lower() else text
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.lower().endswith("gz") else content)
    found = load(tmp_path / name)
    assert (found.x.tolist(), found.y.tolist()) == ([[1.0, 2.5], [3.0, -400.0]], [0, 1])


def test_arrays_and_parquet_under_names_in_capitals(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    x, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
    with (tmp_path / "D.NPZ").open("wb") as stream:
        np.savez(stream, x=x, y=y)
    for name, values in (("X.NPY", x), ("y.npy", y)):
        with (tmp_path / name).open("wb") as stream:
            np.save(stream, values)
    parquet.write_table(pa.table({"a": x[:, 0], "b": x[:, 1], "label": y}), tmp_path / "D.Parquet")
    for name in ("D.NPZ", "X.NPY", "D.Parquet"):
        found = load(tmp_path / name)
        assert (found.x.tolist(), found.y.tolist()) == (x.tolist(), y.tolist())


LATIN = (
    r"l\.csv: expected UTF-8 text, got the byte 0xf6 in line 2, as Latin-1 and Windows-1252 have it: write it anew, for"
)
REFUSED = {
    "Latin-1": ("l.csv", ROWS.encode("latin-1"), LATIN + r" example by iconv -f WINDOWS-1252 -t UTF-8 l\.csv > NEW$"),
    "UTF-16 without a mark": (
        "l.csv",
        ROWS.encode("utf-16-le"),
        r"NUL bytes .*, the first in line 1: .* UTF-16 without .* iconv -f UTF-16LE -t UTF-8 l\.csv > NEW",
    ),
    "a NUL byte": (
        "l.csv",
        b"a,label\n1,0\n\0,1\n",
        r"got NUL bytes \(1 of 16\), the first in line 3: .*; if they are few, .* take them out by tr -d",
    ),
    "UTF-16 cut off": (
        "l.csv",
        ROWS.encode("utf-16")[:-1],
        "begins as UTF-16.* text and is cut off or damaged in line",
    ),
    "gzip cut off": ("l.csv.gz", TEXTS["d.csv.gz"][:-9], "its gzip is cut off or damaged .*: download it again"),
    "empty": ("l.tsv", b"", r"is empty \(0 bytes\): copy or download it again"),
    "git-LFS": (
        "l.parquet",
        b"version https://git-lfs.github.com/spec/v1\n",
        "is a git-LFS pointer, .* `git lfs pull`",
    ),
    "git-LFS npz": ("l.npz", b"version https://git-lfs.github.com/spec/v1\n", "is a git-LFS pointer"),
    "a web page": ("l.csv", b"<!DOCTYPE html>\n<html>", r"is a web page \(HTML\), most often an error of the download"),
    "tabs in csv": ("l.csv", TABS.encode(), "seem to be separated by tabs, expected commas: call the file .tsv"),
    "commas in tsv": ("l.tsv", ROWS.encode(), "seem to be separated by commas, expected tabs: call the file .csv"),
    "semicolons in tsv": ("l.tsv", ROWS.replace(",", ";").encode(), "separated by semicolons"),
    "npy.gz": ("l.npy.gz", b"x", r"expected a file of type .*\.csv\.gz.*, or a folder, got \.gz: unpack it first$"),
    "csv.zip": ("l.csv.zip", b"x", r"expected a file of type .*, got \.zip: unpack it first$"),
    "xlsx": ("l.xlsx", b"x", r"expected a file of type .*, got \.xlsx$"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_taken_is_told_with_the_remedy(case, tmp_path):
    name, content, words = REFUSED[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises((CorruptFileError, InputError), match=words):
        load(tmp_path / name)


SIZES = {"train": 6, "val": 2, "test": 4}


def splits(images, labels):
    return {
        form.format(split): values(size, i)
        for i, (split, size) in enumerate(SIZES.items())
        for form, values in (("{}_images", images), ("{}_labels", labels))
    }


def pictures(*shape):
    return lambda size, i: np.full((size, *shape), i, np.uint8)


def column(size, i):
    return (np.arange(size) % 2).astype(np.uint8)[:, None]


@pytest.mark.parametrize(("shape", "expected"), [((8, 8), (1, 8, 8)), ((8, 8, 3), (3, 8, 8))])
def test_medmnist_files_are_joined_with_their_split_as_a_column(shape, expected, tmp_path):
    np.savez(tmp_path / "pathmnist.npz", **splits(pictures(*shape), column))
    found = load(tmp_path / "pathmnist.npz")
    assert found.x.shape == (12, *expected)
    assert found.x[:, 0, 0, 0].tolist() == [0] * 6 + [1] * 2 + [2] * 4
    assert found.y.tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    assert found.columns["split"].tolist() == ["train"] * 6 + ["val"] * 2 + ["test"] * 4


def test_files_of_keras_are_joined_too(tmp_path):
    x, y = np.arange(96, dtype=np.uint8).reshape(6, 4, 4), np.array([0, 1, 2, 0, 1, 2])
    np.savez(tmp_path / "mnist.npz", x_train=x[:4], y_train=y[:4], x_test=x[4:], y_test=y[4:])
    found = load(tmp_path / "mnist.npz")
    assert np.array_equal(found.x[:, 0], x)
    assert found.y.tolist() == y.tolist()
    assert found.columns["split"].tolist() == ["train"] * 4 + ["test"] * 2


def several(size, i):
    return np.tile(np.array([[1, 0, 1], [0, 0, 0]], np.uint8), (size // 2, 1))


@pytest.mark.parametrize(
    ("images", "labels", "words"),
    [
        (pictures(8, 8), several, r"with 2 ones for record 0: multi-label data are not supported"),
        (pictures(8, 8, 8), column, r"expected 1, 3 or 4 channels .*, got shape \(12, 8, 8, 8\)"),
        (
            lambda size, i: np.zeros((size, 8 + i, 8), np.uint8),
            column,
            r"val: x: expected records of shape",
        ),
        (pictures(8, 8), lambda size, i: column(size - 1, i), "train: expected at least one record, and as many"),
    ],
)
def test_medmnist_files_of_other_tasks_are_refused_by_name(images, labels, words, tmp_path):
    np.savez(tmp_path / "m.npz", **splits(images, labels))
    with pytest.raises(InputError, match=words):
        load(tmp_path / "m.npz")


def test_toml_with_a_mark_and_in_utf_16_is_read_and_latin_1_refused(tmp_path):
    text = '# über\nlabel = "größe"\n'
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        (tmp_path / "a.toml").write_bytes(text.encode(encoding))
        assert read_toml(tmp_path / "a.toml") == {"label": "größe"}
    (tmp_path / "a.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(CorruptFileError, match=r"a\.toml: expected UTF-8 text, got the byte 0xfc in line 1"):
        read_toml(tmp_path / "a.toml")


def test_the_home_folder_in_paths_of_toml_python_and_flags(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "d.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "a.toml").write_text('dataset = "~/d.csv"\nstore = "~/s"\nout = "~/o"\ndata_dir = "~/official"\n')
    config = gather("~/a.toml", {})
    assert (config.dataset, config.store) == (str(tmp_path / "d.csv"), str(tmp_path / "s"))
    assert (config.out, config.data_dir) == (str(tmp_path / "o"), str(tmp_path / "official"))
    assert gather(None, {"store": "~/t"}).store == str(tmp_path / "t")
    assert right(load("~/d.csv"))
    assert guarded(app, ["runs", "list", "--store", "~/none"]) == 2
    assert f"the store '{tmp_path / 'none'}' does not exist" in " ".join(capfd.readouterr().err.split())
    for file in ("~/none.npz", Path("~/none.npz")):
        with pytest.raises(MissingFileError, match=f"no file '{tmp_path}/none.npz'"):
            read_signals(file)
    with pytest.raises(MissingFileError, match=f"{tmp_path}/none"):
        reticent.gate("~/none", max_auc=0.6)
    assert gather(None, {"store": "~nobody-of-this-name/t"}).store == "~nobody-of-this-name/t"


def test_outputs_and_row_numbers_that_are_no_data_are_told_as_what_they_are(tmp_path):
    for content, words in ((b"", r"is empty \(0 bytes\)"), (b"version https://git-lfs", "is a git-LFS pointer")):
        for name, read in (("o.npz", read_signals), ("m.npy", lambda path: member_ids(path, 9))):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(CorruptFileError, match=words):
                read(tmp_path / name)
    (tmp_path / "M.TXT").write_bytes("4\r\n2\r\n".encode("utf-16"))
    assert member_ids(tmp_path / "M.TXT", 9).tolist() == [2, 4]
    with (tmp_path / "M.NPY").open("wb") as stream:
        np.save(stream, np.array([4, 2]))
    assert member_ids(tmp_path / "M.NPY", 9).tolist() == [2, 4]
