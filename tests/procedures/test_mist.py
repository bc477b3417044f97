import gc
import math
import weakref
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_records import images, noise
from torch import nn

from reticent.errors import InputError, SpecError, TrainingDivergedError
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.objectives.label_smoothing import LabelSmoothing
from reticent.objectives.mixup_mmd import MixupMmd
from reticent.procedures import mist, plain
from reticent.procedures.base import fresh
from reticent.procedures.mist import Mist
from reticent.procedures.mist import copies as mist_copies
from reticent.procedures.mist.copies import Copy, average, disagreement, partition
from reticent.procedures.recipe_checks import check
from reticent.training import optim
from reticent.training.data import Preparation
from reticent.training.loop import validation_loss
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.run import batch_sizes
from reticent.training.streams import Streams

SMALL = Recipe(
    architecture=MLP(widths=(8,)), procedure=Mist(parts=2, local_epochs=2, cross_epochs=2), epochs=4, batch_size=8
)
PICTURES = SMALL.replace(architecture=CNN(widths=(4,)), augmentation="flip-crop", padding=2, epochs=2)
STREAMS = Streams(5, 1)
CrossEntropyOf = type(plain.objective(SMALL))


def materials(records, members=34):
    prepare = Preparation(records, torch.device("cpu"))
    take = lambda ids: prepare.examples(records, np.asarray(ids, dtype=np.int64))  # noqa: E731
    return Materials(take(range(members)), take(range(members, len(records.y))), take([]), prepare, records.classes)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def close(a, b, tolerance):
    return all(torch.allclose(a[key].double(), b[key].double(), rtol=0, atol=tolerance) for key in a)


def changed(recipe=SMALL, **options):
    return recipe.replace(procedure=recipe.procedure.replace(**options))


def test_the_papers_example_of_a_cross_difference():
    one, other = torch.tensor([[0.9, 0.1]]), torch.tensor([[0.6, 0.4]])
    assert disagreement(one, [other]).item() == pytest.approx(0.6)
    assert disagreement(one, [one, one]).item() == 0.0
    assert disagreement(one, [other, one, one]).item() == pytest.approx(0.2)


def test_without_others_there_is_no_disagreement_and_no_gradient():
    own = torch.rand((4, 3), generator=generator()).requires_grad_()
    value = disagreement(own, [])
    value.backward()
    assert value.item() == 0.0
    assert torch.equal(own.grad, torch.zeros(4, 3))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), others=st.integers(1, 4), batch=st.integers(1, 5))
def test_the_disagreement_is_the_formula_and_lies_from_zero_to_two(seed, others, batch):
    draws = torch.rand((others + 1, batch, 3), generator=generator(seed), dtype=torch.float64) * 6
    own, *rest = draws.softmax(dim=2)
    slow = sum(abs(own[b, c].item() - p[b, c].item()) for p in rest for b in range(batch) for c in range(3)) / (
        others * batch
    )
    assert disagreement(own, rest).item() == pytest.approx(slow, abs=1e-12)
    assert 0 <= slow <= 2
    assert disagreement(rest[0], [own]).item() == pytest.approx(disagreement(own, rest[:1]).item(), abs=1e-12)


def test_what_is_told_of_a_round_is_the_mean_over_copies_in_the_last_epoch(monkeypatch):
    told = iter([9.0, 0.2, 9.0, 0.4, 9.0, 0.6, 9.0, 1.0])
    monkeypatch.setattr(Copy, "agree", lambda *_: next(told))
    found = mist.train(SMALL, materials(noise(44)), STREAMS).facts.mist.disagreement
    assert found == pytest.approx([0.3, 0.8])


@settings(max_examples=40, deadline=None)
@given(members=st.integers(2, 80), parts=st.integers(1, 20), seed=st.integers(0, 99))
def test_parts_divide_the_members_evenly(members, parts, seed):
    if members < 2 * parts:
        with pytest.raises(SpecError, match=f"mist: {members} members in {parts} parts leave {members // parts} for"):
            partition(members, parts, generator(seed))
        return
    rows = partition(members, parts, generator(seed))
    assert sorted(torch.cat(rows).tolist()) == list(range(members))
    assert all(row.tolist() == sorted(row.tolist()) for row in rows)
    sizes = [len(row) for row in rows]
    assert len(sizes) == parts
    assert max(sizes) - min(sizes) <= 1


