"""Two recipes on real data, one with more weight decay, against the undefended model stopped at the same accuracy."""

import json
from pathlib import Path

import pytest

from reticent.cli import app
from reticent.cli.run import guarded

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

FEW = ("--models", "8", "--attack", "lira", "--attack", "rmia")


def compared(tmp_path, *words, decay):
    (tmp_path / "plain.toml").write_text("")
    (tmp_path / "decay.toml").write_text(f"weight_decay = {decay}\n")
    recipes = [word for name in ("plain", "decay") for word in ("--recipe", str(tmp_path / f"{name}.toml"))]
    folders = ["--store", str(tmp_path / "store"), "--out", str(tmp_path / "out")]
    assert guarded(app, ["compare", *recipes, *words, *folders]) == 0
    return json.loads((tmp_path / "out" / "compare.json").read_text())


def check(document):
    plain, decay, control = document["rows"]
    assert (plain["name"], decay["name"], control["matches"]) == ("plain", "decay", ["decay"])
    accuracy = [row["accuracy"]["non_members"]["mean"] for row in (plain, decay, control)]
    assert accuracy[0] > accuracy[1]
    assert accuracy[2] == pytest.approx(accuracy[1], abs=0.02)
    verdicts = {(pair["first"], pair["second"], pair["statistic"]): pair["verdict"] for pair in document["pairs"]}
    assert verdicts["plain", "decay", "auc"] == "second lower"
    assert verdicts["decay", control["name"], "accuracy"] == "tie"
    assert control["name"] in " ".join(document["detail"])
    return verdicts[("decay", control["name"], "auc")]


@pytest.mark.slow
def test_weight_decay_on_digits(tmp_path):
    check(compared(tmp_path, *FEW, decay=0.03))


@pytest.mark.calibration
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/data")
def test_weight_decay_on_location30_does_not_beat_stopping_early(tmp_path):
    words = ("--dataset", "location30", "--data-dir", str(SHARED), *FEW)
    assert check(compared(tmp_path, *words, decay=0.01)) == "second lower"
