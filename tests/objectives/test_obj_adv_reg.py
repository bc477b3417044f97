"""Adversarial regularisation and its attack network."""

import math

import numpy as np
import pytest
import torch
from objective_runs import (
    DROPPED,
    PICTURES,
    SMALL,
    batch,
    blobs,
    loss_of,
    materials,
    pictures,
    same,
    spied,
    started,
    state,
    without_reference,
)
from objective_twins import batches, compare, context, softmax

from reticent.errors import RolesError
from reticent.findings.training import ProcedureFacts
from reticent.objectives import OBJECTIVES
from reticent.objectives.adv_reg import AdvReg, Attacker, _regulariser, fit_loss
from reticent.procedures.plain import train
from reticent.training.streams import Streams

QUICK = AdvReg(attacker_steps=1)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def lively(classes, seed=0):
    """An attack network in float64 that is far from saying one half of everybody."""
    attacker = Attacker(classes, generator(seed)).double().requires_grad_(False)
    for layer in (*attacker.answer, *attacker.label, *attacker.both):
        layer.weight.mul_(100 * 1.5 / math.sqrt(layer.in_features))
        layer.bias.normal_(0, 0.1, generator=generator(seed + 1))
    return attacker


def slow(attacker):
    """From one answer and label to log-odds and their slope in the answer, layer by layer."""
    layers = {
        name: [(m.weight.numpy(), m.bias.numpy()) for m in getattr(attacker, name)]
        for name in ("answer", "label", "both")
    }

    def through(chain, x):
        masks = []
        for weight, bias in chain:
            x = weight @ x + bias
            masks.append(x > 0)
            x = np.maximum(x, 0)
        return x, masks

    def back(chain, masks, slope):
        for (weight, _), mask in zip(reversed(chain), reversed(masks), strict=True):
            slope = weight.T @ (slope * mask)
        return slope

    def score(p, y):
        answer, first = through(layers["answer"], p)
        label, _ = through(layers["label"], np.eye(len(p))[y])
        inner, masks = through(layers["both"][:-1], np.concatenate([answer, label]))
        weight, bias = layers["both"][-1]
        slope = back(layers["both"][:-1], masks, weight[0])[: len(answer)]
        return float(weight[0] @ inner + bias[0]), back(layers["answer"], first, slope)

    return score


def twin(attacker, weight, kind):
    score = slow(attacker)

    def of(logits, targets):
        total, gradient = 0.0, np.zeros_like(logits)
        for i, y in enumerate(targets):
            p = softmax(logits[i])
            s, slope = score(p, y)
            h = 1 / (1 + math.exp(-s))
            total += -math.log(p[y]) + weight * (math.log(h) if kind == "paper" else h - 0.5)
            in_p = weight * ((1 - h) if kind == "paper" else h * (1 - h)) * slope
            gradient[i] = p - np.eye(len(p))[y] + p * (in_p - in_p @ p)
        return total / len(targets), gradient / len(targets)

    return of


@pytest.mark.parametrize("kind", ["paper", "released"])
def test_loss_and_gradient_are_those_of_a_slow_twin(kind):
    attackers = {classes: lively(classes) for classes in range(2, 7)}
    twins = {classes: twin(attacker, 2.0, kind) for classes, attacker in attackers.items()}
    spread = []
    for drawn in batches():
        objective = OBJECTIVES["adv-reg"].build(AdvReg(weight=2.0, regulariser=kind, warmup_epochs=0))
        objective._attacker = attackers[drawn.classes]
        compare(objective, twins[drawn.classes], drawn)
        spread.append(
            float(attackers[drawn.classes](torch.tensor(drawn.logits).softmax(1), torch.tensor(drawn.targets))[0])
        )
    assert np.std(spread) > 0.1


