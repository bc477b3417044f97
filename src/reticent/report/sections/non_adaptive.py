"""The attacker who does not know of the defense, beside the one who does: how much of the protection is ignorance."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.view import measured, rate_at, title
from reticent.report.wording import Plain


def parts(document: Mapping[str, Any], attacks: Sequence[Plain]) -> dict[str, Any] | None:
    """Put both attackers side by side."""
    found = document.get("non_adaptive")
    if not found:
        return None
    unaware = {entry["name"]: entry for entry in found.get("attacks") or ()}
    pairs = [(attack, unaware[attack["name"]]) for attack in attacks if attack["name"] in unaware]
    rates = measured(attacks)
    asked = (document.get("verdict") or {}).get("fpr")
    fpr = asked if asked in rates else min(rates, default=None)
    return {
        "sentence": found.get("sentence"),
        "fpr": fpr,
        "lines": [_line(aware, other, fpr) for aware, other in pairs],
    }


def _line(aware: Plain, unaware: Plain, fpr: float | None) -> dict[str, Any]:
    one = rate_at(aware["overall"], fpr) if fpr is not None else None
    other = rate_at(unaware, fpr) if fpr is not None else None
    return {
        "name": title(aware),
        "auc": aware["overall"]["auc"],
        "unaware_auc": unaware.get("auc"),
        "tpr": one.get("tpr") if one else None,
        "unaware_tpr": other.get("tpr") if other else None,
    }
