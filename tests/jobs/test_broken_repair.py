"""A repair that took the model's accuracy, and references that are not as the repaired model is: said first."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import reticent
from reticent.errors import InputError, ModelError, SpecError
from reticent.findings.harden import Doubt, HeldLoss, Note, RecordsNote, Short
from reticent.findings.numbers import Area
from reticent.jobs.hardening.before_after import doubt, lost
from reticent.report.kinds.harden import harden as kind
from reticent.report.render.html import html
from reticent.say import harden_checks as say

FACTORY = """
from torch import nn

def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
"""


@pytest.mark.parametrize(
    ("kept", "most", "expected"),
    [
        (100, 0.1, False),
        (91, 0.1, False),
        (80, 0.1, True),
        (80, 0.3, False),
        (0, 1.0, False),  # All may be lost where the user says so.
    ],
)
def test_a_repair_is_broken_by_what_it_takes_of_the_same_records(kept, most, expected):
    before, after = np.ones(100, dtype=bool), np.arange(100) < kept
    assert lost(before, after, most) == expected


def test_chance_breaks_nothing():
    # 2 of 10 records: the difference's standard error is sqrt(.2 * .8 / 10) = .126, and 1.96 of them are .25.
    assert not lost(np.ones(10, dtype=bool), np.arange(10) < 8, 0.1)


def test_nothing_is_judged_where_the_repair_did_something_else_to_the_references():
    assert doubt(100, 100, leaks=True, shift=False, alike=False) is Doubt.REFERENCES_DIFFER
    assert doubt(100, 100, leaks=False, shift=True, alike=False) is Doubt.RECORDS_DIFFER
    assert doubt(100, 100, leaks=False, shift=False) is None


def test_a_normalisation_that_nobody_stated_is_the_first_suspect():
    assumed = say.suspects([RecordsNote(note=Note.SCALE_ASSUMED)], None, None)
    assert assumed.startswith("Look first at how the pictures were normalised")
    assert f"got 99.1 % before and 33.0 % after. {assumed} The" in say.refused(0.991, 0.33, 0.1, assumed)
    assert "normalised" not in say.suspects([], None, None)


def test_a_training_that_was_too_short_is_the_first_suspect_where_its_own_records_show_it():
    short, scale = Short("repair", 0.55, 0.99, 3, 1), RecordsNote(note=Note.SCALE_ASSUMED)
    held = HeldLoss(objective="relaxloss", option="level", level=1, loss=0.1)
    said = say.suspects([], None, short)
    assert said.startswith(
        "Look first at --epochs and --tuning-epochs: with 3 epochs, of which the repair trained for 1, after its "
    )
    assert "repair the model labels 55.0 % of its members correctly, and the given model 99.0 % of its members" in said
    assert said.endswith("Then look at a --learning-rate" + say.suspects([], None, None).split("--learning-rate")[1])
    # After a repair, these may be why as well; that references do not know their own records they do not explain.
    assert say.suspects([scale], None, short) == say.suspects([scale], None, None)
    assert say.suspects([], held, short) == say.suspects([], held, None)
    references = say.suspects([scale], held, short._replace(by="references", tuning=None))
    assert references.startswith("Look first at --epochs: with 3 epochs, the references label 55.0 % of their own")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A folder with a model that is nearly always right, and its records; the working directory of these tests."""
    folder, before, path = tmp_path_factory.mktemp("broken"), Path.cwd(), list(sys.path)
    os.chdir(folder)
    (folder / "plain_net.py").write_text(FACTORY)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 360)
    x = (np.eye(4)[y] * 4 + rng.normal(size=(360, 4))).astype(np.float32)
    scope = {}
    exec(FACTORY, scope)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        built = scope["make"]()
        optimizer = torch.optim.Adam(built.parameters(), lr=0.02)
        for _ in range(60):
            optimizer.zero_grad()
            nn.functional.cross_entropy(built(torch.from_numpy(x[:120])), torch.from_numpy(y[:120])).backward()
            optimizer.step()
    save_file(dict(built.state_dict()), folder / "model.safetensors")
    parts = {"members": (x[:120], y[:120]), "non_members": (x[120:240], y[120:240]), "reference": (x[240:], y[240:])}
    yield parts
    os.chdir(before)
    sys.path[:] = path


