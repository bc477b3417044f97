"""Attacks run on every target, and their scores audited: with what settings, and held against a blind baseline."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from reticent import seeds, spec
from reticent.arrays import Bools, Floats
from reticent.attacks import ATTACKS, importance, reference_counts, score, unreferenced
from reticent.attacks.base import Problem
from reticent.auditing.attack_audit import audit_attack
from reticent.auditing.blind.baseline import Baseline
from reticent.auditing.blind.excess import Beyond
from reticent.auditing.claimed_rates import claimed_rates
from reticent.auditing.units import scores_of_units
from reticent.data.membership import divided
from reticent.errors import TooFewReferencesError
from reticent.findings.attack import Audit
from reticent.findings.epsilon import GIVEN, Accountant
from reticent.options import AttackConfig
from reticent.spec import Spec

log = logging.getLogger(__name__)
CALIBRATION_MODELS = 4
"""How many references are scored to choose a threshold on, where targets do not serve each other."""


@dataclass(frozen=True)
class Settings:
    """How scores are turned into numbers.

    Attributes:
        promised: the epsilon, at `delta`, that the training is said to keep, or None.
        computed: what training proves by itself of what is audited, or None.
        of_record: with units, what it proves of one record.
    """

    seed: int
    replicates: int = 1000
    confidence: float = 0.95
    delta: float = 1e-5
    promised: float | None = None
    computed: Accountant | None = None
    of_record: Accountant | None = None

    @classmethod
    def of(
        cls, config: AttackConfig, computed: Accountant | None = None, of_record: Accountant | None = None
    ) -> "Settings":
        """Take the settings out of a configuration."""
        proof, told = of_record or computed, config.model_fields_set
        follow = config.promised_epsilon is None and "delta" not in told
        delta = proof.delta if proof is not None and follow else config.delta
        promised = config.promised_epsilon
        return cls(config.seed, config.replicates, config.confidence, delta, promised, computed, of_record)

    @property
    def accountant(self) -> Accountant | None:
        """The promise; what the user states goes before what training proves."""
        if self.promised is None:
            return self.computed
        return Accountant(epsilon=self.promised, delta=self.delta, source=GIVEN)


class Scored(NamedTuple):
    """What attacks found: one audit each and, by attack, scores ``(T, N)`` and the seconds that these took."""

    audits: tuple[Audit, ...]
    scores: dict[str, Floats]
    seconds: dict[str, float]


def attacked(
    problem: Problem,
    attacks: Sequence[Spec],
    settings: Settings,
    *,
    progress: Callable[[str], None] | None = None,
    before: str = "",
) -> Scored:
    """Run attacks on every target and audit their scores; `before` begins what `progress` is told of each."""
    scores, seconds = dict[str, Floats](), dict[str, float]()
    audits = []
    for attack in in_turn(attacks, progress, before):
        begun = time.perf_counter()
        scores[attack.method] = score(attack, problem, settings.seed)
        seconds[attack.method] = round(time.perf_counter() - begun, 3)
        calibration = _calibration(problem, attack, settings.seed)
        audit = audited(attack, scores[attack.method], problem, settings, calibration)
        unknown = unreferenced(attack, problem)
        members = problem.membership.of(problem.targets)
        guessed = None if unknown is None else reference_counts.guessed(unknown, members)
        audits.append(audit.with_(importance=importance(attack, problem, settings.seed), guessed=guessed))
    return Scored(tuple(audits), scores, seconds)


def in_turn(attacks: Sequence[Spec], tell: Callable[[str], None] | None, before: str = "") -> Iterator[Spec]:
    """Go through attacks, and tell of each, behind some words, before it runs: which it is, and of how many."""
    for at, attack in enumerate(attacks, start=1):
        if tell is not None:
            tell(f"{before}attack {attack.method}" + f" ({at} of {len(attacks)})" * (len(attacks) > 1))
        yield attack


def audited(
    attack: Spec,
    scores: Floats,
    problem: Problem,
    settings: Settings,
    calibration: tuple[Floats, Bools] | None,
) -> Audit:
    """Audit the scores of one attack."""
    entry = ATTACKS[attack.method]
    found = audit_attack(
        attack.method,
        spec.full(attack),
        scores_of_units(scores, problem.units),
        problem.members,
        problem.targets,
        rng=seeds.rng(settings.seed, "bootstrap", attack.method),
        access=entry.access,
        strong=entry.strong,
        confidence=settings.confidence,
        replicates=settings.replicates,
        reference_scores=calibration,
    ).with_(queries=sum(probe.queries for probe in entry.needs(attack).probes) or None)
    claims = None if entry.claims is None or problem.units is not None else entry.claims(problem, scores)
    if claims is None:
        return found
    fprs = [rate.fpr for rate in found.rates]
    return found.with_(claimed=claimed_rates(claims, problem.members, fprs, settings.confidence))


def beyond(
    attacks: Sequence[Spec],
    audits: Sequence[Audit],
    scores: Mapping[str, Floats],
    members: Bools,
    blind: Baseline,
    settings: Settings,
) -> tuple[Audit, ...]:
    """Hold every attack against a blind baseline that tells members from non-members."""
    fprs = [rate.fpr for rate in audits[0].rates]
    held = Beyond(blind, members, fprs, seeds.rng(settings.seed, "bootstrap", "blind"), settings.replicates)
    excesses = [
        held.excess(scores[spec.method], settings.confidence).with_(counts=entry.strong and entry.cancels(spec))
        for spec, entry in ((spec, ATTACKS[spec.method]) for spec in attacks)
    ]
    return tuple(one.with_(excess=excess) for one, excess in zip(audits, excesses, strict=True))


def _calibration(problem: Problem, attack: Spec, seed: int) -> tuple[Floats, Bools] | None:
    """Score a few references as if they were targets, to choose a threshold on.

    Not needed where all targets are references of each other: then each learns its threshold from the other targets.
    """
    if len(problem.targets) > 1 and np.isin(problem.targets, problem.references).all():
        return None
    others = np.setdiff1d(problem.references, problem.targets)
    rows = others[divided(problem.membership.matrix[others])][:CALIBRATION_MODELS]
    scores = scored(attack, replace(problem, targets=rows), seed) if len(rows) else None
    return None if scores is None else (scores_of_units(scores, problem.units), replace(problem, targets=rows).members)


def scored(attack: Spec, problem: Problem, seed: int) -> Floats | None:
    """Run an attack on every target; None where references are too few for it."""
    try:
        return score(attack, problem, seed)
    except TooFewReferencesError:
        log.debug("%s needs more references", attack.method, exc_info=True)
        return None
