"""Privacy-aware sparsity tuning."""

from copy import deepcopy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from objective_runs import (
    DROPPED,
    PICTURES,
    SMALL,
    blobs,
    loss_of,
    materials,
    pictures,
    same,
    started,
    state,
    without_reference,
)
from objective_twins import context
from torch import nn

from reticent.errors import ModelError, RolesError, SpecError
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES, Batch
from reticent.objectives.past import Past, _factors, _groups, _penalty, _relative, _weights
from reticent.procedures.costs import by_epochs
from reticent.procedures.mist import Mist
from reticent.procedures.plain import train
from reticent.procedures.recipe_checks import check
from reticent.training.streams import Streams

WHOLE = SMALL.replace(batch_size=64)
"""With these batches, every one is the whole set."""


renormalised = partial(Past, form="renormalised")
"""The form whose factors have mean 1, in the last part of one run."""


def linear(before, after):
    return nn.utils.skip_init(nn.Linear, before, after)


def relative(*slopes, exponent=1.0):
    return _relative([torch.tensor(slope, dtype=torch.float64) for slope in slopes], exponent)


def test_gammas_and_penalty_of_two_weights():
    (gamma,) = relative([1.0, -3.0])
    assert gamma.tolist() == [0.5, 1.5]
    theta = nn.Parameter(torch.tensor([2.0, -1.0], dtype=torch.float64))
    penalty = 0.1 * _penalty([theta], [gamma])
    assert penalty.item() == pytest.approx(0.25)
    penalty.backward()
    assert theta.grad.tolist() == pytest.approx([0.05, -0.15])


def test_equal_sensitivities_are_plain_l1_and_so_is_a_dead_module():
    for slopes in ([2.0, 2.0, -2.0], [0.0, 0.0, 0.0]):
        (gamma,) = relative(slopes)
        assert gamma.tolist() == [1, 1, 1]
    assert [g.tolist() for g in relative([1.0, 9.0], exponent=0.0)] == [[1, 1]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1, 1).filter(lambda v: abs(v) > 1e-3), min_size=2, max_size=12),
    st.sampled_from([1e-30, 1e-6, 3.0, 1e8]),
    st.sampled_from([0.5, 1.0, 2.5, 6.0]),
)
def test_gammas_have_mean_one_and_do_not_know_the_scale_of_the_gap(slopes, scale, exponent):
    half = len(slopes) // 2
    parts = [torch.tensor(part, dtype=torch.float32) for part in (slopes[:half], slopes[half:])]
    gammas = torch.cat(_relative(parts, exponent))
    scaled = torch.cat(_relative([-scale * part for part in parts], exponent))
    assert gammas.mean().item() == pytest.approx(1, rel=1e-5)
    assert torch.allclose(gammas, scaled, rtol=1e-3, atol=1e-5)
    naive = np.abs(slopes) ** exponent * len(slopes) / np.sum(np.abs(slopes) ** exponent)
    assert gammas.numpy() == pytest.approx(naive, rel=1e-3, abs=1e-5)


def naive_gammas(run, parameters, exponent):
    """From the gradient of the whole sets' gap, by one tensor at a time."""
    model, prepare = run.model.eval(), run.materials.prepare
    inside, outside = (
        nn.functional.cross_entropy(model(prepare(e.x)), e.y) for e in (run.materials.members, run.materials.reference)
    )
    slopes = torch.autograd.grad(outside - inside, parameters)
    return [s.abs() ** exponent / (s.abs() ** exponent).mean() for s in slopes]


@pytest.mark.parametrize("exponent", [1.0, 2.5])
def test_gammas_come_from_the_gap_between_reference_and_members_in_eval_mode(exponent):
    recipe = WHOLE.replace(architecture=DROPPED.architecture)
    run = started(renormalised(alpha=exponent, after=0.0), recipe)
    run.model.train()
    run.objective.start_epoch(0)
    assert all(module.training for module in run.model.modules())
    weights = [module.weight for module in run.model if isinstance(module, nn.Linear)]
    assert [id(p) for p in run.objective._penalised] == [id(p) for p in weights]
    for got, expected in zip(run.objective._gammas, naive_gammas(run, weights, exponent), strict=True):
        assert torch.allclose(got, expected, rtol=1e-3, atol=1e-4)
        assert not got.requires_grad


