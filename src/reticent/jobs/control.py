"""The null control: the same audit with the membership drawn again, so that there is nothing to find.

Who trained on what is permuted among the models, for each record by itself: each record stays in as many models, and
which ones says nothing of them. Models that hold none of the records, or all, were in no draw, and stay as they are.
Attacks, thresholds and intervals then run as before. What they find is an error of the audit; how far their intervals
reach tells the smallest leak that the real audit would have found.

Where models that hold the same records are alike (`auditing.overall_confidence`), membership is exchanged among the
records as well: which models hold the same ones stays as it is, and a record says nothing of which models hold it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from reticent import seeds
from reticent.attacks import check_references, has_references
from reticent.attacks.base import Problem
from reticent.auditing.intervals import tail, widened
from reticent.auditing.verdict import expected_fpr
from reticent.data.membership import Membership, divided
from reticent.errors import InputError, ReticentError
from reticent.findings.attack import Audit
from reticent.findings.audit import Control, Detectable, Verdict
from reticent.findings.numbers import Estimate
from reticent.jobs.scoring import Settings, attacked
from reticent.signals.composed import permuted
from reticent.spec import Spec

STRICT = 75
"""Each of the two errors is allowed `STRICT` times as seldom as the confidence says. At 95 %: an AUC on either side of
one half, 1 in 1,500 audits; a TPR above chance, on one side only, half of that; both together 1 in 1,000."""
POWER = 0.8
"""How often a leak as large as the detectable one is found."""


def _permuted(problem: Problem, seed: int) -> Problem:
    """Deal membership out anew, by unit where these are audited.

    What the models that held a record were told of it goes with the membership.
    """
    matrix, units = problem.drawn.matrix, problem.units
    rows = np.broadcast_to(np.arange(len(matrix))[:, None], matrix.shape)
    drawn = divided(matrix)
    order = np.array(rows)
    order[drawn] = seeds.rng(seed, "permuted").permuted(rows[drawn], axis=0)
    if units is not None:
        matrix, order = units.expanded(matrix), order[:, units.codes]
    replicas = None if problem.replicas is None else permuted(problem.replicas, order)
    dealt = Membership(np.take_along_axis(matrix, order, axis=0))
    dealt.check_divided(problem.targets)
    return replace(problem, membership=dealt, replicas=replicas)


def exchanged(problem: Problem, seed: int) -> Problem:
    """Exchange membership among the records, by unit where these are audited: each gets that of another.

    What the models that held a record were told of it by their own replicas does not go along, and is left out.
    """
    matrix, units = problem.drawn.matrix, problem.units
    moved = matrix[:, seeds.rng(seed, "exchanged").permutation(matrix.shape[1])]
    dealt = Membership(moved if units is None else units.expanded(moved))
    return replace(problem, membership=dealt, replicas=None)


def nulls(
    problem: Problem,
    attacks: Sequence[Spec],
    settings: Settings,
    progress: Callable[[str], None] | None = None,
    deal: Callable[[Problem, int], Problem] = _permuted,
) -> tuple[Audit, ...]:
    """Repeat attacks with permuted membership, or with membership dealt otherwise: those that can be."""
    drawn = _seed(settings)
    made = deal(problem, drawn)
    attacks = [attack for attack in attacks if has_references(attack, made)]
    return attacked(made, attacks, replace(settings, seed=drawn), progress=progress, before="null control: ").audits


def control(nulls: Sequence[Audit], said: Verdict) -> Control:
    """Judge what was found with permuted membership, beside what the audit says."""
    odd = tuple(audit.name for audit in nulls if _odd(audit, len(nulls)))
    return Control(
        attacks=tuple(audit.measured for audit in nulls),
        passed=not odd,
        differ=odd,
        detectable=None if said.unequal is not None else _detectable(nulls, said),
    )


def check(problem: Problem, attacks: Sequence[Spec], settings: Settings) -> None:
    """Find, before anything is attacked, that the permuted membership leaves an attack too few references.

    That happens only where some models alone are targets, or references.
    """
    if np.count_nonzero(divided(problem.membership.matrix)) < 2:
        raise InputError(
            "control: null permutes who was trained on what among models, and one model alone was given that holds "
            "some of the records and not others: leave it out"
        )
    try:
        permuted = _permuted(problem, _seed(settings))
        for attack in attacks:
            check_references(attack, permuted)
    except ReticentError as error:
        raise error.retold(
            f"the null control permutes the membership, which leaves too little: {error}; or leave --control null out"
        ) from None


def possible(problem: Problem, attacks: Sequence[Spec], settings: Settings) -> bool:
    """Tell whether the permuted membership leaves every attack enough references."""
    try:
        check(problem, attacks, settings)
    except ReticentError:
        return False
    return True


def _seed(settings: Settings) -> int:
    return seeds.integer(settings.seed, "control", "null")


def _odd(audit: Audit, attacks: int) -> bool:
    """Whether an attack finds, beyond chance, what is not there: in either direction for the AUC."""
    choices = attacks * STRICT
    low, high = widened(audit.auc, audit.confidence, choices, area=True)
    rates = ((rate.fpr, rate.tpr) for rate in audit.rates if rate.tpr is not None)
    found = any(
        widened(tpr, audit.confidence, choices * len(audit.rates))[0] > expected_fpr(audit, fpr) for fpr, tpr in rates
    )
    return not low <= 0.5 <= high or found


def _detectable(nulls: Sequence[Audit], said: Verdict) -> Detectable:
    """Say what the verdict's attack would have found: the limit of its widened interval, and the power on top."""
    audit = next(audit for audit in nulls if audit.name == said.attack)
    rate = audit.rate(said.fpr)
    tpr = None if rate is None or rate.tpr is None else rate.fpr + _reach(rate.tpr, audit.confidence, len(nulls))
    return Detectable(
        attack=audit.name,
        auc=min(1.0, 0.5 + _reach(audit.auc, audit.confidence, len(nulls))),
        tpr=None if tpr is None else min(1.0, tpr),
        fpr=said.fpr,
        power=POWER,
    )


def _reach(summary: Estimate, confidence: float, attacks: int) -> float:
    alpha = tail(confidence)
    low, high = summary.interval
    error = (high - low) / (-2 * float(ndtri(alpha)))
    return error * float(ndtri(POWER) - ndtri(alpha / attacks))
