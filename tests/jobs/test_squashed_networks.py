"""Networks that answer probabilities are refused on every road, before anything is trained where they can be built."""

import numpy as np
import pytest
import torch
from torch import nn

import reticent
from reticent.data.records import Records
from reticent.errors import ModelError
from reticent.signals.ask import ask, check_ending
from reticent.signals.queries import Queries
from reticent.training.data import Preparation

CODE = """
import torch
from torch import nn


def softmax(classes):
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, classes), nn.Softmax(dim=1))


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 1)

    def forward(self, x):
        return torch.sigmoid(self.inner(x))


def train(x, y, seed):
    return softmax(2)
"""
LAYER = r"leave its layer '3' \(Softmax\) out, and train with a loss that takes logits"
LAST = "leave the softmax at the end of its forward out"
FUNCTION = "leave the sigmoid at the end of its forward out"


def records(n=80, classes=2):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 6)).astype(np.float32), np.arange(n) % classes


@pytest.fixture
def place(own_folder):
    (own_folder / "mine_squashed.py").write_text(CODE)
    x, y = records()
    np.savez(own_folder / "data.npz", x=x, y=y)
    for name, part in (("members", slice(0, 30)), ("others", slice(30, 80))):
        np.savez(own_folder / f"{name}.npz", x=x[part], y=y[part])
    scope = {}
    exec(CODE, scope)
    with torch.random.fork_rng(devices=[]):
        torch.save(scope["softmax"](2).state_dict(), own_folder / "softmax.pt")
    return own_folder


@pytest.mark.parametrize(("factory", "words"), [("softmax", LAYER), ("Functional", FUNCTION)])
def test_before_an_audit_trains(factory, words, place):
    values = {"dataset": "data.npz", "architecture": f"mine_squashed:{factory}", "models": 4, "workers": 1}
    with pytest.raises(ModelError, match=words):
        reticent.audit(**values, store="store", out="out")
    with pytest.raises(ModelError, match=words):
        reticent.locate_layers(dataset="data.npz", architecture=f"mine_squashed:{factory}", store="store", out="out")
    assert not (place / "store").exists()


def test_what_a_training_function_returns(place):
    with pytest.raises(ModelError, match=f"every row sums to 1: these are probabilities, as after a softmax: {LAYER}"):
        reticent.audit(
            dataset="data.npz", procedure="mine_squashed:train", models=4, workers=1, store="store", out="out"
        )


def test_a_model_that_is_to_be_repaired_or_located(place):
    model = {"weights": "softmax.pt", "initial": 5, "store": "store", "out": "out"}
    with pytest.raises(ModelError, match=LAYER):
        reticent.harden(
            "mine_squashed:softmax", model.pop("weights"), members="members.npz", non_members="others.npz",
            method="cwrf", models=4, workers=1, **model,
        )  # fmt: skip
    with pytest.raises(ModelError, match=LAYER):
        reticent.locate_weights(
            dataset="data.npz", architecture="mine_squashed:softmax", weights="softmax.pt", initial=5,
            members=np.arange(30), out="located",
        )  # fmt: skip
    assert not (place / "store").exists()


def seen(network, n=40, classes=2):
    x, y = records(n, classes)
    known = Records.make(x, y)
    prepare = Preparation(known, torch.device("cpu"))
    return ask(network.eval(), prepare.examples(known, np.arange(n)), prepare, classes, Queries())


class End(nn.Module):
    def __init__(self, end, outputs=1, weight=0.01):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            self.inner = nn.Linear(6, outputs)
        with torch.no_grad():
            self.inner.weight.normal_(0, weight, generator=torch.Generator().manual_seed(0))
            self.inner.bias.fill_(0.4)
        self.end = end

    def forward(self, x):
        return self.end(self.inner(x))


def test_logits_of_a_model_that_learned_little_are_taken_though_they_lie_between_zero_and_one():
    for outputs, classes in ((1, 2), (2, 2), (3, 3)):
        found = seen(End(lambda z: z, outputs), classes=classes)
        assert 0 <= found.logits.min() <= found.logits.max() < 1
    found = seen(End(lambda z: z.log_softmax(dim=1), 3, weight=1), classes=3)
    assert np.exp(found.logits).sum(axis=1) == pytest.approx(1, abs=1e-6)


def test_a_gate_at_the_end_is_no_sigmoid():
    gated = End(lambda z: z * torch.sigmoid(z), 3, weight=1)
    assert seen(gated, classes=3).logits.min() < 0
    check_ending(gated, torch.from_numpy(records()[0]))
    with pytest.raises(ModelError, match=f"every row sums to 1: these are probabilities, as after a softmax: .*{LAST}"):
        check_ending(End(lambda z: z.softmax(dim=1), 3), torch.from_numpy(records()[0]))


def test_one_answer_for_all_records_is_told_when_the_network_is_asked():
    check_ending(End(lambda z: z.sum().sigmoid(), 3), torch.from_numpy(records()[0]))


@pytest.mark.parametrize(
    ("end", "outputs", "rows", "words"),
    [
        (torch.sigmoid, 1, 40, f"its answers all lie between 0 and 1, as probabilities after a sigmoid do: {FUNCTION}"),
        (torch.sigmoid, 1, 6, FUNCTION),
        (torch.sigmoid, 3, 40, "rows do not sum to 1: as after a sigmoid for each class, .* not supported"),
        (lambda z: 100 * z.softmax(dim=1), 3, 40, "these are percentages: leave the softmax at the end of its forward"),
        (lambda z: z.softmax(dim=1).half().round(decimals=2), 3, 40, "these are probabilities"),
        (lambda z: z.softmax(dim=1).detach(), 3, 40, "leave the sigmoid or softmax at its end out"),
        (lambda z: 1 / (1 + torch.exp(-z)), 1, 40, "leave the sigmoid or softmax at its end out"),
    ],
)
def test_answers_that_are_squashed(end, outputs, rows, words):
    with pytest.raises(ModelError, match=f"the model answers no logits: .*{words}"):
        seen(End(end, outputs, weight=1), rows, classes=max(outputs, 2))


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (lambda z: z[:, None].expand(-1, 4, -1), "several answers a record, such as one a token or a pixel, are not"),
        (lambda z: z[:, :1], "a regression is not supported"),
        (lambda z: z.sum(), r"answered shape \(\) for 40 records: expected logits \(40, 3\), one column a class$"),
        (lambda z: z[:, :2], r"answered shape \(40, 2\) .* one column a class$"),
    ],
)
def test_kinds_of_networks_that_are_not_supported_are_named(end, words):
    with pytest.raises(ModelError, match=words):
        seen(End(end, 3), classes=3)