def test_the_members_are_divided_anew_in_each_round():
    drawn = generator()
    first, second = partition(60, 3, drawn), partition(60, 3, drawn)
    assert not any(torch.equal(a, b) for a in first for b in second)
    counts = np.zeros(30)
    for _ in range(400):
        counts[partition(30, 3, drawn)[0].numpy()] += 1
    assert np.abs(counts - 400 / 3).max() < 4.5 * np.sqrt(400 * 2 / 9)


def test_averages_of_weights_and_buffers():
    first, second = nn.BatchNorm1d(2).state_dict(), nn.BatchNorm1d(2).state_dict()
    first["weight"] = torch.tensor([1.0, 3.0])
    second["weight"] = torch.tensor([2.0, -3.0])
    first["running_var"] = torch.tensor([4.0, 1.0])
    second["running_var"] = torch.tensor([2.0, 0.5])
    first["num_batches_tracked"], second["num_batches_tracked"] = torch.tensor(7), torch.tensor(10)
    mean = average([first, second])
    assert mean["weight"].tolist() == [1.5, 0.0]
    assert mean["running_var"].tolist() == [3.0, 0.75]
    assert mean["num_batches_tracked"].item() == 8
    assert mean["num_batches_tracked"].dtype == torch.int64
    assert {name: value.dtype for name, value in mean.items()} == {name: value.dtype for name, value in first.items()}


@pytest.mark.parametrize("copies", [2, 3, 7])
def test_identical_copies_are_their_own_average_to_the_bit(copies):
    state = fresh(PICTURES, materials(images(44)), STREAMS).state_dict()
    state["extra"] = torch.rand(1000, generator=generator()) * 1e-30
    assert same(average([state] * copies), state)


@pytest.mark.parametrize("recipe", [SMALL, PICTURES, SMALL.replace(optimizer="sgd", schedule="cosine")])
def test_one_part_is_plain_training_to_the_bit(recipe):
    whole = materials(images(44) if recipe is PICTURES else noise(44))
    one = mist.train(changed(recipe, parts=1), whole, STREAMS)
    alone = plain.train(recipe, whole, STREAMS)
    assert same(one.model.state_dict(), alone.model.state_dict())
    assert one.history.loss == alone.history.loss


class Momentum:
    def __init__(self, model, momentum):
        self.parameters, self.momentum, self.buffers = list(model.parameters()), momentum, None

    def step(self, loss):
        gradients = torch.autograd.grad(loss, self.parameters)
        before = self.buffers or [torch.zeros_like(p) for p in self.parameters]
        self.buffers = [self.momentum * b + g for b, g in zip(before, gradients, strict=True)]
        with torch.no_grad():
            for parameter, buffer in zip(self.parameters, self.buffers, strict=True):
                parameter -= self.rate * buffer


def slow_mist(recipe, whole, streams, rounds):
    """The whole algorithm with SGD by hand, one copy after the other, on records as they are or augmented."""
    spec, n = recipe.procedure, len(whole.members)
    model = fresh(recipe, whole, streams)
    drawn = streams.generator("partition")
    for number in range(rounds):
        order = torch.randperm(n, generator=drawn)
        cuts = np.cumsum([n // spec.parts + (i < n % spec.parts) for i in range(spec.parts)])
        parts = [sorted(order[start:stop].tolist()) for start, stop in zip([0, *cuts], cuts, strict=False)]
        copies, optimizers, orders, noises = [], [], [], []
        for i, rows in enumerate(parts):
            own = streams.child("round", number, "part", i)
            copy = deepcopy(model).train()
            optimizer = Momentum(copy, recipe.momentum)
            order, noise_ = own.generator("order"), own.generator("augmentation")
            done = number * spec.local_epochs
            sizes = batch_sizes(len(rows), recipe.batch_size)
            for epoch in range(spec.local_epochs):
                for step, ids in enumerate(torch.split(torch.randperm(len(rows), generator=order), sizes)):
                    progress = (done + epoch + step / len(sizes)) / recipe.epochs
                    optimizer.rate = recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * progress))
                    chosen = torch.tensor(rows)[ids]
                    x = whole.prepare.augmented(whole.members.x[chosen], recipe, noise_)
                    loss = (
                        -copy(whole.prepare(x)).log_softmax(dim=1)[range(len(chosen)), whole.members.y[chosen]].mean()
                    )
                    optimizer.step(loss)
            copies.append(copy), optimizers.append(optimizer), orders.append(order), noises.append(noise_)
        before = [deepcopy(copy).eval() for copy in copies]
        for i, rows in enumerate(parts):
            sizes = batch_sizes(len(rows), recipe.batch_size)
            for _ in range(spec.cross_epochs):
                for ids in torch.split(torch.randperm(len(rows), generator=orders[i]), sizes):
                    x = whole.prepare.augmented(whole.members.x[torch.tensor(rows)[ids]], recipe, noises[i])
                    x = whole.prepare(x)
                    p = copies[i](x).softmax(dim=1)
                    loss = sum(
                        (p - before[j](x).softmax(dim=1).detach()).abs().sum() / len(ids)
                        for j in range(spec.parts)
                        if j != i
                    )
                    optimizers[i].step(spec.weight / (spec.parts - 1) * loss)
        with torch.no_grad():
            states = [copy.state_dict() for copy in copies]
            mean = {key: sum(state[key].double() for state in states) / len(states) for key in states[0]}
            model.load_state_dict({key: value.to(states[0][key].dtype) for key, value in mean.items()})
    return model


