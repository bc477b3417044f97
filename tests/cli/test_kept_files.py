"""What a command reads, and what is none of reticent's, is never written over; an earlier report leaves nothing old."""

import errno
import fcntl
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import reticent
from reticent.cli.job import reported
from reticent.errors import CorruptFileError, InputError, StoreError, UnwrittenError
from reticent.findings.audit import AuditDocument
from reticent.findings.base import Document
from reticent.jobs.comparison.folders import RowFolders
from reticent.report import output as place
from reticent.report.files import replacing, write_files
from reticent.report.kinds import layout
from reticent.report.output import HARDEN, Output
from reticent.report.render.markdown import markdown

ATTACK = "attack --signals outputs.npz --attack loss --set replicates=100"
SMALL = "--records 60 --models 4 --epochs 1 --workers 1 --attack loss --set replicates=100 --architecture mlp"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One audit with its section, which tests copy."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("made")
    membership = rng.permuted(np.tile([True, False], (60, 4)), axis=1).T
    margins = rng.normal(size=(8, 60)) + membership
    labels = np.arange(60) % 3
    reticent.attack(
        labels=labels, membership=membership, margins=margins, attacks=["loss"], replicates=100, out=folder, format="md"
    )
    return folder


@pytest.fixture
def earlier(made, tmp_path):
    """That audit, in a folder of its own."""
    return shutil.copytree(made, tmp_path / "earlier")


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


def test_scores_never_replace_the_records(command, outputs, tmp_path):
    outputs()
    np.savez(tmp_path / "both.npz", x=np.zeros((60, 2), np.float32), y=np.arange(60) % 3)
    before = (tmp_path / "both.npz").read_bytes()
    code, _, err = command("attack --signals outputs.npz --records both.npz --attack loss --scores both.npz --out bo")
    assert code == 2
    assert "scores: both.npz would be written over, and this command reads it" in err
    assert (tmp_path / "both.npz").read_bytes() == before


@pytest.mark.parametrize("name", ["records.csv", "report.html", "audit.json"])
@pytest.mark.parametrize("verb", ["audit", "locate records"])
def test_a_report_replaces_nothing_that_is_none_of_its_own(command, tmp_path, verb, name):
    name = name if verb == "audit" else name.replace("report", "records").replace("audit", "records")
    (tmp_path / name).write_text("a,b,label\n" + "1,2,0\n2,1,1\n" * 30)
    small = SMALL if verb == "audit" else SMALL.replace("--attack loss --set replicates=100", "")
    code, _, err = command(f"{verb} {small} --out .")
    assert code == 2
    assert f"out: {name} is there already, and is not of an earlier report" in err
    assert "give another folder with --out" in err
    assert (tmp_path / name).read_text().startswith("a,b,label")
    assert not (tmp_path / "reticent-store").exists()


TRAINS = {
    "audit": place.AUDIT,
    "compare --defense relaxloss": place.COMPARISON,
    "search --defense relaxloss --over level=0.5,1": place.SEARCH,
    "locate records": place.RECORD_LIST,
    "locate records --without-references": place.RANKING,
    "locate layers": place.LAYERS,
    "locate weights": place.WEIGHTS,
}


