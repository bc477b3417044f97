"""The most memory that a piece of work held beyond what was held before: of this process, or of its CUDA device."""

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


@dataclass
class _Open:
    """A measurement that has not ended: the largest that was seen before the system's counter was set back in it."""

    device: torch.device
    top: int = 0


_OPEN: list[_Open] = []
"""Measurements under way, the outermost first."""


@contextmanager
def peak(device: torch.device) -> Iterator[Peak]:
    """Measure the growth of memory during a piece of work; a part of the work may be measured inside.

    On the CPU this is the peak of the resident memory, which Linux counts and lets a process set back; memory that the
    process holds already and uses again is not counted.
    """
    measured, counter = Peak(), _Cuda(device) if device.type == "cuda" else _Resident()
    for other in _OPEN:
        if other.device == device:
            other.top = max(other.top, counter.top() or 0)
    known = counter.set_back()
    start = counter.now() if known else None
    own = _Open(device)
    _OPEN.append(own)
    try:
        yield measured
    finally:
        _OPEN.remove(own)
    top = counter.top() if known else None
    if start is not None and top is not None:
        measured.bytes = max(0, max(top, own.top) - start)


def peak_of_process() -> int:
    """Return the largest resident memory that this process held so far, in bytes, measurements in between or not."""
    unit = 1 if sys.platform == "darwin" else 1024
    return max(_LARGEST[0], unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, _resident("VmHWM") or 0)


class _Cuda:
    """Counts a CUDA device's memory."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def set_back(self) -> bool:
        torch.cuda.reset_peak_memory_stats(self._device)
        return True

    def now(self) -> int | None:
        return torch.cuda.memory_allocated(self._device)

    def top(self) -> int | None:
        return torch.cuda.max_memory_allocated(self._device)


class _Resident:
    """Counts this process' resident memory."""

    def set_back(self) -> bool:
        _LARGEST[0] = max(_LARGEST[0], _resident("VmHWM") or 0)
        try:
            _RESET.write_text("5", encoding="ascii")
        except OSError:
            return False
        return True

    def now(self) -> int | None:
        return _resident("VmRSS")

    def top(self) -> int | None:
        return _resident("VmHWM")


def _resident(name: str) -> int | None:
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None
