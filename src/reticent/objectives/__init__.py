"""Objectives: what a training step minimises, one file each."""

from reticent.objectives import cross_entropy
from reticent.objectives.base import Batch, Objective, ObjectiveEntry

OBJECTIVES: dict[str, ObjectiveEntry] = {
    "cross-entropy": ObjectiveEntry(
        cross_entropy.CrossEntropy,
        cross_entropy.build,
        "The mean negative log-probability of the true label.",
        per_record=True,
    ),
}

__all__ = ["OBJECTIVES", "Batch", "Objective", "ObjectiveEntry"]
