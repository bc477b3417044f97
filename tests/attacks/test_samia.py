"""SAMIA: how probabilities move with a record, and the network that is told of it."""

import math

import numpy as np
import pytest
import torch
from attack_cases import problem
from scipy.special import erf, log_softmax, softmax
from torch import nn

import reticent
from reticent.attacks import fitting, networks, parse, samia, score
from reticent.data.records import Records
from reticent.errors import InputError
from reticent.jobs.config import chosen, prepare
from reticent.objectives.base import Examples
from reticent.signals.probes import Sensitivity
from reticent.signals.sensitivity import sensitivity
from reticent.training.data import Preparation


class Shares(nn.Module):
    """Logits whose probabilities are linear in the record: ``p = bias + slopes x``."""

    def __init__(self, slopes, bias):
        super().__init__()
        self.slopes, self.bias = nn.Parameter(torch.tensor(slopes)), nn.Parameter(torch.tensor(bias))

    def forward(self, x):
        return (self.bias + x @ self.slopes.T).log()


def moved(network, x, classes, **options):
    records = Records.make(x, np.arange(len(x)) % classes, name="made")
    examples = Examples(torch.from_numpy(records.x), torch.from_numpy(records.y))
    given = Preparation(records, torch.device("cpu"))
    return sensitivity(
        Sensitivity(**options), network.eval(), examples, given, classes, torch.Generator().manual_seed(0)
    ).numpy()


@pytest.mark.parametrize("step", [1e-4, 1e-3, 1e-2])
def test_linear_probabilities_move_by_the_length_of_their_slope_whatever_the_step(step):
    """``E |a u| = sqrt(2 / pi) |a|``: 0.797885 of it."""
    slopes = np.array([[0.02, -0.01, 0.005], [-0.01, 0.02, 0.01], [-0.01, -0.01, -0.015]], dtype=np.float32)
    x = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    found = moved(Shares(slopes, [0.3, 0.3, 0.4]), x, 3, copies=400, step=step).mean(axis=0)
    assert math.sqrt(2 / math.pi) == pytest.approx(0.797885, abs=1e-6)
    np.testing.assert_allclose(found, 0.797885 * np.linalg.norm(slopes, axis=1), rtol=0.03)


def test_a_constant_model_does_not_move_and_one_in_float32_is_asked_in_float64():
    x = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    assert not moved(Shares(np.zeros((2, 3), dtype=np.float32), [0.25, 0.75]), x, 2).any()
    slopes = np.float32([[0.01, 0, 0], [-0.01, 0, 0]])
    one, other = (moved(Shares(slopes, [0.5, 0.5]), x, 2, step=step) for step in (1e-3, 1e-7))
    np.testing.assert_allclose(one, other, rtol=1e-5)


def test_tokens_cannot_be_moved():
    with pytest.raises(InputError, match="expected records of numbers, which a little noise moves, got tokens"):
        Sensitivity().check("tokens", 0)
    assert Sensitivity().queries == 11


def norm(x, layer):
    spread = np.sqrt(x.var(axis=-1, keepdims=True) + layer.eps)
    return (x - x.mean(axis=-1, keepdims=True)) / spread * weights(layer)[0] + weights(layer)[1]


def weights(layer):
    return layer.weight.detach().numpy(), layer.bias.detach().numpy()


def linear(x, layer):
    weight, bias = weights(layer)
    return x @ weight.T + bias


def gelu(x):
    return x * (1 + erf(x / np.sqrt(2))) / 2


