"""The network that a recipe trains, before it is trained."""

from torch import nn

from reticent.models import ARCHITECTURES
from reticent.models.base import build
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


def untrained(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build a recipe's network with the model's own initialisation stream, on the device."""
    entry = ARCHITECTURES[recipe.architecture.method]
    with streams.lent("init"):
        model = build(entry, recipe.architecture, materials.prepare.input, materials.classes)
    return model.to(materials.prepare.device)
