"""The null control: the same audit with the membership shuffled, where every finding would be false."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.view import confidence, measured, rate_at, short, title
from reticent.report.wording import Plain, level, percent, share
from reticent.rounding import decimals, fraction

PASSED = {
    True: ("not found", "Passed"),
    False: ("found", "Not passed"),
    None: ("cannot tell", "Not judged"),
}
"""Outcome -> icon and word."""


def parts(document: Mapping[str, Any], attacks: Sequence[Plain]) -> dict[str, Any] | None:
    """Put the real audit and the shuffled one side by side."""
    control = document.get("control")
    if not control:
        return None
    shuffled = {entry["name"]: entry for entry in control.get("attacks") or ()}
    pairs = [(attack, shuffled[attack["name"]]) for attack in attacks if attack["name"] in shuffled]
    known = {rate["fpr"] for _, null in pairs for rate in null.get("tpr_at_fpr") or () if rate.get("tpr") is not None}
    fpr = _rate(document, [rate for rate in measured(attacks) if rate in known])
    icon, word = PASSED.get(control.get("passed"), PASSED[None])
    return {
        "sentence": control.get("sentence"),
        "icon": icon,
        "word": word,
        "fpr": fpr,
        "detectable": None if control.get("sentence") else detectable(control),
        "lines": [_line(attack, null, fpr) for attack, null in pairs],
        "alone": _alone(attacks, len(shuffled)),
    }


def detectable(control: Mapping[str, Any] | None) -> str | None:
    """Say which leak an audit of this size would have found."""
    least = (control or {}).get("detectable") or {}
    said = []
    if least.get("auc") is not None:
        said.append(f"an AUC of {fraction(least['auc'])}")
    if least.get("tpr") is not None and least.get("fpr"):
        found = percent(least["tpr"], decimals(least["fpr"]))
        rate = f"{found} of the training records found at {share(least['fpr'])} false alarms"
        said.append(f"{rate} (chance {level(least['fpr'])})")
    if not said:
        return None
    power = least.get("power")
    how = f", with a probability of {level(power)}" if power is not None else ""
    by = f", by {short(least['attack'], 40)}" if least.get("attack") else ""
    return f"The smallest leak that an audit of this size would find{how}: {', or '.join(said)}{by}."


def _alone(attacks: Sequence[Plain], many: int) -> str:
    """Say why an interval of the table may leave chance out while the outcome says that nothing was found."""
    sure = confidence(attacks)
    looked = f"allows for having looked at {many} attacks" if many > 1 else "asks for more"
    return (
        f"Each interval here stands by itself, at {sure}: of so many, a few leave chance out by luck. The outcome "
        f"above {looked}, by wider intervals than these."
    )


def _rate(document: Mapping[str, Any], rates: Sequence[float]) -> float | None:
    """Take the verdict's rate if both audits have it, or the smallest that they have."""
    asked = (document.get("verdict") or {}).get("fpr")
    return asked if asked in rates else min(rates, default=None)


def _line(attack: Plain, null: Plain, fpr: float | None) -> dict[str, Any]:
    real = rate_at(attack["overall"], fpr) if fpr is not None else None
    fake = rate_at(null, fpr) if fpr is not None else None
    return {
        "name": title(attack),
        "auc": attack["overall"]["auc"],
        "null_auc": null.get("auc"),
        "tpr": real.get("tpr") if real else None,
        "null_tpr": fake.get("tpr") if fake else None,
    }
