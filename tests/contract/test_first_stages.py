"""A first stage that stands on its own is a run of its own: found, or made once, with the bits of training at once."""

from dataclasses import replace

import procedure_cases as cases
import pytest
import torch

from reticent.objectives import OBJECTIVES
from reticent.population.in_store import using
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES
from reticent.store import Store
from reticent.training.recipe import Plain

TWICE = [name for name, entry in PROCEDURES.items() if entry.repair is not None]


def parts(store, made):
    run = store.find(made.training)
    facts = {k: v for k, v in run.facts.items() if k not in {"seconds", "peak_memory_bytes", "finished", "stages"}}
    return {name: run.file(name).read_bytes() for name in run.files}, facts


@pytest.mark.parametrize("name", TWICE)
def test_the_first_stage_is_the_undefended_run_and_is_trained_once(name, tmp_path):
    store = Store(tmp_path / "store").open()
    maker = cases.maker(name, store)
    recipe = maker.population.recipe
    first = PROCEDURES[name].first(recipe)
    assert first == recipe.replace(procedure=Plain(), objective=OBJECTIVES["cross-entropy"].spec())
    plain = Maker(replace(maker.population, recipe=first), store, "cpu")
    before = plain.make(0)
    with cases.Steps() as all_steps:
        direct = PROCEDURES[name].train(recipe, maker.materials(0), maker.population.streams(0))
    with cases.Steps() as steps:
        made = maker.make(0)
    epochs = recipe.epochs * -(-len(maker.materials(0).members) // recipe.batch_size)
    assert steps.count <= all_steps.count - epochs
    run = store.find(made.training)
    weights = run.arrays("weights.safetensors")
    assert all(torch.equal(torch.from_numpy(weights[k]), v) for k, v in direct.model.state_dict().items())
    assert run.facts["seconds"] > store.find(before.training).facts["seconds"]
    assert [stage["name"] for stage in run.facts["stages"]] == [s.name for s in direct.facts.stages]
    alone = Store(tmp_path / "alone").open()
    again = cases.maker(name, alone).make(0)
    assert parts(store, made) == parts(alone, again)
    assert alone.find(before.training) is not None


@pytest.mark.parametrize("name", TWICE)
def test_a_first_stage_that_another_process_makes_is_not_waited_for(name, tmp_path, monkeypatch):
    store = Store(tmp_path / "store").open()
    maker = cases.maker(name, store)
    first = replace(maker.population, recipe=PROCEDURES[name].first(maker.population.recipe))
    monkeypatch.setattr(Store, "lingers", 0.0)
    with store.claim(first.training_id(0)) as draft:
        made = maker.make(0)
        draft.facts = {}
    alone = Store(tmp_path / "alone").open()
    assert parts(store, made) == parts(alone, cases.maker(name, alone).make(0))


@pytest.mark.parametrize("name", TWICE)
def test_memory_that_cannot_be_measured_is_not_known(name, tmp_path, monkeypatch):
    monkeypatch.setattr("reticent.resident._RESET", tmp_path / "no-such-folder" / "clear_refs")
    store = Store(tmp_path / "store").open()
    made = cases.maker(name, store).make(0)
    assert store.find(made.training).facts["peak_memory_bytes"] is None


@pytest.mark.parametrize("name", TWICE)
def test_a_use_holds_the_first_stages_too(name, tmp_path):
    population = cases.maker(name, Store(tmp_path / "s").open()).population
    first = replace(population, recipe=PROCEDURES[name].first(population.recipe))
    with using(tmp_path / "s", population) as store:
        assert {first.training_id(0), population.training_id(1)} <= set(store.users())
