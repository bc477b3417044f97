"""What kind and number of records rule out is refused before any model of any row is trained."""

import numpy as np
import pytest

import reticent
from reticent.errors import InputError, ModelError, ReticentError, SpecError
from reticent.jobs.config import chosen, prepare
from reticent.jobs.defenses import explained, parts_of
from reticent.procedures.pptp import PPTP
from reticent.procedures.recipe_checks import check
from reticent.procedures.selena import Selena
from reticent.training.recipe import Recipe

SMALL = {"models": 4, "records": 160, "epochs": 2}


def refused(defense, error, words, **more):
    with pytest.raises(error, match=words):
        prepare(chosen(None, SMALL | {"defense": defense} | more))


@pytest.mark.parametrize(
    ("defense", "words"),
    [
        ("mist:parts=50", r"mist: \d\d members in 50 parts leave 1 for the smallest part: expected at least 2"),
        ("selena:models=60,outside=59", r"selena: at least one of 60 sub-models would train on at most 1 of \d\d mem"),
        ("dpsgd:noise=1,delta=0.5", r"dpsgd: delta: expected less than 1 / members = 0\.01"),
        ("cwrf+dpsgd:noise=1,delta=0.5", r"dpsgd: delta: expected less than 1 / members = 0\.01"),
        ("pptp+mist:parts=50", r"mist: \d\d members in 50 parts"),
    ],
)
def test_too_few_members_are_refused_before_training(defense, words):
    if "dpsgd" in defense:
        pytest.importorskip("opacus")
    refused(defense, SpecError, words, **({"reference": 100} if "cwrf" in defense else {}))


def test_too_few_members_to_measure_a_stage_are_refused_before_training():
    check(Recipe(procedure=PPTP()), 0, members=20)
    with pytest.raises(InputError, match=r"takes at least 20 members, got 19: give the stage$"):
        check(Recipe(procedure=PPTP()), 0, members=19)


def test_what_some_draw_allows_is_not_refused_before_it_is_drawn():
    check(Recipe(procedure=Selena(models=3, outside=2)), 0, members=6)
    with pytest.raises(SpecError, match="at most 1 of 5 members"):
        check(Recipe(procedure=Selena(models=3, outside=2)), 0, members=5)


@pytest.mark.parametrize("defense", ["mixup", "mixup-mmd"])
def test_a_comparison_trains_nothing_before_it_refuses_to_blend_tokens(defense, tmp_path):
    x = np.random.default_rng(0).integers(0, 9, (160, 5))
    stages = []
    with pytest.raises(InputError, match=f"{defense} blends .* the numbers of tokens have no blend: use a defense"):
        reticent.compare(
            defenses=["none", defense],
            dataset=(x, np.arange(160) % 3),
            models=4,
            epochs=1,
            reference=20,
            attacks=["loss"],
            out=str(tmp_path / "out"),
            store=str(tmp_path / "store"),
            stage=stages.append,
        )
    assert stages == []


def test_labels_that_teach_nothing_are_refused_before_training():
    refused("hamp:gamma=1", SpecError, "hamp: gamma: expected less, got 1: .* 10 classes .* nothing would be learned")
    prepare(chosen(None, SMALL | {"defense": "hamp:gamma=0.95"}))


@pytest.mark.parametrize(
    ("name", "what"), [("none", "the undefended recipe, which has no"), ("plain", "a part of the undefended recipe")]
)
def test_the_undefended_recipe_is_not_explained_as_a_defense(name, what):
    with pytest.raises(SpecError, match=f"{name!r} is {what}.*: there is nothing to explain; give a name that"):
        explained(name)
    with pytest.raises(SpecError, match=f"{name!r} is {what}.*: write none alone to have that recipe, or give a name"):
        parts_of(f"{name}:x=1")


