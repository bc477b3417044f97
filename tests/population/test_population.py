import logging
import os
import shutil
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from reticent.data.membership import Membership
from reticent.data.records import Records
from reticent.data.roles import Roles
from reticent.errors import (
    CorruptRunError,
    FullStoreError,
    InputError,
    ModelError,
    NonFiniteError,
    OutdatedRunError,
    RolesError,
    ShapeError,
    StoreLockedError,
    TrainingDivergedError,
)
from reticent.jobs.base import Work
from reticent.models.mlp import MLP
from reticent.models.user import Factory
from reticent.objectives.imitation import Imitating
from reticent.population import stored_signals
from reticent.population import train as training
from reticent.population.executors import Executor
from reticent.population.population import Imitated, Population
from reticent.population.train import train
from reticent.population.worker import Maker, choose_device
from reticent.procedures.cwrf import CWRF
from reticent.procedures.user import Function
from reticent.signals.matrix import margin
from reticent.signals.queries import Queries
from reticent.store import Store
from reticent.training.recipe import Recipe

TINY = Recipe(architecture=MLP(widths=(8,)), epochs=2, batch_size=16)


def records(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return Records.make(rng.normal(size=(n, 5)).astype(np.float32), np.arange(n) % 3)


def population(recipe=TINY, data=None, models=4, seed=0, **sizes):
    data = data or records()
    roles = Roles.split(data, seed, **sizes)
    return Population(recipe, data, roles, Membership.draw(models, len(roles.audited), seed), seed)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store").open()


def test_the_membership_is_over_the_audited_records():
    data = records()
    with pytest.raises(ShapeError, match="membership has 10 records, the audited role 60"):
        Population(TINY, data, Roles.split(data, 0), Membership.draw(4, 10, 0), 0)


def test_a_model_of_no_records_is_not_trained():
    made = population()
    with pytest.raises(InputError, match="model 1 has no record to train on"):
        replace(made, membership=Membership(made.membership.matrix & (np.arange(4) != 1)[:, None]))


def test_a_class_without_audited_records_is_refused():
    data = records()
    roles = Roles.split(data, 0)
    of_two = Roles(np.flatnonzero(data.y < 2), roles.validation, roles.reference, roles.population)
    with pytest.raises(RolesError, match="hold none of class 2"):
        Population(TINY, data, of_two, Membership.draw(4, len(of_two.audited), 0), 0)


def test_members_are_ids_of_the_data_set():
    made = population(audited=40, population=20)
    members = made.members(1)
    assert np.isin(members, made.roles.audited).all()
    assert len(members) == made.membership.matrix[1].sum()


def test_identities_change_with_everything_that_changes_a_model():
    base = population()
    ids = {base.training_id(0)}
    changed = records()
    changed.x[3, 2] += 1
    others = [
        population(TINY.replace(learning_rate=2e-3)),
        population(data=changed),
        population(seed=1),
        population(TINY.replace(architecture=MLP(widths=(9,)))),
    ]
    ids |= {p.training_id(0) for p in others} | {base.training_id(1)}
    assert len(ids) == 6


def test_identities_stay_when_only_defaults_are_written_out():
    assert population().training_id(0) == population(TINY.replace(weight_decay=0.0, precision="float32")).training_id(0)


def test_questions_do_not_change_the_training_run():
    data = Records.make(np.random.default_rng(0).integers(0, 256, (60, 8, 8), dtype=np.uint8), np.arange(60) % 3)
    roles, membership = Roles.split(data, 0), Membership.draw(4, 60, 0)
    plain = Population(TINY, data, roles, membership, 0)
    more = Population(TINY, data, roles, membership, 0, Queries(mirror=True))
    assert plain.training_id(0) == more.training_id(0)
    assert plain.signals_id(0) != more.signals_id(0)


def test_finished_models_are_found_and_not_trained_again(store):
    made = population()
    first = train(made, store)
    again = train(made, store)
    assert all(one.fresh for one in first)
    assert not any(one.fresh for one in again)
    assert [one.facts for one in first] == [one.facts for one in again]


def test_a_trained_model_is_asked_again_from_its_weights(store):
    data = Records.make(np.random.default_rng(0).integers(0, 256, (60, 8, 8), dtype=np.uint8), np.arange(60) % 3)
    roles, membership = Roles.split(data, 0), Membership.draw(4, 60, 0)
    plain = Population(TINY, data, roles, membership, 0)
    more = Population(TINY, data, roles, membership, 0, Queries(mirror=True))
    first, _ = stored_signals.signals(plain, store, train(plain, store))
    made = train(more, store)
    second, _ = stored_signals.signals(more, store, made)
    assert not any(one.fresh for one in made)
    assert second.queries == 2
    assert np.array_equal(first.margins[:, :][..., 0], second.margins[:, :][..., 0])
    assert not np.array_equal(second.margins[:, :][..., 0], second.margins[:, :][..., 1])


@pytest.mark.slow
def test_two_processes_give_the_same_bits_as_one(store, tmp_path):
    made = population()
    alone = stored_signals.signals(made, store, train(made, store))[0]
    other = Store(tmp_path / "other").open()
    pooled = stored_signals.signals(made, other, train(made, other, executor=Executor(workers=2)))[0]
    assert np.array_equal(alone.margins[:, :], pooled.margins[:, :])
    assert np.array_equal(alone.logits[:, :], pooled.logits[:, :])


def test_signals_are_those_of_the_model_and_margins_from_float64(store):
    made = population(audited=40, population=20)
    signals, others = stored_signals.signals(made, store, train(made, store))
    assert signals.margins.shape == (4, 40, 1)
    assert others.margins.shape == (4, 20, 1)
    run = store.find(made.training_id(2))
    network = Maker(made, store, "cpu")._load(2, run)
    x = torch.from_numpy(made.records.x[made.roles.audited])
    with torch.no_grad():
        logits = network(x).numpy()
    assert np.array_equal(signals.logits[2, slice(None)], logits)
    expected = margin(logits, made.records.y[made.roles.audited])
    assert np.allclose(signals.margins[2, slice(None)][:, 0], expected, rtol=1e-6)


def test_progress_counts_up_and_gives_the_accuracy(store):
    seen = []
    train(population(), store, progress=seen.append)
    assert [p.done for p in seen] == [0, 1, 2, 3, 4]
    assert seen[0].accuracy is None
    assert 0 <= seen[-1].accuracy <= 1
    assert seen[2].left > 0
    again = []
    train(population(), store, progress=again.append)
    assert (again[-1].found, again[-1].left) == (4, None)


def hold_and_train(made, store):
    with store.claim(made.training_id(2)):
        with pytest.raises(
            StoreLockedError, match=r"(?s)1 of 4 models is being made by another process \(3 .* model 2: run"
        ):
            train(made, store)
        raise KeyboardInterrupt


def test_what_another_process_makes_is_waited_for_and_then_named(store, monkeypatch):
    monkeypatch.setattr(Store, "lingers", 0.0)
    made = population()
    with pytest.raises(KeyboardInterrupt):
        hold_and_train(made, store)
    assert len(train(made, store)) == 4


def test_what_another_process_makes_is_looked_for_twelve_times(store, monkeypatch):
    """In an object store each look is several requests."""
    made, slept, looked = population(), [], []
    monkeypatch.setattr(Store, "lingers", 60.0)
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: sum(slept), sleep=slept.append))
    monkeypatch.setattr(Store, "holder", lambda _, run: looked.append(run) or "process 7")
    assert training._again(made, store, [(2, StoreLockedError("held"))]) == []
    assert (slept, len(looked)) == ([5.0] * 12, 13)


