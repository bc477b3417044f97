"""Mixup, and mixup with the maximum mean discrepancy."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from objective_runs import (
    PICTURES,
    SMALL,
    batch,
    blobs,
    loss_of,
    materials,
    same,
    spied,
    started,
    state,
    tokens,
    without_reference,
)
from objective_twins import context
from torch.nn import functional

from reticent.errors import InputError, RolesError
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES
from reticent.objectives.mixup import Mixup
from reticent.objectives.mixup_mmd import MixupMmd, _matched, _squared_mmd
from reticent.procedures.plain import train
from reticent.training.streams import Streams


def shares(objective, count, size=8):
    """Draw blends of the unit vectors, which show the share and the partner of each."""
    y, unit = torch.arange(size) % 3, torch.eye(size, dtype=torch.float64)
    for _ in range(count):
        yield objective.inputs(unit, y, None), y


@pytest.mark.parametrize("spec", [Mixup(), MixupMmd(weight=0.0)])
def test_inputs_and_losses_are_blended_with_one_share_and_the_same_partners(spec):
    objective = started(spec).objective
    rng = np.random.default_rng(0)
    for mixed, y in shares(objective, 50):
        others = [(set(np.flatnonzero(row)) - {i}) for i, row in enumerate(mixed.numpy())]
        partner = [next(iter(o)) if o else i for i, o in enumerate(others)]
        share = {round(float(mixed[i, i]), 12) for i, o in enumerate(others) if o}
        assert sorted(partner) == list(range(8))
        assert len(share) <= 1
        assert torch.allclose(mixed.sum(dim=1), torch.ones(8, dtype=torch.float64))
        logits = torch.tensor(rng.normal(size=(8, 3)))
        loss = objective(logits, y, None).item()
        for part in share:
            own, other = functional.cross_entropy(logits, y), functional.cross_entropy(logits, y[partner])
            assert loss == pytest.approx((part * own + (1 - part) * other).item(), abs=1e-9)


@pytest.mark.parametrize("alpha", [0.2, 1.0, 4.0])
def test_shares_are_of_a_beta_distribution(alpha):
    objective = started(Mixup(alpha=alpha)).objective
    drawn = []
    for _ in shares(objective, 4000, 2):
        drawn.append(objective._share)
    assert np.mean(drawn) == pytest.approx(0.5, abs=0.03)
    assert np.var(drawn) == pytest.approx(1 / (4 * (2 * alpha + 1)), rel=0.1)


def test_one_record_is_blended_with_itself():
    run = started(Mixup())
    x, y, known = batch(run, [3])
    assert torch.allclose(run.objective.inputs(x, y, known), x, atol=1e-6)
    plain = functional.cross_entropy(run._logits(x), y)
    assert loss_of(run, [3]).item() == pytest.approx(plain.item(), rel=1e-5)


@pytest.mark.parametrize("spec", [Mixup(), MixupMmd()])
def test_tokens_are_refused_by_name_and_pictures_are_not(spec):
    stored = started(spec)._context()
    words = replace(stored, members=materials(tokens()).members)
    with pytest.raises(InputError, match=rf"{spec.method} blends .* tokens have no blend: use a"):
        OBJECTIVES[spec.method].build(spec).begin(words)
    OBJECTIVES[spec.method].build(type(spec)(alpha=0.0)).begin(words)
    run = started(spec, PICTURES)
    assert torch.isfinite(loss_of(run, range(16)))


def test_zero_draws_and_asks_nothing():
    for spec in (Mixup(alpha=0.0), MixupMmd(alpha=0.0, weight=0.0)):
        objective = OBJECTIVES[spec.method].build(spec)
        objective.begin(context())
        x, y = torch.zeros(2, 1), torch.tensor([0, 1])
        assert objective.inputs(x, y, None) is x
        assert objective(torch.zeros(2, 5), y, None).item() == pytest.approx(math.log(5))
        objective.end_epoch(0)


def test_without_the_distance_it_is_mixup():
    given_ = materials(blobs())
    mixed = train(SMALL.replace(objective=MixupMmd(weight=0.0)), given_, Streams(0, 0))
    wide = train(SMALL.replace(objective=MixupMmd(gap=1.0)), given_, Streams(0, 0))
    assert same(state(mixed.model), state(wide.model))
    assert mixed.history.loss == wide.history.loss


def naive(a, b):
    kernel = lambda u, v: math.exp(-sum((i - j) ** 2 for i, j in zip(u, v, strict=True)) / 2)  # noqa: E731
    mean = lambda left, right: sum(kernel(u, v) for u in left for v in right) / (len(left) * len(right))  # noqa: E731
    return mean(a, a) + mean(b, b) - 2 * mean(a, b)


def test_the_distance_of_two_points_and_of_equal_batches():
    one, other = torch.tensor([[1.0, 0.0]], dtype=torch.float64), torch.tensor([[0.0, 1.0]], dtype=torch.float64)
    assert _squared_mmd(one, other).item() == pytest.approx(2 - 2 * math.exp(-1), abs=1e-12)
    assert _squared_mmd(one, other).item() == pytest.approx(1.264241, abs=1e-6)
    batch_ = torch.rand(9, 4, generator=torch.Generator().manual_seed(0)).softmax(dim=1)
    assert _squared_mmd(batch_, batch_.clone()).item() == 0
    assert _squared_mmd(batch_, batch_[torch.randperm(9, generator=torch.Generator().manual_seed(1))]).abs() < 1e-6


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(2, 5), st.integers(0, 99))
def test_the_distance_is_that_of_a_slow_twin(n, m, classes, seed):
    rng = np.random.default_rng(seed)
    a, b = (rng.dirichlet(np.ones(classes), size) for size in (n, m))
    got = _squared_mmd(torch.tensor(a), torch.tensor(b)).item()
    assert got == pytest.approx(naive(a, b), abs=1e-9)
    assert got >= -1e-9


def test_class_counts_are_matched_where_the_reference_has_the_class():
    labels = torch.tensor([0, 1, 0, 3, 1, 0, 2, 2])
    reference = torch.tensor([2, 0, 0, 1, 0, 2, 2])
    chosen, rows = _matched(labels, reference, 5)
    assert chosen.tolist() == [0, 1, 2, 4, 5, 6, 7]  # class 3 has no partner
    assert reference[rows].tolist() == labels[chosen].tolist()
    for c in (0, 2):
        assert len(set(rows[labels[chosen] == c].tolist())) == int((labels == c).sum())
    assert rows[labels[chosen] == 1].tolist() == [3, 3]  # the only one comes again
    nothing = _matched(torch.tensor([4, 4]), reference, 5)
    assert [len(part) for part in nothing] == [0, 0]


def test_every_reference_record_of_a_class_is_drawn_the_last_one_too():
    run = started(MixupMmd(gap=0.0))
    asked, real = [], run.ask
    spied(run, ask=lambda x: asked.append(x) or real(x), update=lambda loss: None)
    for _ in range(6):
        run.objective.end_epoch(0)
    seen = {bytes(row) for x in asked if len(x) <= 16 for row in x.numpy()}
    assert {bytes(row) for row in run.materials.reference.x.numpy()} <= seen


def passes(spec, epoch, **changes):
    """Return how many steps follow an epoch."""
    run, losses = started(spec), []
    spied(run, update=lambda loss: losses.append(loss.item()), **changes)
    run.objective.end_epoch(epoch)
    return len(losses)


def test_a_pass_follows_an_epoch_but_the_last_where_the_accuracies_lie_apart():
    assert passes(MixupMmd(gap=0.0), 0) == 4  # 60 members by 16
    assert passes(MixupMmd(gap=0.0), 4) == 4
    assert passes(MixupMmd(gap=0.0), 5) == 0
    given_ = materials(blobs())
    members = {bytes(row) for row in given_.members.x.numpy()}
    table = {
        bytes(row): int(y) for e in (given_.members, given_.reference) for row, y in zip(e.x.numpy(), e.y, strict=True)
    }
    reference = {bytes(row): i for i, row in enumerate(given_.reference.x.numpy())}

    def answers(wrong):
        """All members right, and so many of the 30 reference records wrong."""

        def ask(x):
            keys = [bytes(row) for row in x.numpy()]
            right = [k in members or reference[k] >= wrong for k in keys]
            labels = torch.tensor([(table[k] + (not r)) % 3 for k, r in zip(keys, right, strict=True)])
            return 5.0 * functional.one_hot(labels, 3)

        return ask

    assert passes(MixupMmd(gap=0.1), 0, ask=answers(2)) == 0
    assert passes(MixupMmd(gap=0.1), 0, ask=answers(4)) == 4
    assert passes(MixupMmd(), 0, ask=answers(0)) == 0
    assert passes(MixupMmd(), 0, ask=answers(1)) == 4


def test_the_pass_pulls_members_alone_towards_the_reference():
    run = started(MixupMmd(gap=0.0, weight=2.0))
    seen = []
    real = run.ask

    def ask(x):
        answer = real(x)
        seen.append((x, answer, torch.is_grad_enabled()))
        return answer

    losses = []
    spied(run, ask=ask, update=losses.append)
    run.objective.end_epoch(0)
    (pairs, wanted, quiet), (x, answer, loud) = seen[2:4]
    classes = [
        sorted(int(e.y[(e.x == one).all(dim=1)][0]) for one in asked)
        for e, asked in ((run.materials.reference, pairs), (run.materials.members, x))
    ]
    assert classes[0] == classes[1]
    assert (quiet, loud) == (False, True)
    assert not wanted.requires_grad
    assert losses[0].item() == pytest.approx(
        2 * naive(wanted.softmax(1).tolist(), answer.detach().softmax(1).tolist()), abs=1e-5
    )
    assert {bytes(row) for row in x.numpy()} <= {bytes(row) for row in run.materials.members.x.numpy()}


def test_the_pass_moves_parameters_but_no_statistics_and_leaves_the_modes():
    run = started(MixupMmd(gap=0.0), PICTURES)
    run.model.train()
    before = state(run.model)
    run.objective.end_epoch(0)
    after = state(run.model)
    buffers = {name for name, _ in run.model.named_buffers()}
    assert buffers
    assert all(torch.equal(before[name], after[name]) for name in buffers)
    assert any(not torch.equal(before[name], after[name]) for name in set(before) - buffers)
    assert all(module.training for module in run.model.modules())


def test_passes_bring_the_answers_together():
    given_ = materials(blobs())
    distance = {}
    for weight in (0.0, 30.0):
        recipe = SMALL.replace(epochs=20, architecture=MLP(widths=(64,)), objective=MixupMmd(gap=0.0, weight=weight))
        model = train(recipe, given_, Streams(0, 0)).model
        with torch.no_grad():
            distance[weight] = _squared_mmd(*(model(e.x).softmax(1) for e in (given_.members, given_.reference))).item()
    assert distance[30.0] < 0.8 * distance[0.0]


def test_a_missing_reference_is_named():
    with pytest.raises(RolesError, match="mixup-mmd needs the defender's reference non-members, got none"):
        started(MixupMmd(), SMALL, without_reference(materials(blobs())))


def test_a_share_belongs_to_a_step_and_runs_are_repeated_to_the_bit():
    runs = [started(Mixup()) for _ in range(2)]
    for epoch in range(2):
        losses = [run.epoch(epoch, run.steps) for run in runs]
        assert losses[0] == losses[1]
    again = started(Mixup())
    first = loss_of(again, range(16)).item()
    again.objective.begin(again._context())
    assert loss_of(again, range(16)).item() == first


def test_the_accuracies_that_decide_take_a_tie_for_a_mistake():
    run = started(MixupMmd())
    spied(run, ask=lambda x: torch.zeros(len(x), 3))
    members = run.materials.members
    assert run.objective._accuracy(members) == 0.0
    spied(run, ask=lambda x: torch.eye(3)[torch.ones(len(x), dtype=torch.long)])
    assert run.objective._accuracy(members) == pytest.approx(float((members.y == 1).float().mean()))
