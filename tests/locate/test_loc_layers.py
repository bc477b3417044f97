"""The first risky stage: exact cases, the rule, and networks that are trained as the paper says."""

from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import torch
from locate_networks import LADDER, Ladder, blobs, prepared
from scipy.stats import norm
from torch import nn

from reticent.data.records import Records, first_rows
from reticent.errors import InputError
from reticent.findings.locate import Effect, LayersDocument, OnsetRule, StageFound
from reticent.locate import layers
from reticent.locate.feature_maps import map_distances
from reticent.locate.group_split import group_split
from reticent.locate.layers import Contrast, Layers, equalised, onset
from reticent.locate.onset import first, judged
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.models.stages import stages
from reticent.procedures.base import fresh
from reticent.procedures.plain import train
from reticent.say import locate as say
from reticent.training.recipe import Recipe
from reticent.training.run import Run
from reticent.training.start import Start
from reticent.training.streams import Streams

QUICK = Layers(seeds=1, replicates=100)
SMALL = Recipe(architecture=MLP(widths=(16, 16)), epochs=3, batch_size=16, learning_rate=0.01)
NAMES = ("stage 1", "stage 2", "stage 3", "stage 4")


def decided(contrasts, options=QUICK, names=NAMES):
    return judged(names, [1] * len(names), contrasts, options, np.random.default_rng(0))


def told(onset):
    """The finding's sentences, from what the document of `locate layers` holds of it."""
    stages = tuple(
        StageFound.model_construct(
            name=one.name, effect=Effect(mean=one.effect, interval=(one.low, one.high)), effects=one.runs,
            above=one.above,
        )
        for one in onset.stages
    )  # fmt: skip
    rule = OnsetRule(
        stage=onset.name, index=onset.index, safe=onset.safe, risky=onset.risky, margin=onset.margin,
        confidence=onset.confidence, contrasts=len(onset.stages[0].runs),
    )  # fmt: skip
    document = LayersDocument.model_construct(onset=rule, stages=stages, models=())
    return SimpleNamespace(sentence=say._onset(document), detail=tuple(say._odd(document)))


