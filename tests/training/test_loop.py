import gc
import math
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from reticent.data.records import Records
from reticent.errors import InputError, ModelError, SpecError, TrainingDivergedError
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES
from reticent.objectives.hamp import Hamp
from reticent.objectives.past import Past
from reticent.procedures.plain import train
from reticent.training import loop
from reticent.training.data import Preparation
from reticent.training.loop import fit, planned
from reticent.training.materials import Materials, forward, untrained
from reticent.training.recipe import Recipe
from reticent.training.run import Run, _weights, batch_sizes
from reticent.training.streams import Streams

SMALL = Recipe(architecture=MLP(widths=(16,)), epochs=4, batch_size=16, learning_rate=0.01)


def blobs(n=96, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    x = rng.normal(size=(n, 8)).astype(np.float32)
    x[:, :classes] += 2 * np.eye(classes, dtype=np.float32)[y]
    return Records.make(x, y)


def images(n=64, seed=0):
    rng = np.random.default_rng(seed)
    return Records.make(rng.integers(0, 256, (n, 8, 8, 3), dtype=np.uint8), np.arange(n) % 2)


def materials(records, members, validation=()):
    prepare = Preparation(records, torch.device("cpu"))
    take = lambda ids: prepare.examples(records, np.asarray(ids, dtype=np.int64))  # noqa: E731
    return Materials(take(members), take(validation), take(()), prepare, records.classes)


def state(trained):
    return {k: v.clone() for k, v in trained.model.state_dict().items()}


def same(a, b):
    return all(torch.equal(a[k], b[k]) for k in a) and a.keys() == b.keys()


def test_training_lowers_the_loss_and_ends_in_eval_mode():
    trained = train(SMALL, materials(blobs(), range(64)), Streams(0, 0))
    assert trained.history.loss[-1] < 0.8 * trained.history.loss[0]
    assert not any(m.training for m in trained.model.modules())
    assert len(trained.history.loss) == 4


@pytest.mark.parametrize("name", ["cross-entropy", "relaxloss", "past", "adv-reg"])
def test_optimizers_and_gradients_are_gone_when_training_ends_without_a_garbage_collector(name):
    runs = []

    def make(*given):
        made = Run(*given)
        runs.append(weakref.ref(made))
        return made

    given = materials(blobs(), range(64))
    given = replace(given, reference=given.members.take(torch.arange(32)))
    recipe = SMALL.replace(objective=OBJECTIVES[name].spec())
    model, loss = untrained(recipe, given, Streams(0, 0)), OBJECTIVES[name].build(recipe.objective)
    gc.disable()
    try:
        fit(model, recipe, given, loss, Streams(0, 0), make=make)
        assert len(runs) == 1 + (name == "past")
        assert not any(one() for one in runs)
    finally:
        gc.enable()
    assert all(parameter.grad is None for parameter in model.parameters())


def test_tracing_members_moves_no_bit_and_gives_their_losses_before_training_and_after_every_epoch():
    dropping = SMALL.replace(architecture=MLP(widths=(16,), dropout=0.3), augmentation="gaussian")
    for recipe in (dropping, dropping.replace(patience=1, epochs=9), SMALL.replace(objective=Past(tuning_epochs=2))):
        given = materials(blobs(), range(64), range(64, 96))
        given = replace(given, reference=given.validation)
        plain, traced = (train(recipe, replace(given, traced=one), Streams(0, 0)) for one in (False, True))
        assert same(state(plain), state(traced))
        assert plain.history.loss == traced.history.loss
        losses = torch.stack(traced.history.member_losses)
        assert losses.shape == (len(plain.history.loss) + 1, 64)
        logits = traced.model(given.members.x)
        last = nn.functional.cross_entropy(logits.double(), given.members.y, reduction="none")
        assert losses[traced.history.kept + 1] == pytest.approx(last.detach().float(), rel=1e-6)
        traced.model.load_state_dict(traced.initial)
        first = nn.functional.cross_entropy(traced.model(given.members.x), given.members.y, reduction="none")
        assert losses[0] == pytest.approx(first.detach(), rel=1e-5)
        assert not plain.history.member_losses


def test_the_same_seed_gives_the_same_bits_and_another_row_other_ones():
    m = materials(blobs(), range(64))
    first, again, other = (state(train(SMALL, m, Streams(0, row))) for row in (0, 0, 1))
    assert same(first, again)
    assert not same(first, other)


def test_the_initial_state_is_the_fresh_one():
    m = materials(blobs(), range(64))
    once = train(SMALL.replace(epochs=1), m, Streams(0, 0))
    twice = train(SMALL.replace(epochs=2), m, Streams(0, 0))
    assert same(once.initial, twice.initial)
    assert not same(once.initial, state(once))


def test_streams_are_separate_augmentation_moves_neither_initialisation_nor_order():
    m = materials(images(), range(48))
    recipe = Recipe(architecture=CNN(widths=(4,)), epochs=2, batch_size=16)
    plain = train(recipe, m, Streams(0, 0))
    flipped = train(recipe.replace(augmentation="flip"), m, Streams(0, 0))
    assert same(plain.initial, flipped.initial)
    assert not same(state(plain), state(flipped))


def normed(**options):
    with torch.random.fork_rng(devices=[]):
        return nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6, **options), nn.Linear(6, 3))


