"""Is a weight's place or its value what learning needs: a network, its pruned form retrained, its pruned form as it is.

Paper: Fang and Kim (2026), section 4.4, M1, M2 and M3. M1 is plain training. M2 holds the weights of M1 that matter
least for accuracy at zero, and trains the others from their initial values. M3 is M1 with the same weights set to zero.
"""

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reticent.locate.top import top
from reticent.locate.weights import Scoring, score
from reticent.population.worker import Made, Maker
from reticent.procedures import plain
from reticent.store import Store
from reticent.studies.base import Found
from reticent.studies.bench import Bench
from reticent.studies.numbers import Estimate
from reticent.training.start import Start

PRUNED = 0.85
"""Share of the weights that is pruned."""
MODELS = {
    "M1": "trained without a defense",
    "M2": "M1's weights of least learnability held at zero, the others trained from their initial values",
    "M3": "M1 with the same weights set to zero",
}


def located(bench: Bench, found: Found) -> None:
    """Measure M1, M2 and M3, and put their numbers to the others.

    Args:
        bench: setting and seed; its option ``located`` says how many models.
        found: what was measured so far; gets three rows and two contrasts.
    """
    job = bench.job()
    accuracies = []
    with bench.made(job) as (store, made):
        maker = Maker(job.population, store, job.device)
        for one in made[: bench.options["located"]]:
            bench.tell(f"{bench.setting.label}, seed {bench.seed}: M1, M2 and M3 of model {one.model}")
            accuracies.append(_three(maker, store, one))
    values = np.array(accuracies)
    for column, (name, about) in enumerate(MODELS.items()):
        found.rows[name] = about
        found.numbers[name, "accuracy"] = Estimate.over(values[:, column])
    found.numbers["M2 - M1", "accuracy"] = Estimate.over(values[:, 1] - values[:, 0])
    found.numbers["M2 - M3", "accuracy"] = Estimate.over(values[:, 1] - values[:, 2])


def _three(maker: Maker, store: Store, made: Made) -> tuple[float, float, float]:
    """Measure the accuracy of M1, M2 and M3 of one model on its non-members."""
    population = maker.population
    materials, streams = maker.materials(made.model), population.streams(made.model)
    network = maker.network(made)
    run = store.find(made.training)
    assert run is not None  # it is in use
    initial = {name: torch.from_numpy(value) for name, value in run.arrays("initial.safetensors").items()}
    scoring = Scoring(weight=0.0)
    scores = score(network, initial, materials, scoring, streams.child("pruned"), population.recipe)
    keep = top(scores, 1 - PRUNED)
    start = Start(_masked(initial, keep), keep)
    retrained = plain.train(population.recipe, replace(materials, start=start), streams).model
    cut = maker.network(made)
    cut.load_state_dict(_masked(network.state_dict(), keep))
    first, second, third = (_accuracy(maker, made.model, one) for one in (network, retrained, cut.eval()))
    return first, second, third


def _masked(state: dict[str, Tensor], keep: dict[str, Tensor]) -> dict[str, Tensor]:
    """Set what is not kept to zero; buffers stay."""
    return {
        name: torch.where(keep[name].to(value.device), value, torch.zeros_like(value)) if name in keep else value
        for name, value in state.items()
    }


def _accuracy(maker: Maker, model: int, network: torch.nn.Module) -> float:
    population = maker.population
    labels = population.records.y[population.roles.audited]
    right: NDArray[np.bool_] = maker.ask(network, model).accuracy(labels)
    return float(right[~population.membership.matrix[model]].mean())
