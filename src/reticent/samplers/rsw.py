"""RSW: an epoch visits a window of each class's members, ranked by memorisation; it slides on from epoch to epoch.

Paper: Shang et al. (2025), "WeMem: weakened memorisation in iterative pruning", ranking-based sliding window. Once the
window has passed a class, that class is not visited any more; training ends when it has passed all. Deviation: the
usual sizes follow from the classes and the epochs, where the paper states some by data set.
"""

from typing import ClassVar

from reticent.samplers.base import Epochs, Group, Known, SamplerEntry
from reticent.samplers.windows import Window, Windowed


class Rsw(Windowed):
    """Options of RSW."""

    method: ClassVar[str] = "rsw"


def build(spec: Rsw, known: Known) -> Epochs:
    """Visit what the window holds."""
    window = Window(spec, known)

    def groups(epoch: int) -> list[Group]:
        rows = window.visited(epoch)
        return [Group(rows, known.weight_decay)] if len(rows) else []

    return groups


ENTRY = SamplerEntry(
    Rsw,
    build,
    "An epoch visits a window of each class, ranked by memorisation, which slides on epoch by epoch.",
    paper="Shang et al. (2025), WeMem",
    cost="the memorisation scores, once for all samplers: 7 times plain training; then less than plain training",
    scored=True,
)
