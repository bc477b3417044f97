"""The verdict in plain words, and what an audit cannot say."""

from collections.abc import Sequence
from fractions import Fraction

from reticent.auditing.results import Audit, Interval, OverallRate

ENOUGH_FALSE_POSITIVES = 5
"""False positives that a rate should allow, to be relied on."""
TOO_SMALL = "No attack did better than chance, but this audit is too small to exclude a leak that matters."
NARROWER = "Whether there is a leak: the intervals are too wide. More models or more records would narrow them."
UNLEARNED = {
    TOO_SMALL: "No attack did better than chance, but models that learned nothing have nothing to give away.",
    NARROWER: "Whether models that work leak: these learned nothing. More of them would not tell; train better first.",
}
"""What is said in place of the first two where most models did not learn."""
ENOUGH_TARGETS = 5
"""Models from which their spread is known well enough."""


def sentence(rate: OverallRate | None, area: float) -> str:
    """Say what an attacker finds.

    Args:
        rate: the reported one, or None if none can be measured.
        area: AUC.

    Returns:
        One sentence.
    """
    if rate is None or rate.tpr is None:
        return f"An attacker tells a training record from another one in {percent(area)} of pairs; chance is 50 %."
    every = 1 / Fraction(rate.fpr).limit_denominator(10**9)
    alarms = f"{every.denominator:,} false alarm{'s' * (every.denominator > 1)} in {every.numerator:,}"
    return (
        f"An attacker who accepts {alarms} finds {percent(rate.tpr.mean)} of the training records; "
        f"chance is {percent(rate.fpr)}."
    )


def intervals(audit: Audit, tpr: Interval | None, area: Interval) -> list[str]:
    """Say how sure the figures are.

    Args:
        audit: of the reported attack.
        tpr: interval of the TPR, or None.
        area: interval of the AUC.

    Returns:
        Sentences.
    """
    sure = percent(audit.confidence)
    lines = [] if tpr is None else [f"The {sure} interval is {percent(tpr[0])} to {percent(tpr[1])}."]
    return [
        *lines,
        f"The area under the ROC curve is {audit.auc.mean:.3f} ({sure} interval {area[0]:.3f} to {area[1]:.3f}; "
        "chance is 0.5).",
    ]


def basis(audit: Audit, choices: int) -> list[str]:
    """Say what the figures rest on.

    Args:
        audit: of the reported attack.
        choices: number of attacks it was chosen from.

    Returns:
        Sentences.
    """
    lines = []
    if choices > 1:
        lines.append(
            f"This is the best of {choices} attacks ({audit.name}), chosen on the same records; "
            "the intervals are widened for that choice."
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
    """Say which rates the audit is too small for.

    Args:
        audit: of the reported attack.

    Returns:
        Sentences.
    """
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


def limits(audit: Audit, inverted: Sequence[Audit], leak: str) -> list[str]:
    """List what the audits do not show.

    Args:
        audit: of the reported attack.
        inverted: audits of attacks that rank members below non-members.
        leak: the verdict's word.

    Returns:
        Sentences.
    """
    lines = unresolved(audit)
    if len(audit.targets) == 1:
        lines.append("One model was audited: how much another training run would differ is not known.")
    elif len(audit.targets) < ENOUGH_TARGETS:
        lines.append(f"Only {len(audit.targets)} models were audited: how much they differ is hardly known.")
    if leak == "cannot tell":
        lines.append(NARROWER)
    lines += [
        f"{wrong.name} ranks members below non-members (AUC {wrong.auc.mean:.3f}): its scores may have the wrong sign."
        for wrong in inverted
    ]
    return [
        *lines,
        "Attacks that were not tried may find more: every figure is a lower bound on the leak.",
        "The rates are averages over records: single records can be far more exposed.",
    ]


def percent(rate: float) -> str:
    """Write a rate for people: two digits below 10 %, one decimal above.

    Args:
        rate: from 0 to 1.

    Returns:
        Such as "6.6 %", "50 %" or "0.012 %".
    """
    value = 100 * rate
    text = f"{value:.1f}" if value >= 9.95 else plain(float(f"{value:.2g}"))
    return f"{text.removesuffix('.0')} %"


def plain(value: float) -> str:
    """Write a number without an exponent.

    Args:
        value: zero or more.

    Returns:
        Its shortest decimal digits.
    """
    return f"{value:.12f}".rstrip("0").rstrip(".")
