"""What a command reads, and what is none of reticent's, is never written over; an earlier report leaves nothing old."""

import errno
import json
import os

import numpy as np
import pytest

import reticent
from reticent.errors import InputError, UnwrittenError
from reticent.jobs.row_folders import RowFolders
from reticent.report import place
from reticent.report.write import write_pair

SMALL = "--records 60 --models 4 --epochs 1 --workers 1 --attack loss --set replicates=100 --architecture mlp"


@pytest.mark.parametrize("kind", ["relative", "symlink", "hard link"])
def test_scores_never_replace_the_outputs(command, outputs, tmp_path, kind):
    before = (tmp_path / "outputs.npz").read_bytes() if outputs() else b""
    named = {"relative": "here/../outputs.npz", "symlink": "s.npz", "hard link": "h.npz"}[kind]
    (tmp_path / "here").mkdir()
    (tmp_path / "s.npz").symlink_to("outputs.npz")
    os.link(tmp_path / "outputs.npz", tmp_path / "h.npz")
    code, _, err = command(f"attack --signals outputs.npz --attack loss --scores {named} --out bo")
    assert code == 2
    assert f"scores: {named} would be written over, and this command reads it (as outputs.npz): give another" in err
    assert (tmp_path / named).read_bytes() == before
    assert not (tmp_path / "bo").exists()


@pytest.mark.parametrize("name", ["records.csv", "report.html", "audit.json"])
@pytest.mark.parametrize("verb", ["audit", "locate records"])
def test_a_report_replaces_nothing_that_is_none_of_its_own(command, tmp_path, verb, name):
    name = name if verb == "audit" else name.replace("report", "records").replace("audit", "records")
    (tmp_path / name).write_text("a,b,label\n" + "1,2,0\n2,1,1\n" * 30)
    small = SMALL if verb == "audit" else SMALL.replace("--attack loss", "")
    code, _, err = command(f"{verb} {small} --out .")
    assert code == 2
    assert f"out: {name} is there already, and is not of an earlier report" in err
    assert "give another folder with --out" in err
    assert (tmp_path / name).read_text().startswith("a,b,label")
    assert not (tmp_path / "reticent-store").exists()