def test_a_model_that_another_process_held_is_made_once_it_let_go(store, monkeypatch):
    monkeypatch.setattr(Store, "lingers", 0.0)
    made, held = population(), ExitStack()
    held.enter_context(suppress(InterruptedError))
    for model in (0, 1, 2):  # As many as `GIVE_UP`: what is locked says nothing of the others.
        held.enter_context(store.claim(made.training_id(model)))

    def let_go(state):
        if state.done == 1:
            held.__exit__(InterruptedError, InterruptedError(), None)  # As a process that dies: nothing is written.

    assert [one.model for one in train(made, store, progress=let_go)] == [0, 1, 2, 3]


def test_a_model_that_another_process_finished_meanwhile_is_found(store, monkeypatch, tmp_path):
    monkeypatch.setattr(Store, "lingers", 0.0)
    made, elsewhere = population(), Store(tmp_path / "elsewhere").open()
    train(made, elsewhere)
    held = ExitStack()
    held.enter_context(suppress(InterruptedError))
    held.enter_context(store.claim(made.training_id(1)))

    def finish(state):
        if state.done == 3:
            held.__exit__(InterruptedError, InterruptedError(), None)
            for run in (made.training_id(1), made.signals_id(1)):
                shutil.copytree(elsewhere.root / "runs" / run, store.root / "runs" / run)

    assert [one.fresh for one in train(made, store, progress=finish)] == [True, False, True, True]


