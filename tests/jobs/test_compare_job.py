"""A comparison from end to end, small: rows, controls, files, and the same numbers by every road."""

import json

import numpy as np
import pytest

import reticent
from reticent.errors import InputError, StoreError, UnknownNameError
from reticent.findings.comparison import Change
from reticent.jobs.comparison.rows import changes
from reticent.report import blocks as b
from reticent.report.kinds.comparison import comparison

SMALL = {"records": 240, "models": 6, "epochs": 12, "attacks": ("loss", "lira"), "workers": 1, "replicates": 200}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    stages = []
    done = reticent.compare(
        recipes={"plain": {}, "decay": {"weight_decay": 0.05}},
        **SMALL,
        store=folder / "store",
        out=folder / "out",
        stage=stages.append,
    )
    return folder, done, stages


@pytest.mark.slow
def test_the_one_undefended_row_is_the_usual_baseline(tmp_path):
    few = SMALL | {"models": 4, "epochs": 1, "replicates": 100, "attacks": ("loss",)}
    places = {"store": tmp_path / "store", "early_stopped": False}
    recipes = {"decay": {"defense": "label-smoothing"}, "plain": {}}
    done = reticent.compare(recipes=recipes, **few, **places, out=tmp_path / "one")
    assert done.document["baseline"] == "plain"
    assert not any("itself defended" in said for said in done.document["cannot_say"])
    named = reticent.compare(recipes=recipes, **few, **places, out=tmp_path / "two", baseline="decay")
    assert named.document["baseline"] == "decay"
    assert any("the baseline, decay, is itself defended" in said for said in named.document["cannot_say"])


def test_the_replicates_of_a_recipe_are_those_of_the_paired_tests(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("reticent.jobs.compare.tested", lambda *_, replicates, **__: asked.append(replicates) or 1 / 0)
    few = {**SMALL, "models": 4, "epochs": 1, "attacks": ("loss",), "early_stopped": False, "store": tmp_path / "s"}
    del few["replicates"]
    recipes = {"plain": {"replicates": 130}, "decay": {"weight_decay": 0.05, "replicates": 130}}
    with pytest.raises(ZeroDivisionError):
        reticent.compare(recipes=recipes, **few, out=tmp_path / "out")
    assert asked == [130]


def test_a_row_whose_folder_cannot_be_written_is_refused_before_anything_is_trained(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "decay").write_text("a file")
    recipes, places = {"plain": {}, "decay": {"weight_decay": 0.05}}, {"store": tmp_path / "s", "out": tmp_path / "out"}
    with pytest.raises(StoreError, match=r"expected to write .*decay, got .*: a file stands where a folder should be"):
        reticent.compare(recipes=recipes, **SMALL, **places)
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "decay"]


def row(done, name):
    return next(row for row in done.document["rows"] if row["name"] == name)


def control(done):
    return next(row for row in done.document["rows"] if row["role"] == "control")


@pytest.mark.slow
def test_there_is_a_row_a_recipe_and_the_control_of_the_weaker_one(compared):
    _, done, _ = compared
    assert [(r["name"], r["role"]) for r in done.document["rows"]][:2] == [("plain", "recipe"), ("decay", "recipe")]
    stopped = control(done)
    assert stopped["matches"] == ["decay"]
    assert 0 < stopped["epochs_kept"] < 12
    assert row(done, "decay")["changes"] == [{"key": "weight_decay", "baseline": 0.0, "value": 0.05}]
    assert stopped["changes"] == [{"key": "stop_after", "baseline": None, "value": stopped["epochs_kept"]}]
    assert row(done, "plain")["changes"] == []


@pytest.mark.slow
def test_the_control_is_about_as_accurate_as_the_row_that_it_matches(compared):
    _, done, _ = compared
    accuracies = [r["accuracy"]["non_members"]["mean"] for r in (row(done, "decay"), control(done))]
    assert abs(accuracies[0] - accuracies[1]) < 0.08
    assert row(done, "plain")["accuracy"]["non_members"]["mean"] > max(accuracies)


