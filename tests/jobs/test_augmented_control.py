"""The control that augments and stops early: a row of a comparison, under the same roles as all others."""

import numpy as np
import pytest

from reticent.errors import InputError
from reticent.jobs.comparison.specs import row_specs
from reticent.training.augmentation import usual


def test_the_augmented_row_is_the_baseline_with_noise_stopped_early_and_all_rows_share_its_roles():
    rows = row_specs((), (), {"models": 4, "epochs": 3}, ["label-smoothing"], augmented=True)
    assert [row.name for row in rows] == ["none", "label-smoothing", "augmented"]
    plain, _, augmented = (row.job.population for row in rows)
    assert augmented.recipe == plain.recipe.replace(augmentation="gaussian", patience=10)
    assert [len(row.job.population.roles.validation) for row in rows] == [179] * 3  # A tenth of 1,797.
    assert np.array_equal(augmented.membership.matrix, plain.membership.matrix)


def test_its_roles_are_those_of_a_defense_that_needs_reference_records():
    rows = row_specs((), (), {"models": 4}, ["none", "adv-reg:attacker_steps=1"], augmented=True)
    roles = [row.job.population.roles for row in rows]
    assert {(len(one.reference), len(one.validation)) for one in roles} == {(359, 179)}


def test_the_user_says_how_many_records_stop_it_and_how_it_augments():
    values = {"models": 4, "epochs": 3, "validation": 50, "augmentation": "feature-dropout"}
    augmented = row_specs((), {"plain": {}}, values, augmented=True)[-1].job.population
    assert len(augmented.roles.validation) == 50
    assert augmented.recipe.augmentation == "feature-dropout"


def test_folders_of_audits_have_no_such_row():
    with pytest.raises(InputError, match=r"augmented: .* which finished audits may lack: give recipes or defenses"):
        row_specs(["somewhere"], (), {"models": 4}, augmented=True)


def test_the_usual_augmentation_suits_the_records():
    assert usual("image", np.zeros((2, 3, 8, 8), np.uint8)) == "flip-crop"
    assert usual("image", np.zeros((2, 1, 8, 8), np.uint8)) == "crop"  # Mirrored digits are none.
    assert usual("tokens", np.zeros((2, 8), np.int64)) == "word-dropout"
    assert usual("tabular", np.eye(4, dtype=np.float32)) == "bit-flip"
    assert usual("tabular", np.full((4, 3), 0.5, np.float32)) == "gaussian"


@pytest.mark.parametrize("key", ["augmentation", "recipe.augmentation", "recipe__augmentation"])
def test_what_all_rows_are_without_the_augmented_one_has(key):
    values = {"models": 4, key: "none", "records": 200}
    plain, augmented = (row.job.population for row in row_specs((), {"plain": {}}, values, augmented=True))
    assert plain.recipe.augmentation == "none"
    assert augmented.recipe.augmentation == "gaussian"
    assert len(augmented.roles.validation) == 100  # Half as many as are audited, where a tenth of all are more.
