"""The verdict in plain words, and what an audit cannot say."""

from collections.abc import Sequence
from fractions import Fraction

from reticent.auditing.results import Audit, Interval, OverallRate, TargetAudit
from reticent.rounding import decimals, fraction, level, percent

ENOUGH_FALSE_POSITIVES = 5
"""False positives that a rate should allow, to be relied on."""
NOTHING = "No attack did better than chance"
TOO_SMALL = f"{NOTHING}, but this audit is too small to exclude a leak that matters."
NARROWER = "Whether there is a leak: the intervals are too wide. More models or more records would narrow them."
SHORT = (
    "Whether there is a leak: the intervals over so few models are not to be relied on. More models would settle it."
)
TIED = f"{NOTHING}, but equal scores decide the share found, so a leak that matters is not excluded."
TIES = "Whether there is a leak: so many records have equal scores that attacks cannot be read at that rate."
FEWEST = 20
"""With fewer members, or non-members, of one model, redrawing them does not show what other ones would give."""
UNJUDGED = (
    f"Nothing is judged: an interval over so few records of one model cannot be relied on (expected at least {FEWEST} "
    "members and non-members)."
)
UNSURE = f"Whether there is a leak: with at least {FEWEST} members and non-members, or more models, it could be judged."
UNKNOWN = f"{NOTHING}, but whether the models learned is not known, and what learned nothing has nothing to give away."
"""What is said where no leak is found in models of which nobody can tell whether they learned."""
UNLEARNED = {
    TOO_SMALL: f"{NOTHING}, but models that learned nothing have nothing to give away.",
    TIED: f"{NOTHING}, but models that learned nothing have nothing to give away.",
    **dict.fromkeys(
        (NARROWER, SHORT, UNSURE, TIES),
        "Whether models that work leak: these learned nothing. More of them would not tell; train better first.",
    ),
}
"""What is said in place of these where most models did not learn."""
UNLEARNED_SOME = (
    f"{NOTHING}, but every figure is an average that holds the models that learned nothing, and attacks learn from "
    "them too: a leak that matters, in those that did learn, is not excluded."
)
"""What is said in place of an exclusion where some models did not learn, and most did."""
AT = {"tpr": "at that rate of false alarms", "auc": "in telling pairs apart"}
MOST = {"tpr": "finds most", "auc": "tells most pairs apart"}
"""The figure by which an attack was chosen -> what it does."""
ENOUGH_TARGETS = 5
"""Models from which their spread is known well enough."""


def too_few(models: int) -> bool:
    """Tell whether intervals over so many models are too short to be held to their confidence."""
    return 1 < models < ENOUGH_TARGETS


def unsure(targets: Sequence[TargetAudit]) -> bool:
    """Tell whether one model was audited, with so few records that no interval over them can be relied on."""
    return len(targets) == 1 and min(targets[0].members, targets[0].non_members) < FEWEST


def few(models: int) -> list[str]:
    """Warn of intervals over few models."""
    if not too_few(models):
        return []
    return [f"Intervals over only {models} models are too short to be relied on: audit {ENOUGH_TARGETS} or more."]


def carried(by_auc: bool, by_tpr: bool, rate: OverallRate | None) -> str:
    """Say which figure is more than chance."""
    if by_auc and not by_tpr and rate is not None and rate.tpr is not None:
        return "The share of pairs is more than chance; the share of training records found may be chance by itself."
    if by_tpr and not by_auc:
        return "The share of training records found is more than chance; the area may be chance by itself."
    return "That is more than chance."


def sentence(rate: OverallRate | None, area: float) -> str:
    """Say what an attacker finds."""
    if rate is None or rate.tpr is None:
        return f"An attacker tells a training record from another one in {percent(area)} of pairs; chance is 50 %."
    return (
        f"An attacker who accepts {_alarms(rate)} finds {_found(rate, rate.tpr.mean)} of the training records; "
        f"chance is {level(rate.fpr)}."
    )


def _found(rate: OverallRate, share: float) -> str:
    return percent(share, decimals(rate.fpr))


def _alarms(rate: OverallRate) -> str:
    every = 1 / Fraction(rate.fpr).limit_denominator(10**9)
    return f"{every.denominator:,} false alarm{'s' * (every.denominator > 1)} in {every.numerator:,}"


