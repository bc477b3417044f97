"""Procedures that train twice: plain training, a choice of the weights that go back, and a second training.

A method is a `TwoStage` that says what happens between the two trainings (`set_back`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, ClassVar

from torch import Tensor, nn

from reticent import seeds
from reticent.errors import SpecError, UnknownNameError, about
from reticent.findings.training import ProcedureFacts
from reticent.objectives import OBJECTIVES
from reticent.procedures.base import (
    Before,
    ProcedureEntry,
    State,
    Trained,
    give_state,
    given_state,
    objective,
    own,
    snapshot,
    undefended,
)
from reticent.procedures.basic import BASIC
from reticent.procedures.costs import FIRST, SCORING, Costs, Short, cut, epochs
from reticent.procedures.sampler_scores import scored
from reticent.spec import Spec
from reticent.training.loop import EVALUATION_BATCH, History, accuracy, fit, joined
from reticent.training.materials import Materials, untrained
from reticent.training.recipe import Recipe
from reticent.training.run import Run
from reticent.training.start import Start
from reticent.training.streams import Streams

FEW = 4
"""Records that a network is tried on before it is trained."""
NOTHING_LEFT = (
    "Every weight is held, so that nothing was left to fine-tune: the model answers as the rewinding left it."
)


def read_inner(inner: Any) -> Any:
    """Read a second stage's procedure as the full form of a spec writes it; for the validators of `inner` fields."""
    if not isinstance(inner, Mapping):
        return inner
    options = dict(inner)
    name = options.pop("method", None)
    if name not in BASIC:
        raise UnknownNameError("second stage", str(name), BASIC)
    return BASIC[name].spec(**options)


def shortened(recipe: Recipe, epochs: int) -> Recipe:
    """Give a recipe other epochs, and bring its warm-up and its stop into proportion."""
    share, stop = epochs / recipe.epochs, recipe.stop_after
    return recipe.replace(
        epochs=epochs,
        warmup_epochs=min(recipe.warmup_epochs * share, epochs),
        stop_after=None if stop is None else min(stop * share, epochs),
    )


@dataclass(frozen=True, eq=False)
class First:
    """What is known of the first training.

    Attributes:
        history: None where it lies outside: the model was given.
        early: the state after the epoch that was to be kept; empty without one.
    """

    initial: dict[str, Tensor]
    history: History | None
    early: Mapping[str, Tensor] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class SetBack:
    """What was done between the two trainings.

    Attributes:
        start: where the second training begins, and what it must not move.
        trains: there is something left to train.
        history: of what was trained between the two; None where nothing was.
    """

    start: Start
    facts: ProcedureFacts
    artefacts: dict[str, Tensor] = field(default_factory=dict)
    trains: bool = True
    history: History | None = None