def test_a_reason_that_models_share_is_told_once(store):
    recipe = Recipe(procedure=Function(function=f"{__name__}:fails"))
    with pytest.raises(ModelError) as caught:
        train(population(recipe), store)
    first, second, *rest = str(caught.value).splitlines()[1:]
    assert (first.startswith("  model 0: "), second, rest) == (True, "  models 1, 2: the same", [])


def test_divergence_names_the_model_and_gives_up_early(store):
    broken = population(TINY.replace(optimizer="sgd", learning_rate=1e30), models=20)
    with pytest.raises(
        TrainingDivergedError,
        match=r"3 of 20 models could not be made \(0 are finished and kept; 17 were not tried after that\):\n  model 0",
    ):
        train(broken, store)


def test_a_full_store_ends_the_training_at_the_first_model_that_it_cannot_take(store):
    class Filling:
        def results(self, population, store, models):
            yield Maker(population, store, "cpu").make(models[0])
            yield from ((model, FullStoreError("it is full")) for model in models[1:])

    with pytest.raises(
        FullStoreError,
        match=r"1 of 4 models could not be made \(1 is finished and kept; 2 were not tried after that\):\n  model 1",
    ):
        train(population(TINY, models=4), store, executor=Filling())


def test_how_far_it_is_stands_in_the_log(store, caplog):
    caplog.set_level(logging.INFO, "reticent")
    train(population(TINY, models=4), store, progress=Work().progress)
    told = [one.getMessage().split(",")[0] for one in caplog.records if one.name == "reticent.jobs.base"]
    assert told[-2:] == ["models 3/4", "models 4/4"]


class Nan(torch.nn.Module):
    def forward(self, x):
        return torch.full((len(x), 3), float("nan")) * x.sum()


class Loud(torch.nn.Linear):
    def train(self, mode=True):
        return super().train(True)


def nan(x, y, seed):
    return Nan()


def loud(x, y, seed):
    return torch.nn.Sequential(Loud(5, 3))


def wrong(x, y, seed):
    return torch.nn.Linear(5, 4)


def fails(x, y, seed):
    raise KeyError("no such thing")


def linear(x, y, seed):
    assert x.dtype == np.float32
    assert y.dtype == np.int64
    assert len(x) == len(y) == 30
    model = torch.nn.Linear(5, 3)
    with torch.no_grad():
        model.bias += seed % 7
    return model


def half(x, y, seed):
    return torch.nn.Linear(5, 3).half()


def huge(x, y, seed):
    model = torch.nn.Linear(5, 3)
    with torch.no_grad():
        model.weight *= 1e12
    return model


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("nan", NonFiniteError, "model 0: 60 of 60 answers hold NaN or infinity"),
        ("huge", NonFiniteError, "model 0: .* of 60 answers put the log-odds of the true label beyond 16,777,216"),
        ("wrong", ModelError, r"answered shape \(60, 4\) for 60 records: expected logits \(60, 3\)"),
        ("fails", ModelError, r"failed: KeyError: 'no such thing' \(in fails, .*test_population\.py, line \d+\)"),
        ("half", ModelError, r"weights in half precision \(weight\), .*: call \.float\(\) before you return it"),
        ("loud", ModelError, "signals need eval mode, but 0 is in training mode"),
    ],
)
def test_what_a_users_training_function_can_get_wrong(store, name, kind, words):
    recipe = Recipe(procedure=Function(function=f"{__name__}:{name}"))
    with pytest.raises(kind, match=words):
        train(population(recipe), store)


