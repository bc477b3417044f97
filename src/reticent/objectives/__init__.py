"""Objectives: what a training step minimises, one file each."""

from reticent.objectives import (
    ccl,
    confidence_penalty,
    cross_entropy,
    hamp,
    label_smoothing,
    ppb,
    relaxloss,
)
from reticent.objectives.base import Batch, Context, Examples, Objective, ObjectiveEntry

OBJECTIVES: dict[str, ObjectiveEntry] = {
    "ccl": ObjectiveEntry(
        ccl.Ccl,
        ccl.build,
        "Cross-entropy with a concave part, so that the losses of members stay spread.",
        per_record=True,
        paper="Liu et al. (2024), ICML",
        cost="a few more operations on the logits",
    ),
    "confidence-penalty": ObjectiveEntry(
        confidence_penalty.ConfidencePenalty,
        confidence_penalty.build,
        "Cross-entropy less a share of the entropy of what the model says.",
        per_record=True,
        paper="Pereyra et al. (2017), ICLR workshop",
        cost="one more pass over the logits",
    ),
    "cross-entropy": ObjectiveEntry(
        cross_entropy.CrossEntropy,
        cross_entropy.build,
        "The mean negative log-probability of the true label.",
        per_record=True,
        paper="",
    ),
    "hamp": ObjectiveEntry(
        hamp.Hamp,
        hamp.build,
        "Labels as soft as an entropy asks for, and a reward for unsure answers.",
        per_record=True,
        paper="Chen and Pattabiraman (2024), NDSS",
        cost="one more pass over the logits",
    ),
    "label-smoothing": ObjectiveEntry(
        label_smoothing.LabelSmoothing,
        label_smoothing.build,
        "Cross-entropy against labels that give a small share to every class.",
        per_record=True,
        paper="Szegedy et al. (2016), CVPR",
    ),
    "ppb": ObjectiveEntry(
        ppb.Ppb,
        ppb.build,
        "A penalty on how differently the sorted answers of two halves of a batch look.",
        per_record=False,
        paper="Yuan and Zhang (2022), USENIX Security",
        cost="sorting the logits of every batch",
    ),
    "relaxloss": ObjectiveEntry(
        relaxloss.RelaxLoss,
        relaxloss.build,
        "Holds the mean loss at a level above zero, and flattens answers that fall below it.",
        per_record=False,
        paper="Chen et al. (2022), ICLR",
        cost="a second loss on the logits in every other epoch",
    ),
}

__all__ = ["OBJECTIVES", "Batch", "Context", "Examples", "Objective", "ObjectiveEntry"]
