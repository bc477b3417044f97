"""All limits of a gate, held against an audit."""

from collections.abc import Sequence
from dataclasses import replace
from math import isclose
from typing import Any

from scipy.special import stdtrit

from reticent.auditing.intervals import exact_interval, widened
from reticent.auditing.verdict import ENOUGH_TARGETS, contradicted, expected_fpr, too_few, unguessed
from reticent.findings.attack import Audit
from reticent.findings.audit import AuditDocument, Grouping
from reticent.findings.epsilon import EpsilonAudit
from reticent.findings.gate import Check, Doubt, Gate, Outcome
from reticent.findings.numbers import Estimate, PairedDifference, ShareEstimate
from reticent.gating.compare import Found, Objection, compare, unjudged
from reticent.gating.groups import none_above
from reticent.gating.limits import Limits
from reticent.say import gate as say
from reticent.say.grammar import short
from reticent.say.groups import called

CONFIDENCE = 0.95
"""Of the accuracy's interval, and the least of an audit's intervals; two-sided."""


def judge(document: AuditDocument, limits: Limits) -> Gate:
    """Hold limits against an audit. A pass is a claim of its own: the upper confidence limits are judged."""
    doubts, allow = _doubts(document), limits.allow
    checks = [] if limits.max_auc is None else [_auc(document, limits.max_auc, doubts, allow)]
    checks += [_tpr(document, rate, limit, doubts, allow) for rate, limit in limits.max_tpr]
    if document.blind is not None and document.blind.shift:  # Groups and epsilon take members and others for alike.
        doubts = [Objection(Doubt.RECORDS_DIFFER, say.RECORDS_DIFFER, fatal=True), *doubts]
    for key, limit in (("auc", limits.max_group_auc), ("tpr", limits.max_group_tpr)):
        if limit is not None:
            checks += _groups(document, key, limit, doubts, allow)
    checks += none_above(document, limits, doubts)
    if limits.max_epsilon is not None:
        checks.append(_epsilon(document.epsilon or EpsilonAudit(), limits, limits.max_epsilon, doubts))
    if limits.min_accuracy is not None:
        checks.append(_accuracy(document, limits.min_accuracy, allow))
    found = {check.outcome for check in checks}
    outcome = next((kind for kind in (Outcome.FAILED, Outcome.CANNOT_JUDGE) if kind in found), Outcome.PASSED)
    return Gate(outcome=outcome, checks=tuple(checks), sentence=say.sentence(outcome, checks), data=document.data.name)


def _doubts(document: AuditDocument) -> list[Objection]:
    """Find what would take the meaning from low numbers, or from all numbers, of an audit."""
    found, population = list[Objection](), document.population
    if population.unequal:
        found.append(Objection(Doubt.UNEQUAL_SHARES, say.UNEQUAL_SHARES, fatal=True))
    if document.control is not None and not document.control.passed:
        found.append(Objection(Doubt.FAILED_CONTROL, say.FAILED_CONTROL, fatal=True))
    if document.blind is not None and document.blind.shift:
        found.append(Objection(Doubt.RECORDS_DIFFER, say.RECORDS_DIFFER))
    lowest = min(attack.confidence for attack in document.attacks)
    if lowest < CONFIDENCE:
        found.append(Objection(Doubt.LOW_CONFIDENCE, say.low_confidence(lowest, CONFIDENCE)))
    if population.health is None or population.health:
        found.append(Objection(Doubt.DID_NOT_LEARN, say.learned(population)))
    if contradicted(population):
        found.append(Objection(Doubt.COPIES, say.contradicted(population)))
    if not any(attack.strong for attack in document.attacks):
        found.append(
            Objection(Doubt.WEAK_ATTACKS, say.weak([attack.name for attack in document.attacks], population.models))
        )
    least = min(document.attacks, key=lambda attack: attack.training_sets)
    if too_few(least.training_sets):
        few = say.few_models(len(least.targets), least.training_sets, ENOUGH_TARGETS)
        found.append(Objection(Doubt.FEW_MODELS, few))
    return found


def _auc(document: AuditDocument, limit: float, doubts: Sequence[Objection], allow: Sequence[Doubt]) -> Check:
    attacks = document.attacks
    found = [
        _unguessed(attack, _turned(Found(attack.name, attack.auc, attack.confidence, area=True), len(attacks)), 0.5)
        if attack.excess is None
        else _beyond(attack, 0.5, attack.excess.auc)
        for attack in attacks
        if not _uncompared(attack)
    ]
    return compare(f"AUC at most {limit:g}", limit, found, _absent(attacks), doubts, allow, "attacks")


