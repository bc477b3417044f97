"""Removing runs: what is chosen, what goes with it, and what a live process keeps."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from reticent.errors import InputError, StoreError, StoreLockedError
from reticent.jobs.runs.inventory import Entry, Inventory
from reticent.jobs.runs.verify import verify
from reticent.store import Store

UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@dataclass(frozen=True)
class Choice:
    """Which runs to remove: by name, or by one or more of their states, or by age, or all.

    Attributes:
        ids: names, or beginnings of names.
        corrupt: those that are not what was written; every hash is computed anew. What cannot be read now is kept.
        unfinished: those that a killed process left.
        older_than: those last finished or changed so long ago, such as "30d".
        everything: all.
    """

    ids: tuple[str, ...] = ()
    corrupt: bool = False
    unfinished: bool = False
    older_than: str | None = None
    everything: bool = False

    def __post_init__(self) -> None:
        ways = [bool(self.ids), self.corrupt or self.unfinished, self.older_than is not None, self.everything]
        if sum(ways) != 1:
            raise InputError(
                "expected one of: names of runs, --corrupt and/or --unfinished, --older-than 30d, --all; "
                f"got {'none' if not any(ways) else 'several'}"
            )


@dataclass(frozen=True, eq=False)
class Kept:
    """A run that was asked for and is not removed.

    Attributes:
        entry: the run.
        why: what keeps it.
    """

    entry: Entry
    why: str


@dataclass(frozen=True, eq=False)
class Plan:
    """What would be removed.

    Attributes:
        chosen: what was asked for.
        with_them: signals of chosen training runs, which go with them.
        kept: what was asked for, and a live process uses.
    """

    chosen: tuple[Entry, ...]
    with_them: tuple[Entry, ...]
    kept: tuple[Kept, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All that would be removed, signals before their models."""
        return (*self.with_them, *self.chosen)

    @property
    def bytes(self) -> int:
        """What would be freed."""
        return sum(entry.bytes for entry in self.entries)


def plan(inventory: Inventory, choice: Choice) -> Plan:
    """Choose what to remove; nothing is removed yet."""
    asked = _asked(inventory, choice)
    holders = _Holders(Store(inventory.root))
    chosen, with_them, kept = [], [], []
    names = {entry.folder.name for entry in asked}
    for entry in asked:
        signals = inventory.signals_of(entry.id) if _is_model(entry) else []
        held = [holder for name in (entry.id, *(one.id for one in signals)) if (holder := holders.of(name))]
        if held:
            if choice.ids:
                raise StoreLockedError(f"run {entry.id} is in use by {held[0]}, which is alive: nothing was removed")
            kept.append(Kept(entry, f"{held[0]} is using it, and is alive"))
            continue
        chosen.append(entry)
        with_them += [one for one in signals if one.folder.name not in names]
    return Plan(tuple(_models_last(chosen)), tuple(with_them), tuple(kept))


class _Holders:
    """Which live process has claimed a run, or uses it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        try:
            self._users = store.users()
        except OSError as error:
            raise StoreError(
                f"the store {store.root}: whether a live process uses it cannot be told ({error.strerror or error}): "
                "nothing was removed"
            ) from None

    def of(self, run_id: str) -> str | None:
        """Name the process, or None."""
        try:
            return self._users.get(run_id) or self._store.holder(run_id)
        except OSError as error:
            return f"a process that cannot be told ({error.strerror or error})"


def _is_model(entry: Entry) -> bool:
    """Whether others were made from it: a folder beside the finished run of the same name is not that run."""
    return entry.kind != "signals" and entry.folder.name == entry.id


def _models_last(entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.kind == "training")


def _asked(inventory: Inventory, choice: Choice) -> list[Entry]:
    if choice.ids:
        return list({entry.folder: entry for entry in map(inventory.find, choice.ids)}.values())
    if choice.older_than is not None:
        before = datetime.now(UTC) - age(choice.older_than)
        return [entry for entry in inventory.entries if entry.when < before]
    if choice.everything:
        return list(inventory.entries)
    states = {"unfinished", "in use"} if choice.unfinished else set()
    found = verify(inventory.entries) if choice.corrupt else {}
    broken = {name for name, checked in found.items() if checked.corrupt}
    return [
        entry
        for entry in inventory.entries
        if entry.state in states or (entry.id in broken and entry.folder.name == entry.id)
    ]


def age(text: str) -> timedelta:
    """Read an age."""
    found = re.fullmatch(r"(\d{1,5})([hdw])", text.strip())
    if found is None:
        raise InputError(f"--older-than: expected a number with h, d or w, such as 30d, got {text!r}")
    return int(found[1]) * UNITS[found[2]]


def remove(inventory: Inventory, planned: Plan) -> tuple[list[Entry], list[Kept]]:
    """Remove what was planned, each folder renamed before it is emptied."""
    store = Store(inventory.root)
    gone: list[Entry] = []
    kept: list[Kept] = []
    for entry in planned.entries:
        try:
            store.remove(entry.folder.name, unfinished=entry.state == "unfinished")
        except StoreLockedError:
            kept.append(Kept(entry, "a live process took it meanwhile"))
        except StoreError as error:
            raise error.prefixed(f"{len(gone)} of {len(planned.entries)} runs were removed, then: ") from None
        else:
            gone.append(entry)
    return gone, kept
