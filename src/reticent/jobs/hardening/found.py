"""What attacks find in the model before, and in the repaired one, and what the two have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reticent import seeds
from reticent.attacks.base import Problem
from reticent.auditing.comparison.compare import RowScores, compare
from reticent.auditing.epsilon.bounds import audit_epsilon, default_methods
from reticent.auditing.intervals import auc_interval, clopper_pearson
from reticent.auditing.roc import auc
from reticent.auditing.verdict import FEWEST, verdict
from reticent.findings.audit import Leak
from reticent.findings.base import Interval
from reticent.findings.harden import (
    Blind,
    Difference,
    Doubt,
    HardenDocument,
    HardenEnvironment,
    MeasuredShare,
    References,
    RepairCost,
    RepairData,
    RepairedModel,
    RepairRun,
    Side,
    SideAccuracy,
    SideVerdict,
)
from reticent.findings.population import Accuracy
from reticent.findings.training import ProcedureFacts
from reticent.jobs import document
from reticent.jobs.hardening.ready import Ready
from reticent.jobs.hardening.repair import Repaired
from reticent.jobs.locate.source import Weights
from reticent.jobs.measure import Settings, attacked
from reticent.jobs.work import Work
from reticent.population import gather
from reticent.population.population import Population
from reticent.population.worker import Made
from reticent.say import epsilon as say_epsilon
from reticent.say import harden as say
from reticent.say.verdict import sentence
from reticent.signals.composed import appended
from reticent.signals.matrix import Floats
from reticent.signals.query import UNSTEADY, Seen
from reticent.spec import canonical, full
from reticent.store import Store

MAX_ACCURACY_LOSS = 0.1
"""A repair that takes more of the right answers on non-members than this share has broken the model."""
NORMAL = 1.96
"""Standard errors beyond which chance is no explanation."""
APART = 0.05
"""So far from one half, with its whole interval, what knows nothing of the model makes the audit one of the records."""


@dataclass(frozen=True, eq=False)
class Audited:
    """One model and its audit.

    Attributes:
        found: the findings.
        made: the references.
        scores: by attack, ``(1, N)``.
        correct: which audited records the model labels correctly ``(N,)``.
        blind: what the references say on average, members of the model against non-members.
    """

    found: Side
    made: Sequence[Made]
    scores: dict[str, Floats]
    correct: NDArray[np.bool_]
    blind: Blind


def audited(
    ready: Ready, population: Population, made: Sequence[Made], seen: Seen, store: Store, tell: Callable[[str], None]
) -> Audited:
    """Attack a model with its references."""
    signals, _ = gather.signals(population, store, made)
    joined = appended(signals, seen.margins, seen.logits)
    problem = Problem.make(joined, ready.membership, [ready.target], np.arange(ready.target))
    settings, row = Settings.of(ready.config), ready.membership.matrix[ready.target]
    audits, scores = attacked(problem, ready.attacks, settings, progress=tell)
    epsilons = audit_epsilon(
        scores,
        row[None],
        delta=settings.delta,
        methods=default_methods(row[None], settings.delta, fair=False),
        rng=seeds.rng(settings.seed, "epsilon"),
        confidence=settings.confidence,
    )
    correct, said = seen.accuracy(signals.labels), verdict(audits)
    found = Side(
        accuracy=SideAccuracy(
            members=_share(correct[row], settings.confidence), non_members=_share(correct[~row], settings.confidence)
        ),
        verdict=SideVerdict.model_validate(dict(said) | {"sentence": sentence(said, audits)}, extra="ignore"),
        attacks=tuple(audit.with_(epsilon=epsilons.attacks[audit.name]) for audit in audits),
        epsilon=say_epsilon.spoken(epsilons.overall),
        references=_references(made),
        notices=(*(UNSTEADY,) * seen.unsteady, *dict.fromkeys(ready.left_out.values())),
    )
    return Audited(found, made, scores, correct, _blind(problem, row, settings.confidence))


def _share(right: NDArray[np.bool_], confidence: float) -> MeasuredShare:
    low, high = clopper_pearson(int(right.sum()), len(right), confidence)
    return MeasuredShare(value=float(right.mean()), interval=(float(low), float(high)))


def _references(made: Sequence[Made]) -> References:
    return References(
        members=float(np.mean([one.facts.members for one in made])),
        accuracy=Accuracy(
            members=document.spread([one.facts.accuracy_members for one in made]),
            non_members=document.spread([one.facts.accuracy_non_members for one in made]),
        ),
        health=document.health(made),
        runs=tuple(one.training for one in made),
        notices=tuple(document.notices(made)),
    )


def _blind(problem: Problem, members: NDArray[np.bool_], confidence: float) -> Blind:
    """Tell members from non-members by the references' mean margin, which knows nothing of the model."""
    signals, count = problem.signals, len(problem.references)
    mean = np.empty(signals.records)
    for block in signals.blocks():
        mean[block] = np.asarray(signals.margins[slice(0, count), block], dtype=np.float64)[..., 0].mean(axis=0)
    return Blind(auc=float(auc(mean, members)), interval=auc_interval(mean, members, confidence))


