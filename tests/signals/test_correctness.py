"""One meaning of accuracy: a tie is a mistake, in arrays, in tensors, in training and in outputs that were brought."""

import numpy as np
import pytest
import torch

import reticent
from reticent.objectives.base import hits as tensor_hits
from reticent.signals.ask import Seen
from reticent.signals.correctness import hits

LOGITS = np.array([[2.0, 1.0, 0.0], [2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 3.0]])
LABELS = np.array([0, 0, 1, 2, 2])
RIGHT = [True, False, False, False, True]


def test_a_tie_is_a_mistake_for_arrays_and_tensors():
    assert hits(LOGITS, LABELS).tolist() == RIGHT
    assert tensor_hits(torch.tensor(LOGITS), torch.tensor(LABELS)).tolist() == RIGHT
    assert Seen(LOGITS.astype(np.float32), np.zeros((5, 1), np.float32)).correct(LABELS).tolist() == RIGHT
    rng = np.random.default_rng(0)
    logits, labels = rng.integers(0, 3, (500, 4)).astype(float), rng.integers(0, 4, 500)
    assert tensor_hits(torch.tensor(logits), torch.tensor(labels)).tolist() == hits(logits, labels).tolist()


def outputs():
    rng = np.random.default_rng(1)
    membership = rng.permuted(np.tile([True, False], (60, 4)), axis=1).T
    return rng.integers(0, 2, 60), membership, rng.integers(-1, 2, (8, 60)).astype(float)


def test_outputs_that_tie_and_margins_of_two_classes_have_the_same_accuracy():
    labels, membership, margins = outputs()
    logits = np.zeros((8, 60, 2))
    logits[:, np.arange(60), labels] = margins
    said = [
        reticent.attack(labels=labels, membership=membership, attacks="loss", replicates=100, **given).document
        for given in ({"margins": margins, "classes": 2}, {"logits": logits})
    ]
    accuracy = said[0]["population"]["accuracy"]
    assert accuracy == said[1]["population"]["accuracy"]
    assert accuracy["members"]["mean"] == pytest.approx(
        np.mean([(m > 0)[r].mean() for m, r in zip(margins, membership, strict=True)])
    )


def test_margins_of_more_classes_tell_no_accuracy():
    labels, membership, margins = outputs()
    done = reticent.attack(
        labels=labels, membership=membership, margins=margins, classes=3, attacks="loss", replicates=100
    )
    assert "accuracy" not in done.document["population"]
