"""Which populations are stacked, and what their runs are: found, resumed, shared and recovered like any others."""

import importlib
from contextlib import contextmanager, suppress
from dataclasses import replace
from weakref import WeakSet

import numpy as np
import pytest
import torch

from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.errors import ModelError, StoreLockedError, TrainingDivergedError
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.models.user import Factory
from reticent.objectives.past import Past
from reticent.population.executors.base import stacks
from reticent.population.population import Population
from reticent.population.stack_timing import measured
from reticent.population.stacking import LARGEST, chosen, stackable
from reticent.population.train import train
from reticent.population.worker import Maker
from reticent.procedures.cwrf import CWRF
from reticent.procedures.dpsgd import DPSGD
from reticent.store import Store
from reticent.training.recipe import Recipe
from reticent.training.run import batch_sizes
from reticent.training.stack import Stack

TINY = Recipe(architecture=MLP(widths=(8,)), epochs=2, batch_size=16)


def records(n=64, kind="table"):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (n, 8, 8, 3), dtype=np.uint8) if kind == "image" else rng.normal(size=(n, 5))
    return Records.make(x if kind == "image" else x.astype(np.float32), np.arange(n) % 3)


def population(recipe=TINY, models=4, kind="table", **more):
    data = records(kind=kind)
    roles = Roles.split(data, 0, reference=more.pop("reference", 0))
    return Population(recipe, data, roles, Membership.draw(models, len(roles.audited), 0), 0, **more)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr("reticent.store.folder.LOOK_PATIENCE", 0.0)
    return Store(tmp_path / "store").open()


@contextmanager
def claimed(store, run):
    """Hold a run, and let it go without making it."""
    with suppress(KeyError), store.claim(run, patience=0):
        yield
        raise KeyError


def weights(store, made):
    return [store.whole(one.training).arrays("weights.safetensors") for one in made]


def same(first, second):
    return all(np.array_equal(value, b[key]) for a, b in zip(first, second, strict=True) for key, value in a.items())


def of(factory):
    return TINY.replace(architecture=Factory(factory=f"stackable_networks:{factory}"))


def test_what_can_be_stacked():
    assert stackable(population())
    assert stackable(population(of("normed")))
    assert stackable(population(TINY.replace(procedure=CWRF()), reference=16))  # Its first training is plain.
    for name in ("normed_by_the_batch", "torch_noise", "numpy_noise", "branching", "hooked", "masked", "noting"):
        assert not stackable(population(of(name))), name
    assert not stackable(population(TINY.replace(objective=Past()), reference=16))
    assert not stackable(population(TINY.replace(procedure=DPSGD())))
    assert not stackable(population(TINY.replace(architecture=CNN(widths=(4,))), kind="image"))


def test_models_are_stacked_where_the_user_says_so_and_they_can_be(store):
    made = population()
    assert chosen(made, store, None, "cpu").stack == 1
    assert chosen(made, store, 3, "cpu").stack == 3
    assert chosen(made, store, 1, "cpu").stack == 1
    assert chosen(population(TINY.replace(procedure=DPSGD())), store, 8, "cpu").stack == 1


def test_a_store_that_has_stacked_models_goes_on_with_them(store):
    alone = population()
    Maker(alone, store, "cpu").make(3)
    assert chosen(alone, store, None, "cpu").stack == 1
    Maker(replace(alone, stack=2), store, "cpu").make(1)
    assert chosen(alone, store, None, "cpu").stack == LARGEST


def timed(monkeypatch, **seconds):
    """Let models take so long by how many are trained together; nothing is measured where nothing is given."""

    def measured(*_):
        assert seconds, "measured again"
        return {int(count.removeprefix("by")): value for count, value in seconds.items()}

    monkeypatch.setattr("reticent.population.stack_timing.measured", measured)


