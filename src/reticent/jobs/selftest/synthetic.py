"""Made-up signals: a leak that is known, none, and a trap for a target among its own references."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reticent import seeds
from reticent.attacks import ATTACKS, probes
from reticent.attacks.base import Imitators, Inputs, Problem
from reticent.data.membership import Membership
from reticent.signals.matrix import Matrix, Signals, log_probability
from reticent.spec import Spec

SEED = 20_260
CLASSES = 5
TRAP_MODELS = 6
Floats = NDArray[np.float64]
Tail = Literal["heavy", "skewed"]


def problem(gap: float, models: int, records: int, name: str) -> Problem:
    """Make models that find some records harder than others, and members easier by a gap."""
    rng = seeds.rng(SEED, "selftest", name)
    labels = rng.integers(0, CLASSES, records)
    membership = Membership.draw(models, records, SEED)
    logits = rng.normal(size=(models, records, CLASSES))
    ease = rng.normal(0.0, 1.0, records)
    logits[:, np.arange(records), labels] += ease + gap * membership.matrix
    signals = Signals.from_logits(logits, labels)
    told, mimics = taught(logits, membership.matrix), imitating(rng, range(models), labels, ease)
    return Problem.make(
        signals, membership, replicas=told, probed=probed(signals), imitators=mimics, inputs=inputs(rng, records)
    )


def imitating(
    rng: np.random.Generator, targets: Iterable[int], labels: NDArray[np.int64], ease: Floats, noise: float = 1.0
) -> dict[int, Imitators]:
    """Make four imitators of each target, which find records as easy as it does where it was not trained on them."""
    made = {}
    for target in targets:
        logits = rng.normal(0.0, noise, (4, len(labels), CLASSES))
        logits[:, np.arange(len(labels)), labels] += ease
        inside = Membership.draw(4, len(labels), SEED + target).matrix
        made[target] = Imitators(np.asarray(Signals.from_logits(logits, labels).margins), inside)
    return made


def taught(logits: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Make soft targets of each model's members, as if SELENA had brought each model to answer them exactly."""
    odds = np.exp(logits - logits.max(axis=2, keepdims=True))
    return np.where(inside[:, :, None], odds / odds.sum(axis=2, keepdims=True), np.nan)


def probed(signals: Signals) -> dict[Spec, Matrix]:
    """Make answers to all attacks' probes that say what the label's probability does, as many as epochs or classes."""
    share = np.exp(log_probability(np.asarray(signals.margins)))
    asked = probes(entry.brief for entry in ATTACKS.values())
    return {one: share.repeat(getattr(one, "epochs", signals.classes), axis=2) for one in asked}


def inputs(rng: np.random.Generator, records: int) -> Inputs:
    """Make features that tell nothing."""
    return Inputs("tabular", rng.normal(size=(records, 3)), np.zeros((0, 3)))


def tails(models: int, records: int, tail: Tail, draw: int = 0) -> Problem:
    """Make models that leak nothing, whose margins are far from normal."""
    rng = seeds.rng(SEED, "selftest", "tails", models, tail, draw)
    noise = rng.standard_t(4, (models, records)) if tail == "heavy" else rng.lognormal(size=(models, records))
    margins = 2 * rng.normal(size=records) + np.exp(rng.normal(0, 0.5, records)) * noise
    membership = Membership.draw(models, records, SEED + draw)
    return Problem.make(Signals.from_margins(margins, rng.integers(0, CLASSES, records), CLASSES), membership)


def trap(target: int, records: int, held: int = 1) -> Problem:
    """Make one model that answers unlike all others, and membership that has nothing to do with it.

    All references agree on a record but for a little noise, exactly one of them was trained on it, and the target is
    far above them. An attack that leaves the target among its references drags their centre toward it, more where it
    was the second IN model of two than where it was the fifth OUT model of five: that gives its members away, although
    nothing does. So does its own soft target among the replicas, to which it alone comes close.
    """
    rng = seeds.rng(SEED, "selftest", "trap", target)
    others = [model for model in range(TRAP_MODELS) if model != target]
    labels = rng.integers(0, CLASSES, records)
    inside = np.zeros((TRAP_MODELS, records), dtype=np.bool_)
    inside[rng.choice(others, records), np.arange(records)] = True
    for _ in range(held - 1):
        free = rng.random(inside.shape) - 2.0 * inside
        free[target] = -1.0
        inside[free.argmax(axis=0), np.arange(records)] = True
    inside[target] = rng.permutation(records) < records // 2
    logits = rng.normal(0.0, 0.01, (TRAP_MODELS, records, CLASSES))
    logits[:, np.arange(records), labels] -= 16.0
    logits[target, np.arange(records), labels] += rng.uniform(18.0, 22.0, records)
    signals = Signals.from_logits(logits, labels)
    return Problem.make(
        signals,
        inside,
        targets=[target],
        replicas=taught(logits, inside),
        imitators=imitating(rng, [target], labels, np.full(records, -16.0), 0.01),
        probed=probed(signals),
        inputs=inputs(rng, records),
    )


def flipped(given: Problem, target: int) -> Problem:
    """Tell an attack the opposite of one target's membership."""
    matrix = given.membership.matrix.copy()
    matrix[target] = ~matrix[target]
    return replace(given, membership=Membership(matrix), targets=np.array([target]))


def auc(scores: Floats, members: NDArray[np.bool_]) -> float:
    """Count pairs for the AUC, ties half; on purpose not the function that audits use."""
    rows = zip(np.atleast_2d(scores), np.atleast_2d(members), strict=True)
    areas = [(1 + np.sign(row[own][:, None] - row[~own][None, :]).mean()) / 2 for row, own in rows]
    return float(np.mean(areas))
