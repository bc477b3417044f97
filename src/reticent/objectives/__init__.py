"""Objectives: what a training step minimises, one file each."""

from reticent.objectives import cross_entropy, label_smoothing
from reticent.objectives.base import Batch, Context, Examples, Objective, ObjectiveEntry

OBJECTIVES: dict[str, ObjectiveEntry] = {
    "cross-entropy": ObjectiveEntry(
        cross_entropy.CrossEntropy,
        cross_entropy.build,
        "The mean negative log-probability of the true label.",
        per_record=True,
        paper="",
    ),
    "label-smoothing": ObjectiveEntry(
        label_smoothing.LabelSmoothing,
        label_smoothing.build,
        "Cross-entropy against labels that give a small share to every class.",
        per_record=True,
        paper="Szegedy et al. (2016), CVPR",
    ),
}

__all__ = ["OBJECTIVES", "Batch", "Context", "Examples", "Objective", "ObjectiveEntry"]
