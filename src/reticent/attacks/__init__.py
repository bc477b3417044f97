"""Attacks: from what models say of records to scores, higher for likelier members; NumPy only.

To add one: see the table in CONTRIBUTING.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import seeds
from reticent.attacks import (
    confidence,
    correctness,
    entropy,
    lira,
    lira_released,
    loss,
    modified_entropy,
    reference_counts,
    rmia,
    selena_replica,
    thresholds,
)
from reticent.attacks.base import Access, AttackEntry, Needs, Offer, Problem, enough_queries, model_rows
from reticent.attacks.view import view
from reticent.data.membership import Membership, as_membership
from reticent.errors import InputError, NonFiniteError, ShapeError, SpecError, UnknownNameError
from reticent.signals.matrix import Floats
from reticent.spec import Spec

__all__ = [
    "ATTACKS",
    "Access",
    "AttackEntry",
    "Needs",
    "Offer",
    "Problem",
    "check_membership",
    "check_offer",
    "check_references",
    "lacking_references",
    "needs_replicas",
    "parse",
    "score",
]

_YEOM = "Yeom et al. (2018), Privacy risk in machine learning: analyzing the connection to overfitting"
_SONG = "Song and Mittal (2021), Systematic evaluation of privacy risks of machine learning models"

ATTACKS: dict[str, AttackEntry] = {
    "correctness": AttackEntry(
        spec=correctness.Correctness,
        score=correctness.score,
        summary="Calls a record a member if the model classifies it correctly.",
        paper=_YEOM,
        access="labels",
    ),
    "loss": AttackEntry(
        spec=loss.Loss,
        score=loss.score,
        summary="Ranks records by their cross-entropy, smallest first.",
        paper=_YEOM,
        access="margins",
    ),
    "confidence": AttackEntry(
        spec=confidence.Confidence,
        score=confidence.score,
        needs=thresholds.needs,
        summary="Ranks records by the probability of their label, less a threshold of their class.",
        paper=_SONG,
        access="margins",
    ),
    "entropy": AttackEntry(
        spec=entropy.Entropy,
        score=entropy.score,
        needs=thresholds.needs,
        summary="Ranks records by how sure the model is of any class, less a threshold of their class.",
        paper=_SONG,
        access="probabilities",
    ),
    "modified-entropy": AttackEntry(
        spec=modified_entropy.ModifiedEntropy,
        score=modified_entropy.score,
        needs=thresholds.needs,
        summary="Ranks records by how sure the model is of the label, less a threshold of their class.",
        paper=_SONG,
        access="probabilities",
    ),
    "lira": AttackEntry(
        spec=lira.Lira,
        score=lira.score,
        needs=lira.needs,
        summary="Compares a record's margin with Gaussians of models that saw it and of models that did not.",
        paper="Carlini et al. (2022), Membership inference attacks from first principles",
        access="margins",
        strong=True,
        fits=enough_queries,
    ),
    "lira-released": AttackEntry(
        spec=lira_released.LiraReleased,
        score=lira_released.score,
        needs=lira_released.needs,
        summary="LiRA as its authors' code computes it, for reproduction.",
        paper="Carlini et al. (2022), tensorflow/privacy, research/mi_lira_2021",
        access="margins",
        strong=True,
        usual=False,
        fits=enough_queries,
    ),
    "rmia": AttackEntry(
        spec=rmia.Rmia,
        score=rmia.score,
        needs=rmia.needs,
        summary="Counts the records that a record beats in likelihood under the target relative to other models.",
        paper="Zarifzadeh, Liu and Shokri (2024), Low-cost high-power membership inference attacks",
        access="margins",
        strong=True,
        fits=rmia.fits,
    ),
    "selena-replica": AttackEntry(
        spec=selena_replica.SelenaReplica,
        score=selena_replica.score,
        needs=selena_replica.needs,
        summary="LiRA, and how close a record's answer is to what Split-AI of other models says; for selena alone.",
        paper="Tang et al. (2022), Mitigating membership inference attacks by self-distillation, adaptive attack",
        access="probabilities",
        strong=True,
        usual=False,
    ),
}
"""Every attack, by name."""


def parse(value: str | Mapping[str, Any] | Spec) -> Spec:
    """Read an attack's options."""
    if isinstance(value, Spec):
        entry = ATTACKS.get(value.method)
        if entry is None or type(value) is not entry.spec:
            raise SpecError(f"attack: expected the spec of an attack, got {type(value).__name__}")
        return value
    options = {"method": value} if isinstance(value, str) else dict(value)
    name = options.pop("method", None)
    if not isinstance(name, str):
        raise SpecError(f"attack: expected method to be one of {', '.join(sorted(ATTACKS))}, got {name!r}")
    if name not in ATTACKS:
        raise UnknownNameError("attack", name, ATTACKS)
    return ATTACKS[name].spec(**options)


