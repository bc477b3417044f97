"""What a procedure is: a function from a recipe and records to a trained model."""

from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor, nn

from reticent.models import ARCHITECTURES
from reticent.models.base import build
from reticent.spec import Spec
from reticent.training.loop import History, Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


@dataclass(frozen=True)
class Trained:
    """What training gives.

    Attributes:
        model: the network, in eval mode.
        initial: its state before the first step, by name; empty where the procedure cannot know it.
        history: losses by epoch.
        artefacts: what else the procedure made, such as masks or scores.
    """

    model: nn.Module
    initial: dict[str, Tensor]
    history: History
    artefacts: dict[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class ProcedureEntry:
    """One line of the table.

    Attributes:
        spec: the class of its spec.
        train: ``(recipe, materials, streams) -> Trained``.
        summary: one sentence.
    """

    spec: type[Spec]
    train: Callable[[Recipe, Materials, Streams], Trained]
    summary: str


def fresh(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build a recipe's network with the model's own initialisation stream, on the device.

    Args:
        recipe: names the architecture.
        materials: say what a record looks like, and where it lies.
        streams: the model's random streams.

    Returns:
        The network.
    """
    entry = ARCHITECTURES[recipe.architecture.method]
    with streams.lent("init"):
        model = build(entry, recipe.architecture, materials.prepare.input, materials.classes)
    return model.to(materials.prepare.device)


def snapshot(model: nn.Module) -> dict[str, Tensor]:
    """Copy a model's parameters and buffers to the CPU.

    Args:
        model: the network.

    Returns:
        Tensors by name, sharing no memory with the model or each other.
    """
    return {name: value.detach().cpu().clone().contiguous() for name, value in model.state_dict().items()}
