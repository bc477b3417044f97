"""The memory that this process holds, as the system counts it: pages that are in memory, those of mapped files too."""

import re
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
_LARGEST = [0]
"""The peak before it was last set back."""


def now() -> int | None:
    """Tell how many bytes are held; None where the system does not."""
    return _told("VmRSS")


def top() -> int | None:
    """Tell how many were held at most since the start, or since the count was last set back."""
    return _told("VmHWM")


def largest() -> int:
    """Tell how many were held at most since the start.

    What every system tells instead is also that of the process that began this one, where that held more.
    """
    known, unit = top(), 1 if sys.platform == "darwin" else 1024
    return max(_LARGEST[0], unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if known is None else known)


def set_back() -> bool:
    """Let the count of the peak begin anew, where the system can be told to."""
    _LARGEST[0] = max(_LARGEST[0], top() or 0)
    try:
        _RESET.write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _told(name: str) -> int | None:
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None