def test_an_attacker_who_says_one_half_of_everybody_costs_nothing_and_errs_by_a_quarter():
    scores, member = torch.zeros(6), torch.tensor([1.0, 1, 1, 0, 0, 0])
    assert _regulariser(scores, "released").item() == 0
    assert _regulariser(scores, "paper").item() == pytest.approx(math.log(0.5))
    assert fit_loss(scores, member, "mse").item() == 0.25
    assert fit_loss(scores, member, "bce").item() == pytest.approx(math.log(2))


def test_the_attack_network_has_the_layers_of_the_paper_and_starts_at_one_half():
    attacker = Attacker(30, generator())
    shapes = [[tuple(m.weight.shape) for m in getattr(attacker, part)] for part in ("answer", "label", "both")]
    assert shapes[0] == [(1024, 30), (512, 1024), (64, 512)]
    assert shapes[1] == [(128, 30), (64, 128)]
    assert shapes[2] == [(512, 128), (256, 512), (128, 256), (64, 128), (1, 64)]
    assert all(not layer.bias.any() for layer in attacker.both)
    assert attacker.answer[1].weight.std().item() == pytest.approx(0.01, rel=0.01)
    h = attacker(torch.rand(5, 30, generator=generator()).softmax(1), torch.arange(5)).sigmoid()
    assert torch.allclose(h, torch.full((5,), 0.5), atol=1e-6)
    assert same(state(attacker), state(Attacker(30, generator())))
    assert not same(state(attacker), state(Attacker(30, generator(1))))


@pytest.mark.parametrize(
    "fit", [pytest.param("mse", marks=pytest.mark.slow), pytest.param("bce", marks=pytest.mark.calibration)]
)
def test_the_attack_network_learns_who_is_a_member(fit):
    """Its score is higher for members: sure answers are theirs here."""
    run = started(AdvReg(attacker_learning_rate=1e-3, attacker_loss=fit))
    members = run.materials.members

    def ask(x):
        inside = (x[:, None] == members.x[None]).all(dim=2).any(dim=1)
        return torch.where(inside, 4.0, 0.0)[:, None] * torch.eye(3)[0]

    spied(run, ask=ask)
    for _ in range(60):
        run.objective.inputs(members.x, members.y, None)
    with torch.no_grad():
        h = [run.objective._attacker(ask(e.x).softmax(1), e.y).sigmoid() for e in (members, run.materials.reference)]
    assert h[0].min() > 0.9
    assert h[1].max() < 0.1


def test_each_step_asks_about_as_many_members_as_reference_records_as_they_are_stored():
    run = started(AdvReg(attacker_steps=3), PICTURES)
    asked, real = [], run.ask

    def ask(x):
        asked.append((x, run.model.training, torch.is_grad_enabled()))
        return real(x)

    spied(run, ask=ask)
    run.epoch(0, run.steps)
    members, reference = (
        set(map(bytes, e.x.flatten(1).numpy())) for e in (run.materials.members, run.materials.reference)
    )
    assert len(asked) == 3 * run.steps
    for x, training, gradient in asked:
        rows = list(map(bytes, x.flatten(1).numpy()))
        assert (len(rows), training, gradient) == (32, False, False)
        assert set(rows[:16]) <= members
        assert set(rows[16:]) <= reference
    seen = [bytes(row) for x, _, _ in asked[:3] for row in x[:16].flatten(1).numpy()]
    assert len(set(seen)) == 48


def test_a_small_reference_makes_the_batches_of_both_small():
    run = started(QUICK, given=materials(blobs(), 60, 5))
    sizes, real = [], run.ask
    spied(run, ask=lambda x: sizes.append(len(x)) or real(x)).epoch(0, 2)
    assert sizes == [10, 10]


