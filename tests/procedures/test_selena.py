import gc
import itertools
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_records import images, materials, noise
from torch import nn

from reticent.data.load import load
from reticent.data.membership import Membership
from reticent.data.roles import Roles
from reticent.errors import InputError, SpecError, TrainingDivergedError
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES, Objective
from reticent.objectives.base import Examples
from reticent.objectives.label_smoothing import LabelSmoothing
from reticent.population.population import Population
from reticent.population.worker import Maker
from reticent.procedures import plain, selena
from reticent.procedures.base import fresh
from reticent.procedures.recipe_checks import check
from reticent.procedures.selena import Selena, split_ai
from reticent.procedures.selena.split_ai import Views, assign, inside_of, outside_of
from reticent.store import Store
from reticent.training.loop import accuracy, fit
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

SMALL = Recipe(architecture=MLP(widths=(8,)), procedure=Selena(models=4, outside=2), epochs=3, batch_size=8)
PICTURES = SMALL.replace(architecture=CNN(widths=(4,)), augmentation="flip-crop", padding=2)
STREAMS = Streams(5, 1)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def close(a, b, tolerance):
    return all(torch.allclose(a[key], b[key], rtol=0, atol=tolerance) for key in a)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 50), models=st.integers(2, 30), data=st.data())
def test_every_member_trains_in_exactly_k_minus_l_sub_models_and_its_non_models_never_see_it(n, models, data):
    outside = data.draw(st.integers(1, models - 1))
    assigned = assign(n, models, outside, generator(data.draw(st.integers(0, 99))))
    assert assigned.shape == (n, outside)
    assert assigned.dtype == torch.int16
    inside = [set(inside_of(assigned, k).tolist()) for k in range(models)]
    left_out = [set(outside_of(assigned, k).tolist()) for k in range(models)]
    for i in range(n):
        assert sum(i in rows for rows in inside) == models - outside
        assert [k for k in range(models) if i not in inside[k]] == assigned[i].tolist()
    assert all(a | b == set(range(n)) and not a & b for a, b in zip(inside, left_out, strict=True))


def test_sizes_at_the_papers_numbers():
    assigned = assign(5000, 25, 10, generator())
    sizes = np.array([len(inside_of(assigned, k)) for k in range(25)])
    assert sizes.mean() == 0.6 * 5000
    assert np.abs(sizes - 3000).max() < 4.5 * np.sqrt(5000 * 0.6 * 0.4)


def test_every_subset_is_equally_likely_and_members_are_independent():
    assigned = assign(12_000, 4, 2, generator(3)).tolist()
    counts = {pair: assigned.count(list(pair)) for pair in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]}
    assert sum(counts.values()) == 12_000
    assert max(abs(count - 2000) for count in counts.values()) < 4.5 * np.sqrt(12_000 / 6 * 5 / 6)
    neighbours = np.mean([a == b for a, b in itertools.pairwise(assigned)])
    assert abs(neighbours - 1 / 6) < 4.5 * np.sqrt(5 / 36 / 12_000)


@pytest.fixture
def fits(monkeypatch):
    """What every call of the loop is given, the sub-models' first, then the distillation's."""
    calls = []

    def spy(module):
        whole = module.fit

        def watching(model, recipe, share, objective, streams):
            calls.append((recipe, share, objective, streams, {k: v.clone() for k, v in model.state_dict().items()}))
            return whole(model, recipe, share, objective, streams)

        monkeypatch.setattr(module, "fit", watching)

    spy(split_ai)
    spy(selena)
    return calls


