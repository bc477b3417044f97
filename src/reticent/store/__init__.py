"""Runs on disk: found, claimed, written, verified.

A run is a folder ``runs/<id>`` that is written under a temporary name, synced, and renamed when its last file
(``done.json``: hashes of the others, versions, times) stands. A run without ``done.json`` does not exist, and one whose
files are not what was written is made anew. A claim is a lock that the operating system drops with the process, so that
a killed process blocks nobody. Several processes may share a store.

* `folder`: the store: find, claim, remove
* `run`: one finished run, and the one rule whether it is whole
* `locks`: what live processes hold, and how to look without disturbing them
* `objects`: the same in an object store, with a folder of copies
* `disk`: what the disk says, and files of plain values
"""

from pathlib import Path

from reticent.store.folder import PARTIAL, REMOVING, RUNS, Draft, Store
from reticent.store.run import Problem, Run, examine, look

__all__ = ["PARTIAL", "REMOVING", "RUNS", "Draft", "Problem", "Run", "Store", "at", "examine", "look"]


def at(address: str | Path) -> Store:
    """Return the store of an address, a folder or ``s3://bucket/path`` (gs, az); nothing is opened yet."""
    if isinstance(address, str) and "://" in address:
        from reticent.store.objects import ObjectStore

        return ObjectStore(address)
    return Store(Path(address))
