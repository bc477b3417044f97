"""All sentences of an audit."""

from collections.abc import Mapping, Sequence

from reticent.findings.audit import AuditDocument
from reticent.say import blind, epsilon, evidence, exposure, groups, limits, loss_tail, record_tests, trust, verdict
from reticent.say.grammar import agree, listed, short
from reticent.say.population import noun, unhealthy, units_told


def spoken(document: AuditDocument, further: Sequence[str] = (), missing: Sequence[str] = ()) -> AuditDocument:
    """Fill in every sentence of an audit.

    What else cannot be said is `further`; of attacks that compare models, `missing` are those that could not run.
    """
    population, names, what = document.population, document.data.class_names, noun(document.data.unit)
    said = verdict.spoken(document.verdict, document.attacks, population, names, what, document.exposure)
    unit, units = document.data.unit, document.data.units
    if unit is not None and units is not None:
        whole = f"{said.sentence} A {what} here is all records of one {short(unit)}."
        detail = f"{units_told(unit, units, document.data.unit_score or 'mean')} {said.detail}"
        said = said.with_(sentence=whole, detail=detail)
    detail = f"{said.detail} {limits.missing_strong(missing)}" if missing else said.detail
    near = None if document.near_complements is None else evidence.near_complements(document.near_complements)
    heavy = None if document.outweighing is None else evidence.outweighing(document.outweighing)
    design = tuple(one.sentence for one in (heavy, near) if one is not None)
    best = next(audit for audit in document.attacks if audit.name == said.attack)
    game = [record_tests.game(best.targets, population.shares)] if best.targets else []
    alone = [loss_tail.ALONE] if document.loss_tail is not None else []
    unsaid = (
        *alone,
        *game,
        *said.cannot_say,
        *limits.guesses(document.attacks),
        *unhealthy(population, said.leak),
        *design,
        *blind.unsaid(document.blind, document.not_blind, compared=best.strong is True),
        *further,
    )
    unaware, checked = document.non_adaptive, document.control
    return document.with_(
        verdict=said.with_(detail=detail, cannot_say=unsaid),
        attacks=tuple(map(evidence.spoken, document.attacks)),
        near_complements=near,
        outweighing=heavy,
        blind=None if document.blind is None else blind.spoken(document.blind),
        loss_tail=None if document.loss_tail is None else loss_tail.spoken(document.loss_tail),
        epsilon=None if document.epsilon is None else epsilon.spoken(document.epsilon),
        groups=tuple(
            groups.spoken(one, names, population, said.group, what, said.wrong_sign) for one in document.groups
        ),
        exposure=None if document.exposure is None else exposure.spoken(document.exposure, document.data.unit),
        records=None if document.records is None else record_tests.spoken(document.records),
        non_adaptive=None if unaware is None else trust.non_adaptive(unaware, said.attack, best.auc.mean),
        control=None if checked is None else trust.control(checked, unequal=population.unequal),
    )


def left_out(why: Mapping[str, Exception]) -> dict[str, str]:
    """Say by attack why it was not run, in one sentence for those with the same reason."""
    reasons = {name: str(error).removeprefix(f"{name}: ") for name, error in why.items()}
    names = {reason: [name for name in reasons if reasons[name] == reason] for reason in reasons.values()}
    verb = {reason: agree(len(own), "was", "were") for reason, own in names.items()}
    return {name: f"{listed(names[why])} {verb[why]} left out: {why}." for name, why in reasons.items()}


def not_looked_at(names: Sequence[str]) -> list[str]:
    """Say which facts about the records nobody asked to group by."""
    if not names:
        return []
    return [
        f"Whether records differ by {', '.join(names)} is not known: the file holds that, but it was not looked at "
        f"(--group-by {names[0]} compares the groups; if it tells whose each record is, --unit {names[0]} audits "
        "persons)."
    ]
