"""What holds for every sampler of the table: each trains a tiny model, by whatever procedure takes samplers.

A new sampler is taken in by itself, at its defaults.
"""

from dataclasses import replace

import pytest
import torch
from procedure_cases import maker, using
from test_procedures import same, state
from tiny_records import IMAGES, SMALL, blobs, images, materials
from torch import nn

from reticent.errors import SpecError
from reticent.findings.runs import Kind
from reticent.jobs.runs import scan
from reticent.locate.memorisation import estimate
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.population.in_store import using as using_store
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES, entry, plain
from reticent.procedures.base import fresh, undefended
from reticent.procedures.recipe_checks import check
from reticent.samplers import SAMPLERS
from reticent.samplers.base import Memorisation
from reticent.samplers.rmr import Rmr
from reticent.samplers.rsw import Rsw
from reticent.samplers.swmr import Swmr
from reticent.spec import identity
from reticent.store import Store
from reticent.training.loop import accuracy
from reticent.training.run import Run
from reticent.training.streams import Streams

STREAMS = Streams(0, 0)
SCORED = [name for name, line in SAMPLERS.items() if line.scored]
TAKES = [name for name, line in PROCEDURES.items() if line.sampled]
names = pytest.mark.parametrize("name", SCORED)


def known(given, seed=0):
    """Give the members scores, and none the same."""
    drawn = torch.rand(len(given.members), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return replace(given, memorisation=Memorisation(drawn, torch.zeros_like(drawn)))


def few(name, recipe=SMALL, models=3, **options):
    return recipe.replace(sampler=SAMPLERS[name].spec(models=models, outside=1, **options))


@names
def test_the_model_learns_and_the_same_seed_gives_the_same_bits(name):
    given = materials(blobs())
    made, again, other = (plain.train(few(name, SMALL.replace(epochs=13)), given, Streams(0, row)) for row in (0, 0, 1))
    assert same(state(made), state(again))
    assert made.facts.sampler == again.facts.sampler
    assert not same(state(made), state(other))
    assert accuracy(made.model, given, given.validation) > 0.7
    told = made.facts.sampler
    assert told.sub_models == 3
    assert told.score_deviation > 0
    assert told.score_error is None, "one sub-model alone leaves a member out"
    assert [stage.name for stage in made.facts.stages] == ["memorisation"]


@names
@pytest.mark.parametrize("procedure", TAKES)
def test_every_procedure_that_takes_samplers_measures_the_same_scores_once(name, procedure, monkeypatch):
    seen, measured = [], []

    class Watched(Run):
        def __init__(self, *given, **options):
            super().__init__(*given, **options)
            if self.recipe.sampler.method != "shuffle":
                seen.append(self.materials.memorisation.scores)

    monkeypatch.setattr("reticent.locate.memorisation.estimate", lambda *a: measured.append(1) or estimate(*a))
    monkeypatch.setattr("reticent.training.loop.Run", Watched)
    monkeypatch.setattr("reticent.training.loop.fit.__kwdefaults__", {"make": Watched})
    recipe = few(name, using(procedure, SMALL.replace(epochs=2)))
    check(recipe, reference=30)
    made = entry(recipe).train(recipe, materials(blobs()), STREAMS)
    assert len(measured) == 1
    assert seen
    plain.train(few("rsw", SMALL.replace(epochs=2)), materials(blobs()), STREAMS)
    assert all(torch.equal(seen[-1], scores) for scores in seen)
    assert made.facts.sampler is not None
    assert [stage.name for stage in made.facts.stages].count("memorisation") == 1


@names
@pytest.mark.parametrize("procedure", [name for name in PROCEDURES if name not in TAKES])
def test_other_procedures_refuse_it_by_name(name, procedure):
    with pytest.raises(SpecError, match=f"^{name} cannot be used with {procedure}, .*use one of .*plain.*prune"):
        check(few(name, using(procedure)), reference=30)


@names
def test_a_second_stage_refuses_it_by_name(name):
    inner = PROCEDURES["dpsgd"].spec(noise=1.0)
    with pytest.raises(SpecError, match=f"^{name} cannot be used with dpsgd"):
        check(few(name, using("prune", inner=inner)), reference=30)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_any_objective_is_taken(objective):
    recipe = few("swmr", SMALL.replace(epochs=2, objective=OBJECTIVES[objective].spec()))
    check(recipe, reference=30)
    made = plain.train(recipe, known(materials(blobs())), STREAMS)
    assert not same(state(made), made.initial)


@names
def test_images_with_batch_norm_whatever_is_left_for_an_epoch(name):
    options = {} if name == "rmr" else {"width": 20, "stride": 9}
    given = known(materials(images(), 49))
    made = plain.train(few(name, IMAGES.replace(batch_size=8, epochs=6), **options), given, STREAMS)
    assert len(made.history.loss) == (6 if name == "rmr" else 3)


ALL_BELOW = Rmr(threshold=1.0, strength=5.0)
"""One member has the largest score; a part of one joins the others."""
WHOLE = Rsw(width=64, stride=0)


@pytest.mark.parametrize("sampler", [ALL_BELOW, WHOLE, Swmr(width=64, stride=0, threshold=1.0)])
@pytest.mark.parametrize("recipe", [SMALL.replace(architecture=MLP(widths=(16,), dropout=0.25)), IMAGES])
def test_what_chooses_nobody_is_plain_training_to_the_bit(sampler, recipe):
    recipe = recipe.replace(weight_decay=5e-4, schedule="cosine", stop_after=2.5)
    given = materials(images() if recipe.augmentation != "none" else blobs())
    off, usual = (
        plain.train(recipe.replace(sampler=sampler), known(given), STREAMS),
        plain.train(recipe, given, STREAMS),
    )
    assert same(state(off), state(usual))
    assert off.history.loss == usual.history.loss
    assert off.facts.sampler.visited == usual.history.visited == 1.0


def by_hand(recipe, given, optimizers, epochs):
    """The paper's loop, written out: risky batches by one optimizer, then the others by another, in drawn orders."""
    network, order = fresh(recipe, given, STREAMS).train(), STREAMS.generator("order")
    makes = [torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=decay, fused=True) for decay in optimizers]
    scores = given.memorisation.scores
    scaled = (scores - scores.min()) / (scores.max() - scores.min())
    for _ in range(epochs):
        for rows, at in ((torch.nonzero(scaled >= 0.6), 0), (torch.nonzero(scaled < 0.6), -1)):
            rows = rows.flatten()[torch.randperm(len(rows), generator=order)]
            for ids in rows.split(16):
                makes[at].zero_grad()
                nn.functional.cross_entropy(
                    network(given.prepare(given.members.x[ids])), given.members.y[ids]
                ).backward()
                makes[at].step()
    return state(type("Made", (), {"model": network}))


