"""The store: a folder of runs that several processes may share."""

import errno
import json
import logging
import os
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from safetensors.numpy import save

from reticent.errors import CorruptRunError, StoreError, StoreLockedError, UnreadableRunError
from reticent.findings.base import Plain
from reticent.store import locks
from reticent.store.disk import sha256, sync_folder, writing
from reticent.store.run import AGAIN, DONE, Problem, Run, examine, sealed, unreadable

log = logging.getLogger(__name__)

RUNS = "runs"
PARTIAL, REMOVING = ".partial", ".removing"
"""Ends of the names of folders that are being written, and removed."""
LOOK_PATIENCE = 0.2
"""Seconds to wait for a claim: as long as who only looks at it may hold it."""
READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""Errors that say that this user may read a store at most."""
TAKEN = frozenset({errno.ENOTEMPTY, errno.EEXIST})
"""Errors that say that a folder is there already, and holds something."""
UNKNOWN = "another process"
Made = TypeVar("Made")


class Draft:
    """A run being written; nothing of it exists for others until `Store.claim` ends without an error.

    Attributes:
        facts: what its maker writes of the run.
        won: no other maker finished it before, as two can that do not see each other's claims.
    """

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self._root = folder, root
        self.facts: Plain = {}
        self.won = True

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write one file and bring it to the disk."""
        with writing(self._root), (self.folder / name).open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())

    def write_json(self, name: str, value: Any) -> None:
        """Write plain values as JSON."""
        self.write_bytes(name, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode())

    def write_arrays(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write arrays as safetensors."""
        self.write_bytes(name, save({key: np.asarray(value, order="C") for key, value in arrays.items()}))


class Store:
    """A folder of runs.

    Attributes:
        root: the folder.
        read_only: it holds runs, but this user may not write there: found by `open`.
        lingers: seconds that the claim of a process that died may hold: here the workers of one that was just killed,
            until they end.
    """

    lingers = 5.0

    def __init__(self, root: Path) -> None:
        self.root, self.read_only = root, False
        self._runs = root / RUNS
        self._locks = root / "locks"

    def open(self) -> "Store":
        """Make the folders; of a store that may only be read, finished runs are found, and no other is made."""
        with writing(self.root):
            self._probe()
        return self

    @property
    def address(self) -> str:
        """Where another process, or machine, finds this store (see `at`)."""
        return str(self.root.resolve())

    def _probe(self) -> None:
        """Write something, so that a disk that cannot be written is known before anything is trained."""
        probe = self._locks / f".probe-{secrets.token_hex(8)}"
        try:
            self._runs.mkdir(parents=True, exist_ok=True)
            self._locks.mkdir(exist_ok=True)
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            self.read_only = error.errno in READ_ONLY and self._runs.is_dir()
            if not self.read_only:
                raise

    def find(self, run_id: str) -> Run | None:
        """Find a finished run, every file of which is what was written.

        Cost: every byte of the run is read once.
        """
        run, problem = self._examined(run_id)
        return run if problem is None else None

    def ended(self, run_id: str) -> bool:
        """Tell whether a run was finished; whether it is whole is not looked at."""
        return (self._runs / run_id / DONE).exists()

    def whole(self, run_id: str) -> Run:
        """Take a run that was found or made before."""
        run, problem = self._examined(run_id)
        if problem is not None:
            raise CorruptRunError(f"run {run_id}: {problem}: {AGAIN}")
        if run is None:
            raise CorruptRunError(f"run {run_id} is gone: run the same command again")
        return run

    def _examined(self, run_id: str) -> tuple[Run | None, Problem | None]:
        """Look at every byte of a run: the run, and what makes it corrupt."""
        return self._here(run_id)

    def _here(self, run_id: str) -> tuple[Run | None, Problem | None]:
        folder = self._runs / run_id
        run, problems = examine(folder)
        lasting = next((one for one in problems if not one.passing), None)
        if lasting is None and problems:
            raise UnreadableRunError(unreadable(folder, problems[0]))
        return run, lasting

    def found_or_made(
        self, run_id: str, make: Callable[[Draft], Made], patience: float | None = None
    ) -> tuple[Run, Made | None]:
        """Find a run, or claim it, as `claim` does, and make it: the run, and what `make` gave if it was made now."""
        run, made = self.find(run_id), None
        if run is None:
            with self.claim(run_id, patience) as draft:
                run = self.find(run_id)
                if run is None:
                    made = make(draft)
            if not draft.won:
                made = None
        return run or self.whole(run_id), made

    @contextmanager
    def claim(self, run_id: str, patience: float | None = None) -> Iterator[Draft]:
        """Claim a run, write it, and make it exist; one that stands there and is corrupt is told, and replaced."""
        partial = self._runs / f"{run_id}{PARTIAL}"
        # A name of its own: who lost its claim unseen, as a machine cut off may, writes into no other's draft.
        draft = partial / _own_name()
        for folder in (partial, self._runs / run_id):
            if folder.exists() and not folder.is_dir():
                raise StoreError(
                    f"{folder} is a file, expected the folder of a run: move it away, then run the same command again"
                )
        with self._held(run_id, LOOK_PATIENCE if patience is None else patience):
            try:
                with writing(self.root):
                    draft.mkdir(parents=True)
                    _sweep(partial, draft)
                _, problem = self._examined(run_id)
                if problem is not None:
                    log.warning("run %s: %s: it is not used, and made anew", run_id, problem)
                made = Draft(draft, self.root)
                yield made
                with writing(self.root):
                    self._finish(made, run_id)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
                with suppress(OSError):
                    partial.rmdir()

    @contextmanager
    def using(self, runs: Iterable[str]) -> Iterator["Store"]:
        """Keep runs from being removed until the block ends or this process does, those not made yet too.

        Where the store may only be read, nothing keeps them: who may write there can remove them.
        """
        with ExitStack() as noted:
            if not self.read_only:
                with writing(self.root):
                    noted.enter_context(locks.using(self._locks, runs))
            yield self

    @contextmanager
    def marked(self) -> Iterator[str]:
        """Leave a mark until the block ends, by which other machines know this store (`check_marked`)."""
        with writing(self.root), locks.using(self._locks, ()) as mark:
            yield mark

    def check_marked(self, mark: str) -> None:
        """Refuse a folder that is not where a live process left a mark, or that hides locks of other machines."""
        there = locks.marked(self._locks, mark)
        if there is None:
            raise StoreError(
                f"the folder {self.root} of this machine is not the store of the machine that asks: mount one folder "
                "at the same path on all of them, or give a --store that they share"
            )
        if not there:
            raise StoreError(
                f"locks in {self.root} do not hold between machines: mount it so that flock does (Lustre: -o flock; "
                "NFS: without nolock and local_lock), or give another --store"
            )

    def users(self) -> dict[str, str]:
        """List the runs that live processes use (see `using`)."""
        return locks.uses(self._locks)

    def holder(self, run_id: str) -> str | None:
        """Say which live process has claimed a run; looking does not disturb it."""
        lock, owner = self._lock(run_id)
        return _read(owner) if locks.held(lock) else None

    def remove(self, name: str, *, unfinished: bool = False) -> None:
        """Remove a folder of ``runs/``: renamed first, so that at no moment half a run looks like a whole one.

        The lock's file stays: who waits for it must find the same file as who comes later.
        """
        folder = self._runs / name
        if folder.is_symlink() or folder.name != name or name == "..":
            raise StoreError(f"{folder} is no run: it is left alone")
        condemned = folder.with_suffix(REMOVING)
        with self._held(folder.stem, LOOK_PATIENCE), writing(self.root):
            user = self.users().get(folder.stem)
            if user is not None:
                raise StoreLockedError(f"run {folder.stem} is in use by {user}, which is alive: it is kept")
            if unfinished and not folder.suffix and (folder / DONE).exists():
                raise StoreLockedError(f"run {name} was finished meanwhile: it is kept")
            if folder != condemned and folder.exists():
                if condemned.exists():
                    shutil.rmtree(condemned)
                folder.rename(condemned)
            if condemned.exists():
                shutil.rmtree(condemned)
            sync_folder(self._runs)

    def _lock(self, run_id: str) -> tuple[Path, Path]:
        return self._locks / f"{run_id}.lock", self._locks / f"{run_id}.owner"

    @contextmanager
    def _held(self, run_id: str, patience: float) -> Iterator[None]:
        """Hold a run's lock, with the name of this process beside it."""
        lock, owner = self._lock(run_id)
        held = FileLock(lock, timeout=patience)
        with writing(self.root):
            try:
                held.acquire()
            except Timeout:
                raise StoreLockedError(
                    f"run {run_id} of the store {self.root} is being made by {_read(owner)}, which is alive: "
                    "wait for it and run the same command again, or give another --store"
                ) from None
        try:
            with writing(self.root):
                owner.write_text(locks.process(), encoding="utf-8")
            yield
        finally:
            owner.unlink(missing_ok=True)
            held.release()

    def _finish(self, draft: Draft, run_id: str) -> None:
        files = {path.name: sha256(path) for path in sorted(draft.folder.iterdir())}
        if not files:  # The run was found once it was claimed.
            return
        draft.write_json(DONE, sealed(files, draft.facts))
        sync_folder(draft.folder)
        draft.won = self._commit(draft.folder, run_id)
        if not draft.won:
            log.warning("run %s was finished by another maker meanwhile: that one is used", run_id)

    def _commit(self, folder: Path, run_id: str) -> bool:
        """Make a folder the run, in place of a corrupt one if there is one; only one of several makers can."""
        target = self._runs / run_id
        if target.exists() and not self._stays(target, folder):
            # Moved, then looked at again: another maker may have put a whole one there just now.
            aside = folder.with_name(_own_name())
            with suppress(FileNotFoundError):
                target.rename(aside)
                if self._stays(aside, folder):
                    _renamed(aside, target)
                shutil.rmtree(aside, ignore_errors=True)
        if not _renamed(folder, target):
            return False
        sync_folder(self._runs)
        return True

    def _stays(self, there: Path, draft: Path) -> bool:
        """Tell whether a run is whole, or may be, so that a draft does not take its place."""
        run, problems = examine(there)
        return all(one.passing for one in problems) and (run is not None or bool(problems))


def _own_name() -> str:
    """Name a folder as no other is named, and after the machine that writes it."""
    return f"{secrets.token_hex(6)}.{socket.gethostname()}"


def _sweep(partial: Path, own: Path) -> None:
    """Remove the drafts of makers that died: this machine's, which holds the claim, and those that are old."""
    for draft in partial.iterdir():
        with suppress(OSError):
            here = draft.name.partition(".")[2] == own.name.partition(".")[2]
            if draft != own and (here or time.time() - draft.stat().st_mtime > locks.STALE):
                shutil.rmtree(draft)


def _renamed(folder: Path, target: Path) -> bool:
    """Rename a folder, unless another that holds something is there."""
    try:
        folder.rename(target)
    except OSError as error:
        if error.errno not in TAKEN:
            raise
        return False
    return True


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")[: locks.LONGEST] or UNKNOWN
    except (OSError, ValueError):
        return UNKNOWN
