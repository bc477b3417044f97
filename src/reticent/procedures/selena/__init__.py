"""SELENA: a network that learns what sub-models which never saw a member say of it.

Paper: Tang et al. (2022), "Mitigating membership inference attacks by self-distillation through a novel ensemble
architecture", USENIX Security; released code: inspire-group/MIAdefenseSELENA. Deviations: epochs are never chosen by
test accuracy, as the released code does; where the recipe augments, the distillation augments too, against what the
non-models say of the same view (released: a distillation without augmentation, here ``targets = "stored"``).
"""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import torch
from annotated_types import Ge, Le
from torch import nn

from reticent.errors import SpecError, about
from reticent.findings.training import ProcedureFacts, SelenaFacts
from reticent.objectives.base import Objective
from reticent.objectives.distillation import Distillation
from reticent.procedures.base import Trained, fresh, gathered, own, snapshot
from reticent.procedures.costs import Costs, Short, cut, epochs, few
from reticent.procedures.selena.split_ai import Views, assign, check_sizes, outside_of, softened, sub_models, sure_sizes
from reticent.spec import Spec
from reticent.training.loop import fit
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


class Selena(Spec):
    """Options of SELENA."""

    method: ClassVar[str] = "selena"

    models: Annotated[int, Ge(2), Le(10_000)] = 25
    """Sub-models of Split-AI (the paper's K)."""
    outside: Annotated[int, Ge(1)] = 10
    """How many of them do not train on a member, and are asked for its soft target (the paper's L); below models."""
    distillation_epochs: Annotated[int, Ge(1)] | None = None
    """Epochs of the released network; by default those of the recipe, which are also those of each sub-model."""
    targets: Literal["auto", "stored", "view"] = "auto"
    """stored asks once, about records as they are, and distils without augmentation; view asks about each augmented
    view, with all sub-models in memory; auto is view where the recipe augments, and stored elsewhere."""


def check(recipe: Recipe) -> None:
    """Refuse what has no meaning, before anything is trained."""
    spec = own(recipe, Selena)
    if spec.outside >= spec.models:
        raise SpecError(
            f"selena: outside: expected fewer than the {spec.models} models, since each member must train some of "
            f"them, got {spec.outside}: make outside smaller, such as {max(1, 2 * spec.models // 5)}, or give more "
            "models"
        )
    _distilling(recipe, spec)


def check_members(recipe: Recipe, members: int) -> None:
    """Refuse sub-models that surely get too few members; which ones each gets is drawn later."""
    spec = own(recipe, Selena)
    sure_sizes(members, spec.models, spec.outside)


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train the sub-models, then one network against what they say of members that they never saw.

    Cost: about K - L + 1 times plain training, one sub-model in memory at a time; with views all K in memory, and L
        further forward passes a record and epoch.
    """
    spec = own(recipe, Selena)
    members = materials.members
    assigned = assign(len(members), spec.models, spec.outside, streams.generator("assignment"))
    sizes = check_sizes(assigned, spec.models)
    views = _views(recipe, spec)
    total = torch.zeros((len(members), materials.classes), dtype=torch.float64, device=materials.prepare.device)
    losses: list[float] = []
    notices: list[list[str]] = []
    kept: list[nn.Module] = []
    costs = Costs(materials.prepare.device)
    with costs.stage("sub-models"):
        for network, history, told in sub_models(recipe, materials, streams, assigned, spec.models):
            rows = outside_of(assigned, len(losses))
            if len(rows):
                total[rows.to(total.device)] += softened(network, materials, members.take(rows))
            losses.append(history.loss[history.kept])
            notices.append(told)
            if views:
                kept.append(network.requires_grad_(False))
            del network
    soft = (total / spec.outside).float()
    asked = Views(kept, assigned.to(soft.device), materials.classes) if views else None
    with costs.stage("distillation"):
        made = _released(_distilling(recipe, spec), materials, streams, Distillation(asked or soft))
    selena = SelenaFacts(
        sub_model_members=tuple(sizes), sub_model_loss=tuple(losses), targets="view" if views else "stored"
    )
    facts = ProcedureFacts(selena=selena, notices=gathered(notices, "sub-models"), stages=costs.stages)
    return replace(made, artefacts={"assignment": assigned, "soft_targets": soft.cpu()}, facts=facts)


def short(recipe: Recipe) -> Short:
    """Shorten both parts of a training, in proportion as far as whole epochs allow."""
    spec, number = own(recipe, Selena), few(recipe)
    whole = spec.distillation_epochs or recipe.epochs
    then = max(1, round(whole * number / recipe.epochs))
    times = {"sub-models": epochs(recipe) / number, "distillation": (recipe.stop_after or whole) / then}
    return Short(cut(recipe.replace(procedure=spec.replace(distillation_epochs=then)), number), times=times)


def _released(recipe: Recipe, materials: Materials, streams: Streams, taught: Objective) -> Trained:
    model = fresh(recipe, materials, streams)
    initial = snapshot(model)
    return Trained(model, initial, fit(model, recipe, materials, taught, streams))


def _views(recipe: Recipe, spec: Selena) -> bool:
    return spec.targets == "view" or (spec.targets == "auto" and recipe.augmentation != "none")


def _distilling(recipe: Recipe, spec: Selena) -> Recipe:
    """Return the recipe of the distillation: its own epochs; stored targets hold for records as they are."""
    epochs = spec.distillation_epochs or recipe.epochs
    augmentation = recipe.augmentation if _views(recipe, spec) else "none"
    with about(f"selena: the distillation of {epochs} epoch{'s' * (epochs != 1)}"):
        return recipe.replace(epochs=epochs, augmentation=augmentation)
