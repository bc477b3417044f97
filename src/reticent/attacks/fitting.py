"""The one place where an attack fits a network: on what references say, never on a target (`cross_fitting`).

Torch is loaded when something is fitted, not when this is imported. What is fitted is a function of the problem and the
seed alone: it is fitted in the one state of torch (`torch_state.fixed`) from a stream of its own, in float32, and asked
in float64, so that no score depends on what is asked along with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from reticent.attacks.base import Needs, Problem, Rows
from reticent.attacks.cross_fitting import GROUPS, HELD, Pairs, folds, groups, held, own_records, pairs, words
from reticent.attacks.hashed_draws import Words
from reticent.data.membership import divided
from reticent.errors import TooFewReferencesError
from reticent.signals.matrix import Floats
from reticent.signals.probes import Probe
from reticent.spec import Spec

if TYPE_CHECKING:
    from torch import Tensor, nn

    from reticent.training.streams import Streams

ROWS = 20_000
"""Rows that are learned from, unless the options say otherwise."""
PASSES = 20
"""Most passes over the rows of a schedule of steps: few rows teach no more than that."""
ASKED = 256
"""Records that a network is asked about at once."""


@dataclass(frozen=True)
class Schedule:
    """How a network is fitted.

    Attributes:
        optimizer: which.
        rate: learning rate, multiplied by 0.1 when each of the `milestones` (parts of the steps) has passed.
        batch: rows a step; all of them where there are fewer.
        epochs: passes over the rows, or
        steps: steps, at most `PASSES` over the rows, where they are given.
        looks: how often the loss on rows held out is looked at; what is kept is as it was at the least. 0 keeps the
            last state, and holds nothing out.
        momentum: of "sgd".
        weight_decay: in the gradient.
        milestones: see `rate`.
    """

    optimizer: Literal["adam", "sgd"]
    rate: float
    batch: int
    epochs: int = 0
    steps: int | None = None
    looks: int = 0
    momentum: float = 0.0
    weight_decay: float = 0.0
    milestones: tuple[float, ...] = ()


MIA_PRUNE = Schedule("sgd", 1e-3, 128, epochs=100, momentum=0.9, weight_decay=5e-4, milestones=(0.5, 0.75))
"""Of Yuan and Zhang (2022), as released; WeMem's is the same."""


class Fitted(Spec):
    """Options of every attack that fits a network on references."""

    schedule: Literal["bounded", "published"] = "bounded"
    """bounded: Adam for `steps` steps, of which the best is kept by the loss on records held out; published: the
    paper's own optimizer and epochs, on all rows, last state kept, which may take hours."""
    steps: Annotated[int, Ge(1)] = 1000
    """Most steps of the bounded schedule, which passes over the rows 20 times at most."""
    rows: Annotated[int, Ge(10)] | None = None
    """Most answers of references to learn from, half of members; drawn. [20,000, or all if published]"""
    references: Annotated[int, Ge(1)] | None = None
    """How many references are learned from for each target. [all]"""
    folds: Annotated[int, Ge(2)] = 2
    """Parts of the records, each scored by a network fitted on the others."""
    groups: Annotated[int, Ge(2)] = GROUPS
    """Targets whose numbers are equal modulo this share one fit, in which none of them is a reference."""


class Answers(NamedTuple):
    """What models say of records, one row each.

    Attributes:
        probabilities: ``(n, C)``.
        labels: ``(n,)``.
        probed: what they say to a probe ``(n, K)``; of no column without one.
    """

    probabilities: Floats
    labels: NDArray[np.int64]
    probed: Floats

    @property
    def labelled(self) -> Floats:
        """Ones in the labels' columns ``(n, C)``, zeros elsewhere."""
        return np.eye(self.probabilities.shape[1])[self.labels]


def top_three(probabilities: Floats) -> Floats:
    """Sort out the three largest probabilities ``(n, 3)``, largest first; a zero where there are two classes."""
    found = -np.sort(-probabilities, axis=1)[:, :3]
    return np.pad(found, ((0, 0), (0, 3 - found.shape[1])))


