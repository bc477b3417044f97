"""The verdict of an audit in sentences."""

from collections.abc import Sequence

from reticent.auditing.verdict import (
    ENOUGH_TARGETS,
    FEWEST,
    MATERIAL_AUC,
    MATERIAL_LIFT,
    too_few,
)
from reticent.findings.attack import Audit
from reticent.findings.audit import AuditDocument, ExposureCount, Leak, Reason, Verdict
from reticent.findings.numbers import OverallRate, Statistic
from reticent.findings.population import Population
from reticent.rounding import around, decimals, fraction, joined, level, percent, percent_beside
from reticent.say import blind, exposed_group, exposure, limits
from reticent.say.grammar import agree, alarms, listed, plural
from reticent.say.grammar import sentence as ended
from reticent.say.population import BEYOND_CHANCE, CHECK_LABELS, UNLEARNED

NOTHING = "No attack is shown to do better than chance"
CONCLUSIONS = {
    Reason.EXCLUDED: f"{NOTHING}, and a leak that matters (an AUC of {MATERIAL_AUC}, or {MATERIAL_LIFT:g} times as "
    "many training records found as chance finds at that rate of false alarms) is excluded.",
    Reason.TOO_SMALL: f"{NOTHING}, but this audit is too small to exclude a leak that matters.",
    Reason.FEW_MODELS: f"{NOTHING}, but this audit is too small to exclude a leak that matters.",
    Reason.TIES: f"{NOTHING}, but equal scores decide the share found, so a leak that matters is not excluded.",
    Reason.BACKWARDS: f"{NOTHING} as it is meant, but whoever reads backwards finds members: that is a leak.",
    Reason.FEW_RECORDS: "Nothing is judged: intervals over so few records of one model cannot be relied on (at least "
    f"{FEWEST} members and {FEWEST} non-members are needed).",
    Reason.LEARNING_UNKNOWN: f"{NOTHING}, but it is not known whether the models learned, and {UNLEARNED}.",
    Reason.SOME_UNLEARNED: f"{NOTHING}, but every figure is an average that includes the models that learned nothing, "
    "and attacks learn from these too: a leak of the models that did learn is not excluded.",
    Reason.MOST_UNLEARNED: f"{NOTHING}, but {UNLEARNED}.",
    Reason.COPIES: f"{NOTHING}, but many records have an exact copy with the other membership: what is found in one is "
    "counted against it in the other, so a leak is not excluded.",
    Reason.WEAK_ATTACKS: f"{NOTHING}, but none of those that were tried compares models that were trained on a record "
    "with models that were not: they miss most of a leak, so none is excluded.",
    Reason.WEAK_ALONE: "Only attacks that ask one model alone do better than chance, and none that compares models: "
    "that is a leak only if easy records are members as often as others, which is not known of outputs that were "
    "brought.",
    Reason.UNEQUAL: "No attack that compares models is shown to find more than it does with the membership permuted, "
    f"so no leak is shown. None is excluded either, since {BEYOND_CHANCE}.",
}
"""What is concluded where no leak is found."""
WORDS = {Leak.FOUND: "Leak found", Leak.NOT_FOUND: "No leak found", Leak.CANNOT_TELL: "Cannot tell"}
"""The shortest form."""
BACKWARDS = "Leak, backwards"
"""The shortest form where attacks work backwards alone."""
EXCHANGED = "Check who is a member"
"""The shortest form where members and non-members may be exchanged."""
CHECK = "Check that True in membership stands for trained on."
"""What to do then."""
MORE = 1.1
"""Times the rate asked for; guessing that finds more is told."""


def spoken(
    said: Verdict,
    audits: Sequence[Audit],
    population: Population,
    names: Sequence[str] = (),
    what: str = "record",
    exposed: ExposureCount | None = None,
) -> Verdict:
    """Fill in the sentences of a verdict; `names` are those of the classes, or empty, and `what` is audited."""
    best = next(audit for audit in audits if audit.name == said.attack)
    detail = [
        *_learners(said, population),
        *_intervals(said, best, what),
        *_beside_permuted(said, population),
        *_more_than_chance(said, what),
        *_basis(said, best, audits),
        *_backwards(said, audits, population),
        *_conclusion(said),
    ]
    told = [sentence(said, audits, what)]
    if said.group is not None:
        told.insert(0 if said.reason is Reason.IN_A_GROUP else 1, exposed_group.sentence(said.group, names, what))
        detail += exposed_group.details(said, said.group, names, what)
    if said.reason is Reason.IN_RECORDS and exposed is not None:
        told.insert(0, exposure.headline(exposed, what))
        detail.append(exposure.ALONE)
    if said.exchanged:
        told.insert(0, exchanged(said, audits, population))
    if population.labels_in_doubt:
        told.insert(0, in_doubt(population))
    return said.with_(sentence=" ".join(told), detail=" ".join(detail), cannot_say=tuple(limits.of(said, best)))


