"""Two audits into one folder at once: the second report does not take the place of the first."""

import json

import numpy as np
import pytest

import reticent
from reticent.errors import UnwrittenError


def audit(folder, **values):
    y = np.arange(60) % 3
    x = (np.random.default_rng(0).normal(size=(60, 4)) + np.eye(3, 4)[y]).astype(np.float32)
    common = {"models": 4, "epochs": 2, "attacks": "loss", "architecture__widths": [4], "replicates": 100}
    where = {"store": str(folder / "store"), "out": str(folder / "out"), "workers": 1}
    return reticent.audit(dataset=(x, y), **common | values, **where)


def during(folder, **values):
    """Return what a job calls before its report, and there runs another audit into the same folder."""

    def stage(what):
        if what == "report":
            audit(folder, **values)

    return stage


def test_a_report_that_was_written_meanwhile_stays(tmp_path):
    audit(tmp_path)  # An earlier report may be replaced, and is.
    with pytest.raises(UnwrittenError, match="another command wrote its report into") as raised:
        audit(tmp_path, epochs=3, stage=during(tmp_path, epochs=4))
    kept = json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))
    assert (kept["recipe"]["epochs"], raised.value.document["recipe"]["epochs"]) == (4, 3)


def test_two_that_say_the_same_share_the_folder(tmp_path):
    assert audit(tmp_path, stage=during(tmp_path)).files[0].exists()


def compared(folder, epochs, **more):
    y = np.arange(60) % 3
    x = (np.random.default_rng(0).normal(size=(60, 4)) + np.eye(3, 4)[y]).astype(np.float32)
    common = {"models": 4, "attacks": "loss", "architecture__widths": [4], "replicates": 100, "early_stopped": False}
    where = {"store": str(folder / "store"), "out": str(folder / "out"), "workers": 1, "dataset": (x, y)}
    return reticent.compare(
        recipes={"plain": {}, "decay": {"weight_decay": 0.01}}, epochs=epochs, **common, **where, **more
    )


@pytest.mark.parametrize("moment", ["plain (row 1 of 2): training", "decay (row 2 of 2): attack loss"])
def test_rows_of_a_comparison_that_was_written_meanwhile_stay(tmp_path, moment):
    def stage(what):
        if what == moment:
            compared(tmp_path, 2)

    with pytest.raises(UnwrittenError, match="another command wrote its report into"):
        compared(tmp_path, 3, stage=stage)
    kept = json.loads((tmp_path / "out" / "compare.json").read_text(encoding="utf-8"))
    for row in kept["rows"]:
        audit = json.loads((tmp_path / "out" / row["audit"] / "audit.json").read_text(encoding="utf-8"))
        assert audit["recipe"]["epochs"] == 2


def test_two_equal_comparisons_share_the_folder(tmp_path):
    def stage(what):
        if what == "comparison":
            compared(tmp_path, 2)

    assert compared(tmp_path, 2, stage=stage).files[0].exists()
