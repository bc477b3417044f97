"""Iterative pruning: WeMem's rates, values that go on from round to round, and zeros that no optimizer moves."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from random_records import images, materials, noise

from reticent.errors import ModelError, SpecError
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES
from reticent.procedures import PROCEDURES, plain
from reticent.procedures.base import snapshot
from reticent.procedures.basic import BASIC
from reticent.procedures.dpsgd import DPSGD
from reticent.procedures.prune import Prune, repair, train
from reticent.procedures.recipe_checks import check, check_network
from reticent.procedures.two_stage import tuning
from reticent.sparsify.structured import coupled, shrunk
from reticent.training.recipe import Plain, Recipe
from reticent.training.start import Start
from reticent.training.streams import Streams

SMALL = Recipe(architecture=MLP(widths=(12,)), procedure=Prune(), epochs=5, batch_size=8, learning_rate=0.01)
PICTURES = SMALL.replace(architecture=CNN(widths=(6, 8)), augmentation="flip-crop", padding=2)
STREAMS = Streams(5, 1)


def using(recipe=SMALL, **options):
    return recipe.replace(procedure=Prune(**options))


def masks(made):
    return {name.removeprefix("mask/"): value for name, value in made.artefacts.items()}


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


@pytest.fixture
def starts(monkeypatch):
    """Where each fine-tuning begins, and what it ends with."""
    seen, whole = [], PROCEDURES["plain"].train

    def watching(recipe, given, streams):
        made = whole(recipe, given, streams)
        seen.append((given.start, snapshot(made.model), recipe))
        return made

    monkeypatch.setitem(BASIC, "plain", replace(PROCEDURES["plain"], train=watching))
    return seen


def test_the_rates_of_wemems_rounds():
    sparsity = [1 - Prune().density(number) for number in range(5)]
    assert sparsity == pytest.approx([0, 0.204729, 0.367544, 0.497027, 0.6], abs=5e-7)


def test_what_it_does_is_what_the_paper_says_step_by_step():
    """Written out: plain training, then rounds of per-layer L1 masks, values going on, each fine-tuned by the loss."""
    recipe = using().replace(objective=OBJECTIVES["relaxloss"].spec(), schedule="cosine", weight_decay=5e-4)
    given = materials(noise())
    made = train(recipe, given, STREAMS)
    undefended = recipe.replace(procedure=Plain(), objective=OBJECTIVES["cross-entropy"].spec())
    first = plain.train(undefended, given, STREAMS)
    state, losses = snapshot(first.model), list(first.history.loss)
    mask = {name: torch.ones(state[name].shape, dtype=torch.bool) for name in ("0.weight", "2.weight")}
    for number in range(5):
        if number:
            for name in mask:
                flat = state[name].abs().where(mask[name], torch.tensor(-1.0)).view(-1).tolist()
                kept = sorted(range(len(flat)), key=lambda i: -flat[i])[: round(0.4 ** (number / 4) * len(flat))]
                mask[name] = torch.zeros(len(flat), dtype=torch.bool).index_fill(0, torch.tensor(kept), True)
                mask[name] = mask[name].view(state[name].shape)
        state = {name: value * mask[name] if name in mask else value for name, value in state.items()}
        its = recipe.replace(procedure=Plain(), epochs=1)
        streams = tuning(STREAMS) if number == 4 else tuning(STREAMS, f"round {number}")
        tuned = plain.train(its, replace(given, start=Start(state, mask)), streams)
        state = snapshot(tuned.model)
        losses += tuned.history.loss
    assert same(snapshot(made.model), state)
    assert same(masks(made), mask)
    assert made.history.loss == losses
    assert same(made.initial, first.initial)
    assert [stage.name for stage in made.facts.stages] == ["training", *(f"round {k}" for k in range(4)), "tuning"]


def test_values_go_on_and_masks_lie_within_those_before(starts):
    made = train(using(rounds=3), materials(noise()), STREAMS)
    assert len(starts) == 4
    for (_, ended, _), (begun, _, _) in pairwise(starts):
        for name, value in begun.state.items():
            mask = begun.trainable.get(name, torch.ones(value.shape, dtype=torch.bool))
            assert torch.equal(value[mask], ended[name][mask])
            assert not value[~mask].any()
    chosen = [start.trainable for start, _, _ in starts]
    assert all(mask.all() for mask in chosen[0].values()), "the first round prunes nothing"
    assert all(not (b[name] & ~a[name]).any() for a, b in pairwise(chosen) for name in a)
    assert made.facts.sparsity.rounds == 3
    assert made.facts.sparsity.weights_left == sum(round(0.4 * n) for n in (72, 36)) == 43
    assert made.facts.sparsity.parameters == 72 + 12 + 36 + 3


ENDS = {
    "sgd": {"optimizer": "sgd", "learning_rate": 0.1},
    "adam": {"optimizer": "adam"},
    "adamw": {"optimizer": "adamw"},
    "dpsgd": {},
}


@pytest.mark.parametrize("optimizer", ENDS)
@pytest.mark.parametrize("structure", ["weights", "filters"])
def test_what_is_pruned_is_exactly_zero_in_the_finished_model(optimizer, structure):
    inner = DPSGD(noise=1.0) if optimizer == "dpsgd" else Plain()
    recipe = using(SMALL.replace(weight_decay=0.05, **ENDS[optimizer]), rate=0.5, structure=structure, inner=inner)
    made = train(recipe, materials(noise()), STREAMS)
    state = made.model.state_dict()
    for name, mask in masks(made).items():
        assert not state[name][~mask].any()
        assert (state[name][mask] != 0).all()
        assert mask.any()
    assert ("0.bias" in masks(made)) == (structure == "filters")
    assert any("no epsilon" in notice for notice in made.facts.notices) == (optimizer == "dpsgd")
    assert made.facts.accountant is None


def test_filters_leave_a_smaller_network_of_the_same_answers():
    given = materials(images())
    made = train(using(PICTURES, rate=0.5, structure="filters", rounds=2, criterion="l2"), given, STREAMS)
    x = given.prepare(given.validation.x)
    small = shrunk(made.model, coupled(made.model, x), masks(made))
    assert [small[at].weight.shape[0] for at in (0, 4)] == [3, 4]
    assert torch.allclose(small(x), made.model(x), rtol=0, atol=1e-5)
    assert made.facts.sparsity.parameters_left == sum(p.numel() for p in small.parameters())
    assert made.facts.sparsity.weights_left == 3 * 27 + 4 * 3 * 9 + 2 * 4


def test_one_shot_is_one_round_and_chance_is_another_mask():
    given = materials(noise())
    ranked, drawn, shorter = (
        train(using(rounds=1, **options), given, STREAMS)
        for options in ({}, {"criterion": "random"}, {"tuning_epochs": 2})
    )
    counts = [{name: int(mask.sum()) for name, mask in masks(made).items()} for made in (ranked, drawn)]
    assert counts[0] == counts[1]
    assert not same(masks(ranked), masks(drawn))
    assert len(ranked.history.loss) == 7
    assert len(shorter.history.loss) == 9


def test_a_model_that_is_trained_already_is_pruned_as_train_does():
    given = materials(images())
    made = train(PICTURES, given, STREAMS)
    first = plain.train(PICTURES.replace(procedure=Plain()), given, STREAMS)
    again = repair(snapshot(first.model), first.initial, PICTURES, given, STREAMS)
    assert same(snapshot(again.model), snapshot(made.model))
    assert again.history.loss == made.history.loss[5:]
    assert again.facts.sparsity == made.facts.sparsity


def test_layers_that_are_skipped_keep_all_weights():
    made = train(using(skip=("2",)), materials(noise()), STREAMS)
    assert list(masks(made)) == ["0.weight"]
    assert made.facts.sparsity.weights == 72


@pytest.mark.parametrize(
    ("recipe", "error", "words"),
    [
        (using(skip=("head",)), ModelError, "prune: skip: 'head' is no layer"),
        (using(PICTURES, structure="filters", inner=DPSGD()), ModelError, "prune: no filter can be pruned.*GroupNorm"),
        (using(inner=PROCEDURES["selena"].spec()), SpecError, "selena cannot be the second stage of prune"),
    ],
)
def test_what_cannot_be_pruned_is_refused_before_training(recipe, error, words):
    records = images() if recipe.architecture.method == "cnn" else noise()
    with pytest.raises(error, match=words):
        check(recipe, 0, records.classes), check_network(recipe, records)
    with pytest.raises(error, match=words):
        train(recipe, materials(records), STREAMS)


def test_an_error_names_the_round_whose_share_leaves_nothing():
    with pytest.raises(ModelError, match=r"prune, round 1: pruning to 0\.001 "):
        train(using(rate=0.999, rounds=1), materials(noise()), STREAMS)


def test_early_stopping_holds_in_every_round(starts):
    recipe = using(tuning_epochs=30).replace(patience=1, learning_rate=0.1)
    made = train(recipe, materials(noise()), STREAMS)
    assert all(its.patience == 1 and its.epochs == 30 for _, _, its in starts)
    assert len(made.history.loss) == len(made.history.validation_loss) < 5 + 5 * 30
