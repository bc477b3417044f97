"""Models trained as one batched computation against the same models trained alone: their streams are the same."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from reticent.data.records import Records
from reticent.errors import TrainingDivergedError
from reticent.models.mlp import FC, MLP
from reticent.models.transformer import Transformer
from reticent.models.user import Factory
from reticent.objectives.distillation import Distillation
from reticent.objectives.focal import Focal
from reticent.objectives.label_smoothing import LabelSmoothing
from reticent.procedures.plain import train, train_together
from reticent.samplers.base import Memorisation
from reticent.samplers.rmr import Rmr
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

SMALL = Recipe(architecture=MLP(widths=(13,)), epochs=4, batch_size=16, learning_rate=0.01)
STEADY = SMALL.replace(optimizer="sgd", learning_rate=0.05)
NORMED = STEADY.replace(architecture=Factory(factory="stack_networks:normed"))
TEXTS = STEADY.replace(architecture=Transformer(dim=8, heads=2, hidden=12, depth=1))
COUNTS = (64, 57, 49, 66, 64)
"""Members of each model: the last batches have 16, 9, 17, 2 and 16 records."""


def blobs(n=140):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return Records.make(rng.normal(size=(n, 8)).astype(np.float32) + 2 * np.eye(8, dtype=np.float32)[y], y)


def texts(n=140):
    rng = np.random.default_rng(0)
    return Records.make(rng.integers(0, 9, (n, 6)), np.arange(n) % 3)


def pictures(n=140):
    rng = np.random.default_rng(0)
    return Records.make(rng.integers(0, 256, (n, 5, 5, 1), dtype=np.uint8), np.arange(n) % 3)


def materials(records, counts=COUNTS, **more):
    """What models are trained from that have so many members each, of one table."""
    prepare = Preparation(records, torch.device("cpu"))
    table = prepare.examples(records, np.arange(140))
    take = lambda *span: table.take(torch.arange(*span))  # noqa: E731
    return [
        Materials(take(count), take(110, 140), take(110, 110), prepare, records.classes, **more) for count in counts
    ]


def both(recipe, records, **more):
    given, streams = materials(records, **more), [Streams(0, row) for row in range(5)]
    alone = [train(recipe, *each) for each in zip(given, streams, strict=True)]
    return alone, train_together(recipe, given, streams)


def apart(one, other):
    first, second = one.model.state_dict(), other.model.state_dict()
    assert first.keys() == second.keys()
    return max(float((first[key].double() - second[key].double()).abs().max()) for key in first)


@pytest.mark.parametrize(
    ("recipe", "records"),
    [
        (SMALL, blobs()),
        (SMALL.replace(architecture=FC(widths=(13, 5), dropout=0.3)), blobs()),
        (NORMED, blobs()),
        (TEXTS, texts()),
        (SMALL.replace(augmentation="gaussian", clip_norm=0.5, weight_decay=0.01), blobs()),
        (SMALL.replace(optimizer="adamw", weight_decay=0.1), pictures()),
        (SMALL.replace(objective=LabelSmoothing(smoothing=0.2)), blobs()),
        (SMALL.replace(objective=Focal(gamma=2.0)), blobs()),
        (SMALL.replace(architecture=Factory(factory="stack_networks:not_a_chain")), blobs()),
    ],
    ids=[
        "mlp",
        "dropout",
        "batch-norm",
        "transformer",
        "augmentation",
        "pictures",
        "smoothing",
        "focal",
        "not-a-chain",
    ],
)
def test_after_one_step_they_are_those_trained_alone_to_1e5(recipe, records):
    alone, together = both(recipe.replace(stop_after=0.25), records)
    assert max(map(apart, alone, together)) < 1e-5
    assert all(apart(one, other) > 1e-3 for one, other in pairwise(alone))


@pytest.mark.parametrize(
    ("recipe", "records"),
    [
        (STEADY, blobs()),
        (STEADY.replace(schedule="cosine", warmup_epochs=1.0, clip_norm=0.5, weight_decay=1e-3), blobs()),
        (STEADY.replace(augmentation="gaussian"), blobs()),
        (STEADY.replace(architecture=FC(widths=(13, 5), dropout=0.3), stop_after=0.75), blobs()),
        (NORMED, blobs()),
        (TEXTS, texts()),
        (STEADY.replace(stop_after=2.5), blobs()),
    ],
    ids=["mlp", "schedule", "augmentation", "dropout", "batch-norm", "transformer", "stopped"],
)
def test_each_sees_its_own_batches_to_the_end(recipe, records):
    alone, together = both(recipe, records)
    assert max(map(apart, alone, together)) < 1e-4
    for one, other in zip(alone, together, strict=True):
        assert other.history.loss == pytest.approx(one.history.loss, rel=1e-5)
        assert all(torch.equal(other.initial[key], value) for key, value in one.initial.items())
        assert not any(part.training for part in other.model.modules())
        assert all(parameter.grad is None for parameter in other.model.parameters())


@pytest.mark.parametrize("soft", [False, True])
def test_each_goes_by_what_is_known_of_its_own_members(soft):
    """Scores of a sampler, of which some have more risky members than others, and soft targets; the rate falls."""
    recipe = STEADY.replace(sampler=Rmr(strength=0.3, threshold=0.5), weight_decay=1e-3, schedule="linear")
    streams = [Streams(0, row) for row in range(len(COUNTS))]

    common = materials(blobs())

    def given():
        for row, count in enumerate(COUNTS):
            drawn = torch.rand((count, 4), generator=torch.Generator().manual_seed(row))
            known = Memorisation(drawn[:, 3].double() ** (row + 1), torch.zeros(count, dtype=torch.float64))
            wanted = Distillation((5 * drawn[:, :3]).softmax(dim=1)) if soft else None
            yield replace(common[row], memorisation=known, instead=wanted)

    alone = [train(recipe, *each) for each in zip(given(), streams, strict=True)]
    together = train_together(recipe, [*given()], streams)
    assert max(map(apart, alone, together)) < 1e-4


def test_each_stops_early_by_itself_and_keeps_its_best_state():
    alone, together = both(STEADY.replace(patience=1, epochs=30, learning_rate=0.4), blobs(), traced=True)
    lengths = [len(one.history.loss) for one in alone]
    assert len(set(lengths)) > 1
    assert [len(one.history.loss) for one in together] == lengths
    assert [one.history.kept for one in together] == [one.history.kept for one in alone]
    assert max(map(apart, alone, together)) < 1e-4
    for one, other in zip(alone, together, strict=True):
        traced = (torch.stack(each.history.member_losses) for each in (one, other))
        assert torch.allclose(*traced, atol=1e-4)


@pytest.mark.parametrize(
    ("recipe", "records"),
    [
        (SMALL.replace(architecture=FC(widths=(13, 5), dropout=0.3)), blobs()),
        (NORMED, blobs()),
        (TEXTS, texts()),
        (SMALL, pictures()),
        (SMALL.replace(objective=Focal(gamma=2.0)), blobs()),
    ],
    ids=["dropout", "batch-norm", "transformer", "pictures", "focal"],
)
def test_who_else_is_in_the_stack_changes_no_bit(recipe, records):
    given, streams = materials(records), [Streams(0, row) for row in range(5)]

    def third(rows):
        made = train_together(recipe, [given[row] for row in rows], [streams[row] for row in rows])
        return made[rows.index(3)].model.state_dict()

    expected = third([0, 1, 2, 3, 4])
    for rows in ([3], [3, 1], [4, 0, 3]):
        assert all(torch.equal(value, expected[key]) for key, value in third(rows).items()), rows


def test_one_that_diverges_ends_none_of_the_others():
    wild = blobs()
    wild.x[70:80] *= 1e30
    given = materials(wild, (64, 90, 57))
    made = train_together(STEADY, given, [Streams(0, row) for row in range(3)])
    assert isinstance(made[1], TrainingDivergedError)
    assert "in epoch 1 of 4" in str(made[1])
    for row in (0, 2):
        assert apart(train(STEADY, given[row], Streams(0, row)), made[row]) < 1e-4
