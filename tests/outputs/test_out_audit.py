"""A whole audit through the command, with an output defense."""

import json

import numpy as np
import pytest

from reticent.cli import app
from reticent.cli.run import guarded

DIGITS = (
    "audit --dataset digits --records 120 --models 4 --epochs 10 --workers 1 --store store "
    "--attack correctness --attack lira"
)


@pytest.fixture
def audit(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*more):
        code = guarded(app, [*DIGITS.split(), *more])
        _, err = capfd.readouterr()
        assert code == 0, err
        return json.loads((tmp_path / "reticent-audit" / "audit.json").read_text())

    return run


def attacks(document):
    return {one["name"]: one for one in document["attacks"]}


@pytest.mark.slow
def test_an_audit_of_an_output_defense_trains_nothing_again_and_says_what_it_was(audit, tmp_path):
    plain, defended = audit(), audit("--set", "output.name=hamp-output")
    kinds = [json.loads(file.read_text())["kind"] for file in tmp_path.glob("store/runs/*/spec.json")]
    assert sorted(kinds) == ["signals"] * 8 + ["training"] * 4
    assert plain["recipe"]["output"] == {"method": "none"}
    assert defended["recipe"]["output"] == {"method": "hamp-output", "fresh": False, "features": "auto"}
    page = (tmp_path / "reticent-audit" / "report.html").read_text()
    assert "hamp-output" in page
    one, other = attacks(plain), attacks(defended)
    assert one["correctness"] == other["correctness"]
    assert one["lira"] != other["lira"]
    accuracies = [
        [(one["accuracy_members"], one["accuracy_non_members"]) for one in document["population"]["per_model"]]
        for document in (plain, defended)
    ]
    assert accuracies[0] == accuracies[1]
    assert np.mean(accuracies[0]) > 0.5
