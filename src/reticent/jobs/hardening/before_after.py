"""What attacks find in the model before, and in the repaired one, and what the two have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reticent import seeds
from reticent.attacks.base import Problem
from reticent.auditing.blind.baseline import Baseline
from reticent.auditing.comparison.compare import RowScores, compare
from reticent.auditing.epsilon.bounds import audit_epsilon, default_methods
from reticent.auditing.intervals import exact_interval
from reticent.auditing.verdict import FEWEST, verdict
from reticent.findings.audit import Leak
from reticent.findings.harden import (
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
from reticent.jobs.base import Work
from reticent.jobs.blind import blind_baseline
from reticent.jobs.hardening.checks import Ready
from reticent.jobs.hardening.repair import Repaired
from reticent.jobs.imitators import imitators
from reticent.jobs.locate.source import Weights
from reticent.jobs.scoring import Settings, attacked, beyond
from reticent.population import stored_signals
from reticent.population.population import Population
from reticent.population.worker import Made
from reticent.procedures import entry
from reticent.say import blind as say_blind
from reticent.say import epsilon as say_epsilon
from reticent.say import harden as say
from reticent.say.verdict import sentence
from reticent.signals.ask import Seen
from reticent.signals.composed import appended
from reticent.signals.matrix import Floats
from reticent.spec import canonical, full
from reticent.store import Store

MAX_ACCURACY_LOSS = 0.1
"""A repair that takes more of the right answers on non-members than this share has broken the model."""
NORMAL = 1.96
"""Standard errors beyond which chance is no explanation."""


@dataclass(frozen=True, eq=False)
class AuditedSide:
    """One model and its audit: its references, its scores by attack ``(1, N)``, and which records it labels right."""

    found: Side
    made: Sequence[Made]
    scores: dict[str, Floats]
    correct: NDArray[np.bool_]


def told_apart(ready: Ready, made: Sequence[Made], store: Store) -> Baseline | None:
    """Tell members from non-members without the model.

    What references say of a record is known too: each was trained on a random half of both, and knows which are hard.
    """
    signals, _ = stored_signals.signals(ready.before, store, made)
    mean = np.empty((signals.records, 1))
    for block in signals.blocks():
        mean[block, 0] = np.asarray(signals.plain(block), np.float64).mean(axis=0)
    row, records, ids = ready.membership.matrix[ready.target], ready.sorted.records, ready.before.roles.audited
    return blind_baseline(row[None], signals.labels, records, ids, Settings.of(ready.config), mean)


def audited(
    ready: Ready,
    population: Population,
    made: Sequence[Made],
    seen: Seen,
    store: Store,
    blind: Baseline | None,
    work: Work,
) -> AuditedSide:
    """Attack a model with its references; what is found without the model is no leak."""
    signals, _ = stored_signals.signals(population, store, made)
    joined, target = appended(signals, seen.margins, seen.logits), ready.target
    mimics = imitators(ready.attacks, ready.before, target, seen.logits, store, ready.executor, work)
    problem = Problem.make(joined, ready.membership, [target], np.arange(target), imitators=mimics)
    settings, row = Settings.of(ready.config), ready.membership.matrix[ready.target]
    audits, scores, _ = attacked(problem, ready.attacks, settings, progress=work.tell)
    epsilon = None
    if blind is not None and blind.found.shift:
        audits = beyond(ready.attacks, audits, scores, row[None], blind, settings)
    else:
        epsilons = audit_epsilon(
            scores,
            row[None],
            delta=settings.delta,
            methods=default_methods(row[None], settings.delta, fair=False),
            rng=seeds.rng(settings.seed, "epsilon"),
            confidence=settings.confidence,
        )
        audits = tuple(audit.with_(epsilon=epsilons.attacks[audit.name]) for audit in audits)
        epsilon = say_epsilon.spoken(epsilons.overall)
    correct, said = seen.correct(signals.labels), verdict(audits)
    untaught = [ready.untaught] if ready.untaught and population is ready.before else []
    found = Side(
        accuracy=SideAccuracy(
            members=_share(correct[row], settings.confidence), non_members=_share(correct[~row], settings.confidence)
        ),
        verdict=SideVerdict.model_validate(dict(said) | {"sentence": sentence(said, audits)}, extra="ignore"),
        attacks=audits,
        epsilon=epsilon,
        references=_references(made, len(population.roles.audited)),
        notices=(*untaught, *seen.notices, *dict.fromkeys(ready.left_out.values())),
    )
    return AuditedSide(found, made, scores, correct)


def _share(right: NDArray[np.bool_], confidence: float) -> MeasuredShare:
    return MeasuredShare(value=float(right.mean()), interval=exact_interval(int(right.sum()), len(right), confidence))


def _references(made: Sequence[Made], audited: int) -> References:
    return References(
        members=float(np.mean([one.facts.members for one in made])),
        accuracy=Accuracy(
            members=document.spread([one.facts.accuracy_members for one in made]),
            non_members=document.spread([one.facts.accuracy_non_members for one in made]),
        ),
        health=document.health(made, audited),
        runs=tuple(one.training for one in made),
        notices=tuple(document.notices(made)),
    )


def lost(before: NDArray[np.bool_], after: NDArray[np.bool_], most: float) -> bool:
    """Tell whether more right answers on the same records are lost than a share, and more than by chance."""
    fell = before.astype(float) - after
    return bool(fell.mean() > max(most, NORMAL * fell.std() / len(fell) ** 0.5))


def doubt(members: int, others: int, *, leaks: bool, shift: bool, alike: bool = True) -> Doubt | None:
    """Decide whether the two models can be compared.

    Where members and non-members differ without the model, the change of an attack's figure is that of what it finds
    beyond the blind baseline, which is the same before and after; but where nothing was found beyond it before, less of
    it is no smaller leak.
    """
    if min(members, others) < FEWEST:
        return Doubt.FEW_RECORDS
    if shift and not leaks:
        return Doubt.RECORDS_DIFFER
    return None if alike else Doubt.REFERENCES_DIFFER


def findings(
    ready: Ready,
    repaired: Repaired,
    before: AuditedSide,
    after: AuditedSide,
    blind: Baseline | None,
    weights: Weights,
    work: Work,
) -> HardenDocument:
    """Put the document together."""
    known, recipe = ready.sorted, full(ready.after.recipe)
    procedure = entry(ready.after.recipe)
    records, facts = known.records, repaired.facts
    sizes = len(known.members), len(known.others)
    # Only where they were alike before is it the repair that the references do not share.
    alike = not after.found.unlike(*sizes) or bool(before.found.unlike(*sizes))
    leaks, shift = before.found.verdict.leak is Leak.FOUND, blind is not None and blind.found.shift
    why = doubt(*sizes, leaks=leaks, shift=shift, alike=alike)
    judged = why in {None, Doubt.RECORDS_DIFFER}  # What is found beyond the blind baseline is a leak all the same.
    others = ~ready.membership.matrix[ready.target]
    found = HardenDocument(
        leak=after.found.verdict.leak if judged else Leak.CANNOT_TELL,
        doubt=why,
        broken=lost(before.correct[others], after.correct[others], MAX_ACCURACY_LOSS),
        model=RepairedModel(
            architecture=recipe["architecture"],
            weights=str(weights) if isinstance(weights, (str, Path)) else None,
            parameters=after.made[0].facts.parameters,
            initial=ready.origin,
            no_sign=ready.no_sign,
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
            tuning_epochs=procedure.tuning_epochs(ready.after.recipe),
            goes_on=procedure.goes_on(ready.after.recipe),
            by_default=ready.by_default,
            held=ready.held,
        ),
        references=ready.target,
        before=before.found,
        after=after.found,
        difference=_compared(ready, before, after),
        blind=None if blind is None else say_blind.spoken(blind.found),
        environment=_environment(ready, repaired, before, after, work),
    )
    return say.spoken(found, tuple(document.data_sentences(records)))


def _compared(ready: Ready, before: AuditedSide, after: AuditedSide) -> Difference:
    members, settings = ready.membership.matrix[[ready.target]], ready.config
    sides = (("before", before), ("after", after))
    found = compare(
        [RowScores(name, side.scores, members, correct=side.correct[None]) for name, side in sides],
        fpr=before.found.verdict.fpr,
        rng=seeds.rng(settings.seed, "harden"),
        confidence=settings.confidence,
        replicates=settings.replicates,
    )
    return Difference(**dict(found) | {"pairs": tuple(one.turned() for one in found.pairs)})


def _environment(
    ready: Ready, repaired: Repaired, before: AuditedSide, after: AuditedSide, work: Work
) -> HardenEnvironment:
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
        device=ready.executor.device,
        workers=ready.executor.workers,
        models_found=sum(not one.fresh for side in (before, after) for one in side.made),
        config=canonical(ready.config),
    )
    return HardenEnvironment(**dict(told), repair_found=not repaired.fresh, repair=cost)
