"""DP-SGD's steps: who is in a batch, how gradients are clipped, which noise is added, what is refused."""

import copy
import logging
import math
import sys
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.errors import MissingExtraError, ModelError, SpecError
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES
from reticent.objectives.base import Batch
from reticent.objectives.label_smoothing import LabelSmoothing
from reticent.population import stored_signals
from reticent.population.population import Population
from reticent.population.train import train as train_population
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES
from reticent.procedures.base import fresh, objective
from reticent.procedures.dpsgd import DPSGD, gradients, layers, network, opacus_import, train
from reticent.procedures.dpsgd import run as dpsgd_run
from reticent.procedures.dpsgd.gradients import Outer, Written
from reticent.procedures.dpsgd.run import (
    Mechanism,
    PrivateRun,
    clip_factors,
    clipped_sum,
    sample_rate,
    steps_an_epoch,
)
from reticent.procedures.recipe_checks import check
from reticent.signals.queries import Queries
from reticent.spec import identity
from reticent.store import Store
from reticent.training.data import Preparation
from reticent.training.materials import Materials, forward
from reticent.training.recipe import Recipe
from reticent.training.run import Run
from reticent.training.streams import Streams

pytestmark = pytest.mark.filterwarnings("ignore:Full backward hook is firing")  # Steps outside of `per_record`.
STREAMS = Streams(0, 0)
SMALL = Recipe(
    architecture=MLP(widths=(8,)),
    procedure=DPSGD(noise=0.0),
    epochs=2,
    batch_size=16,
    optimizer="sgd",
    momentum=0.0,
    learning_rate=1.0,
)


