"""Iterative magnitude pruning with rewinding: train, prune, go back to early values, train again, round after round.

Papers: Frankle and Carbin (2019), "The lottery ticket hypothesis", ICLR; Frankle et al. (2020), "Linear mode
connectivity and the lottery ticket hypothesis", ICML, for going back to a state after some training; Renda et al.
(2020), ICLR, for going back with the learning rate alone; arXiv 2304.10553 for what it does to members. Round m leaves
``(1 - fraction) ** m`` of the weights, those of the largest absolute values in the whole network. Each round is a run
of the store of its own, which the next one goes on from: no density is trained twice, nor is the undefended model.
Judgements: momentum and orders are drawn anew in each round; statistics of BatchNorm go back with the weights.
"""

from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import torch
from annotated_types import Ge, Gt, Le, Lt
from pydantic import model_validator
from torch import Tensor, nn

from reticent.errors import SpecError, about
from reticent.findings.training import ProcedureFacts
from reticent.procedures import plain
from reticent.procedures.base import Before, State, Trained, give_state, given_state, own, snapshot
from reticent.procedures.basic import BASIC
from reticent.procedures.costs import FIRST, ROUND, SCORING, Costs, Short, cut, epochs, few
from reticent.procedures.sampler_scores import scored
from reticent.procedures.two_stage import tuning
from reticent.sparsify.criteria import scores
from reticent.sparsify.exact import Scope
from reticent.sparsify.masks import MASK, left, masked, of_masks, prunable, pruned, whole
from reticent.spec import Names, Spec
from reticent.training.loop import History, joined
from reticent.training.materials import Materials, untrained
from reticent.training.recipe import Recipe
from reticent.training.run import batch_sizes, planned
from reticent.training.start import Start
from reticent.training.streams import Streams

REWOUND, ROUNDS = "rewound/", "rounds"
"""Names among the artefacts: the values to go back to where these are not the initial ones, and how many rounds were
done."""


class Imp(Spec):
    """Options of iterative magnitude pruning."""

    method: ClassVar[str] = "imp"

    rounds: Annotated[int, Ge(1), Le(100)] = 8
    """How often it is pruned and trained again."""
    at: Annotated[int, Ge(1)] | None = None
    """The round whose model is taken, of these; every round is kept, and what later ones add is trained when it is
    asked for. [the last one]"""
    fraction: Annotated[float, Gt(0), Lt(1)] = 0.2
    """Share of the weights still left that each round prunes."""
    rewind: Annotated[float, Ge(0)] = 0.0
    """Epochs after which the values were that weights go back to, and from which on the schedule is run again: 0 is the
    initial ones (the lottery ticket), 0.5 is in the middle of the first epoch."""
    values: Literal["rewound", "trained"] = "rewound"
    """trained keeps the trained values and takes the schedule back alone (learning-rate rewinding)."""
    criterion: Literal["l1", "random"] = "l1"
    """What stays: the largest absolute values, or random, which is the control."""
    scope: Scope = "global"
    """global prunes the share of all weights together, layer that of each layer."""
    skip: Names = ()
    """Layers that stay whole, by name, with * for any characters: head, or ["head", "layer1.*"]."""

    @model_validator(mode="before")
    @classmethod
    def _one_name_a_round(cls, data: Any) -> Any:
        """Name a round by its number alone, so that it is found whatever rounds were meant to follow."""
        at = data.get("at") if isinstance(data, dict) else None
        rounds = data.get("rounds", cls.model_fields["rounds"].default) if at is not None else None
        if not isinstance(at, int) or not isinstance(rounds, int) or at < 1:
            return data
        if at > rounds:
            raise ValueError(f"at to be one of the {rounds} rounds, got {at}")
        return {**data, "rounds": at, "at": None}


def check(recipe: Recipe) -> None:
    """Refuse to go back to what comes after the training."""
    spec, end = own(recipe, Imp), epochs(recipe)
    if spec.rewind >= end:
        raise SpecError(f"imp: rewind: expected fewer than the {end:g} epochs of the training, got {spec.rewind:g}")


def check_members(recipe: Recipe, members: int) -> None:
    """Refuse to go back to what comes, counted in batches, at the end of the training."""
    rewind, batches = own(recipe, Imp).rewind, len(batch_sizes(members, recipe.batch_size))
    if not any(planned(recipe, batches, rewind)):
        raise SpecError(
            f"imp: rewind: expected a batch of the training to come after it, got {rewind:g} of {epochs(recipe):g} "
            f"epochs, each of {batches}: give a smaller rewind"
        )


def check_network(recipe: Recipe, model: nn.Module, x: Tensor) -> None:
    """Refuse a network of which nothing can be pruned."""
    with about("imp"):
        prunable(model, own(recipe, Imp).skip)