def test_a_data_set_is_not_replaced_where_it_is_of_an_earlier_report(command, outputs, tmp_path):
    outputs()
    assert command("attack --signals outputs.npz --attack loss --out .")[0] == 0
    before = (tmp_path / "records.csv").read_bytes()
    code, _, err = command(f"audit {SMALL} --dataset records.csv --not-feature label_name --out .")
    assert (code, "records.csv would be written over" in err) == (2, True), err
    assert (tmp_path / "records.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["audit.json", "records.csv", "limits.toml"])
def test_junit_replaces_neither_the_audit_nor_its_limits(command, outputs, tmp_path, name):
    outputs()
    command("attack --signals outputs.npz --attack loss --out a")
    (tmp_path / "a" / "limits.toml").write_text("[gate]\nmax_auc = 0.99\n")
    before = (tmp_path / "a" / name).read_bytes()
    code, out, err = command(f"gate a --thresholds a/limits.toml --junit a/{name}")
    assert (code, out, f"junit: a/{name} would be written over" in err) == (2, "", True)
    assert (tmp_path / "a" / name).read_bytes() == before


def test_rows_of_a_comparison_never_replace_the_audits_it_reads(command, tmp_path):
    for name in ("plain", "decay"):
        assert command(f"audit {SMALL} --out {name}" + " --weight-decay 0.1" * (name == "decay"))[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.glob("*/*.*") if "store" not in str(path)}
    assert len(before) == 6
    code, _, err = command("compare plain decay --no-early-stopped --out .")
    assert (code, "the row plain is written to plain: out: plain/report.html would be written over" in err) == (2, True)
    assert {path: path.read_bytes() for path in before} == before


def test_a_row_that_is_known_late_goes_beside_what_is_in_the_way(tmp_path):
    (tmp_path / "control").mkdir()
    (tmp_path / "control" / "records.csv").write_text("mine")
    folders = RowFolders(tmp_path, [])
    with pytest.raises(InputError, match=r"the row control! is written to .*control: out: .*records\.csv is there"):
        folders.take("control!", "html")
    assert folders.of("control", "html") == tmp_path / "control-2"
    assert folders.of("control", "html") == tmp_path / "control-2"
    assert folders.of("control!", "html") == tmp_path / "control-3"


def test_folders_that_only_an_earlier_comparison_had_are_told(tmp_path):
    rows = [{"name": "a"}, {"name": "b, twice"}, {"name": "c"}]
    (tmp_path / "compare.json").write_text(json.dumps({"schema": "reticent.comparison/1", "rows": rows}))
    for name in ("a", "b-twice"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "audit.json").write_text('{"schema": "reticent.audit/1"}')
    folders = RowFolders(tmp_path, [])
    assert folders.take("a", "html") is None
    assert folders.left() == [f"{tmp_path / 'b-twice'} is of an earlier comparison: no row of this one is there"]
    (tmp_path / "compare.json").unlink()
    assert "a holds an earlier audit, which the row a will replace" in (
        RowFolders(tmp_path, []).take("a", "html") or ""
    )


def test_a_section_of_an_earlier_report_goes_and_that_of_a_user_stays(command, outputs, tmp_path):
    outputs()
    command("attack --signals outputs.npz --attack loss --format md --out here")
    assert (tmp_path / "here" / "report.md").is_file()
    assert command("attack --signals outputs.npz --attack loss --out here")[0] == 0
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["audit.json", "records.csv", "report.html"]
    (tmp_path / "here" / "report.md").write_text("# My notes\n")
    assert command("attack --signals outputs.npz --attack loss --out here")[0] == 0
    assert (tmp_path / "here" / "report.md").read_text() == "# My notes\n"
    code, _, err = command("attack --signals outputs.npz --attack loss --format md --out here")
    assert (code, "here/report.md is there already" in err) == (2, True)


def test_figures_of_an_earlier_study_go(tmp_path):
    figures = [{"svg": "s-a.svg", "png": "s-a.png"}, {"svg": "../out.svg", "png": "s-b.png"}, {"svg": 3}, None]
    (tmp_path / "study.json").write_text(json.dumps({"schema": "reticent.study/1", "figures": figures}))
    for name in ("s-a.svg", "s-a.png", "s-b.png", "other.png"):
        (tmp_path / name).write_text("x")
    found = place.left_over(tmp_path, place.STUDY, ["study.json", "s-a.svg", "s-a.png"])
    assert found == [tmp_path / "s-b.png"]


def test_scores_that_an_interruption_left_are_no_hindrance(tmp_path):
    for what in ("vulnerability", "learnability"):
        (tmp_path / f"{what}.safetensors").write_bytes(b'\0{"__metadata__":{"scores":"' + what.encode() + b'"}}')
    place.check_folder(tmp_path, place.WEIGHTS)
    (tmp_path / "learnability.safetensors").write_bytes(b"mine")
    with pytest.raises(InputError, match=r"learnability\.safetensors is there already"):
        place.check_folder(tmp_path, place.WEIGHTS)


def test_every_form_is_of_the_schema_that_its_job_writes():
    from reticent.jobs import compare, document, search
    from reticent.jobs.hardening import document as harden
    from reticent.jobs.locate import _layers_document, records, weights
    from reticent.studies import told

    written = {
        place.AUDIT: document, place.COMPARISON: compare, place.SEARCH: search, place.HARDEN: harden,
        place.WEIGHTS: weights, place.LAYERS: _layers_document, place.RECORD_LIST: records, place.STUDY: told,
    }  # fmt: skip
    for form, job in written.items():
        assert job.SCHEMA.startswith(form.schema), form.numbers


@pytest.mark.parametrize("verb", ["locate records", "locate layers", "locate weights"])
def test_an_earlier_report_is_told_before_it_is_replaced(command, verb, monkeypatch, tmp_path):
    monkeypatch.setattr(f"reticent.jobs.locate.{verb.split()[1]}.take_folder", lambda *_: _[0])
    small = "--epochs 1 --workers 1 --architecture mlp --out here"
    (tmp_path / "here").mkdir()
    form = {"records": place.RECORD_LIST, "layers": place.LAYERS, "weights": place.WEIGHTS}[verb.split()[1]]
    (tmp_path / "here" / form.numbers).write_text("{}")
    more = {
        "records": "--records 60 --models 4",
        "layers": "--records 200 --seeds 1 --probe none",
        "weights": "--records 60 --models 4 --steps 1",
    }
    code, _, err = command(f"{verb} {small} {more[verb.split()[1]]}")
    assert code == 0, err
    assert err.count("here holds an earlier report, which this one will replace") == 1


def test_what_was_found_is_told_where_it_cannot_be_written(command, outputs, tmp_path):
    outputs()
    (tmp_path / "file").write_text("x")
    code, out, err = command("attack --signals outputs.npz --attack loss --out file/here")
    assert (code, "a file stands where a folder should be" in err) == (2, True)
    with np.load(tmp_path / "outputs.npz") as arrays:
        told = reticent.attack(**arrays, attacks=["loss"]).sentence
        with pytest.raises(UnwrittenError) as raised:
            reticent.attack(**arrays, attacks=["loss"], out=tmp_path / "file" / "here")
    assert told in " ".join(out.split())
    assert raised.value.document["verdict"]["sentence"] == told


def test_the_gate_tells_its_outcome_where_junit_cannot_be_written(command, outputs, tmp_path):
    outputs()
    command("attack --signals outputs.npz --attack loss --out a")
    (tmp_path / "file").write_text("x")
    code, out, err = command("gate a --max-auc 0.9999 --allow few-models --allow weak-attacks --junit file/j.xml")
    assert (code, "a file stands where a folder should be" in err) == (2, True)
    assert "AUC at most 0.9999" in out
    assert "Passed" in out or "Failed" in out or "Cannot judge" in out


def test_a_pair_that_cannot_be_written_leaves_what_stands_beside_it(tmp_path, monkeypatch):
    (tmp_path / "harden.json").mkdir()
    with pytest.raises(UnwrittenError, match=os.strerror(errno.EISDIR)):
        write_pair(tmp_path, "harden", "page", {"a": 1}, {"repaired.safetensors": b"new"})
    assert [path.name for path in tmp_path.iterdir()] == ["harden.json"]
