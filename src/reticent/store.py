"""Runs on disk: found, claimed, written, verified.

A run is a folder ``runs/<id>`` that is written under a temporary name, synced, and renamed when its last file
(``done.json``: hashes of the others, versions, times) stands. A run without ``done.json`` does not exist. A claim is a
lock that the operating system drops with the process, so that a killed process blocks nobody. Several processes may
share a store.
"""

import errno
import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

from reticent.errors import CorruptRunError, StoreError, StoreLockedError

RUNS = "runs"
PARTIAL, REMOVING = ".partial", ".removing"
"""Ends of the names of folders that are being written, and removed."""
CLAIM_PATIENCE = 5.0
"""Seconds to wait for a claim: long enough for the workers of a process that was just killed to end."""


@dataclass(frozen=True)
class Run:
    """A finished run; its files are checked against their hashes when they are read.

    Attributes:
        folder: where it lies.
        done: what ``done.json`` holds; ``done["files"]`` maps file names to SHA-256, ``done["facts"]`` is the maker's.
    """

    folder: Path
    done: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The run's name."""
        return self.folder.name

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the maker wrote of the run."""
        facts: Mapping[str, Any] = self.done["facts"]
        return facts

    def file(self, name: str) -> Path:
        """Return the path of a file, after checking its hash.

        Args:
            name: such as "weights.safetensors".

        Returns:
            Its path.

        Raises:
            CorruptRunError: the file is missing or its bytes changed.
        """
        path = self.folder / name
        expected = self.done["files"].get(name)
        if expected is None or not path.is_file() or _sha256(path) != expected:
            raise CorruptRunError(
                f"run {self.id}: {name} is missing or not what was written: it will not be used; {_advice(self.folder)}"
            )
        return path

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Read a safetensors file.

        Args:
            name: the file.

        Returns:
            Its arrays.
        """
        return load_file(self.file(name))

    def verify(self) -> None:
        """Check every file of the run against its hash."""
        for name in self.done["files"]:
            self.file(name)


