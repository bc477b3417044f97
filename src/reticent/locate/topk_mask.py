"""The largest scores of a network, exactly: masks of k entries whatever ties there are."""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from reticent.errors import InputError
from reticent.locate.scoring import Scores
from reticent.sparsify.exact import Scope, largest, scoped


def topk_mask(
    scores: Mapping[str, Tensor], rate: float, scope: Scope = "global", *, unused: Collection[str] | None = None
) -> dict[str, Tensor]:
    """Mark the entries with the largest scores: ``k = round(rate * d)`` of d, ties by their place.

    Cost: linear in the entries; memory of one copy of the scores beside the masks.
    """
    if not 0 <= rate <= 1:
        raise InputError(f"rate: expected a share from 0 to 1, got {rate}")
    if scope not in {"global", "layer"}:
        raise InputError(f"scope: expected 'global' or 'layer', got {scope!r}")
    if not scores:
        raise InputError("scores: expected at least one parameter, got none")
    never = (scores.unused if isinstance(scores, Scores) else ()) if unused is None else unused
    masks = {name: torch.zeros(value.shape, dtype=torch.bool) for name, value in scores.items()}
    for names in scoped(scores, scope):
        wanted = round(rate * sum(scores[name].numel() for name in names))
        open_to = [name for name in names if name not in never]
        masks |= largest({name: scores[name] for name in open_to}, wanted)
    return masks


def shuffled_mask(mask: Mapping[str, Tensor], generator: torch.Generator) -> dict[str, Tensor]:
    """Mark as many entries of each parameter as a mask does, by chance: the control that keeps what kind they are of.

    A mask drawn from all entries together takes few of small parameters, such as the gains of norm layers, where one
    by scores may take half of them.
    """
    drawn = {name: torch.zeros(value.shape, dtype=torch.bool) for name, value in mask.items()}
    for name, value in mask.items():
        order = torch.randperm(value.numel(), generator=generator)
        drawn[name].view(-1)[order[: int(torch.count_nonzero(value))]] = True
    return drawn


def jaccard(a: Mapping[str, Tensor], b: Mapping[str, Tensor]) -> float:
    """Compare two masks: the entries that both mark among those that either marks."""
    if {n: v.shape for n, v in a.items()} != {n: v.shape for n, v in b.items()}:
        raise InputError("expected two masks of the same parameters and shapes, got different ones")
    both = sum(int(torch.count_nonzero(a[name] & b[name])) for name in a)
    either = sum(int(torch.count_nonzero(a[name] | b[name])) for name in a)
    return both / either if either else 1.0
