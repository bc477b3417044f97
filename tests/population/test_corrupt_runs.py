"""A run of which any file is not what was written is never used: it is made anew, and `runs verify` says the same."""

import errno
import json
import os
import shutil

import numpy as np
import pytest
import torch

from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.errors import UnreadableRunError
from reticent.jobs.config import OWN, chosen
from reticent.jobs.hardening.checks import ready
from reticent.jobs.hardening.repair import named, repaired
from reticent.jobs.hardening.roles import Asked
from reticent.jobs.runs import scan, verify
from reticent.models.mlp import MLP
from reticent.population import stored_signals
from reticent.population.population import Population
from reticent.population.train import train
from reticent.store import Store
from reticent.training.recipe import Recipe

FILES = {
    "signals": ("done.json", "roles.safetensors", "signals.safetensors", "spec.json"),
    "training": (
        "done.json",
        "initial.safetensors",
        "log.jsonl",
        "roles.safetensors",
        "spec.json",
        "weights.safetensors",
    ),
    "repair": ("artefacts.safetensors", "done.json", "spec.json", "weights.safetensors"),
}
DAMAGES = ("flip", "cut", "remove")
EVERY = [(kind, file, damage) for kind, files in FILES.items() for file in files for damage in DAMAGES]


def population():
    rng = np.random.default_rng(0)
    data = Records.make(rng.normal(size=(40, 5)).astype(np.float32), np.arange(40) % 2)
    roles = Roles.split(data, 0)
    recipe = Recipe(architecture=MLP(widths=(4,)), epochs=1, batch_size=16)
    return Population(recipe, data, roles, Membership.draw(2, len(roles.audited), 0), 0)


def asked(folder):
    """A repair of a linear model that labels records by their first feature."""
    x = np.random.default_rng(1).normal(size=(60, 5)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int64)
    values = {"models": 4, "epochs": 1, "workers": 1, "device": "cpu", "attacks": ["loss"], "dataset": OWN}
    config = chosen(None, {**values, "store": folder, "architecture": {"name": "mlp", "widths": []}})
    state = {"0.weight": torch.zeros(2, 5), "0.bias": torch.zeros(2)}
    state["0.weight"][:, 0] = torch.tensor([-1.0, 1.0])
    parts = [(x[start : start + 20], y[start : start + 20]) for start in (0, 20, 40)]
    return ready(config, state, 0, Asked(*parts), "cwrf", {"rate": 0.2, "scoring_steps": 2})


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A store of two models and a repair, what they say, and the names of one run of each kind."""
    root = tmp_path_factory.mktemp("kept")
    store, made, repair = Store(root / "store").open(), population(), asked(root / "store")
    clean = signals(made, store), repaired(repair, store).state
    runs = {"signals": made.signals_id(1), "training": made.training_id(1), "repair": named(repair)}
    for kind, files in FILES.items():
        assert tuple(sorted(path.name for path in (root / "store" / "runs" / runs[kind]).iterdir())) == files
    return store.root, made, repair, clean, runs


@pytest.fixture
def store(kept, tmp_path):
    shutil.copytree(kept[0], tmp_path / "store")
    return Store(tmp_path / "store")


def signals(made, store):
    found, _ = stored_signals.signals(made, store, train(made, store))
    return found.logits[:, :]


def verified(store):
    return {one.run.id: one for one in verify(scan(store.root)) if one.corrupt or one.unreadable or one.notes}


def spoil(path, damage):
    content = path.read_bytes()
    middle = len(content) // 2
    if damage == "remove":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(content[:middle])
    else:
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])


@pytest.mark.parametrize(("kind", "file", "damage"), EVERY)
def test_a_run_with_a_spoilt_file_is_made_anew_and_gives_the_clean_numbers(kept, store, caplog, kind, file, damage):
    _, made, repair, clean, runs = kept
    run = store.root / "runs" / runs[kind]
    if kind == "training":  # so that its weights are read
        shutil.rmtree(store.root / "runs" / runs["signals"])
    spoil(run / file, damage)
    unfinished = file == "done.json" and damage == "remove"
    told = verified(store).get(runs[kind])
    assert unfinished if told is None else told.corrupt
    assert store.find(runs[kind]) is None
    if kind == "repair":
        again = repaired(repair, store)
        assert again.fresh
        assert all(torch.equal(again.state[name], value) for name, value in clean[1].items())
    else:
        assert np.array_equal(signals(made, store), clean[0])
    assert [one.getMessage() for one in caplog.records] == (
        [] if unfinished else [f"run {runs[kind]}: {told.corrupt[0]}: it is not used, and made anew"]
    )
    assert verified(store) == {}
    assert store.find(runs[kind]) is not None


def test_a_spoilt_training_run_is_left_alone_where_only_its_signals_are_asked_for(kept, store, caplog):
    _, made, _, clean, runs = kept
    spoil(store.root / "runs" / runs["training"] / "weights.safetensors", "flip")
    assert np.array_equal(signals(made, store), clean[0])
    assert caplog.records == []
    assert list(verified(store)) == [runs["training"]]


@pytest.mark.parametrize("kind", FILES)
def test_a_file_beside_those_of_a_run_does_no_harm(kept, store, kind):
    (store.root / "runs" / kept[4][kind] / "extra.safetensors").write_bytes(b"x")
    assert store.find(kept[4][kind]) is not None
    told = verified(store)[kept[4][kind]]
    assert (told.corrupt, told.unreadable) == ((), ())


def test_a_number_that_was_changed_in_done_json_is_not_believed(kept, store):
    _, made, _, _, runs = kept
    path = store.root / "runs" / runs["signals"] / "done.json"
    done = json.loads(path.read_text())
    done["facts"]["accuracy_members"] = 0.123
    path.write_text(json.dumps(done))
    assert train(made, store)[1].facts.accuracy_members != 0.123


@pytest.mark.parametrize("file", FILES["signals"])
@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES])
def test_what_the_disk_does_not_give_now_is_neither_used_nor_made_anew(kept, store, monkeypatch, file, code):
    _, made, _, clean, runs = kept
    opened = os.open

    def broken(path, *rest, **more):
        if str(path).endswith(f"{runs['signals']}/{file}"):
            raise OSError(code, os.strerror(code), str(path))
        return opened(path, *rest, **more)

    monkeypatch.setattr("os.open", broken)
    with pytest.raises(UnreadableRunError, match=rf"{file} cannot be read \({os.strerror(code)}\): it may be whole"):
        train(made, store)
    assert [one.unreadable != () for one in verified(store).values()] == [True]
    monkeypatch.undo()
    assert np.array_equal(signals(made, store), clean[0])
