"""Attacks: from what models say of records to scores, higher for likelier members; torch where one is fitted.

To add one: see the table in CONTRIBUTING.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import scratch, seeds
from reticent.attacks import (
    attack_p,
    attack_r,
    base2,
    base3,
    bavaria,
    confidence,
    correctness,
    entropy,
    imia,
    label_only,
    learned,
    lira,
    lira_released,
    loss,
    modified_entropy,
    nasr,
    nn,
    nn_cls,
    nn_top3,
    pmia,
    quantile,
    reference_counts,
    risk_score,
    rmia,
    salem,
    samia,
    selena_replica,
    shokri,
    top1_confidence,
    trajectory,
)
from reticent.attacks.base import Access, AttackEntry, Needs, Offer, Problem, Rows, model_rows
from reticent.attacks.complements import designs
from reticent.attacks.view import view
from reticent.data.membership import Membership, as_membership
from reticent.data.units import Units
from reticent.errors import (
    InputError,
    NonFiniteError,
    ReticentError,
    ShapeError,
    SpecError,
    TooFewReferencesError,
    UnknownNameError,
)
from reticent.findings.evidence import Importance
from reticent.signals.matrix import Floats
from reticent.signals.probes import Probe
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
    "importance",
    "needs_models",
    "parse",
    "probes",
    "score",
    "unreferenced",
]

ATTACKS: dict[str, AttackEntry] = {
    "correctness": correctness.ENTRY,
    "loss": loss.ENTRY,
    "confidence": confidence.ENTRY,
    "entropy": entropy.ENTRY,
    "modified-entropy": modified_entropy.ENTRY,
    "lira": lira.ENTRY,
    "lira-released": lira_released.ENTRY,
    "rmia": rmia.ENTRY,
    "bavaria": bavaria.ENTRY,
    "base2": base2.ENTRY,
    "base3": base3.ENTRY,
    "pmia": pmia.ENTRY,
    "selena-replica": selena_replica.ENTRY,
    "imia": imia.ENTRY,
    "learned": learned.ENTRY,
    "top1-confidence": top1_confidence.ENTRY,
    "risk-score": risk_score.ENTRY,
    "attack-p": attack_p.ENTRY,
    "attack-r": attack_r.ENTRY,
    "label-only": label_only.ENTRY,
    "quantile": quantile.ENTRY,
    "trajectory": trajectory.ENTRY,
    "nn": nn.ENTRY,
    "nn-top3": nn_top3.ENTRY,
    "nn-cls": nn_cls.ENTRY,
    "shokri": shokri.ENTRY,
    "salem": salem.ENTRY,
    "samia": samia.ENTRY,
    "nasr": nasr.ENTRY,
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
    """Attack every target of a problem: ``float64 (T, N)``, finite; the attack sees what its entry declares (`view`).

    Where a target has too few references for a record, the score is the median of its others: a guess, since whose
    member the record is has no part in that. The attack's stream is named after it.

    Raises:
        TooFewReferencesError: a target has too few references, or more than 20 % of the members, or of the others,
            would be guessed.
        InputError: the problem lacks what the attack needs, or the attack looks at what its entry does not declare.
        ShapeError: the attack broke its contract.
        NonFiniteError: a score is NaN or infinite.
    """
    spec = parse(attack)
    check_references(spec, problem)
    result = _scores(spec, problem, seed)
    if result.shape != problem.shape or result.dtype != np.float64:
        raise ShapeError(
            f"{spec.method}: expected float64 scores of shape {problem.shape} (targets, records), got {result.dtype} "
            f"of shape {result.shape}: this is a fault of the attack"
        )
    if (guessed := unreferenced(spec, problem)) is not None:
        for told, gone in scratch.rows(result, guessed):
            told[gone] = np.median(told[~gone])
    bad = np.array([np.count_nonzero(~np.isfinite(row)) for (row,) in scratch.rows(result)])
    if bad.any():
        raise NonFiniteError(
            f"{spec.method}: expected finite scores, got {bad.max()} NaN or infinite of {result.shape[1]} for target "
            f"{problem.targets[bad.argmax()]}: check its signals for extreme values"
        )
    return result


def _scores(spec: Spec, problem: Problem, seed: int) -> Floats:
    """Score targets, those with near-complements among the references each by itself, without these."""
    entry = ATTACKS[spec.method]
    result = None
    for rows, part in _parts(entry, problem):
        found = entry.score(spec, view(entry, spec, part), seeds.rng(seed, "attack", spec.method))
        if len(rows) == len(problem.targets):
            return found
        result = scratch.zeros(problem.shape) if result is None else result
        for row, (one,) in zip(rows, scratch.rows(found), strict=True):
            result[row] = one
        scratch.release(result)
    assert result is not None
    return result


def _parts(entry: AttackEntry, problem: Problem) -> Iterator[tuple[Rows, Problem]]:
    """Give the targets, by position, and the problem of those that are compared with the same references."""
    for rows, references in _designs(entry, problem.drawn, problem.targets, problem.references):
        yield rows, replace(problem, targets=problem.targets[rows], references=references)


def _designs(entry: AttackEntry, drawn: Membership, targets: Rows, references: Rows) -> Iterable[tuple[Rows, Rows]]:
    """Divide the targets, by position, by what they are compared with: no near-complements, unless by a weak attack."""
    return (
        designs(drawn, targets, references) if entry.strong or entry.fitted else [(np.arange(len(targets)), references)]
    )


def importance(attack: str | Spec, problem: Problem, seed: int = 0) -> Importance | None:
    """Tell where in the answers an attack finds what it finds; None for attacks whose formula says it."""
    spec = parse(attack)
    entry = ATTACKS[spec.method]
    if entry.importance is None:
        return None
    check_references(spec, problem)
    return entry.importance(spec, view(entry, spec, problem), seeds.rng(seed, "importance", spec.method))


def check_references(attack: str | Spec, problem: Problem) -> None:
    """Check that a problem holds what an attack needs, and as many references for every target."""
    spec = parse(attack)
    entry = ATTACKS[spec.method]
    needs = entry.needs(spec)
    if needs.replicas and problem.replicas is None:
        raise InputError(
            f"{spec.method}: expected soft targets that every reference's own Split-AI gave its members, got "
            "outputs alone, which do not hold them: run reticent audit --defense selena, which keeps them, or use "
            "lira here"
        )
    if any(probe not in problem.probed for probe in needs.probes):
        raise InputError(
            f"{spec.method}: expected what the models say to further questions of each record, got outputs alone, "
            "which do not hold it: run reticent audit, which asks them, or leave this attack out"
        )
    if needs.inputs and problem.inputs is None:
        raise InputError(
            f"{spec.method}: expected the records themselves, to learn what is usual for each, got outputs alone: give "
            "records too, or leave this attack out"
        )
    check_offer(spec, Offer.of(problem))
    check_membership(spec, problem.membership, problem.targets, problem.references, problem.units)
    if entry.enough is not None:
        for _, part in _parts(entry, problem):
            entry.enough(part)


def has_references(
    attack: str | Spec, problem: Problem, lacking: tuple[type[ReticentError], ...] = (ReticentError,)
) -> bool:
    """Tell whether a problem passes `check_references`; other errors than `lacking` are raised."""
    try:
        check_references(attack, problem)
    except lacking:
        return False
    return True


def check_offer(attack: str | Spec, offer: Offer) -> None:
    """Check that a problem holds, or will hold, what an attack's options need besides references."""
    spec = parse(attack)
    ATTACKS[spec.method].check(spec, offer)


