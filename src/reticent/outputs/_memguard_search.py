"""MemGuard's first phase: the smallest change of the logits that leaves the surrogate undecided, for many queries."""

from dataclasses import dataclass

import torch
from torch import Tensor

from reticent.outputs._memguard_surrogate import Surrogate

SLOTS = 512
"""So many queries are searched at once, always: a row's arithmetic then knows nothing of the others."""
UNDECIDED = 4e-5
"""Log-odds of the surrogate below which a query needs no noise: its probability is within 1e-5 of a half."""
SHORTEST = 1e-150
"""A gradient that is shorter moves nothing: the answer is far surer than any noise could change."""


@dataclass(frozen=True)
class Search:
    """How the search goes.

    Attributes:
        surrogate: the defender's attack classifier.
        steps: the most steps at one weight of the distance.
        step: the length of each.
        odds: weight of the surrogate's log-odds (c1).
        label: weight of the predicted class being overtaken (c2).
        distance: first weight of the change of the probabilities (c3).
        growth: what that weight is multiplied by as long as the search succeeds.
        limit: the largest weight of the distance.
    """

    surrogate: Surrogate
    steps: int
    step: float
    odds: float
    label: float
    distance: float
    growth: float
    limit: float

    def __call__(self, logits: Tensor) -> Tensor:
        """Search for every query."""
        found, slots, asked = logits.clone(), _Slots(logits), 0
        while asked < len(logits) or bool((slots.row >= 0).any()):
            free = torch.nonzero(slots.row < 0)[: len(logits) - asked, 0]
            slots.fill(free, torch.arange(asked, asked + len(free), device=logits.device), logits, self.distance)
            asked += len(free)
            over = self._advance(slots, found)
            while not bool(over.any()):
                over = self._advance(slots, found)
            slots.row[over] = -1
        return found

    def _advance(self, slots: "_Slots", found: Tensor) -> Tensor:
        """Take one step in every slot, note what was found, and return whose search is over ``(S,)``."""
        top = slots.z.argmax(dim=1, keepdim=True)
        odds, gradient = self._slope(slots, top)
        slots.first = torch.where(slots.new, odds, slots.first)
        turned = (odds * slots.first <= 0) & (top == slots.label)[:, 0] & (slots.row >= 0)
        if bool(turned.any()):
            found[slots.row[turned]] = slots.z[turned]
            slots.weight = torch.where(turned, slots.weight * self.growth, slots.weight)
        over = torch.where(turned, slots.weight > self.limit, slots.count >= self.steps)
        over |= slots.new & (odds.abs() <= UNDECIDED)
        slots.z = torch.where(turned[:, None], slots.own, slots.z - self.step * gradient)
        slots.count = torch.where(turned, 0, slots.count + 1)
        slots.new = torch.zeros_like(slots.new)
        return over & (slots.row >= 0)

    def _slope(self, slots: "_Slots", top: Tensor) -> tuple[Tensor, Tensor]:
        """Return the surrogate's log-odds ``(S,)`` and the loss's gradient at unit length ``(S, C)``."""
        p = slots.z.softmax(dim=1)
        odds, slope = self.surrogate.with_gradient(slots.ordered(p))
        by_class = slots.by_class(slope).mul_(self.odds * odds.sign()[:, None])
        by_class.addcmul_(slots.weight[:, None], (p - slots.told).sign_())
        gradient = p * by_class.sub_((p * by_class).sum(dim=1, keepdim=True))
        lost = self.label * (top != slots.label).to(p.dtype)
        gradient.scatter_add_(1, top, lost).scatter_add_(1, slots.label, -lost)
        length = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
        return odds, gradient.div_(length.clamp_(min=SHORTEST))


class _Slots:
    """The queries under search, one a row; `row` is the query's place in the batch, or -1 where there is none."""

    def __init__(self, logits: Tensor) -> None:
        self.own = logits.new_zeros(SLOTS, logits.shape[1])
        self.z, self.told = self.own.clone(), self.own.clone()
        self.order = torch.arange(logits.shape[1], device=logits.device).repeat(SLOTS, 1)
        self.label = self.order[:, :1].clone()
        self.weight, self.first = logits.new_zeros(SLOTS), logits.new_zeros(SLOTS)
        self.row, self.count = torch.full_like(self.order[:, 0], -1), torch.zeros_like(self.order[:, 0])
        self.new = self.row >= 0

    def fill(self, slots: Tensor, rows: Tensor, logits: Tensor, weight: float) -> None:
        """Put queries into free slots."""
        self.row[slots] = rows
        self.own[slots] = self.z[slots] = logits[rows]
        self.told[slots] = logits[rows].softmax(dim=1)
        self.label[slots] = logits[rows].argmax(dim=1, keepdim=True)
        self.weight[slots] = weight
        self.count[slots] = 0
        self.new[slots] = True

    def ordered(self, p: Tensor) -> Tensor:
        """Return each row in descending order; only rows whose order changed are sorted."""
        values = p.gather(1, self.order)
        wrong = torch.nonzero((values[:, 1:] > values[:, :-1]).any(dim=1))[:, 0]
        if len(wrong):
            values[wrong], self.order[wrong] = p[wrong].sort(dim=1, descending=True, stable=True)
        return values

    def by_class(self, values: Tensor) -> Tensor:
        """Return numbers that belong to places in the order as numbers that belong to classes."""
        return torch.empty_like(values).scatter_(1, self.order, values)