def test_the_average_is_of_gradients_over_as_many_batches_as_asked():
    run = started(
        renormalised(after=0.0, batches=30, alpha=1.0), SMALL.replace(batch_size=10), materials(blobs(), 60, 30)
    )
    run.objective.start_epoch(0)
    naive = naive_gammas(run, run.objective._penalised, 1.0)
    # 30 batches of 10 are five passes over 60 members and ten over 30 reference records: the mean is that of the whole.
    for got, expected in zip(run.objective._gammas, naive, strict=True):
        assert torch.allclose(got, expected, rtol=1e-2, atol=1e-3)


def test_the_penalty_is_added_with_gammas_that_receive_no_gradient():
    run = started(renormalised(weight=0.01, after=0.0), WHOLE)
    objective = run.objective
    plain = torch.autograd.grad(loss_of(run, range(60)), objective._penalised)
    objective.start_epoch(0)
    loss = loss_of(run, range(60))
    slopes = torch.autograd.grad(loss, objective._penalised)
    for p, gamma, got, before in zip(objective._penalised, objective._gammas, slopes, plain, strict=True):
        assert torch.allclose(got, before + 0.01 * gamma * p.sign(), atol=1e-6)


def test_the_first_part_of_the_epochs_is_plain_training_to_the_bit():
    given = materials(blobs())
    plain = train(DROPPED, given, Streams(0, 0))
    tuned = train(DROPPED.replace(objective=renormalised(weight=0.01)), given, Streams(0, 0))
    assert tuned.history.loss[:4] == plain.history.loss[:4]
    assert tuned.history.loss[4] > plain.history.loss[4]
    first = [started(renormalised(after=after), SMALL.replace(epochs=e)).objective._first for after, e in
             ((2 / 3, 150), (2 / 3, 6), (2 / 3, 1), (0.99, 3), (0.0, 5))]  # fmt: skip
    assert first == [100, 4, 0, 2, 0]


def test_gammas_are_measured_every_tuning_epoch_or_once():
    gammas = {}
    for refresh in ("epoch", "once"):
        run = started(renormalised(refresh=refresh, after=0.5), SMALL)
        gammas[refresh] = []
        for epoch in range(6):
            run.epoch(epoch, run.steps)
            gammas[refresh].append(torch.cat([g.flatten() for g in run.objective._gammas] or [torch.zeros(1)]))
        assert [len(g) > 1 for g in gammas[refresh]] == [False] * 3 + [True] * 3
    assert torch.equal(gammas["once"][3], gammas["once"][5])
    assert torch.equal(gammas["once"][3], gammas["epoch"][3])
    assert not torch.allclose(gammas["epoch"][3], gammas["epoch"][5])


def test_gammas_of_an_earlier_run_are_forgotten():
    run = started(renormalised(after=0.5), SMALL)
    run.objective.start_epoch(5)
    assert run.objective._gammas
    run.objective.begin(run._context())
    assert run.objective._gammas == []


def test_measuring_moves_no_statistics_and_what_is_penalised_is_said():
    run = started(renormalised(after=0.0), PICTURES)
    run.model.train()
    before = state(run.model)
    run.objective.start_epoch(0)
    assert same(before, state(run.model))
    names = {id(p): name for name, p in run.model.named_parameters()}
    chosen = {names[id(p)] for p in run.objective._penalised}
    axes = {name for name, p in run.model.named_parameters() if p.dim() > 1}
    assert chosen == axes
    everything = [p for group in _groups(run.model, renormalised(biases_and_norms=True)) for p in group]
    assert {names[id(p)] for p in everything} == set(names.values())
    statistics = {name for name, _ in run.model.named_buffers()}
    assert statistics
    assert not statistics & set(names.values())


def test_a_module_is_a_tensor_or_the_layer_that_holds_it():
    model = nn.Sequential(linear(3, 2), nn.LayerNorm([2, 2]), linear(2, 2))
    model[2].weight.requires_grad_(False)
    sizes = {
        (module, biases): [
            [p.numel() for p in group] for group in _groups(model, renormalised(module=module, biases_and_norms=biases))
        ]
        for module in ("tensor", "module")
        for biases in (False, True)
    }
    assert sizes["tensor", False] == [[6]]
    assert sizes["module", False] == [[6]]
    assert sizes["tensor", True] == [[6], [2], [4], [4], [2]]
    assert sizes["module", True] == [[6, 2], [4, 4], [2]]
    run = started(renormalised(after=0.0, module="module", biases_and_norms=True), WHOLE)
    run.objective.start_epoch(0)
    weight, bias = run.objective._gammas[:2]
    assert torch.cat([weight.flatten(), bias]).mean().item() == pytest.approx(1, rel=1e-5)
    assert weight.mean().item() != pytest.approx(1, rel=1e-3)


