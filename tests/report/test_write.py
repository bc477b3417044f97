import csv
import errno
import json
import os
import pathlib

import example
import numpy as np
import pytest
from audit_forms import html

from reticent.errors import InputError, StoreError
from reticent.findings.audit import AuditDocument
from reticent.findings.records import COLUMNS, RecordRow
from reticent.report import csv as record_csv
from reticent.report import files
from reticent.report.output import AUDIT, Output, as_json


def csv_of(rows):
    return "".join(record_csv.records([RecordRow.from_json(row) for row in rows]))


def write_report(folder, document, rows):
    page = html(document, rows)
    files.make_folder(folder)
    found = AuditDocument.model_validate(document)
    return Output(folder, AUDIT).write(found, {"report.html": page, "records.csv": csv_of(rows)})


def write_records(path, rows):
    files.write_file(path, csv_of(rows))


def test_texts_that_a_spreadsheet_would_compute_are_none_there_and_are_read_back_as_they_were():
    texts = ["=1+1", "+a", "-b", "@c", "\td", "'=e", "-5", "+1.5", "f=1", "'g", ""]
    written = list(csv.reader(record_csv.table(["unit"], [{"unit": one} for one in texts]).splitlines()))
    shown = [cell for line in written[1:] for cell in line or [""]]
    assert shown == ["'=1+1", "'+a", "'-b", "'@c", "'\td", "''=e", "-5", "+1.5", "f=1", "'g", ""]
    assert [record_csv.text(one) for one in shown] == texts


def test_three_files_and_nothing_else(tmp_path, small, rows):
    paths = write_report(tmp_path / "a" / "b", small, rows)
    assert sorted(p.name for p in (tmp_path / "a" / "b").iterdir()) == ["audit.json", "records.csv", "report.html"]
    assert [p.name for p in paths] == ["report.html", "records.csv", "audit.json"]
    text = paths[2].read_text(encoding="utf-8")
    assert text == as_json(AuditDocument.model_validate(small).to_json())
    assert text.endswith("}\n")


def test_writing_again_replaces(tmp_path, small, rows):
    first = write_report(tmp_path, small, rows)
    before = [path.read_bytes() for path in first]
    (tmp_path / "audit.json").write_text("old")
    assert [path.read_bytes() for path in write_report(tmp_path, small, rows)] == before
    assert len(list(tmp_path.iterdir())) == 3


def test_files_get_the_usual_permissions(tmp_path, small, rows):
    plain = tmp_path / "plain"
    plain.touch()
    assert {p.stat().st_mode for p in write_report(tmp_path, small, rows[:2])} == {plain.stat().st_mode}


def test_csv_holds_every_digit_and_leaves_unknowns_empty(tmp_path):
    rows = example.rows(50)
    rows[7] |= {"exposure": None, "label_name": 'a "quoted", name\nof two lines ü'}
    rows = [row | {"exposure_error": 0.1} for row in rows]
    write_records(tmp_path / "r.csv", rows)
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as stream:
        read = list(csv.DictReader(stream))
    assert list(read[0]) == list(COLUMNS)
    assert read[7]["exposure"] == ""
    assert read[7]["label_name"] == rows[7]["label_name"]
    assert [float(line["margin_in"]) for line in read] == [row["margin_in"] for row in rows]


def test_csv_without_rows_has_its_header(tmp_path):
    write_records(tmp_path / "r.csv", [])
    assert (tmp_path / "r.csv").read_text() == ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize(
    ("wrong", "where"),
    [({"a": [1.0, float("nan")]}, "a.1"), ({"a": {"b": np.arange(2)}}, "a.b"), ({"o": [], "x": float("inf")}, "x")],
)
def test_values_that_json_lacks_are_refused_by_their_place(wrong, where):
    with pytest.raises(InputError, match=f"^document.{where}: expected plain, finite values"):
        as_json(wrong)


def test_a_name_that_is_no_unicode_is_written(tmp_path, small, rows):
    name = os.fsdecode(b"data-\xff")
    folder = write_report(tmp_path, small | {"data": small["data"] | {"name": name}}, rows[:2])[0].parent
    assert json.loads((folder / "audit.json").read_text(encoding="utf-8"))["data"]["name"] == name


def test_a_file_in_the_way_is_named(tmp_path, small, rows):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(StoreError, match=r"expected to write .*out.*: a file stands where a folder should be"):
        write_report(tmp_path / "out", small, rows[:2])


def test_a_folder_in_the_way_is_named(tmp_path, small, rows):
    (tmp_path / "audit.json").mkdir()
    with pytest.raises(StoreError, match=r"audit\.json.*: a folder stands where the file should be"):
        write_report(tmp_path, small, rows[:2])
    # Neither litter, nor a page without its numbers.
    assert [path.name for path in tmp_path.iterdir()] == ["audit.json"]


def test_a_disk_that_is_full_at_the_last_file_leaves_what_was_there(tmp_path, small, rows, monkeypatch):
    (tmp_path / "report.html").write_text("old")
    calls = []

    def full(handle):
        calls.append(handle)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(StoreError, match=r"expected to write .*audit\.json, got No space left on device"):
        write_report(tmp_path, small, rows[:2])
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("report.html", "old")]


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EACCES, "a folder that you may write to"),
        (errno.ENOENT, "nothing can be made there: choose another folder"),
        (errno.EIO, "choose another"),
    ],
)
def test_a_refused_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch, number, advice):
    path = tmp_path / "audit.json"
    path.write_text("old")

    def refuse(handle):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files.os, "fsync", refuse)
    with (
        pytest.raises(StoreError, match=rf"expected to write .*audit\.json, got .*: .*{advice}"),
        files.replacing(path) as stream,
    ):
        stream.write(b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("made", ["", "a", "a/b"])
def test_a_folder_that_takes_no_file_is_refused_before_the_work_and_nothing_is_left(tmp_path, monkeypatch, made):
    def refuse(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / made).mkdir(parents=True, exist_ok=True)
    before = sorted(tmp_path.rglob("*"))
    Output.take(tmp_path / "a" / "b", AUDIT)
    assert sorted(tmp_path.rglob("*")) == before
    monkeypatch.setattr(files.os, "fsync", refuse)
    with pytest.raises(StoreError, match=r"expected to write .*a/b, got No space left on device: free some space"):
        Output.take(tmp_path / "a" / "b", AUDIT)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_error_while_writing_leaves_the_old_file(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text("old")

    def write():
        with files.replacing(path) as stream:
            stream.write(b"record")
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(tmp_path, monkeypatch, small, rows):
    real = type(tmp_path).open
    monkeypatch.setattr(
        type(tmp_path),
        "open",
        lambda self, mode="r", **k: real(
            type(self)("/dev/full") if mode == "xb" else self, "wb" if mode == "xb" else mode, **k
        ),
    )
    with pytest.raises(StoreError, match="No space left on device: free some space there"):
        write_report(tmp_path, small, rows[:2])
    with pytest.raises(StoreError, match="No space left on device: free some space there"):
        files.write_files(tmp_path / "a" / "out", {"records.csv": "1"})  # Nor is a folder left that was made for it.
    assert list(tmp_path.iterdir()) == []
