"""Is a weight's place or its value what learning needs: a network, its pruned form retrained, its pruned form as it is.

Paper: Fang and Kim (2026), section 4.4, M1, M2 and M3. M1 is plain training. M2 holds the weights of M1 that matter
least for accuracy at zero, and trains the others from their initial values. M3 is M1 with the same weights set to zero.
The paper lacks a control: M2 with as many weights of each parameter tensor, drawn by chance. (A draw from all together
holds most gains and biases of norm layers at zero, which kills whole channels: it tells nothing about places.)
"""

import contextlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from reticent.ambient import fixed
from reticent.locate.topk_mask import shuffled_mask, topk_mask
from reticent.locate.weights import Scoring, score
from reticent.population.worker import Made, Maker
from reticent.procedures import plain
from reticent.report.files import make_folder, replace_bytes
from reticent.spec import identity
from reticent.store import Store
from reticent.studies.base import Bench, Found
from reticent.studies.measured import Bools, initial, means, record_weights
from reticent.studies.numbers import combined
from reticent.training.start import Start
from reticent.version import VERSION

PRUNED = 0.85
"""Share of the weights that is pruned."""
MODELS = {
    "M1": "trained without a defense",
    "M2": "M1's weights of least learnability held at zero, the others trained from their initial values",
    "M3": "M1 with the same weights set to zero",
    "M2 at random": "M2 with as many weights of each parameter tensor, drawn by chance, held at zero",
}
PAIRS = (("M2", "M1"), ("M2", "M3"), ("M2", "M2 at random"))
FORMAT = 3
"""Of what is kept of a model; a change makes all be measured again."""


def pruned(bench: Bench, found: Found) -> None:
    """Measure M1, M2 and M3 and the control, and put their numbers to the others.

    Each model's answers are kept in the bench's folder, so that an interrupted study trains none of them twice.
    """
    job = bench.job()
    with bench.made(job) as (store, made):
        maker, asked = Maker(job.population, store, job.device), made[: bench.options["located"]]
        right = []
        for one in asked:
            bench.say(f"M1, M2 and M3 of model {one.model}")
            right.append(_kept(bench.folder, maker, store, one))
    members = job.population.membership.matrix[[one.model for one in asked]]
    cells = {name: np.stack([each[row] for each in right]) for row, name in enumerate(MODELS)}
    measures = means(cells, members, record_weights(job, bench.seed, members))
    found.rows |= MODELS
    found.numbers |= {(name, "accuracy"): measures[name].estimate() for name in MODELS}
    for first, second in PAIRS:
        parts = [(1.0, measures[first]), (-1.0, measures[second])]
        found.numbers[f"{first} - {second}", "accuracy"] = combined(parts)


def _kept(folder: Path, maker: Maker, store: Store, made: Made) -> Bools:
    """Find what the networks of one model answer right, or train them and keep it."""
    path = folder / f"pruned-{made.model}-{identity([FORMAT, VERSION, made.training, maker.device.type])}.npy"
    with contextlib.suppress(OSError, ValueError, EOFError):  # Not there, or not whole: it is measured.
        return np.asarray(np.load(path, allow_pickle=False), np.bool_)
    with fixed(), maker.population.streams(made.model).lent("asking"):
        networks = _networks(maker, store, made)
        labels = maker.population.records.y[maker.population.roles.audited]
        right = np.stack([maker.ask(network, made.model).accuracy(labels) for network in networks])
    stream = BytesIO()
    np.save(stream, right, allow_pickle=False)
    make_folder(folder)
    replace_bytes(path, stream.getvalue())
    return right


def _networks(maker: Maker, store: Store, made: Made) -> list[torch.nn.Module]:
    """Make M1, M2, M3 and the control of one model."""
    population = maker.population
    materials, streams = maker.materials(made.model), population.streams(made.model)
    network = maker.network(made)
    before = initial(store, made)
    scores = score(network, before, materials, Scoring(unlearning=0.0), streams.child("pruned"), population.recipe)
    kept = topk_mask(scores, 1 - PRUNED)
    drawn = shuffled_mask(kept, streams.child("pruned").generator("by chance"))
    starts = [Start(_masked(before, keep), keep) for keep in (kept, drawn)]
    retrained = [plain.train(population.recipe, replace(materials, start=one), streams).model for one in starts]
    cut = maker.network(made)
    cut.load_state_dict(_masked(network.state_dict(), kept))
    return [network, retrained[0], cut.eval(), retrained[1]]


def _masked(state: dict[str, Tensor], keep: dict[str, Tensor]) -> dict[str, Tensor]:
    """Set what is not kept to zero; buffers stay."""
    return {
        name: torch.where(keep[name].to(value.device), value, torch.zeros_like(value)) if name in keep else value
        for name, value in state.items()
    }
