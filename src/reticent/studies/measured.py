"""A population of a study: trained or found, attacked, and turned into measures that can be added and subtracted.

All measures of one seed take the same records in the same replicate, so that differences of recipes, and differences
of such differences, have the error that belongs to them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reticent import seeds
from reticent.attacks import score
from reticent.attacks.base import Problem
from reticent.auditing.bootstrap import affordable, poisson, replicated
from reticent.auditing.roc import allowed, auc, roc, tied
from reticent.auditing.weighted_roc import FIXED, Weights
from reticent.errors import InputError
from reticent.jobs import document
from reticent.jobs.config import Job
from reticent.population.stored_signals import signals
from reticent.population.worker import Made
from reticent.say.grammar import sentence
from reticent.signals.correctness import correct
from reticent.signals.matrix import log_probability
from reticent.store import Store
from reticent.studies.base import Bench, Found
from reticent.studies.metrics import Rows, beside, even
from reticent.studies.numbers import Estimate, Floats, Replicated, combined

Bools = NDArray[np.bool_]
Measures = dict[str, Replicated]
Pairs = Mapping[str, Rows]
"""By the name of a difference, the row that is taken and the row that is taken off."""


class Recipe(NamedTuple):
    """How the models of a row are trained, and a word on it; without epochs, for as many as the setting has."""

    defense: str | None
    about: str
    epochs: int | None = None

    def job(self, bench: Bench, **more: Any) -> Job:
        """Prepare its population."""
        lasting = {} if self.epochs is None else {"epochs": self.epochs}
        return bench.job(self.defense, **lasting, **more)


Recipes = dict[str, Recipe]
"""By row."""


def differences(rows: Iterable[Rows]) -> dict[str, Rows]:
    """Name differences of rows."""
    return {beside(*two): two for two in rows}


def matches(rows: Iterable[Rows]) -> dict[str, Rows]:
    """Name differences of what rows have beyond their early-stopped controls."""
    return {even(*two): two for two in rows}


COSTS = ("seconds", "peak_memory_bytes")
"""Of making one model, the mean over models."""


@dataclass(frozen=True, eq=False)
class Measured:
    """One recipe with one seed.

    Attributes:
        measures: by metric: ``accuracy`` and ``loss`` of non-members, ``accuracy_members`` and ``loss_members``,
            ``gap`` (loss minus loss_members), and for each attack ``auc_NAME`` and, at the rate asked for,
            ``tpr_NAME_RATE``.
        scores: of each attack ``(T, N)``.
    """

    name: str
    about: str
    job: Job
    measures: Measures
    made: Sequence[Made]
    notices: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def accuracy(self) -> float:
        """Mean accuracy on non-members."""
        return float(self.measures["accuracy"].observed.mean())

    def cost(self, fact: str) -> Estimate | None:
        """Average what making a model took."""
        known = [value for one in self.made if (value := getattr(one.facts, fact)) is not None]
        return Estimate.over(map(float, known)) if len(known) == len(self.made) else None


def measure(bench: Bench, name: str, job: Job, about: str = "", *, attacked: bool = True) -> Measured:
    """Train or find a population, attack every model of it unless it is not to be, and measure."""
    bench.say(name)
    with bench.made(job) as (store, made):
        seen, others = signals(job.population, store, made)
        problem = Problem.make(seen, job.population.membership, population=others)
        members = problem.membership.matrix[problem.targets]
        right = correct(seen, problem.targets)
        losses = np.empty(members.shape)
        for block in seen.blocks():
            losses[:, block] = -log_probability(seen.plain(block, problem.targets))
        scored = {spec.method: score(spec, problem, bench.seed) for spec in (job.attacks if attacked else ())}
    weights = record_weights(job, bench.seed, members)
    measures = averages(right, losses, members, weights)
    rate = bench.options.get("fpr")
    for attack, scores in scored.items():
        measures |= leaks(attack, scores, members, rate, weights)
    notices = _said(made, members.shape[1]) | dict.fromkeys(_ties(scored, members, rate), len(made))
    return Measured(name, about, job, measures, made, notices, scored)


UNLEARNED = "These models did not learn, so low numbers say nothing."


def _said(made: Sequence[Made], records: int) -> dict[str, int]:
    """Count what training had to say of the models, and those that did not learn."""
    said = Counter({UNLEARNED: len(document.health(made, records))})
    for one in made:
        said.update(set(one.facts.notices))
    return {notice: count for notice, count in said.items() if count}


def _told(rows: Sequence[Measured]) -> list[str]:
    """Say each notice once, with the rows that it is of; another seed may have others."""
    named: dict[str, list[str]] = {}
    for one in rows:
        for notice, count in one.notices.items():
            every = len(one.made)
            where = one.name if count == every else f"{one.name} ({count} of {every} models)"
            named.setdefault(notice, []).append(where)
    seed = rows[0].job.population.seed
    return [f"seed {seed}, in {'; '.join(where)}: {sentence(notice)}" for notice, where in named.items()]


def initial(store: Store, made: Made) -> dict[str, Tensor]:
    """Read the state that a model was trained from."""
    arrays = store.whole(made.training).arrays("initial.safetensors")
    return {name: torch.from_numpy(value) for name, value in arrays.items()}


def record_weights(job: Job, seed: int, members: Bools) -> Weights:
    """Draw records again, for all measures of a seed: accuracies, losses and leaks of every row share the draws."""
    replicates = affordable(job.config.replicates, *members.shape)
    return poisson(seeds.rng(seed, "study", "records"), (members.shape[1], replicates))


def means(cells: Mapping[str, NDArray[Any]], members: Bools, weights: Weights) -> Measures:
    """Average what each record gives, over non-members and over members; all by the same record weights."""
    often = weights.astype(np.float32)
    found: Measures = {}
    for suffix, group in (("_members", members), ("", ~members)):
        size, counted = group.sum(axis=1), int(group.sum(axis=1).min())
        drawn = np.maximum(group.astype(np.float32) @ often, 1.0)
        for name, values in cells.items():
            kept = np.where(group, values.astype(np.float32), np.float32(0))
            observed = kept.sum(axis=1, dtype=np.float64) / size
            found[name + suffix] = Replicated(observed, np.asarray((kept @ often) / drawn, np.float64).T, counted)
    return found


def averages(right: NDArray[Any], losses: NDArray[Any], members: Bools, weights: Weights) -> Measures:
    """Average accuracy and loss, of non-members and of members, and take the gap between the losses."""
    found = means({"accuracy": right, "loss": losses}, members, weights)
    outside, inside = found["loss"], found["loss_members"]
    counted = min(inside.counted, outside.counted)
    found["gap"] = Replicated(outside.observed - inside.observed, outside.values - inside.values, counted)
    return found


def leaks(attack: str, scores: Floats, members: Bools, rate: float | None, weights: Weights) -> Measures:
    """Measure what an attack's scores tell: AUC, and the TPR at a rate if it can be measured."""
    inside, outside = int(members.sum(axis=1).min()), int((~members).sum(axis=1).min())
    rates = (rate,) if rate is not None and allowed(rate, outside) >= 1 else ()
    values = replicated(scores, members, rates, weights)

    def of(column: int, observed: Floats, counted: int) -> Replicated:
        drawn = values[:, :, column]
        return Replicated(observed, np.where(np.isnan(drawn), observed, drawn), counted)

    found = {f"auc_{attack}": of(FIXED.index("auc"), auc(scores, members), min(inside, outside))}
    for i, one in enumerate(rates):
        hits = np.array([roc(s, own).at_fpr(one).tpr for s, own in zip(scores, members, strict=True)])
        found[f"tpr_{attack}_{one:g}"] = of(len(FIXED) + i, hits, inside)
    return found


