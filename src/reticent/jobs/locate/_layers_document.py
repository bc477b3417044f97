"""The document of ``locate layers``: what ``layers.json`` holds; what depends on the run is under ``environment``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from reticent.auditing.intervals import clopper_pearson
from reticent.jobs import document
from reticent.jobs.locate._probes import ALL, Key, Probes
from reticent.locate.layers import Contrast, Layers, Onset
from reticent.locate.probe import Probe, Probed
from reticent.models.stages import Stage
from reticent.spec import canonical, full
from reticent.training.run import batch_sizes

SCHEMA = "reticent.locate.layers/1"
BINS = 40
"""Of each histogram."""
OUTSIDE = 0.0005
"""Share of the distances at either end that the first and the last bin take in, so that a few do not set the scale."""


class Options(Layers):
    """Options of `locate layers` beside those of the training; the interval's are those of the configuration."""

    test: Annotated[float, Gt(0), Lt(1)] = 0.2
    """Share of the audited records that no network is trained on: accuracies are measured on them."""
    probe: Probe | None = Probe()
    """The linear probe; None leaves it out."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What the networks were asked.

    Attributes:
        onset: the finding.
        stages: of the networks.
        parameters: of each stage, how many numbers it trains.
        contrasts: distances, one entry a pair.
        probed: the probe, one entry a repetition; empty if it is left out.
    """

    onset: Onset
    stages: tuple[Stage, ...]
    parameters: tuple[int, ...]
    contrasts: tuple[Contrast, ...]
    probed: tuple[Probed, ...]


def assemble(
    probes: Probes, options: Options, measured: Measured, seconds: Mapping[str, float], started: str
) -> dict[str, Any]:
    """Put the parts of the document together."""
    job, onset = probes.job, measured.onset
    made = [probes.made(key) for key in probes.keys]
    return {
        "schema": SCHEMA,
        "sentence": onset.sentence,
        "detail": list(onset.warnings),
        "onset": {
            "stage": onset.name,
            "index": onset.index,
            "safe": list(onset.safe),
            "risky": list(onset.risky),
            "margin": onset.margin,
            "confidence": onset.confidence,
            "contrasts": len(measured.contrasts),
        },
        "stages": _stages(measured, options.confidence),
        "accuracy": _shares([probes.accuracies[key] for key in probes.keys if key[1] == ALL]),
        "models": [_model(probes, key) for key in probes.keys],
        "data": document.data_facts(job.records, job.population.roles).to_json()
        | {"trained_on": int((~probes.split.test).sum()), "test": int(probes.split.test.sum())},
        "options": full(options),
        "recipe": full(job.population.recipe),
        "cannot_say": [*_limits(options), *document.data_sentences(job.records), *document.notices(made)],
        "environment": document.environment(job, seconds, sum(not one.fresh for one in made), started).to_json()
        | {"config": canonical(job.config)},
    }


def _stages(measured: Measured, confidence: float) -> list[dict[str, Any]]:
    """State what is known of each stage."""
    rows, total, before = [], sum(measured.parameters), None
    for index, found in enumerate(measured.onset.stages):
        accuracy = _probe(measured.probed, index, confidence)
        mean = None if accuracy is None else accuracy["mean"]
        rows.append({
            "name": found.name,
            "output": measured.stages[index].output,
            "size": found.size,
            "parameters": measured.parameters[index],
            "share": measured.parameters[index] / total,
            "effect": {"mean": found.effect, "interval": [found.low, found.high]},
            "effects": list(found.runs),
            "ks": found.ks,
            "above": found.above,
            "risky": measured.onset.index is not None and index >= measured.onset.index,
            "probe": accuracy,
            "gain": None if mean is None or before is None else mean - before,
            "distances": _histogram(measured.contrasts, index),
        })
        before = mean
    return rows


def _probe(probed: Sequence[Probed], index: int, confidence: float) -> dict[str, Any] | None:
    """State the probe's accuracy; the interval is that of one repetition's test records, which the mean beats."""
    if not probed:
        return None
    shares = [float(one.correct[index].mean()) for one in probed]
    count = probed[0].correct.shape[1]
    mean = float(np.mean(shares))
    low, high = clopper_pearson(round(mean * count), count, confidence)
    settled = all(one.settled[index] for one in probed)
    return {"mean": mean, "interval": [float(low), float(high)], "repetitions": shares, "settled": settled}


def _histogram(contrasts: Sequence[Contrast], index: int) -> dict[str, Any]:
    """Count the distances of all contrasts, of records seen by both networks and of those seen by one."""
    both = np.concatenate([one.distances[index][~one.one] for one in contrasts])
    single = np.concatenate([one.distances[index][one.one] for one in contrasts])
    low, high = np.quantile(np.concatenate([both, single]), (OUTSIDE, 1 - OUTSIDE))
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    counts = {"both": _counts(both, edges), "one": _counts(single, edges)}
    means = {"both": float(both.mean()), "one": float(single.mean())}
    return {"edges": edges.tolist(), **counts, "means": means}


def _counts(values: NDArray[np.float64], edges: NDArray[np.float64]) -> list[int]:
    counts: list[int] = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0].tolist()
    return counts


def _model(probes: Probes, key: Key) -> dict[str, Any]:
    made, recipe = probes.made(key), probes.recipes[key[1]]
    members = made.facts["members"]
    return {
        "repetition": key[0],
        "trained_on": key[1],
        "run": made.training,
        "members": members,
        "epochs": recipe.epochs,
        "steps": recipe.epochs * len(batch_sizes(members, recipe.batch_size)),
        "accuracy_members": made.facts["accuracy_members"],
        "accuracy_test": probes.accuracies[key],
    }


def _shares(values: Sequence[float]) -> dict[str, Any]:
    return {"mean": float(np.mean(values)), "repetitions": list(values)}


def _limits(options: Options) -> list[str]:
    """Say what this cannot say."""
    trained = "as many epochs, so half as many steps," if options.equalise == "epochs" else "as many steps"
    said = [
        f"Intervals come from redrawing records; the {options.seeds} repetition(s) and their halves are taken as they "
        "are. How much the effect differs from one to the next is listed beside it.",
        f"The rule (an effect of {0.5 + options.margin:.4g}, held by all later stages) is a judgement: the paper "
        "decides by eye.",
        f"Networks on half of the records took {trained} as those on all. Distances between the two are large for that "
        "reason too; only the difference between records seen by both and by one speaks of membership.",
        "A distance of feature maps is no attack: a stage without an effect here may still pass on what a later stage "
        "gives away. How much a model leaks is what an audit measures.",
    ]
    if options.probe is not None:
        said.append(
            "The probe is a linear machine on features that are "
            + ("projected at random" if options.probe.features == "projected" else "averaged over positions")
            + f" where a map has more than {options.probe.width:,} numbers; the paper does not say which it used."
        )
    return said
