"""Which records of brought outputs are audited, and by which attacks."""

import numpy as np
from numpy.typing import NDArray

from reticent.attacks import ATTACKS, Offer, check_references, has_references, unreferenced
from reticent.attacks.base import Problem
from reticent.auditing.shares import shares
from reticent.data.membership import divided
from reticent.errors import TooFewReferencesError, UnequalSharesError
from reticent.jobs import output_facts
from reticent.jobs.attacks import build_attacks, fitting, usual
from reticent.options import AttackConfig
from reticent.signals.matrix import Signals
from reticent.spec import Spec

LACKING = TooFewReferencesError, UnequalSharesError
"""For want of references an attack that nobody named is left out."""


def audited(problem: Problem, first: NDArray[np.int64], config: AttackConfig) -> NDArray[np.int64]:
    """Choose which records are audited: each once, of copies (`output_facts.copied`), if it tells of membership.

    Of units those are copies that have copies of all the same records.

    One that none of the models was trained on, or all, tells nothing. It stays where coins may have fallen so: records
    in so few models that a member has no IN reference are then as often a non-member's. Where no target is a reference,
    a record goes that the attacks have no references for.
    """
    matrix, every = problem.membership.matrix, np.arange(problem.signals.records)
    if problem.units is None:
        kept = ~output_facts.repeats(first, matrix)
    else:
        kept = ~output_facts.repeats(problem.units.alike(first), problem.drawn.matrix)[problem.units.codes]
    if not np.isin(problem.targets, problem.references).any():
        for spec in _compared(problem, config):
            short = unreferenced(spec, problem)
            kept &= True if short is None else ~short.all(axis=0)
    elif shares(matrix, kept) is not None:
        drawn = matrix[divided(matrix)]
        kept &= drawn.any(axis=0) & ~drawn.all(axis=0)
    members = (matrix[target][kept] for target in problem.targets)
    return every[kept] if all(row.any() and not row.all() for row in members) else every


def _compared(problem: Problem, config: AttackConfig) -> list[Spec]:
    """List the attacks whose references decide which records are audited: those that are named, or LiRA."""
    named = bool(config.attacks) and not config.every_attack
    specs = build_attacks(config if named else config.replace(attacks=()), _possible(problem.signals))
    return [spec for spec in specs if named or spec.method == "lira"]


def alone(config: AttackConfig, signals: Signals) -> AttackConfig:
    """Let attacks that would learn thresholds from references take one for all classes, which needs none."""
    names = [spec.method for spec in build_attacks(config, _possible(signals))]
    learning = [name for name in names if "threshold" in ATTACKS[name].spec.model_fields]
    told = {name: {"threshold": "global"} | config.attack.get(name, {}) for name in learning}
    return config.replace(attack=config.attack | told)


def runnable(problem: Problem, config: AttackConfig) -> tuple[tuple[Spec, ...], dict[str, str]]:
    """Build the attacks that are asked for; where none is, those that the problem allows, and say which not."""
    specs = build_attacks(config, _possible(problem.signals))
    if not config.attacks:
        specs = tuple(_with_references(spec, problem, config) for spec in specs)
    answers = len(problem.targets) * problem.signals.records
    try:
        return fitting(config, specs, lambda spec: check_references(spec, problem), *LACKING, answers=answers)
    except LACKING as error:
        raise error.retold(f"{error}, or name no attack: those run that these outputs allow") from None


def _with_references(spec: Spec, problem: Problem, config: AttackConfig) -> Spec:
    """Let an attack that nobody named read OUT references alone where IN ones lack, as of models of disjoint parts."""
    if "mode" not in type(spec).model_fields or "mode" in config.attack.get(spec.method, {}):
        return spec
    return next((one for one in (spec, spec.replace(mode="offline")) if has_references(one, problem, LACKING)), spec)


def _possible(signals: Signals) -> tuple[str, ...]:
    """Name the attacks that these signals allow: with margins of many classes there are no labels or whole answers."""
    offer = Offer(signals.classes, signals.queries, logits=signals.logits is not None, population=False)
    return tuple(name for name in usual() if ATTACKS[name].answered(offer))
