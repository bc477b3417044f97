"""Frozen means frozen: bit-identical after steps of every optimizer, with momentum, decay, noise and proximal steps."""

from dataclasses import replace

import pytest
import torch
from tiny_records import SMALL, blobs, images, materials
from torch import nn

from reticent.errors import ModelError
from reticent.models.cnn import CNN
from reticent.objectives import OBJECTIVES
from reticent.procedures import PROCEDURES
from reticent.procedures.base import fresh, objective, snapshot
from reticent.training.loop import fit
from reticent.training.materials import untrained
from reticent.training.run import Run
from reticent.training.start import Frozen, Start
from reticent.training.streams import Streams

STREAMS = Streams(0, 0)
RECIPE = SMALL.replace(epochs=12, weight_decay=0.05, learning_rate=0.01)
CASES = {
    "sgd": (RECIPE.replace(optimizer="sgd", learning_rate=0.1), "plain", {}),
    "adam": (RECIPE, "plain", {}),
    "adamw": (RECIPE.replace(optimizer="adamw"), "plain", {}),
    "clipped": (RECIPE.replace(clip_norm=0.1), "plain", {}),
    "dpsgd": (RECIPE, "dpsgd", {"noise": 1.0}),
    "mist": (RECIPE, "mist", {"parts": 2, "local_epochs": 3}),
    "selena": (RECIPE, "selena", {"models": 3, "outside": 1}),
    "past": (RECIPE.replace(objective=OBJECTIVES["past"].spec()), "plain", {}),
    "adv-reg": (RECIPE.replace(objective=OBJECTIVES["adv-reg"].spec(attacker_steps=1)), "plain", {}),
}


def started(recipe, given, share=0.3):
    state = snapshot(untrained(recipe, given, Streams(7, 0)))
    network = untrained(recipe, given, STREAMS)
    drawn = torch.Generator().manual_seed(1)
    masks = {name: torch.rand(p.shape, generator=drawn) > share for name, p in network.named_parameters()}
    first = next(iter(masks))
    masks[first] = torch.zeros_like(masks[first])
    return replace(given, start=Start(state, masks)), state, masks


@pytest.mark.parametrize(("case", "share"), [*((case, 0.3) for case in CASES), ("adam", 0.05), ("past", 0.05)])
def test_entries_that_stay_keep_their_bits_and_all_others_move(case, share):
    """Of a few entries the places are held, of many a mask."""
    recipe, name, options = CASES[case]
    recipe = recipe.replace(procedure=PROCEDURES[name].spec(**options))
    given, state, masks = started(recipe, materials(blobs()), share)
    made = PROCEDURES[name].train(recipe, given, STREAMS)
    for key, value in made.model.state_dict().items():
        assert torch.equal(value[~masks[key]], state[key][~masks[key]]), key
        if masks[key].any():
            assert (value[masks[key]] != state[key][masks[key]]).float().mean() > 0.9, key


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("shape", [(), (7,), (20, 30), (4, 5, 3, 3)])
def test_gradients_are_masked_and_entries_put_back_however_many_stay(shape, share):
    drawn = torch.Generator().manual_seed(0)
    held = nn.ParameterDict({"p": nn.Parameter(torch.randn(shape, generator=drawn))})
    if len(shape) == 4:
        held = held.to(memory_format=torch.channels_last)
    mask = torch.rand(shape, generator=drawn) >= share
    begun = held["p"].detach().clone()
    frozen = Frozen(held, Start(snapshot(held), {"p": mask}))
    held["p"].grad = torch.full_like(begun, torch.nan)
    frozen.mask()
    assert torch.equal(held["p"].grad.isnan(), mask)
    held["p"].data += 1
    frozen.restore()
    assert torch.equal(held["p"], torch.where(mask, begun + 1, begun))
    trains = frozen.trains(held["p"])
    assert mask.all() if trains is None else torch.equal(trains, mask)


def test_a_masked_gradient_alone_does_not_hold_them(monkeypatch):
    monkeypatch.setattr(Frozen, "restore", lambda self: None)
    given, state, masks = started(RECIPE, materials(blobs()))
    made = PROCEDURES["plain"].train(RECIPE, given, STREAMS)
    name = next(key for key, mask in masks.items() if mask.any())
    assert not torch.equal(made.model.state_dict()[name][~masks[name]], state[name][~masks[name]])


