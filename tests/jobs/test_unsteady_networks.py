"""A network that answers differently each time is audited with a word of it, and the numbers stay as they were."""

import re

import numpy as np
import pytest
import torch

import reticent
from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.jobs.hardening.checks import asked
from reticent.models.user import Factory
from reticent.population import signals_run
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.procedures.estimator import CLIPPED
from reticent.signals.ask import UNSTEADY, ask, asked_again
from reticent.signals.queries import Queries
from reticent.store import Store
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

CODE = """
import numpy as np
import torch
from torch import nn
from torch.nn import functional


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.asked = nn.Linear(6, 3), 0

    def forward(self, x):
        return self.inner(x)


class Dropout(Net):
    def forward(self, x):
        return self.inner(functional.dropout(x, 0.5, training=True))


class Noise(Net):
    def forward(self, x):
        return self.inner(x) + torch.randn(len(x), 1) * torch.tensor([0.0, 0.1, 0.1])


class Numpy(Net):
    def forward(self, x):
        return self.inner(x) + torch.from_numpy(np.random.normal(size=(len(x), 3)).astype("float32"))


class Counter(Net):
    def forward(self, x):
        self.asked += 1
        return self.inner(x) * (1 + self.asked % 2)


class Ranked(Net):
    def forward(self, x):
        z = self.inner(x)
        return z - z.mean(dim=0)


class Normed(Net):
    def __init__(self):
        super().__init__()
        self.norm, self.other = nn.BatchNorm1d(6, track_running_stats=False), nn.BatchNorm1d(6)

    def forward(self, x):
        return self.inner(self.norm(self.other(x)))


class Rounding(Net):
    def forward(self, x):
        return self.inner(x) * (1 + 1e-6 * torch.randn(len(x), 1))


def train(x, y, seed):
    return Dropout()


class Wavering:
    def predict_proba(self, x):
        sure = np.random.uniform(0.2, 0.8, len(x))
        return np.stack([sure, 1 - sure, np.zeros(len(x))], axis=1)


def classifier(x, y, seed):
    return Wavering()
"""
NETWORKS = {"Net": False, "Dropout": True, "Noise": True, "Numpy": True, "Counter": True, "Rounding": False}


def records(n=80):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 6)).astype(np.float32), np.arange(n) % 3


def built(name):
    scope = {"__name__": "nets"}
    exec(CODE, scope)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return scope[name]().eval()


def given():
    x, y = records()
    found = Records.make(x, y)
    prepare = Preparation(found, torch.device("cpu"))
    return prepare.examples(found, np.arange(len(y))), prepare


@pytest.fixture
def place(own_folder):
    (own_folder / "mine_nets.py").write_text(CODE)
    return own_folder


def audited(folder, **more):
    return reticent.audit(
        dataset=records(), models=4, workers=1, replicates=100, attacks=["loss"], store=folder / "store",
        out=folder / "out", **more,
    ).document  # fmt: skip


@pytest.mark.parametrize(("name", "differs"), NETWORKS.items())
def test_a_network_that_answers_differently_is_told_from_one_that_rounds(name, differs):
    examples, prepare = given()
    with Streams(0, 0).lent("asking"):
        assert asked_again(built(name), examples, prepare, 3) == (UNSTEADY,) * differs
        assert asked_again(built(name), examples.take(torch.arange(0)), prepare, 3) == ()


@pytest.mark.parametrize(("name", "words"), [("Ranked", "in code of its own"), ("Normed", r"with it \(norm\)")])
def test_a_network_that_looks_at_the_whole_batch_is_told_of_with_its_layers(name, words):
    examples, prepare = given()
    (said,) = asked_again(built(name), examples, prepare, 3)
    assert re.search(words, said)
    assert asked_again(built(name), examples.take(torch.arange(3)), prepare, 3) == (said,)


@pytest.mark.words
@pytest.mark.parametrize("made", [{"architecture": "mine_nets:Dropout", "epochs": 1}, {"procedure": "mine_nets:train"}])
def test_an_audit_says_that_its_models_answer_differently(place, made):
    document = audited(place, **made)
    assert document["population"]["notices"] == [UNSTEADY]
    assert UNSTEADY in document["verdict"]["cannot_say"]
    assert UNSTEADY in " ".join((place / "out" / "report.html").read_text().split())


def test_a_classifier_that_answers_differently_says_both(place):
    assert audited(place, procedure="mine_nets:classifier")["population"]["notices"] == [CLIPPED, UNSTEADY]


def test_a_network_that_answers_the_same_has_no_notice(place):
    assert "notices" not in audited(place, architecture="mine_nets:Net", epochs=1)["population"]


def test_a_comparison_names_the_row(place):
    document = reticent.compare(
        defenses=["none", "label-smoothing"], dataset=records(), architecture="mine_nets:Dropout", models=4, epochs=1,
        workers=1, replicates=100, attacks=["loss"], store=place / "store", out=place / "out",
    ).document  # fmt: skip
    assert [UNSTEADY in row["notices"] for row in document["rows"]] == [True, True]
    assert f"none: {UNSTEADY}" in document["cannot_say"]


@pytest.mark.parametrize("name", ["Net", "Dropout"])
def test_what_harden_asks_is_told_and_keeps_its_bits(name):
    examples, prepare = given()
    with Streams(0, 0).lent("asking"):
        plain = ask(built(name), examples, prepare, 3, Queries())
    none = examples.take(torch.arange(0))
    seen = asked(built(name), examples, Materials(none, none, none, prepare, 3), "net", Streams(0, 0))
    assert seen.notices == (UNSTEADY,) * NETWORKS[name]
    assert np.array_equal(seen.margins, plain.margins)
    assert np.array_equal(seen.logits, plain.logits)


def test_asking_again_changes_no_bit_of_the_signals(place, monkeypatch):
    known = Records.make(*records())
    rows = np.arange(80)
    roles = Roles(audited=rows[:50], validation=rows[:0], reference=rows[:0], population=rows[50:])
    recipe = Recipe(architecture=Factory(factory="mine_nets:Dropout").resolve(), epochs=1)
    population = Population(recipe, known, roles, Membership.draw(4, 50, 0), 0)
    content = []
    for name in ("with", "without"):
        store = Store(place / name).open()
        made = Maker(population, store, "cpu").make(0)
        assert bool(made.facts.notices) is (name == "with")
        content.append(store.whole(made.signals).file("signals.safetensors").read_bytes())
        monkeypatch.setattr(signals_run, "asked_again", lambda *_: ())
    assert content[0] == content[1]


@pytest.mark.slow
def test_a_repair_of_such_a_model_says_so(place):
    x, y = records(180)
    for name, start in (("members", 0), ("others", 60), ("reference", 120)):
        np.savez(place / f"{name}.npz", x=x[start : start + 60], y=y[start : start + 60])
    with torch.random.fork_rng(devices=[]):
        model = built("Dropout")
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for _ in range(60):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(torch.from_numpy(x[:60])), torch.from_numpy(y[:60])).backward()
            optimizer.step()
    found = reticent.harden(
        "mine_nets:Dropout", model.state_dict(), members="members.npz", non_members="others.npz",
        reference="reference.npz", method="cwrf", options={"rate": 0.05, "scoring_steps": 2}, models=4, epochs=2,
        workers=1, attacks=["loss"], replicates=100, store="store", out="out",
    )  # fmt: skip
    assert found.document["cannot_say"].count(UNSTEADY) == 1
