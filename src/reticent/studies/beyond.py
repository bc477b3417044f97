"""What a row has beyond an undefended network of its accuracy, and beyond a smaller one of its size, as numbers.

Anybody gets a network that gives less away by training for less, or a smaller one: what a defense is worth is what it
has beyond both. `matching` makes the first; here is the second, and the numbers and parts of claims on either.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import torch

from reticent.findings.study import Reason
from reticent.jobs.config import Job
from reticent.models import ARCHITECTURES
from reticent.models.base import Input, build
from reticent.options import Options
from reticent.rounding import fraction, percent
from reticent.spec import Spec
from reticent.studies.base import Bench, Found, Results, Setting
from reticent.studies.judging import Part, better
from reticent.studies.matching import Controls, Parts, controls, estimated
from reticent.studies.measured import Measured
from reticent.studies.metrics import AUC, POINTS

UNMATCHED = f"It can't be told where the interval of the accuracy that controls miss leaves {100 * POINTS:g} points."


def matched(
    bench: Bench, found: Found, rows: Sequence[Measured], pairs: Mapping[str, tuple[str, str]], metrics: Iterable[str]
) -> Controls:
    """Say how far each row lies from the undefended network of its accuracy, the first row; and pairs of rows, so.

    A pair's numbers have the names of the metrics, and ``excess_accuracy`` is what controls miss.
    """
    beside = controls(bench, rows[0], rows[1:])
    for metric in ("accuracy", *metrics):
        excess: dict[str, Parts] = {rows[0].name: []}  # It is its own control.
        excess |= {row.name: beside.excess(row, metric) for row in rows[1:]}
        found.numbers |= {(row.name, f"excess_{metric}"): estimated(excess[row.name]) for row in rows[1:]}
        key = "excess_accuracy" if metric == "accuracy" else metric
        for name, (first, second) in pairs.items():
            parts = [*excess[first], *((-weight, part) for weight, part in excess[second])]
            found.numbers[name, key] = estimated(parts)
    return beside


def lower(results: Results, one: Setting, name: str, metric: str, label: str, least: float = AUC) -> Part:
    """Ask whether a leak is lower at matched accuracy, if that is matched."""
    missed = results.get(one.key, name, "excess_accuracy")
    met = missed is not None and missed.bounded and all(abs(end) <= POINTS for end in missed.limits())
    void: Reason | None = None if met else "unmatched"
    number = results.get(one.key, name, metric)
    part = better(f"{label}, {one.label}", number, least, lower=True, metric="difference")
    return part if number is None else replace(part, void=void)


def told(beside: Controls) -> str:
    """List the early-stopped networks, of which each seed has its own, with what they reach."""
    return "; ".join(
        f"{one.name} ({percent(one.accuracy)}, LiRA AUC {fraction(one.measures['auc_lira'].observed.mean())})"
        for one in beside.stopped
    )


def size(row: Measured) -> int:
    """Count what is not zero of a row's networks: weights, biases and norm layers."""
    facts = row.made[0].facts
    return facts.parameters if facts.sparsity is None else facts.sparsity.parameters_left


def parameters(job: Job, architecture: Spec) -> int:
    """Count what a network of a job's data has. Cost: a network without memory."""
    records = job.records
    given = Input(records.kind, tuple(records.x.shape[1:]), records.vocabulary)
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        network = build(ARCHITECTURES[architecture.method], architecture, given, records.classes)
    return sum(one.numel() for one in network.parameters())


def narrowed(architecture: Spec, wide: int) -> Spec:
    """Give a network another width: its first layer's, the others' in proportion."""
    widths = dict(architecture).get("widths")
    if not widths:
        return architecture.replace(width=wide)
    return architecture.replace(widths=tuple(max(1, round(wide * one / widths[0])) for one in widths))


def narrowest(job: Job, count: int) -> Spec:
    """Find the narrowest network of a job's kind that has at least so many parameters."""
    whole = job.population.recipe.architecture
    widths = range(1, width(whole) + 1)
    place = bisect_left(widths, count, key=lambda one: parameters(job, narrowed(whole, one)))
    return narrowed(whole, widths[min(place, len(widths) - 1)])


def width(architecture: Spec) -> int:
    """Tell how wide a network's first layer is."""
    known = dict(architecture)
    found: int = known["widths"][0] if known.get("widths") else known["width"]
    return found


def asked(architecture: Spec) -> Options:
    """Write an architecture as an option of a recipe."""
    return {"name": architecture.method, **dict(architecture)}