@pytest.mark.parametrize(
    ("defense", "words"),
    [
        ("pptp:stage=bogus", "pptp: stage: there is none named 'bogus'"),
        ("pptp:stage=9", "pptp: stage: expected a number from 1 to"),
        ("pptp:stages=[bogus]", "bogus"),
        ("prune:skip=nix", "prune: skip: 'nix' is no layer that can be pruned: expected one of "),
        ("imp:skip=nix", "imp: skip: 'nix' is no layer that can be pruned: expected one of "),
        ("cwrf:variant=rewind-train-vulnerable,rate=1e-9", "cwrf: rate: 1e-09 of .* weights rounds to none"),
    ],
)
def test_what_the_network_rules_out_is_refused_before_training(defense, words):
    with pytest.raises(ReticentError, match=words):
        prepare(chosen(None, SMALL | {"defense": defense, "reference": 100}))


def test_a_butterfly_pattern_that_matches_nothing_is_refused_before_training():
    words = r"butterfly: 'bogus\.\*' matches no nn.Linear or nn.Conv2d of the network: expected one of 0, 2, 4"
    for layers in ("bogus.*", ["0", "bogus.*"]):
        with pytest.raises(ModelError, match=words):
            prepare(chosen(None, SMALL | {"recipe.architecture.butterfly.layers": layers}))


NORM = """
from torch import nn

def build(input_shape, classes):
    return nn.Sequential(nn.Linear(input_shape[0], 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, classes))
"""
ALONE = (
    "the model has BatchNorm, which normalises a batch by its own mean and variance: expected batches of at least 2 "
    "records, got one of 1: give a larger --batch-size (a scoring has a batch size of its own)"
)


@pytest.mark.parametrize(
    "values",
    [
        {"batch_size": 1},
        {"defense": "relaxloss", "batch_size": 1},
        {"defense": "mist:parts=2", "batch_size": 1},
        {"defense": "cwrf:scoring_batch_size=1", "reference": 100},
        {"defense": "pptp:stage=2", "batch_size": 1},
    ],
)
def test_batches_of_one_record_are_refused_before_training_where_the_network_has_batchnorm(values, own_folder):
    (own_folder / "mine_norm.py").write_text(NORM)
    with pytest.raises(ModelError) as raised:
        prepare(chosen(None, SMALL | {"architecture": "mine_norm:build"} | values))
    assert str(raised.value) == ALONE


@pytest.mark.parametrize(
    "values",
    [
        {"architecture": "mlp", "batch_size": 1},
        {"architecture": "mine_norm:build", "batch_size": 2},
        {"architecture": "mine_norm:build", "batch_size": 1, "defense": "dpsgd:noise=1"},
    ],
)
def test_batches_of_one_record_are_taken_where_the_network_can_be_trained_on_them(values, own_folder):
    (own_folder / "mine_norm.py").write_text(NORM)
    if "defense" in values:
        pytest.importorskip("opacus")
    assert prepare(chosen(None, SMALL | values)).population.recipe.batch_size == values["batch_size"]


def test_a_network_that_fails_on_one_record_is_told_in_words(own_folder):
    (own_folder / "mine_norm.py").write_text(NORM.replace("input_shape[0], 8)", "7, 8)"))
    with pytest.raises(ModelError, match="the model mine_norm:build, asked about one record, failed: RuntimeError: "):
        prepare(chosen(None, SMALL | {"architecture": "mine_norm:build", "batch_size": 1}))


FROZEN = """
from torch import nn

def build(input_shape, classes):
    return nn.Linear(input_shape[0], classes).requires_grad_(False)

def identity():
    return nn.Identity()
"""


@pytest.mark.parametrize(
    "values",
    [
        {"architecture": "mine_frozen:build"},
        {"architecture": "mine_frozen:identity"},
        {"architecture": "mine_frozen:build", "defense": "cwrf:rate=0.1", "reference": 100},
        {"architecture": "mine_frozen:build", "defense": "pptp:stage=1"},
    ],
)
def test_a_network_with_nothing_to_train_is_refused_before_training(values, own_folder):
    (own_folder / "mine_frozen.py").write_text(FROZEN)
    with pytest.raises(ModelError) as raised:
        prepare(chosen(None, SMALL | values))
    assert str(raised.value) == (
        f"{values['architecture']}: the network has nothing to train: expected a parameter that requires a gradient, "
        "got none: leave requires_grad as it is for those that are to be trained"
    )