def _uncompared(attack: Audit) -> bool:
    """Tell whether what an attack finds beyond the blind baseline may be the same difference, told better."""
    return attack.excess is not None and not attack.excess.counts


def _absent(attacks: Sequence[Audit]) -> list[Objection]:
    names = [attack.name for attack in attacks if _uncompared(attack)]
    return [Objection(Doubt.RECORDS_DIFFER, say.UNCOMPARED + ", ".join(names))] if names else []


def _beyond(attack: Audit, chance: float, excess: PairedDifference) -> Found:
    """Add to chance what an attack finds beyond the blind baseline: all that may be called a leak."""
    low, high = (chance + end for end in excess.interval)
    summary = Estimate(mean=chance + excess.difference, interval=(low, high), freedom=excess.freedom)
    return Found(f"{attack.name} beyond what is found without the model", summary, attack.confidence)


def _turned(found: Found, attacks: int) -> Found:
    """Turn an attack that is shown to rank members below non-members: whoever knows that reads its scores backwards."""
    summary = found.summary
    if not found.sound or widened(summary, found.confidence, attacks, area=True)[1] >= 0.5:
        return found
    low, high = summary.interval
    turned = summary.with_(mean=1 - summary.mean, interval=(1 - high, 1 - low), tied=None)
    return Found(f"{found.name} read backwards", turned, found.confidence, area=True)


def _unguessed(attack: Audit, found: Found, chance: float = 0.0) -> Found:
    """Raise the upper limit by what guesses hide."""
    if not attack.guessed or not found.sound:
        return found
    low, high = found.summary.interval
    whole = found.summary.with_(interval=(low, unguessed(attack, high, chance)))
    return replace(found, name=f"{found.name}, its guesses allowed for", summary=whole)


def _tpr(
    document: AuditDocument, fpr: float, limit: float, doubts: Sequence[Objection], allow: Sequence[Doubt]
) -> Check:
    found, absent, tied = list[Found](), _absent(document.attacks), list[str]()
    for attack in document.attacks:
        if _uncompared(attack):
            continue
        rate = next((one for one in attack.rates if isclose(one.fpr, fpr, rel_tol=1e-9)), None)
        if rate is None:
            absent.append(Objection(Doubt.NO_RATE, say.no_rate(fpr, attack)))
        elif rate.tpr is None:
            small = say.small_rate(fpr, rate.records_needed, rate.non_members)
            absent.append(Objection(Doubt.NOT_MEASURABLE, small))
        elif attack.excess is not None:
            beyond = attack.excess.at(rate.fpr)
            if beyond is None:
                absent.append(Objection(Doubt.NO_RATE, say.no_rate(fpr, attack)))
            else:
                found.append(_beyond(attack, rate.fpr, beyond.tpr))
        else:
            scale = rate.fpr / expected_fpr(attack, rate.fpr)
            found.append(_unguessed(attack, Found(attack.name, rate.tpr, attack.confidence, scale)))
            tied += [attack.name] * bool(attack.strong and rate.tpr.tied)
    if found and all(one.summary.tied for one in found):
        tied = [one.name for one in found]
    absent = sorted(absent, key=lambda reason: reason.code is Doubt.NOT_MEASURABLE)
    return compare(
        f"TPR at FPR {fpr:g} at most {limit:g}", limit, found, [*absent, *_ties(tied, fpr)], doubts, allow, "attacks"
    )


def _ties(names: Sequence[str], rate: float | None) -> list[Objection]:
    """Doubt a rate that equal scores decide, since it says little of what can be found at the one asked for."""
    return [Objection(Doubt.TIES, say.ties(names, rate))] if names else []


def _groups(
    document: AuditDocument, key: str, limit: float, doubts: Sequence[Objection], allow: Sequence[Doubt]
) -> list[Check]:
    if not document.groups:
        name = f"{key.upper()} of each group at most {limit:g}"
        fatal = [doubt for doubt in doubts if doubt.fatal]
        return [unjudged(name, limit, [*fatal, Objection(Doubt.NO_GROUPS, say.NO_GROUPS)][0], allow)]
    names = document.data.class_names
    return [_group(grouping, key, limit, doubts, allow, names) for grouping in document.groups]