@pytest.mark.parametrize("recipe", [SMALL, PICTURES.replace(epochs=4)], ids=["tabular", "batch norm, augmented"])
@pytest.mark.parametrize("parts", [2, 3])
def test_the_whole_is_a_slow_twin(recipe, parts):
    whole = materials(images(44) if recipe.augmentation != "none" else noise(44))
    recipe = changed(recipe, parts=parts, weight=2.0).replace(optimizer="sgd", learning_rate=0.1, schedule="cosine")
    fast, slow = mist.train(recipe, whole, STREAMS), slow_mist(recipe, whole, STREAMS, 2)
    assert close(fast.model.state_dict(), slow.state_dict(), 1e-5)
    without = mist.train(changed(recipe, weight=0.0), whole, STREAMS)
    assert not close(fast.model.state_dict(), without.model.state_dict(), 1e-3)


def test_a_weight_of_zero_is_no_second_phase():
    none, weightless = (
        mist.train(changed(SMALL, **o), materials(noise(44)), STREAMS) for o in ({"cross_epochs": 0}, {"weight": 0.0})
    )
    assert same(none.model.state_dict(), weightless.model.state_dict())
    assert none.facts.mist.disagreement == weightless.facts.mist.disagreement == (None, None)


def test_the_second_phase_makes_copies_agree():
    recipe = SMALL.replace(epochs=60, learning_rate=0.01)
    whole = materials(noise(44))
    ends = [
        mist.train(changed(recipe, local_epochs=60, cross_epochs=n, weight=1.0), whole, STREAMS).facts.mist
        for n in (1, 30)
    ]
    first, last = (end.disagreement[0] for end in ends)
    assert first > 0.5
    assert last < 0.7 * first


def copies(whole, recipe, parts=2):
    rows = partition(len(whole.members), parts, generator())
    return [
        Copy(
            fresh(recipe, whole, STREAMS.child(i)),
            recipe,
            replace(whole, members=whole.members.take(part)),
            plain.objective(recipe),
            STREAMS.child(i),
            done=0,
            epochs=1,
        )
        for i, part in enumerate(rows)
    ]


def test_the_other_copies_do_not_move_nor_do_their_statistics():
    one, two = copies(materials(images(44)), PICTURES)
    frozen, before = two.model.eval(), deepcopy(two.model.state_dict())
    own = deepcopy(one.model.state_dict())
    one.agree([frozen], 1.0)
    assert same(frozen.state_dict(), before)
    assert all(p.grad is None for p in frozen.parameters())
    assert not close(one.model.state_dict(), own, 1e-4)
    assert int(one.model.state_dict()[next(k for k in own if k.endswith("num_batches_tracked"))]) == one.steps