Features = tuple[NDArray[np.float64] | NDArray[np.int64], ...]
"""What a network is given of n answers: arrays of n rows."""
Loss = Callable[["Tensor", "Tensor"], "Tensor"]
"""From what a network says ``(n,)`` and the truth ``(n,)`` to a mean."""


class Design(NamedTuple):
    """What an attack that fits a network is made of.

    Attributes:
        features: what the network is given of answers.
        build: makes the network, whose ``forward(*features)`` says log-odds of membership ``(n,)``, from the number of
            classes; global generators of torch are seeded.
        published: the paper's schedule.
        bounded: how the bounded schedule differs: rate and batch.
        loss: by default the cross-entropy.
        probe: what `Answers.probed` is.
        own: a target's network is fitted on its own other records, in place of references.
    """

    features: Callable[[Answers], Features]
    build: Callable[[int], "nn.Module"]
    published: Schedule
    rate: float = 1e-3
    batch: int = 128
    loss: Loss | None = None
    probe: Probe | None = None
    own: bool = False

    def schedule(self, spec: Fitted) -> Schedule:
        """Take the schedule that the options ask for."""
        if spec.schedule == "published":
            return self.published
        return Schedule("adam", self.rate, self.batch, steps=spec.steps, looks=10)


def needs(spec: Fitted, *probes: Probe) -> Needs:
    """Say which references a network is fitted on, and what models are asked."""
    return Needs(references=spec.references or 1, probes=probes)


def score(spec: Fitted, problem: Problem, rng: np.random.Generator, design: Design) -> Floats:
    """Score each record by the log-odds of membership that a network fitted on references says.

    In nats; refused where references hold no member and non-member of one record, or of one label. Cost: a fit for each
    group of targets and fold, at most `groups` times `folds` where references are many. Memory: the rows that are
    learned from, and the answers of one model.
    """
    from reticent.torch_state import fixed
    from reticent.training.streams import Streams

    word, scores = words(problem, rng), np.empty(problem.shape)
    seed, place = int(rng.integers(2**53)), {int(target): row for row, target in enumerate(problem.targets)}
    fold = folds(word, spec.folds)
    teaching = problem.references[divided(problem.inside)]
    learned = groups(replace(problem, references=teaching), spec.groups, spec.references)
    with fixed():
        for group in own_records(problem) if design.own else learned:
            for part in range(spec.folds):
                streams = Streams(seed, 0, (*group.name, part))
                network = _fitted(spec, problem, group.references, fold != part, word, streams, design)
                asked = np.flatnonzero(fold == part)
                for target in group.targets:
                    said = answers(problem, np.full(len(asked), target), asked, design.probe)
                    scores[place[int(target)], asked] = ask(network, design.features(said))
    return scores