def test_auto_takes_what_was_measured_to_be_faster_and_keeps_to_it(store, monkeypatch):
    made = population(models=8)
    timed(monkeypatch)
    assert chosen(population(models=3), store, "auto", "cpu").stack == 1  # Nothing is measured, and nothing kept.
    timed(monkeypatch, by1=2.0, by4=1.0, by8=1.5)
    assert chosen(made, store, "auto", "cpu").stack == 4
    timed(monkeypatch)
    for again in (made, population(models=64), replace(made, seed=5)):
        assert chosen(again, store, "auto", "cpu").stack == 4
    Maker(made, store, "cpu").make(0)
    assert chosen(made, store, "auto", "cpu").stack == 4
    timed(monkeypatch, by1=2.0, by4=1.95, by8=1.95)
    assert chosen(population(TINY.replace(epochs=3)), store, "auto", "cpu").stack == 1


def test_auto_goes_on_with_the_models_that_are_there(store, monkeypatch):
    made = population()
    timed(monkeypatch)
    Maker(made, store, "cpu").make(0)
    assert chosen(made, store, "auto", "cpu").stack == 1
    Maker(replace(made, stack=2), store, "cpu").make(1)
    assert chosen(made, store, "auto", "cpu").stack == LARGEST


def test_what_is_measured_is_a_step_of_one_model(store, monkeypatch):
    def epochs(recipe, given, streams):
        steps = sum(len(batch_sizes(len(one.members), recipe.batch_size)) for one in given)

        def epoch(number):
            disturbed = 0.5 if number in {0, 2} else 0.0  # What is loaded at first, and other work on the machine.
            clock["now"] += disturbed + 1e-3 * steps / len(given) ** 0.5

        return epoch

    clock = {"now": 0.0}
    monkeypatch.setattr("time.process_time", lambda: clock["now"])
    monkeypatch.setattr("reticent.population.stack_timing.epochs", epochs)
    assert measured(population(models=5), store, "cpu") == pytest.approx({1: 1e-3, 4: 0.5e-3})
    assert list(measured(population(models=3), store, "cpu")) == [1]


def test_a_clock_that_stands_still_ends_no_measurement_late(store, monkeypatch):
    monkeypatch.setattr("reticent.population.stack_timing.SECONDS", 1e-3)
    monkeypatch.setattr("time.process_time", lambda: 0.0)
    assert measured(population(models=4), store, "cpu") == {1: 1e-6, 4: 1e-6}


def test_where_there_is_no_such_device_auto_says_what_to_give(store, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match="stack: auto measures on this machine; give a number: device 'cuda'"):
        chosen(population(), store, "auto", "cuda")


def test_models_of_both_ways_have_names_of_their_own_and_stacks_of_any_size_the_same():
    alone = population()
    assert replace(alone, stack=2).training_spec(0).stacked
    assert not alone.training_spec(0).stacked
    assert alone.training_id(0) != replace(alone, stack=2).training_id(0) == replace(alone, stack=16).training_id(0)


def test_models_are_dealt_out_so_that_every_process_is_busy():
    sizes = lambda models, stack, workers: [  # noqa: E731
        len(part) for part in stacks(population(stack=stack), range(models), workers)
    ]
    assert sizes(5, 1, 2) == [1] * 5
    assert sizes(16, 16, 1) == [16]
    assert sizes(16, 16, 2) == [8, 8]
    assert sizes(20, 16, 1) == [10, 10]
    assert sizes(3, 16, 8) == [1, 1, 1]
    assert sizes(0, 16, 2) == []


def test_a_resumed_population_has_the_bits_of_one_that_was_never_interrupted(store, tmp_path):
    made = population(models=5, stack=5)
    whole = train(made, store)
    assert all(one.fresh for one in whole)
    other = Store(tmp_path / "other").open()
    list(Maker(made, other, "cpu").make_all([1, 4]))
    Maker(made, other, "cpu").make(2)
    resumed = train(made, other)
    assert [one.fresh for one in resumed] == [True, False, False, True, False]
    assert same(weights(store, whole), weights(other, resumed))
    assert [one.signals for one in whole] == [one.signals for one in resumed]
    seen = [[place.whole(one.signals).arrays("signals.safetensors") for one in whole] for place in (store, other)]
    assert same(*seen)


