"""What a procedure is: a function from a recipe and records to a trained model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import torch
from torch import Tensor, nn

from reticent.errors import ModelError, ReticentError, SpecError
from reticent.findings.training import ProcedureFacts
from reticent.models.state_dicts import check_state
from reticent.objectives import OBJECTIVES, Objective
from reticent.objectives.base import Need
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.procedures.costs import Short, by_epochs
from reticent.samplers.shuffle import Shuffle
from reticent.spec import Spec
from reticent.training.loop import History
from reticent.training.materials import Materials, untrained
from reticent.training.recipe import Plain, Recipe
from reticent.training.streams import Streams

Kind = TypeVar("Kind", bound=Spec)
State = Mapping[str, Tensor]


@dataclass(frozen=True)
class Trained:
    """What training gives.

    Attributes:
        model: the network, in eval mode.
        initial: its state before the first step, by name; empty where the procedure cannot know it.
        artefacts: what else the procedure made, such as masks or scores.
    """

    model: nn.Module
    initial: dict[str, Tensor]
    history: History
    artefacts: dict[str, Tensor] = field(default_factory=dict)
    facts: ProcedureFacts = field(default_factory=ProcedureFacts)


@dataclass(frozen=True, eq=False)
class Before:
    """What is known of a run of the store that a repair goes on from, beside the state that it left."""

    history: History
    artefacts: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class ProcedureEntry:
    """One line of the table.

    Attributes:
        train: ``(recipe, materials, streams) -> Trained``.
        cost: beside plain training, in words.
        proves: it proves an epsilon, which holds for answers that depend on the members through the model alone.
        unproved: why models of a recipe have no epsilon although a part of it could prove one; empty where none could.
        check: raises a `SpecError` for a recipe that the procedure cannot follow: why, and what to use instead.
        check_members: the same for a number of members that is too small for the recipe.
        check_network: the same for the untrained network and some model input; None where it cannot matter.
        ready: the same again, by what takes seconds to import: for procedures that train something else before.
        network: builds the untrained network, so that stored weights can be put into it.
        inner: procedures that may be its second stage, named by the field ``inner`` of its spec.
        first: the recipe of what comes before its last stage, where that is a training which stands on its own, so that
            a finished run of it serves; else None.
        repair: does what follows, to a model that is trained already: ``(trained state, initial state, recipe,
            materials, streams, the run that trained it or None) -> Trained``; None where nothing follows.
        sampled: all that it trains behind its first stage is trained on all members, so that a sampler may say which of
            them an epoch visits.
        tuning_epochs: how many epochs its second training has, or each fine-tuning; None where there is none.
        goes_on: that repair takes the trained state alone, so that the initial one does not matter.
        traced: it trains one network on all members by runs of the loop that follow each other, so that their losses
            can be followed from before training to its end.
        short: makes a short training of a recipe, by which its cost is estimated.
        together: trains several models as one batched computation, or says why one failed; None where each is trained
            alone.
    """

    spec: type[Spec]
    train: Callable[[Recipe, Materials, Streams], Trained]
    summary: str
    paper: str = ""
    cost: str = "none"
    needs: tuple[Need, ...] = ()
    proves: bool = False
    unproved: Callable[[Recipe], str] = lambda _: ""
    check: Callable[[Recipe], None] = lambda _: None
    check_members: Callable[[Recipe, int], None] = lambda _, members: None
    check_network: Callable[[Recipe, nn.Module, Tensor], None] | None = None
    ready: Callable[[nn.Module], None] = lambda _: None
    network: Callable[[Recipe, Materials, Streams], nn.Module] = untrained
    inner: tuple[str, ...] = ()
    first: Callable[[Recipe], Recipe | None] = lambda _: None
    repair: Callable[[State, State, Recipe, Materials, Streams, Before | None], Trained] | None = None
    sampled: bool = False
    tuning_epochs: Callable[[Recipe], int | None] = lambda _: None
    goes_on: Callable[[Recipe], bool] = lambda _: False
    traced: bool = False
    short: Callable[[Recipe], Short] = by_epochs
    together: Callable[[Recipe, Sequence[Materials], Sequence[Streams]], list[Trained | ReticentError]] | None = None


def own(recipe: Recipe, kind: type[Kind]) -> Kind:
    """Take the options of a procedure out of a recipe."""
    spec = recipe.procedure
    if not isinstance(spec, kind):
        raise SpecError(f"expected the procedure {kind.method}, got {spec.method!r}")
    return spec


def undefended(recipe: Recipe) -> Recipe:
    """Tell what plain training of a recipe is."""
    return recipe.replace(objective=CrossEntropy(), sampler=Shuffle(), procedure=Plain())


def objective(recipe: Recipe) -> Objective:
    """Build a recipe's objective, fresh."""
    return OBJECTIVES[recipe.objective.method].build(recipe.objective)


def fresh(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build a recipe's network, and bring it to the state that training begins from."""
    return begun(untrained(recipe, materials, streams), materials)


def begun(model: nn.Module, materials: Materials) -> nn.Module:
    """Bring an untrained network to the state that training begins from."""
    return model if materials.start is None else materials.start.begin(model)


def snapshot(model: nn.Module) -> dict[str, Tensor]:
    """Copy a model's parameters and buffers to the CPU."""
    return {name: value.detach().cpu().clone().contiguous() for name, value in model.state_dict().items()}


def give_state(model: nn.Module, state: State, what: str) -> None:
    """Bring a network to a state that was given from outside, after checking that it fits and is finite."""
    known = model.state_dict()
    lost = any(name.endswith("running_mean") and name not in known for name in state)
    hint = (
        "; statistics of BatchNorm have no place where the fine-tuning is dpsgd, which needs GroupNorm from the "
        "beginning: fine-tune without dpsgd"
    )
    check_state(model, state, what, hint if lost else "")
    model.load_state_dict(dict(state))
    wrong = [name for name, value in model.state_dict().items() if value.is_floating_point() and not _finite(value)]
    if wrong:
        raise ModelError(f"{what}: {wrong[0]}: expected finite numbers, got NaN or infinity")


def given_state(model: nn.Module, state: State, what: str) -> dict[str, Tensor]:
    """Bring a network to a state as `give_state` does, and copy it."""
    give_state(model, state, what)
    return snapshot(model)


def _finite(values: Tensor) -> bool:
    """Tell whether all numbers are finite, without a copy of them."""
    return not values.numel() or all(bool(torch.isfinite(end)) for end in torch.aminmax(values))


def gathered(notices: Sequence[Sequence[str]], parts: str) -> tuple[str, ...]:
    """Put together what the objectives of several networks have to say of their runs."""
    telling = [told for told in notices if told]
    first = telling[0] if telling else ()
    return tuple(f"In {len(telling)} of {len(notices)} {parts}, here the first: {notice}" for notice in first)