@pytest.mark.parametrize(("strength", "optimizers"), [(0.1, (0.1, 0.01)), (0.01, (0.01,))])
def test_two_strengths_are_two_adams_and_equal_ones_are_one_over_the_joined_order(strength, optimizers):
    recipe, given = SMALL.replace(weight_decay=0.01), known(materials(blobs()))
    made = plain.train(recipe.replace(sampler=Rmr(strength=strength, threshold=0.6)), given, STREAMS)
    assert same(state(made), by_hand(recipe, given, optimizers, recipe.epochs))


def test_no_batch_mixes_the_two_and_risky_ones_come_first(monkeypatch):
    taken = []

    def watched(self, x, y, batch):
        taken.append((batch.epoch, batch.ids.tolist(), self.optimizer.weight_decay))
        return torch.zeros(())

    monkeypatch.setattr(Run, "take", watched)
    given = known(materials(blobs()))
    plain.train(SMALL.replace(sampler=Rmr(threshold=0.5, strength=0.3), epochs=2), given, STREAMS)
    scores = given.memorisation.scores
    border = scores.min() + 0.5 * (scores.max() - scores.min())
    for epoch in (0, 1):
        mine = [(ids, decay) for at, ids, decay in taken if at == epoch]
        decays = [decay for _, decay in mine]
        assert decays == sorted(decays, reverse=True)
        assert {*decays} == {0.3, 0.0}
        assert all((scores[i] >= border) == (decay == 0.3) for ids, decay in mine for i in ids)
        assert sorted(i for ids, _ in mine for i in ids) == list(range(64))


