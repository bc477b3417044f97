"""scripts/studies: what it runs, and what it copies into the docs."""

import json
import runpy
import sys
from pathlib import Path

import reticent

SCRIPT = Path(__file__).parents[2] / "scripts" / "studies"
DOCS = SCRIPT.parents[1] / "docs" / "studies"
DOCUMENT = {
    "study": "pptp-disparity",
    "scale": {"name": "tiny", "seeds": 1},
    "sentence": "pptp-disparity at scale tiny: all is well.",
    "environment": {"device": "cpu", "torch": "2"},
}


def test_a_report_of_an_earlier_version_is_made_again(tmp_path, monkeypatch):
    """What lies in parts is checked by its format; study.json says nothing of what made it."""
    asked = []

    def study(name, **options):
        asked.append((name, options["out"]))
        return type("Studied", (), {"sentence": "Done."})

    out = tmp_path / "pptp-disparity-tiny"
    out.mkdir()
    (out / "study.json").write_text("{}")
    monkeypatch.setattr(reticent, "study", study)
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), "run", "--work", str(tmp_path), "--study", "pptp-disparity"])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert asked == [("pptp-disparity", out)]


def test_each_figure_that_a_document_names_is_copied(tmp_path, monkeypatch):
    out, docs = tmp_path / "work" / "pptp-disparity-tiny", tmp_path / "docs"
    for folder in (out / "parts", docs):
        folder.mkdir(parents=True)
    for name in ("a.svg", "a.png", "study.md", "study.html"):
        (out / name).write_text(name)
    (out / "study.json").write_text(json.dumps(DOCUMENT))
    module = runpy.run_path(str(SCRIPT))
    monkeypatch.setitem(module["copy"].__globals__, "DOCS", docs)
    module["copy"](type("Arguments", (), {"work": str(tmp_path / "work")}))
    assert sorted(file.name for file in (docs / out.name).iterdir()) == ["a.png", "a.svg", "study.json", "study.md"]
    assert "All is well." in (docs / "README.md").read_text()


def test_each_figure_that_the_docs_name_is_there():
    for file in DOCS.glob("*/study.json"):
        for figure in json.loads(file.read_text())["figures"]:
            assert (file.parent / figure["svg"]).is_file()
            assert (file.parent / figure["png"]).is_file()
