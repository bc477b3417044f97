"""Masks as data: exact counts with ties by place, nested over rounds, densities with their denominators."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from reticent.errors import ModelError
from reticent.models import ARCHITECTURES
from reticent.models.base import Input, build
from reticent.sparsify.criteria import scores
from reticent.sparsify.masks import left, masked, prunable, pruned, whole

RESNET20 = [100, 80.116, 64.208, 51.483, 41.302, 33.157, 26.642, 21.429, 17.259, 13.923, 11.254, 9.119, 7.411]
RESNET20 += [6.045, 4.952, 4.077, 3.378]
"""Percent of all parameters that are left after rounds 0 to 16 of a fifth each (algorithms.md 6.3.1)."""


@pytest.fixture(autouse=True)
def _own_random_numbers():
    """Networks begin with torch's global generator, which no test may leave changed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def generator():
    return torch.Generator().manual_seed(0)


def network(name="resnet20"):
    entry = ARCHITECTURES[name]
    return build(entry, entry.spec(), Input("image", (3, 32, 32)), 10)


def small():
    return nn.Sequential(nn.Linear(6, 10), nn.LayerNorm(10), nn.ReLU(), nn.Linear(10, 4))


def test_the_density_table_of_resnet20_and_its_masks_are_nested():
    model = network()
    weights = prunable(model)
    ranked, masks = scores(weights, "random", generator()), whole(weights)
    for rounds, percent in enumerate(RESNET20):
        before, masks = masks, pruned(ranked, masks, 0.8**rounds, "global")
        assert all(not (masks[name] & ~before[name]).any() for name in masks), "nested"
        found = left(model, masks, rounds)
        assert (found.weights, found.parameters) == (270_896, 272_474)
        assert found.weights_left == round(270_896 * 0.8**rounds) == sum(int(mask.sum()) for mask in masks.values())
        assert f"{100 * found.density_of_parameters:.3f}" == f"{percent:.3f}"
        assert found.density == found.weights_left / found.weights


def naive(values, masks, share):
    """Keep the largest of what is left, the first of equal ones, one after the other."""
    flat = torch.cat([values[name].reshape(-1) for name in values]).tolist()
    open_to = torch.cat([masks[name].reshape(-1) for name in values]).tolist()
    order = sorted((i for i in range(len(flat)) if open_to[i]), key=lambda i: -flat[i])
    mask = np.zeros(len(flat), dtype=bool)
    mask[order[: round(share * len(flat))]] = True
    return mask.tolist()


@settings(max_examples=40, deadline=None)
@given(data=st.data(), share=st.floats(0.4, 1))
def test_counts_are_exact_and_ties_go_by_place(data, share):
    values = {
        name: torch.tensor(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=size, max_size=size)))
        for name, size in (("a.weight", 4), ("b.weight", 7))
    }
    masks = {
        name: torch.tensor(data.draw(st.lists(st.booleans(), min_size=len(v), max_size=len(v))))
        for name, v in values.items()
    }
    try:
        found = pruned(values, masks, share, "global")
    except ModelError:
        return
    assert [entry for mask in found.values() for entry in mask.tolist()] == naive(values, masks, share)


@pytest.mark.parametrize("criterion", ["l1", "random"])
def test_layers_keep_the_same_share_each(criterion):
    weights = prunable(network())
    masks = whole(weights)
    for share in (0.5, 0.3):
        before, masks = masks, pruned(scores(weights, criterion, generator()), masks, share, "layer")
        assert all(int(mask.sum()) == round(share * mask.numel()) for mask in masks.values())
        assert all(not (masks[name] & ~before[name]).any() for name in masks)


def test_what_is_left_has_the_largest_absolute_values():
    weights = prunable(network())
    found = pruned(scores(weights, "l1", generator()), whole(weights), 0.3, "global")
    stays = torch.cat([value[found[name]].abs().view(-1) for name, value in weights.items()])
    goes = torch.cat([value[~found[name]].abs().view(-1) for name, value in weights.items()])
    assert stays.min() >= goes.max()


def test_chance_is_another_draw_each_time_and_takes_its_numbers_from_the_generator_alone():
    weights, drawn = prunable(small()), generator()
    one, other, again = (scores(weights, "random", source) for source in (drawn, drawn, generator()))
    assert all(torch.equal(one[name], again[name]) for name in weights)
    assert not torch.equal(one["0.weight"], other["0.weight"])


def test_biases_norms_and_embeddings_stay():
    model = nn.Sequential(nn.Embedding(5, 4), nn.Flatten(), nn.Linear(12, 3), nn.BatchNorm1d(3), nn.Linear(3, 3))
    assert list(prunable(model)) == ["2.weight", "4.weight"]
    model[4].weight.requires_grad_(False)
    assert list(prunable(model)) == ["2.weight"]
    assert list(prunable(nn.TransformerEncoderLayer(8, 2, 16))) == [
        "self_attn.in_proj_weight",
        "self_attn.out_proj.weight",
        "linear1.weight",
        "linear2.weight",
    ]


@pytest.mark.parametrize("shared", ["weight", "layer"])
def test_a_weight_of_several_layers_is_refused_unless_it_stays_whole(shared):
    tied = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 2))
    if shared == "weight":
        tied[1].weight = tied[0].weight
    else:
        tied[1] = tied[0]
    with pytest.raises(ModelError, match=r"the layer '0' shares its weight with another one.*skip=\[\"0\"\]"):
        prunable(tied)
    assert list(prunable(tied, ["0"])) == ["2.weight"]


def test_layers_that_are_skipped_stay_whole_and_out_of_the_denominator():
    model = small()
    weights = prunable(model, ["3"])
    found = left(model, pruned(scores(weights, "l1", generator()), whole(weights), 0.5, "global"), 1, ["3"])
    assert (found.weights, found.weights_left, found.parameters) == (60, 30, 134)
    assert found.parameters_left == 104
    with pytest.raises(ModelError, match=r"skip: 'head' is no layer that can be pruned: expected one of 0, 3"):
        prunable(model, ["head"])
    with pytest.raises(ModelError, match=r"there is nothing to prune.*network with none that skip leaves"):
        prunable(model, ["*"])


@pytest.mark.parametrize("scope", ["global", "layer"])
def test_a_layer_that_would_vanish_is_refused_by_name(scope):
    values = {"first.weight": torch.arange(1.0, 9), "last.weight": torch.full((2,), 0.1)}
    share = {"global": 0.5, "layer": 0.2}[scope]
    with pytest.raises(ModelError, match=r"would leave none of the 2 weights of the layer 'last'.*skip=\[\"last\"\]"):
        pruned(values, whole(values), share, scope)


def test_what_is_pruned_becomes_zero_and_all_else_keeps_its_bits():
    model = small()
    weights = prunable(model)
    masks = pruned(scores(weights, "l1", generator()), whole(weights), 0.5, "global")
    state = model.state_dict()
    found = masked(state, masks)
    for name, value in found.items():
        mask = masks.get(name, torch.ones(value.shape, dtype=torch.bool))
        assert torch.equal(value[mask], state[name][mask])
        assert not value[~mask].any()
        assert not torch.signbit(value[~mask]).any()


def test_what_is_so_already_is_no_remedy():
    values = {"first.weight": torch.arange(1.0, 9), "last.weight": torch.full((2,), 0.1)}
    told = {}
    for scope, share in (("global", 0.5), ("layer", 0.2)):
        with pytest.raises(ModelError) as caught:
            pruned(values, whole(values), share, scope)
        told[scope] = "(scope=layer)" in str(caught.value)
    assert told == {"global": True, "layer": False}