def test_a_window_begins_anew_in_every_round_of_pruning_and_what_it_showed_is_told(monkeypatch):
    taken, whole = [], Run.epoch

    def watched(self, epoch, batches):
        taken.append((self.recipe.sampler.method, epoch, self.groups(epoch)[0].rows.tolist()))
        return whole(self, epoch, batches)

    monkeypatch.setattr(Run, "epoch", watched)
    recipe = using("prune", SMALL, rounds=2, tuning_epochs=3).replace(sampler=Rsw(width=5, stride=4))
    made = entry(recipe).train(recipe, known(materials(blobs())), STREAMS)
    kinds = [kind for kind, _, _ in taken]
    assert kinds == ["shuffle"] * 4 + ["rsw"] * 9
    assert [epoch for _, epoch, _ in taken[4:]] == [0, 1, 2] * 3
    assert taken[4][2] == taken[7][2] == taken[10][2]
    assert all(len(rows) == 15 for _, _, rows in taken[4:])
    assert made.facts.sampler.visited == 3 * (5 + 4 + 4) / 64


def test_a_training_ends_when_the_window_has_passed():
    given = known(materials(blobs()))
    made = plain.train(SMALL.replace(sampler=Rsw(width=6, stride=10), epochs=30), given, STREAMS)
    assert len(made.history.loss) == 3  # The largest class has 22 members.
    assert made.facts.sampler.visited == (6 + 6 + 2 + 6 + 6 + 1 + 6 + 6 + 1) / 64


def test_the_learning_rate_goes_on_by_epochs_however_few_records_one_visits(monkeypatch):
    rates, whole = {}, Run.epoch

    def watched(self, epoch, batches):
        lost = whole(self, epoch, batches)
        rates[epoch] = self.step / self.steps
        return lost

    monkeypatch.setattr(Run, "epoch", watched)
    for sampler in (Rsw(width=6, stride=1), Rmr(threshold=0.5)):
        recipe = SMALL.replace(sampler=sampler, batch_size=10)
        plain.train(recipe, known(materials(blobs())), STREAMS)
        assert rates == {0: 1, 1: 2, 2: 3, 3: 4}


def test_the_undefended_recipe_shuffles():
    recipe = few("swmr", using("prune")).replace(objective=OBJECTIVES["hamp"].spec())
    assert undefended(recipe) == SMALL.replace(objective=CrossEntropy())


def test_scores_are_a_run_of_the_store_that_all_samplers_and_defenses_share(tmp_path):
    store = Store(tmp_path / "store").open()
    base = maker("prune", store).population
    recipes = [few("rsw"), few("rmr", SMALL.replace(objective=OBJECTIVES["hamp"].spec())), few("swmr", using("prune"))]
    for recipe in recipes:
        population = replace(base, recipe=recipe)
        one = Maker(population, store, "cpu")
        made = one.make(0)
        direct = entry(recipe).train(recipe, one.materials(0), population.streams(0))
        weights = store.find(made.training).arrays("weights.safetensors")
        assert all(torch.equal(torch.from_numpy(weights[k]), v) for k, v in state(direct).items())
        assert made.facts.sampler == direct.facts.sampler
        with using_store(tmp_path / "store", population) as used:
            assert identity(population.memorisation_spec(0)) in used.users()
    there = scan(tmp_path / "store")
    found = [run for run in there.runs if run.kind is Kind.MEMORISATION]
    shown = next(group for group in there.groups if found[0].folder in group.runs)
    assert shown.recipe == "memorisation by mlp, 4 epochs, adam 0.01"
    assert shown.data == base.records.name
    assert [(run.model, run.problem) for run in found] == [(0, None)]
    other = replace(base, recipe=few("rsw", models=4))
    assert identity(other.memorisation_spec(0)) != found[0].id
    assert base.memorisation_spec(0) is None