def twin(network, tokens):
    """The paper's network in loops over records, heads and tokens."""
    flat, even = tokens.reshape(len(tokens), -1), network.norm
    spread = np.sqrt(even.running_var.numpy() + even.eps)
    flat = (flat - even.running_mean.numpy()) / spread * weights(even)[0] + weights(even)[1]
    result = []
    for one in flat.reshape(tokens.shape):
        x = gelu(linear(one, network.embed[0]))
        for layer in network.encode.layers:
            attention = layer.self_attn
            query, key, value = np.split(
                x @ attention.in_proj_weight.detach().numpy().T + attention.in_proj_bias.detach().numpy(), 3, axis=1
            )
            heads = []
            for head in range(4):
                q, k, v = (part[:, 16 * head : 16 * (head + 1)] for part in (query, key, value))
                heads.append(np.stack([softmax(row @ k.T / 4) @ v for row in q]))
            x = norm(x + linear(np.concatenate(heads, axis=1), attention.out_proj), layer.norm1)
            x = norm(x + linear(gelu(linear(x, layer.linear1)), layer.linear2), layer.norm2)
        result.append(linear(np.maximum(linear(x.ravel(), network.head[0]), 0), network.head[2]))
    return np.array(result)


def test_the_network_is_the_papers_and_says_what_a_slow_twin_says():
    rng = np.random.default_rng(3)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network = networks.SelfAttention(5).double()
        network(torch.as_tensor(rng.normal(size=(30, 5, 3))))  # statistics of the batch
    network.eval()
    assert network.norm.num_features == 15
    assert (network.embed[0].in_features, network.embed[0].out_features) == (3, 64)
    assert len(network.encode.layers) == 3
    for layer in network.encode.layers:
        assert (layer.self_attn.num_heads, layer.linear1.out_features, layer.dropout.p) == (4, 128, 0.2)
    shapes = [tuple(one.weight.shape) for one in network.head if isinstance(one, nn.Linear)]
    assert shapes == [(64, 320), (2, 64)]
    tokens, member = rng.random((7, 5, 3)), rng.integers(0, 2, 7)
    two, found = twin(network, tokens), fitting.ask(network, (tokens,))
    np.testing.assert_allclose(found, two[:, 1] - two[:, 0], rtol=1e-6, atol=1e-9)
    loss = fitting.cross_entropy(torch.as_tensor(found), torch.as_tensor(member.astype(float)))
    assert float(loss) == pytest.approx(-log_softmax(two, axis=1)[np.arange(7), member].mean(), rel=1e-6)


def test_a_token_is_the_probability_the_movement_and_the_label(monkeypatch):
    case, spec = problem(1, models=4, records=30, population=0, targets=[0]), parse("samia").replace(steps=1, groups=2)
    rows, seen, read, fit = [], [], fitting.answers, fitting.fit
    monkeypatch.setattr(fitting, "answers", lambda *at: rows.append((at[1], at[2])) or read(*at))
    monkeypatch.setattr(
        fitting, "fit", lambda network, inputs, *rest: (seen.append(inputs), fit(network, inputs, *rest))
    )
    score(spec, case)
    (models, records), (found,) = rows[0], seen[0]
    label = np.eye(3)[case.signals.labels[records]]
    p = softmax(case.signals.logits[models, records], axis=1)
    expected = np.stack([p, case.probed[samia.probe(spec)][models, records], label], axis=2)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_an_audit_asks_every_model_through_its_output_and_attacks(tmp_path):
    values = {
        "dataset": "digits",
        "records": 120,
        "models": 4,
        "epochs": 1,
        "workers": 1,
        "device": "cpu",
        "store": str(tmp_path / "store"),
    }
    ids = {
        output: [job.population.probe_id(0, Sensitivity()), job.population.training_id(0)]
        for output in ("none", "temperature")
        for job in [prepare(chosen(None, {**values, "attacks": "samia", "recipe.output.name": output}))]
    }
    assert ids["none"][0] != ids["temperature"][0]
    assert ids["none"][1] == ids["temperature"][1]
    done = reticent.audit(
        **values, attacks="samia", attack={"samia": {"steps": 2, "groups": 2}}, replicates=100, out=tmp_path / "out"
    )
    assert done.scores["samia"].shape == (4, 120)
    assert done.document["attacks"][0]["queries"] == 11
