"""Which weights CWRF rewinds: those with the largest scores, or those that a control takes in their place."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from reticent.findings.training import CwrfFacts, KindCounts
from reticent.locate.layer_kinds import KINDS, layer_kinds
from reticent.locate.scoring import Scores
from reticent.locate.topk_mask import shuffled_mask, topk_mask
from reticent.locate.weights import score
from reticent.procedures.cwrf.spec import CWRF
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


@dataclass(frozen=True, eq=False)
class Marked:
    """The weights that are rewound.

    Attributes:
        mask: by parameter name, True where a weight is rewound; on the CPU.
        scores: by parameter name, what the mask is from; empty where it is from no scores.
        unused: names of parameters that never have a gradient; none of their weights is marked.
    """

    mask: dict[str, Tensor]
    scores: Mapping[str, Tensor]
    unused: frozenset[str]
    facts: CwrfFacts
    notices: list[str] = field(default_factory=list)

    @property
    def artefacts(self) -> dict[str, Tensor]:
        """Name ``mask/NAME`` and ``scores/NAME``; a parameter that is one number is a vector of one."""
        named = {f"mask/{n}": v for n, v in self.mask.items()} | {f"scores/{n}": v for n, v in self.scores.items()}
        return {name: value.reshape(value.shape or (1,)) for name, value in named.items()}


def mark(
    model: nn.Module,
    initial: Mapping[str, Tensor],
    spec: CWRF,
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
    if spec.rate and not facts.rewound:
        notices.append(
            f"A rate of {spec.rate:g} of {facts.weights} weights rounds to none: nothing was rewound, and the model "
            "was fine-tuned as it was."
        )
    if not by_score:
        return Marked(mask, {}, scores.unused, facts, notices)
    positive = sum(int(torch.count_nonzero(value)) for value in scores.values())
    if facts.rewound > positive:
        notices.append(
            f"Only {positive} of the {facts.rewound} rewound weights have a score above zero; the others were taken "
            "in the order of the network."
        )
    facts = facts.with_(
        member_loss=_ends(scores.member_loss),
        divergence=_ends(scores.divergence),
        initial_entropy=None if scores.entropy is None else min(1.0, scores.entropy),
        positive_scores=positive,
        accuracy_scored=scores.accuracy,
    )
    return Marked(mask, dict(scores), scores.unused, facts, notices)


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


def _ends(values: tuple[float, ...]) -> tuple[float, ...]:
    """Return the first and the last."""
    return (values[0], values[-1]) if values else ()


def _counts(model: nn.Module, mask: Mapping[str, Tensor]) -> CwrfFacts:
    of = layer_kinds(model)
    kinds: dict[str, KindCounts] = {}
    for kind in KINDS:
        found = [value for name, value in mask.items() if of[name] == kind]
        if found:
            counted = (sum(v.numel() for v in found), sum(int(v.sum()) for v in found))
            kinds[kind] = KindCounts(weights=counted[0], rewound=counted[1])
    weights, count = sum(one.weights for one in kinds.values()), sum(one.rewound for one in kinds.values())
    return CwrfFacts(weights=weights, rewound=count, rate=count / weights, kinds=kinds)
