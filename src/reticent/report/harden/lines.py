"""The rows of the table of a repair: each measure before, after, and the change with its interval."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reticent.report.view import rate_at, title
from reticent.report.wording import MARK, Plain, found, from_below, level, middle, percent, signed, span, written
from reticent.rounding import decimals

SIDES = ("before", "after")
POINTS = " points"


class Line(NamedTuple):
    """One measure.

    Attributes:
        label: what it is.
        before: in the given model.
        after: in the repaired one.
        change: after minus before, or empty.
        interval: of the change, or empty.
    """

    label: str
    before: str
    after: str
    change: str = ""
    interval: str = ""


def main(document: Mapping[str, Any]) -> list[Line]:
    """List the measures of the verdict: accuracy, and what the strongest attack finds."""
    pairs = {pair["statistic"]: pair for pair in document["difference"]["pairs"]}
    rows = {row["name"]: row for row in document["difference"]["rows"]}
    fpr = document["difference"]["fpr"]
    inside, outside = (
        [percent(middle(document[side]["accuracy"][key])) for side in SIDES] for key in ("members", "non_members")
    )
    lines: list[tuple[str, list[str], tuple[str, str]]] = [
        ("Accuracy, non-members", outside, _change(pairs.get("accuracy"), points=True)),
        ("Accuracy, members", inside, ("", "")),
    ]
    if rows["before"]["tpr"] is not None and rows["after"]["tpr"] is not None:
        shares = [found(rows[side]["tpr"], decimals(fpr)) for side in SIDES]
        lines.append((f"Members found at {level(fpr)}", shares, _change(pairs.get("tpr"), points=True)))
    areas = [written(rows[side]["auc"]) for side in SIDES]
    bounds = [from_below(document[side]["epsilon"]["lower"]) for side in SIDES]
    lines += [("AUC", areas, _change(pairs.get("auc"), points=False)), ("Epsilon at least", bounds, ("", ""))]
    return [Line(label, both[0], both[1], *change) for label, both, change in lines]


def alone(document: Mapping[str, Any]) -> str:
    """Say why an interval may leave out 0 without being a finding; empty where none does."""
    pairs = document["difference"]["pairs"]
    ties = [pair for pair in pairs if pair["verdict"] == "tie"]
    if all(pair["interval"][0] <= 0 <= pair["interval"][1] for pair in ties):
        return ""
    return (
        f"Each interval is of its own row alone. {len(pairs)} changes are tested together, and allowing for that, "
        "chance may explain a change whose own interval just leaves out 0."
    )


def chosen(document: Mapping[str, Any]) -> str:
    """Say why epsilon is below that of the attack itself; empty where there was no choice among attacks."""
    many = len(document["before"]["attacks"])
    if many == 1 or not any(document[side]["epsilon"]["lower"] for side in SIDES):
        return ""
    return (
        f"Epsilon is lowered for the choice among {many} attacks; the bounds in the table of attacks are each of one "
        "attack alone, and so may be higher."
    )


def marked(lines: Sequence[Line]) -> bool:
    """Tell whether a number has the mark of equal scores."""
    return any(MARK in line.before + line.after for line in lines)


def attacks(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List every attack with what it finds before and after."""
    fpr = document["difference"]["fpr"]
    after = {attack["name"]: attack for attack in document["after"]["attacks"]}
    listed = []
    for one in sorted(document["before"]["attacks"], key=lambda a: -(middle(a["overall"]["auc"]) or 0)):
        both = one, after[one["name"]]
        listed.append({
            "name": title(one),
            "auc": [each["overall"]["auc"] for each in both],
            "tpr": [None if fpr is None else (rate_at(each["overall"], fpr) or {}).get("tpr") for each in both],
            "epsilon": [_epsilon(each) for each in both],
        })
    return listed


def _epsilon(attack: Plain) -> float | None:
    """Take the bound of the headline's method."""
    return next((bound["epsilon"] for bound in attack["epsilon"]["bounds"]), None)


def _change(pair: Plain | None, *, points: bool) -> tuple[str, str]:
    """Write after minus before; the pair is of before minus after."""
    if pair is None:
        return "", ""
    scale, digits = (100, 1) if points else (1, 3)
    low, high = (-scale * end for end in reversed(pair["interval"]))
    text = signed(-scale * pair["difference"], digits) + (POINTS if points else "")
    return text, span((low, high), digits=digits)
