"""What can be told of a recipe's parts together before anything is trained: what they need, and what has no meaning."""

import numpy as np
import torch
from torch import nn

from reticent.data.records import Records
from reticent.errors import InputError, ModelError, RolesError, SpecError
from reticent.models import ARCHITECTURES
from reticent.models.user import Factory
from reticent.objectives import OBJECTIVES
from reticent.objectives.base import Need
from reticent.outputs import OUTPUTS
from reticent.procedures import PROCEDURES, entries, entry
from reticent.samplers import SAMPLERS
from reticent.signals.ask import check_ending
from reticent.signals.squashed import TELLING_ROWS
from reticent.training.data import Preparation
from reticent.training.loop import check_recipe
from reticent.training.materials import Materials, forward
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams
from reticent.usercode import reported


def needs(recipe: Recipe) -> dict[str, tuple[Need, ...]]:
    """List what the parts of a recipe must be given."""
    wanted = {
        recipe.objective.method: OBJECTIVES[recipe.objective.method].needs,
        **{name: one.needs for name, one in entries(recipe).items()},
        recipe.output.method: OUTPUTS[recipe.output.method].needed(recipe.output),
    }
    return {name: what for name, what in wanted.items() if what}


def built(recipe: Recipe, records: Records) -> nn.Module:
    """Build the untrained network of a recipe, with some initial values."""
    prepare = Preparation(records, torch.device("cpu"))
    none = prepare.examples(records, np.arange(0))
    materials = Materials(none, none, none, prepare, records.classes)
    return entry(recipe).network(recipe, materials, Streams(0, 0))


def check_network(recipe: Recipe, records: Records) -> None:
    """Refuse, before anything is trained, what the untrained network makes impossible."""
    procedure = entry(recipe)
    ours = recipe.procedure.method != "function"
    own = ours and isinstance(recipe.architecture, Factory)
    alone = ours and 1 in {recipe.batch_size, getattr(recipe.procedure, "scoring_batch_size", None)}
    factored = ours and getattr(recipe.architecture, "butterfly", None) is not None
    prepare, streams = Preparation(records, torch.device("cpu")), Streams(0, 0)
    few = prepare.examples(records, np.arange(min(len(records), TELLING_ROWS)))
    prepare.augmented(few.x, recipe, streams.generator("augmentation"))
    if procedure.check_network is None and not own and not alone and not factored:
        return
    network = built(recipe, records)
    if isinstance(recipe.architecture, Factory) and own and not any(p.requires_grad for p in network.parameters()):
        raise ModelError(
            f"{recipe.architecture.factory}: the network has nothing to train: expected a parameter that requires a "
            "gradient, got none: leave requires_grad as it is for those that are to be trained"
        )
    if procedure.check_network is not None:
        procedure.check_network(recipe, network, prepare(few.x))
    if own:
        check_ending(network, prepare(few.x))
    if alone:
        name = getattr(recipe.architecture, "factory", recipe.architecture.method)
        with reported(f"the model {name}, asked about one record,", ModelError), streams.lent("dropout"):
            forward(network.train(), prepare(few.x[:1]), records.classes)


def check_records(recipe: Recipe, records: Records, *, reference: int, validation: int, members: int) -> None:
    """Refuse, before anything is trained, what a recipe cannot do with so many records; `members` are the fewest."""
    kinds = ARCHITECTURES[recipe.architecture.method].kinds
    if records.kind not in kinds and recipe.procedure.method != "function":
        raise InputError(
            f"architecture {recipe.architecture.method!r} takes {' or '.join(kinds)} records, got {records.kind} "
            f"of shape {records.x.shape[1:]}: give another --architecture, or module:factory of your own"
        )
    check_recipe(recipe, records.kind, records.x.shape[1:], validation)
    check(recipe, reference, records.classes, kind=records.kind, members=members)
    check_network(recipe, records)


def check(
    recipe: Recipe,
    reference: int,
    classes: int | None = None,
    *,
    kind: str | None = None,
    members: int | None = None,
) -> None:
    """Refuse what has no meaning, and what lacks the records that it needs."""
    procedure, name = entry(recipe), recipe.procedure.method
    if name == "function" and recipe.objective.method != "cross-entropy":
        raise SpecError(
            f"{recipe.objective.method} cannot be used with a training function of your own, which chooses its loss "
            "itself: use the loss inside your function, or leave --train out"
        )
    _check_sampler(recipe)
    procedure.check(recipe)
    if members is not None:
        procedure.check_members(recipe, members)
    if kind is not None:
        OBJECTIVES[recipe.objective.method].check_kind(recipe.objective, kind)
    output = OUTPUTS[recipe.output.method]
    if classes is not None:
        OBJECTIVES[recipe.objective.method].check(recipe.objective, classes)
        output.check(recipe.output, classes)
    if procedure.proves and output.reads_members(recipe.output):
        raise SpecError(
            f"{recipe.output.method} looks at the members themselves, so that the epsilon that {name} proves of "
            f"the model would not hold for its answers: {output.instead}"
        )
    for method in needs(recipe):
        if reference < 2:
            raise RolesError(
                f"{method} needs the defender's reference non-members, records that no model is trained on or audited "
                f"with: expected at least 2, got {reference}: give --reference 2 "
                "or more, or leave it out, which takes a fifth of the records"
            )


def _check_sampler(recipe: Recipe) -> None:
    """Refuse a sampler where a procedure chooses the records of a step itself."""
    sampler = recipe.sampler.method
    for method, procedure in entries(recipe).items():
        if SAMPLERS[sampler].scored and not procedure.sampled:
            able = ", ".join(name for name, one in PROCEDURES.items() if one.sampled)
            raise SpecError(
                f"{sampler} cannot be used with {method}, which chooses itself which records a step is taken on: "
                f"use one of {able}, or leave {sampler} out"
            )
