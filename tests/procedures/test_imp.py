"""Iterative magnitude pruning: exact densities, rewound bits, and rounds that are runs of the store."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from random_records import images, materials, noise

import reticent
from reticent.data.membership import Membership
from reticent.data.roles import Roles
from reticent.errors import ModelError, SpecError
from reticent.jobs.plan import _earlier
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES, entry, imp, plain
from reticent.procedures.base import fresh, objective, snapshot
from reticent.procedures.imp import Imp, repair, train
from reticent.procedures.recipe_checks import check
from reticent.store import Store
from reticent.training.loop import fit
from reticent.training.recipe import Plain, Recipe
from reticent.training.run import Run, planned
from reticent.training.streams import Streams

SMALL = Recipe(
    architecture=MLP(widths=(12,)),
    procedure=Imp(rounds=3),
    epochs=4,
    batch_size=8,
    learning_rate=0.01,
    schedule="cosine",
)
PICTURES = SMALL.replace(architecture=CNN(widths=(6,)), augmentation="flip-crop", padding=2)
STREAMS = Streams(5, 1)
WEIGHTS = 72 + 36


def using(recipe=SMALL, **options):
    return recipe.replace(procedure=Imp(**{"rounds": 3} | options))


def masks(made):
    return {n.removeprefix("mask/"): value for n, value in made.artefacts.items() if n.startswith("mask/")}


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


@pytest.fixture
def trainings(monkeypatch):
    """Where every training begins and ends, and the learning rates of its steps."""
    seen, whole = [], plain.train

    class Noted(Run):
        def update(self, loss):
            super().update(loss)
            seen[-1]["rates"].append(self.optimizer.rate)
            seen[-1]["states"].append(snapshot(self.model))

    def watching(recipe, given, streams):
        seen.append({"start": given.start, "rates": [], "states": []})
        made = whole(recipe, given, streams)
        seen[-1]["end"] = snapshot(made.model)
        return made

    monkeypatch.setattr(imp.plain, "train", watching)
    monkeypatch.setattr(plain, "fit", lambda *given: fit(*given, make=Noted))
    return seen


def test_each_round_leaves_so_many_weights_and_sets_the_others_back(trainings):
    made = train(using(), materials(noise()), STREAMS)
    dense, *rounds = trainings
    before, ended = None, dense["end"]
    for number, one in enumerate(rounds, start=1):
        kept = {name: one["start"].trainable[name] for name in ("0.weight", "2.weight")}
        assert sum(int(mask.sum()) for mask in kept.values()) == round(WEIGHTS * 0.8**number)
        largest = torch.cat([ended[name].abs().view(-1) for name in kept]).sort(descending=True).values
        stay = torch.cat([ended[name].abs()[mask] for name, mask in kept.items()])
        assert torch.equal(stay.sort(descending=True).values, largest[: len(stay)]), "of the whole network"
        for name, value in one["start"].state.items():
            mask = kept.get(name, torch.ones(value.shape, dtype=torch.bool))
            assert torch.equal(value[mask], made.initial[name][mask]), "bit for bit"
            assert not value[~mask].any()
            assert before is None or name not in kept or not (mask & ~before[name]).any(), "nested"
        before, ended = kept, one["end"]
        assert one["rates"] == dense["rates"]
    assert same(masks(made), before)
    assert (made.facts.sparsity.rounds, made.facts.sparsity.weights) == (3, WEIGHTS)
    assert made.facts.sparsity.weights_left == round(WEIGHTS * 0.512)
    assert [stage.name for stage in made.facts.stages] == ["training", "round 1", "round 2", "round 3"]
    assert len(made.history.loss) == 16


@pytest.mark.parametrize("rewind", [1.0, 2.5])
def test_weights_go_back_to_what_they_were_after_some_training_and_the_schedule_too(trainings, rewind):
    made = train(using(PICTURES, rewind=rewind, rounds=2), materials(images()), STREAMS)
    dense, early, *rounds = trainings
    steps = round(rewind * 4)
    assert len(dense["rates"]) == 16
    assert same(early["end"], dense["states"][steps - 1]), "the same training, bit for bit, statistics too"
    for one in rounds:
        for name, value in one["start"].state.items():
            mask = one["start"].trainable.get(name, torch.ones(value.shape, dtype=torch.bool))
            assert torch.equal(value[mask], early["end"][name][mask])
        assert one["rates"] == dense["rates"][steps:]
    assert same(
        {n.removeprefix("rewound/"): v for n, v in made.artefacts.items() if n.startswith("rewound")}, early["end"]
    )


def test_the_learning_rate_may_go_back_alone(trainings):
    train(using(values="trained", rewind=1.0), materials(noise()), STREAMS)
    assert len(trainings) == 4
    for before, one in pairwise(trainings):
        name, mask = "0.weight", one["start"].trainable["0.weight"]
        assert torch.equal(one["start"].state[name][mask], before["end"][name][mask])
        assert one["rates"] == trainings[0]["rates"][4:]


@pytest.mark.parametrize("options", [{"optimizer": "sgd", "learning_rate": 0.1}, {}, {"optimizer": "adamw"}])
def test_what_is_pruned_is_exactly_zero_in_the_finished_model(options):
    made = train(using(SMALL.replace(weight_decay=0.05, **options)), materials(noise()), STREAMS)
    state = made.model.state_dict()
    for name, mask in masks(made).items():
        assert not state[name][~mask].any()
        assert (state[name][mask] != 0).all()


def test_epochs_that_are_done_are_left_out_of_the_plan():
    recipe = SMALL.replace(epochs=3)
    assert planned(recipe, 8) == [8, 8, 8]
    assert planned(recipe, 8, 1.5) == [0, 4, 8]
    assert planned(recipe.replace(stop_after=2.25), 8, 2.0) == [0, 0, 2]
    assert planned(recipe, 8, 0.01) == [7, 8, 8]


def test_objectives_see_the_epochs_of_the_schedule(monkeypatch):
    seen = []
    kind = type(objective(SMALL.replace(objective=OBJECTIVES["relaxloss"].spec())))
    whole = kind.start_epoch
    monkeypatch.setattr(kind, "start_epoch", lambda self, epoch: (seen.append(epoch), whole(self, epoch))[1])
    recipe = using(rewind=2.0, rounds=1).replace(objective=OBJECTIVES["relaxloss"].spec())
    train(recipe, materials(noise()), STREAMS)
    assert seen == [0, 1, 2, 3, 0, 1, 2, 3]


def test_a_tuning_that_follows_has_its_own_schedule():
    recipe = using(rewind=1.0, rounds=1).replace(objective=OBJECTIVES["past"].spec(form="released", tuning_epochs=2))
    made = train(recipe, materials(noise()), STREAMS)
    assert len(made.history.loss) == (4 + 2) + (3 + 2)


def population(recipe):
    records = noise(60)
    roles = Roles.split(records, 0, validation=6, reference=6)
    return Population(recipe, records, roles, Membership.draw(4, len(roles.audited), 0), 0)


def bits(store, run):
    found = store.find(run)
    facts = {k: v for k, v in found.facts.items() if k not in {"seconds", "peak_memory_bytes", "finished", "stages"}}
    return {name: found.file(name).read_bytes() for name in found.files}, facts


@pytest.mark.parametrize("options", [{}, {"rewind": 1.0, "criterion": "random"}])
def test_every_round_is_a_run_that_is_made_once_with_the_bits_of_all_at_once(tmp_path, options):
    store = Store(tmp_path / "store").open()
    whole = population(using(**options))
    maker = Maker(whole, store, "cpu")
    made = maker.make(0)
    runs = {path.name for path in (tmp_path / "store" / "runs").iterdir()}
    assert runs == {made.signals, made.training, *(one.training_id(0) for one in whole.stages[1:])}
    assert [one.recipe.procedure for one in whole.stages[1:]] == [
        Imp(rounds=2, **options),
        Imp(rounds=1, **options),
        Plain(),
    ]
    direct = train(whole.recipe, maker.materials(0), whole.streams(0))
    weights = store.find(made.training).arrays("weights.safetensors")
    assert all(np.array_equal(weights[name], value.numpy()) for name, value in snapshot(direct.model).items())
    artefacts = store.find(made.training).arrays("artefacts.safetensors")
    assert all(np.array_equal(artefacts[name], value.numpy()) for name, value in direct.artefacts.items())
    assert store.find(made.training).read(type(direct.facts)).sparsity == direct.facts.sparsity
    assert len((store.find(made.training).file("log.jsonl")).read_text().splitlines()) == len(direct.history.loss)
    stages = [stage["name"] for stage in store.find(made.training).facts["stages"]]
    assert stages == ["training", "round 1", "round 2", "round 3"]
    before = len(runs)
    again = Maker(population(using(rounds=16, at=2, **options)), store, "cpu").make(0)
    assert len(list((tmp_path / "store" / "runs").iterdir())) == before + 1, "only what it answers is new"
    assert not again.fresh


def test_rounds_that_are_found_are_taken_off_a_plan(tmp_path):
    store, whole = Store(tmp_path / "store").open(), population(using())
    assert _earlier(whole, store) == (4 * 3, [])
    Maker(population(using(rounds=2)), store, "cpu").make(0)
    Maker(population(using().replace(procedure=Plain())), store, "cpu").make(1)
    assert _earlier(whole, store) == (0 + 2 + 3 + 3, [2 / 3, 0.0])
    short, stages = imp.short(whole.recipe), {"training": 1.0, "round 1": 2.0}
    assert short.first(stages) == 4
    assert short.first(stages, 2 / 3) == 4 + 2 * (4 * 2.0)
    assert short.whole(3.0, stages) == 4 + 3 * (4 * 2.0)


def test_a_round_is_one_run_whatever_rounds_were_meant_to_follow():
    runs = [population(SMALL.replace(procedure=p)).training_id(0) for p in (Imp(rounds=16, at=8), Imp(rounds=8), Imp())]
    assert len(set(runs)) == 1
    assert Imp(rounds=16, at=8).replace(fraction=0.3) == Imp(fraction=0.3)
    assert Imp(rounds=16, at=16) == Imp(rounds=16)
    with pytest.raises(SpecError, match="expected at to be one of the 4 rounds, got 5"):
        Imp(rounds=4, at=5)
    with pytest.raises(SpecError, match="imp: at: expected greater than or equal to 1, got 0"):
        Imp(rounds=4, at=0)


def test_a_training_that_ends_in_any_round_goes_on_to_the_same_bits(tmp_path):
    whole = population(using())
    alone = Store(tmp_path / "alone").open()
    uninterrupted = Maker(whole, alone, "cpu").make(0)

    class Ended(BaseException):
        pass

    for number in range(4):
        store = Store(tmp_path / f"store-{number}").open()
        steps = []

        def counted(self, loss, steps=steps, number=number, update=Run.update):
            steps.append(loss)
            if len(steps) == number * 12 + 7:
                raise Ended
            update(self, loss)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Run, "update", counted)
            with pytest.raises(Ended):
                Maker(whole, store, "cpu").make(0)
        finished = [one for one in whole.stages[1:] if store.find(one.training_id(0))]
        assert len(finished) == number, "the rounds before it are kept"
        again = Maker(whole, store, "cpu").make(0)
        assert bits(store, again.training) == bits(alone, uninterrupted.training)


KILLED = """
import procedure_cases as cases, sys
from pathlib import Path
from reticent.store import Store
cases.OPTIONS["imp"] = {"rounds": 3}
with cases.Steps(int(sys.argv[2]), cases._wait):
    cases.maker("imp", Store(Path(sys.argv[1])).open()).make(0)
