"""The attacker who does not know of the defense: the same targets, attacked with references trained without it.

A defense that only works against this attacker hides nothing from one who knows it. The undefended population has the
same membership, so the undefended twin of a target, which was trained on just the target's members, is left out of that
target's references: with it the attacker would be handed the answer.

Paper: Song and Mittal (2021), section 3; references without the defense are their non-adaptive attack.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from reticent import seeds
from reticent.attacks import score
from reticent.attacks.base import Problem
from reticent.auditing.audit import Audit
from reticent.auditing.comparison.compare import RowScores, compare
from reticent.jobs.config import Job
from reticent.jobs.defenses import undefended
from reticent.jobs.measure import Settings, audited
from reticent.population import gather
from reticent.population.train import Callback, train
from reticent.rounding import fraction
from reticent.signals.matrix import Floats
from reticent.signals.swapped import swapped
from reticent.spec import Spec
from reticent.store import Store

KNOWS, DOES_NOT = "adaptive", "non-adaptive"


@dataclass(frozen=True, eq=False)
class NonAdaptive:
    """What the attacker who does not know of the defense finds.

    Attributes:
        audits: one an attack.
        scores: by attack, ``(T, N)``.
    """

    audits: tuple[Audit, ...]
    scores: dict[str, Floats]


def non_adaptive(
    job: Job, problem: Problem, *, progress: Callback | None = None, stage: Callable[[str], None] | None = None
) -> NonAdaptive:
    """Train the undefended references, or find them, and attack the defended targets with them."""
    tell = stage or (lambda _: None)
    tell("undefended references")
    population = replace(job.population, recipe=undefended(job.population.recipe))
    store = Store(Path(job.config.store)).open()
    made = train(population, store, workers=job.workers, device=job.device, progress=progress)
    signals, others = gather.signals(population, store, made)
    plain = Problem.make(signals, population.membership, population=others)
    tell("attacks that do not know of the defense")
    return against(problem, plain, job.attacks, Settings.of(job.config))


def against(defended: Problem, plain: Problem, attacks: Sequence[Spec], settings: Settings) -> NonAdaptive:
    """Attack every defended model with the undefended ones, its own twin left out."""
    audits, scores = [], {}
    for attack in attacks:
        rows = [score(attack, _problem(defended, plain, int(t)), settings.seed) for t in defended.targets]
        scores[attack.method] = np.concatenate(rows)
        calibration = score(attack, plain, settings.seed), plain.membership.matrix[plain.targets]
        audits.append(audited(attack, scores[attack.method], defended, settings, calibration))
    return NonAdaptive(tuple(audits), scores)


def _problem(defended: Problem, plain: Problem, target: int) -> Problem:
    """Put a target in the place of its twin, which no attack learns from then: a target is none of its references."""
    population = None
    if plain.population is not None and defended.population is not None:
        population = swapped(plain.population, defended.population, target)
    signals = swapped(plain.signals, defended.signals, target)
    return Problem.make(signals, plain.membership, [target], plain.references, population)


def facts(
    found: NonAdaptive, problem: Problem, scores: Mapping[str, Floats], verdict: Mapping[str, Any], settings: Settings
) -> dict[str, Any]:
    """Compare what the attackers with and without knowledge of the defense find, by a paired test."""
    members, attack = problem.membership.matrix[problem.targets], verdict["attack"]
    compared = compare(
        [
            RowScores(KNOWS, {attack: scores[attack]}, members),
            RowScores(DOES_NOT, {attack: found.scores[attack]}, members),
        ],
        fpr=verdict["fpr"],
        rng=seeds.rng(settings.seed, "non-adaptive"),
        confidence=settings.confidence,
        replicates=settings.replicates,
    )
    rows = []
    for one in found.audits:
        written = one.to_json()["overall"]
        rows.append({"name": one.name, "auc": written["auc"], "tpr_at_fpr": written["tpr_at_fpr"]})
    body = compared.to_json()
    test = next(pair for pair in body["pairs"] if pair["statistic"] == "auc")
    return {
        "attacks": rows,
        "difference": {key: test[key] for key in ("difference", "interval", "p")},
        "verdict": test["verdict"],
        "sentence": _sentence(body["rows"], test, np.array_equal(scores[attack], found.scores[attack])),
    }


def _sentence(rows: Sequence[Mapping[str, Any]], test: Mapping[str, Any], same: bool) -> str:
    aware, unaware = rows
    attack = aware["auc_attack"]
    if same:
        return (
            f"The attack that finds most, {attack}, gives the same scores (AUC {fraction(aware['auc']['mean'])}) "
            "whether or not the attacker knows of the defense, so it says nothing on what hiding the defense "
            "would change."
        )
    said = (
        f"An attacker who does not know of the defense reaches an AUC of {fraction(unaware['auc']['mean'])}; one who "
        f"knows it, and trains references with it, {fraction(aware['auc']['mean'])} (both by {attack})"
    )
    if test["verdict"] == "tie":
        return f"{said}: no difference is shown, so it is not shown that hiding the defense protects anybody."
    if test["verdict"] == "second lower":
        return f"{said}: the difference is protection by ignorance alone, which ends when the defense becomes known."
    return f"{said}: here references without the defense serve the attacker better, so the larger number counts."
