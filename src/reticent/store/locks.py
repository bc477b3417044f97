"""What live processes hold: locks that the operating system drops with its process, and how to look at them.

Two kinds. A *claim* is on one run, by the process that writes or removes it. A *use* is on all runs of a population, by
the process that trains them, reads them or will: they stay while it lives.
"""

import fcntl
import json
import os
import secrets
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock

from reticent.store.disk import gone, read_plain

USES = "uses"
STALE = 86_400.0
"""Seconds after which what a killed process left, of a use or of a draft, is removed: long after another could be just
taking it."""
LONGEST = 100
"""Characters of a holder that are told."""


def process() -> str:
    """Name this process, on whatever machine it is: a store may be shared."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def held(lock: Path) -> bool:
    """Say whether a live process holds a lock.

    Whoever takes it meanwhile waits some microseconds, and does not fail.
    """
    try:
        handle = os.open(lock, os.O_RDONLY)
    except OSError as error:
        if gone(error):
            return False
        raise
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


@contextmanager
def using(locks: Path, runs: Iterable[str]) -> Iterator[str]:
    """Note, under the name that this gives, that this process uses some runs, until the block ends or it does."""
    folder = locks / USES
    folder.mkdir(exist_ok=True)
    _sweep(folder)
    lock = folder / f"{os.getpid()}-{secrets.token_hex(6)}.lock"
    note = lock.with_suffix(".json")
    taken = FileLock(lock, timeout=0)
    taken.acquire()
    try:
        draft = note.with_suffix(".tmp")
        draft.write_text(json.dumps({"holder": process(), "runs": sorted(runs)}), encoding="utf-8")
        draft.replace(note)
        yield lock.name
    finally:
        for path in (note, lock):
            with suppress(OSError):
                path.unlink(missing_ok=True)
        taken.release()


def marked(locks: Path, name: str) -> bool | None:
    """Say whether the lock of a live process's note holds here; None where there is no such note."""
    lock = locks / USES / name
    return held(lock) if lock.exists() else None


def uses(locks: Path) -> dict[str, str]:
    """List the runs that live processes use."""
    found: dict[str, str] = {}
    for lock in _locks(locks / USES):
        if not held(lock):
            continue
        try:
            note = read_plain(lock.with_suffix(".json"))
        except (FileNotFoundError, ValueError):
            continue  # It ended, or has just begun and not looked for a run yet.
        runs = note.get("runs")
        names = [name for name in runs if isinstance(name, str)] if isinstance(runs, list) else []
        found |= dict.fromkeys(names, str(note.get("holder"))[:LONGEST])
    return found


def _locks(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".lock")
    except OSError as error:
        if gone(error):
            return []
        raise


def _sweep(folder: Path) -> None:
    """Remove what killed processes left."""
    for lock in _locks(folder):
        with suppress(OSError):
            if time.time() - lock.stat().st_mtime > STALE and not held(lock):
                lock.with_suffix(".json").unlink(missing_ok=True)
                lock.unlink(missing_ok=True)