def test_no_sub_model_is_given_a_record_whose_target_it_makes(fits):
    whole = materials(noise())
    made = selena.train(SMALL, whole, STREAMS)
    assigned = made.artefacts["assignment"]
    assert len(fits) == 5
    for k, (_, share, _, _, _) in enumerate(fits[:4]):
        given = {tuple(x) for x in share.members.x.tolist()}
        for i, x in enumerate(whole.members.x.tolist()):
            assert (tuple(x) in given) == (k not in assigned[i].tolist())
        rows = inside_of(assigned, k)
        assert torch.equal(share.members.y, whole.members.y[rows])
        assert share.watched is None
        assert torch.equal(share.validation.x, whole.validation.x)
        assert torch.equal(share.reference.x, whole.reference.x)
    assert torch.equal(fits[4][1].members.x, whole.members.x)
    assert made.facts.selena.sub_model_members == tuple(len(share.members) for _, share, _, _, _ in fits[:4])


def test_sub_models_have_streams_and_initialisations_of_their_own(fits):
    whole = materials(noise())
    selena.train(SMALL, whole, STREAMS)
    assert [streams.path for _, _, _, streams, _ in fits] == [*(("sub-model", k) for k in range(4)), ()]
    starts = [state["0.weight"] if "0.weight" in state else next(iter(state.values())) for *_, state in fits]
    assert len({tuple(start.flatten().tolist()) for start in starts}) == 5
    orders = [tuple(torch.randperm(20, generator=streams.generator("order")).tolist()) for *_, streams, _ in fits]
    assert len(set(orders)) == 5
    assert same(fits[4][4], plain.train(SMALL, whole, STREAMS).initial)


def test_the_draw_of_the_assignment_is_a_stream_of_its_own():
    more = selena.train(SMALL.replace(epochs=1), materials(noise()), STREAMS)
    less = selena.train(SMALL.replace(epochs=3, learning_rate=0.1), materials(noise()), STREAMS)
    assert torch.equal(more.artefacts["assignment"], less.artefacts["assignment"])
    other = selena.train(SMALL.replace(epochs=1), materials(noise()), Streams(5, 2))
    assert not torch.equal(more.artefacts["assignment"], other.artefacts["assignment"])


def slow_soft_targets(recipe, whole, streams, assigned):
    """Train every sub-model by the plain procedure, and ask record by record, in NumPy."""
    answers = np.zeros((4, len(whole.members), whole.classes))
    for k in range(4):
        rows = [i for i in range(len(whole.members)) if k not in assigned[i].tolist()]
        share = replace(whole, members=whole.members.take(torch.tensor(rows)), watched=None)
        model = plain.train(recipe, share, streams.child("sub-model", k)).model
        for i in range(len(whole.members)):
            with torch.no_grad():
                z = model(whole.prepare(whole.members.x[i : i + 1]))[0].double().numpy()
            answers[k, i] = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    return np.array([[answers[k, i] for k in row] for i, row in enumerate(assigned.tolist())]).mean(axis=1)


NAMES = [name for name in ("label-smoothing", "relaxloss", "mixup", "adv-reg") if name in OBJECTIVES]


@pytest.mark.parametrize("name", ["cross-entropy", *NAMES])
def test_soft_targets_are_those_of_a_slow_twin_whatever_the_objective(name):
    recipe = SMALL.replace(objective=OBJECTIVES[name].spec(), epochs=4, learning_rate=0.02)
    whole = materials(noise())
    made = selena.train(recipe, whole, STREAMS)
    expected = slow_soft_targets(recipe, whole, STREAMS, made.artefacts["assignment"])
    assert made.artefacts["soft_targets"].dtype == torch.float32
    assert np.allclose(made.artefacts["soft_targets"].numpy(), expected, rtol=0, atol=2e-6)


def test_the_objective_is_that_of_the_sub_models():
    soft = [
        selena.train(SMALL.replace(objective=objective), materials(noise()), STREAMS).artefacts["soft_targets"]
        for objective in (SMALL.objective, LabelSmoothing(smoothing=0.9))
    ]
    assert (soft[0] - soft[1]).abs().max() > 1e-3


class Taught(Objective):
    """Cross-entropy against a table of probabilities, as the paper writes it."""

    def __init__(self, table):
        self.table = table

    def __call__(self, logits, targets, batch):
        return -(self.table[batch.ids] * torch.log(torch.softmax(logits, dim=1))).sum(dim=1).mean()


