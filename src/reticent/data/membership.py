"""Membership: which model was trained on which record."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import checks, seeds
from reticent.data.records import listed
from reticent.errors import InputError, ShapeError

BLOCK = 2**12
"""Records that are counted at once; float32 counts them exactly."""
FORM = (
    "Membership is a row a model and a column a record, True where the model was trained on the record; from the row "
    "numbers of each model's records: membership = numpy.zeros((models, records), bool), then membership[model, rows] "
    "= True for each model"
)
FEWEST = 20
"""Records from which a random half is all of them, or none, by an accident of one in half a million at most."""
FAR = 0.5
"""Correlation of two rows up to which a design says little of one from the other."""
CHANCE = 5.0
"""Standard deviations up to which a correlation is put down to chance."""


@dataclass(frozen=True, eq=False)
class Membership:
    """``matrix[m, i]`` is true where record i was in the training set of model m: ``bool (M, N)``.

    M may be 1 (a model that is audited alone). A model may hold none of the records, or all: attacks may learn from it,
    but it cannot be audited (`check_divided`).
    """

    matrix: NDArray[np.bool_]

    def __post_init__(self) -> None:
        matrix = booleans(self.matrix)
        object.__setattr__(self, "matrix", matrix)
        models, records = matrix.shape
        if models < 1:
            raise InputError("membership: expected at least one model (row), got none")
        if records < 2:
            raise InputError(f"membership: expected at least 2 records (columns), got {records}")

    def check_divided(self, models: NDArray[np.int64] | None = None) -> None:
        """Refuse models, by default all, that hold none of the records, or all."""
        chosen = np.arange(self.models) if models is None else models
        whole = chosen[~divided(self.matrix[chosen])]
        for wrong, what in ((whole[self.matrix[whole, 0]], "true"), (whole[~self.matrix[whole, 0]], "false")):
            if len(wrong):
                who = f"model {wrong[0]} has" if len(wrong) == 1 else f"{len(wrong)} models ({listed(wrong)}) have"
                raise InputError(
                    f"membership: {who} all {self.records} records {what}: expected members and non-members of every "
                    "audited model"
                )

    @cached_property
    def shared(self) -> NDArray[np.float64]:
        """How many records two models were both trained on, ``(M, M)``; computed once, by blocks of records."""
        both = np.zeros((len(self.matrix),) * 2)
        for start in range(0, self.matrix.shape[1], BLOCK):
            block = self.matrix[:, start : start + BLOCK].astype(np.float32)
            both += block @ block.T
        return both

    @cached_property
    def likeness(self) -> NDArray[np.int8]:
        """Which models have nearly the same members, 1, or nearly the opposite ones, -1; else 0: ``(M, M)``.

        The correlation of two such rows is further from zero than one half (rows of equal halves then agree on more
        than three quarters of the records, or on fewer than a quarter) and than chance takes it: ``1 / (M - 1) + 5 /
        sqrt(4 q (1 - q) N)``, of which the first is what exact halves of M models have, and q is the share of members
        in the row that is further from a half. None of 20,000 random exact-half memberships of 8 models and 60 records
        had such a pair. With few records (below 57 for 4 models, 35 for 8) no pair can be told from chance. Cost: that
        of `shared`.
        """
        models, records = self.matrix.shape
        share = np.diagonal(self.shared) / records
        least = np.minimum.outer(share * (1 - share), share * (1 - share))
        chance = 1 / max(1, models - 1) + CHANCE / np.sqrt(4 * np.where(least > 0, least, 1.0) * records)
        far = np.abs(self.correlation) > np.maximum(FAR, chance)
        return np.where(far, np.sign(self.correlation), 0).astype(np.int8)

    @cached_property
    def correlation(self) -> NDArray[np.float64]:
        """Correlation of the rows of two models ``(M, M)``; 0 where one holds none of the records, or all."""
        share = np.diagonal(self.shared) / self.records
        product = np.outer(share * (1 - share), share * (1 - share))
        told = np.sqrt(np.where(product > 0, product, np.inf))
        return np.asarray((self.shared / self.records - np.outer(share, share)) / told)

    @classmethod
    def draw(cls, models: int, records: int, seed: int) -> "Membership":
        """Draw who trains on what: each record in exactly half of the models (the larger half if M is odd).

        Paper: Carlini et al. (2022), section IV; the ranks of uniform numbers, down each column.

        Args:
            models: number of models M, at least 2.
            records: number of records N.
            seed: the master seed; the stream is "membership".

        Returns:
            The membership; row sums have mean N/2, column sums are exactly M/2.

        Raises:
            InputError: fewer than 2 models, fewer records than models, or so few that a model has all or none.
        """
        if models < 2:
            raise InputError(f"models: expected at least 2, got {models}")
        if records < models:
            raise InputError(
                f"models: expected no more models than records, got {models} models of {records} records: "
                f"give at least {max(models, FEWEST)} records, or fewer models"
            )
        uniform = seeds.rng(seed, "membership").random((models, records), dtype=np.float32)
        order = uniform.argsort(axis=0, kind="stable")
        matrix = np.zeros((models, records), dtype=np.bool_)
        np.put_along_axis(matrix, order[: (models + 1) // 2], values=True, axis=0)
        drawn = cls(matrix)
        try:
            drawn.check_divided()
        except InputError:
            raise InputError(
                f"records: {records} are too few, one of the {models} models would be trained on all or none of them: "
                f"give at least {max(models, FEWEST)} records"
            ) from None
        return drawn

    @property
    def models(self) -> int:
        """Number of models M."""
        return int(self.matrix.shape[0])

    @property
    def records(self) -> int:
        """Number of records N."""
        return int(self.matrix.shape[1])

    def members(self, model: int) -> NDArray[np.int64]:
        """Return the sorted ids of the records that one model was trained on."""
        return np.flatnonzero(self.matrix[model])

    def of(self, models: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Give the rows of some models ``(K, N)``: the matrix itself where these are all."""
        return self.matrix if np.array_equal(models, np.arange(self.models)) else self.matrix[models]

    def independent_non_members(
        self, models: NDArray[np.int64] | None = None, units: NDArray[np.int64] | None = None
    ) -> float | None:
        """Count the records by which a mean over the non-members of some models, by default all, is known.

        Models may share non-members, and records of one unit (codes ``(N,)``) may be alike: as many records that are
        independent, each counted once, say as much of the mean (Kish, 1965). None where no model has a non-member.
        """
        weights: NDArray[np.float64] = np.zeros(self.records)
        for model in range(self.models) if models is None else models:
            outside = ~self.matrix[model]
            weights += outside / max(1, np.count_nonzero(outside))
        if units is not None:
            weights = np.asarray(np.bincount(units, weights), np.float64)
        return max(1.0, float(weights.sum() ** 2 / (weights**2).sum())) if weights.any() else None

    def contradicted(
        self,
        groups: NDArray[np.int64],
        models: NDArray[np.int64] | None = None,
        records: NDArray[np.int64] | None = None,
    ) -> float:
        """Tell in which share of some models and records, by default all, the record has a copy that is the other.

        Records of one group ``(N,)`` are copies of each other, and one is a member where the other is none.
        """
        _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        judged = codes if records is None else codes[records]
        copies, shares = np.flatnonzero(sizes[codes] > 1), []
        for model in range(self.models) if models is None else models:
            inside = np.bincount(codes[copies[self.matrix[model][copies]]], minlength=len(sizes))
            shares.append(((inside > 0) & (inside < sizes))[judged].mean())
        return float(np.mean(shares))

    @property
    def digest(self) -> str:
        """Content hash (SHA-256, hexadecimal)."""
        head = repr(self.matrix.shape).encode()
        return hashlib.sha256(head + np.packbits(self.matrix).tobytes()).hexdigest()


def divided(matrix: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which models hold some of the records and not others ``(M,)``: those that were drawn."""
    return np.asarray(matrix.any(axis=1) & ~matrix.all(axis=1))


def as_membership(membership: "Membership | ArrayLike") -> Membership:
    """Take a membership, or booleans or zeros and ones ``(M, N)``."""
    return membership if isinstance(membership, Membership) else Membership(booleans(membership))


def booleans(membership: ArrayLike) -> NDArray[np.bool_]:
    """Take booleans, or numbers that are all 0 or 1, ``(M, N)`` or ``(N, M)``."""
    try:
        given = checks.array(membership=membership, ndim=2)
    except ShapeError as error:
        raise error.retold(f"{error}. {FORM}") from None
    wrong = ~np.isin(given, (0, 1))
    if wrong.any():
        values = np.unique(given)
        form = FORM
        if len(values) == 2:
            form = f"Give membership == {values[1]:g} where that means trained on the record, else == {values[0]:g}"
        raise ShapeError(
            f"membership: expected booleans, or 0 and 1, got {checks.first(given, wrong, ('model', 'record'))}. {form}"
        )
    return given.astype(np.bool_, copy=False)