def test_rates_go_on_over_rounds_and_the_second_phase_keeps_the_last_one(monkeypatch):
    recipe = SMALL.replace(schedule="cosine", epochs=4, warmup_epochs=1.0)
    rates = []
    whole = Copy.update

    def watching(self, loss):
        rates.append((self.streams.path[1], self.streams.path[3], self.optimizer.rate / recipe.learning_rate))
        whole(self, loss)

    monkeypatch.setattr(Copy, "update", watching)
    mist.train(recipe, materials(noise(44)), STREAMS)
    steps = 2  # of a part of 17 records: the last single record joins the batch before
    assert batch_sizes(17, 8) == [8, 9]
    for part in (0, 1):
        for number in (0, 1):
            got = [rate for r, p, rate in rates if (r, p) == (number, part)]
            expected = [
                optim.factor(recipe, step, steps) for step in range(2 * steps * number, 2 * steps * (number + 1))
            ]
            assert got == [*expected, *[expected[-1]] * 2 * steps]
    assert [p for r, p, _ in rates if r == 0] == [0] * 4 + [1] * 4 + [0] * 4 + [1] * 4


@pytest.mark.parametrize(("epochs", "stop", "local", "rounds", "lines"), [
    (4, None, 2, 2, 4),
    (5, None, 2, 3, 5),
    (1, None, 5, 1, 1),
    (9, 3.0, 2, 2, 3),
    (9, 3.5, 2, 2, 4),
    (9, 4.01, 2, 2, 4),
])  # fmt: skip
def test_how_many_rounds_there_are(epochs, stop, local, rounds, lines):
    recipe = changed(SMALL.replace(epochs=epochs, stop_after=stop), local_epochs=local)
    made = mist.train(recipe, materials(noise(44)), STREAMS)
    assert made.facts.mist.rounds == rounds
    assert len(made.history.loss) == lines
    assert made.history.kept == lines - 1


def test_stopping_leaves_the_beginning_as_it_was():
    part = mist.train(SMALL.replace(epochs=8, stop_after=4.0), materials(noise(44)), STREAMS)
    assert part.history.loss == mist.train(SMALL.replace(epochs=8), materials(noise(44)), STREAMS).history.loss[:4]


def test_early_stopping_looks_at_the_average_after_each_round():
    recipe = SMALL.replace(epochs=80, patience=4, learning_rate=0.05)
    whole = materials(noise(44))
    made = mist.train(recipe, whole, STREAMS)
    losses = made.facts.mist.validation
    best = int(np.argmin(losses))
    assert len(losses) == made.facts.mist.rounds == best + 3 < 40
    assert made.history.kept == 2 * best + 1
    assert validation_loss(made.model, whole) == losses[best]
    assert not made.history.validation_loss


def test_the_same_streams_give_the_same_bits_and_others_do_not():
    first, again, other = (mist.train(SMALL, materials(noise(44)), s) for s in (STREAMS, STREAMS, Streams(5, 2)))
    assert same(first.model.state_dict(), again.model.state_dict())
    assert first.history.loss == again.history.loss
    assert not same(first.model.state_dict(), other.model.state_dict())
    assert same(first.initial, plain.train(SMALL, materials(noise(44)), STREAMS).initial)


def test_every_round_and_part_has_streams_and_an_objective_of_its_own(monkeypatch):
    begun = []
    whole = Copy.__init__

    def watching(self, model, recipe, share, objective, streams, **rest):
        whole(self, model, recipe, share, objective, streams, **rest)
        begun.append((streams.path, id(objective), objective.context.epochs, len(objective.context.members)))
        kept.append(objective)

    kept = []
    monkeypatch.setattr(Copy, "__init__", watching)
    mist.train(changed(SMALL.replace(objective=LabelSmoothing(), epochs=3), parts=3), materials(noise(44)), STREAMS)
    assert [path for path, *_ in begun] == [("round", r, "part", i) for r in (0, 1) for i in range(3)]
    assert len({one for _, one, *_ in begun}) == 6
    assert [epochs for _, _, epochs, _ in begun] == [2, 2, 2, 1, 1, 1]
    assert [members for *_, members in begun] == [12, 11, 11] * 2


def test_notices_of_the_copies_objectives_are_told_once_with_their_number(monkeypatch):
    monkeypatch.setattr(CrossEntropyOf, "notices", lambda self: [f"Had {len(self.context.members)} records."])
    made = mist.train(changed(SMALL, parts=3), materials(noise(44)), STREAMS)
    assert list(made.facts.notices) == ["In 6 of 6 copies of all rounds, here the first: Had 12 records."]
    monkeypatch.undo()
    assert "notices" not in mist.train(SMALL, materials(noise(44)), STREAMS).facts


