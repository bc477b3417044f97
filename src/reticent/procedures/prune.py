"""Iterative pruning of a trained network: a part of the weights goes, the others are fine-tuned, round after round.

Paper: Shang et al. (2025), "WeMem: weakened memorisation in iterative pruning", whose pipeline this is: plain training,
then rounds 0 to K, of which round k leaves ``(1 - rate) ** (k / K)`` of each layer's weights by their absolute values,
without setting any back, and is fine-tuned by a fresh optimizer; round 0 prunes nothing. One round is one-shot pruning.
Deviations: counts are exact where the released threshold drops ties; what is pruned stays at 0 after every step;
layers that the released code does not prune are named by `skip`.
"""

from dataclasses import replace
from functools import reduce
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BeforeValidator, Field
from torch import Tensor, nn

from reticent.errors import about
from reticent.findings.training import ProcedureFacts
from reticent.procedures.base import own, snapshot
from reticent.procedures.basic import BASIC
from reticent.procedures.costs import Costs, Short
from reticent.procedures.two_stage import First, SetBack, TwoStage, read_inner, tuning
from reticent.sparsify.channels import Coupled
from reticent.sparsify.criteria import Criterion, scores
from reticent.sparsify.exact import Scope
from reticent.sparsify.masks import MASK, Masks, left, masked, prunable, pruned, whole
from reticent.sparsify.structured import coupled, pruned_filters
from reticent.spec import Names, Spec
from reticent.training.loop import History, joined
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.start import Start
from reticent.training.streams import Streams


class Prune(Spec):
    """Options of iterative pruning."""

    method: ClassVar[str] = "prune"

    rate: Annotated[float, Gt(0), Lt(1)] = 0.6
    """Share of the weights of linear layers and convolutions, or of the filters, that is pruned in the end (the paper
    tries 0.5, 0.6 and 0.7)."""
    rounds: Annotated[int, Ge(1), Le(100)] = 4
    """In how many steps, each with a fine-tuning; 1 is one-shot pruning."""
    structure: Literal["weights", "filters"] = "weights"
    """weights prunes single ones; filters prunes units and channels with all that hangs on them, so that a smaller
    network is left."""
    criterion: Criterion = "l1"
    """What stays: the largest by absolute values (of filters: l1 their mean, l2 their root mean square), or random."""
    scope: Scope = "layer"
    """layer prunes the same share of each layer, global the share of all weights, or filters, together."""
    skip: Names = ()
    """Layers that stay whole, by name, with * for any characters: head, or ["head", "layer1.*"]."""
    tuning_epochs: Annotated[int, Ge(1), Le(100_000)] | None = None
    """Epochs of each fine-tuning, with a schedule of its own. [a fifth of the recipe's]"""
    inner: Annotated[Spec, BeforeValidator(read_inner)] = Field(default_factory=BASIC["plain"].spec)
    """What each fine-tuning is: plain, or dpsgd."""

    def density(self, number: int) -> float:
        """Tell which share is left after so many rounds."""
        return float((1 - self.rate) ** (number / self.rounds))


class _Method(TwoStage):
    """What pruning refuses, and all its rounds but the last fine-tuning."""

    kind = Prune
    inner = ("plain", "dpsgd")
    part = 5
    no_epsilon = (
        "prune with dpsgd proves nothing and has no epsilon: which weights stay, and the values that they begin with, "
        "depend on the members without noise."
    )

    def check_network(self, recipe: Recipe, model: nn.Module, x: Tensor) -> None:
        """Refuse a network of which nothing can be pruned."""
        with about("prune"):
            _channels(model, own(recipe, Prune), x)

    def set_back(
        self, model: nn.Module, first: First, recipe: Recipe, materials: Materials, streams: Streams, costs: Costs
    ) -> SetBack:
        """Prune and fine-tune in turn, and prune for the last time. Cost: as many fine-tunings as rounds."""
        spec, (entry, its) = own(recipe, Prune), self.second(recipe)
        found = _channels(model, spec, materials.prepare(materials.members.first(1).x))
        masks, histories = whole(prunable(model, spec.skip)), list[History]()
        for number in range(spec.rounds):
            state = snapshot(model)
            with costs.stage(f"round {number}"):
                with about(f"prune, round {number}"):
                    start = Start(masked(state, masks), masks)
                    made = entry.train(its, replace(materials, start=start), tuning(streams, f"round {number}"))
                histories.append(made.history)
                model.load_state_dict(made.model.state_dict())
                with about(f"prune, round {number + 1}"):
                    masks = _pruned(model, found, masks, number + 1, spec, streams)
        facts = ProcedureFacts(sparsity=left(model, masks, spec.rounds, spec.skip))
        artefacts = {MASK + name: mask for name, mask in masks.items()}
        return SetBack(
            Start(masked(snapshot(model), masks), masks), facts, artefacts, history=reduce(joined, histories)
        )

    def short(self, recipe: Recipe) -> Short:
        """Shorten all trainings."""
        made = super().short(recipe)
        rounds = {f"round {number}": made.times["tuning"] for number in range(own(recipe, Prune).rounds)}
        return replace(made, times={**made.times, **rounds})


def _channels(model: nn.Module, spec: Prune, x: Tensor) -> Coupled:
    """Find the filters that can go; none where single weights do."""
    prunable(model, spec.skip)
    return coupled(model, x, spec.skip) if spec.structure == "filters" else {}


def _pruned(model: nn.Module, found: Coupled, masks: Masks, number: int, spec: Prune, streams: Streams) -> Masks:
    """Choose what is left after so many rounds."""
    share, drawn = spec.density(number), streams.child(f"round {number}").generator("mask")
    if spec.structure == "filters":
        state = dict(model.named_parameters())
        return pruned_filters(state, found, masks, share, spec.scope, spec.criterion, drawn)
    return pruned(scores(prunable(model, spec.skip), spec.criterion, drawn), masks, share, spec.scope)


METHOD = _Method()
train, repair = METHOD.train, METHOD.repair
