"""HAMP's output part: answer with what the model says of a random input, handed to the classes in the query's order.

Paper: Chen and Pattabiraman (2024), "Overconfidence is a dangerous thing: mitigating membership inference attacks by
enforcing less confident prediction", section IV-C. Label and ranking are the query's; the numbers tell nothing of it.

Deviations: a query that is asked again gets the same random input again, so that asking often does not average it away
(`fresh` draws anew each time, as released). Logits are handed out where the authors have probabilities, which are the
same after a softmax. Records that are neither images nor bits, which the paper does not have, are drawn as `features`
says; tokens uniformly from the vocabulary.
"""

from collections.abc import Callable
from typing import ClassVar, Literal

import torch
from torch import Tensor

from reticent.errors import RolesError
from reticent.objectives.base import Need
from reticent.outputs import _draws
from reticent.outputs._top import keep_top
from reticent.outputs.base import Context, Output, OutputEntry
from reticent.spec import Spec

Draw = Callable[[torch.Generator], Tensor]
"""From a generator on the CPU to one stored record."""


class HampOutput(Spec):
    """Options of HAMP's output part."""

    method: ClassVar[str] = "hamp-output"

    fresh: bool = False
    """Draw a new random input for every query, as released, and not the same one whenever a query is repeated."""
    features: Literal["auto", "bits", "uniform", "normal", "columns"] = "auto"
    """For tabular records: how features are drawn. Fair bits; uniformly from 0 to 1; from a standard normal
    distribution; or each one from a reference non-member of its own. With "auto", each feature is a bit if it is
    always 0 or 1, else uniform if it never leaves 0 to 1, else normal."""


def needs(spec: HampOutput) -> tuple[Need, ...]:
    """Say what the options need."""
    return ("reference",) if spec.features == "columns" else ()


def build(spec: HampOutput, context: Context) -> Output:
    """Return the re-assignment.

    Cost: one more question to the model a query.
    """
    draw = _draw(spec, context)
    device = context.members.y.device
    stream, key = context.generator("random-inputs"), _draws.secret(context.generator("secret"))

    def hidden(logits: Tensor, x: Tensor) -> Tensor:
        inputs = torch.stack([draw(stream) for _ in range(len(x))]) if spec.fresh else _draws.drawn(x, key, draw)
        values = context.ask(inputs.to(device)).sort(dim=1, descending=True).values
        order = logits.argsort(dim=1, descending=True, stable=True)
        return keep_top(torch.empty_like(values).scatter_(1, order, values), logits)

    return hidden


def _draw(spec: HampOutput, context: Context) -> Draw:
    """Choose how a random input is drawn, by what records are."""
    kind, shape = context.prepare.input.kind, context.prepare.input.shape
    if kind == "image":
        return lambda generator: torch.randint(0, 256, shape, generator=generator, dtype=torch.uint8)
    if kind == "tokens":
        vocabulary = context.prepare.input.vocabulary
        return lambda generator: torch.randint(0, vocabulary, shape, generator=generator)
    if spec.features == "columns":
        return _columns(context)
    return _features(spec, context, shape)


def _columns(context: Context) -> Draw:
    reference = context.reference.x.cpu()
    if not len(reference):
        raise RolesError(
            "hamp-output: features='columns' expected the defender's reference non-members, got none: give "
            "--reference N, or another rule such as features='auto'"
        )
    width = reference.shape[1]
    return lambda generator: reference[
        torch.randint(0, len(reference), (width,), generator=generator), torch.arange(width)
    ]


def _features(spec: HampOutput, context: Context, shape: tuple[int, ...]) -> Draw:
    known = torch.cat([context.members.x, context.reference.x]).cpu()
    bits = ((known == 0) | (known == 1)).all(dim=0)
    inside = ((known >= 0) & (known <= 1)).all(dim=0)
    if spec.features != "auto":
        bits, inside = (torch.full(shape, spec.features == rule) for rule in ("bits", "uniform"))

    def features(generator: torch.Generator) -> Tensor:
        uniform = torch.rand(shape, generator=generator)
        normal = torch.randn(shape, generator=generator) if not bool((bits | inside).all()) else uniform
        return torch.where(bits, (uniform < 0.5).to(uniform.dtype), torch.where(inside, uniform, normal))

    return features


ENTRY = OutputEntry(
    HampOutput,
    build,
    "What the model says of a random input, handed to the classes in the query's order.",
    paper="Chen and Pattabiraman (2024), NDSS",
    cost="one more question to the model a query, and the draw of its input, which takes longer",
    more=needs,
    reads_members=lambda spec: spec.features == "auto",
    instead='give its option features, such as features="bits" (pictures and tokens need no rule, and take any)',
)