def test_a_shared_tensor_counts_once():
    shared = linear(4, 4)
    assert len(list(_groups(nn.Sequential(shared, shared), renormalised()))) == 1
    tied = linear(4, 4)
    tied.weight = shared.weight
    assert len(list(_groups(nn.Sequential(shared, tied), renormalised()))) == 1


def test_alpha_is_an_exponent_or_a_factor_and_which_one_is_an_option():
    once = started(renormalised(weight=0.01, after=0.0, alpha=1.0), WHOLE)
    factor = started(renormalised(weight=0.01, after=0.0, alpha=2.5, alpha_role="multiplier"), WHOLE)
    plain = loss_of(once, range(60)).item()
    for run in (once, factor):
        run.objective.start_epoch(0)
    assert all(torch.equal(a, b) for a, b in zip(once.objective._gammas, factor.objective._gammas, strict=True))
    added = [loss_of(run, range(60)).item() - plain for run in (once, factor)]
    assert added[1] == pytest.approx(2.5 * added[0], rel=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        {"optimizer": "sgd", "momentum": 0.9, "learning_rate": 0.05, "weight_decay": 0.01},
        {"optimizer": "adam", "learning_rate": 0.01},
        {"optimizer": "adamw", "learning_rate": 0.01, "weight_decay": 0.1, "schedule": "cosine"},
    ],
)
def test_the_proximal_step_is_a_soft_threshold_by_the_rate_of_the_step(options):
    recipe = SMALL.replace(**options)
    tuned = started(renormalised(weight=0.02, after=0.0, step="proximal"), recipe)
    plain = started(renormalised(weight=0.0), recipe)
    tuned.objective.start_epoch(0)
    for step in range(3):
        plain.model.load_state_dict(state(tuned.model))
        rows = torch.arange(16)
        for run in (tuned, plain):
            members = run.materials.members.take(rows)
            run.take(members.x, members.y, type("Known", (), {"ids": rows, "epoch": 0}))
        rate = tuned.optimizer.rate
        others = dict(plain.model.named_parameters())
        gammas = {id(p): g for p, g in zip(tuned.objective._penalised, tuned.objective._gammas, strict=True)}
        for name, p in tuned.model.named_parameters():
            expected = others[name]
            if id(p) in gammas:
                shift = rate * 0.02 * gammas[id(p)]
                expected = torch.where(expected.abs() > shift, expected - shift * expected.sign(), 0.0)
            assert torch.allclose(p, expected, atol=1e-7), (step, name)


def test_only_the_proximal_step_gives_exact_zeros():
    zeros = {}
    for step in ("subgradient", "proximal"):
        recipe = SMALL.replace(objective=renormalised(weight=1.0, after=0.0, step=step), epochs=8)
        weights = train(recipe, materials(blobs()), Streams(0, 0)).model[0].weight
        zeros[step] = int((weights == 0).sum())
    assert zeros["subgradient"] == 0
    assert zeros["proximal"] > 10


def test_the_penalty_makes_weights_smaller():
    given = materials(blobs())
    recipe = SMALL.replace(epochs=30, architecture=MLP(widths=(32,)))
    plain = train(recipe, given, Streams(0, 0)).model
    tuned = train(recipe.replace(objective=renormalised(weight=0.003, alpha=1.0)), given, Streams(0, 0)).model
    size = [sum(float(m[i].weight.abs().detach().sum()) for i in (0, 2)) for m in (plain, tuned)]
    assert size[1] < 0.9 * size[0]


def test_what_is_missing_is_named():
    for spec in (Past(), renormalised()):
        with pytest.raises(RolesError, match="past needs the defender's reference non-members, got none"):
            started(spec, SMALL, without_reference(materials(blobs())))
    with pytest.raises(SpecError, match=r"past: batches: expected .*10, got 9"):
        renormalised(batches=9)

    class Flat(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(8))

    run = started(renormalised(after=0.0))
    run.model = Flat()
    with pytest.raises(ModelError, match="two or more axes, and the model has none that is trained"):
        run.objective.begin(run._context())


