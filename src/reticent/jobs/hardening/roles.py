"""Whose records are whose: the members of a model, non-members to audit it with, and non-members to repair it with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from reticent import seeds
from reticent.auditing.verdict import FEWEST
from reticent.data.load import load, together
from reticent.data.records import Records
from reticent.errors import InputError, RolesError
from reticent.findings.harden import Note, RecordsNote
from reticent.jobs.locate.source import member_ids
from reticent.options import DataOptions

Ids = NDArray[np.int64]
MEMBERS: Final = "members"
OTHERS: Final = "non-members"
REFERENCE: Final = "reference"


@dataclass(frozen=True)
class Asked:
    """What the user gives of the records.

    Attributes:
        members: what the model was trained on: a file, arrays ``(x, y)``; or row numbers of `dataset`, as the next two.
        others: non-members for the audit, or None.
        reference: non-members for the repair, or None.
        dataset: one data set, whose rows the three are; or None.
        mean: for pictures, what the model's inputs were normalised by, with `std`; one number a channel.
    """

    members: Any
    others: Any = None
    reference: Any = None
    dataset: str | Path | None = None
    reading: DataOptions = field(default_factory=DataOptions)
    data_dir: str | None = None
    mean: Sequence[float] = ()
    std: Sequence[float] = ()


@dataclass(frozen=True, eq=False)
class Sorted:
    """Records with their roles, as row numbers, and how they came to be where that must be told."""

    records: Records
    members: Ids
    others: Ids
    reference: Ids
    notes: tuple[RecordsNote, ...] = ()

    @property
    def few(self) -> bool:
        """Whether no interval over the members and the other records can be relied on."""
        return min(len(self.members), len(self.others)) < FEWEST


def gathered(asked: Asked, seed: int, *, needed: bool) -> Sorted:
    """Read the records, check that no role shares one, and divide what serves for two roles."""
    records, rows, notes = _of_dataset(asked) if asked.dataset is not None else _of_parts(asked)
    for first, second in combinations([name for name in (MEMBERS, OTHERS, REFERENCE) if name in rows], 2):
        _apart(records, rows, first, second, numbered=asked.dataset is None)
    alone = [name for name in (OTHERS, REFERENCE) if name in rows]
    if len(alone) == 1 and needed:
        notes.append(
            RecordsNote(note=Note.HALVED, given=OTHERS if OTHERS in rows else REFERENCE, count=len(rows[alone[0]]))
        )
        rows[OTHERS], rows[REFERENCE] = _halves(records, rows[alone[0]], seed)
    elif len(alone) == 1:
        rows[OTHERS], rows[REFERENCE] = rows[alone[0]], rows[alone[0]][:0]
        if alone[0] == REFERENCE:
            notes.append(RecordsNote(note=Note.AUDIT_ONLY))
    for name, least in ((MEMBERS, 2), (OTHERS, 2), (REFERENCE, 2 if needed else 0)):
        if len(rows[name]) < least:
            raise RolesError(f"{name}: expected at least {least} records, got {len(rows[name])}: give more")
    return Sorted(records, rows[MEMBERS], rows[OTHERS], rows[REFERENCE], tuple(notes))


def _of_parts(asked: Asked) -> tuple[Records, dict[str, Ids], list[RecordsNote]]:
    if asked.others is None and asked.reference is None:
        raise InputError(
            "expected records that the model never saw, for the audit and for the repair: give --non-members, "
            "--reference, or both"
        )
    if asked.data_dir is not None:
        raise InputError("data_dir is where data sets of reticent lie, got files of your own: leave it out")
    given = {MEMBERS: asked.members, OTHERS: asked.others, REFERENCE: asked.reference}
    known = {name: value for name, value in given.items() if value is not None}
    facts = {name: tuple(map(float, getattr(asked, name))) for name in ("mean", "std") if len(getattr(asked, name))}
    records, rows = together(known, asked=asked.reading, **facts)
    _check_scale(records, facts)
    usual = set(records.mean) == {0.5} and set(records.std) == {0.25}
    return records, rows, [RecordsNote(note=Note.SCALE_ASSUMED)] if usual and not facts else []


def _check_scale(records: Records, facts: dict[str, tuple[float, ...]]) -> None:
    if len(facts) == 1:
        raise InputError(f"expected mean and std, which belong together, got {next(iter(facts))} alone")
    channels = records.x.shape[1] if records.kind == "image" else 0
    for name, values in facts.items():
        if len(values) != channels:
            what = f"{channels} numbers, one a channel" if channels else "none, since the records are no pictures"
            raise InputError(f"{name}: expected {what}, got {len(values)}")
        if name == "std" and min(values) <= 0:
            raise InputError(f"std: expected numbers above 0, got {min(values):g}")


def _of_dataset(asked: Asked) -> tuple[Records, dict[str, Ids], list[RecordsNote]]:
    if len(asked.mean) or len(asked.std):
        raise InputError(
            "mean and std belong to pictures in files, and a data set states its own: leave them out, or give the data "
            "set as module:function that returns them"
        )
    records = load(str(asked.dataset), data_dir=asked.data_dir, **asked.reading.given())
    given = {MEMBERS: asked.members, OTHERS: asked.others, REFERENCE: asked.reference}
    rows = {
        name: member_ids(value, len(records), name.replace("-", "_"))
        for name, value in given.items()
        if value is not None
    }
    if OTHERS in rows or REFERENCE in rows:
        return records, rows, []
    apart = ~np.isin(records.groups, records.groups[rows[MEMBERS]])
    rows[OTHERS] = np.flatnonzero(apart)
    left = len(records) - int(apart.sum()) - len(rows[MEMBERS])
    return records, rows, [RecordsNote(note=Note.REST, count=left)]


def _apart(records: Records, rows: dict[str, Ids], first: str, second: str, *, numbered: bool) -> None:
    groups = records.groups
    shared = np.isin(groups[rows[second]], groups[rows[first]])
    if not shared.any():
        return
    place = int(np.argmax(shared))
    twin = int(np.argmax(groups[rows[first]] == groups[rows[second][place]]))
    if not numbered:
        place, twin = int(rows[second][place]), int(rows[first][twin])
    raise RolesError(
        f"{second}: {int(shared.sum())} of {len(shared)} records stand among the {first} too (record {place} of the "
        f"{second} has the features of record {twin} of the {first}): expected records that are in one of them alone"
    )


def _halves(records: Records, rows: Ids, seed: int) -> tuple[Ids, Ids]:
    """Divide rows at random into two halves; exact duplicates stay together."""
    groups, counts = np.unique(records.groups[rows], return_counts=True)
    order = seeds.rng(seed, "harden", "halves").permutation(len(groups))
    taken = groups[order[: int(np.searchsorted(np.cumsum(counts[order]), len(rows) // 2, side="right"))]]
    first = np.isin(records.groups[rows], taken)
    return rows[first], rows[~first]