def _fitted(
    spec: Fitted,
    problem: Problem,
    references: Rows,
    chosen: NDArray[np.bool_],
    word: Words,
    streams: "Streams",
    design: Design,
) -> "nn.Module":
    """Fit a network on what references say of the chosen records ``(N,)``."""
    from torch import as_tensor

    schedule = design.schedule(spec)
    most = spec.rows or (None if spec.schedule == "published" else ROWS)
    kept = held(word, spec.folds) & bool(schedule.looks)
    rows = pairs(problem, references, np.flatnonzero(chosen & ~kept), word, most)
    if len(rows.models) == 0:
        raise TooFewReferencesError(
            f"{spec.method}: expected references of which one was trained on a record, or on another of its label, and "
            f"one was not, got none among {len(references)}: train more models, on random halves of the records"
        )
    other = pairs(problem, references, np.flatnonzero(chosen & kept), word, most and max(2, most // (HELD - 1)))

    def given(drawn: Pairs) -> "tuple[tuple[Tensor, ...], Tensor]":
        found = design.features(answers(problem, drawn.models, drawn.records, design.probe))
        told = tuple(as_tensor(one.astype(np.float32) if one.dtype.kind == "f" else one) for one in found)
        return told, as_tensor(drawn.members.astype(np.float32))

    with streams.lent("fit"):
        network = design.build(problem.signals.classes)
        fit(network, *given(rows), design.loss or cross_entropy, schedule, given(other) if len(other.models) else None)
    return network


def answers(problem: Problem, models: Rows, records: Rows, probe: Probe | None = None) -> Answers:
    """Read what models ``(n,)`` say of records ``(n,)``, in order. Cost: one pass over the blocks with such records."""
    signals = problem.signals
    assert signals.logits is not None
    told = None if probe is None else problem.probed[probe]
    result = np.empty((len(models), signals.classes))
    probed = np.empty((len(models), 0 if told is None else told.shape[2]))
    for block in signals.blocks(signals.classes + probed.shape[1]):
        here = np.flatnonzero((records >= block.start) & (records < block.stop))
        if len(here):
            rows, place = np.unique(models[here], return_inverse=True)
            found = np.asarray(signals.logits[rows, block])[place, records[here] - block.start]
            odds = np.exp(found.astype(np.float64) - found.max(axis=1, keepdims=True))
            result[here] = odds / odds.sum(axis=1, keepdims=True)
            if told is not None:
                probed[here] = np.asarray(told[rows, block])[place, records[here] - block.start]
    return Answers(result, signals.labels[records], probed)


def fit(
    network: "nn.Module",
    inputs: "tuple[Tensor, ...]",
    truth: "Tensor",
    loss: Loss,
    schedule: Schedule,
    other: "tuple[tuple[Tensor, ...], Tensor] | None" = None,
) -> None:
    """Fit a network in place; for any attack, whatever it is that is told of a row.

    It is given the tensors of a batch of n rows, and ends in eval mode; `truth` is what it is to say ``(n, ...)``,
    `other` the same of rows held out, for a schedule that looks. Draws from torch's global generator, which the caller
    has seeded (`Streams.lent`, within `torch_state.fixed`).
    """
    import torch

    from reticent.training.optim import Adam, Sgd

    parameters = list(network.parameters())
    optimizer = (
        Adam(parameters, schedule.rate, schedule.weight_decay)
        if schedule.optimizer == "adam"
        else Sgd(parameters, schedule.rate, schedule.weight_decay, schedule.momentum, nesterov=False)
    )
    count, batch = len(truth), min(schedule.batch, len(truth))
    steps = count // batch * schedule.epochs
    if schedule.steps is not None:
        steps = min(schedule.steps, PASSES * (count // batch))
    looks = {-(-steps * one // schedule.looks) for one in range(1, schedule.looks + 1)} if other is not None else set()
    best, kept, order = float("inf"), None, torch.randperm(count)
    network.train()
    for step in range(steps):
        at = step % (count // batch)
        order = torch.randperm(count) if at == 0 and step else order
        chosen = order[at * batch : (at + 1) * batch]
        optimizer.rate = schedule.rate * 0.1 ** sum(step >= part * steps for part in schedule.milestones)
        optimizer.zero_grad()
        loss(network(*(one[chosen] for one in inputs)), truth[chosen]).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if step + 1 in looks and other is not None:
            with torch.no_grad():
                found = float(loss(network.eval()(*other[0]), other[1]))
            network.train()
            if found < best:
                best, kept = found, {name: value.clone() for name, value in network.state_dict().items()}
    if kept is not None:
        network.load_state_dict(kept)
    network.eval()


def ask(network: "nn.Module", inputs: Features) -> Floats:
    """Ask a network that was fitted, in float64, so many rows at a time that what is asked along changes no bit."""
    import torch

    network.double()
    blocks = (slice(start, start + ASKED) for start in range(0, len(inputs[0]), ASKED))
    with torch.no_grad():
        said = [network(*(torch.as_tensor(one[block]) for one in inputs)).numpy() for block in blocks]
    return np.concatenate(said) if said else np.zeros(0)


def cross_entropy(said: "Tensor", truth: "Tensor") -> "Tensor":
    """Compute the cross-entropy of two outputs from their difference, the log-odds."""
    from torch.nn import functional

    return functional.binary_cross_entropy_with_logits(said, truth)
