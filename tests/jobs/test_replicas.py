"""SELENA's adaptive attack from end to end: what it needs is opened where it is asked for; else it is refused."""

import numpy as np
import pytest

import reticent
from reticent.attacks.selena_replica import SelenaReplica
from reticent.cli import app
from reticent.cli.run import guarded
from reticent.errors import CorruptRunError, InputError, SpecError
from reticent.jobs import replicas
from reticent.jobs.audit import evaluate
from reticent.jobs.base import Work
from reticent.jobs.config import called
from reticent.population import stored_signals
from reticent.population.train import train
from reticent.signals.composed import permuted
from reticent.store import Store

pytestmark = pytest.mark.slow

TINY = {
    "records": 150, "models": 6, "epochs": 8, "workers": 1, "device": "cpu", "replicates": 100,
    "defense": "selena:models=3,outside=1",
}  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replicas")
    job = called(None, TINY | {"attacks": ["selena-replica"], "store": folder / "store", "out": folder / "out"})
    store = Store(folder / "store").open()
    return folder, job, store, train(job.population, store)


def test_every_record_that_a_model_holds_has_its_soft_target_and_no_other_has_one(trained):
    _, job, store, made = trained
    held, opened = job.population.membership.matrix, stored_signals.replicas(job.population, store, made)
    assert opened.shape == (6, 150, 10)
    whole = opened[np.arange(6), slice(0, 150)]
    np.testing.assert_array_equal(np.isfinite(whole), np.broadcast_to(held[:, :, None], whole.shape))
    np.testing.assert_allclose(whole[held].sum(axis=1), 1, atol=1e-5)
    for model, one in enumerate(made):
        kept = store.find(one.training).arrays("artefacts.safetensors")["soft_targets"]
        np.testing.assert_array_equal(whole[model, held[model]], kept)
    parts = [opened[np.array([4, 1]), slice(start, start + 7)] for start in range(0, 150, 7)]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole[[4, 1]])
    assert opened[2, slice(9, 9)].shape == (0, 10)


def test_soft_targets_are_what_sub_models_say_so_they_are_right_about_most_records_they_never_saw(trained):
    _, job, store, made = trained
    whole = np.asarray(stored_signals.replicas(job.population, store, made)[np.arange(6), slice(0, 150)])
    labels = job.records.y[job.population.roles.audited]
    right = whole.argmax(axis=2) == labels
    assert right[job.population.membership.matrix].mean() > 0.3


def test_they_are_opened_only_for_an_attack_that_looks_at_them(trained, monkeypatch):
    folder, job, store, made = trained
    assert replicas.opened(called(None, TINY | {"attacks": "lira"}).attacks, job.population, store, made) is None
    monkeypatch.setattr(stored_signals, "replicas", lambda *_: pytest.fail("opened"))
    done = evaluate(called(None, TINY | {"attacks": ["lira"], "store": folder / "store"}), store, Work())
    assert not any(one.fresh for one in done.made)
    assert done.problem.replicas is None


@pytest.mark.slow
def test_an_audit_with_its_null_control(trained):
    folder, *_ = trained
    asked = {"attacks": ["lira", "selena-replica"], "control": "null", "attack__selena-replica__floor": 0.01}
    done = reticent.audit(**TINY, **asked, store=folder / "store", out=folder / "out")
    assert [one["name"] for one in done.document["attacks"]] == ["lira", "selena-replica"]
    assert done.document["attacks"][1]["spec"]["floor"] == 0.01
    assert done.document["attacks"][1]["strong"] is True
    assert [one["name"] for one in done.document["control"]["attacks"]] == ["lira", "selena-replica"]
    assert done.document["control"]["passed"]
    assert done.scores["selena-replica"].shape == (6, 150)


