"""scripts/studies: what it runs, and what it copies into the docs."""

import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import reticent
from reticent.findings.study import SCHEMA

SCRIPT = Path(__file__).parents[2] / "scripts" / "studies"
DOCS = SCRIPT.parents[1] / "docs" / "studies"
DOCUMENT = json.loads((DOCS / "cwrf-entanglement-tiny" / "study.json").read_text(encoding="utf-8"))
TOLD = "| Of the paper's 4 claims none can be told; of our 2 claims 1 holds and 1 can't be told. |"


def test_a_report_of_an_earlier_version_is_made_again(tmp_path, monkeypatch):
    """What lies in parts is checked by its format; study.json says nothing of what made it."""
    asked = []

    def study(name, **options):
        asked.append((options["out"].name, options["dataset"]))
        return type("Studied", (), {"sentence": "Done."})

    out = tmp_path / "pptp-disparity-tiny"
    out.mkdir()
    (out / "study.json").write_text("{}")
    monkeypatch.setattr(reticent, "study", study)
    line = [str(SCRIPT), "run", "--work", str(tmp_path), "--study", "pptp-disparity"]
    for more in ([], ["--dataset", "a/My.csv"]):
        monkeypatch.setattr(sys, "argv", line + more)
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert asked == [("pptp-disparity-tiny", None), ("pptp-disparity-tiny-my", "a/My.csv")]


def test_each_figure_that_a_document_names_is_copied(tmp_path, monkeypatch):
    out, docs = tmp_path / "work" / "cwrf-entanglement-tiny", tmp_path / "docs"
    for folder in (out / "parts", docs):
        folder.mkdir(parents=True)
    for name in ("a.svg", "a.png", "study.md", "study.html"):
        (out / name).write_text(name)
    (out / "study.json").write_text(json.dumps(DOCUMENT))
    module = runpy.run_path(str(SCRIPT))
    monkeypatch.setitem(module["copy"].__globals__, "DOCS", docs)
    module["copy"](SimpleNamespace(work=str(tmp_path / "work")))
    assert sorted(file.name for file in (docs / out.name).iterdir()) == ["a.png", "a.svg", "study.json", "study.md"]
    out.rename(out.with_name(f"{out.name}-mine"))  # as of a table in the scale's place
    module["copy"](SimpleNamespace(work=str(tmp_path / "work")))
    told = (docs / "README.md").read_text()
    assert f"{out.name}/study.md) | tiny {TOLD}" in told
    assert f"{out.name}-mine/study.md) | tiny, mine {TOLD}" in told


def test_what_was_measured_is_kept_and_found_again_on_another_day(tmp_path, monkeypatch):
    """Seeds can be added later: the parts lie in the repository, and go into the next run's folder."""
    name, kept = "cwrf-entanglement-tiny", tmp_path / "kept"
    out = tmp_path / "work" / name
    (out / "parts").mkdir(parents=True)
    (out / "study.json").write_text(json.dumps(DOCUMENT))
    (out / "study.md").write_text("")
    (out / "parts" / "cnn-0-abc.json").write_text("{}")
    monkeypatch.setattr(reticent, "study", lambda name, **options: type("Studied", (), {"sentence": "Done."}))
    module = runpy.run_path(str(SCRIPT))
    monkeypatch.setitem(module["copy"].__globals__, "DOCS", tmp_path / "docs")
    monkeypatch.setitem(module["copy"].__globals__, "KEPT", kept)
    (tmp_path / "docs").mkdir()
    module["copy"](SimpleNamespace(work=str(tmp_path / "work")))
    later = SimpleNamespace(
        work=str(tmp_path / "later"),
        study=["cwrf-entanglement"],
        scale="tiny",
        data=None,
        setting=[],
        dataset=None,
        label=None,
        seeds=3,
        workers=1,
    )
    module["run"](later)
    assert [file.name for file in (tmp_path / "later" / name / "parts").iterdir()] == ["cnn-0-abc.json"]


def test_the_list_counts_the_claims_of_a_page(tmp_path):
    assert TOLD in runpy.run_path(str(SCRIPT))["row"](tmp_path, DOCUMENT)


def test_every_page_is_printed_by_the_rules_of_today():
    assert {json.loads(file.read_text())["schema"] for file in DOCS.glob("*/study.json")} == {SCHEMA}


def test_each_figure_that_the_docs_name_is_there():
    for file in DOCS.glob("*/study.json"):
        for figure in json.loads(file.read_text())["figures"]:
            assert (file.parent / figure["svg"]).is_file()
            assert (file.parent / figure["png"]).is_file()
