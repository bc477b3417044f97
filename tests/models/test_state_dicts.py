"""States of every common form are brought to the network's own names, or refused with what to do."""

import numpy as np
import pytest
import torch
from torch import nn

from reticent.errors import ModelError
from reticent.models.state_dicts import fitted


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        self.fc = nn.Linear(3, 2)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight


def made(kind=Net, seed=0):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind()


NET = made()
STATE = NET.state_dict()
OTHER = made(seed=1).state_dict()


def behind(prefix, state=STATE):
    return {f"{prefix}{name}": value for name, value in state.items()}


def same(found, state=STATE):
    return list(found) == list(state) and all(torch.equal(found[name], state[name]) for name in state)


STEPS = {"state": {0: {"exp_avg": torch.ones(2)}}, "param_groups": [{"lr": 0.1}]}
READ = {
    "plain": STATE,
    "DataParallel": behind("module."),
    "compiled": behind("_orig_mod."),
    "compiled and parallel": behind("module._orig_mod."),
    "Opacus": behind("_module."),
    "Lightning": {"epoch": 3, "state_dict": behind("model."), "optimizer_states": [STEPS]},
    "Lightning with a metric": {"state_dict": {**behind("net."), "accuracy.correct": torch.ones(())}},
    "any one prefix": behind("backbone.trunk."),
    "averaged weights": {"n_averaged": torch.tensor(3), **behind("module.")},
    "state_dict": {"state_dict": STATE, "best": 0.9},
    "model_state_dict": {"model_state_dict": STATE, "optimizer_state_dict": STEPS, "loss": torch.tensor(0.3)},
    "model": {"model": behind("module."), "optimizer": STEPS},
    "any key": {"classifier_weights": STATE, "optimizer": STEPS, "epoch": 4},
    "two keys deep": {"checkpoint": {"net": STATE}, "args": {"lr": 0.1}},
    "EMA beside": {"state_dict": STATE, "state_dict_ema": OTHER},
    "EMA beside a model": {"ema": OTHER, "model": STATE},
    "NumPy": {name: value.numpy() for name, value in STATE.items()},
    "NumPy of the other byte order": {n: v.numpy().astype(v.numpy().dtype.newbyteorder(">")) for n, v in STATE.items()},
}


@pytest.mark.parametrize("form", READ)
def test_the_state_is_found(form):
    assert same({name: fitted(READ[form], NET, "it")[name] for name in STATE})


def test_tied_parameters_have_both_names():
    tied = made(Tied)
    weight = tied.a.weight.detach()
    for given in ({"a.weight": weight}, {"module.b.weight": weight}, {"w": {"a.weight": weight, "b.weight": weight}}):
        found = fitted(given, tied, "it")
        assert sorted(found) == ["a.weight", "b.weight"]
        assert all(torch.equal(value, weight) for value in found.values())