def test_a_last_batch_of_one_record_joins_the_one_before_so_that_batchnorm_can_be_trained():
    model, recipe = normed(), SMALL.replace(epochs=3)
    fit(model, recipe, materials(blobs(), range(33)), OBJECTIVES["cross-entropy"].build(None), Streams(0, 0))
    assert int(model[1].num_batches_tracked) == 3 * 2  # of 16 and 17 records


def test_batchnorm_of_one_record_is_told_in_words_of_ours():
    x = torch.ones(1, 8)
    why = "the model has BatchNorm, which normalises a batch by its own mean and variance: expected batches of at least"
    with pytest.raises(ModelError) as training:
        forward(normed().train(), x, 3)
    assert str(training.value) == (
        f"{why} 2 records, got one of 1: give a larger --batch-size (a scoring has a batch size of its own)"
    )
    with pytest.raises(ModelError) as asking:
        forward(normed(track_running_stats=False).eval(), x, 3)
    assert str(asking.value) == (
        f"{why} 2 records, got one of 1: leave track_running_stats=False out, so that a finished model looks at one "
        "record at a time"
    )


def test_a_dropout_of_zero_reproduces_the_plain_run():
    m = materials(blobs(), range(64))
    plain = train(SMALL, m, Streams(0, 0))
    zero = train(SMALL.replace(architecture=MLP(widths=(16,), dropout=0.0)), m, Streams(0, 0))
    assert same(state(plain), state(zero))


def test_a_last_batch_of_one_record_joins_the_one_before():
    assert batch_sizes(65, 16) == [16, 16, 16, 17]
    assert batch_sizes(66, 16) == [16, 16, 16, 16, 2]
    assert batch_sizes(1, 16) == [1]
    assert batch_sizes(3, 1) == [1, 1, 1]
    recipe = Recipe(architecture=CNN(widths=(4,)), epochs=2, batch_size=16)
    one_by_one = Records.make(images().x[:, :, :2, :2], images().y)
    assert len(train(recipe, materials(one_by_one, range(49)), Streams(0, 0)).history.loss) == 2


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_every_optimizer_and_precision_learns(optimizer, precision):
    recipe = SMALL.replace(optimizer=optimizer, precision=precision, learning_rate=0.02, epochs=8, clip_norm=5.0)
    trained = train(recipe, materials(blobs(), range(64)), Streams(0, 0))
    assert trained.history.loss[-1] < trained.history.loss[0]
    assert all(p.dtype == torch.float32 for p in trained.model.parameters())


def test_early_stopping_keeps_the_best_epoch():
    recipe = SMALL.replace(epochs=200, patience=3, learning_rate=0.05)
    trained = train(recipe, materials(blobs(), range(48), range(48, 96)), Streams(0, 0))
    losses = trained.history.validation_loss
    assert len(losses) < 200
    assert trained.history.kept == int(np.argmin(losses))
    assert len(losses) == trained.history.kept + 1 + 3
    shorter = train(
        recipe.replace(epochs=trained.history.kept + 1, patience=None), materials(blobs(), range(48)), Streams(0, 0)
    )
    assert same(state(trained), state(shorter))


def test_early_stopping_keeps_the_best_epoch_after_one_whose_loss_is_not_a_number(monkeypatch):
    losses = iter([math.nan, 3.0, 1.0, 2.0, 2.0, 2.0, 0.5])
    monkeypatch.setattr(loop, "validation_loss", lambda *_: next(losses))
    recipe = SMALL.replace(epochs=9, patience=3)
    trained = train(recipe, materials(blobs(), range(48), range(48, 96)), Streams(0, 0))
    assert (trained.history.kept, len(trained.history.loss)) == (2, 6)