def harden(parts, **changes):
    given = {"models": 4, "epochs": 6, "batch_size": 40, "attacks": ["lira", "loss"], "replicates": 100, "workers": 1}
    options = {"rate": 0.9, "scoring_steps": 2}
    return reticent.harden(
        "plain_net:make",
        "model.safetensors",
        **parts,
        **{**given, "optimizer": "sgd", "learning_rate": 1e-6, "options": options, **changes},
    )


@pytest.mark.slow
def test_a_broken_repair_writes_nothing_unless_asked(model, tmp_path):
    with pytest.raises(
        ModelError, match=r"the repair broke the model: .* Look first at --epochs and --tuning-epochs: with 6 "
    ):
        harden(model, out=tmp_path / "no" / "where")
    assert not (tmp_path / "no").exists()
    found = harden(model, out=tmp_path / "yes", max_accuracy_loss=1).findings
    assert found.broken
    assert found.environment.repair_found  # The first call kept it.
    assert found.sentence.startswith("The repair broke the model: its accuracy on non-members fell from 9")
    assert "The repair broke the model" in html(kind(found))
    assert "Look first at --epochs: with 6 epochs, of which the repair trained for 3, the references" in found.detail[0]


@pytest.mark.slow
def test_a_repair_that_takes_nothing_is_not_broken(model, tmp_path):
    found = harden(
        model, out=tmp_path / "fine", optimizer="adam", learning_rate=0.02, options={"rate": 0.05, "scoring_steps": 2}
    )
    assert not found.findings.broken
    assert "broken" not in found.findings.to_json()


def warned(parts, **changes):
    """Say what is told before anything is trained."""
    notes = []

    class Enough(Exception):
        pass

    def stop(stage):
        raise Enough

    with pytest.raises(Enough):
        harden(parts, stage=stop, note=notes.append, out="warned", **changes)
    return notes


def test_a_model_that_shows_no_sign_of_its_members_is_told_of_before_anything_is_trained(model):
    (said,) = warned({**model, "members": model["non_members"], "non_members": model["reference"], "reference": None})
    sign = "By its loss alone, the given model shows no sign of having been trained on these members (the AUC, members"
    assert said.startswith(sign)
    assert said.endswith(say.EARLY)  # So that no verdict that comes later contradicts it.
    assert "are the two files exchanged?" in say.no_sign(Area(value=0.3, interval=(0.2, 0.4)))
    assert not warned(memorised(model))


def memorised(parts):
    """Make non-members that the model is often wrong about."""
    x, y = parts["non_members"]
    return {**parts, "non_members": (x, np.where(np.arange(len(y)) % 3, y, (y + 1) % 3))}


def test_a_training_that_nobody_stated_is_told_of_before_anything_is_trained(model):
    recipe = {"epochs": None, "batch_size": None, "optimizer": None, "learning_rate": None}
    assert warned(memorised(model), **recipe) == [say.BY_DEFAULT]
    assert warned(memorised(model), **recipe, retrain="anew") == [say.BY_DEFAULT]
    assert not warned(memorised(model), **recipe | {"epochs": 6})


def test_labels_in_another_order_than_the_model_s_classes_are_told_with_the_order(model):
    turned = {name: (x, (y + 1) % 3) for name, (x, y) in model.items()}
    with pytest.raises(InputError, match="would be right if class 0 is called 1, class 1 is called 2, class 2 is call"):
        warned(turned)


def test_an_objective_that_holds_a_larger_loss_than_the_model_s_is_the_first_suspect(model, tmp_path):
    with pytest.raises(ModelError) as caught:
        harden(model, out=tmp_path / "no", objective="relaxloss", options={"level": 1.05, "rate": 0.9})
    assert "relaxloss holds the mean loss at 1.05, and the given model's on non-members is 0." in str(caught.value)
    assert "Give a lower level, such as --level 0." in str(caught.value)
    held = HeldLoss(objective="relaxloss", option="level", level=1, loss=0.0178)  # 0.02 would be held above it again.
    assert "such as --level 0.0178. Else" in say.suspects((), held, None)
    assert "such as --level 0. Else" in say.suspects((), held.with_(loss=0), None)


def test_the_allowed_loss_is_a_share(model):
    with pytest.raises(SpecError, match=r"max_accuracy_loss: expected a share from 0 to 1, .* got 10"):
        harden(model, max_accuracy_loss=10)
