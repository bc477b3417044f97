"""What a procedure is: a function from a recipe and records to a trained model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from torch import Tensor, nn

from reticent.errors import SpecError
from reticent.objectives import OBJECTIVES, Objective
from reticent.objectives.base import Need
from reticent.procedures.short import Short, by_epochs
from reticent.spec import Spec
from reticent.training.loop import History
from reticent.training.materials import Materials
from reticent.training.network import untrained
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

Kind = TypeVar("Kind", bound=Spec)


@dataclass(frozen=True)
class Trained:
    """What training gives.

    Attributes:
        model: the network, in eval mode.
        initial: its state before the first step, by name; empty where the procedure cannot know it.
        history: losses by epoch.
        artefacts: what else the procedure made, such as masks or scores.
        facts: what else there is to say, as plain JSON values; ``notices`` holds sentences for the report,
            ``accountant`` the epsilon that the procedure proves: ``{"epsilon", "delta", "source"}``.
    """

    model: nn.Module
    initial: dict[str, Tensor]
    history: History
    artefacts: dict[str, Tensor] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def own(recipe: Recipe, kind: type[Kind]) -> Kind:
    """Take the options of a procedure out of a recipe.

    Args:
        recipe: names the procedure.
        kind: the class of its spec.

    Returns:
        The options.

    Raises:
        SpecError: the recipe names another procedure.
    """
    spec = recipe.procedure
    if not isinstance(spec, kind):
        raise SpecError(f"expected the procedure {kind.method}, got {spec.method!r}")
    return spec


def fresh(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build a recipe's network, and bring it to the state that training begins from.

    Args:
        recipe: names the architecture.
        materials: say what a record looks like, where it lies, and where training begins.
        streams: the model's random streams.

    Returns:
        The network; freshly initialised where the materials name no start.

    Raises:
        ModelError: the start does not belong to such a network.
    """
    return begun(untrained(recipe, materials, streams), materials)


def begun(model: nn.Module, materials: Materials) -> nn.Module:
    """Bring an untrained network to the state that training begins from.

    Args:
        model: the network, freshly initialised.
        materials: name the start, or none.

    Returns:
        The same network.

    Raises:
        ModelError: the start does not belong to such a network.
    """
    return model if materials.start is None else materials.start.begin(model)


def _nothing(recipe: Recipe) -> None:
    del recipe


def _any_number(recipe: Recipe, members: int) -> None:
    del recipe, members


def _alone(recipe: Recipe) -> Recipe | None:
    del recipe
    return None


class Repair(Protocol):
    """What follows a procedure's first stage."""

    def __call__(
        self,
        model_state: Mapping[str, Tensor],
        initial_state: Mapping[str, Tensor],
        recipe: Recipe,
        materials: Materials,
        streams: Streams,
        before: History | None = None,
    ) -> Trained:
        """Repair a model that is trained already.

        Args:
            model_state: the trained model's state, parameters and buffers by name.
            initial_state: its state before training.
            recipe: how, with the procedure of this entry.
            materials: the records that it was trained on, and what else the procedure needs.
            streams: random streams; with those of the training, the result has the bits of `ProcedureEntry.train`.
            before: the history of the training, where it is to stand before that of what follows.

        Returns:
            The repaired model.
        """


@dataclass(frozen=True)
class ProcedureEntry:
    """One line of the table.

    Attributes:
        spec: the class of its spec.
        train: ``(recipe, materials, streams) -> Trained``.
        summary: one sentence.
        paper: what to cite.
        cost: beside plain training, in words.
        needs: what it must be given.
        proves: it proves an epsilon, which holds for answers that depend on the members through the model alone.
        unproved: the sentence that its models say where there is no epsilon although a part of it could prove one.
        check: raises a `SpecError` for a recipe that the procedure cannot follow: why, and what to use instead.
        check_members: the same for a number of members that is too small for the recipe.
        check_network: the same for the untrained network; None where it cannot matter.
        network: builds the untrained network, so that stored weights can be put into it.
        inner: procedures that may be its second stage, named by the field ``inner`` of its spec.
        first: the recipe of its first stage, where that is a training which stands on its own, so that a finished run
            of it serves; else None.
        repair: does what follows the first stage, to a model that is trained already; None where nothing does.
        short: makes a short training of a recipe, by which its cost is estimated.
    """

    spec: type[Spec]
    train: Callable[[Recipe, Materials, Streams], Trained]
    summary: str
    paper: str = ""
    cost: str = "none"
    needs: tuple[Need, ...] = ()
    proves: bool = False
    unproved: str = ""
    check: Callable[[Recipe], None] = _nothing
    check_members: Callable[[Recipe, int], None] = _any_number
    check_network: Callable[[Recipe, nn.Module], None] | None = None
    network: Callable[[Recipe, Materials, Streams], nn.Module] = untrained
    inner: tuple[str, ...] = ()
    first: Callable[[Recipe], Recipe | None] = _alone
    repair: Repair | None = None
    short: Callable[[Recipe], Short] = by_epochs


def objective(recipe: Recipe) -> Objective:
    """Build a recipe's objective, fresh.

    Args:
        recipe: names it.

    Returns:
        The objective; one serves one run of the loop at a time.
    """
    return OBJECTIVES[recipe.objective.method].build(recipe.objective)


def gathered(notices: Sequence[Sequence[str]], parts: str) -> list[str]:
    """Put together what the objectives of several networks have to say of their runs.

    Args:
        notices: of each network's objective.
        parts: what the networks are called, such as "sub-models".

    Returns:
        The sentences of the first network that has any, with how many have some in front; empty if none has.
    """
    telling = [told for told in notices if told]
    return [f"In {len(telling)} of {len(notices)} {parts}, here the first: {notice}" for notice in (telling or [[]])[0]]


def let_go(loss: Objective) -> None:
    """Cut the ring of a run, its objective and the objective's context, which else waits for the garbage collector.

    Args:
        loss: an objective whose run is over and that has told its notices; its network is held by it no longer.
    """
    vars(loss).pop("context", None)


def snapshot(model: nn.Module) -> dict[str, Tensor]:
    """Copy a model's parameters and buffers to the CPU.

    Args:
        model: the network.

    Returns:
        Tensors by name, sharing no memory with the model or each other.
    """
    return {name: value.detach().cpu().clone().contiguous() for name, value in model.state_dict().items()}
