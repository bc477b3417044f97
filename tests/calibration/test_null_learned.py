"""The learned attack where there is nothing to find: its AUC is one half over many memberships."""

import numpy as np
import pytest

from reticent.attacks import parse, score
from reticent.attacks.base import Problem
from reticent.auditing.roc import auc
from reticent.data.membership import Membership
from reticent.signals.matrix import Signals

pytestmark = pytest.mark.calibration

DRAWINGS, MODELS, RECORDS, CLASSES = 40, 8, 1_438, 10


def answers(rng):
    """Records that differ much in what is said of them, and in how far models agree; labels have no part in it."""
    labels = rng.integers(0, CLASSES, RECORDS)
    middle = 1.5 * rng.normal(size=(RECORDS, CLASSES))
    middle[np.arange(RECORDS), labels] += 4 * rng.exponential(size=RECORDS)
    spread = np.exp(0.5 * rng.normal(size=(RECORDS, 1)))
    return (middle + spread * rng.normal(size=(MODELS, RECORDS, CLASSES))).astype(np.float32), labels


def test_nothing_is_found_where_there_is_nothing():
    rng, areas = np.random.default_rng(1), []
    for drawing in range(DRAWINGS):
        logits, labels = answers(rng)
        membership = Membership.draw(MODELS, RECORDS, int(rng.integers(1 << 30)))
        scores = score(parse("learned"), Problem.make(Signals.from_logits(logits, labels), membership), drawing)
        areas.append(np.mean([auc(own, row) for own, row in zip(scores, membership.matrix, strict=True)]))
    error = np.std(areas, ddof=1) / DRAWINGS**0.5
    print(f"mean AUC {np.mean(areas):.4f} +- {error:.4f}")
    assert error < 0.002
    assert abs(np.mean(areas) - 0.5) < 4 * error