def dense(recipe: Recipe) -> Recipe:
    """Tell the same recipe without pruning."""
    return recipe.replace(procedure=BASIC["plain"].spec())


def goes_on(recipe: Recipe) -> bool:
    """Tell whether the trained values are kept."""
    return own(recipe, Imp).values == "trained"


def first(recipe: Recipe) -> Recipe:
    """Tell the recipe of the round before the last; before the first one it is that without pruning."""
    spec = own(recipe, Imp)
    return recipe.replace(procedure=spec.replace(rounds=spec.rounds - 1)) if spec.rounds > 1 else dense(recipe)


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train, and do all rounds. Cost: one training more than rounds."""
    network, costs = _ready(recipe, materials, streams), Costs(materials.prepare.device)
    materials = scored(recipe, materials, streams, costs)
    with costs.stage(FIRST), about("imp, the first training"):
        made = plain.train(dense(recipe), materials, streams)
    network.load_state_dict(made.model.state_dict())
    return _rounds(network, made.initial, recipe, materials, streams, Before(made.history), costs)


def repair(
    model_state: State,
    initial_state: State,
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
    before: Before | None = None,
) -> Trained:
    """Do the rounds that a model has not been through: all of them, if nothing is known of it."""
    network, costs = _ready(recipe, materials, streams), Costs(materials.prepare.device)
    initial = given_state(network, initial_state, "the initial state")
    give_state(network, model_state, "the trained state")
    del model_state, initial_state
    materials = scored(recipe, materials, streams, costs)
    return _rounds(network, initial, recipe, materials, streams, before, costs)


def _ready(recipe: Recipe, materials: Materials, streams: Streams) -> nn.Module:
    """Build the network, and refuse before any training what would be refused later."""
    check(recipe)
    check_members(recipe, len(materials.members))
    network = untrained(recipe, materials, streams)
    check_network(recipe, network, materials.members.first(1).x)
    return network


def _rounds(
    network: nn.Module,
    initial: State,
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
    before: Before | None,
    costs: Costs,
) -> Trained:
    """Prune a trained network, go back and train, from the round that it has come to."""
    spec, its = own(recipe, Imp), dense(recipe)
    known: State = {} if before is None else before.artefacts
    history = History() if before is None else before.history
    masks = of_masks(known) or whole(prunable(network, spec.skip))
    to, last = _values(spec, known, initial, recipe, materials, streams), ProcedureFacts()
    for number in range(1 + int(known.get(ROUNDS, 0)), spec.rounds + 1):
        with costs.stage(f"round {number}"), about(f"imp, round {number}"):
            drawn = streams.child(f"round {number}").generator("mask")
            ranked = scores(prunable(network, spec.skip), spec.criterion, drawn)
            masks = pruned(ranked, masks, (1 - spec.fraction) ** number, spec.scope)
            start = Start(masked(to or snapshot(network), masks), masks, epochs=spec.rewind)
            made = plain.train(its, replace(materials, start=start), tuning(streams, f"round {number}"))
        network, last = made.model, made.facts
        history = joined(history, made.history)
    counts = left(network, masks, spec.rounds, spec.skip)
    facts = last.with_(sparsity=counts, stages=costs.stages)
    kept = {MASK + name: mask for name, mask in masks.items()} | {ROUNDS: torch.tensor([spec.rounds])}
    kept |= {REWOUND + name: value for name, value in to.items()} if spec.rewind else {}
    return Trained(network, dict(initial), history, kept, facts)


def _values(
    spec: Imp, known: State, initial: State, recipe: Recipe, materials: Materials, streams: Streams
) -> dict[str, Tensor]:
    """Find the values to go back to; none where the trained ones are kept.

    Those after some epochs are what the same training has come to then, bit for bit, since it is the same but for its
    end.
    """
    if spec.values == "trained":
        return {}
    if not spec.rewind:
        return dict(initial)
    begun = dense(recipe).replace(stop_after=spec.rewind, patience=None)
    found = {name.removeprefix(REWOUND): value for name, value in known.items() if name.startswith(REWOUND)}
    return found or snapshot(plain.train(begun, replace(materials, start=Start(initial)), streams).model)


def short(recipe: Recipe) -> Short:
    """Shorten the first training and one round, which stands for all."""
    spec, number = own(recipe, Imp), few(recipe)
    one = cut(recipe.replace(procedure=spec.replace(rounds=1, rewind=0.0)), number)
    again = spec.rounds * (epochs(recipe) - spec.rewind)
    return Short(one, times=dict.fromkeys((FIRST, SCORING), epochs(recipe) / number) | {ROUND: again / number})