class Nested(nn.Module):
    """A network whose own names begin as those of a wrapper."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.module = nn.Module()
        self.module.weight = self.weight


def test_a_networks_own_names_come_before_all_others():
    network = Nested()
    found = fitted({"weight": torch.zeros(2), "module.weight": torch.zeros(2)}, network, "it")
    assert sorted(found) == ["module.weight", "weight"]


def test_half_precision_and_sparse_tensors_have_their_values():
    half = fitted({name: value.half() for name, value in STATE.items()}, NET, "it")
    network = made(seed=1)
    network.load_state_dict(half)
    assert torch.equal(network.fc.weight, STATE["fc.weight"].half().float())
    wide = fitted({name: value.bfloat16() for name, value in STATE.items()}, NET, "it")
    network.load_state_dict(wide)
    assert torch.equal(network.fc.weight, STATE["fc.weight"].bfloat16().float())
    assert same(fitted({**STATE, "fc.weight": STATE["fc.weight"].to_sparse()}, NET, "it"))


def quantised():
    with pytest.warns(UserWarning, match="deprecated"):
        return torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.qint8)


TWICE = r"it: the names of this network stand there 2 times, "
REFUSED = {
    "student and teacher": (
        {"student": STATE, "teacher": OTHER},
        TWICE + "under the key 'student' and under the key 'teacher': write the state that is meant into a file of its",
    ),
    "two prefixes": (
        {"state_dict": {**behind("model."), **behind("ema_model.", OTHER)}},
        TWICE + r"under the key 'state_dict' behind 'model\.' and under the key 'state_dict' behind 'ema_model\.'",
    ),
    "plain and a copy": ({**STATE, **behind("ema.", OTHER)}, TWICE + r"as they are and behind 'ema\.'"),
    "a part of a larger network": (
        {**behind("backbone."), "head.weight": torch.ones(2)},
        r"1 is not expected \(head\.weight, for one\); what stands behind 'backbone\.' was held against it",
    ),
    "another network": ({"x": torch.ones(2)}, r"9 of 9 tensors are missing .*1 is not expected \(x, for one\)"),
    "nothing": ({"epoch": 3}, "9 of 9 tensors are missing"),
    "another width": (
        {**STATE, "fc.weight": torch.ones(2, 4)},
        r"1 has another shape \(fc\.weight: expected \(2, 3\), got \(2, 4\)\)",
    ),
    "whole numbers": (
        {**STATE, "fc.weight": torch.ones(2, 3, dtype=torch.int8)},
        r"1 holds another kind of numbers \(fc\.weight: expected float32, got int8\)",
    ),
    "meta": ({**STATE, "fc.weight": torch.empty(2, 3, device="meta")}, r"fc\.weight is on the meta device, and has no"),
    "quantised": (
        lambda: {**STATE, "fc.weight": quantised()},
        r"fc\.weight is quantised: give the state of the network",
    ),
    "quantised layers": (
        {"fc.scale": torch.ones(()), "fc.zero_point": torch.zeros(()), "fc._packed_params.dtype": torch.qint8},
        r"fc\.zero_point is of a quantised layer: give the state of the network before it was quantised \(float32\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_state_of_the_network_is_refused(case):
    given, words = REFUSED[case]
    with pytest.raises(ModelError, match=words):
        fitted(given() if callable(given) else given, NET, "it")


def test_one_layer_of_a_deep_network_is_not_taken_for_a_network():
    deep = {
        "0.weight": torch.ones(2, 2),
        "0.bias": torch.ones(2),
        "2.weight": torch.ones(3, 2),
        "2.bias": torch.ones(3),
    }
    with pytest.raises(ModelError, match=r"2 are not expected \(2\.weight, for one\)"):
        fitted(deep, made(lambda: nn.Linear(2, 2)), "it")


def test_a_network_without_a_state_has_an_empty_one():
    assert fitted({}, nn.Flatten(), "it") == {}
    with pytest.raises(ModelError, match=r"it: expected a state of this network: 1 is not expected \(a, for one\)"):
        fitted({"a": torch.ones(1)}, nn.Flatten(), "it")


def test_arrays_that_hold_no_numbers_are_no_weights():
    with pytest.raises(ModelError, match=r"1 of 9 tensors are missing \(fc\.bias"):
        fitted({**STATE, "fc.bias": np.array(["a", "b"])}, NET, "it")


def test_a_state_with_nan_is_refused_and_a_module_stands_for_its_state():
    with torch.random.fork_rng([]):
        network, given = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    assert torch.equal(fitted(given, network, "the weights")["weight"], given.weight)
    with pytest.raises(ModelError, match="the weights: bias: expected finite numbers, got NaN or infinity"):
        fitted({"weight": given.weight, "bias": torch.tensor([0.0, float("nan")])}, network, "the weights")
    with pytest.raises(ModelError, match=r"expected a file or a state dictionary .*, got list"):
        fitted([given.weight], network, "the weights")
