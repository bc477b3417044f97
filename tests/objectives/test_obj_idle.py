"""A defense that had no part in the model says so, once, and is plain training to the bit."""

from dataclasses import replace

import pytest
from objective_runs import SMALL, blobs, materials, same

from reticent.findings.training import ProcedureFacts
from reticent.objectives import OBJECTIVES
from reticent.procedures.plain import train
from reticent.training.streams import Streams

GIVEN = materials(blobs())
WATCHED = replace(GIVEN, validation=GIVEN.reference)
SHORT = SMALL.replace(stop_after=3.0)
AWAKE = {"attacker_learning_rate": 1e-2, "attacker_steps": 8, "warmup_epochs": 2}
RENORMALISED = {"form": "renormalised"}
PROXIMAL = RENORMALISED | {"step": "proximal"}
PLAIN = "what was minimised is cross-entropy alone."


def trained(name, recipe, given=GIVEN, **options):
    return train(recipe.replace(objective=OBJECTIVES[name].spec(**options)), given, Streams(0, 0))


@pytest.mark.parametrize(
    ("name", "recipe", "options", "why"),
    [
        ("ppb", SHORT, {"after": 0.5}, "training ended with the epochs that are plain (after=0.5)"),
        ("ppb", SMALL, {"after": 0.95}, "training ended with the epochs that are plain (after=0.95)"),
        ("ppb", SMALL.replace(epochs=1, batch_size=1), {}, "every batch had one record"),
        ("past", SHORT, {}, "training was ended before the tuning (stop_after)"),
        ("past", SHORT, RENORMALISED, "training ended with the epochs that are plain (after=0.667)"),
        (
            "past",
            SHORT,
            RENORMALISED | {"step": "proximal"},
            "training ended with the epochs that are plain (after=0.667)",
        ),
        ("mixup-mmd", SMALL, {"alpha": 0.0, "gap": 1.0}, "no pass followed an epoch"),
        ("adv-reg", SMALL.replace(epochs=2), AWAKE, "training ended with the warm-up (warmup_epochs=2)"),
        ("relaxloss", SMALL.replace(epochs=1), {"level": 1e-3}, "the mean loss of no batch fell to the level of 0.001"),
    ],
)
def test_what_never_acted_is_told_of_once(name, recipe, options, why):
    made = trained(name, recipe, **options)
    assert same(made.model.state_dict(), trained("cross-entropy", recipe).model.state_dict())
    assert len(made.facts.notices) == 1
    assert made.facts.notices[0].startswith(f"{name} never acted, since {why}: {PLAIN}")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ppb", {"after": 0.5}),
        ("past", {}),
        ("past", RENORMALISED),
        ("past", PROXIMAL),
        ("mixup-mmd", {"gap": 0.0}),
        ("relaxloss", {"level": 0.9}),
        ("ppb", {"weight": 0.0}),
        ("past", {"weight": 0.0}),
        ("past", RENORMALISED | {"weight": 0.0}),
        ("mixup-mmd", {"weight": 0.0, "gap": 1.0}),
    ],
)
def test_what_acted_and_what_was_switched_off_say_nothing(name, options):
    assert trained(name, SMALL, **options).facts == ProcedureFacts()


def test_mixup_without_a_pass_is_mixup():
    assert ": what was minimised is the loss of mixup alone." in trained("mixup-mmd", SHORT, gap=1.0).facts.notices[0]


def test_an_epoch_from_before_it_began_is_told_of():
    recipe = SMALL.replace(learning_rate=0.3, patience=6)
    made = trained("ppb", recipe, WATCHED, after=0.6)
    assert made.history.kept < 4 < len(made.history.loss)
    assert same(made.model.state_dict(), trained("cross-entropy", recipe, WATCHED).model.state_dict())
    assert list(made.facts.notices) == [
        "ppb never acted, since early stopping kept an epoch from before it began: "
        f"{PLAIN} Let it begin earlier, or give more patience."
    ]
    assert trained("ppb", recipe, WATCHED).facts == ProcedureFacts()