class Draft:
    """A run being written; nothing of it exists for others until `Store.claim` ends without an error."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self._root = folder, root
        self.facts: dict[str, Any] = {}

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write one file and bring it to the disk.

        Args:
            name: file name.
            content: its bytes.
        """
        with _disk_errors(self._root), (self.folder / name).open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())

    def write_json(self, name: str, value: Any) -> None:
        """Write plain values as JSON.

        Args:
            name: file name.
            value: plain values, finite.
        """
        self.write_bytes(name, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode())

    def write_arrays(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write arrays as safetensors.

        Args:
            name: file name.
            arrays: by name.
        """
        self.write_bytes(name, save({key: np.asarray(value, order="C") for key, value in arrays.items()}))


class Store:
    """A folder of runs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._runs = root / RUNS
        self._locks = root / "locks"

    def open(self) -> "Store":
        """Make the folders.

        Returns:
            The store.
        """
        with _disk_errors(self.root):
            self._runs.mkdir(parents=True, exist_ok=True)
            self._locks.mkdir(exist_ok=True)
            probe = self._locks / f".probe-{os.getpid()}"
            probe.write_bytes(b"")
            probe.unlink()
        return self

    def find(self, run_id: str) -> Run | None:
        """Find a finished run.

        Args:
            run_id: its name.

        Returns:
            The run, or None if it does not exist.

        Raises:
            CorruptRunError: its ``done.json`` cannot be read.
        """
        folder = self._runs / run_id
        try:
            done = json.loads((folder / "done.json").read_text(encoding="utf-8"))
            files, facts = done["files"], done["facts"]
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorruptRunError(f"run {run_id}: done.json cannot be read ({error}): {_advice(folder)}") from None
        if not isinstance(files, dict) or not isinstance(facts, dict):
            raise CorruptRunError(f"run {run_id}: done.json is not what was written: {_advice(folder)}")
        return Run(folder, done)

    @contextmanager
    def claim(self, run_id: str, patience: float | None = None) -> Iterator[Draft]:
        """Claim a run, write it, and make it exist.

        Args:
            run_id: its name.
            patience: seconds to wait for another process that holds it; by default `CLAIM_PATIENCE`.

        Yields:
            A draft in an empty folder; give it files and facts.

        Raises:
            StoreLockedError: another live process holds the run.
            StoreError: the disk is full or may not be written.
        """
        draft = self._runs / f"{run_id}{PARTIAL}"
        with self._held(run_id, CLAIM_PATIENCE if patience is None else patience):
            try:
                with _disk_errors(self.root):
                    shutil.rmtree(draft, ignore_errors=True)
                    draft.mkdir()
                made = Draft(draft, self.root)
                yield made
                with _disk_errors(self.root):
                    self._finish(made, run_id)
            finally:
                shutil.rmtree(draft, ignore_errors=True)

    def holder(self, run_id: str) -> str | None:
        """Say which live process holds a run.

        Args:
            run_id: its name.

        Returns:
            Such as "process 4711"; None if nobody does.
        """
        lock, owner = self._lock(run_id)
        if not owner.exists():
            return None
        held = FileLock(lock, timeout=0)
        try:
            held.acquire()
        except (Timeout, OSError):
            return _read(owner)
        held.release()
        return None

    def remove(self, name: str, *, unfinished: bool = False) -> None:
        """Remove a folder of ``runs/``: renamed first, so that at no moment half a run looks like a whole one.

        The lock's file stays: who waits for it must find the same file as who comes later.

        Args:
            name: of the folder: a run's, or that with ``.partial`` or ``.removing`` behind it.
            unfinished: remove it only if it is not finished by now.

        Raises:
            StoreLockedError: a live process holds the run, or has finished it.
            StoreError: the folder may not be written.
        """
        folder = self._runs / name
        if folder.is_symlink() or folder.name != name or name == "..":
            raise StoreError(f"{folder} is no run: it is left alone")
        condemned = folder.with_suffix(REMOVING)
        with self._held(folder.stem, 0), _disk_errors(self.root):
            if unfinished and not folder.suffix and (folder / "done.json").exists():
                raise StoreLockedError(f"run {name} was finished meanwhile: it is kept")
            if folder != condemned and folder.exists():
                if condemned.exists():
                    shutil.rmtree(condemned)
                folder.rename(condemned)
            if condemned.exists():
                shutil.rmtree(condemned)
            _sync_folder(self._runs)

    def _lock(self, run_id: str) -> tuple[Path, Path]:
        return self._locks / f"{run_id}.lock", self._locks / f"{run_id}.owner"

    @contextmanager
    def _held(self, run_id: str, patience: float) -> Iterator[None]:
        """Hold a run's lock, with the name of this process beside it.

        Raises:
            StoreLockedError: another live process holds the run.
        """
        lock, owner = self._lock(run_id)
        held = FileLock(lock, timeout=patience)
        with _disk_errors(self.root):
            try:
                held.acquire()
            except Timeout:
                raise StoreLockedError(
                    f"run {run_id} of the store {self.root} is being made by {_read(owner)}, which is alive: "
                    "wait for it and run the same command again, or give another --store"
                ) from None
        try:
            with _disk_errors(self.root):
                owner.write_text(f"process {os.getpid()}", encoding="utf-8")
            yield
        finally:
            owner.unlink(missing_ok=True)
            held.release()

    def _finish(self, draft: Draft, run_id: str) -> None:
        files = {path.name: _sha256(path) for path in sorted(draft.folder.iterdir())}
        draft.write_json("done.json", {"files": files, "facts": draft.facts})
        _sync_folder(draft.folder)
        target = self._runs / run_id
        if target.exists() and self.find(run_id) is None:
            shutil.rmtree(target)
        if not target.exists():
            draft.folder.rename(target)
        _sync_folder(self._runs)


def _advice(folder: Path) -> str:
    store = shlex.quote(str(folder.parent.parent))
    return f"remove it (reticent runs rm {folder.name} --store {store}), then run the same command again"


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return "another process"


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _disk_errors(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        advice = (
            "free some space" if error.errno in {errno.ENOSPC, errno.EDQUOT} else "give a folder that can be written"
        )
        raise StoreError(
            f"the store {root} cannot be written ({error.strerror or error}): {advice}, or give another --store; "
            "what was finished is kept"
        ) from error
