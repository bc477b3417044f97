"""SWMR: the sliding window of RSW, whose members are trained on under the two weight decays of RMR.

Paper: Shang et al. (2025), "WeMem: weakened memorisation in iterative pruning", sliding window and memory
regularisation.
"""

from typing import ClassVar

from reticent.samplers.base import Epochs, Known, SamplerEntry
from reticent.samplers.strengths import Regularised, groups, risky
from reticent.samplers.windows import Window, Windowed


class Swmr(Windowed, Regularised):
    """Options of SWMR: those of RSW and RMR."""

    method: ClassVar[str] = "swmr"


def build(spec: Swmr, known: Known) -> Epochs:
    """Visit what the window holds, its risky members first."""
    window, at_risk = Window(spec, known), risky(spec, known.memorised)
    return lambda epoch: groups(window.visited(epoch), at_risk, spec, known)


ENTRY = SamplerEntry(
    Swmr,
    build,
    "A sliding window as in rsw, whose most memorised members are trained on under a stronger weight decay.",
    paper="Shang et al. (2025), WeMem",
    cost="the memorisation scores, once for all samplers: 7 times plain training; then less than plain training",
    scored=True,
)
