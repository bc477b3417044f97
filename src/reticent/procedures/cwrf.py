"""CWRF: the weights that give members away go back to their initial values and stay there; the others train again.

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
arXiv 2603.13186, algorithm 1. No code is public and the formulas of the text are lost: what they leave open is an
option with the judgement as its default (docs/methods/cwrf.md). Two sentences of the paper have the rewound weights
move; everything else has them frozen, as here. `variant` holds the paper's ablations, `mask`, `scope` and `value` the
controls that it lacks.
"""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BeforeValidator
from torch import Tensor, nn

from reticent.errors import SpecError
from reticent.locate.topk_mask import Scope
from reticent.locate.weights import Scoring
from reticent.procedures import _twice, basic
from reticent.procedures._cwrf_mask import possible, trainable
from reticent.procedures._cwrf_rewind import scored, sensible, tune
from reticent.procedures._twice import Second, second
from reticent.procedures.base import Trained, own, snapshot
from reticent.procedures.costs import Costs
from reticent.procedures.short import Short
from reticent.procedures.states import given_state
from reticent.spec import Spec
from reticent.training.loop import History
from reticent.training.materials import Materials
from reticent.training.recipe import Plain, Recipe
from reticent.training.streams import Streams

INNER = ("plain", "dpsgd")
"""Procedures that have a meaning as the fine-tuning. SELENA and MIST rest on networks that never saw a record, and the
weights that CWRF keeps have seen them all."""


class CWRF(Spec):
    """Options of CWRF."""

    method: ClassVar[str] = "cwrf"

    rate: Annotated[float, Ge(0), Le(1)] = 0.01
    """Share of the weights that is rewound (the paper's r; it tries 0.001 to 0.05); at 0 fine-tuning alone is left."""
    variant: Literal["cwrf", "remove", "rewind-train-vulnerable"] = "cwrf"
    """cwrf holds the rewound weights and trains the others; remove holds them at zero (the paper's A1);
    rewind-train-vulnerable trains the rewound ones and holds the others (A2)."""
    mask: Literal["vulnerability", "learnability", "magnitude", "random", "random-within"] = "vulnerability"
    """By what the weights are chosen; all but the first are controls: learnability scores, absolute values, chance, or
    chance within each parameter tensor, of which it takes as many as vulnerability does."""
    scope: Scope = "global"
    """global takes the share of all weights together, layer the same share of each layer."""
    value: Literal["initial", "fresh"] = "initial"
    """To what weights are rewound: initial is what they began with; fresh a new draw, a control that keeps their places
    and not their values."""
    tuning_epochs: Annotated[int, Ge(1), Le(100_000)] | None = None
    """Epochs of the fine-tuning, with a schedule of its own; by default half of the recipe's, rounded down."""
    statistics: Literal["reset", "initial", "keep"] = "reset"
    """Running statistics of BatchNorm at the rewinding: reset empties them, initial takes those from before training,
    keep leaves the trained ones; other buffers go back to their initial values unless they are kept."""
    scoring_steps: Annotated[int, Ge(1), Le(1_000_000)] = 50
    """Steps over which importance is summed (the paper's T)."""
    scoring_batch_size: Annotated[int, Ge(1)] = 128
    """Records a step of scoring, of the members and of the reference non-members each."""
    unlearning: Annotated[float, Ge(0), Le(1)] = 0.5
    """The part of the reference non-members in the loss that scores (the paper's lambda)."""
    power: Literal[1, 2] = 1
    """Scores sum ``|g w|`` at 1, ``(g w)**2`` at 2."""
    divergence: Literal["vanilla-first", "updated-first"] = "vanilla-first"
    """Direction of the divergence that scores: vanilla-first is KL(initial || updated), updated-first the reverse."""
    scoring_statistics: Literal["frozen", "own", "joint"] = "frozen"
    """How BatchNorm treats reference non-members in scoring: frozen statistics, their own batch, or joint batches."""
    scoring_optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    """By what the working copy moves in scoring."""
    scoring_learning_rate: Annotated[float, Gt(0)] = 1e-3
    """Of the working copy in scoring, constant."""
    scoring_momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    """Of the working copy, for sgd."""
    scoring_weight_decay: Annotated[float, Ge(0)] = 5e-4
    """Of the working copy in scoring; it is no part of the gradient that scores."""
    scoring_augmentation: Literal["none", "recipe"] = "none"
    """recipe augments the members in scoring as training does."""
    inner: Annotated[Spec, BeforeValidator(basic.read)] = Plain()
    """What the fine-tuning is: plain, or dpsgd."""

    def scoring(self) -> Scoring:
        """Gather how weights are scored."""
        return Scoring(
            steps=self.scoring_steps,
            batch_size=self.scoring_batch_size,
            unlearning=0.0 if self.mask == "learnability" else self.unlearning,
            power=self.power,
            divergence=self.divergence,
            statistics=self.scoring_statistics,
            optimizer=self.scoring_optimizer,
            learning_rate=self.scoring_learning_rate,
            momentum=self.scoring_momentum,
            weight_decay=self.scoring_weight_decay,
            augmentation=self.scoring_augmentation,
        )


