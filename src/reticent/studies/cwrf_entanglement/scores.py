"""What `cwrf-entanglement` asks of one trained network: two scores of each weight, and how they agree."""

from collections.abc import Mapping

import numpy as np
from torch import Tensor, nn

from reticent.findings.study import CloudPanel
from reticent.jobs.locate.numbers import by_kind, held
from reticent.locate.correlation import agreement, pairs
from reticent.locate.layer_kinds import KINDS, layer_kinds
from reticent.locate.scoring import Scores
from reticent.locate.weights import Scoring, score
from reticent.population.worker import Made, Maker
from reticent.store import Store
from reticent.studies.measured import initial
from reticent.torch_state import fixed

NAMES = dict(zip(KINDS, ("Conv", "Att+MLP", "Linear", "Norm", "Embedding", "Other"), strict=True))
"""Kind of layer -> name in the paper's table."""
ALL = "All"
ABOUT = {
    ALL: "all trainable weights",
    "Conv": "convolutions",
    "Att+MLP": "attention and its multilayer perceptrons",
    "Linear": "linear layers beside them",
    "Norm": "normalisation layers",
}
BINS = 26
"""Of each axis of a cloud."""
LEFT = 1e-12
"""Less than this is nothing that is left of a variance."""
Numbers = dict[tuple[str, str], float]


def scored(maker: Maker, store: Store, made: Made, draw: bool) -> tuple[Numbers, list[CloudPanel]]:
    """Score a network's weights, compare, and draw them by both scores if asked for."""
    population = maker.population
    network, materials = maker.network(made), maker.materials(made.model)
    streams, before = population.streams(made.model).child("locate"), initial(store, made)
    usual = Scoring()
    with fixed(), streams.lent("asking"):
        vulnerability, learnability, unlearning = (
            score(network, before, materials, usual.replace(unlearning=part), streams, population.recipe)
            for part in (usual.unlearning, 0.0, 1.0)
        )
        numbers: Numbers = {}
        panels: list[CloudPanel] = []
        of = layer_kinds(network)
        for found in by_kind(vulnerability, learnability, of, drawn=False):
            row = NAMES.get(found.kind, ALL)
            names = [name for name in vulnerability if row in {ALL, NAMES[of[name]]}]
            alone = agreement(learnability, unlearning, names)
            numbers |= _known(
                row,
                vulnerability=found.vulnerability,
                pearson=found.pearson,
                log_pearson=found.log_pearson,
                spearman=found.spearman,
                proportion=found.share,
                pearson_alone=alone.pearson,
                spearman_alone=alone.spearman,
                **_beside_magnitude(network, learnability, unlearning, names),
            )
            panels += [_cloud(row, learnability, vulnerability, names)] if draw else []
        for top in held(vulnerability, learnability, sorted(vulnerability.unused)):
            known = {"proportion": top.rate, "overlap": top.jaccard, "vulnerability": top.vulnerability}
            numbers |= _known(f"Top {100 * top.rate:g} %", **known)
    return numbers, panels


def _known(row: str, **values: float | None) -> Numbers:
    return {(row, metric): value for metric, value in values.items() if value is not None}


def _beside_magnitude(
    network: nn.Module, learnability: Scores, unlearning: Scores, names: list[str]
) -> dict[str, float | None]:
    """Ask what is left of an agreement when what both scores hold by construction is taken out.

    Each score is a sum of products with the weight itself, and is zero where no gradient comes. So only weights with
    two scores above zero are ranked, and the correlation of ranks is the partial one, with that of absolute values
    held fixed.
    """
    parameters = dict(network.named_parameters())
    live = {name: (learnability[name] > 0) & (unlearning[name] > 0) for name in names}
    kept = [{name: scores[name][live[name]] for name in names} for scores in (learnability, unlearning)]
    sizes = {name: parameters[name].detach().abs().cpu()[live[name]] for name in names}
    both = agreement(kept[0], kept[1], names).spearman
    first, second = (agreement(one, sizes, names).spearman for one in kept)
    return {"spearman_magnitude": first, "spearman_partial": partial(both, first, second)}


def partial(both: float | None, first: float | None, second: float | None) -> float | None:
    """Correlate two with a third held fixed."""
    if both is None or first is None or second is None:
        return None
    left = (1 - first**2) * (1 - second**2)
    return None if left < LEFT else float(np.clip((both - first * second) / left**0.5, -1, 1))


def _cloud(
    row: str, learnability: Mapping[str, Tensor], vulnerability: Mapping[str, Tensor], names: list[str]
) -> CloudPanel:
    """Count weights by the decimal logarithms of both scores, each as a share of its largest."""
    both = [np.concatenate(side) for side in zip(*pairs(learnability, vulnerability, names), strict=True)]
    logs = [np.log10(np.maximum(side / max(float(side.max(initial=0.0)), 1e-300), 1e-8)) for side in both]
    counts, *edges = np.histogram2d(logs[0], logs[1], bins=BINS, range=[[-8.0, 0.0], [-8.0, 0.0]])
    xs, ys = (np.round((ends[1:] + ends[:-1]) / 2, 3) for ends in edges)
    return CloudPanel(
        title=f"{row} weights" if row == ALL else f"{row}: {ABOUT.get(row, row.lower())}",
        x="learnability, of its largest",
        y="vulnerability, of its largest",
        points=tuple((float(xs[i]), float(ys[j]), int(counts[i, j])) for i, j in np.argwhere(counts)),
    )