def needs_models(attack: str | Spec) -> bool:
    """Tell whether an attack looks at more than outputs: replicas, imitators, answers to probes, or the records."""
    spec = parse(attack)
    needs = ATTACKS[spec.method].needs(spec)
    return needs.replicas or needs.imitators or bool(needs.probes) or needs.inputs


def probes(attacks: Iterable[Spec]) -> tuple[Probe, ...]:
    """List what models are asked for these attacks, each once."""
    return tuple(dict.fromkeys(probe for spec in attacks for probe in ATTACKS[spec.method].needs(spec).probes))


def unreferenced(attack: str | Spec, problem: Problem) -> NDArray[np.bool_] | None:
    """Tell which targets have too few references for which records ``(T, N)``; None where all have enough."""
    spec, found = parse(attack), None
    entry = ATTACKS[spec.method]
    for rows, left in _designs(entry, problem.drawn, problem.targets, problem.references):
        short = reference_counts.unreferenced(entry.needs(spec), problem.membership, problem.targets[rows], left)
        if short is not None:
            found = np.zeros(problem.shape, dtype=np.bool_) if found is None else found
            found[rows] = short
    return found


def check_membership(
    attack: str | Spec,
    membership: Membership | ArrayLike,
    targets: ArrayLike | None = None,
    references: ArrayLike | None = None,
    units: Units | None = None,
) -> None:
    """Like `check_references`, before any model is trained; targets and references are all models by default."""
    spec, known = parse(attack), as_membership(membership)
    drawn = known if units is None else Membership(units.of_units(known.matrix))
    rows, others = model_rows(known.models, targets, references)
    entry, fewer = ATTACKS[spec.method], reference_counts.FEWER
    if getattr(spec, "mode", None) == "online":
        fewer += f", such as mode offline, which reads OUT ones alone (--set attack.{spec.method}.mode=offline)"
    if entry.strong and not entry.needs(spec).references_in:
        reference_counts.require_equal_shares(spec.method, drawn, others)
    for chosen, left in _designs(entry, drawn, rows, others):
        try:
            reference_counts.require(spec.method, entry.needs(spec), known, rows[chosen], left, fewer)
        except TooFewReferencesError:
            if len(left) == len(others):
                raise
            raise TooFewReferencesError(
                f"{spec.method}: {len(others) - len(left)} of {len(others)} models are no references for target "
                f"{rows[chosen][0]}, since they were trained on nearly the records that it was, or on nearly all "
                "others, which gives membership away by design; the rest are too few. More models of the same split do "
                "not help: train each on a half of the records of its own"
            ) from None
