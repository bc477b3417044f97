"""Networks of one kind, trained as one batched computation.

Each network stays a module of its own, with its own run: batches, objective, optimizer, statistics and random streams.
Its parameters and buffers lie in one tensor with those of the others while it trains, so that one forward and one
backward pass serve all. What every run does alike (batches of records as they are stored, losses of single records, a
kernel's step) is done of all at once; what one does in its own way (augmentation, hooks of an objective, clipping) is
done run by run. Products of stacks of two and more networks have bits that do not depend on which others are among
them; one alone is computed beside itself, to have them too.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from reticent.errors import ReticentError
from reticent.objectives.base import Batch, Examples, named_inplace_errors
from reticent.training.optim import by_rows, step_together
from reticent.training.run import Run
from reticent.training.stacked_network import StackedNetwork

Drawn = tuple[Tensor, list[int], list[float]]
"""What a run visits in an epoch, as `Run.drawn` gives it."""


class Stack:
    """Runs of networks of one kind, whose gradients are computed together."""

    def __init__(self, runs: Sequence[Run]) -> None:
        first, self._runs = runs[0], list[Run]()
        recipe, materials, prepare = first.recipe, first.materials, first.materials.prepare
        self._network = StackedNetwork(first.model, materials.classes)
        self._pads = not self._network.finds_mixing(prepare(materials.members.first(4).x))
        self._terms = first.objective.terms
        alike = self._terms is not None
        self._given_at_once = alike and prepare.as_stored and recipe.augmentation == "none"
        self._moved_at_once = alike and first.optimizer.fused and recipe.clip_norm is None
        self._x, self._y = materials.members.table
        assert all(run.materials.members.table[0] is self._x for run in runs), "a stack gathers from one table"
        self._generators = {
            run: torch.Generator(device=prepare.device).manual_seed(run.streams.integer("dropout")) for run in runs
        }

    def hold(self, runs: Sequence[Run]) -> None:
        """Train these from now on: bring their states together, where they are not."""
        if self._runs == runs:
            return
        self.let_go()
        self._runs = list(runs)
        models = [run.model for run in runs]
        self._parts = {name: [one.get_parameter(name) for one in models] for name, _ in models[0].named_parameters()}
        buffers = {name: [one.get_buffer(name) for one in models] for name, _ in models[0].named_buffers()}
        self._buffers = {name: _brought_together(each) for name, each in buffers.items()}
        self._parameters = {name: _brought_together(each) for name, each in self._parts.items()}
        for name, stacked in self._parameters.items():
            stacked.requires_grad_(self._parts[name][0].requires_grad)
        self._trained = [name for name, stacked in self._parameters.items() if stacked.requires_grad]
        self._rows = {run: [by_rows(parameter.detach()) for parameter in run.parameters] for run in runs}

    def let_go(self) -> None:
        """Give each network a state of its own again."""
        for run in self._runs:
            for tensor in (*run.model.parameters(), *run.model.buffers()):
                tensor.data = tensor.data.clone()
        self._runs = []

    def epoch(self, plans: Sequence[tuple[int, int]]) -> list[float | ReticentError]:
        """Visit the batches of one epoch of each run, planned as for `Run.drawn`: the mean loss, or why it failed.

        Each network sees its own batches in its own order. Smaller ones, such as the last of an epoch, are filled up
        with records that no loss looks at; where the network mixes the records of a batch, equal ones are taken
        together.
        """
        drawn = [run.drawn(*plan) for run, plan in zip(self._runs, plans, strict=True)]
        least = self._runs[0].recipe.batch_size if self._pads else 0
        epochs = [epoch for epoch, _ in plans]
        batches = _Batches([run.materials.members for run in self._runs], drawn, epochs, least)
        visited, found = list[int](), list[Tensor]()
        for turn in range(batches.turns):
            for size, rows in batches.taken(turn).items():
                visited += rows
                found.append(self._take(batches, turn, size, rows))
        losses = [list[float]() for _ in drawn]
        for k, loss in zip(visited, torch.cat(found).tolist() if found else (), strict=True):
            losses[k].append(loss)
        known = zip(self._runs, epochs, drawn, losses, strict=True)
        return [_mean(run, epoch, sizes, each) for run, epoch, (_, sizes, _), each in known]

    def _take(self, batches: "_Batches", turn: int, size: int, rows: list[int]) -> Tensor:
        """Take one step of some of the runs, on batches that are filled up to one size: the losses of each."""
        runs = [self._runs[k] for k in rows]
        everyone = len(rows) == len(self._runs) > 1
        at = slice(None) if everyone else torch.tensor(_pair(rows), device=self._y.device)
        places, weights = batches.places[at, turn, :size], batches.weights[at, turn, :size]
        x, y = (t.index_select(0, places.reshape(-1)).view(*places.shape, *t.shape[1:]) for t in (self._x, self._y))
        for k, run in zip(rows, runs, strict=True):
            run.turn_to(batches.decays[k][turn])
            run.set_rate()
            if not self._moved_at_once:
                run.optimizer.zero_grad()
        own = [] if self._given_at_once else [batches.own(k, turn, labels) for k, labels in zip(rows, y, strict=False)]
        if own:
            given = [run.given(each[: len(y)], y, batch) for run, each, (y, batch) in zip(runs, x, own, strict=False)]
            x = torch.stack(_pair([_filled(one, size) for one in given]))
        parameters = {
            name: stacked if everyone else stacked.detach()[at].requires_grad_(stacked.requires_grad)
            for name, stacked in self._parameters.items()
        }
        buffers = {name: value[at] for name, value in self._buffers.items()}
        with runs[0].cast():
            logits = self._network.ask(parameters | buffers, x, [self._generators[run] for run in runs])
        if self._terms is not None:
            losses = (self._terms(logits.flatten(0, 1), y.flatten()).view(weights.shape) * weights).sum(dim=1)
        else:
            each = zip(runs, logits.unbind(), own, strict=False)
            losses = torch.stack([run.objective(z[: len(y)], y, batch) for run, z, (y, batch) in each])
        with named_inplace_errors():
            losses.sum().backward()  # type: ignore[no-untyped-call]
        self._move(runs, [parameters[name] for name in self._trained])
        if not everyone:
            for name, value in buffers.items():
                self._buffers[name][rows] = value[: len(rows)]
        for run in runs:
            run.step += 1
        return losses.detach()[: len(rows)]

    def _move(self, runs: list[Run], leaves: list[Tensor]) -> None:
        """Take a step of each optimizer by the gradients of what is trained."""
        gradients = list[Sequence[Tensor | None]]()
        for leaf in leaves:
            given = leaf.grad
            if given is not None and self._moved_at_once and given.dim() == 3 and not given[0].is_contiguous():
                given = given.mT
            gradients.append([None] * len(runs) if given is None else given.unbind()[: len(runs)])
            leaf.grad = None
        each = list(zip(*gradients, strict=True))
        if self._moved_at_once:
            step_together([run.optimizer for run in runs], [self._rows[run] for run in runs], each)
            return
        for run, its in zip(runs, each, strict=True):
            for parameter, gradient in zip(run.parameters, its, strict=True):
                if gradient is not None:
                    parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)
            run.move()


def _brought_together(each: Sequence[Tensor]) -> Tensor:
    """Put tensors of one shape and layout into one ``(K, ...)``, of which they are parts from now on."""
    first = each[0]
    order = sorted(range(first.dim()), key=first.stride, reverse=True)
    stacked = torch.stack([tensor.detach().permute(order) for tensor in each])
    stacked = stacked.permute(0, *(1 + order.index(axis) for axis in range(first.dim())))
    for tensor, part in zip(each, stacked.unbind(), strict=True):
        tensor.data = part
    return stacked


class _Batches:
    """The batches of one epoch of K runs, filled up to one width, T turns at most.

    Attributes:
        turns: T.
        rows: of each run's members ``(K, T, width)``; what fills a batch up is its first record.
        places: the same as rows of the table that the members are of.
        weights: of the records' losses in the loss of their step ``(K, T, width)``, zero for what fills up.
        decays: weight decays, for each run one a batch.
    """

    def __init__(self, members: Sequence[Examples], drawn: Sequence[Drawn], epochs: Sequence[int], least: int) -> None:
        self._epochs, self._least = epochs, least
        self._sizes, self.decays = [sizes for _, sizes, _ in drawn], [decays for _, _, decays in drawn]
        self.turns = max(map(len, self._sizes))
        shape = len(drawn), self.turns, max([least, *(size for sizes in self._sizes for size in sizes)])
        device = drawn[0][0].device
        self.rows = torch.zeros(shape, dtype=torch.int64, device=device)
        self.weights = torch.zeros(shape, device=device)
        along = torch.arange(shape[2], device=device)
        for k, (ids, sizes, _) in enumerate(drawn):
            counts = torch.tensor(sizes, dtype=torch.int64, device=device)[:, None]
            inside = along < counts
            self.rows[k, : len(sizes)] = ids[counts.cumsum(0) - counts + along * inside]
            self.weights[k, : len(sizes)] = inside / counts
        each = zip(self.rows, members, strict=True)
        self.places = torch.stack([rows if own.rows is None else own.rows[rows] for rows, own in each])

    def taken(self, turn: int) -> dict[int, list[int]]:
        """Tell which runs have a batch at a turn, by the size that these are filled up to."""
        found = dict[int, list[int]]()
        for k, sizes in enumerate(self._sizes):
            if turn < len(sizes):
                found.setdefault(max(self._least, sizes[turn]), []).append(k)
        return found

    def own(self, k: int, turn: int, labels: Tensor) -> tuple[Tensor, Batch]:
        """Give the labels of a run's batch without what fills it up, and which members they are of."""
        size = self._sizes[k][turn]
        return labels[:size], Batch(self.rows[k, turn, :size], self._epochs[k])


def laid_out(network: nn.Module) -> nn.Module:
    """Keep the weights of linear layers column by column, as the gradients of a stack come; before optimizers are made.

    Else each gradient of a stack would be transposed, which takes as long as computing it.
    """
    for part in network.modules():
        if isinstance(part, nn.Linear):
            part.weight.data = part.weight.data.t().contiguous().t()
    return network


def _filled(x: Tensor, size: int) -> Tensor:
    return x if len(x) == size else torch.cat([x, x[:1].expand(size - len(x), *x.shape[1:])])


def _pair(each: list[Any]) -> list[Any]:
    """Put a single one beside itself."""
    return each * 2 if len(each) == 1 else each


def _mean(run: Run, epoch: int, sizes: list[int], losses: list[float]) -> float | ReticentError:
    try:
        return run.mean(epoch, sizes, losses)
    except ReticentError as error:
        return error