def test_a_changed_file_is_found(trained, tmp_path):
    _, job, _, _ = trained
    store = Store(tmp_path).open()
    made = train(job.population, store)
    path = tmp_path / "runs" / made[3].training / "artefacts.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(CorruptRunError, match=r"model 3: run .* artefacts.safetensors is not what was writt"):
        stored_signals.replicas(job.population, store, made)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"defense": "relaxloss"}, "selena-replica: expected models by the procedure selena, .* got plain: give --def"),
        ({"defense": None}, "selena-replica: expected models by the procedure selena, .* or leave this attack out"),
        ({"also_non_adaptive": True}, r"selena-replica: expected references that run Split-AI .* leave one of the two"),
    ],
)
def test_what_has_no_meaning_is_refused_before_training(values, words, tmp_path):
    given = {**TINY, "attacks": ["lira", "selena-replica"], **values}
    with pytest.raises(SpecError, match=words):
        reticent.audit(**given, store=tmp_path / "store", out=tmp_path / "out")
    assert not (tmp_path / "store").exists()


def test_a_comparison_with_another_defense_is_refused_before_training(tmp_path):
    given = {key: value for key, value in TINY.items() if key != "defense"} | {"attacks": ["selena-replica"]}
    rows = {
        "defenses": ["selena:models=3,outside=1", "relaxloss"],
        "out": tmp_path / "out",
        "store": tmp_path / "store",
    }
    with pytest.raises(SpecError, match="expected models by the procedure selena"):
        reticent.compare(**rows, **given)
    rows["recipes"] = {name: {"defense": f"selena:models={name},outside=1"} for name in "34"}
    del rows["defenses"]
    with pytest.raises(SpecError, match="also_non_adaptive, whose references are trained without the defense"):
        reticent.compare(**rows, **given, also_non_adaptive=True)
    assert not (tmp_path / "store").exists()


def test_it_does_not_run_unless_it_is_asked_for():
    assert "selena-replica" not in {spec.method for spec in called(None, TINY).attacks}
    asked = called(None, TINY | {"attack__selena-replica__features": "margin"})
    assert asked.attacks[-1] == SelenaReplica(features="margin")


def test_outputs_that_were_brought_do_not_hold_soft_targets(tmp_path, capfd):
    rng = np.random.default_rng(0)
    outputs = {"logits": rng.normal(size=(8, 60, 3)), "labels": np.arange(60) % 3}
    outputs["membership"] = rng.permuted(np.tile([True, False], (60, 4)), axis=1).T
    with pytest.raises(InputError, match=r"selena-replica: expected soft targets .* got outputs alone.* use lira here"):
        reticent.attack(**outputs, attacks="selena-replica")
    assert "selena-replica" not in reticent.attack(**outputs, replicates=100).scores
    np.savez(tmp_path / "outputs.npz", **outputs)
    code = guarded(app, ["attack", "--signals", str(tmp_path / "outputs.npz"), "--attack", "selena-replica"])
    assert code == 2
    assert "use lira here" in " ".join(capfd.readouterr().err.split())


def test_rows_are_dealt_out_record_by_record():
    rng = np.random.default_rng(0)
    base, order = rng.random((5, 30, 2)), rng.permuted(np.tile(np.arange(5)[:, None], (1, 30)), axis=0)
    made = permuted(base, order)
    expected = np.stack([[base[order[m, i], i] for i in range(30)] for m in range(5)])
    assert made.shape == base.shape
    np.testing.assert_array_equal(made[np.array([3, 0]), slice(4, 20)], expected[[3, 0], 4:20])
    np.testing.assert_array_equal(made[2, slice(7, 9)], expected[2, 7:9])
    with pytest.raises(reticent.errors.ShapeError, match=r"permuted: expected an order of .* got \(5, 29\)"):
        permuted(base, order[:, 1:])


def test_the_control_draws_membership_as_it_did_before_replicas():
    for seed in range(3):
        matrix = np.random.default_rng(seed).random((9, 40)) < 0.5
        rows = np.broadcast_to(np.arange(9)[:, None], matrix.shape)
        order = np.random.default_rng(seed).permuted(rows, axis=0)
        expected = np.random.default_rng(seed).permuted(matrix, axis=0)
        np.testing.assert_array_equal(np.take_along_axis(matrix, order, axis=0), expected)