def score(attack: str | Spec, problem: Problem, seed: int = 0) -> Floats:
    """Attack every target of a problem; the attack sees what its entry declares (`view`), and nothing else.

    Args:
        attack: a name, with default options, or a spec.
        problem: what the attack may see.
        seed: the master seed; the stream is named after the attack.

    Returns:
        ``(T, N)`` float64, finite; higher means member.

    Raises:
        TooFewReferencesError: a target has too few references.
        InputError: the problem lacks what the attack needs, or the attack looks at what its entry does not declare.
        ShapeError: the attack broke its contract.
        NonFiniteError: a score is NaN or infinite.
    """
    spec = parse(attack)
    check_references(spec, problem)
    entry, rng = ATTACKS[spec.method], seeds.rng(seed, "attack", spec.method)
    result = entry.score(spec, view(entry, spec, problem), rng)
    if result.shape != problem.shape or result.dtype != np.float64:
        raise ShapeError(
            f"{spec.method}: expected float64 scores of shape {problem.shape} (targets, records), got {result.dtype} "
            f"of shape {result.shape}: this is a fault of the attack"
        )
    bad = np.count_nonzero(~np.isfinite(result), axis=1)
    if bad.any():
        raise NonFiniteError(
            f"{spec.method}: expected finite scores, got {bad.max()} NaN or infinite of {result.shape[1]} for target "
            f"{problem.targets[bad.argmax()]}: check its signals for extreme values"
        )
    return result


def check_references(attack: str | Spec, problem: Problem) -> None:
    """Check that a problem holds what an attack needs, and as many references for every target."""
    if problem.replicas is None and needs_replicas(attack):
        raise InputError(
            f"{parse(attack).method}: expected soft targets that every reference's own Split-AI gave its members, got "
            "outputs alone, which do not hold them: run reticent audit --defense selena, which keeps them, or use "
            "lira here"
        )
    check_offer(attack, Offer.of(problem))
    check_membership(attack, problem.membership, problem.targets, problem.references)


def check_offer(attack: str | Spec, offer: Offer) -> None:
    """Check that a problem holds, or will hold, what an attack's options need besides references."""
    spec = parse(attack)
    fits = ATTACKS[spec.method].fits
    if fits is not None:
        fits(spec, offer)


def needs_replicas(attack: str | Spec) -> bool:
    """Tell whether an attack looks at what the references' own Split-AI says of their members."""
    spec = parse(attack)
    return ATTACKS[spec.method].needs(spec).replicas


def lacking_references(attack: str | Spec, problem: Problem) -> NDArray[np.bool_]:
    """Tell which records ``(N,)`` have too few references for an attack on some target."""
    spec = parse(attack)
    needs = ATTACKS[spec.method].needs(spec)
    return reference_counts.lacking(needs, problem.membership, problem.targets, problem.references)


def check_membership(
    attack: str | Spec,
    membership: Membership | ArrayLike,
    targets: ArrayLike | None = None,
    references: ArrayLike | None = None,
) -> None:
    """Like `check_references`, before any model is trained; targets and references are all models by default."""
    spec, known = parse(attack), as_membership(membership)
    rows, learned = model_rows(known.models, targets, references)
    reference_counts.require(spec.method, ATTACKS[spec.method].needs(spec), known, rows, learned)
