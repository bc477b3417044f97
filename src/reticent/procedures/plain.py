"""Plain training: one run of the loop from a fresh initialisation."""

from reticent.findings.training import ProcedureFacts
from reticent.procedures.base import Trained, fresh, objective, snapshot
from reticent.procedures.costs import Costs
from reticent.procedures.scored import sampled, scored
from reticent.training.loop import fit
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train one model."""
    costs = Costs(materials.prepare.device)
    materials = scored(recipe, materials, streams, costs)
    model = fresh(recipe, materials, streams)
    initial = snapshot(model) if materials.start is None else dict(materials.start.state)
    loss = materials.instead or objective(recipe)
    history = fit(model, recipe, materials, loss, streams)
    facts = ProcedureFacts(
        notices=tuple(loss.notices()), sampler=sampled(recipe, materials, history), stages=costs.stages
    )
    return Trained(model, initial, history, facts=facts)