def intervals(
    audit: Audit, rate: OverallRate | None, tpr: Interval | None, area: Interval, by_pairs: bool = False
) -> list[str]:
    """Say how sure the figures are."""
    sure = level(audit.confidence)
    curve = (
        f"The area under the ROC curve{', which is that share of pairs,' if by_pairs else ''} is "
        f"{fraction(audit.auc.mean)} ({sure} interval {fraction(area[0])} to {fraction(area[1])}; chance is 0.5)."
    )
    if rate is None or rate.tpr is None or tpr is None:
        return [curve]
    limits = f"{_found(rate, tpr[0])} to {_found(rate, tpr[1])}"
    if not by_pairs:
        return [f"The {sure} interval is {limits}.", *ties(rate), curve]
    return [
        curve,
        f"An attacker who accepts {_alarms(rate)} finds {_found(rate, rate.tpr.mean)} of the training records ({sure} "
        f"interval {limits}; chance is {level(rate.fpr)}).",
        *ties(rate),
    ]


def ties(rate: OverallRate) -> list[str]:
    """Say that equal scores decide a rate."""
    if not rate.tied or rate.realised_fpr is None:
        return []
    return [
        f"Equal scores decide that share: the thresholds accuse {_found(rate, rate.realised_fpr)} of the other "
        f"records, and the next ones more than {level(rate.fpr)}; so it is no sign of safety where it is low."
    ]


def basis(audit: Audit, choices: int, figure: str, among: int, widest: Audit) -> list[str]:
    """Say what the figures rest on."""
    lines = []
    if choices > 1:
        which = ", also those that say which do better"
        if among == choices:
            told, which = f"{audit.name} {MOST[figure]}" + (f" {AT[figure]}" if figure == "tpr" else ""), ""
        elif among > 1:
            told = f"{among} do better than chance {AT[figure]}, and of these {audit.name} {MOST[figure]}"
        else:
            told = f"only {audit.name} is shown to do better than chance {AT[figure]}"
        if round(widest.auc.mean, 3) > round(audit.auc.mean, 3):
            told += f" ({widest.name} has the larger area under the ROC curve, {fraction(widest.auc.mean)})"
        lines.append(
            f"Of {choices} attacks tried, {told}; "
            f"it was chosen on the same records, so the intervals are widened{which}."
        )
    models = len(audit.targets)
    members = min(target.members for target in audit.targets)
    others = min(target.non_members for target in audit.targets)
    lines.append(
        f"Measured on {models} models, each with at least {members:,} members and {others:,} non-members."
        if models > 1
        else f"Measured on 1 model with {members:,} members and {others:,} non-members."
    )
    return lines


def unresolved(audit: Audit) -> list[str]:
    """Say which rates the audit is too small for."""
    lines = []
    for rate in audit.rates:
        count = rate.false_positives_allowed
        if count < 1:
            lines.append(
                f"Nothing can be said at a false-positive rate of {plain(rate.fpr)}: it needs {rate.records_needed:,} "
                f"non-members, this audit has {rate.non_members:,}."
            )
        elif count < ENOUGH_FALSE_POSITIVES:
            lines.append(
                f"The figure at a false-positive rate of {plain(rate.fpr)} rests on few records: it allows {count} "
                f"false alarm{'s' * (count > 1)} a model."
            )
    return lines


def limits(audit: Audit, inverted: Sequence[Audit], leak: str, tied: bool = False) -> list[str]:
    """List what the audits do not show."""
    lines = unresolved(audit)
    if len(audit.targets) == 1:
        lines.append("One model was audited: how much another training run would differ is not known.")
    elif len(audit.targets) < ENOUGH_TARGETS:
        lines.append(f"Only {len(audit.targets)} models were audited: how much they differ is hardly known.")
    if leak == "cannot tell":
        few_models = SHORT if too_few(len(audit.targets)) else TIES if tied else NARROWER
        lines.append(UNSURE if unsure(audit.targets) else few_models)
    lines += [
        f"{wrong.name} ranks members below non-members (AUC {fraction(wrong.auc.mean)}): its scores may have the "
        "wrong sign."
        for wrong in inverted
    ]
    return [
        *lines,
        "Attacks that were not tried may find more: every figure is a lower bound on the leak.",
        "The rates are averages over records: single records can be far more exposed.",
    ]


def plain(value: float) -> str:
    """Write a number without an exponent."""
    return f"{value:.12f}".rstrip("0").rstrip(".")