def test_a_weight_of_zero_asks_nothing():
    for spec in (Past(weight=0.0), renormalised(weight=0.0), renormalised(alpha=0.0, alpha_role="multiplier")):
        objective = OBJECTIVES["past"].build(spec)
        objective.begin(context())
        objective.start_epoch(9)
        objective.graded()
        objective.stepped()
        assert objective.then() is None


def test_entries_that_stay_have_no_part_in_the_gammas():
    slopes = [torch.tensor([[1.0, -3.0], [2.0, 0.0]]), torch.tensor([4.0, 1.0])]
    masks = [torch.tensor([[True, False], [True, True]]), None]
    gammas = _relative(slopes, 1.0, masks)
    trained = torch.tensor([1.0, 2.0, 0.0, 4.0, 1.0])
    expected = trained * 5 / trained.sum()
    torch.testing.assert_close(torch.cat([gammas[0][masks[0]], gammas[1]]), expected)
    assert gammas[0][0, 1] == 0
    assert [g.tolist() for g in _relative([torch.zeros(2)], 1.0, [torch.tensor([True, False])])] == [[1.0, 0.0]]


NETWORKS = {"mlp": SMALL, "dropout": DROPPED, "pictures": PICTURES.replace(augmentation="none")}
"""Linear layers, dropout, and Conv2d with BatchNorm."""


def tuning(spec, recipe):
    """Begin the second run of the released form, from the network that the first one would begin with."""
    given = materials(pictures() if recipe.architecture == PICTURES.architecture else blobs())
    tuned = started(spec, recipe, given).objective.then()
    changes = {"epochs": tuned.epochs, "learning_rate": tuned.learning_rate, "momentum": tuned.momentum}
    return started(tuned.objective, recipe.replace(**changes, optimizer="sgd", schedule="cosine", batch_size=64), given)


def layers(model):
    return [m for m in model.modules() if isinstance(m, (nn.Linear, nn.Conv2d, nn.BatchNorm2d))]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(("weight", "alpha"), [(0.02, 4.0), (1e-5, 4.0), (0.1, 1.0), (3.0, 40.0)])
def test_the_released_step_is_that_of_a_slow_twin(network, weight, alpha):
    run = tuning(Past(weight=weight, alpha=alpha), NETWORKS[network])
    run.training_mode()
    twin, given = deepcopy(run.model), run.materials
    with torch.random.fork_rng():  # as released: non-members first, then members, both in train mode
        torch.manual_seed(7)
        nn.functional.cross_entropy(twin(given.prepare(given.reference.x)), given.reference.y).backward()
        outside = [layer.weight.grad.clone() for layer in layers(twin)]
        twin.zero_grad()
        nn.functional.cross_entropy(twin(given.prepare(given.members.x)), given.members.y).backward()
    largest = 0.0
    for layer, before in zip(layers(twin), outside, strict=True):
        gap = (layer.weight.grad - before).abs()
        factor = torch.clamp((gap / gap.mean()) ** alpha, 0, 1e4)
        largest = max(largest, factor.max().item())
        layer.weight.grad += weight * factor * layer.weight.detach().sign()
    torch.optim.SGD(twin.parameters(), 0.01, 0.9).step()
    run.objective._reference.deal = lambda: given.reference
    with torch.random.fork_rng():
        torch.manual_seed(7)
        run.take(given.members.x, given.members.y, Batch(torch.arange(60), 0))
    for name, value in run.model.state_dict().items():
        torch.testing.assert_close(value, twin.state_dict()[name], rtol=1e-4, atol=1e-5, msg=name)
    assert (largest == 1e4) == (alpha == 40.0)  # the cut is met where it is to be


def test_released_factors_are_not_renormalised_and_are_cut():
    gap = torch.tensor([1.0, 3.0], dtype=torch.float64)
    assert _factors(gap, 1.0).tolist() == [0.5, 1.5]
    assert _factors(gap, 4.0).tolist() == [0.0625, 5.0625]
    assert _factors(torch.tensor([0.0, 0.0, 0.0, 8.0]), 8.0).tolist() == [0, 0, 0, 1e4]  # 4 ** 8 = 65,536
    assert _factors(torch.zeros(3), 4.0).tolist() == [0, 0, 0]
    assert _factors(gap, 2.0, torch.tensor([True, False])).tolist() == [1, 9]


