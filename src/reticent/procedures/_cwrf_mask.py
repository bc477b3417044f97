"""Which weights CWRF rewinds: those with the largest scores, or those that a control takes in their place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from reticent.errors import InputError, ModelError, SpecError
from reticent.locate.layer_kinds import KINDS, layer_kinds
from reticent.locate.scoring import Scores
from reticent.locate.topk_mask import shuffled_mask, topk_mask
from reticent.locate.weights import score
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

if TYPE_CHECKING:
    from reticent.procedures.cwrf import CWRF


@dataclass(frozen=True, eq=False)
class Marked:
    """The weights that are rewound.

    Attributes:
        mask: by parameter name, True where a weight is rewound; on the CPU.
        scores: by parameter name, what the mask is from; empty where it is from no scores.
        unused: names of parameters that never have a gradient; none of their weights is marked.
        facts: counts, and how scoring went.
        notices: sentences for the report.
    """

    mask: dict[str, Tensor]
    scores: Mapping[str, Tensor]
    unused: frozenset[str]
    facts: dict[str, Any]
    notices: list[str] = field(default_factory=list)

    def artefacts(self) -> dict[str, Tensor]:
        """Return ``mask/NAME`` and ``scores/NAME``; a parameter that is one number is a vector of one."""
        named = {f"mask/{n}": v for n, v in self.mask.items()} | {f"scores/{n}": v for n, v in self.scores.items()}
        return {name: value.reshape(value.shape or (1,)) for name, value in named.items()}


def possible(model: nn.Module, spec: "CWRF", materials: Materials) -> None:
    """Refuse before training what the later stages would refuse."""
    if spec.mask in {"vulnerability", "random-within"} and spec.unlearning and not len(materials.reference):
        raise InputError("cwrf needs reference non-members, which the model never saw: give some (--reference N)")
    trainable(model, spec)


def trainable(model: nn.Module, spec: "CWRF") -> None:
    """Refuse a network of which nothing would be trained."""
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


def mark(
    model: nn.Module,
    initial: Mapping[str, Tensor],
    spec: "CWRF",
    recipe: Recipe,
    materials: Materials,
    streams: Streams,
) -> Marked:
    """Choose the weights to rewind."""
    scoring = spec.scoring()
    within = spec.mask == "random-within"
    by_score = spec.mask in {"vulnerability", "learnability"}
    if by_score or within:
        scores = score(model, initial, materials, scoring, streams, recipe)
    else:
        one = scoring.replace(steps=1, unlearning=0.0)
        scores = _instead(model, spec.mask, score(model, initial, materials, one, streams, recipe), streams)
    mask = topk_mask(scores, spec.rate, spec.scope)
    if within:
        mask = shuffled_mask(mask, streams.generator("mask"))
    facts = _counts(model, mask)
    notices = []
    if spec.rate and not facts["rewound"]:
        notices.append(
            f"A rate of {spec.rate:g} of {facts['weights']} weights rounds to none: nothing was rewound, and the model "
            "was fine-tuned as it was."
        )
    if not by_score:
        return Marked(mask, {}, scores.unused, facts, notices)
    facts |= {"member_loss": _ends(scores.member_loss), "divergence": _ends(scores.divergence)}
    positive = sum(int(torch.count_nonzero(value)) for value in scores.values())
    if facts["rewound"] > positive:
        notices.append(
            f"Only {positive} of the {facts['rewound']} rewound weights have a score above zero; the others were taken "
            "in the order of the network."
        )
    return Marked(mask, dict(scores), scores.unused, facts | {"positive_scores": positive}, notices)


def _instead(model: nn.Module, kind: str, scores: Scores, streams: Streams) -> Scores:
    """Put absolute values or random numbers in the place of scores."""
    drawn = streams.generator("mask")
    parameters = dict(model.named_parameters())
    other = {
        name: parameters[name].detach().abs().cpu()
        if kind == "magnitude"
        else torch.rand(value.shape, generator=drawn, dtype=torch.float64)
        for name, value in scores.items()
    }
    return Scores(other, unused=scores.unused)


def _ends(values: tuple[float, ...]) -> list[float]:
    """Return the first and the last."""
    return [values[0], values[-1]] if values else []


def _counts(model: nn.Module, mask: Mapping[str, Tensor]) -> dict[str, Any]:
    of = layer_kinds(model)
    by_kind: dict[str, dict[str, int]] = {}
    for kind in KINDS:
        found = [value for name, value in mask.items() if of[name] == kind]
        if found:
            by_kind[kind] = {"weights": sum(v.numel() for v in found), "rewound": sum(int(v.sum()) for v in found)}
    weights, count = (sum(each[key] for each in by_kind.values()) for key in ("weights", "rewound"))
    return {"weights": weights, "rewound": count, "rate": count / weights, "kinds": by_kind}