def table(n=60, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return Records.make((rng.normal(size=(n, 5)) + 2 * np.eye(classes, 5)[y]).astype(np.float32), y)


def pictures(n=60):
    rng = np.random.default_rng(0)
    return Records.make(rng.integers(0, 256, (n, 8, 8, 3), dtype=np.uint8), np.arange(n) % 3)


def materials(records, members=None):
    prepare = Preparation(records, torch.device("cpu"))
    count = len(records) - 10 if members is None else members
    take = lambda start, stop: prepare.examples(records, np.arange(start, stop))  # noqa: E731
    return Materials(take(0, count), take(count, len(records)), take(0, 0), prepare, records.classes)


def seeded(make):
    """Build a module whose initialisers draw from the global generator, and put that back."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return make()


class Attached:
    """A run of DP-SGD's loop whose steps a test takes itself."""

    def __init__(self, model, recipe, given, mechanism):
        self.hooks = gradients.PerRecord(model)
        self.run = PrivateRun(model, recipe, given, objective(recipe), STREAMS, mechanism=mechanism, hooks=self.hooks)
        model.train()

    def step(self, ids):
        rows = torch.as_tensor(ids, dtype=torch.int64)
        members = self.run.materials.members
        return float(self.run.take(members.x[rows], members.y[rows], Batch(rows, 0)))


def moved(model, recipe, given, ids, mechanism):
    """What one step of SGD at rate 1 takes away from each parameter: the gradient that was used."""
    before = [p.detach().clone() for p in model.parameters()]
    attached = Attached(model, recipe, given, mechanism)
    attached.step(ids)
    attached.hooks.close()
    return [old - p.detach() for old, p in zip(before, model.parameters(), strict=True)]


def one_by_one(model, recipe, given, ids, mechanism):
    """The same, with a backward pass a record: the naive twin."""
    loss = objective(recipe)
    loss.begin(Run(model, recipe, given, objective(recipe), STREAMS)._context())
    model.train()
    sums = [torch.zeros_like(p) for p in model.parameters()]
    for i in ids:
        x, y = given.members.x[i : i + 1], given.members.y[i : i + 1]
        logits = forward(model, given.prepare(x), given.classes)
        value = loss(logits, y, Batch(torch.tensor([i]), 0))
        gradients = torch.autograd.grad(value, list(model.parameters()))
        norm = math.sqrt(sum(float(g.square().sum()) for g in gradients))
        for total, gradient in zip(sums, gradients, strict=True):
            total += gradient * min(1, mechanism.max_norm / (norm + 1e-6))
    return [total / (mechanism.rate * len(given.members)) for total in sums]


# The closed form, and clipping.


def test_two_gradients_of_the_specification_average_to_045_06():
    parts = [Written(torch.tensor([[3.0, 4.0], [0.3, 0.4]]))]
    assert clip_factors(torch.tensor([5.0, 0.5]), 1.0).tolist() == pytest.approx([0.2, 1.0], abs=1e-6)
    assert (clipped_sum(parts, 1.0)[0] / 2).tolist() == pytest.approx([0.45, 0.6], abs=1e-6)


def test_the_closed_form_holds_where_gradients_are_factors_and_lie_in_two_parameters():
    weight = Outer(torch.tensor([[1.0], [0.1]]), torch.tensor([[3.0, 0.0], [3.0, 0.0]]))
    bias = Written(torch.tensor([[4.0], [0.4]]))
    sums = clipped_sum([weight, bias], 1.0)
    assert (sums[0] / 2).tolist() == [pytest.approx([0.45, 0.0], abs=1e-6)]
    assert (sums[1] / 2).tolist() == pytest.approx([0.6], abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.integers(0, 2**31))
def test_no_record_moves_the_sum_by_more_than_the_norm(count, scale, max_norm, seed):
    rng = torch.Generator().manual_seed(seed)
    parts = [
        Written(scale * torch.randn(count, 3, 2, generator=rng)),
        Outer(scale * torch.randn(count, 4, generator=rng), torch.randn(count, 5, generator=rng)),
    ]
    for record in range(count):
        alone = [part.weighted(torch.eye(count)[record]) for part in parts]
        norms = torch.stack([part.squares() for part in parts]).sum(dim=0).sqrt()
        assert float(norms[record]) == pytest.approx(math.sqrt(sum(float(a.square().sum()) for a in alone)), rel=1e-4)
        without = clip_factors(norms, max_norm) * (torch.arange(count) != record)
        change = [a - part.weighted(without) for a, part in zip(clipped_sum(parts, max_norm), parts, strict=True)]
        assert math.sqrt(sum(float(c.square().sum()) for c in change)) <= max_norm * (1 + 1e-4)


class Odd(nn.Module):
    """Every way in which a parameter may be used: convolution, embedding of its own, linear layers asked twice or of a
    module with parameters, one parameter in two layers, an unused one, and positions."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.act = nn.ReLU(inplace=True)
        self.position = nn.Linear(8, 6)
        self.twice = nn.Linear(6, 6)
        self.shared = nn.Linear(6, 6, bias=False)
        self.also = nn.Linear(6, 6, bias=False)
        self.also.weight = self.shared.weight
        self.scale = Scaled(6)
        self.out = nn.Linear(6, 3)
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        h = self.act(self.norm(self.conv(x)))
        h = torch.tanh(self.position(h.flatten(1, 2))).mean(dim=1)
        h = torch.tanh(self.twice(torch.tanh(self.twice(h))))
        return self.out(self.scale(self.also(torch.tanh(self.shared(h)))))


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.factor = nn.Parameter(torch.linspace(0.5, 2, width))
        self.inner = nn.Linear(width, width)

    def forward(self, x):
        return self.inner(x * self.factor)


@pytest.mark.parametrize("max_norm", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("kind", ["mlp", "cnn", "odd"])
def test_a_step_is_that_of_one_backward_pass_a_record(kind, max_norm):
    given = materials(pictures())
    recipe = SMALL.replace(architecture=CNN(widths=(8, 8)) if kind == "cnn" else SMALL.architecture)
    if kind == "odd":
        model = layers.without_batchnorm(seeded(Odd))[0]
        layers.out_of_place(model)
        del model.unused
    else:
        model = network(recipe, given, STREAMS)
    mechanism = Mechanism(0.25, 0.0, max_norm)
    ids = [3, 4, 10, 11, 12, 30]
    used = moved(copy.deepcopy(model), recipe, given, ids, mechanism)
    naive = one_by_one(model, recipe, given, ids, mechanism)
    for one, other in zip(used, naive, strict=True):
        assert float((one - other).norm()) <= 1e-5 * float(other.norm()) + 1e-6
    assert any(float(part.norm()) > 0 for part in used)


class Idle(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.beside = nn.Linear(5, 3), nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(x)


def test_a_parameter_that_no_record_depends_on_gets_no_gradient_but_noise():
    model, given = seeded(Idle), materials(table())
    still = moved(copy.deepcopy(model), SMALL, given, [1, 2], Mechanism(0.3, 0.0, 1.0))
    noisy = moved(copy.deepcopy(model), SMALL, given, [1, 2], Mechanism(0.3, 1.0, 1.0))
    assert [bool(part.any()) for part in still] == [True, True, False, False]
    assert all(bool(part.all()) for part in noisy)


@pytest.mark.parametrize("architecture", [MLP(widths=(8,)), CNN(widths=(4,))])
@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_results_do_not_depend_on_the_size_of_a_pass(architecture, noise):
    given = materials(pictures())
    recipe = SMALL.replace(architecture=architecture, learning_rate=0.1, augmentation="flip")
    states = []
    for size in (1, 3, 1000):
        made = train(recipe.replace(procedure=DPSGD(noise=noise, micro_batch=size)), given, STREAMS)
        states.append(made.model.state_dict())
    for other in states[1:]:
        for name, value in states[0].items():
            assert torch.allclose(value, other[name], atol=2e-5), name


def test_a_pass_of_a_network_that_is_too_large_has_one_record(monkeypatch):
    monkeypatch.setattr(dpsgd_run, "PER_RECORD_FLOATS", 10)
    given = materials(pictures())
    cnn = network(SMALL.replace(architecture=CNN(widths=(8,))), given, STREAMS)
    assert Attached(cnn, SMALL, given, Mechanism(0.2, 0.0, 1.0)).run.largest == 1


def test_the_largest_pass_follows_from_what_is_written_down():
    given = materials(pictures())
    mlp, cnn = network(SMALL, given, STREAMS), network(SMALL.replace(architecture=CNN(widths=(8,))), given, STREAMS)
    for model, expected in ((mlp, 256), (cnn, 256)):
        assert Attached(model, SMALL, given, Mechanism(0.2, 0.0, 1.0)).run.largest == expected
    assert Attached(copy.deepcopy(mlp), SMALL, given, Mechanism(0.2, 0.0, 1.0, 7)).run.largest == 7
    big = seeded(lambda: nn.Sequential(nn.Conv2d(3, 4096, 8), nn.Flatten(), nn.Linear(4096, 3)))
    assert Attached(big, SMALL, given, Mechanism(0.2, 0.0, 1.0)).run.largest == 2**27 // (4096 * (3 * 64 + 1))


# Sampling.


def test_the_sampling_rate_and_the_steps_of_an_epoch():
    assert sample_rate(1000, 64) == 0.064
    assert steps_an_epoch(0.064) == 16
    assert sample_rate(10, 64) == 1.0
    assert steps_an_epoch(1.0) == 1
    assert steps_an_epoch(sample_rate(898, 64)) == 14


def test_batches_are_poisson_samples():
    given = materials(table(210), 200)
    attached = Attached(network(SMALL, given, STREAMS), SMALL, given, Mechanism(0.1, 0.0, 1.0))
    attached.run.steps = 2000
    rows, sizes, _ = attached.run.sample(0)
    assert len(rows) == sum(sizes)
    mean, variance = 200 * 0.1, 200 * 0.1 * 0.9
    assert np.mean(sizes) == pytest.approx(mean, abs=4 * math.sqrt(variance / 2000))
    assert np.var(sizes) == pytest.approx(variance, rel=4 * math.sqrt(2 / 2000))
    visits = np.bincount(rows.numpy(), minlength=200)
    assert abs(visits - 200).max() < 5 * math.sqrt(2000 * 0.1 * 0.9)
    steps = torch.split(rows, sizes)
    assert all(len(torch.unique(step)) == len(step) for step in steps)
    together = sum(bool((step == 3).any() and (step == 4).any()) for step in steps)
    assert together == pytest.approx(20, abs=4 * math.sqrt(20))


def test_the_division_is_by_the_expected_size_and_not_by_the_drawn_one():
    given = materials(table())
    recipe, mechanism = SMALL, Mechanism(0.5, 0.0, 1.0)
    model = network(recipe, given, STREAMS)
    once = moved(copy.deepcopy(model), recipe, given, [1], mechanism)
    thrice = moved(copy.deepcopy(model), recipe, given, [1, 1, 1], mechanism)
    for one, three in zip(once, thrice, strict=True):
        assert torch.allclose(3 * one, three, atol=1e-6)


def test_an_empty_batch_moves_nothing_without_noise_and_by_noise_with_it():
    given = materials(table())
    model = network(SMALL, given, STREAMS)
    assert all(not bool(m.any()) for m in moved(copy.deepcopy(model), SMALL, given, [], Mechanism(0.2, 0.0, 1.0)))
    assert all(bool(m.all()) for m in moved(copy.deepcopy(model), SMALL, given, [], Mechanism(0.2, 1.0, 1.0)))
    attached = Attached(model, SMALL, given, Mechanism(0.2, 1.0, 1.0))
    assert attached.step([]) == 0.0
    assert attached.run.step == 1


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_training_goes_through_empty_batches_and_single_records(precision):
    given = materials(table(), 12)
    recipe = SMALL.replace(batch_size=1, epochs=3, precision=precision, procedure=DPSGD(noise=1.0))
    made = train(recipe, given, STREAMS)
    assert made.facts.accountant.steps == 36
    assert all(math.isfinite(loss) for loss in made.history.loss)
    alone = train(recipe.replace(batch_size=4), materials(table(), 1), STREAMS)
    assert alone.facts.accountant.sample_rate == 1.0


# Noise.


def test_the_noise_has_the_standard_deviation_that_the_accountant_counts():
    given = materials(pictures(), 50)
    model = seeded(lambda: nn.Sequential(nn.Flatten(), nn.Linear(192, 400), nn.ReLU(), nn.Linear(400, 3)))
    used = moved(model, SMALL, given, [], Mechanism(0.2, 3.0, 0.5))
    drawn = torch.cat([part.flatten() for part in used])
    expected = 3.0 * 0.5 / (0.2 * 50)
    assert float(drawn.std()) == pytest.approx(expected, rel=4 / math.sqrt(2 * len(drawn)))
    assert float(drawn.mean()) == pytest.approx(0, abs=4 * expected / math.sqrt(len(drawn)))


def test_noise_is_fresh_at_each_step_and_comes_from_a_stream_of_its_own():
    given = materials(table())
    model = network(SMALL, given, STREAMS)
    attached = Attached(model, SMALL, given, Mechanism(0.2, 1.0, 1.0))
    states = [model[0].weight.detach().clone()]
    for _ in range(2):
        attached.step([])
        states.append(model[0].weight.detach().clone())
    first, second = states[1] - states[0], states[2] - states[1]
    assert abs(float((first * second).mean())) < 5 * float(first.std() * second.std()) / math.sqrt(first.numel())
    expected = torch.randn(model[0].weight.shape, generator=STREAMS.generator("noise"))
    assert torch.allclose(-first, expected / (0.2 * 50), atol=1e-6)


def test_without_noise_nothing_is_drawn_from_its_stream():
    given = materials(table())
    attached = Attached(network(SMALL, given, STREAMS), SMALL, given, Mechanism(0.2, 0.0, 1.0))
    before = attached.run.gaussian.get_state()
    attached.step([1, 2])
    assert torch.equal(attached.run.gaussian.get_state(), before)


def test_more_noise_moves_no_batch():
    given = materials(table())
    rows = []
    for noise in (0.0, 5.0):
        attached = Attached(network(SMALL, given, STREAMS), SMALL, given, Mechanism(0.2, noise, 1.0))
        attached.step([1])
        rows.append(attached.run.sample(0)[0])
    assert torch.equal(*rows)


def test_huge_noise_leaves_nothing_to_learn():
    records = table(300)
    given = materials(records, 150)
    recipe = SMALL.replace(epochs=10, learning_rate=0.1, momentum=0.9)

    def accuracy(procedure):
        model = train(recipe.replace(procedure=procedure), given, STREAMS).model
        with torch.no_grad():
            return float((model(torch.from_numpy(records.x)).argmax(1).numpy() == records.y).mean())

    assert accuracy(DPSGD(noise=0.0)) > 0.8
    drowned = [accuracy(DPSGD(noise=1e4)), accuracy(DPSGD(noise=1e5))]
    assert max(drowned) < 0.75


# Frozen parameters.


@pytest.mark.parametrize("frozen", ["0.weight", "2.bias"])
def test_frozen_parameters_keep_their_bits_and_eat_no_norm(frozen):
    given = materials(table())
    model = network(SMALL, given, STREAMS)
    model.get_parameter(frozen).requires_grad_(False)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    recipe = SMALL.replace(optimizer="adamw", weight_decay=0.1, learning_rate=0.01)
    attached = Attached(model, recipe, given, Mechanism(0.2, 1.0, 1.0))
    for _ in range(5):
        attached.step([1, 2, 3])
    assert torch.equal(model.get_parameter(frozen), before[frozen])
    assert all(not torch.equal(p, before[name]) for name, p in model.named_parameters() if name != frozen)
    free = network(SMALL, given, STREAMS)
    free.get_parameter(frozen).requires_grad_(False)
    plain = Attached(free, SMALL, given, Mechanism(0.2, 0.0, 1e-3))
    plain.step([1])
    change = math.sqrt(sum(float((p.detach() - before[n]).square().sum()) for n, p in free.named_parameters()))
    assert change == pytest.approx(1e-3 / (0.2 * 50), rel=1e-2)


def test_frozen_convolutions_get_no_noise():
    given = materials(pictures())
    model = network(SMALL.replace(architecture=CNN(widths=(4, 4))), given, STREAMS)
    model[0].weight.requires_grad_(False)
    used = moved(model, SMALL, given, [1, 2], Mechanism(0.2, 1.0, 1.0))
    assert [bool(part.any()) for part in used] == [False] + [True] * (len(used) - 1)


# BatchNorm and other layers.


@pytest.mark.parametrize(("channels", "expected"), [(32, 8), (64, 16), (128, 32), (256, 32), (4, 1), (7, 1), (6, 1)])
def test_groups_have_four_channels_at_least(channels, expected):
    assert layers.groups(channels) == expected


def test_batchnorm_becomes_groupnorm_with_its_weights_and_other_layers_begin_as_they_would():
    given = materials(pictures())
    recipe = SMALL.replace(architecture=CNN(widths=(8, 16)))
    plain, private = fresh(recipe, given, STREAMS), network(recipe, given, STREAMS)
    assert [type(m).__name__ for m in private if isinstance(m, nn.GroupNorm)] == ["GroupNorm"] * 2
    assert not any(isinstance(m, nn.modules.batchnorm._BatchNorm) for m in private.modules())
    assert not list(private.buffers())
    for name, value in private.state_dict().items():
        assert torch.equal(value, plain.state_dict()[name]), name


def test_a_batchnorm_alone_is_replaced_too_and_keeps_its_affine_part():
    alone = nn.BatchNorm1d(8, affine=False)
    made, names = layers.without_batchnorm(alone)
    assert isinstance(made, nn.GroupNorm)
    assert made.weight is None
    assert names == ["BatchNorm1d"]
    scaled = nn.Sequential(nn.BatchNorm1d(8))
    with torch.no_grad():
        scaled[0].weight.fill_(3)
    scaled[0].bias.requires_grad_(False)
    made, names = layers.without_batchnorm(scaled)
    assert names == ["0"]
    assert made[0].weight.tolist() == [3] * 8
    assert not made[0].bias.requires_grad


def test_features_survive_the_groupnorm_that_stands_for_a_batchnorm_over_features():
    made, _ = layers.without_batchnorm(nn.Sequential(nn.BatchNorm1d(16)))
    x = torch.randn(4, 16, generator=torch.Generator().manual_seed(0))
    assert float(made(x).detach().std()) > 0.5


def test_a_notice_says_where_batchnorm_was_and_weights_come_back_from_the_store(tmp_path):
    data = pictures()
    recipe = SMALL.replace(architecture=CNN(widths=(4, 4)), procedure=DPSGD(noise=1.0), learning_rate=0.1)
    roles, membership = Roles.split(data, 0), Membership.draw(4, 60, 0)
    store = Store(tmp_path / "store").open()
    plain = Population(recipe, data, roles, membership, 0)
    made = train_population(plain, store)
    assert all(one.facts.accountant.source == "prv" for one in made)
    for one in made:
        assert len(one.facts.notices) == 1
        assert "GroupNorm in place of BatchNorm (1, 5)" in one.facts.notices[0]
    first, _ = stored_signals.signals(plain, store, made)
    more = Population(recipe, data, roles, membership, 0, Queries(mirror=True))
    again = train_population(more, store)
    assert not any(one.fresh for one in again)
    second, _ = stored_signals.signals(more, store, again)
    assert np.array_equal(first.margins[:, :][..., 0], second.margins[:, :][..., 0])


def test_a_killed_training_gives_the_same_bits_when_it_is_made_again(tmp_path, monkeypatch):
    data = table()
    recipe = SMALL.replace(procedure=DPSGD(noise=1.0), learning_rate=0.1)
    population = Population(recipe, data, Roles.split(data, 0), Membership.draw(4, 60, 0), 0)
    whole = Store(tmp_path / "whole").open()
    Maker(population, whole, "cpu").make(1)
    killed = Store(tmp_path / "killed").open()
    step, count = PrivateRun.take, iter(range(1000))

    def dying(self, x, y, batch):
        if next(count) == 3:
            raise KeyboardInterrupt
        return step(self, x, y, batch)

    monkeypatch.setattr(PrivateRun, "take", dying)
    with pytest.raises(KeyboardInterrupt):
        Maker(population, killed, "cpu").make(1)
    assert killed.find(population.training_id(1)) is None
    monkeypatch.undo()
    made = Maker(population, killed, "cpu").make(1)
    one, other = whole.find(made.training), killed.find(made.training)
    assert one.arrays("weights.safetensors").keys() == other.arrays("weights.safetensors").keys()
    for name, value in one.arrays("weights.safetensors").items():
        assert value.tobytes() == other.arrays("weights.safetensors")[name].tobytes()


def test_the_same_streams_give_the_same_bits_and_others_do_not():
    given = materials(table())
    recipe = SMALL.replace(procedure=DPSGD(noise=1.0))
    one, two, three = (train(recipe, given, s).model.state_dict() for s in (STREAMS, STREAMS, Streams(0, 1)))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not any(torch.equal(one[name], three[name]) for name in one)


def test_the_trained_network_bears_no_trace_of_the_hooks():
    given = materials(pictures())
    made = train(SMALL.replace(architecture=CNN(widths=(4,))), given, STREAMS)
    for module in made.model.modules():
        assert not module._forward_hooks
        assert not module._backward_hooks
        assert not hasattr(module, "activations")
    assert not any(hasattr(p, "grad_sample") or p.grad is not None for p in made.model.parameters())
    assert all(p.requires_grad for p in made.model.parameters())
    copy.deepcopy(made.model)


class Normed(nn.Module):
    def __init__(self, coupled=False, counts=False, functional=False, folded=False):
        super().__init__()
        self.inner, self.out = nn.Linear(5, 5), nn.Linear(5, 3)
        self.coupled, self.functional, self.folded = coupled, functional, folded
        if counts:
            self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        if hasattr(self, "seen") and self.training:
            self.seen += x.mean()
        if self.coupled:
            x = x - x.mean(dim=0)
        if self.functional:
            x = nn.functional.linear(x, self.inner.weight)
        if self.folded:
            return self.out(self.inner(torch.cat([x, x])))[: len(x)]
        return self.out(self.inner(x))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"coupled": True}, "answers a record otherwise when another record is in the batch"),
        ({"counts": True}, "seen: training moves these buffers"),
        ({"functional": True}, "inner.weight: its per-record gradients do not add up"),
        ({"folded": True}, r"expected one gradient a record, got 8 for 4 records"),
    ],
)
def test_models_whose_gradients_belong_to_no_record_are_refused(options, words):
    model = seeded(lambda: Normed(**options))
    with pytest.raises(ModelError, match=words):
        moved(model, SMALL, materials(table()), [1, 2, 3, 4], Mechanism(0.2, 1.0, 1.0))


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (lambda: nn.LSTM(5, 4), r"0 \(LSTM\)"),
        (lambda: nn.GRU(5, 4), r"0 \(GRU\)"),
        (lambda: nn.MultiheadAttention(4, 2), r"0 \(MultiheadAttention\)"),
        (lambda: nn.InstanceNorm2d(3, track_running_stats=True, affine=True), r"0 \(InstanceNorm2d\)"),
    ],
)
def test_layers_without_per_record_gradients_are_named(module, words):
    with pytest.raises(ModelError, match=words + ".*use opacus.layers.DPLSTM"):
        layers.check(nn.Sequential(seeded(module)))


def test_statistics_without_parameters_are_named_too():
    with pytest.raises(ModelError, match=r"0 \(InstanceNorm2d\)"):
        layers.check(nn.Sequential(nn.InstanceNorm2d(3, track_running_stats=True)))


@pytest.mark.parametrize("strides", [(64, 64, 8, 1), (64, 1, 8, 1)])
def test_convolutions_have_the_gradients_of_each_record_however_pictures_lie_in_memory(strides):
    # A picture of one channel may count as one with its channels last, and what a convolution makes of it is then so.
    model = seeded(lambda: nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 6, 3, padding=1)))
    x = torch.randn(5, 64, generator=torch.Generator().manual_seed(0)).as_strided((5, 1, 8, 8), strides)
    with gradients.per_record(model) as hooks:
        model(x).square().sum().backward()
        parts = hooks.parts(list(model.parameters()), 5)
    alone = [torch.autograd.grad(model(one[None]).square().sum(), list(model.parameters())) for one in x.contiguous()]
    for i, part in enumerate(parts):
        for record in range(5):
            weights = torch.zeros(5).index_fill(0, torch.tensor([record]), 1.0)
            torch.testing.assert_close(part.weighted(weights), alone[record][i], rtol=1e-4, atol=1e-4)


def test_a_model_without_anything_to_train_is_refused():
    with pytest.raises(ModelError, match="no parameter to train"):
        layers.check(seeded(lambda: nn.Linear(2, 2)).requires_grad_(False))


def test_an_objective_that_takes_steps_of_its_own_is_stopped():
    given = materials(table())
    attached = Attached(network(SMALL, given, STREAMS), SMALL, given, Mechanism(0.2, 1.0, 1.0))
    with pytest.raises(ModelError, match="takes steps of its own, which are neither clipped nor noisy"):
        attached.run.objective.context.update(torch.zeros(()))


# What is refused before anything is trained, and what is missing.


@pytest.mark.parametrize("name", [name for name, entry in OBJECTIVES.items() if not entry.per_record])
def test_losses_that_couple_records_are_refused_with_the_reason_and_what_to_use(name):
    recipe = Recipe(objective=OBJECTIVES[name].spec(), procedure=DPSGD())
    with pytest.raises(SpecError, match=f"{name} cannot be trained with dpsgd: its loss couples.*use one of") as caught:
        check(recipe, 100)
    assert "label-smoothing" in str(caught.value)


@pytest.mark.parametrize("name", [name for name, entry in OBJECTIVES.items() if entry.per_record])
def test_losses_of_single_records_are_taken(name):
    check(Recipe(objective=OBJECTIVES[name].spec(), procedure=DPSGD()), 100)


def test_clipping_of_the_batch_is_refused():
    with pytest.raises(SpecError, match=r"clip_norm cannot be used with dpsgd.*set max_norm of dpsgd.*got clip_norm 2"):
        check(Recipe(procedure=DPSGD(), clip_norm=2.0), 0)


def test_epsilon_and_noise_are_not_both_taken():
    with pytest.raises(SpecError, match=r"epsilon \(the noise follows\) or noise \(epsilon follows\), not both"):
        DPSGD(epsilon=8.0, noise=1.0)


def test_the_epsilon_that_is_aimed_for_anyway_makes_no_other_identity():
    assert DPSGD().implied() == {"epsilon": 8.0}
    assert identity(Recipe(procedure=DPSGD(epsilon=8.0))) == identity(Recipe(procedure=DPSGD()))
    others = [DPSGD(), DPSGD(epsilon=2.0), DPSGD(noise=1.0), DPSGD(noise=8.0)]
    assert len({identity(other) for other in others}) == 4


def test_without_opacus_the_install_line_is_shown(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "opacus"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opacus", None)
    words = r"DP-SGD needs opacus, which is not installed: pip install 'opacus>=1\.6'"
    with pytest.raises(MissingExtraError, match=words):
        check(Recipe(procedure=DPSGD()), 0)
    with pytest.raises(MissingExtraError, match=words):
        opacus_import.module("accountants")


def test_importing_opacus_gives_the_root_logger_no_handler():
    before = list(logging.root.handlers)
    opacus_import.module("grad_sample")
    assert logging.root.handlers == before


def test_another_loss_is_trained_by_its_own_gradients():
    given = materials(table())
    recipe = SMALL.replace(objective=LabelSmoothing(smoothing=0.5))
    model = network(recipe, given, STREAMS)
    mechanism = Mechanism(0.2, 0.0, 1.0)
    used = moved(copy.deepcopy(model), recipe, given, [1, 2, 3], mechanism)
    for one, other in zip(used, one_by_one(model, recipe, given, [1, 2, 3], mechanism), strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_the_entry_says_what_it_is():
    entry = PROCEDURES["dpsgd"]
    assert entry.network is network
    assert entry.needs == ()
    assert partial(entry.check, Recipe(procedure=DPSGD()))() is None