def word(said: Verdict) -> str:
    """Say the verdict in its shortest form."""
    if said.exchanged:
        return EXCHANGED
    return BACKWARDS if said.reason is Reason.BACKWARDS else WORDS[said.leak]


def meaning(document: AuditDocument, what: str) -> str:
    """Say what follows for whoever reads the verdict, and which models it is about."""
    told, population = _meaning(document, what), document.population
    if population.targets is not None:
        return told
    return f"{told} The {population.models} models were trained for this audit: one that you ship is not among them."


def _meaning(document: AuditDocument, what: str) -> str:
    said, population = document.verdict, document.population
    if said.leak is Leak.FOUND or said.reason is Reason.BACKWARDS:
        compared = any(one.name == said.attack and one.strong for one in document.attacks)
        can = "may query such a model, and train others like it," if compared else "may query such a model"
        return f"Anyone who {can} can learn of some {what}s that they were used to train it."
    if said.leak is Leak.NOT_FOUND:
        return "This holds for the attacks that were tried; others may find more."
    if said.reason in {Reason.SHIFT, Reason.UNCOMPARED}:
        return f"That is neither a pass nor a fail: {blind.SETTLED}."
    settle = "models that all learn" if population.health else "more records, or more models,"
    if said.reason is Reason.COPIES:
        settle = "an audit without the copies"
    if said.reason in {Reason.UNEQUAL, Reason.WEAK_ALONE}:
        settle = "models that are each trained on a random half of the records"
    return f"That is neither a pass nor a fail: {settle} may settle it."


def chosen(said: Verdict) -> str:
    """Say by what the verdict's attack was chosen."""
    many = plural(said.best_of, "attack")
    if said.best_of == 1:
        return "the only attack tried"
    if said.best_among == 1:
        return f"the only one of {many} tried that {_better(said, 1)} here"
    by_area = said.best_by is Statistic.AUC or said.fpr is None
    most = "the largest AUC" if by_area else f"most found at {level(said.fpr or 0)} FPR"
    if said.best_among == said.best_of:
        return f"{most}, of {many} tried"
    return f"{most}; {said.best_among} of {many} tried {_better(said, said.best_among)} here"


def _better(said: Verdict, attacks: int) -> str:
    """Say by what so many attacks go before the others: not all that do better than chance may show a leak."""
    if said.shown_by:
        return agree(attacks, "shows a leak", "show a leak")
    return agree(attacks, "is shown to do better than chance", "are shown to do better than chance")


def sentence(said: Verdict, audits: Sequence[Audit], what: str = "record") -> str:
    """Say what an attacker finds; one who reads an attack backwards, where that alone finds anything."""
    if said.reason is Reason.BACKWARDS:
        least = min((audit for audit in audits if audit.name in said.wrong_sign), key=lambda audit: audit.auc.mean)
        return (
            f"Given a training {what} and another {what}, an attacker who reads {least.name} backwards tells which is "
            f"which in {percent(1 - least.auc.mean)} of pairs; chance is 50 %."
        )
    if said.excess is not None:
        return blind.headline(said)
    if said.best_by is Statistic.AUC or said.tpr is None or said.fpr is None:
        return (
            f"Given a training {what} and another {what}, an attacker tells which is which in "
            f"{percent(said.auc)} of pairs; chance is 50 %."
        )
    if said.unequal is not None and said.unequal.tpr is not None:
        return f"{_finds(said, what)}; with permuted membership, up to {_share(said, said.unequal.tpr)}."
    return f"{_finds(said, what)}; chance is {guessing(said)}."


def _finds(said: Verdict, what: str) -> str:
    assert said.fpr is not None
    return f"An attacker who accepts {alarms(said.fpr)} finds {_share(said, said.tpr)} of the training {what}s"


def guessing(said: Verdict) -> str:
    """Write what guessing finds."""
    assert said.fpr is not None
    if guessed(said) == said.fpr:
        return level(said.fpr)
    digits = decimals(said.fpr) + _between(said)
    return f"{percent(said.chance, digits)} here, since a threshold that few false alarms set lets more pass"


def guessed(said: Verdict) -> float:
    """Tell what guessing finds: the rate itself, unless it finds `MORE`, or the interval begins between the two."""
    assert said.fpr is not None
    chance = said.chance or said.fpr
    return chance if chance >= MORE * said.fpr or _between(said) else said.fpr


def _between(said: Verdict) -> bool:
    low, _ = said.tpr_interval or (0.0, 1.0)
    return (said.fpr or 0.0) < low <= (said.chance or 0.0)


