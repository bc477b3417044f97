"""A model made outside of reticent is pruned: a compact file of the same bits, sizes, and audits before and after."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

import reticent

pytestmark = pytest.mark.slow

FACTORY = """
from torch import nn

def make():
    return nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 3))
"""
QUICK = {"models": 4, "epochs": 10, "batch_size": 20, "learning_rate": 0.01, "workers": 1, "attacks": ["lira", "loss"]}


def noise(start, count):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(400, 6)).astype(np.float32), rng.integers(0, 3, 400)
    return x[start : start + count], y[start : start + count]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a model that a plain script trained; the working directory of this module's tests."""
    folder, before, path = tmp_path_factory.mktemp("outside"), Path.cwd(), list(sys.path)
    os.chdir(folder)
    (folder / "pruned_net.py").write_text(FACTORY)
    x, y = noise(0, 100)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        scope = {}
        exec(FACTORY, scope)
        model = scope["make"]()
        save_file(dict(model.state_dict()), folder / "initial.safetensors")
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(60):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(torch.from_numpy(x)), torch.from_numpy(y)).backward()
            optimizer.step()
    torch.save(model.state_dict(), folder / "model.pt")
    yield folder
    os.chdir(before)
    sys.path[:] = path
    sys.modules.pop("pruned_net", None)


def harden(method, **changes):
    given = {"members": noise(0, 100), "non_members": noise(100, 100), "max_accuracy_loss": 1.0, **QUICK}
    return reticent.harden("pruned_net:make", "model.pt", method=method, **given, **changes)


METHODS = {
    "prune:rate=0.8,tuning_epochs=4": 0.2,
    "prune:rate=0.5,structure=filters,tuning_epochs=4": None,
    'prune:rate=0.5,structure=filters,skip=["0"],rounds=1,tuning_epochs=1': None,
    "imp:rounds=3": 0.512,
}


@pytest.mark.parametrize("method", METHODS)
def test_the_compact_file_is_smaller_by_about_the_density_and_has_the_same_bits(place, method):
    out = place / method.partition(":")[0]
    found = harden(method, out=out, initial="initial.safetensors", replicates=100)
    sparse, compact = found.findings.repair.facts.sparsity, found.findings.compact
    assert METHODS[method] is None or sparse.density == pytest.approx(METHODS[method], abs=0.001)
    state = load_file(out / "repaired.safetensors")
    again = reticent.load_weights(out / "compact.safetensors")
    assert again.keys() == state.keys()
    assert all(torch.equal(again[name].view(torch.int32), value.view(torch.int32)) for name, value in state.items())
    weights = [name for name in state if name in sparse.layers]
    assert sum(int(torch.count_nonzero(state[name])) for name in weights) == sparse.weights_left
    assert (compact.bytes, compact.bytes_whole) == tuple(
        (out / name).stat().st_size for name in ("compact.safetensors", "repaired.safetensors")
    )
    assert compact.bytes / compact.bytes_whole == pytest.approx(sparse.density_of_parameters + 1 / 32, abs=0.08)
    latency = found.findings.environment.latency
    assert latency.smaller == ("filters" in method)
    assert latency.seconds_before > 0 < latency.seconds_after
    assert found.findings.before.accuracy.members.value > found.findings.before.accuracy.non_members.value
    assert {one.name for one in found.findings.after.attacks} == {"lira", "loss"}
    text = " ".join((out / "harden.html").read_text().split())
    assert f"{sparse.weights_left:,} of {sparse.weights:,} weights of linear layers and convolutions are left" in text
    assert f"The compact file has {compact.bytes:,} bytes" in text


def test_a_compact_file_is_taken_for_weights_and_goes_when_another_repair_comes_into_its_folder(place):
    out = place / "twice"
    method = "prune:rate=0.8,tuning_epochs=4"
    harden(method, out=out, replicates=100)
    told = json.loads((out / "harden.json").read_text())["cannot_say"]
    assert not any("fresh draw" in line for line in told), "prune needs no initial state"
    kept = (out / "compact.safetensors").read_bytes()
    (place / "again.safetensors").write_bytes(kept)
    given = {"members": noise(0, 100), "non_members": noise(100, 100), "max_accuracy_loss": 1.0, **QUICK}
    found = reticent.harden(
        "pruned_net:make", place / "again.safetensors", method="cwrf", options={"scoring_steps": 5}, **given, out=out,
        reference=noise(200, 100), initial="initial.safetensors", replicates=100,
    )  # fmt: skip
    assert not (out / "compact.safetensors").exists()
    assert found.findings.compact is None
