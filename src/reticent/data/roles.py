"""Roles: which records serve for what, disjoint and checked.

Five roles: members and evaluation non-members (both inside ``audited``: the membership says which is which, for each
model), validation, the defender's reference non-members, and the attacker's population.
"""

from dataclasses import dataclass, fields
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reticent import seeds
from reticent.data.records import Records
from reticent.data.units import Units
from reticent.errors import RolesError

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Roles:
    """Sorted record ids for each role; no record, and no exact duplicate of one, has two roles.

    Attributes:
        audited: members and evaluation non-members; the columns of the membership.
        validation: choose an epoch or a hyper-parameter; never audited.
        reference: non-members that a defender may use in training.
        population: records that an attacker may use as a yardstick (RMIA's Z).
    """

    audited: Ids
    validation: Ids
    reference: Ids
    population: Ids

    @classmethod
    def split(
        cls,
        records: Records,
        seed: int,
        *,
        audited: int | None = None,
        validation: int = 0,
        reference: int = 0,
        population: int = 0,
        units: Units | None = None,
    ) -> "Roles":
        """Divide the records at random; exact duplicates, and the records of one unit, stay together."""
        others = {"validation": validation, "reference": reference, "population": population}
        negative = {name: n for name, n in {"audited": audited or 0, **others}.items() if n < 0}
        if negative:
            raise RolesError(f"roles: expected sizes of zero or more, got {negative}")
        wanted = (audited or 2) + sum(others.values())
        if wanted > len(records):
            parts = [f"{n:,} for {name}" for name, n in others.items() if n]
            asked = [f"{audited:,} to audit" if audited else "at least 2 to audit", *parts]
            total = f", {wanted:,} in all" if parts else ""
            raise RolesError(
                f"roles: expected at most {len(records):,} records, which is all there are, got {', '.join(asked)}"
                f"{total}: ask for fewer"
            )
        together = records.groups if units is None else units.together(records.groups)
        order = seeds.rng(seed, "roles").permutation(np.unique(together))
        sizes = np.bincount(together, minlength=len(records))
        taken: dict[str, Ids] = {}
        for name, count in others.items():
            taken[name], order = _take(order, sizes, count, name)
        rest = order if audited is None else _take(order, sizes, audited, "audited")[0]
        taken["audited"] = rest
        return cls(**{name: np.flatnonzero(np.isin(together, group)) for name, group in taken.items()})

    def check(self, records: Records) -> None:
        """Check that the roles share no record and no exact duplicate of one."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, ids in named.items():
            if len(ids) and (ids.min() < 0 or ids.max() >= len(records)):
                raise RolesError(f"{name}: expected ids from 0 to {len(records) - 1}, got {ids.min()} to {ids.max()}")
            if len(np.unique(ids)) != len(ids):
                raise RolesError(f"{name}: a record stands in it twice")
        for first, second in combinations(named, 2):
            shared = np.intersect1d(records.groups[named[first]], records.groups[named[second]])
            if len(shared):
                raise RolesError(
                    f"{first} and {second} share {len(shared)} records or exact duplicates of them "
                    f"(record {shared[0]}, for one): expected disjoint roles"
                )

    def sizes(self) -> dict[str, int]:
        """Return how many records each role has."""
        return {f.name: len(getattr(self, f.name)) for f in fields(self)}

    def to_json(self) -> dict[str, list[int]]:
        """Return the ids as plain lists, to compare and to hash."""
        return {f.name: getattr(self, f.name).tolist() for f in fields(self)}


def _take(order: Ids, sizes: NDArray[np.int64], count: int, name: str) -> tuple[Ids, Ids]:
    # Takes groups in order until exactly `count` records are taken; skips a group that no longer fits.
    if count == 0:
        return order[:0], order
    taken = np.cumsum(sizes[order])
    whole = int(np.searchsorted(taken, count, side="right"))
    chosen, left = list(order[:whole]), count - (int(taken[whole - 1]) if whole else 0)
    rest = list(order[whole:])
    while left:
        fits = next((i for i, group in enumerate(rest) if sizes[group] <= left), None)
        if fits is None:
            raise RolesError(
                f"{name}: cannot take exactly {count} records without splitting exact duplicates; "
                f"ask for {count - left}"
            )
        left -= int(sizes[rest[fits]])
        chosen.append(rest.pop(fits))
    return np.array(chosen, dtype=np.int64), np.array(rest, dtype=np.int64)
