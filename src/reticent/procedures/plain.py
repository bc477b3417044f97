"""Plain training: one run of the loop from a fresh initialisation."""

from reticent.objectives import OBJECTIVES
from reticent.procedures.base import Trained, fresh, snapshot
from reticent.training.loop import Materials, fit
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train one model.

    Args:
        recipe: how.
        materials: the records.
        streams: the model's random streams.

    Returns:
        The trained model, its initial state and the history.
    """
    model = fresh(recipe, materials, streams)
    initial = snapshot(model)
    objective = OBJECTIVES[recipe.objective.method].build(recipe.objective)
    history = fit(model, recipe, materials, objective, streams)
    return Trained(model, initial, history)
