"""Rewinding: the state that CWRF's fine-tuning begins from, what of it stays, and the fine-tuning itself."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from reticent.procedures._parts import Tuning
from reticent.procedures.base import ProcedureEntry, Trained, snapshot
from reticent.training.loop import History
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.start import Start
from reticent.training.streams import Streams

if TYPE_CHECKING:
    from reticent.procedures._cwrf_mask import Marked
    from reticent.procedures.cwrf import CWRF

NO_GUARANTEE = (
    "There is no guarantee and no epsilon: the first training of cwrf saw the members without noise and most of its "
    "weights are kept, so that the noise of dpsgd covers the fine-tuning alone."
)
NOTHING_LEFT = (
    "Every weight is held, so that nothing was left to fine-tune: the model answers as the rewinding left it."
)
SAME_DRAW = "The network draws the same values whenever it is built, so that value=fresh rewound to the initial values."


@torch.no_grad()
def rewound(
    model: nn.Module,
    initial: Mapping[str, Tensor],
    values: Mapping[str, Tensor],
    mask: Mapping[str, Tensor],
    spec: "CWRF",
) -> Start:
    """Put the marked weights of a trained network back, and say which ones the fine-tuning may move.

    Args:
        model: the trained network, as training left it; it is altered. Tied parameters stay tied.
        initial: its state before training, for running statistics and other buffers.
        values: the state to rewind weights to.
        mask: True where a weight is rewound.
        spec: what becomes of the marked weights, and of running statistics.

    Returns:
        Where the fine-tuning begins.
    """
    for name, parameter in model.named_parameters():
        if name in mask:
            back = torch.zeros_like(parameter) if spec.variant == "remove" else values[name].to(parameter)
            parameter.copy_(torch.where(mask[name].to(parameter.device), back, parameter))
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


def unmoved(initial: Mapping[str, Tensor], values: Mapping[str, Tensor], mask: Mapping[str, Tensor]) -> list[str]:
    """Say so if a fresh draw is the initial one, as where the network's builder has a seed of its own.

    Args:
        initial: the state before training.
        values: the fresh draw.
        mask: True where a weight is rewound.

    Returns:
        One sentence, or none.
    """
    same = all(torch.equal(initial[name], values[name]) for name in mask)
    return [SAME_DRAW] if same else []


def tune(entry: ProcedureEntry, recipe: Recipe, materials: Materials, streams: Streams, marked: "Marked") -> Trained:
    """Fine-tune from the rewound state; where nothing is left to train, the model stays as it is.

    Args:
        entry: the procedure.
        recipe: its recipe, with the epochs of the fine-tuning.
        materials: the records, and where the fine-tuning begins.
        streams: those of the whole.
        marked: which weights have a gradient.

    Returns:
        What the procedure gives, without an accountant: its promise would not cover the first stage.
    """
    own = Tuning(streams.seed, streams.model, (*streams.path, "tuning"))
    if materials.start is not None and not _left(materials.start, marked):
        model = materials.start.begin(entry.network(recipe, materials, own))
        return Trained(model.eval(), {}, History(), facts={"notices": [NOTHING_LEFT]})
    made = entry.train(recipe, materials, own)
    facts = {key: value for key, value in made.facts.items() if key != "accountant"}
    if entry.proves:
        facts["notices"] = [NO_GUARANTEE, *facts.get("notices", [])]
    return Trained(made.model, made.initial, made.history, made.artefacts, facts)


def _left(start: Start, marked: "Marked") -> bool:
    """Tell whether any weight that has a gradient is trained."""
    masks = (start.trainable.get(name) for name in marked.mask if name not in marked.unused)
    return any(mask is None or bool(mask.any()) for mask in masks)
