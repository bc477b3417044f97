"""PPTP's second part: choose the stages of a trained network, set them back, and train them again."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from torch import Tensor, nn

from reticent.locate.layers import Layers, Network, Onset, onset
from reticent.models.stages import stages
from reticent.procedures._parts import accuracies, named
from reticent.procedures.base import Trained
from reticent.procedures.costs import Costs
from reticent.procedures.pptp.choice import chosen, started
from reticent.procedures.two_stage import Second, after
from reticent.training.loop import History
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.start import Start
from reticent.training.streams import Streams

if TYPE_CHECKING:
    from reticent.procedures.pptp import PPTP

APART = ("mist", "selena")
"""Procedures of a second training that rest on networks which leave members out."""
NO_GUARANTEE = (
    "pptp with dpsgd proves nothing and has no epsilon: the stages that stay, and which they are, depend on the "
    "members, and no noise hides it."
)

SHARED = (
    "pptp with {0}: the networks of {0} that leave a member out share the stages that stay, which were trained on it."
)


def set_back(
    model: nn.Module,
    trained: Mapping[str, Tensor],
    back_to: Mapping[str, Tensor],
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
    costs: Costs,
    *,
    network: Network,
    usual: bool,
) -> tuple[Start, dict[str, Any]]:
    """Choose the stages, and say where the second training begins."""
    spec = cast("PPTP", recipe.procedure)
    shown, known = stages(model, spec.stages), accuracies(model, materials)
    with costs.stage("choice"):
        choice = chosen(shown, spec, lambda: _measured(recipe, materials, streams, network, model if usual else None))
    start, count = started(model, shown[: choice.first], trained, back_to)
    total = sum(value.numel() for value in model.parameters())
    shares = {"parameters": total, "parameters_frozen": count, "share_frozen": count / total}
    said = list(choice.notices)
    if spec.inner.method in APART and choice.first:
        said.append(SHARED.format(spec.inner.method))
    return start, {"pptp": {"accuracy_before": known, **choice.facts, **shares}, "notices": said}


def _measured(
    recipe: Recipe, materials: Materials, streams: Streams, network: Network, whole: nn.Module | None
) -> Onset:
    spec = cast("PPTP", recipe.procedure)
    options = Layers(stages=spec.stages, seeds=spec.seeds, swap=spec.swap, equalise=spec.equalise, margin=spec.margin)
    with named("pptp, measuring the first risky stage"):
        return onset(recipe, materials, streams, options, whole=whole, network=network)


def tune(
    then: Second,
    start: Start,
    known: dict[str, Any],
    initial: dict[str, Tensor],
    materials: Materials,
    streams: Streams,
    costs: Costs,
    before: History | None,
    told: Sequence[str] = (),
) -> Trained:
    """Train again."""
    with costs.stage("tuning"), named("pptp, the second training"):
        made = then.train(materials, start, streams, NO_GUARANTEE, [*told, *known["notices"]])
    own = known["pptp"]
    if before is not None:
        own = {"epochs": [len(before.loss), len(made.history.loss)], **own}
    return after(before, replace(made, initial=initial, facts=made.facts | {"pptp": own} | costs.facts))
