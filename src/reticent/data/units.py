"""Units: persons, households or whatever else several records may belong to; each is used for training whole, or not.

Where records are audited one by one, a person of several is in part in every training set. With units, who trains on
what is drawn by unit, no unit has records in two roles, and what is measured is told of units.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import arrays
from reticent.data import number_formats
from reticent.data.features import as_texts
from reticent.data.membership import FEWEST, Membership
from reticent.data.records import Records
from reticent.errors import InputError, ShapeError, nearest
from reticent.options import UnitScore

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Units:
    """Which unit each record belongs to.

    Attributes:
        column: what it was read from.
        codes: ``int64 (N,)`` from 0 to U - 1; each unit has a record.
        names: of the units: their values in the column, 17.0 as 17.
        score: how scores of records become those of units.
    """

    column: str
    codes: Codes
    names: tuple[str, ...]
    score: UnitScore = "mean"

    @classmethod
    def of(cls, column: str, values: ArrayLike, score: UnitScore = "mean") -> "Units":
        """Number the different values of a column; a missing one is refused, since it would be one unit."""
        given = arrays.array(values, column)
        if given.ndim != 1:
            raise ShapeError(f"unit: expected one value of {column!r} a record, shape (N,), got shape {given.shape}")
        texts = np.array([str(value).strip() for value in (as_texts(given) if given.dtype.kind == "f" else given)])
        found, codes = np.unique(texts, return_inverse=True)
        missing = np.array([number_formats.is_gap(text) for text in found])[codes]
        if missing.any():
            raise InputError(
                f"unit: {column!r} has no value for {int(missing.sum()):,} of {len(texts):,} records (record "
                f"{int(np.flatnonzero(missing)[0])}, for one): expected one for each; give such a record a value of "
                "its own, or leave it out"
            )
        if len(found) == len(texts):
            raise InputError(
                f"unit: {column!r} has a value of its own for each of {len(texts):,} records, so that records are "
                "units already: leave it out"
            )
        return cls(column, codes.astype(np.int64), tuple(found.tolist()), score)

    @property
    def count(self) -> int:
        """Number of units U."""
        return int(self.codes.max()) + 1

    @property
    def largest(self) -> int:
        """Records of the unit that has the most."""
        return int(np.bincount(self.codes).max())

    def draw(self, models: int, seed: int) -> Membership:
        """Draw who trains on what as `Membership.draw` does, each unit whole."""
        fewest = max(models, FEWEST)
        if self.count < fewest:
            raise InputError(
                f"unit: expected at least {fewest} different values of {self.column!r} for {models} models, got "
                f"{self.count} in the {len(self.codes):,} audited records"
            )
        return Membership(self.expanded(Membership.draw(models, self.count, seed).matrix))

    def among(self, ids: NDArray[np.int64]) -> "Units":
        """Keep some of the records ``(K,)``, and the units that have one, in their order."""
        kept, codes = np.unique(self.codes[ids], return_inverse=True)
        return replace(self, codes=codes.astype(np.int64), names=tuple(self.names[code] for code in kept))

    def together(self, groups: Codes) -> Codes:
        """Join units that share exact duplicates ``(N,)``: the first record of what must stay in one role."""
        ends = self.count + groups
        size = int(ends.max()) + 1
        from scipy.sparse import coo_array  # Slow to load, and of use to few.
        from scipy.sparse.csgraph import connected_components

        edges = coo_array((np.ones(len(groups)), (self.codes, ends)), shape=(size, size))
        parts = connected_components(edges, directed=False)[1][self.codes]
        _, first, codes = np.unique(parts, return_index=True, return_inverse=True)
        return np.asarray(first[codes], dtype=np.int64)

    def expanded(self, matrix: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Give each record what its unit has: ``(M, U)`` to ``(M, N)``."""
        return np.asarray(matrix[:, self.codes])

    def of_units(self, matrix: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Give each unit what its records have: ``(M, N)`` to ``(M, U)``; all must have the same."""
        _, first = np.unique(self.codes, return_index=True)
        found = np.asarray(matrix[:, first])
        if not np.array_equal(self.expanded(found), matrix):
            row, record = np.argwhere(self.expanded(found) != matrix)[0]
            raise ShapeError(
                f"unit: expected all records of one {self.column} in the training set of a model, or none, got record "
                f"{record} apart from others of it in model {row}: memberships by record can be audited by record only"
            )
        return found

    def alike(self, groups: Codes) -> Codes:
        """Find for each unit ``(U,)`` the first one whose records are in the same of some groups ``(N,)``."""
        order = np.lexsort((groups, self.codes))
        parts = np.split(groups[order], np.cumsum(np.bincount(self.codes))[:-1])
        seen: dict[bytes, int] = {}
        return np.array([seen.setdefault(part.tobytes(), unit) for unit, part in enumerate(parts)], dtype=np.int64)

    def most(self, values: Codes) -> Codes:
        """Find which of some numbers from 0 most records of each unit have: ``(N,)`` to ``(U,)``; of ties the least."""
        counts = np.zeros((self.count, int(values.max()) + 1), dtype=np.int64)
        np.add.at(counts, (self.codes, values), 1)
        return np.asarray(counts.argmax(axis=1), dtype=np.int64)


def units_of(records: Records, column: str, score: UnitScore = "mean") -> Units:
    """Read which unit each record belongs to, from a column that no model sees."""
    seen = {reading.column for reading in records.readings if reading.features}
    if column not in seen | set(records.columns):
        told = f": {nearest(column, seen.union(records.columns))}" if records.columns or seen else ""
        raise InputError(f"unit: {records.name} has no column {column!r} besides its label{told}")
    if column in seen:
        raise InputError(
            f"unit: {column!r} is a feature of {records.name}: give --not-feature {column} too, since a model that "
            "sees it would know the person"
        )
    return Units.of(column, records.columns[column], score)
