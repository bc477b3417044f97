"""The attacker who does not know of the defense: the same targets, attacked with references trained without it.

A defense that only works against this attacker hides nothing from one who knows it. The undefended population has the
same membership, so the undefended twin of a target, which was trained on just the target's members, is left out of that
target's references: with it the attacker would be handed the answer.

Paper: Song and Mittal (2021), section 3; references without the defense are their non-adaptive attack.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from reticent import seeds
from reticent.attacks import score
from reticent.attacks.base import Problem
from reticent.auditing.comparison.compare import RowScores, compare
from reticent.findings.attack import Audit
from reticent.findings.audit import NonAdaptive, Verdict
from reticent.findings.numbers import PairedDifference, Statistic
from reticent.jobs.base import Work
from reticent.jobs.config import Job
from reticent.jobs.defenses import undefended
from reticent.jobs.measure import Measurement
from reticent.jobs.scoring import Settings, audited, in_turn
from reticent.population import stored_signals
from reticent.population.in_store import using
from reticent.population.train import train
from reticent.signals.composed import substituted
from reticent.signals.matrix import Floats
from reticent.spec import Spec

KNOWS, DOES_NOT = "adaptive", "non-adaptive"


class Unaware(NamedTuple):
    """What an attacker who does not know of the defense finds: an audit an attack and scores ``(T, N)`` by attack."""

    audits: tuple[Audit, ...]
    scores: dict[str, Floats]


def non_adaptive(job: Job, problem: Problem, aware: Measurement, work: Work) -> tuple[NonAdaptive, dict[str, Floats]]:
    """Train the undefended references, or find them, and attack the defended targets with them; the scores, too."""
    work.tell("undefended references")
    population = replace(job.population, recipe=undefended(job.population.recipe))
    settings = Settings.of(job.config)
    with using(job.config.store, population) as store:
        made = train(population, store, executor=job.executor, progress=work.progress)
        signals, others = stored_signals.signals(population, store, made)
        plain = Problem.make(signals, population.membership, population=others)
        found = against(problem, plain, job.attacks, settings, work.tell)
    return facts(found, problem, aware.scores, aware.verdict, settings), found.scores


def against(
    defended: Problem,
    plain: Problem,
    attacks: Sequence[Spec],
    settings: Settings,
    tell: Callable[[str], None] | None = None,
) -> Unaware:
    """Attack every defended model with the undefended ones, its own twin left out."""
    audits, scores = [], {}
    for attack in in_turn(attacks, tell, "not knowing of the defense: "):
        rows = [score(attack, _problem(defended, plain, int(t)), settings.seed) for t in defended.targets]
        scores[attack.method] = np.concatenate(rows)
        calibration = score(attack, plain, settings.seed), plain.membership.matrix[plain.targets]
        audits.append(audited(attack, scores[attack.method], defended, settings, calibration))
    return Unaware(tuple(audits), scores)


def _problem(defended: Problem, plain: Problem, target: int) -> Problem:
    """Put a target in the place of its twin, which no attack learns from then: a target is none of its references."""
    population = None
    if plain.population is not None and defended.population is not None:
        population = substituted(plain.population, defended.population, target)
    signals = substituted(plain.signals, defended.signals, target)
    return Problem.make(signals, plain.membership, [target], plain.references, population)


def facts(
    found: Unaware, problem: Problem, scores: Mapping[str, Floats], verdict: Verdict, settings: Settings
) -> NonAdaptive:
    """Compare what the attackers with and without knowledge of the defense find, by a paired test."""
    members, attack = problem.membership.matrix[problem.targets], verdict.attack
    compared = compare(
        [
            RowScores(KNOWS, {attack: scores[attack]}, members),
            RowScores(DOES_NOT, {attack: found.scores[attack]}, members),
        ],
        fpr=verdict.fpr,
        rng=seeds.rng(settings.seed, "non-adaptive"),
        confidence=settings.confidence,
        replicates=settings.replicates,
    )
    test = next(one for one in compared.pairs if one.statistic is Statistic.AUC)
    return NonAdaptive(
        attacks=tuple(one.measured for one in found.audits),
        difference=PairedDifference(difference=test.difference, interval=test.interval, p=test.p),
        verdict=test.verdict,
        same_scores=test.same_scores,
    )