@pytest.mark.parametrize("verb", TRAINS)
def test_a_store_that_cannot_be_used_is_refused_before_a_report_is_set_aside(command, tmp_path, verb):
    (tmp_path / "store").write_text("a file")
    form = TRAINS[verb]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / form.numbers).write_text(json.dumps({"schema": f"{form.schema}1"}))
    if form is place.COMPARISON:
        (tmp_path / "out" / "none").mkdir()
        (tmp_path / "out" / "none" / "audit.json").write_text('{"schema": "reticent.audit/1"}')
    before = sorted(tmp_path.rglob("*"))
    small = "--records 100 --epochs 1" + " --models 4" * (form not in {place.RANKING, place.LAYERS})
    code, _, err = command(f"{verb} {small} --store store --out out")
    assert (code, "the store store cannot be written" in err) == (2, True), err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_data_set_is_not_replaced_where_it_is_of_an_earlier_report(command, earlier):
    before = (earlier / "records.csv").read_bytes()
    code, _, err = command(
        f"audit {SMALL} --dataset earlier/records.csv --label label --not-feature label_name --out earlier"
    )
    assert (code, "records.csv would be written over" in err) == (2, True), err
    assert (earlier / "records.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["audit.json", "records.csv", "limits.toml"])
def test_junit_replaces_neither_the_audit_nor_its_limits(command, earlier, name):
    (earlier / "limits.toml").write_text("[gate]\nmax_auc = 0.99\n")
    before = (earlier / name).read_bytes()
    code, out, err = command(f"gate earlier --thresholds earlier/limits.toml --junit earlier/{name}")
    assert (code, out, f"junit: earlier/{name} would be written over" in err) == (2, "", True)
    assert (earlier / name).read_bytes() == before


@pytest.mark.slow
def test_rows_of_a_comparison_never_replace_the_audits_it_reads(command, tmp_path):
    for name in ("plain", "decay"):
        assert command(f"audit {SMALL} --out {name}" + " --weight-decay 0.1" * (name == "decay"))[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.glob("*/*.*") if "store" not in str(path)}
    assert len(before) == 6
    code, _, err = command("compare plain decay --no-early-stopped --out .")
    assert (code, "the row plain is written to plain: out: plain/report.html would be written over" in err) == (2, True)
    assert {path: path.read_bytes() for path in before} == before


def test_a_row_never_replaces_an_audit_that_is_read(earlier):
    folders = RowFolders(earlier.parent, place.AUDIT.files(earlier))
    with pytest.raises(InputError, match=r"the row earlier is written to .*report\.html would be written over"):
        folders.take("earlier", "html")


def test_a_late_row_that_replaces_an_audit_says_so(earlier):
    folders = RowFolders(earlier.parent, [])
    taken = folders.late("earlier", "html")
    assert taken.folder == earlier
    assert folders.replaced("earlier", taken) == (
        f"{earlier} holds an earlier audit: it lies in {earlier / 'earlier'} until the row earlier replaces it"
    )


def test_a_row_that_is_known_late_goes_beside_what_is_in_the_way(tmp_path):
    (tmp_path / "control").mkdir()
    (tmp_path / "control" / "records.csv").write_text("mine")
    folders = RowFolders(tmp_path, [])
    with pytest.raises(InputError, match=r"the row control! is written to .*control: out: .*records\.csv is there"):
        folders.take("control!", "html")
    assert folders.late("control", "html").folder == tmp_path / "control-2"
    assert folders.late("control!", "html").folder == tmp_path / "control-3"


def test_folders_that_only_an_earlier_comparison_had_are_told(tmp_path):
    rows = [{"name": "a"}, {"name": "b, twice"}, {"name": "c"}]
    (tmp_path / "compare.json").write_text(json.dumps({"schema": "reticent.comparison/1", "rows": rows}))
    for name in ("a", "b-twice"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "audit.json").write_text('{"schema": "reticent.audit/1"}')
    folders = RowFolders(tmp_path, [])
    taken = folders.take("a", "html")
    assert not (tmp_path / "earlier").exists()
    folders.begin()
    assert folders.replaced("a", taken) is None
    assert folders.left() == [f"{tmp_path / 'b-twice'} is of an earlier comparison: no row of this one is there"]
    (tmp_path / "earlier" / "compare.json").unlink()
    folders = RowFolders(tmp_path, [])
    taken = folders.take("a", "html")
    folders.begin()
    told = folders.replaced("a", taken) or ""
    assert "a holds an earlier audit: it lies in" in told


def test_a_section_of_an_earlier_report_goes(command, outputs, earlier):
    outputs()
    assert command(f"{ATTACK} --out earlier")[0] == 0
    assert sorted(path.name for path in earlier.iterdir()) == ["audit.json", "records.csv", "report.html"]


def pasted(section):
    return b"# Model card\n\n" + section + b"\n## Licence\nMine.\n"


EDITS = {
    "pasted into a card": pasted,
    "one word changed": lambda section: section.replace(b"in brackets", b"in parentheses"),
    "more below": lambda section: section + b"\n## Licence\n",
    "the last line left out": lambda section: section.rsplit(b"\n<!--")[0] + b"\n",
    "notes": lambda _: b"# My notes\n",
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_section_that_was_edited_stays(earlier, edit, caplog):
    section = earlier / "report.md"
    section.write_bytes(EDITS[edit](section.read_bytes()))
    place.check_folder(earlier, place.AUDIT)
    with pytest.raises(InputError, match=r"report\.md is there already, and its last line .*move it away"):
        place.check_folder(earlier, place.AUDIT, kind="md")
    Output.take(earlier, place.AUDIT)
    assert sorted(path.name for path in earlier.iterdir()) == ["earlier", "report.md"]
    assert [one.getMessage() for one in caplog.records] == [
        f"{section} stays, since its last line does not say that it is word for word what reticent wrote: it may tell "
        "of an earlier report"
    ]


def test_marks_count_where_reticent_writes_them_alone(earlier):
    for name, mark in (("records.csv", place.RECORDS), ("report.html", place.KINDS[".html"])):
        (earlier / name).write_bytes(b"mine\n" * 1000 + mark)
        with pytest.raises(InputError, match=name):
            place.check_names(earlier, place.AUDIT, [name])


def test_what_an_interruption_left_without_its_document_is_no_hindrance(earlier):
    (earlier / "audit.json").unlink()
    place.check_folder(earlier, place.AUDIT, kind="md")
    (earlier / "audit.json").write_text("{}")
    with pytest.raises(InputError, match=r"audit\.json is there already"):
        place.check_folder(earlier, place.AUDIT)


def test_records_of_an_audit_are_not_those_of_a_list(earlier):
    with pytest.raises(InputError, match=r"records\.csv is there already"):
        place.check_folder(earlier, place.RECORD_LIST)


def test_a_name_that_is_too_long_is_told_as_such(command, outputs, tmp_path):
    outputs()
    long = "a" * 300
    code, _, err = command(f"{ATTACK} --out {long}")
    assert (code, "File name too long: choose a shorter name" in err) == (2, True), err
    assert not place.AUDIT.earlier(tmp_path / long)
    with pytest.raises(StoreError, match="choose a shorter name"):
        Output.take(tmp_path / long, place.SEARCH, [long, tmp_path / long / "x", "~nobody-at-all/x"])
    with pytest.raises(CorruptFileError, match="cannot be read: File name too long"):
        reticent.gate(tmp_path / long, max_auc=0.9)


def test_a_folder_that_may_not_be_entered_is_told_as_such(monkeypatch, tmp_path):
    def refused(real):
        def call(path, *given, **named):
            if "locked" in str(path):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return real(path, *given, **named)

        return call

    for name in ("stat", "lstat", "mkdir", "open"):
        monkeypatch.setattr(f"pathlib.Path.{name}", refused(getattr(type(tmp_path), name)))
    with pytest.raises(StoreError, match="choose a folder that you may write to"):
        Output.take(tmp_path / "locked" / "x", place.AUDIT, [tmp_path / "a", tmp_path / "locked"])
    assert place.AUDIT.files(tmp_path / "locked")[0] == tmp_path / "locked"


def test_figures_of_an_earlier_study_go(tmp_path):
    figures = [{"svg": "s-a.svg", "png": "s-a.png"}, {"svg": "../out.svg", "png": "s-b.png"}, {"svg": 3}, None]
    (tmp_path / "study.json").write_text(json.dumps({"schema": "reticent.study/1", "figures": figures}))
    for name in ("s-a.svg", "s-a.png", "s-b.png", "other.png"):
        (tmp_path / name).write_text("x")
    taken = Output.take(tmp_path, place.STUDY)
    aside = {"study.json", "s-a.svg", "s-a.png", "s-b.png"}
    assert {path.name for path in (tmp_path / "earlier").iterdir()} == aside
    taken.write(Document(schema="reticent.study/1"), {})
    assert {path.name for path in tmp_path.iterdir()} == {"study.json", "other.png"}


def test_an_audit_that_fails_leaves_no_report_of_before_in_its_place(command, earlier, monkeypatch, tmp_path):
    """A gate that runs after it would judge the report of before."""

    def ended(*_, **__):
        raise InputError("that is enough")

    before = {path.name: path.read_bytes() for path in earlier.iterdir() if path.name != "report.md"}
    (earlier / "report.md").unlink()
    with monkeypatch.context() as patched:
        patched.setattr("reticent.jobs.audit.train", ended)
        for _ in range(2):  # Another one that fails loses nothing.
            assert command(f"audit {SMALL} --out earlier")[0] == 2
            assert {path.name: path.read_bytes() for path in (earlier / "earlier").iterdir()} == before
    code, _, err = command("gate earlier --max-auc 0.9999")
    assert code == 2
    assert "a report into this folder was begun and is not written: run the same command again" in err
    (earlier / "earlier" / "notes.txt").write_text("mine")
    assert command(f"audit {SMALL} --out earlier")[0] == 0
    assert {path.name for path in earlier.iterdir()} == {*before, "earlier"}
    assert [path.name for path in (earlier / "earlier").iterdir()] == ["notes.txt"]


def test_files_that_killed_processes_left_half_written_go_and_those_of_live_ones_stay(tmp_path):
    dead, live, mine = (tmp_path / name for name in (".a.html.0123abcd.tmp", ".a.html.ffffffff.tmp", ".a.html.x.tmp"))
    for path in (dead, live, mine):
        path.write_text("half")
    with live.open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        with replacing(tmp_path / "a.html"):
            left = {path.name for path in tmp_path.iterdir()}
        assert live.name in left
    assert {path.name for path in tmp_path.iterdir()} == {"a.html", live.name, mine.name}
    writing = replacing(tmp_path / "a.html")
    with writing, replacing(tmp_path / "a.html"):
        pass  # What the first is writing stays, or it would end with an error.
    assert {path.name for path in tmp_path.iterdir()} == {"a.html", mine.name}


def test_two_processes_that_write_one_report_at_once_both_write_it(tmp_path):
    def numbers():
        write_files(tmp_path, {"a.html": "other", "a.json": "other"})  # While this one's page waits for its numbers.
        yield "own"

    write_files(tmp_path, {"a.html": "own", "a.json": numbers()})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.html": "own", "a.json": "own"}


def test_scores_that_an_interruption_left_are_no_hindrance(tmp_path):
    import torch

    from reticent.jobs.locate import scores

    for what in ("vulnerability", "learnability"):
        found = scores.Scores({"layer.weight": torch.ones(3)}, unused=["layer.bias"])
        scores._save(tmp_path / f"{what}.safetensors", found)
    place.check_folder(tmp_path, place.WEIGHTS)
    (tmp_path / "learnability.safetensors").write_bytes(b"mine" + b'"scores":"learnability"')
    with pytest.raises(InputError, match=r"learnability\.safetensors is there already"):
        place.check_folder(tmp_path, place.WEIGHTS)


def test_repaired_weights_are_known_by_their_file_and_those_of_others_stay(tmp_path):
    import torch
    from safetensors import safe_open
    from safetensors.torch import load, save

    from reticent.jobs.harden import WEIGHTS, marked

    state = {"b": torch.arange(5.0), "a": torch.ones(2, 3)}
    plain = save(state, {"format": "pt"})
    made = {marked(save(state, {"format": "pt"})) for _ in range(8)}
    (content,) = made
    assert {name: value.tolist() for name, value in load(content).items()} == {
        name: value.tolist() for name, value in state.items()
    }
    (tmp_path / WEIGHTS).write_bytes(content)
    (tmp_path / "harden.json").write_text('{"schema": "reticent.harden/1"}')
    place.check_folder(tmp_path, place.HARDEN)
    with safe_open(tmp_path / WEIGHTS, "pt") as file:
        assert file.metadata() == {"format": "pt", "repaired": "by reticent"}
    (tmp_path / WEIGHTS).write_bytes(plain)
    with pytest.raises(InputError, match=r"repaired\.safetensors is there already"):
        place.check_folder(tmp_path, place.HARDEN)


def test_every_form_is_of_the_schema_that_its_job_writes():
    from reticent.findings import audit, comparison, harden, locate, ranking, search, study

    written = {
        place.AUDIT: audit.SCHEMA, place.COMPARISON: comparison.SCHEMA, place.SEARCH: search.SCHEMA,
        place.HARDEN: harden.SCHEMA, place.WEIGHTS: locate.WEIGHTS, place.LAYERS: locate.LAYERS,
        place.RECORD_LIST: locate.RECORDS, place.RANKING: ranking.SCHEMA, place.STUDY: study.SCHEMA,
    }  # fmt: skip
    assert set(written) == set(place.FORMS)
    for form, schema in written.items():
        assert schema.startswith(form.schema), form.numbers
        assert callable(layout(schema))


@pytest.mark.parametrize(
    ("verb", "form", "then", "more"),
    [
        ("records", place.RECORD_LIST, "records.train", "--records 60 --models 4"),
        ("layers", place.LAYERS, "networks.train", "--records 200 --seeds 1 --probe none"),
        ("weights", place.WEIGHTS, "weights.of_population", "--records 60 --models 4 --steps 1"),
    ],
)
def test_an_earlier_report_is_told_before_it_is_replaced(command, verb, form, then, more, monkeypatch, tmp_path):
    def ended(*_, **__):
        raise InputError("that is enough")

    monkeypatch.setattr(f"reticent.jobs.locate.{then}", ended)
    usual = "reticent-locate" if verb == "weights" else f"reticent-{verb}"
    for folder in ("here", usual):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / form.numbers).write_text(json.dumps({"schema": f"{form.schema}1"}))
    (tmp_path / "audit.toml").write_text('out = "here"\n')
    small = f"locate {verb} --epochs 1 --architecture mlp {more}" + " --workers 1" * (verb != "weights")
    for flag, folder in (("--out here", "here"), ("--config audit.toml", "here"), ("", usual)):
        code, _, err = command(f"{small} {flag}")
        assert (code, err.endswith("that is enough")) == (2, True), err
        assert err.count(f"{folder} holds an earlier report: it lies in") == 1, err


def test_the_report_of_another_study_is_told_before_it_is_replaced(tmp_path):
    from reticent.studies.run import _of_another

    told = {"schema": "reticent.study/1", "study": "toy", "scale": {"name": "tiny"}}
    assert not _of_another(tmp_path, "toy", "tiny")
    (tmp_path / "study.json").write_text(json.dumps(told))
    assert [_of_another(tmp_path, *of) for of in (("toy", "tiny"), ("toy", "small"), ("other", "tiny"))] == [
        False,
        True,
        True,
    ]


def test_what_was_found_is_told_where_it_cannot_be_written(command, outputs, monkeypatch):
    outputs()

    def full(folder, *_):
        raise StoreError(f"expected to write {folder}, got {os.strerror(errno.ENOSPC)}")

    monkeypatch.setattr("reticent.report.output.write_files", full)
    code, out, err = command(f"{ATTACK} --out here")
    assert (code, os.strerror(errno.ENOSPC) in err) == (2, True)
    with np.load("outputs.npz") as arrays:
        told = reticent.attack(**arrays, attacks=["loss"], replicates=100).sentence
    assert told in " ".join(out.split())


def test_a_folder_that_cannot_be_is_refused_before_any_attack(command, outputs, tmp_path, monkeypatch):
    monkeypatch.setattr("reticent.jobs.attack.measure", None)
    outputs()
    (tmp_path / "file").write_text("x")
    code, out, err = command(f"{ATTACK} --out file/here")
    assert (code, out, "a file stands where a folder should be" in err) == (2, "", True)


def test_the_report_that_is_lost_need_not_be_of_the_verbs_own_kind(earlier, capsys):
    document = AuditDocument.read(json.loads((earlier / "audit.json").read_text()))

    def unwritten():
        raise UnwrittenError("a row of a comparison", document)

    with pytest.raises(UnwrittenError):
        reported(place.COMPARISON, lambda _: unwritten())
    out = capsys.readouterr().out
    assert document.sentence in " ".join(out.split())
    assert markdown(layout(document.schema_)(document)).strip() in out  # No file has what a terminal is spared.


def test_what_could_not_be_written_is_followed_by_no_command_on_its_folder(earlier, monkeypatch):
    document = AuditDocument.read(json.loads((earlier / "audit.json").read_text()))
    found = document.with_(verdict=document.verdict.with_(leak="found"))
    said = markdown(layout(found.schema_)(found))
    assert "reticent gate" in said
    assert "reticent locate records" in said

    def full(*_):
        raise StoreError("full")

    monkeypatch.setattr("reticent.report.output.write_files", full)
    with pytest.raises(UnwrittenError) as error:
        Output(earlier, place.AUDIT).write(found, {})
    lost = error.value.findings
    told = markdown(layout(lost.schema_)(lost))
    assert ("reticent gate" in told, "reticent locate records" in told, "reticent harden" in told) == (
        False,
        False,
        True,
    )


def test_junit_replaces_its_own_file_alone(command, earlier, tmp_path):
    gate = "gate earlier --max-auc 0.9999 --allow few-models --allow weak-attacks --junit "
    for _ in range(2):
        code, out, err = command(gate + "again.xml")
        assert "again.xml" not in err, (code, out, err)
        assert Path("again.xml").exists()
    Path("notes.txt").write_text("my notes", encoding="utf-8")
    code, _, err = command(gate + "notes.txt")
    assert (code, "reticent did not write it" in err) == (2, True)
    assert Path("notes.txt").read_text(encoding="utf-8") == "my notes"
    Path("notes.npz").write_text("my notes", encoding="utf-8")
    code, _, err = command(f"{ATTACK} --scores notes.npz")
    assert (code, "reticent did not write it" in err) == (2, True)
    assert Path("notes.npz").read_text(encoding="utf-8") == "my notes"
    os.mkfifo("pipe")
    for flags in (gate + "pipe", f"{ATTACK} --scores pipe"):
        code, _, err = command(flags)
        assert (code, "no plain file" in err) == (2, True)
    assert Path("pipe").is_fifo()


def test_the_gate_tells_its_outcome_where_junit_cannot_be_written(command, earlier, tmp_path):
    (tmp_path / "file").write_text("x")
    code, out, err = command("gate earlier --max-auc 0.9999 --allow few-models --allow weak-attacks --junit file/j.xml")
    assert (code, "a file stands where a folder should be" in err) == (2, True)
    assert "AUC at most 0.9999" in out
    assert "Passed" in out or "Failed" in out or "Cannot judge" in out


def test_a_pair_that_cannot_be_written_leaves_what_stands_beside_it(tmp_path, monkeypatch):
    (tmp_path / "harden.json").mkdir()
    with pytest.raises(UnwrittenError, match=os.strerror(errno.EISDIR)):
        Output(tmp_path, HARDEN).write(
            Document(schema="reticent.harden/1"), {"harden.html": "page", "repaired.safetensors": b"new"}
        )
    assert [path.name for path in tmp_path.iterdir()] == ["harden.json"]
