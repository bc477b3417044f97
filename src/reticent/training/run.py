"""One run of the loop: batches, steps and updates; a procedure that takes them in another way overrides a method."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from reticent.errors import TrainingDivergedError
from reticent.objectives.base import Batch, Context, Objective, named_inplace_errors
from reticent.samplers import SAMPLERS
from reticent.samplers.base import Known
from reticent.spec import canonical
from reticent.training import optim
from reticent.training.materials import Materials, forward
from reticent.training.optim import Adam
from reticent.training.recipe import Recipe
from reticent.training.start import Frozen
from reticent.training.streams import Streams


class Run:
    """The state of one call of `fit`.

    Attributes:
        steps: how many steps a whole epoch has.
        done: how many epochs of the schedule lie before it.
        groups: what each epoch visits.
        visited: booleans by member: a step was taken on it.
    """

    def __init__(
        self, model: nn.Module, recipe: Recipe, materials: Materials, objective: Objective, streams: Streams
    ) -> None:
        self.model, self.recipe, self.materials, self.objective = model, recipe, materials, objective
        self.streams = streams
        self.frozen = Frozen(model, materials.start)
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = optim.optimizer(recipe, self.parameters)
        self._optimizers = {recipe.weight_decay: self.optimizer}
        self.groups = SAMPLERS[recipe.sampler.method].build(recipe.sampler, self._known())
        self.visited = torch.zeros(len(materials.members), dtype=torch.bool)
        self.order, self.noise = streams.generator("order"), streams.generator("augmentation")
        self.steps = self.steps_an_epoch()
        self.done = 0.0 if materials.start is None else materials.start.epochs
        self.step = sum(_visited(self.done, self.steps)) if self.done else 0
        device = materials.prepare.device.type
        self.cast: Callable[[], AbstractContextManager[object]] = (
            (lambda: torch.autocast(device, dtype=torch.bfloat16)) if recipe.precision == "bfloat16" else nullcontext
        )
        objective.begin(self._context())

    def _known(self) -> Known:
        materials, recipe = self.materials, self.recipe
        scores = None if materials.memorisation is None else materials.memorisation.scores
        return Known(materials.members.y.cpu(), recipe.epochs, recipe.weight_decay, scores)

    def _context(self) -> Context:
        recipe, materials = self.recipe, self.materials
        return Context(
            model=self.model,
            classes=materials.classes,
            epochs=recipe.epochs,
            batch_size=recipe.batch_size,
            members=materials.members,
            reference=materials.reference,
            device=materials.prepare.device,
            ask=self.ask,
            update=self.update,
            generator=lambda name: self.streams.generator(f"objective/{name}"),
            rate=lambda: self.optimizer.rate,
            augment=lambda x, noise: materials.prepare.augmented(x, recipe, noise),
            adam=Adam,
            trains=self.frozen.trains,
        )

    def ask(self, x: Tensor) -> Tensor:
        """Ask the model about stored records, in the mode that it is in."""
        return self._logits(self.materials.prepare(x))

    def _logits(self, x: Tensor) -> Tensor:
        with self.cast():
            return forward(self.model, x, self.materials.classes).float()

    def training_mode(self) -> None:
        """Put the network into training mode, but for modules that stay as they are."""
        self.model.train()
        self.frozen.quiet()

    def steps_an_epoch(self) -> int:
        """Return how many steps a whole epoch has."""
        return len(batch_sizes(len(self.materials.members), self.recipe.batch_size))

    def sample(self, epoch: int) -> tuple[Tensor, list[int], list[float]]:
        """Draw which records an epoch visits, in which order: their rows, the batches' sizes and weight decays."""
        order, sizes, decays = list[Tensor](), list[int](), list[float]()
        for group in self.groups(epoch):
            parts = batch_sizes(len(group.rows), self.recipe.batch_size)
            order.append(group.rows[torch.randperm(len(group.rows), generator=self.order)])
            sizes += parts
            decays += [group.weight_decay] * len(parts)
        return torch.cat(order), sizes, decays

    def epoch(self, epoch: int, batches: int) -> float:
        """Visit the batches of one epoch, or the first of them, and return the mean loss."""
        losses = list[Tensor]()
        order, sizes, decays = self.drawn(epoch, batches)
        drawn = self.materials.members.take(order)
        parts = (torch.split(t, sizes) for t in (drawn.x, drawn.y, order))
        for x, y, ids, decay in zip(*parts, decays, strict=True):
            self.turn_to(decay)
            losses.append(self.take(x, y, Batch(ids, epoch)))
        return self.mean(epoch, sizes, torch.stack(losses).tolist() if losses else ())

    def drawn(self, epoch: int, batches: int) -> tuple[Tensor, list[int], list[float]]:
        """Begin an epoch, and draw the batches that it visits: so many of a whole one's, in proportion.

        Rows of members, one batch after the other; the batches' sizes and weight decays. The schedule goes on by whole
        epochs, however few records one visits.
        """
        self.objective.start_epoch(epoch)
        self.training_mode()
        drawn, sizes, decays = self.sample(epoch)
        taken = math.ceil(batches * len(sizes) / self.steps)
        self._skipped = self.steps - len(sizes)
        drawn, sizes, decays = drawn[: sum(sizes[:taken])], sizes[:taken], decays[:taken]
        self.visited[drawn] = True
        return drawn.to(self.materials.members.y.device), sizes, decays

    def mean(self, epoch: int, sizes: Sequence[int], losses: Sequence[float]) -> float:
        """End an epoch of batches of such sizes and mean losses: the mean loss of its records."""
        self.step += self._skipped
        self.objective.end_epoch(epoch)
        loss = 0.0
        for size, each in zip(sizes, losses, strict=True):
            loss += each * size
        loss /= max(1, sum(sizes))
        if not math.isfinite(loss):
            raise TrainingDivergedError(
                f"the training loss became {loss} in epoch {epoch + 1} of {self.recipe.epochs}: "
                f"lower the learning rate ({self.recipe.learning_rate:g}), warm it up, or clip the gradient (clip_norm)"
                f"{_weights(self.recipe)}"
            )
        return loss

    def turn_to(self, decay: float) -> None:
        """Choose the optimizer of a step: each weight decay has one, with a state of its own."""
        if decay not in self._optimizers:
            self._optimizers[decay] = optim.optimizer(self.recipe.replace(weight_decay=decay), self.parameters)
        self.optimizer = self._optimizers[decay]

    def take(self, x: Tensor, y: Tensor, batch: Batch) -> Tensor:
        """Take one step."""
        loss = self.objective(self._logits(self.given(x, y, batch)), y, batch)
        self.update(loss)
        self.step += 1
        return loss.detach()

    def given(self, x: Tensor, y: Tensor, batch: Batch) -> Tensor:
        """Draw what the network is given in a step, and set the learning rate."""
        recipe, prepare = self.recipe, self.materials.prepare
        x = prepare.augmented(x, recipe, self.noise)
        self.set_rate()
        return self.objective.inputs(prepare(x), y, batch)

    def set_rate(self) -> None:
        """Set the learning rate of the next step."""
        self.optimizer.rate = self.recipe.learning_rate * optim.factor(self.recipe, self.step, self.steps)

    def let_go(self) -> None:
        """Drop gradients, and cut the ring with the objective, which else keeps the optimizer until it is collected."""
        self.optimizer.zero_grad()
        vars(self.objective).pop("context", None)

    def update(self, loss: Tensor) -> None:
        """Take the gradients of a loss, and move the parameters by them."""
        self.optimizer.zero_grad()
        with named_inplace_errors():
            loss.backward()  # type: ignore[no-untyped-call]
        self.move()

    def move(self) -> None:
        """Move the parameters by the gradients that they have: one step of the optimizer."""
        self.objective.graded()
        self.frozen.mask()
        if self.recipe.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.parameters, self.recipe.clip_norm)
        self.optimizer.step()
        self.objective.stepped()
        self.frozen.restore()