def test_the_released_network_is_a_fresh_one_that_only_sees_the_soft_targets():
    recipe, whole = SMALL.replace(optimizer="sgd", learning_rate=0.1), materials(noise())
    made = selena.train(recipe, whole, STREAMS)
    model = fresh(recipe, whole, STREAMS)
    blind = replace(whole, members=Examples(whole.members.x, torch.zeros_like(whole.members.y)))
    fit(model, recipe, blind, Taught(made.artefacts["soft_targets"]), STREAMS)
    assert close(made.model.state_dict(), model.state_dict(), 1e-5)
    assert not close(made.model.state_dict(), made.initial, 1e-2)


def test_notices_of_the_sub_models_objectives_are_told_once_with_their_number(monkeypatch):
    class Telling(Objective):
        def __call__(self, logits, targets, batch):
            return logits.logsumexp(dim=1).mean()

        def begin(self, context):
            super().begin(context)
            self.members = len(context.members)

        def notices(self):
            return [f"{self.members} members."] if self.members > 15 else []

    monkeypatch.setattr(split_ai, "objective", lambda recipe: Telling())
    made = selena.train(SMALL, materials(noise(), members=31), STREAMS)
    telling = [size for size in made.facts.selena.sub_model_members if size > 15]
    assert 0 < len(telling) < 4
    expected = f"In {len(telling)} of 4 sub-models, here the first: {telling[0]} members."
    assert made.facts.notices == (expected,)
    monkeypatch.undo()
    assert not selena.train(SMALL, materials(noise()), STREAMS).facts.notices


def test_the_same_streams_give_the_same_bits():
    first, again = (selena.train(SMALL, materials(noise()), STREAMS) for _ in range(2))
    assert same(first.model.state_dict(), again.model.state_dict())
    assert same(first.artefacts, again.artefacts)
    assert first.history.loss == again.history.loss
    timed = [made.facts.stages for made in (first, again)]
    assert [[stage.name for stage in stages] for stages in timed] == [["sub-models", "distillation"]] * 2
    assert all(stage.seconds > 0 for stages in timed for stage in stages)
    assert first.facts.with_(stages=()) == again.facts.with_(stages=())


def test_distillation_epochs_are_those_of_the_released_network_alone(fits):
    recipe = SMALL.replace(procedure=Selena(models=4, outside=2, distillation_epochs=5))
    made = selena.train(recipe, materials(noise()), STREAMS)
    assert [call[0].epochs for call in fits] == [3, 3, 3, 3, 5]
    assert len(made.history.loss) == 5


def test_training_that_stops_early_stops_both():
    made = selena.train(SMALL.replace(epochs=9, stop_after=2.0), materials(noise()), STREAMS)
    whole = selena.train(SMALL.replace(epochs=2), materials(noise()), STREAMS)
    assert len(made.history.loss) == 2
    assert same(made.artefacts, whole.artefacts)


def test_watched_records_are_watched_in_the_distillation(fits):
    whole = materials(noise())
    made = selena.train(SMALL, replace(whole, watched=whole.validation), STREAMS)
    assert len(made.history.accuracy) == 3
    assert [call[1].watched is None for call in fits] == [True] * 4 + [False]


def test_early_stopping_holds_for_both(fits):
    recipe = SMALL.replace(patience=1, epochs=40, learning_rate=0.1)
    made = selena.train(recipe, materials(noise()), STREAMS)
    assert len(made.history.validation_loss) == len(made.history.loss) < 40
    assert made.history.kept == int(np.argmin(made.history.validation_loss))
    assert [call[0].patience for call in fits] == [1] * 5


def test_one_sub_model_is_in_memory_at_a_time_without_a_garbage_collector(monkeypatch):
    alive, most = [], []
    whole = split_ai.fit

    def counting(model, *others):
        alive.append(weakref.ref(model))
        most.append(sum(one() is not None for one in alive))
        return whole(model, *others)

    monkeypatch.setattr(split_ai, "fit", counting)
    gc.disable()
    try:
        selena.train(SMALL, materials(noise()), STREAMS)
        assert most == [1, 1, 1, 1]
        alive.clear(), most.clear()
        selena.train(SMALL.replace(procedure=Selena(models=4, outside=2, targets="view")), materials(noise()), STREAMS)
        assert most == [1, 2, 3, 4]
    finally:
        gc.enable()


