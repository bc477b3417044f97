"""Objectives: what a training step minimises, one file each."""

from reticent.objectives import (
    adv_reg,
    ccl,
    confidence_penalty,
    cross_entropy,
    cs_kd,
    focal,
    hamp,
    label_smoothing,
    mixup,
    mixup_mmd,
    past,
    ppb,
    relaxloss,
)
from reticent.objectives.base import Batch, Context, Examples, Objective, ObjectiveEntry

OBJECTIVES: dict[str, ObjectiveEntry] = {
    "adv-reg": adv_reg.ENTRY,
    "ccl": ccl.ENTRY,
    "confidence-penalty": confidence_penalty.ENTRY,
    "cross-entropy": cross_entropy.ENTRY,
    "cs-kd": cs_kd.ENTRY,
    "focal": focal.ENTRY,
    "hamp": hamp.ENTRY,
    "label-smoothing": label_smoothing.ENTRY,
    "mixup": mixup.ENTRY,
    "mixup-mmd": mixup_mmd.ENTRY,
    "past": past.ENTRY,
    "ppb": ppb.ENTRY,
    "relaxloss": relaxloss.ENTRY,
}

__all__ = ["OBJECTIVES", "Batch", "Context", "Examples", "Objective", "ObjectiveEntry"]