def _group(
    grouping: Grouping,
    key: str,
    limit: float,
    doubts: Sequence[Objection],
    allow: Sequence[Doubt],
    names: Sequence[str],
) -> Check:
    column, found, small = short(grouping.by), list[Found](), list[str]()
    for group in grouping.groups:
        value: ShareEstimate | None = group.auc if key == "auc" else group.tpr
        shown = called(grouping.by, group.name, names)
        if value is None:
            small.append(shown)
        else:
            found.append(Found(f"{column} {shown}", value, grouping.confidence, area=key == "auc"))
    at = f" at FPR {grouping.fpr:g}" if key == "tpr" and grouping.fpr is not None else ""
    absent = [Objection(Doubt.NOT_MEASURABLE, say.small_groups(small))] if small else []
    tied = [str(grouping.attack)] if any(one.summary.tied for one in found) else []
    name = f"{key.upper()}{at} of each group by {column} at most {limit:g}"
    return compare(name, limit, found, [*absent, *_ties(tied, grouping.fpr)], doubts, allow, "groups")


def _epsilon(found: EpsilonAudit, limits: Limits, limit: float, doubts: Sequence[Objection]) -> Check:
    """Hold epsilon against its limit.

    An audit bounds epsilon from below, so by itself it can fail a limit and never meet it. A pass needs an accountant's
    epsilon, or one that the user states, at the same delta or a smaller one, that the audit does not contradict.
    """
    delta = found.delta if limits.delta is None else limits.delta
    name = f"epsilon at most {limit:g}" + ("" if delta is None else f" at delta {delta:g}")
    # At a smaller delta epsilon is larger, so that the bound holds there too; at a larger delta it does not.
    counts = found.lower is not None and found.delta is not None and delta is not None and found.delta >= delta
    lower = found.lower if counts else None
    facts: dict[str, Any] = {"estimate": lower, "attack": found.attack}
    for doubt in doubts:
        if doubt.fatal:
            return unjudged(name, limit, doubt, limits.allow, **facts)
    if lower is not None and lower > limit:
        message = say.epsilon_above(lower, limit, found.confidence)
        return Check(name=name, limit=limit, outcome=Outcome.FAILED, message=message, **facts)
    above = found.accountant
    if above is None or delta is None or above.delta > delta:
        why = Objection(Doubt.NO_ACCOUNTANT, say.no_upper(lower, above, found.of_record))
        return unjudged(name, limit, why, limits.allow, **facts)
    facts["bound"] = above.epsilon
    if above.epsilon > limit:
        message = say.epsilon_not_below(above, limit)
        return Check(name=name, limit=limit, outcome=Outcome.FAILED, message=message, **facts)
    if found.lower is None:
        return unjudged(name, limit, Objection(Doubt.NO_EPSILON, say.no_lower(above)), limits.allow, **facts)
    if found.consistent is False or (lower is not None and lower > above.epsilon):
        why = Objection(Doubt.CONTRADICTION, say.contradiction(found.lower, above))
        return unjudged(name, limit, why, limits.allow, **facts)
    message = say.epsilon_passed(found.lower, above, limit, found.proven)
    return Check(name=name, limit=limit, outcome=Outcome.PASSED, message=message, **facts)


def _accuracy(document: AuditDocument, limit: float, allow: Sequence[Doubt]) -> Check:
    """Hold the lower limit of the audited models' mean accuracy on non-members against a limit.

    A broken model is private and useless. The interval is Student's over training sets (their models taken for wholly
    alike) with the variance that records add if all are as likely right: ``p (1 - p) / N`` for N independent ones
    (`Accuracy.independent`). For one training set it is Clopper and Pearson's.
    """
    name, population = f"accuracy on non-members at least {limit:g}", document.population
    models, right = population.audited_models, population.audited_accuracy
    if right is None or not models:
        return unjudged(name, limit, Objection(Doubt.NO_ACCURACY, say.NO_ACCURACY), allow)
    mean, std = right.non_members.mean, right.non_members.std
    # An older document has no other count than one model's.
    each = (target.non_members for one in document.attacks for target in one.targets)
    records = right.independent or max(1, min(each, default=1))
    sets = min(models, *(attack.training_sets for attack in document.attacks))
    if sets < 2:
        low, high = exact_interval(mean * records, records, CONFIDENCE)
    elif std is None:
        return unjudged(name, limit, Objection(Doubt.NO_ACCURACY, say.NO_ACCURACY), allow)
    else:
        variance = std**2 * (models - 1) / (models * (sets - 1)) + mean * (1 - mean) / records
        arm = float(stdtrit(sets - 1, (1 + CONFIDENCE) / 2)) * variance**0.5
        low, high = max(0.0, mean - arm), min(1.0, mean + arm)
    return Check(
        name=name,
        limit=limit,
        outcome=Outcome.PASSED if low >= limit else Outcome.FAILED,
        message=say.accuracy(mean, low, high, limit),
        estimate=mean,
        bound=low,
        side="at least",
    )