class TwoStage:
    """A procedure that trains twice."""

    kind: ClassVar[type[Spec]]
    """Its spec, with the options ``tuning_epochs`` and ``inner``."""
    inner: ClassVar[tuple[str, ...]]
    """Procedures that have a meaning as the second training."""
    no_epsilon: ClassVar[str]
    """What is said where the second training could prove an epsilon."""
    part: ClassVar[int] = 2
    """By what the recipe's epochs are divided for those of the second training, where these are not given."""

    def set_back(
        self, model: nn.Module, first: First, recipe: Recipe, materials: Materials, streams: Streams, costs: Costs
    ) -> SetBack:
        """Choose what of a trained network goes back, and say where the second training begins."""
        raise NotImplementedError

    def first_recipe(self, recipe: Recipe) -> Recipe:
        """Tell what the first training is."""
        return undefended(recipe)

    def early(self, recipe: Recipe) -> int | None:
        """Tell after how many epochs of the first training its state is kept."""
        return None

    def check(self, recipe: Recipe) -> None:
        """Refuse what has no meaning, before anything is trained."""
        chosen, (_, its) = recipe.objective.method, self.second(recipe)
        if its.epochs == 1 and OBJECTIVES[chosen].between_epochs:
            raise SpecError(
                f"{recipe.procedure.method}: tuning_epochs: expected at least 2 with {chosen}, got 1: what {chosen} "
                "adds comes between two epochs of the second training, so none of it would be trained: give more "
                "tuning_epochs"
            )

    def check_members(self, recipe: Recipe, members: int) -> None:
        """Refuse too few members."""
        entry, its = self.second(recipe)
        entry.check_members(its, members)

    def check_network(self, recipe: Recipe, model: nn.Module, x: Tensor) -> None:
        """Refuse a network that cannot be trained so."""
        raise NotImplementedError

    def check_materials(self, recipe: Recipe, materials: Materials) -> None:
        """Refuse records that would be found too few after the first training."""

    def second(self, recipe: Recipe) -> tuple[ProcedureEntry, Recipe]:
        """Find the second training's procedure and recipe: other epochs, warm-up and stop in proportion."""
        spec: Any = own(recipe, self.kind)
        inner = spec.inner
        if inner.method not in self.inner:
            raise SpecError(
                f"{inner.method} cannot be the second stage of {spec.method}, which takes {', '.join(self.inner)}: use "
                f"one of them, or {inner.method} alone"
            )
        entry = BASIC[inner.method]
        its = shortened(recipe, spec.tuning_epochs or max(1, recipe.epochs // self.part)).replace(procedure=inner)
        entry.check(its)
        return entry, its

    def network(self, recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
        """Build the untrained network that the second training's procedure trains, from the first training on."""
        entry, its = self.second(recipe)
        return entry.network(its, materials, streams)

    def train(self, recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
        """Train, set back, and train again.

        The first training is plain, bit for bit. The second has a new optimizer and the schedule from its beginning,
        over its own epochs; `warmup_epochs` and `stop_after` hold for it in proportion, `patience` as it is.
        """
        model, costs = self._ready(recipe, materials, streams), Costs(materials.prepare.device)
        initial, one = snapshot(model), self.first_recipe(recipe)
        loss, kept = objective(one), dict[str, Tensor]()
        make = partial(_Noted, after=self.early(recipe), kept=kept)
        with costs.stage(FIRST), about(f"{recipe.procedure.method}, the first training"):
            history = fit(model, one, materials, loss, streams, make=make)
        first = First(initial, history, kept, loss.notices())
        materials = scored(recipe, materials, streams, costs)
        back = self.set_back(model, first, recipe, materials, streams, costs)
        del model, loss
        kept.clear()
        return self._again(back, first, recipe, materials, streams, costs)

    def repair(
        self,
        model_state: State,
        initial_state: State,
        recipe: Recipe,
        materials: Materials,
        streams: Streams,
        before: Before | None = None,
    ) -> Trained:
        """Do to a model that is trained already what `train` does after its first training."""
        model, costs = self._ready(recipe, materials, streams), Costs(materials.prepare.device)
        initial = given_state(model, initial_state, "the initial state")
        first = First(initial, None if before is None else before.history)
        give_state(model.eval(), model_state, "the trained state")
        del model_state, initial_state  # Whoever calls need not hold them either.
        materials = scored(recipe, materials, streams, costs)
        back = self.set_back(model, first, recipe, materials, streams, costs)
        del model
        return self._again(back, first, recipe, materials, streams, costs)

    def first(self, recipe: Recipe) -> Recipe | None:
        """Tell what the first training is, where it is plain training of the architecture as it is."""
        one, entry = undefended(recipe), self.second(recipe)[0]
        alone = self.first_recipe(recipe) == one and self.early(recipe) is None and entry.network is untrained
        return one if alone else None

    def short(self, recipe: Recipe) -> Short:
        """Shorten both trainings; what lies between them is as long as it is."""
        entry, its = self.second(recipe)
        brief = entry.short(its).recipe
        spec = recipe.procedure.replace(tuning_epochs=brief.epochs, inner=brief.procedure)
        times = {FIRST: epochs(recipe), SCORING: epochs(recipe), "tuning": epochs(its) / brief.epochs}
        return Short(cut(recipe.replace(procedure=spec), 1).replace(objective=brief.objective), times=times)

    def entry(self, summary: str, **said: Any) -> ProcedureEntry:
        """Write its line of the table."""
        return ProcedureEntry(
            self.kind,
            self.train,
            summary,
            unproved=self.unproved,
            check=self.check,
            check_members=self.check_members,
            check_network=self.check_network,
            network=self.network,
            inner=self.inner,
            first=self.first,
            repair=self.repair,
            tuning_epochs=lambda recipe: self.second(recipe)[1].epochs,
            short=self.short,
            sampled=True,
            **said,
        )

    def unproved(self, recipe: Recipe) -> str:
        """Say why there is no epsilon where the second training could prove one."""
        return self.no_epsilon if self.second(recipe)[0].proves else ""

    def _ready(self, recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
        """Build the network, and refuse before any training what the later parts would refuse."""
        self.check(recipe)
        model = self.network(recipe, materials, streams)
        self.check_materials(recipe, materials)
        self.check_members(recipe, len(materials.members))
        self.check_network(recipe, model, materials.prepare(materials.members.first(FEW).x))
        self.second(recipe)[0].ready(model)
        return model

    def _again(
        self, back: SetBack, first: First, recipe: Recipe, materials: Materials, streams: Streams, costs: Costs
    ) -> Trained:
        """Train for the second time; where nothing is left to train, the model stays as it is."""
        (entry, its), drawn = self.second(recipe), tuning(streams)
        with costs.stage("tuning"), about(f"{recipe.procedure.method}, the second training"):
            if back.trains:
                made = entry.train(its, replace(materials, start=back.start), drawn)
            else:
                network = back.start.begin(entry.network(its, materials, drawn)).eval()
                made = Trained(network, {}, History(), facts=ProcedureFacts(notices=(NOTHING_LEFT,)))
        void, pptp = (self.no_epsilon,) * (entry.proves and back.trains), back.facts.pptp
        if pptp is not None and first.history is not None:
            pptp = pptp.with_(epochs=(len(first.history.loss), len(made.history.loss)))
        facts = made.facts.with_(
            accountant=None,
            notices=(*first.notices, *back.facts.notices, *void, *made.facts.notices),
            cwrf=back.facts.cwrf,
            pptp=pptp,
            sparsity=back.facts.sparsity,
            stages=costs.stages,
        )
        known = [one for one in (first.history, back.history, made.history) if one is not None]
        history = reduce(joined, known)
        return Trained(made.model, first.initial, history, made.artefacts | back.artefacts, facts)


class _Noted(Run):
    """A run that copies the state after some epochs."""

    def __init__(self, *given: Any, after: int | None, kept: dict[str, Tensor]) -> None:
        super().__init__(*given)
        self._after, self._kept = after, kept

    def epoch(self, epoch: int, batches: int) -> float:
        loss = super().epoch(epoch, batches)
        if epoch + 1 == self._after:
            self._kept.update(snapshot(self.model))
        return loss


class _Tuning(Streams):
    """Streams of the second training: its own, but for the one that builds the network, which is the same network."""

    def integer(self, name: str) -> int:
        """Return a stream as one integer; that of "init" is the one that the first stage was built with."""
        path = self.path[:-1] if name == "init" else self.path
        return seeds.integer(self.seed, "model", self.model, *path, name)


def tuning(streams: Streams, name: str = "tuning") -> Streams:
    """Derive the streams of the second training, or of another one of the same network."""
    return _Tuning(streams.seed, streams.model, (*streams.path, name))


def accuracies(model: nn.Module, materials: Materials, recipe: Recipe) -> dict[str, float]:
    """Compute the accuracy of the model that is to be repaired, on each kind of records that there are.

    It is asked in batches as small as those of training, so that this takes no more memory.
    """
    roles = {"members": materials.members, "reference": materials.reference, "validation": materials.validation}
    batch = min(recipe.batch_size, EVALUATION_BATCH)
    return {role: accuracy(model, materials, records, batch) for role, records in roles.items() if len(records)}
