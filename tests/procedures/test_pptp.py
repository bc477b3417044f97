from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from random_records import images, noise
from random_records import materials as divided
from torch import nn

from reticent.errors import InputError, ModelError, SpecError, TrainingDivergedError
from reticent.findings.training import OnsetFacts, StageEffect
from reticent.locate import layers
from reticent.locate.layers import Layers, onset
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.models.resnet import ResNet20
from reticent.models.stages import stages
from reticent.models.user import Factory
from reticent.objectives import OBJECTIVES
from reticent.procedures import PROCEDURES, plain, pptp
from reticent.procedures.base import objective, snapshot
from reticent.procedures.dpsgd import DPSGD
from reticent.procedures.mist import Mist
from reticent.procedures.pptp import PPTP
from reticent.procedures.pptp.choice import place, possible, started
from reticent.procedures.recipe_checks import check
from reticent.procedures.selena import Selena
from reticent.procedures.two_stage import shortened
from reticent.training.materials import untrained
from reticent.training.recipe import Plain, Recipe
from reticent.training.run import Run
from reticent.training.start import Frozen
from reticent.training.streams import Streams

STREAMS = Streams(3, 1)
SMALL = Recipe(architecture=MLP(widths=(8, 6)), procedure=PPTP(stage=2), epochs=4, batch_size=8, learning_rate=0.01)
PICTURES = SMALL.replace(architecture=CNN(widths=(4, 6)), weight_decay=0.05)


def materials(records, members=24):
    return divided(records, members)


def changed(recipe, **options):
    return recipe.replace(procedure=recipe.procedure.replace(**options))


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def halves(state, *frozen):
    """Divide a state by the first part of its names."""
    names = [name for name in state if name.startswith(frozen)]
    assert names
    return {name: state[name] for name in names}, {name: value for name, value in state.items() if name not in names}


def first_training(recipe, given, **changes):
    """What plain training gives of the network that the recipe needs: with GroupNorm where that is for dpsgd."""
    bare = recipe.replace(procedure=Plain(), **changes)
    model = PROCEDURES["pptp"].network(recipe, given, STREAMS)
    plain.fit(model, bare, given, objective(bare), STREAMS)
    return snapshot(model)


@pytest.fixture
def runs(monkeypatch):
    """What every run of plain training begins with: state, names of what it trains, modules in eval mode."""
    seen = []

    def watching(model, recipe, given, objective, streams, fit=plain.fit):
        class Watched(Run):
            def training_mode(self):
                super().training_mode()
                if self.step == 0:
                    own = {id(p) for p in self.parameters}
                    names = {name for name, p in model.named_parameters() if id(p) in own}
                    quiet = {name for name, module in model.named_modules() if not module.training}
                    seen.append((snapshot(model), names, quiet, recipe, streams))

        return fit(model, recipe, given, objective, streams, make=Watched)

    monkeypatch.setattr(plain, "fit", watching)
    return seen


CASES = {
    "adam": (PICTURES, ("0.", "1.")),
    "sgd": (PICTURES.replace(optimizer="sgd", learning_rate=0.1, augmentation="flip-crop", padding=2), ("0.", "1.")),
    "adamw": (PICTURES.replace(optimizer="adamw", clip_norm=0.5), ("0.", "1.")),
    "relaxloss": (PICTURES.replace(objective=OBJECTIVES["relaxloss"].spec(level=0.5)), ("0.", "1.")),
    "residual": (
        changed(SMALL.replace(architecture=ResNet20(width=2), epochs=2), stage=2),
        ("stem.", "stages.0."),
    ),
    "mist": (changed(PICTURES, inner=Mist(parts=2, local_epochs=1)), ("0.", "1.")),
    "selena": (changed(PICTURES, inner=Selena(models=3, outside=1)), ("0.", "1.")),
    "adv-reg": (PICTURES.replace(objective=OBJECTIVES["adv-reg"].spec(attacker_steps=1)), ("0.", "1.")),
    "dpsgd": (changed(PICTURES, inner=DPSGD(noise=1.0)), ("0.", "1.")),
}