class Constant(nn.Module):
    """Answers the same logits to every record, and refuses records that it was trained on (their number is x[0])."""

    def __init__(self, logits, seen):
        super().__init__()
        self.logits, self.seen = torch.tensor(logits), set(seen)

    def forward(self, x):
        assert not self.seen & set(x[:, 0].int().tolist())
        return self.logits.expand(len(x), -1)


def test_views_ask_the_non_models_of_each_record_and_nobody_else():
    assigned = torch.tensor([[0, 1], [1, 2], [0, 2]], dtype=torch.int16)
    logits = [[0.0, np.log(3.0)], [0.0, 0.0], [np.log(9.0), 0.0]]
    networks = [Constant(z, inside_of(assigned, k).tolist()) for k, z in enumerate(logits)]
    ids = torch.tensor([2, 0, 1, 0])
    answer = Views(networks, assigned, 2)(ids[:, None].float(), ids)
    assert answer.dtype == torch.float32
    expected = [[0.575, 0.425], [0.375, 0.625], [0.7, 0.3], [0.375, 0.625]]
    assert torch.allclose(answer, torch.tensor(expected), atol=1e-6)


def test_views_of_records_as_they_are_give_the_stored_targets():
    whole = materials(noise())
    stored, view = (
        selena.train(SMALL.replace(procedure=Selena(models=4, outside=2, targets=targets)), whole, STREAMS)
        for targets in ("stored", "view")
    )
    assert same(stored.artefacts, view.artefacts)
    assert close(stored.model.state_dict(), view.model.state_dict(), 1e-5)


@pytest.mark.parametrize(
    ("targets", "augmentation", "used", "distilled"),
    [
        ("auto", "none", "stored", "none"),
        ("auto", "flip-crop", "view", "flip-crop"),
        ("stored", "flip-crop", "stored", "none"),
        ("view", "flip-crop", "view", "flip-crop"),
    ],
)
def test_where_targets_come_from(fits, targets, augmentation, used, distilled):
    recipe = PICTURES.replace(
        augmentation=augmentation, epochs=1, procedure=Selena(models=3, outside=1, targets=targets)
    )
    made = selena.train(recipe, materials(images()), STREAMS)
    assert made.facts.selena.targets == used
    assert [call[0].augmentation for call in fits] == [augmentation] * 3 + [distilled]


def test_augmented_targets_are_of_the_view_that_the_step_is_taken_on(monkeypatch):
    seen = []
    whole = Views.__call__

    def watching(self, x, ids):
        answer = whole(self, x, ids)
        for row, i in enumerate(ids.tolist()):
            own = [self.networks[k](x[row : row + 1]).double().softmax(dim=1)[0] for k in self.assigned[i].tolist()]
            seen.append((answer[row].double() - torch.stack(own).mean(dim=0)).abs().max().item())
            assert not any(module.training for network in self.networks for module in network.modules())
        return answer

    monkeypatch.setattr(Views, "__call__", watching)
    made = selena.train(PICTURES.replace(epochs=2), materials(images()), STREAMS)
    assert len(seen) == 2 * 30
    assert max(seen) < 1e-6
    assert made.artefacts["soft_targets"].sum(dim=1).sub(1).abs().max() < 1e-6


def test_soft_targets_hide_labels_that_can_only_be_memorised():
    recipe = Recipe(architecture=MLP(widths=(64,)), epochs=60, batch_size=16, learning_rate=0.01)
    whole = materials(noise(n=70, classes=5), members=60)
    undefended = plain.train(recipe, whole, STREAMS).model
    defended = selena.train(recipe.replace(procedure=Selena(models=6, outside=3)), whole, STREAMS).model
    assert accuracy(undefended, whole, whole.members) > 0.95
    assert accuracy(defended, whole, whole.members) < 0.45


