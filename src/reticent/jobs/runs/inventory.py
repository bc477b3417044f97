"""Every folder of a store's ``runs/``: what it is, what it was made from, and in which state."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from reticent.errors import InputError, StoreError
from reticent.store import PARTIAL, REMOVING, RUNS, Run, Store, look
from reticent.store.disk import gone, read_plain

State = Literal["finished", "corrupt", "cannot be read", "unfinished", "in use"]
NAME = re.compile(rf"([0-9a-f]{{20}})({re.escape(PARTIAL)}|{re.escape(REMOVING)})?")
"""The name of a run's folder; what is named otherwise was not made by reticent, and is never touched."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One folder of ``runs/``.

    Attributes:
        folder: where it lies.
        id: the run's name.
        state: "finished"; "corrupt": finished, but not what was written; "cannot be read": the disk does not give it
            now, and it may be whole; "unfinished": left by a process that was killed, while writing or while
            removing; "in use": a live process is writing it.
        kind: "training", "signals", "repair" (a user's model, repaired), or "unknown" where its spec cannot be read.
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
        return row if isinstance(row, int) and not isinstance(row, bool) and 0 <= row < 10**9 else None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
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
        """Find a run by the beginning of its name."""
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
        """Find the signals of a training run."""
        return [entry for entry in self.entries if entry.of == run_id]


def scan(root: Path) -> Inventory:
    """Look at every folder of a store; hashes are not checked (see `verify`), files that are missing are noted."""
    runs = root / RUNS
    try:
        if not runs.is_dir():
            what = "is not a store (it has no folder runs/)" if root.exists() else "does not exist"
            raise StoreError(f"the store {str(root)!r} {what}: give --store DIR, the same as for `reticent audit`")
        folders = sorted(runs.iterdir())
        own = [path for path in folders if NAME.fullmatch(path.name) and not path.is_symlink() and path.is_dir()]
    except OSError as error:
        raise StoreError(f"the store {root} cannot be read ({error.strerror or error})") from None
    store = Store(root)
    foreign = tuple(path.name for path in folders if path not in set(own))
    # A process that ends while this looks may take a folder away.
    seen = [_entry(store, path) for path in own]
    return Inventory(root, tuple(entry for entry in seen if entry is not None), foreign)


def _entry(store: Store, folder: Path) -> Entry | None:
    found = NAME.fullmatch(folder.name)
    if found is None:
        return None
    try:
        changed = folder.stat().st_mtime
    except OSError:
        return None
    run_id, suffix = found[1], found[2]
    run, finding = (None, None) if suffix else _run(folder)
    spec, wrong = _spec(folder)
    if run is not None:
        finding = _missing(run) or wrong or ("finished", "")
    facts: Mapping[str, Any] = {} if run is None else run.facts
    state, problem = finding or _unfinished(store, run_id, suffix)
    kind = facts.get("kind", spec.get("kind"))
    return Entry(
        folder=folder,
        id=run_id,
        state=state,
        kind=kind if kind in ("training", "signals", "repair") else "unknown",
        bytes=_size(folder),
        when=_when(facts, changed),
        spec=spec,
        facts=facts,
        files={} if run is None else run.files,
        problem=problem,
    )


Finding = tuple[State, str]
"""A state, and what is wrong."""


def _run(folder: Path) -> tuple[Run | None, Finding | None]:
    """Read what was noted when a run was finished; neither, if it was not."""
    try:
        return look(folder), None
    except OSError as error:
        return None, ("cannot be read", f"done.json: {error.strerror or error}")
    except ValueError as error:
        return None, ("corrupt", f"done.json cannot be read: {error}")


def _spec(folder: Path) -> tuple[Mapping[str, Any], Finding | None]:
    """Read what a run was made from, and what is wrong with that file."""
    try:
        return read_plain(folder / "spec.json"), None
    except OSError as error:
        return {}, None if gone(error) else ("cannot be read", f"spec.json: {error.strerror or error}")
    except ValueError as error:
        return {}, ("corrupt", f"spec.json cannot be read: {error}")


def _missing(run: Run) -> Finding | None:
    """Look whether all files of a finished run are there."""
    missing: list[str] = []
    for name in sorted(run.files):
        try:
            (run.folder / name).stat()
        except OSError as error:
            if not gone(error):
                return "cannot be read", f"{name}: {error.strerror or error}"
            missing.append(name)
    return ("corrupt", f"{', '.join(missing)} missing") if missing else None


def _unfinished(store: Store, run_id: str, suffix: str | None) -> Finding:
    """Say what a folder is that holds no finished run."""
    try:
        holder = store.holder(run_id)
    except OSError as error:
        return "cannot be read", f"whether a live process is writing it is not known: {error.strerror or error}"
    if holder is not None:
        return "in use", f"by {holder}"
    if suffix == REMOVING:
        return "unfinished", "its removal was interrupted"
    return "unfinished", "its process ended before it was finished" if suffix else "it has no done.json"


def _size(folder: Path) -> int:
    """Add up what lies in a folder, as far as it can be read; links are not followed."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:
                continue
    return total


def _when(facts: Mapping[str, Any], changed: float) -> datetime:
    try:
        when = datetime.fromisoformat(facts["finished"])
    except (KeyError, TypeError, ValueError):
        return datetime.fromtimestamp(changed, UTC)
    return when if when.tzinfo else when.replace(tzinfo=UTC)
