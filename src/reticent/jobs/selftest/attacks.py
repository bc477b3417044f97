"""Checks of every attack in the table: it finds a planted leak, finds none where none is, and never asks its target."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from reticent import attacks
from reticent.arrays import Ints
from reticent.attacks.lira import Lira
from reticent.attacks.rmia import Rmia
from reticent.attacks.selena_replica import SelenaReplica
from reticent.auditing import roc
from reticent.auditing.intervals import widened
from reticent.findings.audit import Leak
from reticent.findings.numbers import ShareEstimate
from reticent.findings.selftest import Fault
from reticent.jobs import attack as job
from reticent.jobs.scoring import Settings, attacked
from reticent.jobs.selftest import synthetic
from reticent.jobs.selftest.checks import Checks, check, near, number, within
from reticent.spec import Spec

LEAST = 0.65
"""AUC that every attack reaches on the planted leak; it is 0.75 and more in a sound installation."""
NULL_CONFIDENCE = 0.999
"""All attacks together call a leak in at most one of a thousand drawings of signals without one."""
TRAP_RECORDS = 1000
TRAP_LIMIT = 0.092
"""Five standard errors of an AUC over 500 members and as many others, where membership tells nothing."""
TRAP_TARGETS = (0, 2, synthetic.TRAP_MODELS - 1)
FEW: tuple[tuple[int, synthetic.Tail], ...] = ((4, "heavy"), (4, "skewed"), (5, "skewed"))
FEW_RECORDS = 3000
FEW_LIMIT = 0.03
"""Five standard deviations of that AUC over 60 drawings; counts that differ give LiRA 0.55."""
VARIANTS: dict[str, Spec] = {
    "lira-median": Lira(centre="median"),
    "lira-offline": Lira(mode="offline"),
    "rmia-trimmed": Rmia(mode="offline", a=0.5, trim=0.1),
    "rmia-offline": Rmia(mode="offline"),
    "selena-replica-distance": SelenaReplica(features="distance"),
}
"""Options under which references are summed up otherwise."""


def networks() -> Checks:
    """Check attacks that fit a network in all these ways, by options that take little time."""
    specs, targets = _specs(fitted=True), np.arange(0, 16, 2)  # these share a fit
    yield from _leak(specs, targets)
    settings = Settings(synthetic.SEED, replicates=400, confidence=NULL_CONFIDENCE)
    problem = replace(synthetic.problem(0.0, 16, 600, "null"), targets=targets)
    found = attacked(problem, list(specs.values()), settings).audits
    yield from _nothing_found({f"{audit.name}-null": audit.auc for audit in found})
    yield from _own_references(specs, TRAP_TARGETS[:1], (0,))


def _specs(*, fitted: bool) -> dict[str, Spec]:
    return {name: entry.brief for name, entry in attacks.ATTACKS.items() if entry.fitted == fitted}


def leak() -> Checks:
    """Plant a leak in signals of 16 models."""
    yield from _leak(_specs(fitted=False), np.arange(16))


def _leak(specs: Mapping[str, Spec], targets: Ints) -> Checks:
    problem = replace(synthetic.problem(3.0, 16, 300, "leak"), targets=targets)
    members = problem.members
    for name, spec in specs.items():
        scores = attacks.score(spec, problem, synthetic.SEED)
        area = synthetic.auc(scores, members)
        cause = Fault.ATTACK_SIGN if area < 1 - LEAST else Fault.ATTACK_BLIND
        yield check(name, f"AUC at least {LEAST}", f"AUC {number(area)}", area >= LEAST, cause)
        swapped = float(np.mean(roc.auc(scores, ~members)))
        yield near(f"{name}-exchanged", 1 - area, swapped, Fault.EXCHANGED)


def null() -> Checks:
    """Attack signals that leak nothing, through the whole path of an audit."""
    problem = synthetic.problem(0.0, 16, 600, "null")
    specs = _specs(fitted=False)
    alone = [name for name in specs if not attacks.needs_models(name)]
    done = job.attack(
        labels=problem.signals.labels,
        logits=np.asarray(problem.signals.logits),
        membership=problem.membership,
        attacks=alone,
        seed=synthetic.SEED,
        confidence=NULL_CONFIDENCE,
        replicates=400,
    )
    areas = {one.name: one.auc for one in done.findings.attacks}
    rest = [spec for name, spec in specs.items() if name not in areas]
    settings = Settings(synthetic.SEED, replicates=400, confidence=NULL_CONFIDENCE)
    areas |= {audit.name: audit.auc for audit in attacked(problem, rest, settings).audits}
    yield from _nothing_found(areas)
    epsilon = done.findings.epsilon
    yield from _nothing_said(done.findings.verdict.leak, None if epsilon is None else epsilon.lower)
    yield from _few_models()


def _nothing_found(areas: Mapping[str, ShareEstimate]) -> Checks:
    for name, area in areas.items():
        low, high = widened(area, NULL_CONFIDENCE, len(areas), area=True)
        told = f"{low:.3f} to {high:.3f}"
        yield check(name, "AUC's interval holds 0.5", told, low <= 0.5 <= high, Fault.FALSE_LEAK)


def _few_models() -> Checks:
    """Attack few models that leak nothing, whose margins have heavy or skewed tails; not by what needs more of them."""
    for name, entry in attacks.ATTACKS.items():
        if not entry.strong or attacks.needs_models(name) or entry.needs(entry.spec()).references_out > 1:
            continue
        areas = []
        for models, shape in FEW:
            problem = synthetic.tails(models, FEW_RECORDS, shape)
            areas.append(synthetic.auc(attacks.score(name, problem, synthetic.SEED), problem.membership.matrix))
        worst = max(areas, key=lambda area: abs(area - 0.5))
        yield within(f"{name}-few-models", 0.5 - FEW_LIMIT, 0.5 + FEW_LIMIT, worst, Fault.REFERENCE_COUNT)


def _nothing_said(leak: Leak, bound: float | None) -> Checks:
    """Check the verdict and the bound on epsilon of an audit of nothing."""
    yield check("verdict", "no leak found", f"leak: {leak}", leak is not Leak.FOUND, Fault.FALSE_VERDICT)
    if bound is not None:
        told = "no epsilon" if bound == 0 else f"every epsilon below {number(bound)}"
        yield check("epsilon", "no epsilon is ruled out", f"{told} is ruled out", bound == 0, Fault.FALSE_EPSILON)


def own_references() -> Checks:
    """Set a trap for a target among its own references, and turn its own membership over."""
    yield from _own_references(_specs(fitted=False) | VARIANTS, TRAP_TARGETS, (0, 5, 11))


def _own_references(specs: Mapping[str, Spec], trapped: tuple[int, ...], turned: tuple[int, ...]) -> Checks:
    plain = replace(synthetic.problem(2.0, 12, 120, "flip"), targets=np.array(turned))
    for name, spec in specs.items():
        held = max(1, attacks.ATTACKS[spec.method].needs(spec).references_in)
        traps = [synthetic.trap(target, TRAP_RECORDS, held) for target in trapped]
        areas = [
            synthetic.auc(attacks.score(spec, trap, synthetic.SEED), trap.membership.matrix[trap.targets])
            for trap in traps
        ]
        worst = max(areas, key=lambda area: abs(area - 0.5))
        yield within(f"{name}-trap", 0.5 - TRAP_LIMIT, 0.5 + TRAP_LIMIT, worst, Fault.OWN_REFERENCE)
        scores = attacks.score(spec, plain, synthetic.SEED)
        changed = 0
        for row, target in enumerate(turned):
            other = attacks.score(spec, synthetic.flipped(plain, target), synthetic.SEED)[0]
            changed += int(np.count_nonzero(other != scores[row]))
        told = "own row told wrong: 0 scores change"
        yield check(f"{name}-row", told, f"{changed} scores change", changed == 0, Fault.OWN_REFERENCE)