@pytest.mark.parametrize("restored", [True, False])
def test_momentum_that_is_carried_over_moves_what_has_no_gradient(restored, monkeypatch):
    """Adam's steps after one with a gradient of 1, without decay, in units of the rate; putting back undoes them."""
    if not restored:
        monkeypatch.setattr(Frozen, "restore", lambda self: None)
    recipe, given = SMALL.replace(learning_rate=0.001, weight_decay=0.0), materials(blobs())
    model = untrained(recipe, given, STREAMS)
    run = Run(model, recipe, given, objective(recipe), STREAMS)
    parameter = next(model.parameters())
    mask = torch.ones(parameter.shape, dtype=torch.bool)
    mask[0, 0] = False
    steps = []
    for frozen in (False, True, True, True):
        if frozen and not steps[1:]:
            name, _ = next(model.named_parameters())
            run.frozen = Frozen(model, Start(snapshot(model), {name: mask}))
        before = parameter.detach().clone()
        run.update(sum(p.sum() for p in model.parameters()))
        steps.append((before - parameter.detach()) / recipe.learning_rate)
    held, others = ([float(step[place]) for step in steps] for place in ((0, 0), (0, 1)))
    drift = [0.0] * 3 if restored else [0.670058, 0.517957, 0.424279]
    assert held == pytest.approx([1.0, *drift], abs=2e-4)
    assert others == pytest.approx([1.0] * 4, abs=2e-4)


def test_a_start_that_holds_nothing_goes_on_from_the_state_bit_for_bit():
    given = materials(blobs())
    state = snapshot(untrained(RECIPE, given, STREAMS))
    plain = PROCEDURES["plain"].train(RECIPE, given, STREAMS)
    same = PROCEDURES["plain"].train(RECIPE, replace(given, start=Start(state)), STREAMS)
    states = [made.model.state_dict() for made in (plain, same)]
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])


def test_a_start_that_holds_all_keeps_every_parameter():
    given = materials(blobs())
    state = snapshot(untrained(RECIPE, given, STREAMS))
    masks = {key: torch.zeros(value.shape, dtype=torch.bool) for key, value in state.items()}
    network = Start(state, masks).begin(untrained(RECIPE, given, Streams(3, 0)))
    assert not any(p.requires_grad for p in network.parameters())
    assert all(torch.equal(value, state[key]) for key, value in network.state_dict().items())


def test_modules_that_stay_still_keep_their_statistics():
    recipe = RECIPE.replace(architecture=CNN(widths=(4, 8)), epochs=2)
    given = materials(images())
    network = untrained(recipe, given, STREAMS)
    state = snapshot(network)
    held = {key: torch.zeros(p.shape, dtype=torch.bool) for key, p in network.named_parameters() if key[0] in "01"}
    given = replace(given, start=Start(state, held, ("0", "1")))
    made = PROCEDURES["plain"].train(recipe, given, STREAMS).model.state_dict()
    assert all(torch.equal(made[key], state[key]) for key in made if key.split(".")[0] in {"0", "1"})
    assert made["5.num_batches_tracked"] > 0


def test_norms_for_clipping_leave_out_what_stays():
    given = materials(blobs())
    given, _, masks = started(RECIPE, given)
    run = None

    class Noted(Run):
        def update(self, loss):
            nonlocal run
            run = self
            super().update(loss)
            for name, parameter in self.model.named_parameters():
                if parameter.grad is not None:
                    assert not parameter.grad[~masks[name]].any()

    fit(fresh(RECIPE, given, STREAMS), RECIPE, given, objective(RECIPE), STREAMS, make=Noted)
    assert run is not None
    assert run.step > 10


def test_what_does_not_fit_is_named():
    given = materials(blobs())
    network = untrained(RECIPE, given, STREAMS)
    state = snapshot(network)
    name = next(iter(state))
    with pytest.raises(ModelError, match="the state to begin from: expected a state of this network: "):
        Start({name: state[name]}).begin(network)
