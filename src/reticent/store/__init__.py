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

import re
from pathlib import Path

from reticent.errors import StoreError
from reticent.store.folder import PARTIAL, REMOVING, RUNS, Draft, Store
from reticent.store.run import Problem, Run, examine, look

__all__ = ["PARTIAL", "REMOVING", "RUNS", "Draft", "Problem", "Run", "Store", "at", "examine", "is_folder", "look"]


BUCKET = re.compile(r"s3://[\w.-]+(/[^?#]*)?")
"""Addresses of object stores; with no place for keys, which would be printed wherever the address is."""


def is_folder(address: str | Path) -> bool:
    """Tell whether an address is a folder's, and does not begin as ``s3:/`` does."""
    return re.match(r"[A-Za-z][\w+.-]+:/", str(address)) is None


def at(address: str | Path) -> Store:
    """Return the store of an address, a folder or the text ``s3://bucket/path``; nothing is opened yet."""
    if is_folder(address):
        return Store(Path(address))
    if not isinstance(address, str) or BUCKET.fullmatch(address) is None:
        raise StoreError(
            f"a store whose address begins with {str(address).partition('/')[0]!r}: expected a folder, or the text "
            "s3://bucket/path without anything else in it; keys are taken from the environment (AWS_ACCESS_KEY_ID, "
            "AWS_SECRET_ACCESS_KEY), other services from AWS_ENDPOINT_URL"
        )
    from reticent.store.objects import ObjectStore

    return ObjectStore(address)