@pytest.mark.parametrize("outside", [4, 5])
def test_as_many_outside_as_sub_models_are_refused(outside):
    recipe = SMALL.replace(procedure=Selena(models=4, outside=outside))
    words = f"selena: outside: expected fewer than the 4 models, .* got {outside}: make outside smaller, such as 1, or"
    with pytest.raises(SpecError, match=words):
        check(recipe, reference=0)


def test_settings_that_are_out_of_range():
    with pytest.raises(SpecError, match="selena: models: expected greater than or equal to 2, got 1"):
        Selena(models=1, outside=1)
    with pytest.raises(SpecError, match="selena: outside: expected greater than or equal to 1, got 0"):
        Selena(outside=0)
    with pytest.raises(SpecError, match="expected the procedure selena, got 'plain'"):
        selena.train(Recipe(), materials(noise()), STREAMS)


def test_a_distillation_shorter_than_what_the_recipe_says_of_it_is_refused():
    recipe = SMALL.replace(procedure=Selena(models=4, outside=2, distillation_epochs=1), stop_after=2.0)
    with pytest.raises(SpecError, match=r"selena: the distillation of 1 epoch: .*stop_after at most epochs \(1\)"):
        check(recipe, reference=0)


def test_too_few_members_are_refused_before_anything_is_trained(fits):
    recipe = SMALL.replace(procedure=Selena(models=12, outside=11))
    with pytest.raises(SpecError, match=r"selena: sub-model \d+ of 12 would train on [01] of 8 members, .* at least 2"):
        selena.train(recipe, materials(noise(), members=8), STREAMS)
    assert not fits


def test_errors_name_the_sub_model():
    with pytest.raises(InputError, match=r"sub-model 0 of 4: patience \(early stopping\) needs validation records"):
        selena.train(
            SMALL.replace(patience=1),
            replace(
                materials(noise()), validation=materials(noise()).members.take(torch.tensor([], dtype=torch.int64))
            ),
            STREAMS,
        )
    with pytest.raises(TrainingDivergedError, match="sub-model 0 of 4: the training loss became"):
        selena.train(SMALL.replace(optimizer="sgd", learning_rate=1e30), materials(noise()), STREAMS)


class Broken(nn.Module):
    def forward(self, x):
        return torch.full((len(x), 3), torch.nan)


def test_answers_that_are_no_numbers_are_no_targets():
    whole = materials(noise())
    with pytest.raises(TrainingDivergedError, match="a sub-model answers 30 of 30 records with NaN or infinity"):
        split_ai.softened(Broken(), whole, whole.members)


def test_a_population_keeps_the_assignment_and_the_soft_targets(tmp_path):
    records = load("digits")
    roles = Roles.split(records, 0, audited=240)
    recipe = SMALL.replace(epochs=2, batch_size=32)
    population = Population(recipe, records, roles, Membership.draw(4, 240, 0), 0)
    store = Store(tmp_path / "store").open()
    maker = Maker(population, store, "cpu")
    made = [maker.make(model) for model in range(4)]
    for model, one in enumerate(made):
        run = store.find(one.training)
        stored = run.arrays("artefacts.safetensors")
        n = len(population.members(model))
        assert stored["assignment"].shape == (n, 2)
        assert stored["assignment"].dtype == np.int16
        assert stored["soft_targets"].shape == (n, 10)
        assert stored["soft_targets"].dtype == np.float32
        assert sum(run.facts["selena"]["sub_model_members"]) == 2 * n
        network = maker._load(model, run)
        assert np.array_equal(
            maker.ask(network, model).logits, store.find(one.signals).arrays("signals.safetensors")["logits"]
        )
    first, second = (store.find(one.training).arrays("artefacts.safetensors") for one in made[:2])
    assert not np.array_equal(first["assignment"][:100], second["assignment"][:100])