WIDTH = "RETICENT_TEST_WIDTH"


def of_a_file(input_shape, classes):
    return torch.nn.Linear(input_shape[0], classes, bias=Path("cfg.txt").read_text() == "yes")


def of_the_environment(input_shape, classes):
    wide = int(os.environ.get(WIDTH, "4"))
    return torch.nn.Sequential(torch.nn.Linear(input_shape[0], wide), torch.nn.Linear(wide, classes))


def read_by_training(x, y, seed):
    assert Path("cfg.txt").read_text()
    return torch.nn.Linear(5, 3)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(architecture=Factory(factory=f"{__name__}:of_a_file"), epochs=1),
        Recipe(procedure=Function(function=f"{__name__}:read_by_training")),
        Recipe(architecture=Factory(factory=f"{__name__}:of_a_file"), procedure=CWRF(), epochs=1),
    ],
    ids=["architecture", "training", "two stages"],
)
def test_models_of_a_file_that_changed_are_not_used_in_silence(store, recipe, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cfg.txt").write_text("yes")
    made = population(recipe, models=2, reference=10)
    train(made, store)
    assert not any(one.fresh for one in train(made, store))
    Path("cfg.txt").write_text("yes, too")
    with pytest.raises(OutdatedRunError, match=r"model 0: .* read cfg\.txt when it made this model"):
        train(made, store)
    shutil.rmtree(store.root / "runs" / made.signals_id(0))  # Killed before the model was asked.
    shutil.rmtree(store.root / "runs" / made.signals_id(1))
    with pytest.raises(OutdatedRunError, match=r"model 0: .* read cfg\.txt when it made this model"):
        train(made, store)
    again = replace(made, recipe=recipe.replace(retrain="yes, too"))
    assert all(one.fresh for one in train(again, store))
    assert not any(one.fresh for one in train(again, store))


def test_models_of_another_size_are_not_used_in_silence(store, monkeypatch):
    made = population(Recipe(architecture=Factory(factory=f"{__name__}:of_the_environment"), epochs=1), models=2)
    first = train(made, store)
    monkeypatch.setenv(WIDTH, "8")
    with pytest.raises(OutdatedRunError, match=r"model 0: it has 39 parameters, and .* now builds a network of 75: it"):
        train(made, store)
    with pytest.raises(ModelError, match=r"another shape \(0\.weight: expected \(8, 5\), got \(4, 5\)\); set it back"):
        Maker(made, store, "cpu").network(first[0])


def test_models_that_read_other_files_while_others_were_made_are_told(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cfg.txt").write_text("yes")
    made = population(Recipe(architecture=Factory(factory=f"{__name__}:of_a_file"), epochs=1), models=2)
    look = Maker.look

    def changed(self, model, network, run, draft):
        look(self, model, network, run, draft)
        Path("cfg.txt").write_text(f"no {model}")

    monkeypatch.setattr(Maker, "look", changed)
    with pytest.raises(OutdatedRunError, match=r"model 0: .* read cfg\.txt"):
        train(made, store)


def test_a_users_training_function_gets_members_and_a_seed(store):
    recipe = Recipe(procedure=Function(function=f"{__name__}:linear"))
    made = population(recipe)
    exact = Membership(np.repeat([[True, False]], 30, axis=0).reshape(1, 60).repeat(4, axis=0))
    made = Population(recipe, made.records, made.roles, exact, 0)
    signals, _ = stored_signals.signals(made, store, train(made, store))
    assert not np.array_equal(signals.logits[0, slice(None)], signals.logits[1, slice(None)])


def unsteady(x, y, seed):
    torch.seed()
    return torch.nn.Linear(5, 3)


def test_a_network_of_a_users_function_is_the_one_that_was_stored(store):
    made = population(Recipe(procedure=Function(function=f"{__name__}:unsteady")), models=2)
    with torch.random.fork_rng():
        found = train(made, store)
        network = Maker(made, store, "cpu").network(found[0])
    stored = store.whole(found[0].training).arrays("weights.safetensors")
    np.testing.assert_array_equal(network.weight.detach().numpy(), stored["weight"])


def test_devices():
    assert choose_device("cpu") == "cpu"
    with pytest.raises(ModelError, match="expected auto, cpu, cuda or cuda:N, got 'gpu'"):
        choose_device("gpu")
    if not torch.cuda.is_available():
        assert choose_device("auto") == "cpu"
        with pytest.raises(ModelError, match="has no CUDA device"):
            choose_device("cuda")


def test_all_runs_that_were_spoilt_since_they_were_made_are_named(store):
    made = population()
    found = train(made, store)
    for model in (1, 2):
        path = store.root / "runs" / made.signals_id(model) / "signals.safetensors"
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(CorruptRunError, match=r"(?s)model 1: run .*model 2: run "):
        stored_signals.signals(made, store, found)


def test_a_watched_population_logs_its_accuracy_and_has_runs_of_its_own(store):
    plain, watched = population(), replace(population(), watch=True)
    made = train(watched, store)
    curves = stored_signals.trajectories(store, made)
    assert [len(curve) for curve in curves] == [TINY.epochs] * 4
    assert [curve[-1] for curve in curves] == pytest.approx([one.facts.accuracy_non_members for one in made])
    assert plain.training_id(0) != watched.training_id(0)
    assert stored_signals.trajectories(store, train(plain, store)) == [[]] * 4


def test_models_of_one_number_begin_alike_and_keep_their_identities(store):
    data = records()
    roles = Roles.split(data, 0)
    half = np.arange(60) % 2 == 0
    matrix = np.stack([half, ~half, half, np.arange(60) < 50])
    made = Population(TINY, data, roles, Membership(matrix), 0, drawing=(0, 0, 1, 0))
    usual = Population(TINY, data, roles, Membership(matrix), 0)
    assert [made.training_id(m) == usual.training_id(m) for m in range(4)] == [True, False, False, False]
    assert len({made.training_id(m) for m in range(4)}) == 4
    found = train(made, store)
    initial = [store.find(one.training).arrays("initial.safetensors") for one in found]
    same = [all(np.array_equal(initial[0][n], other[n]) for n in initial[0]) for other in initial]
    assert same == [True, True, False, True]
    maker = Maker(made, store, "cpu")
    seen = maker.ask(maker.network(found[3]), 3)
    assert seen.margins == pytest.approx(stored_signals.signals(made, store, found)[0].margins[3:4, :][0])


def test_a_network_whose_run_is_gone_is_named(store):
    made = population()
    found = train(made, store)[0]
    store.remove(found.training)
    with pytest.raises(CorruptRunError, match="is gone: run the same command again"):
        Maker(made, store, "cpu").network(found)


def imitating(made, answers, **options):
    return replace(made, imitated=Imitated(Imitating(**options), answers))


def test_the_name_of_an_imitator_holds_how_it_imitates_and_the_answers_to_its_members():
    made, answers = population(), np.zeros((60, 3), np.float32)
    other, inside = answers.copy(), made.membership.matrix[0]
    other[np.flatnonzero(inside)[0]] += 1
    unseen = answers.copy()
    unseen[np.flatnonzero(~inside)[0]] += 1
    names = [one.training_id(0) for one in (made, *(imitating(made, told) for told in (answers, other)))]
    assert len({*names, imitating(made, answers, warmup=0.5).training_id(0)}) == 4
    assert imitating(made, unseen).training_id(0) == names[1]


def test_an_imitator_trains_on_its_members_and_the_answers_to_them_alone(store, tmp_path):
    made, rng = population(TINY.replace(epochs=10)), np.random.default_rng(0)
    answers = rng.normal(0, 3, (60, 3)).astype(np.float32)
    changed = np.where(made.membership.matrix[1][:, None], answers, answers + np.float32(100))
    found = []
    for place, told in (("one", answers), ("two", changed)):
        root = Store(tmp_path / place).open()
        Maker(imitating(made, told), root, "cpu").make(1)
        run = root.find(imitating(made, told).training_id(1))
        found.append(run.arrays("weights.safetensors"))
    assert all(np.array_equal(value, found[1][name]) for name, value in found[0].items())
    Maker(made, store, "cpu").make(1)
    plain = store.find(made.training_id(1)).arrays("weights.safetensors")
    assert not all(np.array_equal(value, plain[name]) for name, value in found[0].items())
