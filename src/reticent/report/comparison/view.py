"""Questions to the document of a comparison that every form of it asks."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.report.view import short
from reticent.report.wording import Plain, level, limits, middle, signed, value, words
from reticent.say.comparison import BELOW, points

VERDICTS = {"first lower": -1, "second lower": 1, "tie": 0}
"""Verdict of a pair -> the sign of its difference."""

STATISTICS = {
    "auc": "AUC",
    "tpr": "Members found",
    "accuracy": "Accuracy",
}
"""Statistic of a pair -> its name."""


def rows(document: Mapping[str, Any]) -> list[Plain]:
    """List the rows in the document's order, each control or other attacker after the first row that it matches."""
    listed: list[Plain] = list(document.get("rows") or ())
    controls = sorted((row for row in listed if not is_recipe(row)), key=is_control)
    ordered: list[Plain] = []
    for row in listed:
        if not is_recipe(row):
            continue
        ordered.append(row)
        near = [one for one in controls if row["name"] in matched(one)]
        ordered += near
        controls = [one for one in controls if one not in near]
    return [*ordered, *controls]


def matched(row: Plain) -> list[str]:
    """Name the rows whose accuracy a control has."""
    matches = row.get("matches")
    if matches is None or is_recipe(row):
        return []
    return [matches] if isinstance(matches, str) else [str(name) for name in matches]


def is_control(row: Plain) -> bool:
    """Tell controls from recipes."""
    return row.get("role") == "control"


def is_recipe(row: Plain) -> bool:
    """Tell recipes from what is there to be compared with them."""
    return row.get("role") not in {"control", "non-adaptive"}


def not_beaten(listed: Sequence[Plain]) -> str:
    """Say what it means that no row beats another one."""
    blind = any(row.get("role") == "non-adaptive" for row in listed)
    rivals = "row of attackers who know the defense" if blind else "row"
    return (
        f"Not beaten: no other {rivals} is at least as accurate, leaks at most as much, and is better in one of them."
    )


def kind(row: Plain, baseline: Any) -> str:
    """Say what a row is."""
    if not is_recipe(row):
        return str(row["role"])
    return "baseline" if row["name"] == baseline else "recipe"


def costs(document: Mapping[str, Any], row: Plain) -> Plain:
    """Find what a row cost on the machine that trained it."""
    told = ((document.get("environment") or {}).get("rows") or {}).get(row["name"])
    return told or {"seconds_per_model": row.get("seconds_per_model")}


def remark(row: Plain, baseline: Any, listed: Sequence[Plain] = ()) -> str:
    """Say in a few words what a row is, or how a recipe stands to its control."""
    if is_control(row):
        kept = row.get("epochs_kept")
        when = f" after {value(kept)} epochs" if kept is not None else ""
        by_name = {one["name"]: one for one in listed}
        near = [f"{_nearness(row, by_name.get(name))} {short(name, 40)}" for name in matched(row)]
        return f"control: stopped{when}" + "".join(f", {one}" for one in near)
    if not is_recipe(row):
        return "its models, attacked by one who does not know of the defense"
    return "baseline" if row["name"] == baseline else _standing(row.get("control"), baseline)


def _standing(held: Plain | None, baseline: Any) -> str:
    """Say how a recipe stands to its control; empty where the document is older than that."""
    if not held:
        return ""
    other = "the baseline" if held["name"] == baseline else "its control"
    idle = held.get("unlearned")
    if idle is not None:
        return f"not judged: most models of {other if idle == held['name'] else 'it'} did not learn"
    if not held["settled"] and held["missed"] is not None:
        much = "more" if held["missed"] > 0 else "less"
        return f"not judged: {other} is {points(held['missed'])} points {much} accurate"
    unknown = "" if held["settled"] else ", at an accuracy that is not known"
    by = [{"auc": "AUC", "tpr": "members found"}[name] for name in held["by"]]
    alone = f", by {by[0]} alone" if len(by) == 1 else ""
    told = {
        "less": f"leaks less than {other}{alone}",
        "more": f"leaks more than {other}{alone}",
        "tie": f"not told apart from {other}",
        "mixed": f"leaks less than {other} by one measure, more by the other",
    }[held["leak"]]
    return told + unknown


def _nearness(control: Plain, other: Plain | None) -> str:
    """Say how a control's accuracy compares with that of a row, up to the row's name."""
    one, two = (middle(((row or {}).get("accuracy") or {}).get("non_members")) for row in (control, other))
    if one is None or two is None:
        return "to be as accurate as"
    apart = points(one - two)
    if apart in (points(0), BELOW):
        return "as accurate as"
    return f"{apart} points {'more' if one > two else 'less'} accurate than"


def difference(pair: Plain, positive: bool = False) -> tuple[str, str]:
    """Write a pair's difference and its interval, in the statistic's unit."""
    value, ends = pair.get("difference"), limits(pair)
    if positive and value is not None and value < 0:
        value, ends = -value, None if ends is None else (-ends[1], -ends[0])
    if pair["statistic"] == "auc":
        return signed(value), "" if ends is None else f"{signed(ends[0])} to {signed(ends[1])}"
    written = _points(value)
    return f"{written} points", "" if ends is None else f"{_points(ends[0])} to {_points(ends[1])}"


def verdict(pair: Plain) -> str:
    """Say how a pair ended."""
    sign = VERDICTS.get(pair.get("verdict", ""), 0)
    if sign == 0:
        return "tie: no difference shown"
    return f"{short(pair['first'] if sign < 0 else pair['second'], 40)} is lower"


def statistic(name: str, fpr: float | None) -> str:
    """Name a statistic."""
    known = STATISTICS.get(name, words(name))
    return f"{known} at {level(fpr)}" if name == "tpr" and fpr else known


def found_at(fpr: float | None) -> str:
    """Name the rate of members found."""
    return f"Found at {level(fpr)}" if fpr else "Members found"


def changes(row: Plain) -> list[dict[str, str]]:
    """List what a recipe changes against the baseline."""
    return [
        {
            "key": short(words(str(change["key"]).replace(".", ", ")), 80),
            "baseline": _setting(change.get("baseline")),
            "value": _setting(change.get("value")),
        }
        for change in row.get("changes") or ()
    ]


def attacks(listed: Sequence[Plain]) -> list[str]:
    """Name all attacks of all rows."""
    return list(dict.fromkeys(attack["name"] for row in listed for attack in row.get("attacks") or ()))


def _setting(item: Any) -> str:
    return "not set" if item is None else short(value(item), 120)


def _points(fraction: Any) -> str:
    """Write a difference of shares in percentage points, which are no percentages."""
    return signed(None if fraction is None else 100 * fraction, 2)
