"""MIST: copies that train apart on parts of the members, learn to agree on them, and are averaged, round after round.

Paper: Li et al. (2024), "MIST: defending against membership inference attacks through membership-invariant subspace
training", USENIX Security. The authors' settings for images and their code were not found: the defaults are those of an
unofficial port to text. Judgements: the other copies of the second phase are those that the first phase ended with; a
copy's optimizer serves both phases of a round and starts anew in each round; one part is plain training.
"""

import math
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import torch
from annotated_types import Ge, Le
from torch import Tensor, nn

from reticent.errors import SpecError, about
from reticent.findings.training import MistFacts, ProcedureFacts
from reticent.objectives import OBJECTIVES
from reticent.procedures import plain
from reticent.procedures.base import Trained, fresh, gathered, objective, own, snapshot
from reticent.procedures.costs import Short, cut, epochs
from reticent.procedures.mist.copies import Copy, average, divisible, partition
from reticent.spec import Spec
from reticent.training.loop import History, check_recipe, validation_loss
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.run import planned
from reticent.training.streams import Streams

SHORT = 5
"""Local epochs of a round that is measured, at most."""


class Mist(Spec):
    """Options of MIST."""

    method: ClassVar[str] = "mist"

    parts: Annotated[int, Ge(1), Le(10_000)] = 3
    """Parts that the members are divided into, anew in each round; each has a copy of the network (the paper's k)."""
    local_epochs: Annotated[int, Ge(1)] = 5
    """Epochs that a copy trains on its part in a round; the recipe's epochs are those of all rounds together."""
    cross_epochs: Annotated[int, Ge(0)] = 2
    """Epochs that a copy then learns in to agree with the others on its part."""
    weight: Annotated[float, Ge(0)] = 0.1
    """What the disagreement is multiplied by; at zero there is no second phase."""


def check(recipe: Recipe) -> None:
    """Refuse what has no meaning, before anything is trained."""
    spec, method = own(recipe, Mist), recipe.objective.method
    if spec.parts > 1 and objective(recipe).then() is not None:
        raise SpecError(
            f"{method} cannot be trained with mist: it tunes a network after its training, and the copies of a round "
            f"are averaged instead: use {method}:form=renormalised, or another objective"
        )
    if spec.parts > 1 and spec.local_epochs == 1 and OBJECTIVES[method].between_epochs:
        raise SpecError(
            f"mist: local_epochs: expected at least 2 with {method}, got 1: what {method} adds comes between two "
            "epochs of a copy, so none of it would be trained; give more local_epochs, or use another objective"
        )