def lost(before: NDArray[np.bool_], after: NDArray[np.bool_], most: float) -> bool:
    """Tell whether more right answers on the same records are lost than a share, and more than by chance."""
    fell = before.astype(float) - after
    return bool(fell.mean() > max(most, NORMAL * fell.std() / len(fell) ** 0.5))


def doubt(members: int, others: int, blind: Interval, *, alike: bool = True) -> Doubt | None:
    """Decide whether anything can be judged; `alike` says whether the references are as the repaired model is."""
    if min(members, others) < FEWEST:
        return Doubt.FEW_RECORDS
    low, high = blind
    if low > 0.5 + APART or high < 0.5 - APART:
        return Doubt.RECORDS_DIFFER
    return None if alike else Doubt.REFERENCES_DIFFER


def findings(
    ready: Ready, repaired: Repaired, before: Audited, after: Audited, weights: Weights, work: Work
) -> HardenDocument:
    """Put the document together."""
    known, recipe = ready.sorted, full(ready.after.recipe)
    records, facts = known.records, repaired.facts
    sizes = len(known.members), len(known.others)
    # Only where they were alike before is it the repair that the references do not share.
    alike = not after.found.unlike(*sizes) or bool(before.found.unlike(*sizes))
    why = doubt(*sizes, before.blind.interval, alike=alike)
    others = ~ready.membership.matrix[ready.target]
    found = HardenDocument(
        leak=after.found.verdict.leak if why is None else Leak.CANNOT_TELL,
        doubt=why,
        broken=lost(before.correct[others], after.correct[others], MAX_ACCURACY_LOSS),
        model=RepairedModel(
            architecture=recipe["architecture"],
            weights=str(weights) if isinstance(weights, (str, Path)) else None,
            parameters=after.made[0].facts.parameters,
            initial=ready.origin,
        ),
        data=RepairData(
            **dict(document.data_facts(records)),
            members=len(known.members),
            non_members=len(known.others),
            reference=len(known.reference),
            notes=known.notes,
        ),
        repair=RepairRun(
            defense=ready.defense,
            recipe=recipe,
            run=repaired.run,
            facts=ProcedureFacts.model_validate(dict(facts) | {"notices": (), "stages": ()}, extra="ignore"),
            notices=facts.notices,
        ),
        references=ready.target,
        before=before.found,
        after=after.found,
        difference=_compared(ready, before, after),
        blind=before.blind,
        environment=_environment(ready, repaired, before, after, work),
    )
    return say.spoken(found, tuple(document.data_sentences(records)))


def _compared(ready: Ready, before: Audited, after: Audited) -> Difference:
    """Compare the two models on the same records, by paired tests."""
    members, settings = ready.membership.matrix[[ready.target]], ready.config
    sides = (("before", before), ("after", after))
    found = compare(
        [RowScores(name, side.scores, members, correct=side.correct[None]) for name, side in sides],
        fpr=before.found.verdict.fpr,
        rng=seeds.rng(settings.seed, "harden"),
        confidence=settings.confidence,
        replicates=settings.replicates,
    )
    return Difference(**dict(found))


def _environment(ready: Ready, repaired: Repaired, before: Audited, after: Audited, work: Work) -> HardenEnvironment:
    facts = repaired.facts
    # Of plain training on as many members: the references' mean, in proportion to members.
    anew = float(np.mean([one.facts.seconds / one.facts.members for one in before.made])) * len(ready.sorted.members)
    cost = RepairCost(
        seconds=round(facts.seconds, 3),
        peak_memory_bytes=facts.peak_memory_bytes,
        stages=facts.stages,
        seconds_training_anew=round(anew, 3),
        share_of_training_anew=round(facts.seconds / anew, 3),
    )
    told = work.environment(
        device=ready.device,
        workers=ready.workers,
        models_found=sum(not one.fresh for side in (before, after) for one in side.made),
        config=canonical(ready.config),
    )
    return HardenEnvironment(**dict(told), repair_found=not repaired.fresh, repair=cost)
