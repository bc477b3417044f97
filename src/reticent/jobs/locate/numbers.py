"""From two scores to the numbers of the document: by kind of layer, by layer, what the largest hold; all by blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reticent.findings.locate import ByKind, ByLayer, Density, Largest, ScoredData
from reticent.jobs import document
from reticent.jobs.locate.scores import RATES
from reticent.jobs.locate.source import Source
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
) -> tuple[ByKind, ...]:
    """Measure how the two scores agree, over all weights and within each kind of layer, as the paper's Table 1."""
    everything = sum(value.numel() for value in vulnerability.values())
    whole = total(vulnerability, list(vulnerability))
    rows: list[ByKind] = []
    for kind in ("all", *KINDS):
        names = [name for name in vulnerability if kind in {"all", kinds[name]}]
        if kind != "all" and len(names) == len(vulnerability):
            rows.append(rows[0].with_(kind=kind))
        elif names:
            found = agreement(vulnerability, learnability, names)
            rows.append(
                ByKind(
                    kind=kind,
                    **asdict(found),
                    share=found.entries / everything,
                    vulnerability=_share(total(vulnerability, names), whole),
                    density=density(vulnerability, learnability, names) if drawn else None,
                )
            )
    return tuple(rows)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def held(vulnerability: State, learnability: State, unused: Sequence[str]) -> tuple[Largest, ...]:
    """Measure what the largest scores hold, and whether they are the same weights by both scores."""
    names = list(vulnerability)
    sums = [total(side, names) for side in (vulnerability, learnability)]
    rows = []
    for rate in RATES:
        masks = [topk_mask(side, rate, unused=unused) for side in (vulnerability, learnability)]
        entries = sum(int(torch.count_nonzero(mask)) for mask in masks[0].values())
        both = sum(int(torch.count_nonzero(masks[0][name] & masks[1][name])) for name in names)
        rows.append(
            Largest(
                rate=rate,
                entries=entries,
                vulnerability=_share(total(vulnerability, names, masks[0]), sums[0]),
                learnability=_share(total(learnability, names, masks[1]), sums[1]),
                shared=both / entries if entries else None,
                jaccard=jaccard(*masks) if entries else None,
            )
        )
    return tuple(rows)


def by_layer(
    vulnerability: State, learnability: State, kinds: Mapping[str, str], unused: Sequence[str]
) -> tuple[ByLayer, ...]:
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
        rows.append(
            ByLayer(
                layer=layer,
                kind=kinds[names[0]],
                entries=entries,
                share=entries / everything,
                vulnerability=_share(total(vulnerability, names), sums[0]),
                learnability=_share(total(learnability, names), sums[1]),
                marked=sum(int(torch.count_nonzero(mask[name])) for name in names) / entries if entries else 0.0,
            )
        )
    return tuple(rows)


def density(vulnerability: State, learnability: State, names: Sequence[str]) -> Density | None:
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
    return Density(x=ends[0], y=ends[1], counts=tuple(map(tuple, counts.tolist())))


def _least(scores: Tensor) -> float:
    """The smallest score above zero, or infinity."""
    parts = (part[part > 0] for part in torch.split(scores.reshape(-1), BLOCK))
    return min((float(part.min()) for part in parts if len(part)), default=float("inf"))


def _cell(values: NDArray[np.float64], ends: tuple[float, float]) -> NDArray[np.int64]:
    with np.errstate(divide="ignore"):
        place = (np.log10(values) - ends[0]) / (ends[1] - ends[0]) * CELLS
    found: NDArray[np.int64] = np.clip(np.floor(place), 0, CELLS - 1).astype(np.int64)
    return found


def known(source: Source, name: str) -> ScoredData:
    """State whom a network knows and how well."""
    materials, network = source.materials, source.network
    members, reference = materials.members, materials.reference
    right = accuracy(network, materials, members)
    commonest = float(torch.bincount(members.y).max() / len(members))
    return ScoredData(
        name=name,
        classes=materials.classes,
        members=len(members),
        reference=len(reference),
        accuracy_members=right,
        accuracy_reference=accuracy(network, materials, reference) if len(reference) else None,
        learned=document.learned(right, commonest, len(members)),
        commonest=commonest,
    )
