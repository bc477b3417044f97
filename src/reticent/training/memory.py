"""Memory, of this process or of its CUDA device: the most that a piece of work took, and errors that say it ran out."""

import re
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
_LARGEST = [0]
"""The peak before it was last set back."""


@dataclass
class Peak:
    """What was measured.

    Attributes:
        bytes: the growth, or None where the system cannot tell; filled in when the work ends.
    """

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


def peak_of_process() -> int:
    """Return the largest resident memory that this process held so far, in bytes, measurements in between or not."""
    unit = 1 if sys.platform == "darwin" else 1024
    return max(_LARGEST[0], unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, _resident("VmHWM") or 0)


def ran_out(error: Exception) -> bool:
    """Tell whether an error says that there is no memory left; of the process's own, torch says it by words alone."""
    ours = isinstance(error, RuntimeError) and "DefaultCPUAllocator: can't allocate memory" in str(error)
    return ours or isinstance(error, (torch.OutOfMemoryError, MemoryError))


def _set_back(device: torch.device) -> bool:
    """Let the system's counter of the peak begin anew, where it can be told to."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return True
    _LARGEST[0] = max(_LARGEST[0], _resident("VmHWM") or 0)
    try:
        _RESET.write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _now(device: torch.device) -> int | None:
    return torch.cuda.memory_allocated(device) if device.type == "cuda" else _resident("VmRSS")


def _top(device: torch.device) -> int | None:
    return torch.cuda.max_memory_allocated(device) if device.type == "cuda" else _resident("VmHWM")


def _resident(name: str) -> int | None:
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None
