"""Checks of every attack in the table: it finds a planted leak, finds none where none is, and never asks its target."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from reticent import attacks
from reticent.attacks.lira import Lira
from reticent.attacks.rmia import Rmia
from reticent.attacks.selena_replica import SelenaReplica
from reticent.auditing import roc
from reticent.auditing.verdict import widened
from reticent.findings.numbers import Estimate
from reticent.jobs import attack as job
from reticent.jobs.measure import Settings, attacked
from reticent.jobs.selftest import made
from reticent.jobs.selftest.line import Line, Lines, near, number, within
from reticent.spec import Spec

LEAST = 0.65
"""AUC that every attack reaches on the planted leak; it is 0.75 and more in a sound installation."""
NULL_CONFIDENCE = 0.999
"""All attacks together call a leak in at most one of a thousand drawings of signals without one."""
TRAP_RECORDS = 1000
TRAP_LIMIT = 0.092
"""Five standard errors of an AUC over 500 members and as many others, where membership tells nothing."""
TRAP_TARGETS = (0, 2, made.TRAP_MODELS - 1)
FEW: tuple[tuple[int, made.Tail], ...] = ((4, "heavy"), (4, "skewed"), (5, "skewed"))
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
OWN = (
    "A target among its own references: what the target itself says, or its own row of the membership, entered what it "
    "is compared with. Every audit by this attack finds leaks that are not there, or hides those that are."
)


def leak() -> Lines:
    """Plant a leak in signals of 16 models."""
    problem = made.problem(3.0, 16, 300, "leak")
    members = problem.membership.matrix
    for name in attacks.ATTACKS:
        scores = attacks.score(name, problem, made.SEED)
        area = made.auc(scores, members)
        yield Line(name, f"AUC at least {LEAST}", f"AUC {number(area)}", area >= LEAST, _missed(area))
        swapped = float(np.mean(roc.auc(scores, ~members)))
        yield near(
            f"{name}-exchanged", 1 - area, swapped,
            "A sign, or equal scores: with members and non-members exchanged, the AUC must be one minus the AUC, ties "
            "counted half. The metric, not the attack, is wrong.",
        )  # fmt: skip


def _missed(area: float) -> str:
    if area < 1 - LEAST:
        return (
            "A sign: the attack gives members lower scores than non-members, so that its audits would call a leak "
            "the opposite."
        )
    return "The attack is blind: it does not find a leak that was planted for it, so that its audits would find none."


def null() -> Lines:
    """Attack signals that leak nothing, through the whole path of an audit."""
    problem = made.problem(0.0, 16, 600, "null")
    alone = [name for name in attacks.ATTACKS if not attacks.needs_replicas(name)]
    done = job.attack(
        labels=problem.signals.labels,
        logits=np.asarray(problem.signals.logits),
        membership=problem.membership,
        attacks=alone,
        seed=made.SEED,
        confidence=NULL_CONFIDENCE,
        replicates=400,
    )
    areas = {one["name"]: Estimate(**one["overall"]["auc"]) for one in done.document["attacks"]}
    rest = [attacks.parse(name) for name in attacks.ATTACKS if name not in areas]
    settings = Settings(made.SEED, replicates=400, confidence=NULL_CONFIDENCE)
    areas |= {audit.name: audit.auc for audit in attacked(problem, rest, settings)[0]}
    for name, area in areas.items():
        low, high = widened(area, NULL_CONFIDENCE, len(areas))
        yield Line(
            name,
            "AUC's interval holds 0.5",
            f"{low:.3f} to {high:.3f}",
            low <= 0.5 <= high,
            "A leak is seen where there is none: something that depends on membership alone reached the scores (a "
            "target among its own references, the number of references, the order of the records).",
        )
    yield from _nothing_said(done.document)
    yield from _few_models()


def _few_models() -> Lines:
    """Attack few models that leak nothing, whose margins have heavy or skewed tails."""
    for name, entry in attacks.ATTACKS.items():
        if not entry.strong or attacks.needs_replicas(name):
            continue
        areas = []
        for models, shape in FEW:
            problem = made.tails(models, FEW_RECORDS, shape)
            areas.append(made.auc(attacks.score(name, problem, made.SEED), problem.membership.matrix))
        worst = max(areas, key=lambda area: abs(area - 0.5))
        yield within(
            f"{name}-few-models", 0.5 - FEW_LIMIT, 0.5 + FEW_LIMIT, worst,
            "The number of references reached the scores: a target's members have one reference fewer that was trained "
            "on them than its non-members. Audits of few models find leaks that are not there.",
        )  # fmt: skip


def _nothing_said(document: Mapping[str, Any]) -> Lines:
    """Check the verdict and the bound on epsilon of an audit of nothing."""
    told = document["verdict"]["leak"]
    yield Line(
        "verdict", "no leak found", f"leak: {told}", told != "found",
        "The verdict calls a leak where there is none: the choice of the best attack is not corrected for, or an "
        "interval is too short.",
    )  # fmt: skip
    bound = (document.get("epsilon") or {}).get("lower")
    if bound is not None:
        ruled = "no epsilon" if bound == 0 else f"every epsilon below {number(bound)}"
        yield Line(
            "epsilon", "no epsilon is ruled out", f"{ruled} is ruled out", bound == 0,
            "A bound on epsilon where nothing leaks: the choice of attack, target or threshold is not corrected for.",
        )  # fmt: skip


def own_references() -> Lines:
    """Set a trap for a target among its own references, and turn its own membership over."""
    plain = made.problem(2.0, 12, 120, "flip")
    for name, spec in ({name: attacks.parse(name) for name in attacks.ATTACKS} | VARIANTS).items():
        held = max(1, attacks.ATTACKS[spec.method].needs(spec).references_in)
        traps = [made.trap(target, TRAP_RECORDS, held) for target in TRAP_TARGETS]
        areas = [made.auc(attacks.score(spec, trap, made.SEED), trap.membership.matrix[trap.targets]) for trap in traps]
        worst = max(areas, key=lambda area: abs(area - 0.5))
        yield within(f"{name}-trap", 0.5 - TRAP_LIMIT, 0.5 + TRAP_LIMIT, worst, OWN)
        scores = attacks.score(spec, plain, made.SEED)
        changed = 0
        for target in (0, 5, 11):
            other = attacks.score(spec, made.flipped(plain, target), made.SEED)[0]
            changed += int(np.count_nonzero(other != scores[target]))
        told = "own row told wrong: 0 scores change"
        yield Line(f"{name}-row", told, f"{changed} scores change", changed == 0, OWN)
