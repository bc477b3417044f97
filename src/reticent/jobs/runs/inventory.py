"""Every folder of a store's ``runs/``: what it is, what it was made from, and in which state."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NoReturn

from reticent.errors import CorruptRunError, InputError, StoreError
from reticent.store import PARTIAL, REMOVING, RUNS, Store

State = Literal["finished", "corrupt", "unfinished", "in use"]
NAME = re.compile(rf"([0-9a-f]{{20}})({re.escape(PARTIAL)}|{re.escape(REMOVING)})?")
"""The name of a run's folder; what is named otherwise was not made by reticent, and is never touched."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One folder of ``runs/``.

    Attributes:
        folder: where it lies.
        id: the run's name.
        state: "finished"; "corrupt": finished, but not what was written; "unfinished": left by a process that was
            killed, while writing or while removing; "in use": a live process is writing it.
        kind: "training", "signals", or "unknown" where its spec cannot be read.
        bytes: size of its files.
        when: when it was finished, or last changed.
        spec: what it was made from; empty if it cannot be read.
        facts: what its maker noted; empty if they cannot be read.
        files: name to SHA-256, as noted.
        problem: what is wrong, or which process holds it; empty if nothing is.
    """

    folder: Path
    id: str
    state: State
    kind: str
    bytes: int
    when: datetime
    spec: Mapping[str, Any]
    facts: Mapping[str, Any]
    files: Mapping[str, str]
    problem: str = ""

    @property
    def of(self) -> str | None:
        """The training run whose signals these are, or None."""
        of = self.facts.get("of", self.spec.get("of"))
        return of if isinstance(of, str) else None

    @property
    def model(self) -> int | None:
        """The model's row, or None if it is not known."""
        row = self.facts.get("model", self.spec.get("model"))
        return row if isinstance(row, int) else None

    def to_json(self) -> dict[str, Any]:
        """Return plain values.

        Returns:
            The facts of the list.
        """
        return {
            "id": self.id,
            "folder": self.folder.name,
            "kind": self.kind,
            "state": self.state,
            "model": self.model,
            "of": self.of,
            "bytes": self.bytes,
            "when": self.when.isoformat(timespec="seconds"),
            "problem": self.problem or None,
        }


@dataclass(frozen=True, eq=False)
class Inventory:
    """A store's runs.

    Attributes:
        root: the store.
        entries: by name of the folder.
        foreign: names in ``runs/`` that reticent did not make; they are left alone.
    """

    root: Path
    entries: tuple[Entry, ...]
    foreign: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Size of all runs."""
        return sum(entry.bytes for entry in self.entries)

    def find(self, prefix: str) -> Entry:
        """Find a run by the beginning of its name.

        Args:
            prefix: as much of the name as no other run has.

        Returns:
            The run; what is left beside a finished one of the same name is not meant.

        Raises:
            InputError: no run, or several runs, have a name that begins so.
        """
        fits: dict[str, Entry] = {}
        for entry in self.entries:
            if prefix and (entry.id.startswith(prefix) or entry.folder.name == prefix):
                fits.setdefault(entry.id, entry)
        if not fits:
            raise InputError(f"no run of {self.root} has a name that begins with {prefix!r}: see `reticent runs list`")
        if len(fits) > 1:
            names = list(fits)
            shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
            raise InputError(f"{prefix!r} begins the names of {len(fits)} runs, give more of it: {shown}")
        return next(iter(fits.values()))

    def signals_of(self, run_id: str) -> list[Entry]:
        """Find the signals of a training run.

        Args:
            run_id: the training run.

        Returns:
            What was made from it.
        """
        return [entry for entry in self.entries if entry.of == run_id]


def scan(root: Path) -> Inventory:
    """Look at every folder of a store; hashes are not checked (see `verify`), files that are missing are noted.

    Args:
        root: the store; it is not made if it is not there.

    Returns:
        What is there.

    Raises:
        StoreError: there is no store, or it cannot be read.
    """
    runs = root / RUNS
    if not runs.is_dir():
        what = "is not a store (it has no folder runs/)" if root.exists() else "does not exist"
        raise StoreError(f"the store {str(root)!r} {what}: give --store DIR, the same as for `reticent audit`")
    try:
        folders = sorted(runs.iterdir())
    except OSError as error:
        raise StoreError(f"the store {root} cannot be read ({error.strerror or error})") from None
    own = [path for path in folders if NAME.fullmatch(path.name) and path.is_dir() and not path.is_symlink()]
    store = Store(root)
    foreign = tuple(path.name for path in folders if path not in set(own))
    # A process that ends while this looks may take a folder away.
    seen = [_entry(store, path) for path in own]
    return Inventory(root, tuple(entry for entry in seen if entry is not None), foreign)


def _entry(store: Store, folder: Path) -> Entry | None:
    found = NAME.fullmatch(folder.name)
    if found is None:
        return None
    run_id, suffix = found[1], found[2]
    spec = _json(folder / "spec.json")
    facts: Mapping[str, Any] = {}
    files: Mapping[str, str] = {}
    try:
        state, problem = _unfinished(store, run_id, suffix)
        if suffix is None:
            run = store.find(run_id)
            if run is not None:
                facts, files = run.facts, run.done["files"]
                missing = sorted(name for name in files if not (folder / name).is_file())
                state, problem = ("corrupt", f"{', '.join(missing)} missing") if missing else ("finished", "")
    except CorruptRunError:
        state, problem = "corrupt", "done.json cannot be read"
    try:
        size, changed = _size(folder), folder.stat().st_mtime
    except OSError:
        return None
    kind = facts.get("kind", spec.get("kind"))
    return Entry(
        folder=folder,
        id=run_id,
        state=state,
        kind=kind if kind in {"training", "signals"} else "unknown",
        bytes=size,
        when=_when(facts, changed),
        spec=spec,
        facts=facts,
        files=files,
        problem=problem,
    )


def _unfinished(store: Store, run_id: str, suffix: str | None) -> tuple[State, str]:
    """Say what a folder is that holds no finished run."""
    holder = store.holder(run_id)
    if holder is not None:
        return "in use", f"by {holder}"
    if suffix == REMOVING:
        return "unfinished", "its removal was interrupted"
    return "unfinished", "its process ended before it was finished" if suffix else "it has no done.json"


def _json(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _size(folder: Path) -> int:
    """Add up what lies in a folder; links are not followed."""
    total = 0
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            total += _size(path)
        else:
            total += path.lstat().st_size
    return total


def _when(facts: Mapping[str, Any], changed: float) -> datetime:
    try:
        when = datetime.fromisoformat(facts["finished"])
    except (KeyError, TypeError, ValueError):
        return datetime.fromtimestamp(changed, UTC)
    return when if when.tzinfo else when.replace(tzinfo=UTC)
