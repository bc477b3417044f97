"""The two trainings of procedures that train twice: the first one, what the second one is, and the run of it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor, nn

from reticent import seeds
from reticent.errors import ModelError, SpecError
from reticent.objectives import OBJECTIVES
from reticent.objectives.cross_entropy import CrossEntropy
from reticent.procedures import basic, dpsgd
from reticent.procedures._parts import Noted, named, shortened
from reticent.procedures.base import ProcedureEntry, Trained, let_go, objective
from reticent.procedures.costs import Costs
from reticent.procedures.short import FIRST, Short, cut, epochs
from reticent.spec import Spec
from reticent.training.loop import History, fit, joined
from reticent.training.materials import Materials
from reticent.training.network import untrained
from reticent.training.recipe import Plain, Recipe
from reticent.training.run import Run
from reticent.training.start import Start
from reticent.training.streams import Streams


def undefended(recipe: Recipe) -> Recipe:
    """Tell what plain training of a recipe is."""
    return recipe.replace(objective=CrossEntropy(), procedure=Plain())


class Second(NamedTuple):
    """The second training.

    Attributes:
        entry: its procedure.
        recipe: how, with its own epochs.
    """

    entry: ProcedureEntry
    recipe: Recipe

    @property
    def usual(self) -> bool:
        """The procedure trains the architecture as it is."""
        return self.entry.network is untrained

    def network(self, materials: Materials, streams: Streams) -> nn.Module:
        """Build the untrained network as the procedure needs it, for the first training too."""
        return self.entry.network(self.recipe, materials, streams)

    def ready(self, materials: Materials, model: nn.Module) -> None:
        """Refuse before the first training what the procedure would refuse of the network."""
        if self.recipe.procedure.method == "dpsgd":
            dpsgd.ready(self.recipe, materials, model)

    def check_members(self, members: int) -> None:
        """Refuse too few members for the procedure."""
        self.entry.check_members(self.recipe, members)

    def train(
        self, materials: Materials, start: Start, streams: Streams, guarantee: str, said: Sequence[str] = ()
    ) -> Trained:
        """Train."""
        made = self.entry.train(self.recipe, replace(materials, start=start), tuning(streams))
        facts = {key: value for key, value in made.facts.items() if key not in {"accountant", "notices"}}
        without = [guarantee] if self.entry.proves else []
        if notices := [*said, *without, *made.facts.get("notices", [])]:
            facts["notices"] = notices
        return replace(made, facts=facts)


class _Tuning(Streams):
    """Streams of the second training: its own, but for the one that builds the network, which is the same network."""

    def integer(self, name: str) -> int:
        """Return a stream as one integer; that of "init" is the one that the first stage was built with."""
        path = self.path[:-1] if name == "init" else self.path
        return seeds.integer(self.seed, "model", self.model, *path, name)


def tuning(streams: Streams) -> Streams:
    """Derive the streams of the second training."""
    return _Tuning(streams.seed, streams.model, (*streams.path, "tuning"))


def second(recipe: Recipe, number: int | None, inner: Spec, taken: tuple[str, ...]) -> Second:
    """Find the second training's procedure and its recipe: other epochs, warm-up and stop in proportion."""
    return Second(*basic.second(shortened(recipe, number or max(1, recipe.epochs // 2)), inner, taken))


def long_enough(recipe: Recipe, then: Second) -> None:
    """Refuse a second training too short for its objective."""
    chosen = recipe.objective.method
    if then.recipe.epochs == 1 and OBJECTIVES[chosen].between_epochs:
        raise SpecError(
            f"{recipe.procedure.method}: tuning_epochs: expected at least 2 with {chosen}, got 1: what {chosen} adds "
            "comes between two epochs of the second training, so none of it would be trained: give more tuning_epochs"
        )


def begins_anew(recipe: Recipe, materials: Materials) -> None:
    """Refuse materials that say where training begins."""
    if materials.start is not None:
        raise ModelError(
            f"{recipe.procedure.method} begins from a fresh initialisation: expected materials without a start"
        )


def first_training(
    model: nn.Module,
    recipe: Recipe,
    whole: Recipe,
    materials: Materials,
    streams: Streams,
    costs: Costs,
    keep_after: int | None = None,
) -> tuple[History, list[str], dict[str, Tensor]]:
    """Train the network for the first time."""
    loss, kept = objective(recipe), dict[str, Tensor]()
    make = Run if keep_after is None else partial(Noted, after=keep_after, kept=kept)
    with costs.stage(FIRST), named(f"{whole.procedure.method}, the first training"):
        history = fit(model, recipe, materials, loss, streams, make=make)
    told = loss.notices()
    let_go(loss)
    return history, told, kept


def after(before: History | None, made: Trained) -> Trained:
    """Put the history of the first training before that of the second."""
    return made if before is None else replace(made, history=joined(before, made.history))


def short(recipe: Recipe, then: Second, **options: Any) -> Short:
    """Shorten both trainings; what lies between them is as long as it is."""
    brief = then.entry.short(then.recipe).recipe
    spec = recipe.procedure.replace(tuning_epochs=brief.epochs, inner=brief.procedure, **options)
    times = {FIRST: epochs(recipe), "tuning": epochs(then.recipe) / brief.epochs}
    return Short(cut(recipe.replace(procedure=spec), 1).replace(objective=brief.objective), times=times)
