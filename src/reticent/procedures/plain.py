"""Plain training: one run of the loop from a fresh initialisation."""

from reticent.findings.training import ProcedureFacts
from reticent.procedures.base import Trained, fresh, objective, snapshot
from reticent.training.loop import fit
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train one model."""
    model = fresh(recipe, materials, streams)
    initial = snapshot(model)
    loss = materials.instead or objective(recipe)
    history = fit(model, recipe, materials, loss, streams)
    return Trained(model, initial, history, facts=ProcedureFacts(notices=tuple(loss.notices())))
