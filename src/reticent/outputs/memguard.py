"""MemGuard: add the noise to an answer that leaves the defender's own attack undecided, within a budget.

Paper: Jia et al. (2019), "MemGuard: defending against black-box membership inference attacks via adversarial examples",
algorithm 1 and section 4.3. It hides members from attacks that are like the surrogate; an attacker who asks for labels
only, or trains references under the defense, is not held up.

Deviations and judgements: the surrogate is smaller than the paper's (256, 128 and 64 units: `widths`), sees its records
all at once, and both kinds weigh the same; classes are ordered anew at every step, where the released code keeps the
first order; the released code takes one step less than it says. The draw that decides whether noise is added belongs to
the query's content (`_draws`), where the released code stores one for each record.
"""

from itertools import pairwise
from typing import Annotated, ClassVar

import torch
from annotated_types import Ge, Gt, MinLen
from torch import Tensor, nn
from torch.nn import functional

from reticent.errors import RolesError
from reticent.outputs import _draws
from reticent.outputs._top import keep_top
from reticent.outputs.base import Context, Output, OutputEntry
from reticent.spec import Spec
from reticent.training.optim import Adam

ASKED = 1024
"""Records that the model is asked about at once."""
SLOTS = 512
"""So many queries are searched at once, always: a row's arithmetic then knows nothing of the others."""
UNDECIDED = 4e-5
"""Log-odds of the surrogate below which a query needs no noise: its probability is within 1e-5 of a half."""
SHORTEST = 1e-150
"""A gradient that is shorter moves nothing: the answer is far surer than any noise could change."""
RATE = 1e-2
"""Learning rate of the surrogate's training."""


class MemGuard(Spec):
    """Options of MemGuard."""

    method: ClassVar[str] = "memguard"

    budget: Annotated[float, Ge(0)] = 1.0
    """Largest expected L1 distance between the probabilities told and the model's own; 2 is the most there can be."""
    steps: Annotated[int, Ge(1)] = 300
    """The most steps of the search at one weight of the distance."""
    step: Annotated[float, Gt(0)] = 0.1
    """Length of a step, in logits."""
    c1: Annotated[float, Ge(0)] = 1.0
    """Weight of the surrogate's log-odds being away from zero; the paper has 1."""
    c2: Annotated[float, Ge(0)] = 10.0
    """Weight of another class overtaking the predicted one."""
    c3: Annotated[float, Gt(0)] = 0.1
    """First weight of the L1 distance."""
    growth: Annotated[float, Gt(1)] = 10.0
    """What the weight of the distance is multiplied by, as long as the search succeeds."""
    limit: Annotated[float, Gt(0)] = 1e5
    """Largest weight of the distance."""
    widths: Annotated[tuple[Annotated[int, Ge(1)], ...], MinLen(1)] = (64, 32)
    """Hidden units of the surrogate's layers; the paper has 256, 128 and 64."""
    training_steps: Annotated[int, Ge(0)] = 200
    """Steps of Adam in the surrogate's training, each on all records."""