@pytest.mark.slow
def test_rows_say_what_their_audits_say(compared):
    folder, done, _ = compared
    for one in done.document["rows"]:
        audit = json.loads((folder / "out" / one["audit"] / "audit.json").read_text())
        assert audit == done.audits[one["name"]]
        by_name = {attack["name"]: attack["overall"] for attack in audit["attacks"]}
        for attack in one["attacks"]:
            assert attack["auc"]["mean"] == pytest.approx(by_name[attack["name"]]["auc"]["mean"])
        accuracy = audit["population"]["accuracy"]["non_members"]["mean"]
        assert one["accuracy"]["non_members"]["mean"] == pytest.approx(accuracy)
        assert one["epsilon"] == audit["epsilon"]["lower"]


@pytest.mark.slow
def test_every_row_was_trained_under_the_same_membership(compared):
    _, done, _ = compared
    assert len({audit["population"]["membership_digest"] for audit in done.audits.values()}) == 1


@pytest.mark.slow
def test_files_are_written_and_the_document_is_the_file(compared):
    folder, done, stages = compared
    assert [path.name for path in done.files] == ["compare.html", "compare.csv", "compare.json"]
    assert json.loads((folder / "out" / "compare.json").read_text()) == done.document
    assert done.document["schema"] == "reticent.comparison/1"
    assert "plain (row 1 of 2, then controls): training" in stages
    assert "decay (row 2 of 2, then controls): training" in stages
    assert "finding where the early-stopped controls stop" in stages
    assert "comparison" in stages


@pytest.mark.slow
def test_audits_that_ran_give_the_same_comparison_and_nothing_is_trained_again(compared):
    folder, done, _ = compared
    seen = []
    again = reticent.compare(
        folder / "out" / "plain",
        folder / "out" / "decay",
        replicates=200,
        out=folder / "again",
        progress=seen.append,
    )
    assert all(state.found == state.total for state in seen)
    numbers = [{k: v for k, v in d.document.items() if k != "environment"} for d in (done, again)]
    assert numbers[0] == numbers[1]
    costs = done.document["environment"]["rows"]
    assert list(costs) == [one["name"] for one in done.document["rows"]]
    assert all(cost["seconds_per_model"] > 0 for cost in costs.values())
    assert "seconds" not in json.dumps(numbers[0])


@pytest.mark.slow
def test_without_the_early_stopped_control(compared):
    folder, _, _ = compared
    names = [folder / "out" / "plain", folder / "out" / "decay"]
    done = reticent.compare(*names, early_stopped=False, out=folder / "bare", format="md", fpr=0.1)
    assert [one["name"] for one in done.document["rows"]] == ["plain", "decay"]
    assert done.document["fpr"] == 0.1
    assert (folder / "bare" / "compare.md").read_text().startswith("## Comparison")


@pytest.mark.slow
def test_a_recipe_that_is_as_accurate_as_the_whole_baseline_is_told_so(compared):
    folder, _, _ = compared
    done = reticent.compare(
        recipes={"decay": {"weight_decay": 0.05}, "plain": {}}, **SMALL, store=folder / "store", out=folder / "other"
    )
    assert done.document["baseline"] == "decay"
    assert any("the control is too hard on plain" in note for note in done.document["cannot_say"])


def test_a_rate_that_no_audit_measures_is_refused_before_anything_is_trained(tmp_path):
    places = {"store": tmp_path / "store", "out": tmp_path / "out"}
    for rate in (0.03, 0, "0.1"):
        with pytest.raises(InputError, match=rf"fpr: expected one of 0\.1, 0\.01, 0\.001, 0\.0001, got {rate}"):
            reticent.compare(recipes={"plain": {}, "decay": {"weight_decay": 0.05}}, **SMALL, **places, fpr=rate)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_baseline_must_be_a_row_and_the_rate_one_of_the_audits(compared):
    folder, _, _ = compared
    runs = [folder / "out" / "plain", folder / "out" / "decay"]
    with pytest.raises(UnknownNameError, match=r"plan.*plain"):
        reticent.compare(*runs, baseline="plan", out=folder / "x")
    with pytest.raises(InputError, match=r"fpr: expected one of 0\.1, 0\.01"):
        reticent.compare(*runs, fpr=0.05, early_stopped=False, out=folder / "x")


def outputs(path, membership, gap, seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(*membership.shape, 3))
    labels = np.arange(membership.shape[1]) % 3
    logits[:, np.arange(len(labels)), labels] += 1 + gap * membership
    np.savez(path, labels=labels, membership=membership, logits=logits)
    return path


