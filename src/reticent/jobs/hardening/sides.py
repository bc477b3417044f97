"""The two sides of a repair: what attacks find in the model before, and in the repaired one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent import seeds
from reticent.attacks.base import Problem
from reticent.auditing.epsilon.bounds import Epsilons, audit_epsilon, default_methods
from reticent.auditing.intervals import auc_interval
from reticent.auditing.verdict import verdict
from reticent.findings.attack import Audit
from reticent.findings.audit import Verdict
from reticent.jobs.hardening.ready import Ready
from reticent.jobs.measure import Settings, attacked
from reticent.population import gather
from reticent.population.population import Population
from reticent.population.worker import Made
from reticent.say.verdict import sentence
from reticent.signals.composed import appended
from reticent.signals.matrix import Floats
from reticent.signals.query import Seen
from reticent.store import Store


@dataclass(frozen=True, eq=False)
class Side:
    """One model and its audit.

    Attributes:
        made: its references.
        audits: one an attack, of one target.
        scores: by attack, ``(1, N)``.
        verdict: what the audits together say.
        epsilons: what the attacks rule out.
        correct: which audited records the model labels correctly ``(N,)``.
        blind: AUC of what the references say on average, members of the model against non-members, with its interval:
            0.5 where the two are equally hard.
        unsteady: the model answers differently when it is asked again.
    """

    made: Sequence[Made]
    audits: tuple[Audit, ...]
    scores: dict[str, Floats]
    verdict: Verdict
    epsilons: Epsilons
    correct: NDArray[np.bool_]
    blind: tuple[float, tuple[float, float]]
    unsteady: bool


def side(
    ready: Ready, population: Population, made: Sequence[Made], seen: Seen, store: Store, tell: Callable[[str], None]
) -> Side:
    """Attack a model with its references."""
    signals, _ = gather.signals(population, store, made)
    joined = appended(signals, seen.margins, seen.logits)
    problem = Problem.make(joined, ready.membership, [ready.target], np.arange(ready.target))
    settings = Settings.of(ready.config)
    audits, scores = attacked(problem, ready.attacks, settings, progress=tell)
    members = ready.membership.matrix[[ready.target]]
    epsilons = audit_epsilon(
        scores,
        members,
        delta=settings.delta,
        methods=default_methods(members, settings.delta, fair=False),
        rng=seeds.rng(settings.seed, "epsilon"),
        confidence=settings.confidence,
    )
    correct = seen.accuracy(signals.labels)
    blind = _blind(problem, members[0], settings.confidence)
    said = verdict(audits)
    said = said.with_(sentence=sentence(said))
    return Side(made, audits, scores, said, epsilons, correct, blind, seen.unsteady)


def _blind(problem: Problem, members: NDArray[np.bool_], confidence: float) -> tuple[float, tuple[float, float]]:
    """Tell members from non-members by the references' mean margin, which knows nothing of the model."""
    from reticent.auditing.roc import auc

    signals, count = problem.signals, len(problem.references)
    mean = np.empty(signals.records)
    for block in signals.blocks():
        mean[block] = np.asarray(signals.margins[slice(0, count), block], dtype=np.float64)[..., 0].mean(axis=0)
    return float(auc(mean, members)), auc_interval(mean, members, confidence)