def shifted(effects, n=4000, seed=0):
    """Distances, normal in both groups, whose effect at each stage is the one given."""
    rng = np.random.default_rng(seed)
    one = np.arange(n) < n // 2
    placed = norm.ppf((np.arange(n // 2) + 0.5) / (n // 2))
    rows = [np.r_[rng.permutation(placed) + np.sqrt(2) * norm.ppf(effect), placed] for effect in effects]
    return Contrast(np.array(rows), one)


def compared(begins, shift):
    with torch.random.fork_rng():
        one, other = Ladder(), Ladder(begins, shift)
        other.load_state_dict(one.state_dict())
    records = blobs()
    materials = prepared(records)
    found = stages(one, LADDER)
    gap = map_distances(one, other, materials.members.x, materials.prepare, 2, found)
    contrast = Contrast(gap.distances, records.x[:, -1] > 0)
    return judged([stage.name for stage in found], gap.sizes, [contrast], QUICK, np.random.default_rng(0))


def test_identical_networks_have_no_onset():
    found = compared(0, 0.0)
    assert [(stage.effect, stage.low, stage.high) for stage in found.stages] == [(0.5, 0.5, 0.5)] * 5
    assert (found.index, found.name, found.risky) == (None, None, ())
    assert told(found).sentence.startswith("No stage shows membership")
    assert told(found).detail == ()


@pytest.mark.parametrize("begins", [1, 2, 3, 4])
def test_a_shift_from_a_stage_on_is_found_there(begins):
    found = compared(begins, 5.0)
    assert (found.index, found.name) == (begins - 1, LADDER[begins - 1])
    assert [stage.effect for stage in found.stages] == [0.5] * (begins - 1) + [1.0] * (6 - begins)
    assert found.safe + found.risky == (*LADDER,)
    assert found.risky[0] == found.name


def test_the_head_alone_and_all_stages_are_warned_of():
    (only,) = told(decided([shifted([0.5, 0.5, 0.5, 0.8])])).detail
    assert "nothing but the classifier to train again" in only
    (every,) = told(decided([shifted([0.8] * 4)])).detail
    assert every == "Every stage is found risky: nothing is left to freeze."


def test_a_tiny_shift_of_many_records_is_no_onset():
    found = decided([shifted([0.53] * 4, n=20_000)])
    assert all(stage.low > 0.515 for stage in found.stages), "each is significant"
    assert found.index is None
    assert decided([shifted([0.53] * 4, n=20_000)], QUICK.replace(margin=0.02)).index == 0


def test_a_large_effect_of_few_records_is_no_onset():
    found = decided([shifted([0.56] * 4, n=40)])
    assert all(stage.effect > 0.55 and stage.low < 0.5 for stage in found.stages)
    assert found.index is None


def test_later_stages_must_hold_what_earlier_ones_show():
    found = decided([shifted([0.7, 0.5, 0.7, 0.7])])
    assert found.index == 2
    assert told(found).detail == (
        "Stage 1 shows membership, but a later stage does not: the rule asks for all later ones.",
    )
    none = decided([shifted([0.7, 0.7, 0.7, 0.5])])
    assert none.index is None
    assert told(none).detail[0].startswith("Stage 1, stage 2, stage 3 show membership")


@pytest.mark.parametrize(
    ("above", "place"),
    [([], None), ([False], None), ([True], 0), ([True, False], None), ([False, True, True], 1), ([True] * 3, 0)],
)
def test_the_first_of_those_that_hold_to_the_end(above, place):
    assert first(above) == place


def test_contrasts_are_averaged_and_single_ones_told():
    found = decided([shifted([0.5, 0.5, 0.5, 0.8]), shifted([0.5, 0.5, 0.62, 0.8]), shifted([0.5, 0.5, 0.62, 0.8])])
    third = found.stages[2]
    assert third.runs == pytest.approx((0.5, 0.62, 0.62), abs=0.01)
    assert third.effect == pytest.approx(0.58, abs=0.01)
    assert found.index == 2
    assert "At stage 3, 1 of 3 contrasts are below 0.55" in told(found).detail[0]
    assert third.above is True


class Kept(Run):
    """Notes how each network begins, and what it is given."""

    seen: ClassVar[list] = []

    def __init__(self, model, recipe, materials, objective, streams):
        state = {name: value.clone() for name, value in model.state_dict().items()}
        super().__init__(model, recipe, materials, objective, streams)
        type(self).seen.append((state, len(materials.members), recipe, self.objective, self.order.get_state(), self))


@pytest.fixture
def noted(monkeypatch):
    Kept.seen = []
    plain_fit = layers.fit
    monkeypatch.setattr(layers, "fit", lambda *given: plain_fit(*given, make=Kept))
    return Kept.seen


def test_networks_of_a_repetition_begin_alike_and_draw_alike(noted):
    found = onset(SMALL, prepared(blobs()), Streams(0, 3), QUICK.replace(seeds=2))
    sizes = [size for _, size, *_ in noted]
    assert sizes == [200, 100, 100] * 2
    begun = [entry[0] for entry in noted]
    orders = [entry[4] for entry in noted]
    for k in (0, 3):
        assert all(torch.equal(begun[k][n], begun[j][n]) for j in (k + 1, k + 2) for n in begun[k])
        assert all(torch.equal(orders[k], orders[j]) for j in (k + 1, k + 2))
    assert not all(torch.equal(begun[0][n], begun[3][n]) for n in begun[0])
    assert not torch.equal(orders[0], orders[3])
    assert len(found.stages[0].runs) == 4


def test_the_first_network_is_that_of_plain_training_and_may_be_given(noted):
    materials, streams = prepared(blobs()), Streams(0, 3)
    plain = train(SMALL, materials, streams)
    alone = onset(SMALL, materials, streams, QUICK)
    trained = len(noted)
    assert noted[0][0].keys() == plain.initial.keys()
    assert all(torch.equal(plain.initial[n], value) for n, value in noted[0][0].items())
    given = onset(SMALL, materials, streams, QUICK, whole=plain.model)
    assert (trained, len(noted)) == (3, 5)
    assert given == alone


def test_steps_are_counted_and_made_equal(noted):
    onset(SMALL, prepared(blobs()), Streams(0, 0), QUICK.replace(swap=False))
    onset(SMALL, prepared(blobs()), Streams(0, 0), QUICK.replace(swap=False, equalise="steps"))
    steps = [entry[5].step for entry in noted]
    assert steps == [3 * 13, 3 * 7, 3 * 13, 6 * 7]
    assert [entry[2].epochs for entry in noted] == [3, 3, 3, 6]


def test_equal_steps_stretch_the_whole_schedule():
    recipe = SMALL.replace(epochs=10, warmup_epochs=2.0, stop_after=7.5, schedule="cosine")
    assert equalised(recipe, 200, 100, QUICK) == recipe
    more = equalised(recipe, 1600, 800, QUICK.replace(equalise="steps"))
    assert (more.epochs, more.warmup_epochs, more.stop_after) == (20, 4.0, 15.0)
    assert more.replace(epochs=10, warmup_epochs=2.0, stop_after=7.5) == recipe


def test_the_same_streams_give_the_same_onset_and_the_members_alone_decide():
    materials = prepared(blobs())
    found = onset(SMALL, materials, Streams(0, 1), QUICK)
    others = prepared(blobs(seed=5))
    held = replace(materials, reference=others.members, validation=others.members, watched=others.members)
    assert onset(SMALL, held, Streams(0, 1), QUICK) == found
    assert onset(SMALL, materials, Streams(0, 2), QUICK) != found


def test_a_start_is_not_taken_over():
    materials, streams = prepared(blobs()), Streams(0, 0)
    state = {name: torch.zeros_like(value) for name, value in fresh(SMALL, materials, streams).state_dict().items()}
    started = replace(materials, start=Start(state))
    assert onset(SMALL, started, streams, QUICK) == onset(SMALL, materials, streams, QUICK)


def test_a_defense_is_measured_as_plain_training():
    from reticent.objectives.relaxloss import RelaxLoss

    materials = prepared(blobs())
    defended = SMALL.replace(objective=RelaxLoss())
    assert onset(defended, materials, Streams(0, 0), QUICK) == onset(SMALL, materials, Streams(0, 0), QUICK)


def test_augmentation_is_for_training_only():
    records = images()
    materials = prepared(records)
    recipe = Recipe(architecture=CNN(widths=(4, 8)), epochs=1, batch_size=16, augmentation="flip-crop", padding=2)
    found = onset(recipe, materials, Streams(0, 0), QUICK.replace(swap=False))
    network = train(recipe, materials, Streams(0, 0)).model
    same = map_distances(network, network, materials.members.x, materials.prepare, 2, stages(network))
    assert (same.distances == 0).all()
    assert [stage.size for stage in found.stages] == list(same.sizes)


def images(n=64):
    rng = np.random.default_rng(0)
    return Records.make(rng.integers(0, 256, (n, 8, 8, 3), dtype=np.uint8), np.arange(n) % 2)


def test_too_few_members_are_refused_before_training(noted):
    with pytest.raises(InputError, match=r"at least 10 records in each half .* got 9 of 18: take more records"):
        onset(SMALL, prepared(blobs(n=18)), Streams(0, 0), QUICK)
    assert noted == []


def test_no_network_leaves_with_the_finding():
    found = onset(SMALL, prepared(blobs()), Streams(0, 0), QUICK.replace(swap=False))
    held = [value for stage in found.stages for value in vars(stage).values()] + list(vars(found).values())
    assert not any(isinstance(value, (nn.Module, torch.Tensor)) for value in held)


def test_exact_duplicates_stay_on_one_side():
    x = torch.tensor([[0.0], [1.0], [0.0], [2.0], [1.0], [3.0]])
    groups = first_rows(x.numpy())
    assert groups.tolist() == [0, 1, 0, 3, 1, 5]
    drawn = [group_split(groups, 0.5, np.random.default_rng(seed)) for seed in range(20)]
    assert all(half[0] == half[2] and half[1] == half[4] for half in drawn)
    # Pairs first come to 2 or 4 of 6, which are as near to 3: the fewer are taken.
    assert {int(half.sum()) for half in drawn} == {2, 3}


def test_a_half_is_a_half_and_another_draw_is_another():
    drawn = [group_split(np.arange(101), 0.5, np.random.default_rng(seed)) for seed in range(40)]
    assert {int(half.sum()) for half in drawn} <= {50, 51}
    assert np.mean(drawn, axis=0) == pytest.approx(np.full(101, 0.5), abs=0.3)
    assert int(group_split(np.arange(1000), 0.2, np.random.default_rng(0)).sum()) == 200


@pytest.mark.slow
def test_labels_learned_by_heart_show_more_with_every_stage():
    rng = np.random.default_rng(0)
    records = Records.make(rng.normal(size=(240, 20)).astype(np.float32), rng.permutation(240) % 2)
    recipe = Recipe(architecture=MLP(widths=(48, 48, 48)), epochs=60, batch_size=32, learning_rate=3e-3)
    found = onset(recipe, prepared(records), Streams(0, 0), QUICK)
    effects = [stage.effect for stage in found.stages]
    assert effects == sorted(effects)
    assert effects[-1] > 0.8
    assert found.index is not None
    untrained = recipe.replace(epochs=1, learning_rate=1e-7)
    assert onset(untrained, prepared(records), Streams(0, 0), QUICK).index is None