def test_the_attacker_is_frozen_while_the_model_steps_and_gradient_flows_through_its_input():
    run = started(AdvReg(attacker_steps=1, warmup_epochs=0))
    run.objective.inputs(*batch(run, range(16)))
    attacker = run.objective._attacker
    with torch.no_grad():
        for parameter in attacker.parameters():
            parameter.mul_(20)
    before = state(attacker)
    x, y, known = batch(run, range(16))
    logits = run._logits(x)
    with_it = torch.autograd.grad(run.objective(logits, y, known), logits, retain_graph=True)[0]
    without = torch.autograd.grad(torch.nn.functional.cross_entropy(logits, y), logits, retain_graph=True)[0]
    assert (with_it - without).abs().max() > 1e-4
    run.update(run.objective(logits, y, known))
    assert all(parameter.grad is None or not parameter.requires_grad for parameter in attacker.parameters())
    assert same(before, state(attacker))


def test_asking_moves_no_statistics_and_no_mode_of_the_model():
    run = started(QUICK, PICTURES)
    run.model.train()
    before = state(run.model)
    run.objective.inputs(*batch(run, range(16)))
    assert same(before, state(run.model))
    assert all(module.training for module in run.model.modules())


@pytest.mark.parametrize(("recipe", "records"), [(DROPPED, blobs), (PICTURES, pictures)])
def test_warm_up_trains_the_attacker_beside_plain_training_to_the_bit(recipe, records):
    recipe, given = recipe.replace(epochs=2), materials(records())
    run = started(QUICK.replace(warmup_epochs=2), recipe, given)
    before = state(run.objective._attacker)
    with run.streams.lent("dropout"):
        losses = [run.epoch(epoch, run.steps) for epoch in range(2)]
    plain = train(recipe, given, Streams(0, 0))
    assert losses == plain.history.loss
    assert same(state(run.model), state(plain.model))
    assert not same(before, state(run.objective._attacker))


def test_every_epoch_is_a_full_pass_of_the_model():
    run = started(QUICK)
    seen = []
    real = run.objective.inputs
    run.objective.inputs = lambda x, y, known: seen.extend(known.ids.tolist()) or real(x, y, known)
    run.epoch(1, run.steps)
    assert sorted(seen) == list(range(60))


def test_a_weight_of_zero_builds_no_attacker_and_asks_nothing():
    objective = OBJECTIVES["adv-reg"].build(AdvReg(weight=0.0))
    objective.begin(context())
    x = torch.zeros(2, 1)
    assert objective.inputs(x, torch.zeros(2, dtype=torch.int64), None) is x
    assert not hasattr(objective, "_attacker")


def test_the_attacker_starts_anew_in_each_run():
    run = started(QUICK)
    first = state(run.objective._attacker)
    run.epoch(0, 2)
    assert not same(first, state(run.objective._attacker))
    run.objective.begin(run._context())
    assert same(first, state(run.objective._attacker))


def test_a_missing_reference_is_named():
    with pytest.raises(RolesError, match="adv-reg needs the defender's reference non-members, got none"):
        started(AdvReg(), SMALL, without_reference(materials(blobs())))


def test_the_released_regulariser_lies_between_minus_and_plus_one_half_of_the_weight():
    run = started(AdvReg(weight=4.0, attacker_steps=1, warmup_epochs=1))
    rows = range(20)
    plain, whole = loss_of(run, rows, 0).item(), loss_of(run, rows, 1).item()
    assert -2 <= whole - plain <= 2


@pytest.mark.slow
def test_an_attack_network_that_never_woke_is_told_of():
    recipe = SMALL.replace(epochs=3)
    idle = train(recipe.replace(objective=AdvReg(attacker_learning_rate=1e-9)), materials(blobs()), Streams(0, 0))
    assert "trained too little to act" in idle.facts.notices[0]
    none = recipe.replace(objective=AdvReg(weight=0.0))
    assert train(none, materials(blobs()), Streams(0, 0)).facts == ProcedureFacts()
    awake = AdvReg(attacker_learning_rate=1e-3, attacker_steps=16, weight=1e-6)
    facts = train(SMALL.replace(epochs=15, objective=awake), materials(blobs()), Streams(0, 0)).facts
    assert facts == ProcedureFacts()
