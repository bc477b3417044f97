"""MemGuard: add the noise to an answer that leaves the defender's own attack undecided, within a budget.

Paper: Jia et al. (2019), "MemGuard: defending against black-box membership inference attacks via adversarial examples",
algorithm 1 and section 4.3. It hides members from attacks that are like the surrogate; an attacker who asks for labels
only, or trains references under the defense, is not held up.

Deviations and judgements: the surrogate is smaller than the paper's (256, 128 and 64 units: `widths`), sees its records
all at once, and both kinds weigh the same; classes are ordered anew at every step, where the released code keeps the
first order; the released code takes one step less than it says. The draw that decides whether noise is added belongs to
the query's content (`_draws`), where the released code stores one for each record.
"""

from typing import Annotated, ClassVar

import torch
from annotated_types import Ge, Gt, MinLen
from torch import Tensor

from reticent.errors import RolesError
from reticent.outputs import _draws
from reticent.outputs._memguard_search import Search
from reticent.outputs._memguard_surrogate import Surrogate, trained
from reticent.outputs._top import keep_top
from reticent.outputs.base import Context, Output
from reticent.spec import Spec

ASKED = 1024
"""Records that the model is asked about at once."""


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
    search = Search(
        surrogate=_surrogate(spec, context),
        steps=spec.steps,
        step=spec.step,
        odds=spec.c1,
        label=spec.c2,
        distance=spec.c3,
        growth=spec.growth,
        limit=spec.limit,
    )
    key = _draws.secret(context.generator("secret"))

    def noisy(logits: Tensor, x: Tensor) -> Tensor:
        found = keep_top(search(logits), logits)
        share = chance(search.surrogate, logits, found, spec.budget)
        draw = _draws.drawn(x, key, lambda generator: torch.rand((), generator=generator, dtype=torch.float64))
        return torch.where((draw.to(share.device) < share)[:, None], found, logits)

    return noisy


def chance(surrogate: Surrogate, logits: Tensor, found: Tensor, budget: float) -> Tensor:
    """Compute with which probability the changed answer is given, so that the expected distance keeps to the budget.

    Args:
        surrogate: the defender's attack classifier.
        logits: the model's own ``(B, C)``.
        found: changed ones ``(B, C)``.
        budget: largest expected L1 distance.

    Returns:
        ``(B,)``: ``min(1, budget / distance)``; 0 where the change leaves the surrogate no less sure.
    """
    before, after = logits.softmax(dim=1), found.softmax(dim=1)
    distance = (after - before).abs().sum(dim=1)
    sure, surer = (surrogate(p.sort(dim=1, descending=True).values).abs() for p in (after, before))
    allowed = torch.where(distance > budget, budget / distance, 1.0)
    return torch.where(sure < surer, allowed, 0.0)


def _surrogate(spec: MemGuard, context: Context) -> Surrogate:
    ordered = (_ordered(context, records.x) for records in (context.members, context.reference))
    members, others = ordered
    return trained(members, others, spec.widths, spec.training_steps, context.generator("surrogate"))


def _ordered(context: Context, x: Tensor) -> Tensor:
    """Return the model's probabilities in descending order ``(n, C)``."""
    answers = torch.cat([context.ask(part) for part in torch.split(x, ASKED)])
    return answers.softmax(dim=1).sort(dim=1, descending=True).values
