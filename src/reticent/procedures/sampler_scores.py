"""What the sampler of a recipe needs before training, and what there is to say of it afterwards."""

import math
from dataclasses import replace

from reticent.errors import about
from reticent.findings.training import SamplerFacts
from reticent.locate.memorisation import memorisation
from reticent.procedures.base import undefended
from reticent.procedures.costs import SCORING, Costs
from reticent.samplers import SAMPLERS
from reticent.samplers.base import Memorisation, Scored
from reticent.samplers.strengths import Regularised, risky
from reticent.training.loop import History
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


def measured(recipe: Recipe, materials: Materials, streams: Streams) -> Memorisation:
    """Measure what a scored sampler ranks the members by: the same for all samplers and defenses of one model."""
    spec = recipe.sampler
    assert isinstance(spec, Scored)
    with about("memorisation"):
        return memorisation(undefended(recipe), materials, streams.child("memorisation"), spec.models, spec.outside)


def scored(recipe: Recipe, materials: Materials, streams: Streams, costs: Costs) -> Materials:
    """Give the materials the memorisation scores that a recipe's sampler goes by, where they lack them."""
    if not SAMPLERS[recipe.sampler.method].scored or materials.memorisation is not None:
        return materials
    with costs.stage(SCORING):
        return replace(materials, memorisation=measured(recipe, materials, streams))


def sampled(recipe: Recipe, materials: Materials, history: History) -> SamplerFacts | None:
    """Tell what a sampler did in a training; nothing where it only shuffles."""
    spec, found = recipe.sampler, materials.memorisation
    if not isinstance(spec, Scored) or found is None:
        return None
    error = float(found.errors.square().mean().sqrt())
    return SamplerFacts(
        visited=history.visited,
        risky=float(risky(spec, found.scores).double().mean()) if isinstance(spec, Regularised) else None,
        sub_models=spec.models,
        score_deviation=float(found.scores.std()),
        score_error=error if math.isfinite(error) else None,
    )