def check_members(recipe: Recipe, members: int) -> None:
    """Refuse more parts than the members can be divided into."""
    parts = own(recipe, Mist).parts
    if parts > 1:
        divisible(members, parts)


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train copies apart, make them agree, average them, and begin again from the average.

    There are ``ceil(epochs / local_epochs)`` rounds; the last one is shorter where the division leaves a rest. The
    learning-rate schedule goes on over the rounds by the epochs of the first phase. Early stopping looks at the
    averaged network, at the end of each round.

    Cost: ``1 + (cross_epochs / local_epochs) (1 + (parts - 1) / 3)`` times plain training; `parts` copies, their
        optimizers and `parts` frozen copies in memory.
    """
    spec = own(recipe, Mist)
    if spec.parts == 1:
        return plain.train(recipe, materials, streams)
    given = materials.prepare.input
    check_recipe(recipe, given.kind, given.shape, len(materials.validation))
    model = fresh(recipe, materials, streams)
    initial = snapshot(model)
    rounds = _Rounds(model, recipe, spec, materials, streams)
    rounds.train()
    model.eval()
    mist = MistFacts(
        rounds=len(rounds.disagreement), disagreement=tuple(rounds.disagreement), validation=tuple(rounds.validation)
    )
    said = (
        *_small(len(materials.members), spec.parts, materials.classes),
        *gathered(rounds.notices, "copies of all rounds"),
    )
    return Trained(model, initial, rounds.history, facts=ProcedureFacts(mist=mist, notices=said))


def _small(members: int, parts: int, classes: int) -> list[str]:
    """Say where a part is too small to hold all classes."""
    if members // parts >= classes:
        return []
    return [  # Without counts of records, which differ from model to model: told once for all of them.
        f"With {parts} parts of the members, a part has fewer records than there are classes ({classes}): a copy "
        "cannot learn from it what the others know; give fewer parts, or more members."
    ]


def short(recipe: Recipe) -> Short:
    """Shorten a training to one round, and a long round in proportion."""
    spec = own(recipe, Mist)
    local = min(recipe.epochs, spec.local_epochs, SHORT)
    cross = math.ceil(spec.cross_epochs * local / min(recipe.epochs, spec.local_epochs))
    one = spec.replace(local_epochs=local, cross_epochs=cross)
    return Short(cut(recipe.replace(procedure=one), local), rest=epochs(recipe) / local)


@dataclass(eq=False)
class _Rounds:
    """The rounds of one model.

    Attributes:
        history: of the first phase's epochs.
        disagreement: mean over copies in the last epoch of each round's second phase; None without one.
        validation: loss of each round's average, where early stopping asks for it.
        notices: of each copy's objective that trained, round by round.
    """

    model: nn.Module
    recipe: Recipe
    spec: Mist
    materials: Materials
    streams: Streams
    history: History = field(default_factory=History)
    disagreement: list[float | None] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    notices: list[list[str]] = field(default_factory=list)

    def train(self) -> None:
        """Go through the rounds, and leave the model with the state that is kept."""
        recipe, history = self.recipe, self.history
        local, drawn = self.spec.local_epochs, self.streams.generator("partition")
        best: dict[str, Tensor] | None = None
        for number in range(math.ceil((recipe.stop_after or recipe.epochs) / local)):
            self._round(number, drawn)
            if recipe.patience is None:
                history.kept = len(history.loss) - 1
                continue
            loss = validation_loss(self.model, self.materials)
            if loss < min(self.validation, default=math.inf):
                best, history.kept = deepcopy(self.model.state_dict()), len(history.loss) - 1
            self.validation.append(loss)
            if len(history.loss) - 1 - history.kept >= recipe.patience:
                break
        if best is not None:
            self.model.load_state_dict(best)

    def _round(self, number: int, drawn: torch.Generator) -> None:
        """Train the copies on parts drawn anew, make them agree, and average them."""
        spec, streams = self.spec, self.streams
        parts = partition(len(self.materials.members), spec.parts, drawn)
        copies, losses = [], []
        for part, rows in enumerate(parts):
            drawing = streams.child("round", number, "part", part)
            with about(f"round {number + 1}, part {part + 1}"), drawing.lent("dropout"):
                copy, lost = self._local(number, rows, drawing)
            copies.append(copy)
            losses.append(lost)
            if lost:
                self.notices.append(copy.objective.notices())
        if not any(losses):
            return
        for epoch in range(max(map(len, losses))):
            given = [(len(rows), lost[epoch]) for rows, lost in zip(parts, losses, strict=True) if len(lost) > epoch]
            self.history.loss.append(sum(n * loss for n, loss in given) / sum(n for n, _ in given))
        self.disagreement.append(self._cross(number, copies) if spec.weight and spec.cross_epochs else None)
        self.model.load_state_dict(average([copy.model.state_dict() for copy in copies]))
        for copy in copies:
            copy.let_go()

    def _local(self, number: int, rows: Tensor, streams: Streams) -> tuple[Copy, list[float]]:
        """Train one copy on its part."""
        recipe, materials, first = self.recipe, self.materials, number * self.spec.local_epochs
        epochs = min(self.spec.local_epochs, recipe.epochs - first)
        share = replace(materials, members=materials.members.take(rows), watched=None)
        run = Copy(deepcopy(self.model), recipe, share, objective(recipe), streams, done=first, epochs=epochs)
        plan = planned(recipe, run.steps)[first : first + epochs]
        return run, [run.epoch(epoch, batches) for epoch, batches in enumerate(plan)]

    def _cross(self, number: int, copies: list[Copy]) -> float:
        """Let every copy learn from the others as the first phase left them."""
        frozen = [deepcopy(copy.model).eval().requires_grad_(False) for copy in copies]
        total = 0.0
        for part, copy in enumerate(copies):
            others = frozen[:part] + frozen[part + 1 :]
            with about(f"round {number + 1}, part {part + 1}"), copy.streams.lent("cross-dropout"):
                for _ in range(self.spec.cross_epochs):
                    last = copy.agree(others, self.spec.weight)
            total += last
        return total / len(copies)
