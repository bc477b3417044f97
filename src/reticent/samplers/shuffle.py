"""Shuffling: every epoch visits every member once, in an order drawn anew."""

from typing import ClassVar

import torch

from reticent.samplers.base import Epochs, Group, Known, SamplerEntry
from reticent.spec import Spec


class Shuffle(Spec):
    """Options of shuffling: none."""

    method: ClassVar[str] = "shuffle"


def build(spec: Shuffle, known: Known) -> Epochs:
    """Visit all members."""
    everyone = [Group(torch.arange(len(known.y)), known.weight_decay)]
    return lambda epoch: everyone


ENTRY = SamplerEntry(Shuffle, build, "Every epoch visits every member once, in an order that is drawn anew.")
