"""Rewinding: the state that CWRF's fine-tuning begins from, what of it stays, and the fine-tuning itself."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from reticent.errors import SpecError
from reticent.procedures._parts import accuracies, named
from reticent.procedures.base import Trained, snapshot
from reticent.procedures.costs import Costs
from reticent.procedures.cwrf.mask import Marked, mark
from reticent.procedures.two_stage import Second, tuning
from reticent.training.loop import History
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.start import Start
from reticent.training.streams import Streams

if TYPE_CHECKING:
    from reticent.procedures.cwrf import CWRF

NO_GUARANTEE = (
    "There is no guarantee and no epsilon: the first training of cwrf saw the members without noise and most of its "
    "weights are kept, so that the noise of dpsgd covers the fine-tuning alone."
)
NOTHING_LEFT = (
    "Every weight is held, so that nothing was left to fine-tune: the model answers as the rewinding left it."
)
SAME_DRAW = "The network draws the same values whenever it is built, so that value=fresh rewound to the initial values."


def sensible(spec: "CWRF") -> None:
    """Refuse options that contradict each other."""
    if spec.variant == "rewind-train-vulnerable" and spec.rate == 0:
        raise SpecError(
            "cwrf: rate: expected more than 0 with variant rewind-train-vulnerable, which trains the rewound weights "
            "alone, got 0: nothing would be trained; the control without rewinding is rate 0 with variant cwrf"
        )
    if spec.variant == "remove" and spec.value != "initial":
        raise SpecError(
            "cwrf: value: variant remove holds the weights at zero, so that value=fresh would change nothing: leave "
            "one of the two out"
        )


@torch.no_grad()
def rewound(
    model: nn.Module,
    initial: Mapping[str, Tensor],
    values: Mapping[str, Tensor],
    mask: Mapping[str, Tensor],
    spec: "CWRF",
) -> Start:
    """Put the marked weights of a trained network back, and say which ones the fine-tuning may move."""
    for name, parameter in model.named_parameters():
        if name in mask:
            back = torch.zeros_like(parameter) if spec.variant == "remove" else values[name].to(parameter)
            parameter.copy_(torch.where(mask[name].to(parameter.device), back, parameter))
    if spec.statistics != "keep":
        for name, buffer in model.named_buffers():
            if name in initial:
                buffer.copy_(initial[name])
    if spec.statistics == "reset":
        for module in model.modules():
            if isinstance(module, nn.modules.batchnorm._NormBase):
                module.reset_running_stats()
    if spec.variant == "rewind-train-vulnerable":
        return Start(snapshot(model), dict(mask))
    return Start(snapshot(model), {name: ~marked for name, marked in mask.items() if bool(marked.any())})


def unmoved(initial: Mapping[str, Tensor], values: Mapping[str, Tensor], mask: Mapping[str, Tensor]) -> list[str]:
    """Say so if a fresh draw is the initial one, as where the network's builder has a seed of its own."""
    same = all(torch.equal(initial[name], values[name]) for name in mask)
    return [SAME_DRAW] if same else []


def scored(
    model: nn.Module,
    initial: Mapping[str, Tensor],
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
    costs: Costs,
    network: Callable[[Materials, Streams], nn.Module],
) -> tuple[Marked, Start]:
    """Score a trained model and put the marked weights back."""
    spec = cast("CWRF", recipe.procedure)
    known = {"accuracy_before": accuracies(model, materials)}
    with costs.stage("scoring"), named("cwrf, scoring"):
        marked = mark(model, initial, spec, recipe, materials, streams)
        values = initial
        if spec.value == "fresh":
            values = snapshot(network(materials, streams.child("fresh")))
            marked.notices.extend(unmoved(initial, values, marked.mask))
        start = rewound(model, initial, values, marked.mask, spec)
    return replace(marked, facts=known | marked.facts), start


def tune(
    then: Second,
    marked: Marked,
    start: Start,
    initial: dict[str, Tensor],
    materials: Materials,
    streams: Streams,
    costs: Costs,
) -> Trained:
    """Fine-tune from the rewound state; where nothing is left to train, the model stays as it is."""
    with costs.stage("tuning"), named("cwrf, fine-tuning"):
        if _left(start, marked):
            made = then.train(materials, start, streams, NO_GUARANTEE, marked.notices)
        else:
            model = start.begin(then.network(materials, tuning(streams)))
            made = Trained(model.eval(), {}, History(), facts={"notices": [*marked.notices, NOTHING_LEFT]})
    facts = made.facts | {"cwrf": marked.facts} | costs.facts
    return Trained(made.model, initial, made.history, made.artefacts | marked.artefacts(), facts)


def _left(start: Start, marked: Marked) -> bool:
    """Tell whether any weight that has a gradient is trained."""
    masks = (start.trainable.get(name) for name in marked.mask if name not in marked.unused)
    return any(mask is None or bool(mask.any()) for mask in masks)