@pytest.mark.parametrize("case", CASES)
def test_stages_that_stay_keep_the_bits_of_plain_training_and_all_others_move(case):
    recipe, frozen = CASES[case]
    given = materials(images())
    made = pptp.train(recipe, given, STREAMS)
    safe, risky = halves(snapshot(made.model), *frozen)
    before = first_training(recipe, given, objective=OBJECTIVES["cross-entropy"].spec())
    assert same(safe, halves(before, *frozen)[0])
    assert any(name.endswith("running_mean") for name in safe) == (case != "dpsgd")
    assert all(not torch.equal(value, before[name]) for name, value in risky.items() if value.is_floating_point())
    count = sum(value.numel() for name, value in made.model.named_parameters() if name in safe)
    total = sum(value.numel() for value in made.model.parameters())
    told = made.facts.pptp
    assert (told.parameters_frozen, told.parameters, told.share_frozen) == (count, total, count / total)


@pytest.mark.parametrize(("case", "frozen"), [("adam", ("0.", "1.")), ("residual", ("stem.", "stages.0."))])
def test_risky_stages_begin_at_their_initial_values_and_safe_ones_are_out_of_the_optimizer(runs, case, frozen):
    recipe = CASES[case][0]
    given = materials(images())
    made = pptp.train(recipe, given, STREAMS)
    ((state, trained, quiet, its, streams),) = runs
    safe, risky = halves(state, *frozen)
    assert same(risky, halves(made.initial, *frozen)[1])
    assert same(safe, halves(snapshot(made.model), *frozen)[0])
    assert all(value == 0 for name, value in risky.items() if name.endswith("num_batches_tracked"))
    assert trained == {name for name, _ in made.model.named_parameters() if not name.startswith(frozen)}
    shown = stages(made.model)
    names = [name for name, _ in made.model.named_modules() if name]
    assert quiet == {
        name for name in names if any(stage.holds(f"{name}.") for stage in shown[: 2 if case[0] == "r" else 1])
    }
    assert (its.epochs, streams.path) == (recipe.epochs // 2, ("tuning",))


def test_without_eval_mode_the_statistics_of_safe_stages_would_move(monkeypatch):
    monkeypatch.setattr(Frozen, "quiet", lambda self: None)
    given = materials(images())
    safe, _ = halves(snapshot(pptp.train(PICTURES, given, STREAMS).model), "0.", "1.")
    before, _ = halves(first_training(PICTURES, given), "0.", "1.")
    assert same(*({k: v for k, v in part.items() if "running" not in k and "num" not in k} for part in (safe, before)))
    assert not torch.equal(safe["1.running_mean"], before["1.running_mean"])


def test_stages_may_go_back_to_an_early_epoch_or_stay_as_they_are(runs):
    given = materials(noise())
    starts = {}
    for rewind in ("initial", 1, 4, "trained"):
        pptp.train(changed(SMALL, rewind=rewind), given, STREAMS)
        starts[rewind] = runs.pop()[0]
    one, all_four = (first_training(SMALL, given, stop_after=float(n)) for n in (1, 4))
    frozen = ("0.",)
    assert same(halves(starts[1], *frozen)[1], halves(one, *frozen)[1])
    assert same(halves(starts[1], *frozen)[0], halves(all_four, *frozen)[0])
    assert same(starts[4], starts["trained"])
    assert same(starts["trained"], all_four)
    assert not torch.equal(starts["initial"]["2.weight"], starts[1]["2.weight"])


def test_the_first_training_may_be_class_wise_self_distillation(runs):
    given = materials(noise())
    pptp.train(changed(SMALL, pretraining="cs-kd", rewind="trained"), given, STREAMS)
    state = runs[-1][0]
    assert same(state, first_training(SMALL, given, objective=OBJECTIVES["cs-kd"].spec()))
    assert not same(state, first_training(SMALL, given))


def test_the_stage_may_be_the_last_that_stays():
    given = materials(noise())
    facts = [
        pptp.train(changed(SMALL, **options), given, STREAMS).facts
        for options in ({"stage": 1, "boundary": "frozen"}, {"stage": 2}, {"stage": "head", "boundary": "frozen"})
    ]
    assert [fact.pptp.frozen for fact in facts] == [("block 1",), ("block 1",), ("block 1", "block 2")]
    assert [bool(fact.notices) for fact in facts] == [False, False, True]
    assert "nothing be trained again: nothing but the classifier" in facts[2].notices[0]


def test_what_is_odd_about_a_given_stage_is_said():
    given = materials(noise())
    assert not pptp.train(SMALL, given, STREAMS).facts.notices
    last, whole = (pptp.train(changed(SMALL, stage=stage), given, STREAMS).facts for stage in ("head", 1))
    assert last.notices == (
        "pptp: nothing but the classifier was trained again, which Fang and Kim found not to take much from what tells "
        "members apart.",
    )
    assert whole.notices == (
        "pptp: no stage comes before the first that is trained again, so that nothing was frozen.",
    )
    assert whole.pptp.share_frozen == 0


def test_numbers_of_stages():
    residual = ["stem", "stage 1", "stage 2", "stage 3", "stage 4", "head"]
    assert [place(residual, k) for k in (1, 4, "stem", "head")] == [1, 4, 0, 5]
    assert [place(["block 1", "block 2", "head"], k) for k in (1, 2, 3, "block 2")] == [0, 1, 2, 1]
    with pytest.raises(
        SpecError, match="expected a number from 1 to 4, or a name, got 5: the network's stages are stem"
    ):
        place(residual, 5)
    with pytest.raises(SpecError, match="expected a number from 1 to 2, or a name, got 3"):
        place(["block 1", "head"], 3)
    with pytest.raises(SpecError, match=r"none named 'stage1': .*stage 1"):
        place(residual, "stage1")


def test_what_an_option_of_two_types_may_be_is_said_in_one_line():
    with pytest.raises(SpecError, match=r"^pptp: stage: expected greater than or equal to 1, or text, got 0$"):
        PPTP(stage=0)
    with pytest.raises(SpecError, match=r"widths.0: expected .*got 0\n.*widths.1: expected"):
        CNN(widths=(0, 0, 8))


def test_a_stage_from_which_nothing_is_trained_is_refused():
    with torch.random.fork_rng(devices=[]):
        model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    shown = stages(model)
    model[2].requires_grad_(False)
    possible(model, shown, PPTP(stage=1))
    with pytest.raises(SpecError, match=r"from 'head' on no parameter asks for a gradient.*give an earlier stage"):
        possible(model, shown, PPTP(stage="head"))
    with pytest.raises(SpecError, match="from 'head' on no parameter"):
        possible(model, shown, PPTP(stage=1, boundary="frozen"))
    possible(model, shown, PPTP())
    model.requires_grad_(False)
    with pytest.raises(SpecError, match="the network has no parameter that asks for a gradient"):
        possible(model, shown, PPTP())


def found(names, index):
    told = tuple(
        StageEffect(
            name=name,
            size=4,
            effect=0.7 if index is not None and place >= index else 0.5,
            low=0.5,
            high=0.8,
            ks=0.1,
            runs=(0.6,),
            above=True,
        )
        for place, name in enumerate(names)
    )
    name = None if index is None else names[index]
    return OnsetFacts(stages=told, index=index, margin=0.05, confidence=0.95, name=name)


@pytest.mark.parametrize(
    ("index", "boundary", "frozen", "said"),
    [
        (None, "trained", [], "no stage was found risky, so that nothing was frozen: the whole network was set back"),
        (None, "frozen", [], "no stage was found risky"),
        (0, "trained", [], "no stage comes before"),
        (1, "trained", ["block 1"], None),
        (2, "trained", ["block 1", "block 2"], "nothing but the classifier"),
        (1, "frozen", ["block 1", "block 2"], "nothing but the classifier"),
        (2, "frozen", ["block 1", "block 2"], "the last stage would stay too"),
    ],
)
def test_what_follows_from_a_measured_stage(monkeypatch, index, boundary, frozen, said):
    asked = []

    def measured(recipe, given, streams, options, *, whole, network):
        asked.append((options, whole))
        return found(["block 1", "block 2", "head"], index)

    monkeypatch.setattr(pptp, "onset", measured)
    options = {"stage": "auto", "boundary": boundary, "seeds": 1, "swap": False, "equalise": "steps", "margin": 0.1}
    given = materials(noise())
    made = pptp.train(changed(SMALL, **options), given, STREAMS)
    told = made.facts.pptp
    assert (list(told.frozen), told.chosen) == (frozen, "measured")
    assert list(told.trained_again) == ["block 1", "block 2", "head"][len(frozen) :]
    assert told.onset.index == index
    assert [stage.effect for stage in told.onset.stages][-1] == (0.5 if index is None else 0.7)
    notices = made.facts.notices
    assert len(notices) == (said is not None)
    assert said is None or notices[0].startswith(f"pptp, in models of which this was measured: {said}")
    ((layers, whole),) = asked
    assert layers == Layers(seeds=1, swap=False, equalise="steps", margin=0.1)
    assert whole is not None


@pytest.mark.parametrize(
    ("rewind", "went"), [("initial", "set back and trained again"), (1, "set back"), ("trained", "trained on as it")]
)
def test_what_happens_where_no_stage_is_risky_is_said(monkeypatch, rewind, went):
    monkeypatch.setattr(pptp, "onset", lambda *_, **__: found(["block 1", "block 2", "head"], None))
    made = pptp.train(changed(SMALL, stage="auto", rewind=rewind), materials(noise()), STREAMS)
    assert f"the whole network was {went}" in made.facts.notices[0]


def test_a_first_training_that_is_not_the_plain_one_spares_none(monkeypatch):
    asked = []
    names = ["block 1", "block 2", "head"]
    monkeypatch.setattr(pptp, "onset", lambda *_, whole, **__: asked.append(whole) or found(names, 1))
    pptp.train(changed(SMALL, stage="auto", pretraining="cs-kd"), materials(noise()), STREAMS)
    assert asked == [None]


def test_the_stage_is_measured_on_networks_such_as_the_one_that_is_repaired(monkeypatch):
    """With dpsgd all of them have GroupNorm, and the first training is the one of the measurement, bit for bit."""
    seen = []

    def watching(model, *rest):
        fit(model, *rest)
        seen.append((model, snapshot(model)))

    fit = layers.fit
    monkeypatch.setattr(layers, "fit", watching)
    recipe = changed(PICTURES, stage="auto", seeds=1, margin=0.1, inner=DPSGD(noise=1.0))
    given = materials(images())
    made = pptp.train(recipe, given, STREAMS)
    assert len(seen) == 2
    built = partial(PROCEDURES["pptp"].network, recipe)
    anew = onset(recipe, given, STREAMS, Layers(seeds=1, margin=0.1), network=built)
    assert [vars(one) for one in made.facts.pptp.onset.stages] == [vars(one) for one in anew.stages]
    assert len(seen) == 5
    for model, state in seen:
        norms = {type(one) for one in model.modules() if "Norm" in type(one).__name__}
        assert norms == {nn.GroupNorm}
        assert state.keys() == made.model.state_dict().keys()


def test_the_planted_stage_is_found_and_the_evidence_is_that_of_probes_trained_anew():
    recipe = SMALL.replace(
        architecture=Factory(factory="pptp_networks:fixed"),
        procedure=PPTP(seeds=1),
        epochs=60,
        learning_rate=0.03,
        batch_size=32,
    )
    given = materials(noise(150), 100)
    made = pptp.train(recipe, given, STREAMS)
    told = made.facts.pptp
    assert told.stage == "late"
    assert told.frozen == ("early",)
    first, *later = told.onset.stages
    assert (first.effect, first.above) == (0.5, False)
    assert all(stage.effect > 0.6 and stage.above for stage in later)
    assert torch.equal(made.initial["early.weight"], made.model.state_dict()["early.weight"])
    anew = onset(recipe, given, STREAMS, Layers(seeds=1))
    # So the first training is the one that probes are compared with, bit for bit.
    assert [vars(stage) for stage in told.onset.stages] == [vars(stage) for stage in anew.stages]


def test_records_that_are_no_members_have_no_part_in_the_choice():
    recipe = changed(SMALL.replace(procedure=PPTP(seeds=1, swap=False), epochs=2))
    given = materials(noise())
    other = replace(given, reference=given.validation, validation=given.reference)
    first, again = (pptp.train(recipe, one, STREAMS) for one in (given, other))
    assert first.facts.pptp.onset == again.facts.pptp.onset
    assert same(snapshot(first.model), snapshot(again.model))
    assert first.artefacts == {}


@pytest.mark.parametrize("options", [{"stage": 2}, {"stage": "auto", "seeds": 1, "swap": False}])
def test_a_model_that_is_trained_already_is_repaired_as_train_does(options):
    recipe = changed(PICTURES, **options)
    given = materials(images())
    made = pptp.train(recipe, given, STREAMS)
    before = first_training(recipe, given)
    again = pptp.repair(before, made.initial, recipe, given, STREAMS)
    assert same(snapshot(made.model), snapshot(again.model))
    assert same(made.initial, again.initial)
    assert again.history.loss == made.history.loss[4:]
    assert made.facts.pptp.epochs == (4, 2)
    assert made.facts.pptp.with_(epochs=None) == again.facts.pptp
    assert [stage.name for stage in made.facts.stages] == ["training", "choice", "tuning"]
    assert [stage.name for stage in again.facts.stages] == ["choice", "tuning"]
    assert all(stage.seconds > 0 for stage in made.facts.stages)


def test_states_that_cannot_be_repaired_are_named():
    given = materials(noise())
    initial = snapshot(untrained(SMALL, given, STREAMS))
    with pytest.raises(ModelError, match="the trained state: expected a state of this network: "):
        pptp.repair({"0.weight": initial["0.weight"]}, initial, SMALL, given, STREAMS)
    with pytest.raises(ModelError, match=r"the initial state: 0\.weight: expected finite"):
        pptp.repair(initial, initial | {"0.weight": initial["0.weight"] * torch.nan}, SMALL, given, STREAMS)
    with pytest.raises(SpecError, match="the state after 2 epochs is not known of a model that is trained already"):
        pptp.repair(initial, initial, changed(SMALL, rewind=2), given, STREAMS)


def test_an_epsilon_of_the_second_training_is_not_passed_on():
    recipe = changed(PICTURES, inner=DPSGD(noise=1.0))
    given = materials(images())
    made = pptp.train(recipe, given, STREAMS)
    assert "accountant" not in made.facts
    assert made.facts.notices[0] == pptp.METHOD.no_epsilon
    assert any("GroupNorm" in notice for notice in made.facts.notices)
    frozen, risky = halves(snapshot(made.model), "0.", "1.")
    assert not any("running" in name for name in frozen | risky)
    assert all(torch.isfinite(value).all() for value in risky.values())
    before = pptp.train(changed(recipe, rewind="trained", inner=DPSGD(noise=0.0)), given, STREAMS)
    assert same(frozen, halves(snapshot(before.model), "0.", "1.")[0])
    network = PROCEDURES["pptp"].network(recipe, given, STREAMS)
    network.load_state_dict(made.model.state_dict())
    assert not PROCEDURES["pptp"].proves


def test_an_epsilon_that_cannot_be_is_refused_before_the_first_training(runs):
    recipe = changed(SMALL, inner=DPSGD(epsilon=8.0, delta=0.5))
    with pytest.raises(SpecError, match="delta: expected less than 1 / members"):
        pptp.train(recipe, materials(noise()), STREAMS)
    assert not runs


def test_sub_models_of_selena_begin_from_the_frozen_stages_too():
    recipe = changed(SMALL, inner=Selena(models=3, outside=1), tuning_epochs=1)
    made = pptp.train(recipe, materials(noise()), STREAMS)
    assert set(made.artefacts) == {"assignment", "soft_targets"}
    assert len(made.facts.selena.sub_model_loss) == 3
    assert made.facts.pptp.epochs == (4, 1)
    said = "the networks of selena that leave a member out share the stages that stay, which were trained on it."
    assert said in made.facts.notices[0]
    whole = pptp.train(changed(recipe, stage=1), materials(noise()), STREAMS)
    assert not any(said in notice for notice in whole.facts.notices)


def test_tied_parameters_stay_together_and_statistics_of_no_stage_go_back():
    recipe = SMALL.replace(architecture=Factory(factory="pptp_networks:tied"))
    given = materials(noise())
    model = untrained(recipe, given, STREAMS)
    shown = stages(model, ("one,two.bias", "out"))
    initial = snapshot(model)
    trained = {name: value + 1 for name, value in initial.items()}
    start, count = started(model, shown[:1], trained, initial)
    kept = {name for name in initial if torch.equal(start.state[name], trained[name])}
    assert kept == {"one.weight", "one.bias", "two.weight", "two.bias"}
    assert set(start.trainable) == {"one.weight", "one.bias", "two.bias"}
    assert count == 36 + 6 + 6
    assert same({k: start.state[k] for k in initial if k[0] == "n"}, {k: initial[k] for k in initial if k[0] == "n"})


def test_stages_by_patterns():
    recipe = changed(SMALL, stages=("0", "2", "4"), stage="2")
    made = pptp.train(recipe, materials(noise()), STREAMS)
    assert made.facts.pptp.frozen == ("0",)
    with pytest.raises(ModelError, match="matches no module"):
        pptp.train(changed(SMALL, stages=("nothing",)), materials(noise()), STREAMS)


def test_the_history_holds_both_trainings():
    given = materials(noise())
    recipe = SMALL.replace(epochs=9, patience=8)
    made = pptp.train(recipe, replace(given, watched=given.reference), STREAMS)
    first = plain.train(recipe.replace(procedure=Plain()), given, STREAMS).history
    assert made.history.loss[:9] == first.loss
    assert made.history.validation_loss[:9] == first.validation_loss
    assert [len(x) for x in (made.history.loss, made.history.validation_loss, made.history.accuracy)] == [13] * 3
    assert made.history.kept == 9 + int(np.argmin(made.history.validation_loss[9:]))
    assert made.facts.pptp.epochs == (9, 4)


def test_a_shorter_recipe_keeps_its_proportions():
    recipe = Recipe(epochs=20, warmup_epochs=4.0, stop_after=15.0, schedule="cosine")
    assert shortened(recipe, 5) == recipe.replace(epochs=5, warmup_epochs=1.0, stop_after=3.75)
    assert shortened(Recipe(epochs=20), 7) == Recipe(epochs=7)


def test_accuracy_before_the_repair_is_noted():
    made = pptp.train(SMALL.replace(epochs=60, learning_rate=0.05), materials(noise()), STREAMS)
    before = made.facts.pptp.accuracy_before
    assert before["members"] > 0.9
    assert before["reference"] < 0.8


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (changed(SMALL, rewind=5), "rewind: expected at most 4, the whole epochs .* surely has, got 5"),
        (changed(SMALL.replace(stop_after=2.5), rewind=3), "rewind: expected at most 2,"),
        (changed(SMALL.replace(patience=1), rewind=3), r"expected at most 2, .*\(it may stop early, with patience 1\)"),
        (changed(SMALL, margin=0.1), r"margin: says how the stage is measured, and the stage is given \(2\)"),
        (changed(SMALL, swap=False), "swap: says how"),
        (
            SMALL.replace(epochs=3, objective=OBJECTIVES["mixup-mmd"].spec()),
            "tuning_epochs: expected at least 2 with mixup-mmd",
        ),
        (changed(SMALL, inner=PPTP()), "pptp cannot be the second stage of pptp, which takes plain, dpsgd, mist"),
        (changed(SMALL, inner=Selena(models=2, outside=2)), "selena: outside"),
        (changed(SMALL.replace(objective=OBJECTIVES["relaxloss"].spec()), inner=DPSGD()), "^relaxloss cannot be "),
    ],
)
def test_what_has_no_meaning_is_refused_before_training(recipe, words):
    with pytest.raises(SpecError, match=words):
        check(recipe, reference=10)


def test_what_cannot_be_is_found_before_the_first_training(runs):
    given = materials(noise())
    with pytest.raises(InputError, match="takes at least 20 members, got 19: give the stage"):
        pptp.train(changed(SMALL, stage="auto"), materials(noise(), 19), STREAMS)
    with pytest.raises(SpecError, match=r"none named 'conv4_x'"):
        pptp.train(changed(SMALL, stage="conv4_x"), given, STREAMS)
    with pytest.raises(SpecError, match="expected the procedure pptp, got 'plain'"):
        pptp.train(SMALL.replace(procedure=Plain()), given, STREAMS)
    assert not runs


def test_a_training_that_diverges_says_in_which_part():
    with pytest.raises(TrainingDivergedError, match=r"^pptp, the first training: the training loss became"):
        pptp.train(SMALL.replace(optimizer="sgd", learning_rate=1e18), materials(noise()), STREAMS)