class Surrogate:
    """A network from sorted probabilities to the log-odds of membership, in float64.

    Attributes:
        weights: of each layer, ``(inputs, outputs)``; the last one has one output.
        biases: of each layer, ``(outputs,)``.
    """

    def __init__(self, weights: list[Tensor], biases: list[Tensor]) -> None:
        self.weights, self.biases = weights, biases

    @classmethod
    def drawn(cls, sizes: list[int], generator: torch.Generator, device: torch.device) -> "Surrogate":
        """Draw a network with He's uniform initialisation and no biases."""
        weights = []
        for rows, columns in pairwise(sizes):
            bound = (6 / rows) ** 0.5
            drawn = torch.rand(rows, columns, generator=generator, dtype=torch.float64)
            weights.append(((2 * drawn - 1) * bound).to(device))
        return cls(weights, [torch.zeros(columns, dtype=torch.float64, device=device) for columns in sizes[1:]])

    def __call__(self, x: Tensor) -> Tensor:
        """Compute log-odds; gradients flow."""
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = torch.addmm(bias, x, weight).relu()
        return (x * self.weights[-1][:, 0]).sum(dim=1) + self.biases[-1]

    def with_gradient(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Compute log-odds ``(B,)`` of sorted probabilities ``(B, C)``, and their gradient, in closed form."""
        layers = []
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = torch.addmm(bias, x, weight).relu_()
            layers.append(x)
        last = self.weights[-1][:, 0]
        odds = (x * last).sum(dim=1) + self.biases[-1]
        gradient = last.expand(len(x), -1)
        for weight, layer in zip(reversed(self.weights[:-1]), reversed(layers), strict=True):
            gradient = torch.ops.aten.threshold_backward(gradient, layer, 0) @ weight.T
        return odds, gradient


@torch.enable_grad()
def trained(members: Tensor, others: Tensor, widths: tuple[int, ...], steps: int, draw: torch.Generator) -> Surrogate:
    """Train the surrogate to tell a model's members from reference non-members, both kinds weighing the same.

    Cost: O(steps (n + m) parameters).
    """
    start = Surrogate.drawn([members.shape[1], *widths, 1], draw, members.device)
    weights, biases = ([nn.Parameter(tensor) for tensor in part] for part in (start.weights, start.biases))
    network = Surrogate([*weights], [*biases])
    optimizer = Adam([*weights, *biases], RATE)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = functional.softplus(-network(members)).mean() + functional.softplus(network(others)).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return Surrogate([weight.detach() for weight in weights], [bias.detach() for bias in biases])


class Search:
    """Phase one: the smallest change of the logits that leaves the surrogate undecided, for many queries at once."""

    def __init__(self, surrogate: Surrogate, spec: MemGuard) -> None:
        self.surrogate, self._spec = surrogate, spec

    def __call__(self, logits: Tensor) -> Tensor:
        """Search for every query."""
        found, slots, asked = logits.clone(), _Slots(logits), 0
        while asked < len(logits) or bool((slots.row >= 0).any()):
            free = torch.nonzero(slots.row < 0)[: len(logits) - asked, 0]
            slots.fill(free, torch.arange(asked, asked + len(free), device=logits.device), logits, self._spec.c3)
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
            slots.weight = torch.where(turned, slots.weight * self._spec.growth, slots.weight)
        over = torch.where(turned, slots.weight > self._spec.limit, slots.count >= self._spec.steps)
        over |= slots.new & (odds.abs() <= UNDECIDED)
        slots.z = torch.where(turned[:, None], slots.own, slots.z - self._spec.step * gradient)
        slots.count = torch.where(turned, 0, slots.count + 1)
        slots.new = torch.zeros_like(slots.new)
        return over & (slots.row >= 0)

    def _slope(self, slots: "_Slots", top: Tensor) -> tuple[Tensor, Tensor]:
        """Return the surrogate's log-odds ``(S,)`` and the loss's gradient at unit length ``(S, C)``."""
        p = slots.z.softmax(dim=1)
        odds, slope = self.surrogate.with_gradient(slots.ordered(p))
        by_class = slots.by_class(slope).mul_(self._spec.c1 * odds.sign()[:, None])
        by_class.addcmul_(slots.weight[:, None], (p - slots.told).sign_())
        gradient = p * by_class.sub_((p * by_class).sum(dim=1, keepdim=True))
        lost = self._spec.c2 * (top != slots.label).to(p.dtype)
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


def build(spec: MemGuard, context: Context) -> Output:
    """Train the surrogate and return the noise.

    Cost: the surrogate's training, then up to `steps` and more small gradients a query.
    """
    if spec.budget == 0:
        return lambda logits, x: logits
    if not len(context.reference) or not len(context.members):
        raise RolesError(
            "memguard trains an attack of its own on members and reference non-members: expected at least one of each, "
            f"got {len(context.members)} and {len(context.reference)}: give --reference N"
        )
    members, others = (_ordered(context, records.x) for records in (context.members, context.reference))
    search = Search(trained(members, others, spec.widths, spec.training_steps, context.generator("surrogate")), spec)
    key = _draws.secret(context.generator("secret"))

    def noisy(logits: Tensor, x: Tensor) -> Tensor:
        found = keep_top(search(logits), logits)
        share = chance(search.surrogate, logits, found, spec.budget)
        draw = _draws.drawn(x, key, lambda generator: torch.rand((), generator=generator, dtype=torch.float64))
        return torch.where((draw.to(share.device) < share)[:, None], found, logits)

    return noisy


def chance(surrogate: Surrogate, logits: Tensor, found: Tensor, budget: float) -> Tensor:
    """Compute with which probability the changed answer is given, so that the expected distance keeps the budget.

    It is ``min(1, budget / distance)``, and 0 where the change leaves the surrogate no less sure.
    """
    before, after = logits.softmax(dim=1), found.softmax(dim=1)
    distance = (after - before).abs().sum(dim=1)
    sure, surer = (surrogate(p.sort(dim=1, descending=True).values).abs() for p in (after, before))
    allowed = torch.where(distance > budget, budget / distance, 1.0)
    return torch.where(sure < surer, allowed, 0.0)


def _ordered(context: Context, x: Tensor) -> Tensor:
    """Return the model's probabilities in descending order ``(n, C)``."""
    answers = torch.cat([context.ask(part) for part in torch.split(x, ASKED)])
    return answers.softmax(dim=1).sort(dim=1, descending=True).values


ENTRY = OutputEntry(
    MemGuard,
    build,
    "Noise on the answer that leaves the defender's own attack undecided, within a budget.",
    paper="Jia et al. (2019), CCS",
    cost="half a second a model for a small network, and some hundred of its gradients a query",
    needs=("reference",),
    reads_members=bool,
    instead="use top-k, rounding or hamp-output with its option features",
)
