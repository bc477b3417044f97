"""Drawing records: endless shuffled batches of a set, and records by their class."""

import torch
from torch import Tensor

from reticent.errors import RolesError
from reticent.objectives.base import Context, Examples


class EndlessBatches:
    """Batches of one size without end; every record comes once before any comes again."""

    def __init__(self, examples: Examples, size: int, generator: torch.Generator) -> None:
        self._examples, self._generator = examples, generator
        self.size = min(size, len(examples))
        self._left = torch.zeros(0, dtype=torch.int64)

    def deal(self) -> Examples:
        """Take the next batch; one that spans the end of a pass goes on with the next pass."""
        while len(self._left) < self.size:
            again = torch.randperm(len(self._examples), generator=self._generator)
            self._left = torch.cat([self._left, again])
        rows, self._left = self._left[: self.size], self._left[self.size :]
        return self._examples.take(rows)


class ClassIndex:
    """Where the records of each class are.

    Attributes:
        count: records of each class, ``int64 (C,)``.
        start: where each class begins in `order`, ``int64 (C,)``.
        order: rows, class by class and within a class in the order given, ``int64 (n,)``.
        place: of each row within its class, from 0, ``int64 (n,)``.
    """

    def __init__(self, labels: Tensor, classes: int) -> None:
        self.count = torch.bincount(labels, minlength=classes)
        self.start = self.count.cumsum(0) - self.count
        self.order = torch.argsort(labels, stable=True)
        self.place = torch.empty_like(self.order)
        self.place[self.order] = torch.arange(len(labels), device=labels.device) - self.start[labels[self.order]]


def required_reference(context: Context, method: str) -> Examples:
    """Return the defender's reference non-members."""
    if not len(context.reference):
        raise RolesError(f"{method} needs the defender's reference non-members, got none: give --reference N")
    return context.reference
