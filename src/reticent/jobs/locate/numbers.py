"""From two scores to the numbers of the document: by kind of layer, by layer, what the largest hold; all by blocks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reticent.jobs import document
from reticent.jobs.locate.scores import RATES
from reticent.jobs.locate.source import Source
from reticent.jobs.locate.words import unlearned
from reticent.locate.correlation import agreement, pairs, total
from reticent.locate.layer_kinds import KINDS
from reticent.locate.scoring import BLOCK
from reticent.locate.topk_mask import jaccard, topk_mask
from reticent.training.loop import accuracy

State = Mapping[str, Tensor]
CELLS = 40
"""Cells of a density picture in each direction."""
DECADES = 8
"""How far below the largest score a picture reaches; what is less, zero too, counts at its edge."""
MARKED = 0.01
"""The share whose places are told by layer."""


def by_kind(
    vulnerability: State, learnability: State, kinds: Mapping[str, str], drawn: bool = True
) -> list[dict[str, Any]]:
    """Measure how the two scores agree, over all weights and within each kind of layer, as the paper's Table 1."""
    everything = sum(value.numel() for value in vulnerability.values())
    whole = total(vulnerability, list(vulnerability))
    rows: list[dict[str, Any]] = []
    for kind in ("all", *KINDS):
        names = [name for name in vulnerability if kind in {"all", kinds[name]}]
        if kind != "all" and len(names) == len(vulnerability):
            rows.append(rows[0] | {"kind": kind})
        elif names:
            found = agreement(vulnerability, learnability, names)
            rows.append({
                "kind": kind,
                "entries": found.entries,
                "share": found.entries / everything,
                "vulnerability": total(vulnerability, names) / whole if whole else None,
                "pearson": found.pearson,
                "log_pearson": found.log_pearson,
                "spearman": found.spearman,
                "positive": found.positive,
                "density": density(vulnerability, learnability, names) if drawn else None,
            })
    return rows


def held(vulnerability: State, learnability: State, unused: Sequence[str]) -> list[dict[str, Any]]:
    """Measure what the largest scores hold, and whether they are the same weights by both scores."""
    names = list(vulnerability)
    sums = [total(side, names) for side in (vulnerability, learnability)]
    rows = []
    for rate in RATES:
        masks = [topk_mask(side, rate, unused=unused) for side in (vulnerability, learnability)]
        entries = sum(int(torch.count_nonzero(mask)) for mask in masks[0].values())
        both = sum(int(torch.count_nonzero(masks[0][name] & masks[1][name])) for name in names)
        shares = [
            total(side, names, mask) / whole if whole else None
            for side, mask, whole in zip((vulnerability, learnability), masks, sums, strict=True)
        ]
        rows.append({
            "rate": rate,
            "entries": entries,
            "vulnerability": shares[0],
            "learnability": shares[1],
            "shared": both / entries if entries else None,
            "jaccard": jaccard(*masks) if entries else None,
        })
    return rows


def by_layer(
    vulnerability: State, learnability: State, kinds: Mapping[str, str], unused: Sequence[str]
) -> list[dict[str, Any]]:
    """Measure what each layer holds: a module with its own parameters, in the order of the network."""
    mask = topk_mask(vulnerability, MARKED, unused=unused)
    sums = [total(side, list(side)) for side in (vulnerability, learnability)]
    everything = sum(value.numel() for value in vulnerability.values())
    layers: dict[str, list[str]] = {}
    for name in vulnerability:
        layers.setdefault(name.rpartition(".")[0], []).append(name)
    rows = []
    for layer, names in layers.items():
        entries = sum(vulnerability[name].numel() for name in names)
        parts = [
            total(side, names) / whole if whole else None
            for side, whole in zip((vulnerability, learnability), sums, strict=True)
        ]
        rows.append({
            "layer": layer,
            "kind": kinds[names[0]],
            "entries": entries,
            "share": entries / everything,
            "vulnerability": parts[0],
            "learnability": parts[1],
            "marked": sum(int(torch.count_nonzero(mask[name])) for name in names) / entries if entries else 0.0,
        })
    return rows


def density(vulnerability: State, learnability: State, names: Sequence[str]) -> dict[str, Any] | None:
    """Count weights on logarithmic axes, learnability to the right and vulnerability up."""
    ends = []
    for side in (learnability, vulnerability):
        most = max((float(side[name].max()) for name in names if side[name].numel()), default=0.0)
        if most <= 0:
            return None
        least = min(_least(side[name]) for name in names)
        top_end = float(np.log10(most))
        ends.append((max(top_end - DECADES, min(float(np.log10(least)), top_end - 1)), top_end + 1e-9))
    counts = np.zeros((CELLS, CELLS), dtype=np.int64)
    for y, x in pairs(vulnerability, learnability, names):
        place = _cell(y, ends[1]) * CELLS + _cell(x, ends[0])
        counts += np.bincount(place, minlength=CELLS * CELLS).reshape(CELLS, CELLS)
    return {"x": list(ends[0]), "y": list(ends[1]), "counts": counts.tolist()}


def _least(scores: Tensor) -> float:
    """The smallest score above zero, or infinity."""
    parts = (part[part > 0] for part in torch.split(scores.reshape(-1), BLOCK))
    return min((float(part.min()) for part in parts if len(part)), default=float("inf"))


def _cell(values: NDArray[np.float64], ends: tuple[float, float]) -> NDArray[np.int64]:
    with np.errstate(divide="ignore"):
        place = (np.log10(values) - ends[0]) / (ends[1] - ends[0]) * CELLS
    found: NDArray[np.int64] = np.clip(np.floor(place), 0, CELLS - 1).astype(np.int64)
    return found


def known(source: Source, name: str) -> dict[str, Any]:
    """State whom a network knows and how well."""
    materials, network = source.materials, source.network
    found: dict[str, Any] = {
        "name": name,
        "classes": materials.classes,
        "members": len(materials.members),
        "reference": len(materials.reference),
        "accuracy_members": accuracy(network, materials, materials.members),
    }
    if len(materials.reference):
        found["accuracy_reference"] = accuracy(network, materials, materials.reference)
    commonest = float(torch.bincount(materials.members.y).max() / len(materials.members))
    right = found["accuracy_members"]
    sick = document.unlearned(0, right, commonest, found["members"]) is not None
    return found | {"unlearned": unlearned(right, commonest) if sick else None}
