"""CWRF: the weights that give members away go back to their initial values and stay there; the others train again.

Paper: Fang and Kim (2026), "Learnability and privacy vulnerability are entangled in a few critical weights", ICLR,
arXiv 2603.13186, algorithm 1. No code is public and the formulas of the text are lost: what they leave open is an
option with the judgement as its default (docs/methods/cwrf.md). Two sentences of the paper have the rewound weights
move; everything else has them frozen, as here. `variant` holds the paper's ablations, `mask`, `scope` and `value` the
controls that it lacks.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from reticent.errors import InputError, ModelError, SpecError, about
from reticent.findings.training import ProcedureFacts
from reticent.locate.topk_mask import topk_mask
from reticent.procedures.base import ProcedureEntry, own, snapshot
from reticent.procedures.costs import Costs
from reticent.procedures.cwrf.mask import Marked, mark
from reticent.procedures.cwrf.spec import CWRF
from reticent.procedures.two_stage import First, SetBack, TwoStage, accuracies
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.start import Start
from reticent.training.streams import Streams

__all__ = ["CWRF", "METHOD", "repair", "train"]

SAME_DRAW = "The network draws the same values whenever it is built, so that value=fresh rewound to the initial values."


class _Method(TwoStage):
    """What CWRF refuses, and what it does between the two trainings."""

    kind = CWRF
    # SELENA and MIST rest on networks that never saw a record, and the weights that CWRF keeps have seen them all.
    inner = ("plain", "dpsgd")
    no_epsilon = (
        "There is no guarantee and no epsilon: the first training of cwrf saw the members without noise and most of "
        "its weights are kept, so that the noise of dpsgd covers the fine-tuning alone."
    )

    def check(self, recipe: Recipe) -> None:
        """Refuse options that contradict each other."""
        spec = own(recipe, CWRF)
        if spec.variant == "rewind-train-vulnerable" and spec.rate == 0:
            raise SpecError(
                "cwrf: rate: expected more than 0 with variant rewind-train-vulnerable, which trains the rewound "
                "weights alone, got 0: nothing would be trained; the control without rewinding is rate 0 with variant "
                "cwrf"
            )
        if spec.variant == "remove" and spec.value != "initial":
            raise SpecError(
                "cwrf: value: variant remove holds the weights at zero, so that value=fresh would change nothing: "
                "leave one of the two out"
            )
        super().check(recipe)

    def second(self, recipe: Recipe) -> tuple[ProcedureEntry, Recipe]:
        """Find the second training's procedure and recipe, which may have another optimizer and rate."""
        spec, (entry, its) = own(recipe, CWRF), super().second(recipe)
        its = its.replace(
            optimizer=spec.tuning_optimizer or its.optimizer,
            learning_rate=spec.tuning_learning_rate or its.learning_rate,
        )
        entry.check(its)
        return entry, its

    def check_members(self, recipe: Recipe, members: int) -> None:
        """Refuse too few members, to score by or for the fine-tuning."""
        if members < 2:
            raise SpecError(f"cwrf: expected at least 2 members, to score by, got {members}")
        super().check_members(recipe, members)

    def check_network(self, recipe: Recipe, model: nn.Module, x: Tensor) -> None:
        """Refuse a network of which nothing would be trained."""
        spec = own(recipe, CWRF)
        none = {name: torch.zeros(p.shape) for name, p in model.named_parameters() if p.requires_grad}
        if not none:
            raise ModelError("cwrf: the network has no parameter that asks for a gradient: there is nothing to train")
        if spec.variant == "rewind-train-vulnerable" and not any(
            v.any() for v in topk_mask(none, spec.rate, spec.scope).values()
        ):
            raise SpecError(
                f"cwrf: rate: {spec.rate:g} of {sum(v.numel() for v in none.values())} weights rounds to none, so that "
                "nothing would be trained: give a larger one"
            )

    def check_materials(self, recipe: Recipe, materials: Materials) -> None:
        """Refuse to score without reference non-members."""
        spec = own(recipe, CWRF)
        if spec.mask in {"vulnerability", "random-within"} and spec.unlearning and not len(materials.reference):
            raise InputError("cwrf needs reference non-members, which the model never saw: give some (--reference N)")

    def set_back(
        self, model: nn.Module, first: First, recipe: Recipe, materials: Materials, streams: Streams, costs: Costs
    ) -> SetBack:
        """Score the weights and rewind the marked ones. Cost: T steps of scoring."""
        spec, known = own(recipe, CWRF), accuracies(model, materials, recipe)
        with costs.stage("scoring"), about("cwrf, scoring"):
            marked = mark(model, first.initial, spec, recipe, materials, streams)
            values = first.initial
            if spec.value == "fresh":
                values = snapshot(self.network(recipe, materials, streams.child("fresh")))
                if all(torch.equal(first.initial[name], values[name]) for name in marked.mask):
                    marked.notices.append(SAME_DRAW)
            put_back(model, values, marked.mask, spec)
            left = accuracies(model, materials, recipe)
            start = rewound(model, first.initial, marked.mask, spec)
        told = marked.facts.with_(accuracy_before=known, accuracy_rewound=left)
        facts = ProcedureFacts(notices=tuple(marked.notices), cwrf=told)
        return SetBack(start, facts, marked.artefacts, _left(start, marked))


@torch.no_grad()
def put_back(model: nn.Module, values: Mapping[str, Tensor], mask: Mapping[str, Tensor], spec: CWRF) -> None:
    """Put the marked weights of a trained network back."""
    for name, parameter in model.named_parameters():
        if name in mask:
            back = torch.zeros_like(parameter) if spec.variant == "remove" else values[name].to(parameter)
            parameter.copy_(torch.where(mask[name].to(parameter.device), back, parameter))


@torch.no_grad()
def rewound(model: nn.Module, initial: Mapping[str, Tensor], mask: Mapping[str, Tensor], spec: CWRF) -> Start:
    """Put the buffers of a network back whose weights are, and say which weights the fine-tuning may move."""
    if spec.statistics != "keep":
        for name, buffer in model.named_buffers():
            if name in initial:
                buffer.copy_(initial[name])
    if spec.statistics == "reset":
        for module in model.modules():
            if isinstance(module, nn.modules.batchnorm._NormBase):
                module.reset_running_stats()
    if spec.variant == "rewind-train-vulnerable":
        return Start(snapshot(model), dict(mask))
    return Start(snapshot(model), {name: ~marked for name, marked in mask.items() if bool(marked.any())})


def _left(start: Start, marked: Marked) -> bool:
    """Tell whether any weight that has a gradient is trained."""
    masks = (start.trainable.get(name) for name in marked.mask if name not in marked.unused)
    return any(mask is None or bool(mask.any()) for mask in masks)


METHOD = _Method()
train, repair = METHOD.train, METHOD.repair
