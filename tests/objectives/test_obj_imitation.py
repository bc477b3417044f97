"""Imitation of another model's logits."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from objective_runs import SMALL, blobs, materials
from objective_twins import batches, compare, context, softmax
from torch.nn import functional

from reticent.objectives import Batch, Examples
from reticent.objectives.imitation import Imitating, Imitation, distance
from reticent.procedures import plain
from reticent.training.streams import Streams


def begun(answers, epochs=10, **options):
    """An imitation of some logits, with nothing else to be known."""
    answers = torch.as_tensor(np.asarray(answers))
    objective = Imitation(Imitating(**options), answers)
    none = Examples(torch.zeros(len(answers), 1), torch.zeros(len(answers), dtype=torch.int64))
    objective.begin(replace(context(answers.shape[1]), members=none, epochs=epochs))
    return objective


@pytest.mark.parametrize(("weight", "temperature", "expected"), [(1.0, 1.0, 2 / 3), (2.0, 1.0, 1.0), (2.0, 2.0, 0.25)])
def test_the_distance_by_hand(weight, temperature, expected):
    """Logits (2, 1, 0) against (1, 1, 1), where the true class is 0 and the first of the others is 1."""
    spec = Imitating(margin_weight=weight, temperature=temperature)
    found = distance(torch.tensor([[2.0, 1.0, 0.0]]), torch.ones(1, 3), torch.tensor([0]), spec)
    assert found.item() == pytest.approx(expected, rel=1e-6)


def test_a_model_is_its_own_imitator():
    drawn = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    assert distance(drawn, drawn, torch.tensor([0, 1, 2, 3, 0]), Imitating(margin_weight=3.0)).item() == 0


def twin(answers, weight):
    """A half of the cross-entropy and a half of the distance, class by class."""

    def of(logits, targets):
        total, gradient, weights = 0.0, np.zeros_like(logits), np.ones_like(logits)
        for i, label in enumerate(targets):
            others = [c for c in range(logits.shape[1]) if c != label]
            weights[i, [label, max(others, key=lambda c: answers[i, c])]] = weight
        for i, label in enumerate(targets):
            p = softmax(logits[i])
            total -= 0.5 * np.log(p[label]) / len(logits)
            gradient[i] += 0.5 * (p - np.eye(logits.shape[1])[label]) / len(logits)
            apart = (logits[i] - answers[i]) * weights[i]
            total += 0.5 * (apart**2).sum() / logits.size / weights.mean()
            gradient[i] += apart * weights[i] / logits.size / weights.mean()
        return total, gradient

    return of


@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_loss_and_gradient_are_those_of_a_slow_twin(weight):
    rng = np.random.default_rng(2)
    for drawn in batches():
        answers = rng.normal(0, 2, (drawn.size, drawn.classes))
        compare(begun(answers, warmup=0.0, margin_weight=weight), twin(answers, weight), drawn)


def test_labels_alone_are_learned_until_the_warm_up_is_over():
    objective = begun(np.full((3, 4), 9.0, np.float32), epochs=10, warmup=0.8)
    logits, y = torch.randn(3, 4, generator=torch.Generator().manual_seed(1)), torch.tensor([2, 0, 1])
    learned = functional.cross_entropy(logits, y)
    for epoch in range(8):
        assert torch.equal(objective(logits, y, Batch(torch.arange(3), epoch)), learned)
    later = 0.5 * learned + 0.5 * ((logits - 9) ** 2).mean()
    assert objective(logits, y, Batch(torch.arange(3), 8)).item() == pytest.approx(later.item(), rel=1e-6)


def test_an_imitator_answers_as_the_model_that_it_imitates():
    given, answers = materials(blobs()), torch.randn(60, 3, generator=torch.Generator().manual_seed(3))
    recipe = SMALL.replace(epochs=200, learning_rate=0.02)
    near = []
    for instead in (None, Imitation(Imitating(warmup=0.2), answers)):
        made = plain.train(recipe, replace(given, instead=instead), Streams(0, 0))
        with torch.no_grad():
            near.append(float(((made.model(given.members.x) - answers) ** 2).mean()))
    assert near[1] < 0.2 * near[0]
