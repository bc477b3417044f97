import math

import pytest
import torch

from reticent.errors import SpecError
from reticent.training.optim import factor, optimizer
from reticent.training.recipe import Recipe


def test_constant():
    assert factor(Recipe(epochs=2), 5, 10) == 1.0


def test_warm_up_grows_linearly_and_ends_below_one():
    recipe = Recipe(epochs=4, warmup_epochs=1.0)
    assert [factor(recipe, s, 4) for s in range(5)] == [1 / 5, 2 / 5, 3 / 5, 4 / 5, 1.0]


def test_cosine_goes_from_one_to_nearly_zero():
    recipe = Recipe(epochs=10, schedule="cosine")
    assert factor(recipe, 0, 10) == 1.0
    assert factor(recipe, 50, 10) == pytest.approx(0.5)
    assert factor(recipe, 99, 10) == pytest.approx(0.5 * (1 + math.cos(math.pi * 0.99)))


def test_multistep_falls_at_its_milestones():
    recipe = Recipe(epochs=10, schedule="multistep", milestones=(0.5, 0.75), decay=0.1)
    assert [factor(recipe, s, 2) for s in (9, 10, 14, 15)] == pytest.approx([1, 0.1, 0.1, 0.01])


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw"])
def test_optimizers_are_fused_and_take_the_options(name):
    made = optimizer(Recipe(optimizer=name, learning_rate=0.3, weight_decay=0.1), [torch.nn.Parameter(torch.zeros(2))])
    group = made.param_groups[0]
    assert group["fused"] is True
    assert (group["lr"], group["weight_decay"]) == (0.3, 0.1)


def test_a_warm_up_longer_than_training_is_refused():
    with pytest.raises(SpecError, match="warmup_epochs at most epochs"):
        Recipe(epochs=2, warmup_epochs=3.0)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"epochs": -1}, "epochs: expected greater than or equal to 1, got -1"),
        ({"learning_rate": 0.0}, "learning_rate: expected greater than 0"),
        ({"optimizer": "adm"}, "optimizer: expected 'sgd', 'adam' or 'adamw', got 'adm'"),
        ({"epohcs": 3}, "unknown key 'epohcs': did you mean 'epochs'"),
        ({"batch_size": 0}, "batch_size"),
        ({"milestones": (1.5,)}, "milestones"),
    ],
)
def test_the_words_of_each_refusal(values, words):
    with pytest.raises(SpecError, match=words):
        Recipe(**values)