def _weights(recipe: Recipe) -> str:
    """Name what else may make a loss grow without bounds: what a defense adds to it."""
    told = canonical(recipe.objective)
    name = told.pop("method")
    if name == Recipe().objective.method:
        return ""
    chosen = ", ".join(f"{key}={value}" for key, value in told.items())
    return f"; or {name} adds too much: make its weights smaller" + (f" ({chosen})" if chosen else "")


def planned(recipe: Recipe, batches: int, done: float = 0.0) -> list[int]:
    """Plan how many batches each epoch has: all, but for the last one where training stops in the middle of it.

    Those that are done already are left out: epochs that have none left count as well.
    """
    plan = _visited(recipe.stop_after or recipe.epochs, batches)
    for epoch, before in enumerate(_visited(done, batches) if done else ()):
        plan[epoch] -= before
    return plan


def steps(recipe: Recipe, members: int, epochs: int) -> int:
    """Count the steps of plain training that began so many epochs, a second run's (`Objective.then`) among them."""
    batches = len(batch_sizes(members, recipe.batch_size))
    plan = planned(recipe, batches)[:epochs]
    return sum(plan) + batches * (epochs - len(plan))


def _visited(epochs: float, batches: int) -> list[int]:
    """Tell how many batches of each epoch so many epochs have, one at least."""
    whole = int(epochs)
    rest = round((epochs - whole) * batches)
    return [batches] * whole + [rest] * (rest > 0) or [1]


def batch_sizes(records: int, size: int) -> list[int]:
    """Divide an epoch into batches; a last one of a single record joins the one before, since BatchNorm needs two."""
    sizes = [min(size, records - start) for start in range(0, records, size)]
    if size > 1 and len(sizes) > 1 and sizes[-1] == 1:
        sizes[-2:] = [sizes[-2] + 1]
    return sizes