def test_stopping_after_some_epochs_is_the_beginning_of_the_longer_run():
    m = materials(blobs(), range(64))
    for schedule in ("constant", "cosine", "linear", "multistep"):
        longer = SMALL.replace(schedule=schedule)
        stopped = train(longer.replace(stop_after=2), m, Streams(0, 0))
        assert stopped.history.loss == train(longer, m, Streams(0, 0)).history.loss[:2]
    assert same(state(train(SMALL.replace(stop_after=4), m, Streams(0, 0))), state(train(SMALL, m, Streams(0, 0))))
    batches = [planned(SMALL.replace(stop_after=stop), 4) for stop in (0.01, 0.5, 1, 2.25, 4)]
    assert batches == [[1], [2], [4], [4, 4, 1], [4, 4, 4, 4]]
    half = train(SMALL.replace(stop_after=1.5), m, Streams(0, 0)).history.loss
    assert half[0] == train(SMALL, m, Streams(0, 0)).history.loss[0]
    assert len(half) == 2
    with pytest.raises(SpecError, match=r"stop_after at most epochs \(4\)"):
        SMALL.replace(stop_after=5)


def test_watching_records_changes_no_bit_and_gives_the_accuracy_after_every_epoch():
    recipe = SMALL.replace(architecture=MLP(widths=(16,), dropout=0.3))
    m = materials(blobs(), range(64))
    watched = replace(m, watched=m.prepare.examples(blobs(), np.arange(64, 96)))
    plain, seen = train(recipe, m, Streams(0, 0)), train(recipe, watched, Streams(0, 0))
    assert same(state(plain), state(seen))
    assert (plain.history.accuracy, len(seen.history.accuracy)) == ([], 4)
    with torch.no_grad():
        right = seen.model(m.prepare(watched.watched.x)).argmax(1) == watched.watched.y
    assert seen.history.accuracy[-1] == pytest.approx(float(right.double().mean()))
    prefix = train(recipe.replace(stop_after=2), watched, Streams(0, 0))
    assert prefix.history.accuracy == seen.history.accuracy[:2]


def test_early_stopping_needs_validation_records():
    with pytest.raises(InputError, match="needs validation records"):
        train(SMALL.replace(patience=2), materials(blobs(), range(64)), Streams(0, 0))


def test_divergence_is_named_with_the_epoch_and_the_rate():
    with pytest.raises(
        TrainingDivergedError, match=r"became (nan|inf) in epoch \d of 4: lower the learning rate \(1e\+30\)"
    ):
        train(SMALL.replace(optimizer="sgd", learning_rate=1e30), materials(blobs(), range(64)), Streams(0, 0))


def test_augmentation_of_features_is_refused():
    with pytest.raises(InputError, match="'flip' is for image records, got tabular"):
        train(SMALL.replace(augmentation="flip"), materials(blobs(), range(64)), Streams(0, 0))


def test_images_are_normalised():
    records = images()
    prepare = Preparation(records, torch.device("cpu"))
    x = prepare.examples(records, np.arange(4)).x
    expected = (records.x[:4] / 255 - 0.5) / 0.25
    assert x.dtype == torch.uint8
    assert np.allclose(prepare(x).numpy(), expected, atol=1e-6)


class Answer(torch.nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x):
        return self.value


def test_one_logit_becomes_two_and_cross_entropy_the_binary_one():
    z = torch.tensor([0.5, -2.0])
    for shape in ((2,), (2, 1)):
        logits = forward(Answer(z.view(shape)), torch.zeros(2, 3), 2)
        assert torch.equal(logits, torch.stack([torch.zeros(2), z], dim=1))
    y = torch.tensor([1, 0])
    binary = torch.nn.functional.binary_cross_entropy_with_logits(z, y.float())
    assert torch.nn.functional.cross_entropy(logits, y) == pytest.approx(binary.item())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (torch.zeros(2, 5), r"answered shape \(2, 5\) for 2 records: expected logits \(2, 3\)"),
        (torch.zeros(2, 1), r"answered shape \(2, 1\)"),
        ((torch.zeros(2, 3),), "must answer a tensor of logits, got tuple"),
    ],
)
def test_wrong_answers_are_named(answer, words):
    with pytest.raises(ModelError, match=words):
        forward(Answer(answer), torch.zeros(2, 3), 3)


def test_a_float64_model_gets_float64():
    double = torch.nn.utils.skip_init(torch.nn.Linear, 3, 2).double()
    assert forward(double, torch.zeros(4, 3), 2).dtype == torch.float64


def test_a_loss_that_a_defense_makes_infinite_names_its_weights():
    said = _weights(Recipe(objective=Hamp(alpha=1e300)))
    assert said == "; or hamp adds too much: make its weights smaller (alpha=1e+300)"
    assert _weights(Recipe(objective=Hamp())) == "; or hamp adds too much: make its weights smaller"
    assert _weights(Recipe()) == ""