@pytest.mark.slow
def test_outputs_that_were_brought_are_compared_without_controls(tmp_path):
    membership = reticent.Membership.draw(8, 300, 0).matrix
    files = [outputs(tmp_path / f"{name}.npz", membership, gap, 1) for name, gap in (("leaky", 3.0), ("tight", 0.0))]
    done = reticent.compare(*files, attacks=("lira",), out=tmp_path / "out", replicates=200)
    assert [one["role"] for one in done.document["rows"]] == ["recipe", "recipe"]
    tested = {pair["statistic"]: pair["verdict"] for pair in done.document["pairs"]}
    assert tested["auc"] == "second lower"
    assert any("no early-stopped control" in note for note in done.document["cannot_say"])
    assert done.document["rows"][0]["accuracy"]["non_members"] is not None
    assert done.document["data"]["name"] == "given outputs"


def test_of_outputs_with_targets_the_audited_models_are_counted(tmp_path):
    membership = reticent.Membership.draw(6, 60, 0).matrix
    files = [outputs(tmp_path / f"{name}.npz", membership, 1.0, seed) for seed, name in enumerate("ab")]
    for file in files:
        known = dict(np.load(file))
        for model in (1, 5):  # Of these one is audited: neither labels its members right.
            known["logits"][model] = np.random.default_rng(model).normal(size=known["logits"][model].shape)
        np.savez(file, **known, targets=[0, 1, 2])
    done = reticent.compare(*files, attacks=("loss",), out=tmp_path / "out", replicates=100)
    assert [(one["models"], one.get("unlearned")) for one in done.document["rows"]] == [(3, 1), (3, 1)]


@pytest.mark.slow
def test_outputs_of_models_that_hold_records_in_different_shares_are_not_judged(tmp_path):
    membership = np.random.default_rng(0).random((8, 300)) < np.repeat([0.2, 0.8], 150)
    files = [outputs(tmp_path / f"{name}.npz", membership, gap, 1) for name, gap in (("leaky", 3.0), ("tight", 0.0))]
    done = reticent.compare(*files, attacks=("lira",), out=tmp_path / "out", replicates=100)
    held = row(done, "tight")["control"]
    assert (held["leak"], held["doubt"], held["settled"]) == ("less", "unequal-shares", False)
    assert done.sentence.endswith("which attacks tell whatever leaks, so this is not judged.")


@pytest.mark.slow
def test_a_record_that_outweighs_all_others_is_told_of_its_row_on_page_and_terminal(tmp_path):
    membership = reticent.Membership.draw(8, 300, 0).matrix
    files = [outputs(tmp_path / f"{name}.npz", membership, 1.0, 1) for name in ("usual", "heavy")]
    known = dict(np.load(files[1]))
    known["logits"][3, 17, 17 % 3] += 1e4
    np.savez(files[1], **known)
    done = reticent.compare(*files, attacks=("lira",), out=tmp_path / "out", replicates=100)
    (said,) = row(done, "heavy")["notices"]
    assert said.startswith("Record 17 alone makes ")
    assert row(done, "usual")["notices"] == []
    assert f"heavy: {said}" in done.document["cannot_say"]
    assert "Record 17 alone makes" in (tmp_path / "out" / "compare.html").read_text()
    shown = next(block for block in comparison(done.findings).blocks if isinstance(block, b.Notice))
    assert shown.text == f"heavy: {said}"


@pytest.mark.calibration
def test_a_recipe_and_itself_are_a_tie(tmp_path):
    done = reticent.compare(
        recipes={"one": {}, "same": {}}, **SMALL, early_stopped=False, store=tmp_path / "s", out=tmp_path / "o"
    )
    assert {pair["verdict"] for pair in done.document["pairs"]} == {"tie"}
    assert {pair["difference"] for pair in done.document["pairs"]} == {0.0}


def test_changes_reach_into_methods():
    one = {"epochs": 3, "architecture": {"method": "mlp", "widths": [8]}}
    other = {"epochs": 3, "architecture": {"method": "cnn", "widths": [8], "depth": 2}}
    assert changes(one, other) == (
        Change(key="architecture.method", baseline="mlp", value="cnn"),
        Change(key="architecture.depth", baseline=None, value=2),
    )
    assert changes(None, None) == ()
