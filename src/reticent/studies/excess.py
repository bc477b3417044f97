"""What a row has beyond an undefended network of its accuracy, and beyond a smaller one of its size, as numbers.

Anybody gets a network that gives less away by training for less, or a smaller one: what a defense is worth is what it
has beyond both. `matching` makes the first; here is the second, and the numbers and parts of claims on either.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import torch

from reticent.jobs.config import Job
from reticent.models import ARCHITECTURES
from reticent.models.base import Input, build
from reticent.options import Options
from reticent.rounding import fraction, percent
from reticent.say.grammar import listed
from reticent.spec import Spec
from reticent.studies.base import Bench, Found, Parts, Results, Setting, each
from reticent.studies.judging import Part, better, voided
from reticent.studies.matching import Controls, Weighed, controls, estimated
from reticent.studies.measured import Measured, Pairs, Recipe
from reticent.studies.metrics import AUC, JUDGED, METRICS, POINTS, beside, even

WIDTHS = ("widths", "width", "growth")
"""Options of architectures that say how wide they are; the first that is given counts."""
NONE = "No defense"
UNDEFENDED = Recipe(None, "cross-entropy alone")
"""The undefended row, and how it is trained."""
UNMATCHED = f"It can't be told where the interval of the accuracy that controls miss leaves {100 * POINTS:g} points."


def matched(bench: Bench, found: Found, rows: Sequence[Measured], pairs: Pairs, metrics: Iterable[str]) -> Controls:
    """Say how far each row lies from the undefended network of its accuracy, the first row; and pairs of rows, so.

    A pair's numbers have the names of the metrics, and ``excess_accuracy`` is what controls miss. A note lists the
    networks that were stopped early, of which each seed has its own, with what they reach, and the rows that are less
    or more accurate than all of them.
    """
    control = controls(bench, rows[0], rows[1:])
    for metric in ("accuracy", *metrics):
        excess: dict[str, Weighed] = {rows[0].name: []}  # It is its own control.
        excess |= {row.name: control.excess(row, metric) for row in rows[1:]}
        found.numbers |= {(row.name, f"excess_{metric}"): estimated(excess[row.name]) for row in rows[1:]}
        key = "excess_accuracy" if metric == "accuracy" else metric
        for name, (first, second) in pairs.items():
            parts = [*excess[first], *((-weight, part) for weight, part in excess[second])]
            found.numbers[name, key] = estimated(parts)
    if control.stopped:
        told = "; ".join(
            f"{one.name} ({percent(one.accuracy)}, LiRA AUC {fraction(one.measures['auc_lira'].observed.mean())})"
            for one in control.stopped
        )
        low, high = ([row.name for row in rows[1:] if on(row)] for on in (control.drawn_on, control.above))
        on = f"; for {listed(low)} the line between two of them is drawn on below both" if low else ""
        on += f"; {listed(high)} {'are' if len(high) > 1 else 'is'} more accurate than all of them" if high else ""
        found.notes.append(f"seed {bench.seed}: controls are {told}{on}.")
    return control


def lower(results: Results, one: Setting, name: str, metric: str, label: str, least: float = AUC) -> Part:
    """Ask whether a leak is lower at matched accuracy, if that is matched."""
    missed = results.get(one.key, name, "excess_accuracy")
    met = missed is not None and missed.bounded and all(abs(end) <= POINTS for end in missed.limits())
    part = better(label, results.get(one.key, name, metric), least, lower=True, metric="difference")
    return voided(part, None if met else "unmatched")


def acts(results: Results, one: Setting, title: str, metric: str) -> bool:
    """Say whether a defense alone lowers a leak, which claims on what is joined to it take for granted."""
    return better(title, results.get(one.key, beside(title, NONE), metric), AUC, lower=True).answer() == "yes"


def against(
    results: Results,
    one: Setting,
    first: str,
    second: str | None = None,
    attacks: Iterable[str] = JUDGED,
) -> Iterator[Part]:
    """Ask of each attack whether it finds less in a row than in another one, both less their controls.

    Without another one, it is asked of the row and its control.
    """
    name, prefix, said = (first, "excess_", "its control") if second is None else (even(first, second), "", second)
    for metric in (f"auc_{attack}" for attack in attacks):
        label = f"{METRICS[metric].name}, {first} against {said}{', at matched accuracy' * (second is not None)}"
        yield lower(results, one, name, prefix + metric, label)


def beyond(rows: Callable[[Options], Iterable[str]], other: str | None = None) -> Parts:
    """Ask of some rows whether each attack finds less than in another one, or in their controls."""
    return each(lambda results, one: (part for row in rows(one.options) for part in against(results, one, row, other)))


def size(row: Measured) -> int:
    """Count what is not zero of a row's networks: weights, biases and norm layers."""
    facts = row.made[0].facts
    return facts.parameters if facts.sparsity is None else facts.sparsity.parameters_left


def parameters(job: Job, architecture: Spec) -> int:
    """Count what a network of a job's data has. Cost: a network without memory."""
    records = job.records
    return _counted(architecture, Input(records.kind, tuple(records.x.shape[1:]), records.vocabulary), records.classes)


@cache
def _counted(architecture: Spec, given: Input, classes: int) -> int:
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        network = build(ARCHITECTURES[architecture.method], architecture, given, classes)
    return sum(one.numel() for one in network.parameters())


def narrowed(architecture: Spec, wide: int) -> Spec:
    """Give a network another width: its first layer's, the others' in proportion."""
    option, known = _wide(architecture)
    if not isinstance(known, tuple):
        return architecture.replace(**{option: wide})
    return architecture.replace(**{option: tuple(max(1, round(wide * one / known[0])) for one in known)})


def narrowest(job: Job, count: int) -> Spec:
    """Find the narrowest network of a job's kind that has at least so many parameters."""
    whole = job.population.recipe.architecture
    widths = range(1, width(whole) + 1)
    place = bisect_left(widths, count, key=lambda one: parameters(job, narrowed(whole, one)))
    return narrowed(whole, widths[min(place, len(widths) - 1)])


def width(architecture: Spec) -> int:
    """Tell how wide a network's first layer is, or by how much each layer of a DenseNet grows."""
    _, known = _wide(architecture)
    return known[0] if isinstance(known, tuple) else known


def _wide(architecture: Spec) -> tuple[str, int | tuple[int, ...]]:
    """Find the option that says how wide a network is, and its value."""
    known = dict(architecture)
    option = next(name for name in WIDTHS if known.get(name))
    return option, known[option]


def asked(architecture: Spec) -> Options:
    """Write an architecture as an option of a recipe."""
    return {"name": architecture.method, **dict(architecture)}