def counted(said: Verdict, what: str) -> list[str]:
    """Say the same in counts, which people judge better than rates."""
    told = odds(said)
    if told is None:
        return []
    base, found, wrong = (f"{one:,}" for one in told)
    return [
        f"Of {base} training {what}s {found} are found, and of {base} others {wrong} are taken for them; guessing "
        f"takes {wrong} of both."
    ]


def odds(said: Verdict) -> tuple[int, int, int] | None:
    """Count of how many records, and of how many others, so many are found and so many taken for them.

    None where that cannot be told: equal scores flag fewer than the rate, and where chance alone finds more than the
    rate, only the difference counts.
    """
    if said.tpr is None or not said.fpr or said.tied or said.excess is not None or said.unequal is not None:
        return None
    base = max(1000, round(10 / said.fpr))
    return base, round(base * said.tpr), round(base * guessed(said))


def _share(said: Verdict, share: float | None) -> str:
    return percent(share, decimals(said.fpr))


def share_ends(said: Verdict) -> list[str]:
    """Write the ends of the interval of the share found, so that it is seen on which side of chance they lie.

    Where members and non-members differ without the model, the share is not held against chance.
    """
    assert said.fpr is not None
    limit, digits = said.chance or said.fpr, decimals(said.fpr)
    ends = said.tpr_interval or ()
    return [percent(end, digits) if said.excess else percent_beside(end, limit, digits) for end in ends]


def _learners(said: Verdict, population: Population) -> list[str]:
    sick = population.unlearned
    if not sick:
        return []
    told = f"Since {UNLEARNED}, low numbers say nothing of a model that works."
    if said.leak is Leak.FOUND:
        told = "They leak all the same; models that work may leak more."
        if sick < population.models:
            told = (
                "Every figure is a mean over all audited models, and attacks learn from all of them: the others may "
                "leak more than is shown."
            )
    order = ", or their answers are not in the order of the records" if population.targets is not None else ""
    return [f"{sick} of {population.models} models did not learn{order}. {told}"]


def _intervals(said: Verdict, best: Audit, what: str) -> list[str]:
    sure, by_pairs = level(said.confidence), said.best_by is Statistic.AUC
    curve = (
        f"The area under the ROC curve{', which is that share of pairs,' if by_pairs else ''} is {fraction(said.auc)} "
        f"({sure} interval {around(said.auc_interval or (0.0, 1.0))}; chance is 0.5)."
    )
    if said.tpr is None or said.fpr is None or said.tpr_interval is None:
        return [curve]
    limits = joined(share_ends(said))
    ties = _ties(best.rate(said.fpr))
    if said.reason is Reason.BACKWARDS:
        meant = f"{_share(said, said.tpr)} ({sure} interval {limits}) at {alarms(said.fpr)}"
        return [f"Read as it is meant, {best.name} finds {meant}.", *ties, curve]
    if not by_pairs:
        return [f"The {sure} interval is {limits}.", *ties, curve]
    return [curve, *(ties or [f"{_finds(said, what)} ({sure} interval {limits}; chance is {guessing(said)})."])]


def _ties(rate: OverallRate | None) -> list[str]:
    if rate is None or not rate.tied or rate.realised_fpr is None:
        return []
    return [
        f"Equal scores decide what is found at {alarms(rate.fpr)}: a threshold flags either "
        f"{percent(rate.realised_fpr, decimals(rate.fpr))} of the non-members or more than {level(rate.fpr)}, so a low "
        "share is no sign of safety."
    ]


def _basis(said: Verdict, best: Audit, audits: Sequence[Audit]) -> list[str]:
    lines = []
    if said.best_of > 1:
        by_tpr = said.best_by is Statistic.TPR
        at = "at that rate of false alarms" if by_tpr else "in telling pairs apart"
        most = "finds most" if by_tpr else "tells most pairs apart"
        if said.best_among == said.best_of:
            told = f"{best.name} {most}{f' {at}' * by_tpr}"
        elif said.best_among > 1:
            told = f"{said.best_among} {_better(said, said.best_among)} {at}; {best.name} {most}"
        else:
            told = f"only {best.name} {_better(said, 1)} {at}"
        widest = max(audits, key=lambda audit: audit.auc.mean)
        if round(widest.auc.mean, 3) > round(best.auc.mean, 3):
            told += f"; {widest.name} has the largest AUC, {fraction(widest.auc.mean)}"
        lines.append(
            f"Of {said.best_of} attacks tried, {told}. The attack was chosen on the records that it is judged on, so "
            "all these intervals are widened for that."
        )
    targets = best.targets
    members, others = min(one.members for one in targets), min(one.non_members for one in targets)
    each = "each with at least" if len(targets) > 1 else "with"
    comma = "," if len(targets) > 1 else ""
    lines.append(
        f"Measured on {plural(len(targets), 'model')}{comma} {each} {plural(members, 'member')} and "
        f"{plural(others, 'non-member')}."
    )
    sets = best.training_sets
    if sets < len(targets):
        lines.append(f"They have {plural(sets, 'training set')}: those of nearly the same members count as one.")
    if too_few(sets):
        lines.append(
            f"How much models differ is hardly known from {sets}: to exclude a leak, audit {ENOUGH_TARGETS} or more."
        )
    return lines


