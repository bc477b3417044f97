"""Memory, of this process or of its CUDA device: the most that a piece of work took, and errors that say it ran out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from reticent import resident


@dataclass
class Peak:
    """By how many bytes memory grew, filled in when the work ends; None where the system cannot tell."""

    bytes: int | None = None


_OPEN: list[tuple[torch.device, list[int]]] = []
"""Measurements under way, the outermost first, each with the peaks that were seen before the counter was set back."""


@contextmanager
def peak(device: torch.device) -> Iterator[Peak]:
    """Measure the growth of memory during a piece of work; a part of the work may be measured inside.

    On the CPU this is the peak of the resident memory, which Linux counts and lets a process set back; memory that the
    process holds already and uses again is not counted.
    """
    for other, seen in _OPEN:
        if other == device:
            seen.append(_top(device) or 0)
    start = _now(device) if _set_back(device) else None
    measured, own = Peak(), (device, list[int]())
    _OPEN.append(own)
    try:
        yield measured
    finally:
        _OPEN.pop()
    top = _top(device)
    if start is not None and top is not None:
        measured.bytes = max(0, max([top, *own[1]]) - start)


def ran_out(error: Exception) -> bool:
    """Tell whether an error says that there is no memory left; of the process's own, torch says it by words alone."""
    ours = isinstance(error, RuntimeError) and "DefaultCPUAllocator: can't allocate memory" in str(error)
    return ours or isinstance(error, (torch.OutOfMemoryError, MemoryError))


def _set_back(device: torch.device) -> bool:
    """Let the system's counter of the peak begin anew, where it can be told to."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return True
    return resident.set_back()


def _now(device: torch.device) -> int | None:
    return torch.cuda.memory_allocated(device) if device.type == "cuda" else resident.now()


def _top(device: torch.device) -> int | None:
    return torch.cuda.max_memory_allocated(device) if device.type == "cuda" else resident.top()