def test_a_round_of_no_step_has_no_notices(monkeypatch):
    monkeypatch.setattr(CrossEntropyOf, "notices", lambda self: ["Told."])
    recipe = changed(SMALL.replace(epochs=9, stop_after=4.01))
    assert list(mist.train(recipe, materials(noise(44)), STREAMS).facts.notices) == [
        "In 4 of 4 copies of all rounds, here the first: Told."
    ]


def test_the_objective_has_no_part_in_the_second_phase():
    steps = []

    class Watched(CrossEntropyOf):
        def stepped(self):
            steps.append(1)

    one, two = copies(materials(noise(44)), SMALL)
    one.objective = mine = Watched(SMALL.objective)
    one.agree([two.model.eval()], 1.0)
    assert not steps
    assert one.objective is mine
    one.epoch(0, one.steps)
    assert len(steps) == one.steps


def test_what_comes_between_epochs_is_refused_where_a_copy_has_one():
    recipe = SMALL.replace(objective=MixupMmd())
    with pytest.raises(SpecError, match="mist: local_epochs: expected at least 2 with mixup-mmd, got 1"):
        check(changed(recipe, local_epochs=1), 10)
    check(recipe, 10)
    check(changed(recipe, local_epochs=1, parts=1), 10)
    check(changed(SMALL, local_epochs=1), 0)


def test_the_objective_is_the_recipes():
    ends = [
        mist.train(SMALL.replace(objective=objective), materials(noise(44)), STREAMS).model.state_dict()
        for objective in (SMALL.objective, LabelSmoothing(smoothing=0.5))
    ]
    assert not close(*ends, 1e-4)


def test_copies_are_gone_at_the_end_of_a_round_without_a_garbage_collector(monkeypatch):
    alive, most = [], []
    whole = Copy.__init__

    def counting(self, model, *others, **rest):
        alive.append(weakref.ref(model))
        most.append(sum(one() is not None for one in alive))
        whole(self, model, *others, **rest)

    monkeypatch.setattr(Copy, "__init__", counting)
    gc.disable()
    try:
        mist.train(SMALL.replace(epochs=6), materials(noise(44)), STREAMS)
    finally:
        gc.enable()
    assert most == [1, 2] * 3


def test_watched_records_are_not_asked_about():
    whole = materials(noise(44))
    assert not mist.train(SMALL, replace(whole, watched=whole.validation), STREAMS).history.accuracy


def test_refused_settings():
    with pytest.raises(SpecError, match="mist: parts: expected greater than or equal to 1, got 0"):
        Mist(parts=0)
    with pytest.raises(SpecError, match="expected the procedure mist, got 'plain'"):
        mist.train(Recipe(), materials(noise(44)), STREAMS)
    with pytest.raises(
        SpecError, match="mist: 5 members in 3 parts leave 1 for the smallest part: expected at least 2"
    ):
        mist.train(changed(SMALL, parts=3), materials(noise(44), members=5), STREAMS)
    with pytest.raises(InputError, match=r"patience \(early stopping\) needs validation records"):
        mist.train(SMALL.replace(patience=1), materials(noise(44), members=44), STREAMS)


def test_errors_name_the_round_and_the_part(monkeypatch):
    with pytest.raises(TrainingDivergedError, match="round 1, part 1: the training loss became"):
        mist.train(SMALL.replace(optimizer="sgd", learning_rate=1e30), materials(noise(44)), STREAMS)
    monkeypatch.setattr(mist_copies, "disagreement", lambda own, others: own.sum() * torch.nan)
    with pytest.raises(
        TrainingDivergedError, match="round 1, part 1: the disagreement of the copies became nan: lower"
    ):
        mist.train(SMALL, materials(noise(44)), STREAMS)


def test_parts_smaller_than_the_number_of_classes_are_told_alike_by_all_models():
    told = set()
    for members in (34, 31):
        records = materials(noise(44), members)
        enough = len(records.members) // records.classes
        assert "notices" not in mist.train(changed(parts=enough), records, STREAMS).facts
        (notice,) = mist.train(changed(parts=14), records, STREAMS).facts.notices
        told.add(notice)
    assert len(told) == 1
    assert "fewer records than there are classes (" in told.pop()