def check(recipe: Recipe) -> None:
    """Refuse what has no meaning, before anything is trained."""
    sensible(own(recipe, CWRF))
    _twice.long_enough(recipe, _tuning(recipe))


def check_members(recipe: Recipe, members: int) -> None:
    """Refuse too few members, to score by or for the fine-tuning."""
    if members < 2:
        raise SpecError(f"cwrf: expected at least 2 members, to score by, got {members}")
    _tuning(recipe).check_members(members)


def check_network(recipe: Recipe, model: nn.Module) -> None:
    """Refuse a network of which nothing would be trained."""
    trainable(model, own(recipe, CWRF))


def network(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build the untrained network that the fine-tuning's procedure trains, from the first stage on."""
    return _tuning(recipe).network(materials, streams)


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train with plain cross-entropy, score, rewind, and fine-tune by the recipe's objective.

    The first stage is plain training of the recipe, bit for bit. The fine-tuning has a new optimizer and the schedule
    from its beginning, over its own epochs; `warmup_epochs` and `stop_after` hold for it in proportion, `patience` as
    it is.

    Cost: plain training, T steps of scoring, and `tuning_epochs` of the fine-tuning's procedure.
    """
    _twice.begins_anew(recipe, materials)
    model, costs = _ready(recipe, materials, streams), Costs(materials.prepare.device)
    initial, one = snapshot(model), _twice.undefended(recipe)
    before, *_ = _twice.first_training(model, one, recipe, materials, streams, costs)
    marked, start = scored(model, initial, recipe, materials, streams, costs, partial(network, recipe))
    del model
    return _twice.after(before, tune(_tuning(recipe), marked, start, initial, materials, streams, costs))


def repair(
    model_state: Mapping[str, Tensor],
    initial_state: Mapping[str, Tensor],
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
    before: History | None = None,
) -> Trained:
    """Score, rewind and fine-tune a model that is trained already: what `train` does after its first stage."""
    model, costs = _ready(recipe, materials, streams), Costs(materials.prepare.device)
    initial = given_state(model, initial_state, "the initial state")
    given_state(model, model_state, "the trained state")
    marked, start = scored(model, initial, recipe, materials, streams, costs, partial(network, recipe))
    del model
    return _twice.after(before, tune(_tuning(recipe), marked, start, initial, materials, streams, costs))


def first(recipe: Recipe) -> Recipe | None:
    """Tell what the first stage is."""
    return _twice.undefended(recipe) if _tuning(recipe).usual else None


def short(recipe: Recipe) -> Short:
    """Shorten both trainings; scoring is as long as it is."""
    return _twice.short(recipe, _tuning(recipe))


def _ready(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build the network, and refuse before any training what the later parts would refuse."""
    check(recipe)
    check_members(recipe, len(materials.members))
    model, then = network(recipe, materials, streams), _tuning(recipe)
    possible(model, own(recipe, CWRF), materials)
    then.ready(materials, model)
    return model


def _tuning(recipe: Recipe) -> Second:
    spec = own(recipe, CWRF)
    return second(recipe, spec.tuning_epochs, spec.inner, INNER)
