"""Samplers: which members an epoch visits, and in which order, one file each."""

from reticent.samplers import rmr, rsw, shuffle, swmr
from reticent.samplers.base import SamplerEntry

SAMPLERS: dict[str, SamplerEntry] = {
    "rmr": rmr.ENTRY,
    "rsw": rsw.ENTRY,
    "shuffle": shuffle.ENTRY,
    "swmr": swmr.ENTRY,
}

__all__ = ["SAMPLERS", "SamplerEntry"]
