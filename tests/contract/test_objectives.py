"""What holds for every objective of the table: each trains a tiny model through the one loop.

A new objective is taken in by itself, and held to what its entry says (`off`, `per_record`, `needs`, `check_kind`).
Where its definition needs an exception, the tables below say it and why; a name that no objective has fails.
"""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_records import BINARY, IMAGES, SMALL, TOKENS, blobs, images, materials, tokens

from reticent.errors import InputError, RolesError
from reticent.models.mlp import MLP
from reticent.objectives import OBJECTIVES, Batch
from reticent.procedures.base import fresh
from reticent.procedures.plain import train, train_together
from reticent.procedures.recipe_checks import check
from reticent.training.loop import accuracy, fit
from reticent.training.run import Run
from reticent.training.streams import Streams

OPTIONS = {
    "adv-reg": {"attacker_steps": 1, "attacker_learning_rate": 0.05},
    "mixup-mmd": {"gap": 0.0},
    "past": {"tuning_epochs": 2},
    "relaxloss": {"level": 0.6},
}
"""Options for tiny models: fewer and longer steps, a second pass however small the gap, a level below ln 2."""
OWN_LOSS = {"relaxloss": lambda losses: losses[::2]}
"""What of the losses is to fall, where it is not all: odd epochs of RelaxLoss minimise another loss than even ones."""
ASKS_IN_TRAINING = {name for name, entry in OBJECTIVES.items() if entry.asks_in_training}
names = pytest.mark.parametrize("name", OBJECTIVES)


def spec(name, **options):
    return OBJECTIVES[name].spec(**(OPTIONS.get(name, {}) | options))


def state(trained):
    return {key: value.clone() for key, value in trained.model.state_dict().items()}


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def trained(name, recipe, given, streams=Streams(0, 0), **options):  # noqa: B008
    made = train(recipe.replace(objective=spec(name, **options)), given, streams)
    assert all(torch.isfinite(value).all() for value in made.model.state_dict().values())
    assert np.isfinite(made.history.loss).all()
    return made


def refused(name, kind):
    try:
        OBJECTIVES[name].check_kind(spec(name), kind)
    except InputError:
        return True
    return False


def test_the_tables_name_objectives_that_exist():
    assert {*OPTIONS, *OWN_LOSS} <= set(OBJECTIVES)


@names
def test_its_own_loss_falls_and_the_model_learns(name):
    given = materials(blobs())
    made = trained(name, SMALL.replace(epochs=13), given)
    losses = OWN_LOSS.get(name, list)(made.history.loss)
    second = OBJECTIVES[name].build(spec(name)).then()
    assert len(made.history.loss) == 13 + (second.epochs if second else 0)
    assert losses[-1] < losses[0] - 0.2 * abs(losses[0])
    assert accuracy(made.model, given, given.validation) > 0.7


@names
def test_the_same_seed_gives_the_same_bits_and_another_row_other_ones(name):
    first, again, other = (
        state(trained(name, SMALL, materials(blobs()), streams=Streams(0, row))) for row in (0, 0, 1)
    )
    assert same(first, again)
    assert not same(first, other)


@names
def test_an_objective_forgets_the_run_before(name):
    recipe, given = SMALL.replace(objective=spec(name), epochs=3), materials(blobs())
    used = OBJECTIVES[name].build(recipe.objective)
    fit(fresh(recipe, given, Streams(0, 5)), recipe, given, used, Streams(0, 5))
    second = fresh(recipe, given, Streams(0, 0))
    history = fit(second, recipe, given, used, Streams(0, 0))
    anew = train(recipe, given, Streams(0, 0))
    assert history.loss == anew.history.loss
    assert same(second.state_dict(), state(anew))


@names
def test_a_run_that_ends_early_is_the_beginning_of_the_whole_one(name):
    whole, part = (trained(name, SMALL.replace(stop_after=stop), materials(blobs())) for stop in (None, 2))
    assert part.history.loss == whole.history.loss[:2]


@names
def test_what_switches_it_off_leaves_plain_training_to_the_bit(name):
    entry = OBJECTIVES[name]
    assert entry.off, f"say in {name}'s entry by which options it is plain training, such as off=(Mine(weight=0.0),)"
    dropped = SMALL.replace(architecture=MLP(widths=(16,), dropout=0.25), epochs=7)
    for recipe, records in ((dropped, blobs()), (IMAGES, images())):
        given = materials(records)
        plain = train(recipe, given, Streams(0, 0))
        for options in entry.off:
            off = train(recipe.replace(objective=options), given, Streams(0, 0))
            assert same(state(off), state(plain)), f"off={options} is not plain training"
            assert off.history.loss == plain.history.loss, options
        if entry.spec() not in entry.off and recipe is dropped:
            assert trained(name, recipe, given).history.loss != plain.history.loss