def test_models_that_another_process_makes_are_left_to_it(store):
    made = population(stack=4)
    with claimed(store, made.training_id(2)):
        found = list(Maker(made, store, "cpu").make_all(range(4)))
    assert [one.model for one in found if not isinstance(one, tuple)] == [0, 1, 3]
    [(model, error)] = [one for one in found if isinstance(one, tuple)]
    assert model == 2
    assert isinstance(error, StoreLockedError)
    assert str(error).startswith("model 2: run ")
    assert all(one.fresh for one in [train(made, store)[2]])


def test_one_that_diverges_leaves_the_others_whole(store):
    made = population(TINY.replace(optimizer="sgd", learning_rate=0.5), stack=4)
    wild = made.roles.audited[made.membership.matrix.sum(axis=0) == 2]
    only = next(row for row in wild if made.membership.matrix[1, row])
    made.records.x[only] = 1e30
    members = {m for m in range(4) if only in made.members(m)}
    failed = dict(Maker(made, store, "cpu")._train_together(range(4)))
    assert set(failed) == members
    for model, error in failed.items():
        assert isinstance(error, TrainingDivergedError)
        assert str(error).startswith(f"model {model}: the training loss became")
        assert not store.ended(made.training_id(model))
    assert all(store.find(made.training_id(m)) for m in set(range(4)) - members)


def test_what_a_network_raises_is_told_of_each_model_that_was_trained_with_it(store, monkeypatch):
    made = population(of("raising"), stack=4)
    maker = Maker(made, store, "cpu")
    monkeypatch.setattr(importlib.import_module("stackable_networks").Raising, "left", 3)
    found = list(maker.make_all(range(4)))
    assert [model for model, _ in found] == [0, 1, 2, 3]
    assert all(str(error).startswith(f"model {m}: RuntimeError: no more (in forward") for m, error in found)
    assert len(train(made, store)) == 4


def no_device_memory():
    raise torch.OutOfMemoryError("CUDA out of memory (a fake one)")


@pytest.mark.parametrize("fill", [no_device_memory, lambda: torch.empty(2**50), lambda: np.empty(2**50)])
def test_a_stack_that_there_is_no_memory_for_is_let_go_and_halved(store, tmp_path, monkeypatch, fill):
    made, tried, runs, epoch = population(models=5, stack=5), [], WeakSet(), Stack.epoch

    def filling(stack, plans):
        runs.update(stack._runs)
        tried.append((len(plans), len(runs)))
        if len(plans) > 2:
            fill()
        return epoch(stack, plans)

    usual = train(made, store)
    other = Store(tmp_path / "other").open()
    monkeypatch.setattr(Stack, "epoch", filling)
    halved = train(made, other)
    assert [models for models, _ in tried] == [5, 2, 2, 3, 1, 1, 2, 2]
    assert [alive for _, alive in tried[1:5]] == [2, 2, 3, 1]
    assert same(weights(store, usual), weights(other, halved))


def test_first_trainings_are_stacked_and_shared_with_the_undefended_models(store):
    defended = population(TINY.replace(procedure=CWRF(tuning_epochs=1)), reference=16, stack=4)
    plain = replace(defended, recipe=TINY)
    assert [defended.previous.training_id(m) for m in range(4)] == [plain.training_id(m) for m in range(4)]
    train(defended, store)
    assert all(store.find(plain.training_id(m)) for m in range(4))


def test_a_first_training_that_another_process_makes_is_waited_for_so_that_no_model_gets_other_bits(store):
    defended = population(TINY.replace(procedure=CWRF(tuning_epochs=1)), reference=16, stack=4)
    with claimed(store, defended.previous.training_id(0)), pytest.raises(StoreLockedError, match="model 0"):
        Maker(defended, store, "cpu").make(0)
