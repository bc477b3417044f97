"""CWRF: the weights that give members away go back to their initial values and stay there; the others train again.

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
arXiv 2603.13186, algorithm 1. No code is public and the formulas of the text are lost: what they leave open is an
option with the judgement as its default (docs/methods/cwrf.md). Two sentences of the paper have the rewound weights
move; everything else has them frozen, as here. `variant` holds the paper's ablations, `mask`, `scope` and `value` the
controls that it lacks.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BeforeValidator
from torch import Tensor, nn

from reticent.errors import ModelError, SpecError
from reticent.locate.top import Scope
from reticent.locate.weights import Scoring
from reticent.objectives import OBJECTIVES
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.procedures import basic
from reticent.procedures._cwrf_mask import Marked, mark, possible, trainable
from reticent.procedures._cwrf_rewind import rewound, tune, unmoved
from reticent.procedures._parts import accuracies, given_state, joined, named, shortened
from reticent.procedures.base import ProcedureEntry, Trained, let_go, objective, snapshot, untrained
from reticent.procedures.costs import Costs
from reticent.procedures.short import FIRST, Short, cut, epochs
from reticent.spec import Spec
from reticent.training.loop import History, fit
from reticent.training.materials import Materials
from reticent.training.recipe import Plain, Recipe
from reticent.training.start import Start
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
    mask: Literal["vulnerability", "learnability", "magnitude", "random"] = "vulnerability"
    """By what the weights are chosen; the last three are controls: learnability scores, absolute values, or chance."""
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
    weight: Annotated[float, Ge(0), Le(1)] = 0.5
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
        """Gather how weights are scored.

        Returns:
            The options of `locate.weights.score`; learnability has no part of non-members.
        """
        same = {name.removeprefix("scoring_"): getattr(self, name) for name in type(self).model_fields}
        options = {name: same[name] for name in Scoring.model_fields} | {"statistics": self.scoring_statistics}
        return Scoring(**options | ({"weight": 0.0} if self.mask == "learnability" else {}))


def check(recipe: Recipe) -> None:
    """Refuse what has no meaning, before anything is trained.

    Args:
        recipe: with CWRF as its procedure.

    Raises:
        SpecError: options that contradict each other, a fine-tuning that is too short for its objective, or a second
            stage that has no meaning here or refuses the recipe.
    """
    spec = _spec(recipe)
    if spec.variant == "rewind-train-vulnerable" and spec.rate == 0:
        raise SpecError(
            "cwrf: rate: expected more than 0 with variant rewind-train-vulnerable, which trains the rewound weights "
            "alone, got 0: nothing would be trained; the control without rewinding is rate 0 with variant cwrf"
        )
    if spec.variant == "remove" and spec.value != "initial":
        raise SpecError(
            "cwrf: value: variant remove holds the weights at zero, so that value=fresh would change nothing: leave "
            "one of the two out"
        )
    _, tuning = _tuning(recipe)
    chosen = recipe.objective.method
    if tuning.epochs == 1 and OBJECTIVES[chosen].between_epochs:
        raise SpecError(
            f"cwrf: tuning_epochs: expected at least 2 with {chosen}, got 1: what {chosen} adds comes between two "
            "epochs of the fine-tuning, so none of it would be trained"
        )


def check_members(recipe: Recipe, members: int) -> None:
    """Refuse too few members, to score by or for the fine-tuning.

    Args:
        recipe: with CWRF as its procedure.
        members: how many there are.

    Raises:
        SpecError: there are fewer than 2, or the fine-tuning's procedure refuses them.
    """
    if members < 2:
        raise SpecError(f"cwrf: expected at least 2 members, to score by, got {members}")
    entry, tuning = _tuning(recipe)
    entry.check_members(tuning, members)


def check_network(recipe: Recipe, model: nn.Module) -> None:
    """Refuse a network of which nothing would be trained.

    Args:
        recipe: with CWRF as its procedure.
        model: what `network` built.
    """
    trainable(model, _spec(recipe))


def network(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build the untrained network that the fine-tuning's procedure trains, from the first stage on.

    Args:
        recipe: names the architecture.
        materials: say what a record looks like, and where it lies.
        streams: the model's random streams.

    Returns:
        The network; with GroupNorm in place of BatchNorm where the fine-tuning is dpsgd.
    """
    entry, tuning = _tuning(recipe)
    return entry.network(tuning, materials, streams)


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train with plain cross-entropy, score, rewind, and fine-tune by the recipe's objective.

    The first stage is plain training of the recipe, bit for bit. The fine-tuning has a new optimizer and the schedule
    from its beginning, over its own epochs; `warmup_epochs` and `stop_after` hold for it in proportion, `patience` as
    it is.

    Args:
        recipe: how; all but objective and procedure holds for the first stage too.
        materials: the records; ``reference`` ones are what scoring pulls to the initial model.
        streams: the model's random streams; the fine-tuning draws from ``child("tuning")``.

    Returns:
        The model. Artefacts ``mask/NAME`` (``bool``, True where rewound) and ``scores/NAME`` (``float32``, where the
        mask comes from scores) of each parameter's shape; facts ``cwrf``, ``stages`` (seconds and peak memory) and
        ``notices``. The history is that of the first stage and then of the fine-tuning.

    Raises:
        SpecError: refused by `check`, nothing would be trained, or the members are too few.
        InputError: there are no reference non-members.
        ModelError: the materials say where training begins, or the network cannot be scored.
        TrainingDivergedError: a stage diverged.

    Cost: plain training, T steps of scoring, and `tuning_epochs` of the fine-tuning's procedure.
    """
    if materials.start is not None:
        raise ModelError("cwrf begins from a fresh initialisation: expected materials without a start")
    check(recipe)
    check_members(recipe, len(materials.members))
    model = network(recipe, materials, streams)
    possible(model, _spec(recipe), _tuning(recipe)[1], materials)
    initial = snapshot(model)
    first = recipe.replace(objective=CrossEntropy(), procedure=Plain())
    loss, costs = objective(first), Costs(materials.prepare.device)
    with costs.stage(FIRST), named("cwrf, the first training"):
        before = fit(model, first, materials, loss, streams)
    let_go(loss)
    marked, start = _rewound(model, initial, recipe, materials, streams, costs)
    del model
    return _after(before, _tuned(marked, start, initial, recipe, materials, streams, costs))


def repair(
    model_state: Mapping[str, Tensor],
    initial_state: Mapping[str, Tensor],
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
    before: History | None = None,
) -> Trained:
    """Score, rewind and fine-tune a model that is trained already: what `train` does after its first stage.

    Args:
        model_state: the trained model's state, parameters and buffers by name.
        initial_state: its state before training.
        recipe: how, with CWRF as its procedure; the epochs of the fine-tuning follow from it as in `train`.
        materials: the members that the model was trained on, and reference non-members that it never saw.
        streams: random streams; with those of the training, the result is that of `train`, bit for bit.
        before: the history of the training, where it is to stand before that of the fine-tuning.

    Returns:
        As for `train`; without `before` the history is that of the fine-tuning.

    Raises:
        SpecError: refused by `check`, nothing would be trained, or the members are too few.
        InputError: there are no reference non-members.
        ModelError: a state is not one of the recipe's network, or the network cannot be scored.
        TrainingDivergedError: a stage diverged.
    """
    check(recipe)
    check_members(recipe, len(materials.members))
    model = network(recipe, materials, streams)
    possible(model, _spec(recipe), _tuning(recipe)[1], materials)
    initial = given_state(model, initial_state, "the initial state")
    given_state(model, model_state, "the trained state")
    costs = Costs(materials.prepare.device)
    marked, start = _rewound(model, initial, recipe, materials, streams, costs)
    del model
    made = _tuned(marked, start, initial, recipe, materials, streams, costs)
    return made if before is None else _after(before, made)


def first(recipe: Recipe) -> Recipe | None:
    """Tell what the first stage is.

    Args:
        recipe: with CWRF as its procedure.

    Returns:
        The undefended recipe; None where the fine-tuning needs another network, as dpsgd does.
    """
    plain = recipe.replace(objective=CrossEntropy(), procedure=Plain())
    return plain if _tuning(recipe)[0].network is untrained else None


def short(recipe: Recipe) -> Short:
    """Shorten both trainings; scoring is as long as it is.

    Args:
        recipe: with CWRF as its procedure.

    Returns:
        The short training.
    """
    entry, tuning = _tuning(recipe)
    brief = entry.short(tuning).recipe
    spec = _spec(recipe).replace(tuning_epochs=brief.epochs, inner=brief.procedure)
    times = {FIRST: epochs(recipe), "tuning": epochs(tuning) / brief.epochs}
    return Short(cut(recipe.replace(procedure=spec), 1), times=times)


def _after(before: History, made: Trained) -> Trained:
    return replace(made, history=joined(before, made.history) if made.history.loss else before)


def _spec(recipe: Recipe) -> CWRF:
    spec = recipe.procedure
    if not isinstance(spec, CWRF):
        raise SpecError(f"expected the procedure cwrf, got {spec.method!r}")
    return spec


def _tuning(recipe: Recipe) -> tuple[ProcedureEntry, Recipe]:
    """Return the procedure of the fine-tuning and its recipe: its own epochs, warm-up and stop in proportion."""
    spec = _spec(recipe)
    shorter = shortened(recipe, spec.tuning_epochs or max(1, recipe.epochs // 2))
    return basic.second(shorter, spec.inner, INNER)


def _rewound(
    model: nn.Module,
    initial: Mapping[str, Tensor],
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
    costs: Costs,
) -> tuple[Marked, Start]:
    """Score and rewind a trained model, which is altered."""
    spec = _spec(recipe)
    known = {"accuracy_before": accuracies(model, materials)}
    with costs.stage("scoring"), named("cwrf, scoring"):
        marked = mark(model, initial, spec, recipe, materials, streams)
        values = initial
        if spec.value == "fresh":
            values = snapshot(network(recipe, materials, streams.child("fresh")))
            marked.notices.extend(unmoved(initial, values, marked.mask))
        start = rewound(model, initial, values, marked.mask, spec)
    return replace(marked, facts=known | marked.facts), start


def _tuned(
    marked: Marked,
    start: Start,
    initial: dict[str, Tensor],
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
    costs: Costs,
) -> Trained:
    """Fine-tune, and tell of all stages."""
    entry, tuning = _tuning(recipe)
    with costs.stage("tuning"), named("cwrf, fine-tuning"):
        made = tune(entry, tuning, replace(materials, start=start), streams, marked)
    facts = {key: value for key, value in made.facts.items() if key != "notices"} | {"cwrf": marked.facts} | costs.facts
    if said := [*marked.notices, *made.facts.get("notices", [])]:
        facts["notices"] = said
    return Trained(made.model, initial, made.history, made.artefacts | marked.artefacts(), facts)