@pytest.mark.parametrize("name", sorted(set(OBJECTIVES) - ASKS_IN_TRAINING))
def test_models_trained_together_are_those_trained_alone(name):
    recipe = SMALL.replace(objective=spec(name), optimizer="sgd", learning_rate=0.05, epochs=3)
    every, streams = materials(blobs()), [Streams(0, row) for row in range(3)]
    given = [replace(every, members=every.members.first(count)) for count in (50, 64, 57)]
    alone = [train(recipe, *each) for each in zip(given, streams, strict=True)]
    together = train_together(recipe, given, streams)
    for one, other in zip(alone, together, strict=True):
        assert other.history.loss == pytest.approx(one.history.loss, rel=1e-5)
        assert other.facts.notices == one.facts.notices
        for key, value in state(one).items():
            assert torch.allclose(state(other)[key], value, rtol=0, atol=1e-5), key


@names
def test_images_with_batch_norm(name):
    made = trained(name, IMAGES, materials(images(), 49))
    seen = {key: int(value) for key, value in state(made).items() if key.endswith("num_batches_tracked")}
    steps = 3 * IMAGES.epochs
    assert seen
    assert all((count > steps) if name in ASKS_IN_TRAINING else (count == steps) for count in seen.values())


@names
def test_a_head_of_one_logit(name):
    made = trained(name, BINARY.replace(epochs=13), materials(blobs(classes=2)))
    given = materials(blobs(classes=2))
    assert accuracy(made.model, given, given.validation) > 0.7


@names
def test_tokens(name):
    if refused(name, "tokens"):
        with pytest.raises(InputError, match=name):
            trained(name, TOKENS, materials(tokens()))
        return
    made = trained(name, TOKENS, materials(tokens()))
    assert not same(state(made), made.initial)


@names
@pytest.mark.parametrize(("members", "size"), [(33, 16), (7, 1), (1, 16), (2, 2), (3, 2)])
def test_batches_of_one_and_few_records(name, members, size):
    made = trained(name, SMALL.replace(batch_size=size, epochs=2), materials(blobs(), members))
    assert not same(state(made), made.initial)


@names
def test_half_precision(name):
    given = materials(blobs())
    made = trained(name, SMALL.replace(precision="bfloat16", epochs=13), given)
    assert accuracy(made.model, given, given.validation) > 0.7
    assert {value.dtype for value in made.model.state_dict().values()} == {torch.float32}


@names
@pytest.mark.parametrize("records", [blobs, images])
def test_records_stay_as_they_are(name, records):
    given, before = materials(records()), materials(records())
    trained(name, IMAGES if records is images else SMALL, given)
    for role in ("members", "reference", "validation"):
        one, other = getattr(given, role), getattr(before, role)
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.y, other.y)


class Watched(Run):
    """A run that looks at the global generators before and after each epoch."""

    def epoch(self, epoch, batches):
        before = self.generators()
        loss = super().epoch(epoch, batches)
        assert self.generators() == before, f"something drew from a global generator in epoch {epoch}"
        return loss

    @staticmethod
    def generators():
        return torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002


@names
def test_global_generators_are_not_drawn_from(name):
    recipe, given = SMALL.replace(objective=spec(name)), materials(blobs())
    model, objective = fresh(recipe, given, Streams(0, 0)), OBJECTIVES[name].build(recipe.objective)
    history = fit(model, recipe, given, objective, Streams(0, 0), make=Watched)
    assert history.loss == trained(name, SMALL, given).history.loss


def losses_of_batches(name, epoch, **options):
    """Return the loss of a batch of six records, and the mean of their losses one by one, at the same weights."""
    recipe, given = SMALL.replace(objective=spec(name, **options), batch_size=6), materials(blobs(), 6)
    objective = OBJECTIVES[name].build(recipe.objective)
    run = Run(fresh(recipe, given, Streams(0, 0)), recipe, given, objective, Streams(0, 0))
    objective.start_epoch(epoch)

    def loss(rows):
        ids = torch.tensor(rows)
        x, y, batch = given.members.x[ids], given.members.y[ids], Batch(ids, epoch)
        return objective(run.ask(objective.inputs(x, y, batch)), y, batch).item()

    return loss(range(6)), sum(loss([row]) for row in range(6)) / 6


@pytest.mark.parametrize("name", [name for name, entry in OBJECTIVES.items() if entry.per_record])
@pytest.mark.parametrize("epoch", [0, 1, 3])
def test_a_loss_per_record_is_the_mean_of_the_losses_of_single_records(name, epoch):
    whole, parts = losses_of_batches(name, epoch)
    assert whole == pytest.approx(parts, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("name", "options"), [("ppb", {}), ("relaxloss", {"level": 1.0})])
def test_a_loss_of_the_batch_is_not(name, options):
    assert not OBJECTIVES[name].per_record
    whole, parts = losses_of_batches(name, 0, **options)
    assert abs(whole - parts) > 0.01


@names
def test_what_it_needs_is_asked_for_before_training(name):
    recipe = SMALL.replace(objective=spec(name))
    check(recipe, reference=30)
    if OBJECTIVES[name].needs:
        with pytest.raises(RolesError, match=f"{name} needs the defender's reference"):
            check(recipe, reference=0)
    else:
        check(recipe, reference=0)