def test_the_released_form_trains_as_the_recipe_says_and_then_tunes_with_a_new_sgd():
    given = materials(blobs())
    plain = train(DROPPED, given, Streams(0, 0))
    tuned = train(DROPPED.replace(objective=Past(tuning_epochs=7)), given, Streams(0, 0))
    assert tuned.history.loss[:6] == plain.history.loss
    assert len(tuned.history.loss) == 13
    assert tuned.history.kept == 12
    usual = started(Past()).objective.then()
    assert (usual.epochs, usual.learning_rate, usual.momentum, usual.weight_decay) == (50, 0.01, 0.9, 0.0)
    assert (Past().usual("weight"), Past().usual("alpha")) == (1e-5, 4.0)
    assert (renormalised().usual("weight"), renormalised().usual("alpha")) == (1e-4, 2.5)


def test_tuning_begins_from_what_early_stopping_kept_and_is_not_ended_by_it():
    given = replace(materials(blobs()), validation=materials(blobs()).reference)
    recipe = SMALL.replace(learning_rate=0.3, epochs=12, patience=3)
    stopped = train(recipe, given, Streams(0, 0)).history
    tuned = train(recipe.replace(objective=Past(tuning_epochs=9)), given, Streams(0, 0)).history
    assert stopped.kept < len(stopped.loss) - 1 < 11
    assert tuned.loss[: len(stopped.loss)] == stopped.loss
    assert len(tuned.loss) == len(stopped.loss) + 9


def test_stronger_tuning_leaves_smaller_weights():
    given = materials(blobs())
    size = {
        weight: sum(
            float(layer.weight.abs().detach().sum())
            for layer in layers(train(SMALL.replace(objective=Past(weight=weight)), given, Streams(0, 0)).model)
        )
        for weight in (1e-8, 3e-3)
    }
    assert size[3e-3] < 0.7 * size[1e-8]


def test_released_weights_are_those_of_three_kinds_of_layers():
    model = nn.Sequential(
        linear(3, 2), nn.LayerNorm(2), nn.BatchNorm1d(2), nn.BatchNorm1d(2, affine=False), linear(2, 2)
    )
    model[4].weight.requires_grad_(False)
    assert [id(p) for p in _weights(model)] == [id(model[0].weight), id(model[2].weight)]
    shared = linear(4, 4)
    assert len(list(_weights(nn.Sequential(shared, shared)))) == 1
    run = started(Past())
    run.model = nn.Sequential(nn.LayerNorm(2))
    with pytest.raises(ModelError, match=r"weights of Linear, Conv2d and BatchNorm layers.*use past:form=renormalised"):
        run.objective.begin(run._context())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"after": 0.5}, "after with form=renormalised only, got form=released"),
        ({"step": "proximal"}, "step with form=renormalised only, got form=released"),
        ({"form": "renormalised", "tuning_epochs": 5}, "tuning_epochs with form=released only, got form=renormalised"),
    ],
)
def test_an_option_of_the_other_form_is_refused(options, words):
    with pytest.raises(SpecError, match=f"past: expected {words}"):
        Past(**options)


def test_a_shortened_training_has_a_shortened_tuning():
    spec = OBJECTIVES["past"].brief(Past(), 1 / 10)
    assert spec == Past(tuning_epochs=5)
    assert OBJECTIVES["past"].brief(renormalised(), 0.1) == renormalised()
    short = by_epochs(SMALL.replace(objective=Past(), epochs=40))
    assert (short.recipe.epochs, short.recipe.objective.tuning_epochs, short.rest) == (1, 1, 40)


def test_mist_refuses_what_it_would_leave_out():
    refused = SMALL.replace(objective=Past(), procedure=Mist())
    with pytest.raises(SpecError, match=r"past cannot be trained with mist: it tunes .* use past:form=renormalised"):
        check(refused, 30)
    check(refused.replace(procedure=Mist(parts=1)), 30)  # one part is plain training
    check(refused.replace(objective=renormalised()), 30)
