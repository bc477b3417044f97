"""PPTP: the stages of a trained network where membership shows are set back and trained again; the others stay.

Paper: Fang and Kim, "Decoupling generalizability and membership privacy risks in neural networks" (arXiv 2602.02296),
algorithm 1. No code was found. Judgements: the stage where the paper's freezing stops (table 6) is the first that is
trained again (`boundary`); the paper chooses it by eye, here a rule does (`locate.layers.judged`); setting back means
the initial values (`rewind`), of the statistics of BatchNorm too; those of stages that stay are not touched again.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Lt
from pydantic import BeforeValidator
from torch import Tensor, nn

from reticent.models.stages import stages
from reticent.objectives import OBJECTIVES
from reticent.procedures import two_stage
from reticent.procedures.base import Trained, own, snapshot
from reticent.procedures.basic import read
from reticent.procedures.costs import Costs
from reticent.procedures.pptp.choice import AUTO, measurable, possible, sensible, values
from reticent.procedures.pptp.tuning import set_back, tune
from reticent.procedures.short import Short
from reticent.procedures.states import given_state
from reticent.procedures.two_stage import Second, second
from reticent.spec import Spec
from reticent.training.loop import History
from reticent.training.materials import Materials
from reticent.training.recipe import Plain, Recipe
from reticent.training.streams import Streams

INNER = ("plain", "dpsgd", "mist", "selena")
"""Procedures that have a meaning in the second stage: each begins from a state, and trains what it is told to."""


class PPTP(Spec):
    """Options of PPTP."""

    method: ClassVar[str] = "pptp"

    stage: Annotated[int, Ge(1)] | str = AUTO
    """First stage that is trained again, by name or number; auto measures where membership begins to show, for each
    model with its own members alone."""
    boundary: Literal["trained", "frozen"] = "trained"
    """What becomes of that stage itself: it is the first that is trained again, or the last that stays."""
    stages: tuple[str, ...] = ()
    """Patterns of module names, one a stage in forward order; by default the network's own stages."""
    pretraining: Literal["cross-entropy", "cs-kd"] = "cross-entropy"
    """What the first training minimises; the recipe's objective is that of the second."""
    rewind: Annotated[int, Ge(1)] | Literal["initial", "trained"] = "initial"
    """Values that the risky stages go back to: the initial ones; those after so many epochs of the first training; or
    trained, which leaves them and so only tunes."""
    tuning_epochs: Annotated[int, Ge(1)] | None = None
    """Epochs of the second training; by default half of the recipe's, rounded down."""
    inner: Annotated[Spec, BeforeValidator(read)] = Plain()
    """Procedure of the second training."""
    seeds: Annotated[int, Ge(1)] = 2
    """For auto: how often the measurement is repeated, with other initial weights, order and halves."""
    swap: bool = True
    """For auto: also train on the other half of the members."""
    equalise: Literal["epochs", "steps"] = "epochs"
    """For auto: what a network on half of the members has as many of as the one on all."""
    margin: Annotated[float, Ge(0), Lt(0.5)] = 0.05
    """For auto: by so much the effect of a risky stage, and of every later one, must exceed one half."""


def check(recipe: Recipe) -> None:
    """Refuse what has no meaning, before anything is trained."""
    two_stage.long_enough(recipe, _second(recipe))
    sensible(own(recipe, PPTP), recipe)


def check_members(recipe: Recipe, members: int) -> None:
    """Refuse too few members, to measure the stage with or for the second training."""
    if own(recipe, PPTP).stage == AUTO:
        measurable(members)
    _second(recipe).check_members(members)


def check_network(recipe: Recipe, model: nn.Module) -> None:
    """Refuse a stage that the network does not have, and patterns that divide it into none."""
    spec = own(recipe, PPTP)
    possible(model, stages(model, spec.stages), spec)


def network(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build the untrained network as the second training's procedure needs it."""
    return _second(recipe).network(materials, streams)


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train plainly, choose the risky stages, and train them again.

    The first training is the plain one of the recipe, bit for bit. The second has a new optimizer and the schedule from
    its beginning; its warm-up and its stop are shorter as its epochs are, and `patience` holds for both.

    Cost: plain training, up to half of it for the second training, and for auto, at the defaults, three times plain
        training. One network more in memory than plain training needs.
    """
    two_stage.begins_anew(recipe, materials)
    model = _ready(recipe, materials, streams)
    spec, costs = own(recipe, PPTP), Costs(materials.prepare.device)
    initial = snapshot(model)
    one = two_stage.undefended(recipe).replace(objective=OBJECTIVES[spec.pretraining].spec())
    early = spec.rewind if isinstance(spec.rewind, int) else None
    before, told, kept = two_stage.first_training(model, one, recipe, materials, streams, costs, early)
    trained = snapshot(model)
    back_to = values(spec, initial, trained, kept)
    built, usual = partial(network, recipe), _usual(recipe)
    start, known = set_back(model, trained, back_to, recipe, materials, streams, costs, network=built, usual=usual)
    del model, trained, back_to, kept
    return tune(_second(recipe), start, known, initial, materials, streams, costs, before, told)


def repair(
    model_state: Mapping[str, Tensor],
    initial_state: Mapping[str, Tensor],
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
    before: History | None = None,
) -> Trained:
    """Choose the risky stages of a model that is trained already, set them back, and train them again.

    Cost: up to half of plain training, and for auto, at the defaults, four times plain training, of networks that are
        trained anew on the members and halves of them.
    """
    model, costs = _ready(recipe, materials, streams), Costs(materials.prepare.device)
    initial = given_state(model, initial_state, "the initial state")
    trained = given_state(model.eval(), model_state, "the trained state")
    back_to = values(own(recipe, PPTP), initial, trained, None)
    built, usual = partial(network, recipe), before is not None and _usual(recipe)
    start, known = set_back(model, trained, back_to, recipe, materials, streams, costs, network=built, usual=usual)
    del model, trained, back_to
    return tune(_second(recipe), start, known, initial, materials, streams, costs, before)


def first(recipe: Recipe) -> Recipe | None:
    """Tell what the first training is."""
    known = _usual(recipe) and _second(recipe).usual and not isinstance(own(recipe, PPTP).rewind, int)
    return two_stage.undefended(recipe) if known else None


def short(recipe: Recipe) -> Short:
    """Shorten all trainings; what else is measured to choose the stage is as long as it is."""
    spec = own(recipe, PPTP)
    half = 1.0 if spec.equalise == "steps" else 0.5
    inside = spec.seeds * (1 + half * (1 + spec.swap)) - _usual(recipe)
    made = two_stage.short(recipe, _second(recipe), rewind="initial" if isinstance(spec.rewind, int) else spec.rewind)
    return replace(made, inside={"choice": inside} if spec.stage == AUTO else {})


def _ready(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build the network, and refuse before any training what the later parts would refuse."""
    check(recipe)
    model, spec = network(recipe, materials, streams), own(recipe, PPTP)
    possible(model, stages(model, spec.stages), spec, len(materials.members))
    _second(recipe).ready(materials, model)
    return model


def _usual(recipe: Recipe) -> bool:
    """Tell whether the first training is what the measurement would train."""
    return own(recipe, PPTP).pretraining == "cross-entropy"


def _second(recipe: Recipe) -> Second:
    spec = own(recipe, PPTP)
    return second(recipe, spec.tuning_epochs, spec.inner, INNER)
