"""Chains of butterfly factors: of which sparse matrices a matrix is the product, with the fewest weights.

A factor is block-diagonal; every block is a matrix whose entries are diagonal matrices. Neighbours in a chain fit such
that the product has no zeros, and every block between them has one rank.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, order=True)
class Factor:
    """The shape of one factor, whose weights are ``(blocks, rows, columns, diagonal)``; all others are zero.

    Attributes:
        blocks: blocks along the diagonal.
        rows: rows of a block, each of so many diagonal matrices.
        columns: columns of a block.
        diagonal: size of each diagonal matrix.
    """

    blocks: int
    rows: int
    columns: int
    diagonal: int

    @property
    def outputs(self) -> int:
        """Rows of the whole matrix, p of DeBut's type (p, q, r, s, t), of which rows, columns, diagonal are r, s, t."""
        return self.blocks * self.rows * self.diagonal

    @property
    def inputs(self) -> int:
        """Columns of the whole matrix."""
        return self.blocks * self.columns * self.diagonal

    @property
    def weights(self) -> int:
        """Entries that are not zero."""
        return self.blocks * self.rows * self.columns * self.diagonal


Chain = tuple[Factor, ...]
"""Factors from the left to the right of the product: the last one is applied first."""


def weights(chain: Chain) -> int:
    """Count the entries of a chain that are not zero."""
    return sum(factor.weights for factor in chain)


@cache
def minimal(outputs: int, inputs: int, factors: int, rank: int = 1) -> Chain | None:
    """Find the monotone chain of fewest weights, by its ``(outputs, inputs)``; ties go to the smaller first factor.

    Papers: Lin et al. (2021), "Deformable butterfly" (monotone chains: widths between factors go one way from inputs to
    outputs); Le et al. (2024), "Butterfly factorization with error guarantees" (ranks, of the blocks between
    neighbours; a chain is left out if two neighbours could be multiplied out without more weights). One factor is the
    dense matrix.

    Returns: the chain, or None if there is none. Every one is ``outputs = b_1 ... b_L, inputs = c_1 ... c_L`` with
    ``c_1 ... c_(l-1)`` blocks and diagonals of ``b_(l+1) ... b_L`` in factor l, which has ``b_l`` rows and ``c_l``
    columns; rows and columns that meet inside the chain are ``rank`` times as many.

    Cost: at most ``factors * d(outputs)^2 * d(inputs)^2`` steps for d divisors (dynamic programming).
    """

    def choices(place: int, done: int, left: int) -> Iterator[tuple[Factor, int]]:
        first, last = place == 1, place == factors
        for rows in [left] if last else divisors(left):
            for columns in [inputs // done] if last else divisors(inputs // done):
                tall, wide = rows * (1 if first else rank), columns * (1 if last else rank)
                monotone = wide >= tall if inputs >= outputs else wide <= tall
                if monotone and (last or tall > rank) and (first or wide > rank):
                    yield Factor(done, tall, wide, left // rows), columns

    @cache
    def cheapest(place: int, done: int, left: int) -> tuple[int, Chain] | None:
        """Choose the factors from a place on: ``done`` of the columns are shared out, ``left`` of the rows are not."""
        found: list[tuple[int, Chain]] = []
        for factor, columns in choices(place, done, left):
            if place == factors:
                found.append((factor.weights, (factor,)))
            elif (rest := cheapest(place + 1, done * columns, factor.diagonal)) is not None:
                found.append((factor.weights + rest[0], (factor, *rest[1])))
        return min(found, default=None)

    best = cheapest(1, 1, outputs)
    return None if best is None else best[1]


def within(outputs: int, inputs: int, factors: int, budget: float) -> Chain | None:
    """Find the minimal chain of the largest rank, of the divisors of both sizes, whose share of weights fits."""
    for rank in sorted({*divisors(outputs), *divisors(inputs)}, reverse=True):
        chain = minimal(outputs, inputs, factors, rank)
        if chain is not None and weights(chain) <= budget * outputs * inputs:
            return chain
    return None


@cache
def divisors(number: int) -> tuple[int, ...]:
    """List the divisors of a number, smallest first."""
    return tuple(one for one in range(1, number + 1) if number % one == 0)
