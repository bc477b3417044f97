"""RMR: members that are memorised most are trained on under a stronger weight decay, before the others in each epoch.

Paper: Shang et al. (2025), "WeMem: weakened memorisation in iterative pruning", risky memory regularisation.
"""

from typing import ClassVar

import torch

from reticent.samplers.base import Epochs, Known, SamplerEntry
from reticent.samplers.strengths import Regularised, groups, risky


class Rmr(Regularised):
    """Options of RMR."""

    method: ClassVar[str] = "rmr"


def build(spec: Rmr, known: Known) -> Epochs:
    """Visit all members, the risky ones first."""
    everyone = groups(torch.arange(len(known.y)), risky(spec, known.memorised), spec, known)
    return lambda epoch: everyone


ENTRY = SamplerEntry(
    Rmr,
    build,
    "Members that are memorised most are trained on under a stronger weight decay.",
    paper="Shang et al. (2025), WeMem",
    cost="the memorisation scores, once for all samplers: 7 times plain training; then one optimizer more",
    scored=True,
)
