"""Every entrance of the package that makes or asks a model, or computes with what models say: small, without pages."""

import hashlib
import json

import numpy as np
import torch
from safetensors.torch import save
from state_networks import Features, blobs

import reticent
from reticent.jobs import audit
from reticent.report.render import html as render

TRAINING = {"epochs": 2, "batch_size": 8, "learning_rate": 0.02, "workers": 1, "device": "cpu"}
ATTACKS = {"attacks": ["loss", "lira"], "replicates": 100}


def stored(folder):
    """Hash the weights and signals in a store, by kind and row."""
    found = {}
    for done in sorted((folder / "store" / "runs").glob("*/done.json")):
        facts = json.loads(done.read_text())["facts"]
        for file in done.parent.glob("*.safetensors"):
            key = (facts["kind"], facts["model"], file.name)
            found.setdefault(key, []).append(hashlib.sha256(file.read_bytes()).hexdigest())
    assert found
    return {str(key): sorted(value) for key, value in found.items()}


def _numbers(document):
    """Leave out what depends on the run, and the name of the network."""
    left = {"environment", "recipe", "references"}
    return json.dumps({key: value for key, value in document.items() if key not in left}, sort_keys=True)


def _config(folder, network, **more):
    where = {"dataset": blobs(), "store": str(folder / "store"), "out": str(folder / "out")}
    return {**where, **TRAINING, "architecture": f"state_networks:{network}", "models": 4, **more}


def _audit(folder, network, **more):
    done = reticent.audit(**_config(folder, network, **ATTACKS, **more))
    return stored(folder), {name: score.tobytes() for name, score in done.scores.items()}, done.document["attacks"]


def _compare(folder, network):
    defenses = ["none", "relaxloss"]
    done = reticent.compare(defenses=defenses, early_stopped=False, **_config(folder, network, **ATTACKS))
    return stored(folder), [one["attacks"] for one in done.audits.values()], done.document["pairs"]


def _search(folder, network):
    found = reticent.search("relaxloss", {"level": [0.5]}, **_config(folder, network, **ATTACKS))
    return stored(folder), found.document["tried"]


def _train_function(folder, network):
    function = {"copying": "fit", "changing": "fit_changing"}[network]
    given = _config(folder, network, **ATTACKS)
    for key in ("architecture", "epochs", "batch_size", "learning_rate"):
        del given[key]
    done = reticent.audit(train=f"state_networks:{function}", **given)
    return stored(folder), done.document["attacks"]


def _records(folder, network):
    return stored(folder) if reticent.locate_records(**_config(folder, network, models=2)) else None


def _ranking(folder, network):
    found = reticent.rank_members(**_config(folder, network, models=None, workers=None))
    return stored(folder), found.losses.tobytes(), [one.to_json() for one in found.members]


def _layers(folder, network):
    found = reticent.locate_layers(**{**_config(folder, network), "models": None}, probe="svm")
    return stored(folder), [one.distances.tobytes() for one in found.contrasts], found.sentence


def _weights(folder, network):
    found = reticent.locate_weights(**_config(folder, network, reference=10, workers=None), scoring__steps=3)
    return stored(folder), _hashed(found.vulnerability), _hashed(found.learnability)


def given(network):
    """Build a user's own network with its state before training, and one that labels every member right."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(5)
        before, after = (Features(6, 3, copies=network == "copying").eval() for _ in range(2))
        for part, scale in ((after.one, 3.0), (after.two, 9.0)):  # The three first features name the class.
            part.weight.mul_(0.1)[:3, :3] += scale * torch.eye(3)
        after.one.bias -= 3.0
    return before.state_dict(), after


GIVEN = {network: given(network) for network in ("copying", "changing")}
"""Made in a clean process: a state of the process in which a user builds a network is that network's own."""


def _weights_of_a_module(folder, network):
    initial, trained = GIVEN[network]
    where = {"dataset": blobs(), "out": str(folder / "out"), "device": "cpu", "members": np.arange(20)}
    found = reticent.locate_weights(network=trained, initial=initial, scoring__steps=3, **where)
    return _hashed(found.vulnerability), _hashed(found.learnability)


def _harden(folder, network):
    (x, y), half = blobs(80), np.arange(80) < 40
    initial, after = GIVEN[network]
    rest = {key: value for key, value in _config(folder, network).items() if key not in {"architecture", "dataset"}}
    found = reticent.harden(
        f"state_networks:{network}", after.state_dict(), initial=initial, dataset=_npz(folder, x, y),
        members=np.flatnonzero(half), non_members=np.arange(40, 60), reference=np.arange(60, 80),
        options={"scoring_steps": 2}, **rest, **ATTACKS,
    )  # fmt: skip
    return stored(folder), [_numbers(found.document[key]) for key in ("before", "after")]


def _npz(folder, x, y):
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "data.npz", x=x, y=y)
    return str(folder / "data.npz")


def _plan(folder, network):
    found = reticent.plan(**_config(folder, network))
    return found.parameters, found.disk_bytes


def _attack(folder, network):
    del folder, network
    rng = np.random.default_rng(0)
    membership = rng.permuted(np.tile([True, False], (60, 4)), axis=1).T
    logits = rng.normal(size=(8, 60, 3)).astype(np.float32) * np.float32(30)
    labels = np.arange(60) % 3
    logits[:, np.arange(60), labels] += 4 * membership
    done = reticent.attack(labels=labels, membership=membership, logits=logits, **ATTACKS)
    return _numbers(done.document), {name: score.tobytes() for name, score in done.scores.items()}


def _selftest(folder, network):
    del folder, network
    return [one.got for one in reticent.selftest(only=["margins", "eval-mode", "optimizers"]).checks]


def _hashed(scores):
    return hashlib.sha256(save(dict(scores))).hexdigest()


ENTRANCES = {
    "audit": _audit,
    "compare": _compare,
    "search": _search,
    "a training function": _train_function,
    "harden": _harden,
    "locate records": _records,
    "locate records --without-references": _ranking,
    "locate layers": _layers,
    "locate weights": _weights,
    "locate weights of a module": _weights_of_a_module,
    "plan": _plan,
    "attack": _attack,
    "selftest": _selftest,
}


PAGES = (
    (audit, "write_audit", lambda output, *_, **__: (output.folder / "page",)),
    (render, "html", lambda _: '<meta name="generator" content="reticent">'),
)
"""What writes a page: its module, its name, and what is done instead."""