def _ties(scored: Mapping[str, Floats], members: Bools, rate: float | None) -> list[str]:
    """Say of which attacks equal scores decide the rate."""
    if rate is None:
        return []
    points = {
        attack: [roc(s, own).at_fpr(rate) for s, own in zip(scores, members, strict=True)]
        for attack, scores in scored.items()
    }
    return [
        f"Equal scores decide what {attack} finds at {rate:g}: no threshold comes near that false positive rate."
        for attack, found in points.items()
        if tied(found)
    ]


def _paired(rows: Sequence[Measured]) -> None:
    """Check that all rows share roles and memberships."""
    first, *rest = [(one.name, one.job.population) for one in rows]
    for name, other in rest:
        same = other.membership.digest == first[1].membership.digest
        if not same or other.roles.to_json() != first[1].roles.to_json() or other.seed != first[1].seed:
            raise InputError(
                f"{first[0]} and {name} were trained on other memberships, so that they can't be compared in pairs: "
                "give both the same records, reference, models and seed"
            )


def measure_all(bench: Bench, recipes: Recipes) -> list[Measured]:
    """Measure a population for each row; what cannot be trained is refused first."""
    jobs = {name: one.job(bench) for name, one in recipes.items()}
    return [measure(bench, name, job, recipes[name].about) for name, job in jobs.items()]


def collect(rows: Sequence[Measured], pairs: Pairs) -> Found:
    """Turn measures into the numbers of a setting and seed: of each row, and of differences of rows."""
    _paired(rows)
    found = Found(rows={one.name: one.about for one in rows})
    found.notes = _told(rows)
    found.numbers |= numbers({one.name: one.measures for one in rows}, pairs)
    for one in rows:
        costs = {fact: one.cost(fact) for fact in COSTS}
        found.numbers |= {(one.name, fact): cost for fact, cost in costs.items() if cost is not None}
    return found


def numbers(measures: Mapping[str, Measures], pairs: Pairs) -> dict[tuple[str, str], Estimate]:
    """Turn measures into numbers: of each row, and of differences of rows."""
    made = {(name, metric): held.estimate() for name, own in measures.items() for metric, held in own.items()}
    for name, (first, second) in pairs.items():
        for metric in sorted(measures[first].keys() & measures[second].keys()):
            made[name, metric] = combined([(1.0, measures[first][metric]), (-1.0, measures[second][metric])])
    return made