def exchanged(said: Verdict, audits: Sequence[Audit], population: Population) -> str:
    """Say why members and non-members may be exchanged, and what to check."""
    why, right = _below(said, [one for one in audits if not one.strong]), population.audited_accuracy
    if not why and right is not None:
        rates = f"{percent(right.non_members.mean)} against {percent(right.members.mean)}"
        why = (
            f"each of the {population.audited_models} models is more often right about non-members ({rates} on average)"
        )
    return f"Members and non-members may be exchanged: {why}. {CHECK} As it stands:"


def in_doubt(population: Population) -> str:
    """Say that labels may be those of other records or classes, which is to be looked at before all else."""
    who = agree(population.models, "The model", f"Each of the {population.models} models")
    told = "labels its own training records no better than naming one class would"
    return f"{who} {told}: check first {CHECK_LABELS}."


def _below(said: Verdict, audits: Sequence[Audit]) -> str:
    """Say which attacks rank members below non-members; empty if none does."""
    wrong = [f"{one.name} (AUC {fraction(one.auc.mean)})" for one in audits if one.name in said.wrong_sign]
    if not wrong:
        return ""
    return f"{listed(wrong)} {agree(len(wrong), 'ranks', 'rank')} members below non-members, by more than chance"


def _backwards(said: Verdict, audits: Sequence[Audit], population: Population) -> list[str]:
    below = _below(said, audits)
    others = (
        "that higher margins mean a surer model, that the rows of membership are in the order of the models, and that "
        "members and non-members come from one source"
    )
    if said.exchanged:
        return [f"If membership is the right way round, check {others}."]
    if not below:
        return []
    told = f"{below}: read backwards, that gives members away as well."
    return [told if population.targets is None else f"{told} {CHECK} Check too {others}."]


def _conclusion(said: Verdict) -> list[str]:
    if said.reason in {Reason.SHIFT, Reason.UNCOMPARED, Reason.MORE_THAN_SHIFT}:
        return [blind.beyond(said), blind.conclusion(said)]
    return [] if said.leak is Leak.FOUND else [CONCLUSIONS[said.reason or Reason.TOO_SMALL]]


def _beside_permuted(said: Verdict, population: Population) -> list[str]:
    """Say how far the attack reaches where nothing leaks, and who is a member depends on more than chance."""
    if said.unequal is None:
        return []
    hard, sure, tpr = population.difficulty, population.overall_confidence, said.unequal.tpr
    why = []
    if hard is not None:
        why.append(
            f"{'easier' if hard > 0.5 else 'harder'} records are in more of the models (what a model says of records "
            f"that it was not trained on tells another model's members from others in {percent(hard)} of pairs; chance "
            "is 50 %)"
        )
    elif population.shares is not None:
        why.append("records are in different shares of the models")
    if sure is not None:
        why.append(
            "how sure a model is of all records goes with which of them it holds (by that alone a likelihood ratio "
            f"reaches an AUC of {fraction(sure)}; chance is 0.5)"
        )
    found = "" if tpr is None else f", and up to {_share(said, tpr)} found at that rate of false alarms"
    told = (
        f"{listed(why)}, so that members are told without a leak, too: with the membership permuted, where nothing "
        f"leaks, {said.attack} reaches an AUC of up to {fraction(said.unequal.auc)}{found}"
    )
    return [ended(told)]


def _more_than_chance(said: Verdict, what: str) -> list[str]:
    """Say which figure shows the leak; that of a group, or beyond the records, is told by itself."""
    if said.leak is not Leak.FOUND or said.reason in {Reason.IN_A_GROUP, Reason.IN_RECORDS, Reason.MORE_THAN_SHIFT}:
        return []
    if said.tpr is None:
        return ["That is more than chance."]
    if said.shown_by == (Statistic.AUC,) and said.tied:
        return ["The area is more than chance."]
    if said.shown_by == (Statistic.AUC,):
        return [f"The area is more than chance; the share of training {what}s found may be chance."]
    if said.shown_by == (Statistic.TPR,):
        return [f"The share of training {what}s found is more than chance; the area may be chance."]
    return ["Both are more than chance."]