"""


@pytest.mark.slow
def test_a_kill_in_any_round_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    place = Path(__file__).parents[1] / "contract"
    monkeypatch.syspath_prepend(place)
    import procedure_cases as cases

    monkeypatch.setitem(cases.OPTIONS, "imp", {"rounds": 3})
    alone = Store(tmp_path / "alone").open()
    with cases.Steps() as steps:
        uninterrupted = cases.maker("imp", alone).make(0)
    for number in range(4):
        folder = tmp_path / f"store-{number}"
        command = [sys.executable, "-c", KILLED, str(folder), str(number * steps.count // 4 + 3)]
        with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "here\n"
            process.kill()
        assert process.returncode == -9
        store = Store(folder).open()
        maker = cases.maker("imp", store)
        assert sum(store.find(one.training_id(0)) is not None for one in maker.population.stages[1:]) == number
        assert bits(store, maker.make(0).training) == bits(alone, uninterrupted.training)


def test_a_model_that_is_trained_already_goes_through_all_rounds():
    given = materials(noise())
    for recipe in (using(), using(rewind=1.0)):
        made = train(recipe, given, STREAMS)
        first = plain.train(recipe.replace(procedure=Plain()), given, STREAMS)
        again = repair(snapshot(first.model), first.initial, recipe, given, STREAMS)
        assert same(snapshot(again.model), snapshot(made.model))
        assert same(again.artefacts, made.artefacts)
        assert again.facts.sparsity == made.facts.sparsity


@pytest.mark.parametrize(
    ("recipe", "error", "words"),
    [
        (using(rewind=4.0), SpecError, "imp: rewind: expected fewer than the 4 epochs of the training, got 4"),
        (using(rewind=2.0).replace(stop_after=1.5), SpecError, r"fewer than the 1\.5 epochs"),
        (
            using(rewind=3.9),
            SpecError,
            r"imp: rewind: expected a batch .*, got 3\.9 of 4 epochs, each of 4: give",
        ),
        (using(rewind=0.1).replace(stop_after=0.2), SpecError, "expected a batch of the training to come after it"),
        (using(skip=("*",)), ModelError, "imp: there is nothing to prune"),
        (using(fraction=0.97, rounds=2), ModelError, r"imp, round 1: pruning to 0\.03 .* of the layer '2'"),
    ],
)
def test_what_cannot_be_pruned_is_refused(recipe, error, words):
    with pytest.raises(error, match=words):
        check(recipe, 0), train(recipe, materials(noise()), STREAMS)


def test_a_repair_needs_the_initial_state_unless_the_trained_values_are_kept():
    for procedure, told in ((Imp(), False), (Imp(rewind=1.0), False), (Imp(values="trained"), True)):
        assert entry(SMALL.replace(procedure=procedure)).goes_on(SMALL.replace(procedure=procedure)) is told
    assert PROCEDURES["prune"].goes_on(SMALL.replace(procedure=PROCEDURES["prune"].spec()))


@pytest.mark.parametrize(("method", "epochs"), [("imp", None), ("prune", 20), ("cwrf", 50), ("pptp", 50)])
def test_the_epochs_of_what_follows_are_those_of_the_procedure(method, epochs):
    recipe = SMALL.replace(epochs=100, procedure=PROCEDURES[method].spec())
    assert entry(recipe).tuning_epochs(recipe) == epochs
    seven = {} if method == "imp" else {"tuning_epochs": 7}
    recipe = recipe.replace(procedure=PROCEDURES[method].spec(**seven))
    assert entry(recipe).tuning_epochs(recipe) == (7 if seven else None)


def test_the_untouched_loop_is_the_same_as_before():
    given = materials(noise())
    recipe = SMALL.replace(procedure=Plain())
    made = plain.train(recipe, given, STREAMS)
    network = fresh(recipe, given, STREAMS)
    steps = Run(network, recipe, given, objective(recipe), STREAMS)
    losses = [steps.epoch(epoch, steps.steps) for epoch in range(4)]
    assert losses == made.history.loss
    assert same(snapshot(network), snapshot(made.model))


@pytest.mark.slow
def test_all_rounds_stand_in_one_comparison_beside_a_loss_that_is_joined(tmp_path):
    found = reticent.compare(
        defenses=["none", "imp:rounds=2,at=1", "imp:rounds=2", "imp:rounds=1+relaxloss", "prune:rounds=1+relaxloss"],
        dataset="digits",
        records=120,
        models=4,
        epochs=2,
        attacks=["loss"],
        replicates=100,
        early_stopped=False,
        workers=1,
        store=str(tmp_path / "store"),
        out=tmp_path / "out",
    )
    rows = {row["name"]: row for row in found.document["rows"]}
    assert len(rows) == 5
    trained = [path for path in (tmp_path / "store" / "runs").iterdir() if (path / "weights.safetensors").exists()]
    assert len(trained) == 4 * (1 + 2 + 2 + 1), "plain, two rounds, relaxloss and its round, prune+relaxloss"
