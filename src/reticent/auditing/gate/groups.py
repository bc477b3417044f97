"""The limits of AUC and TPR of each group of records."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.auditing.gate.check import Check, Doubt, Found, compare, estimate, number, unjudged
from reticent.auditing.gate.leak import doubts, without_interval
from reticent.auditing.gate.limits import Limits

Plain = Mapping[str, Any]


def checks(document: Plain, limits: Limits) -> list[Check]:
    """Hold the limits of groups against an audit.

    Args:
        document: the audit.
        limits: what was asked for.

    Returns:
        One check a limit and kind of group (classes, or a column).
    """
    asked = {"auc": limits.max_group_auc, "tpr": limits.max_group_tpr}
    blocks = document.get("groups") or ()
    blocks = [block for block in blocks if isinstance(block, Mapping)]
    made = []
    for key, limit in asked.items():
        if limit is None:
            continue
        if not blocks:
            doubt = Doubt("no-groups", "the audit has no groups: run it again with --group-by COLUMN")
            made.append(unjudged(f"{key.upper()} of each group at most {limit:g}", limit, doubt, limits.allow))
        made += [_check(document, block, key, limit, limits.allow) for block in blocks]
    return made


def _check(document: Plain, block: Plain, key: str, limit: float, allow: Sequence[str]) -> Check:
    by, rate = str(block.get("by")), number(block.get("fpr"))
    at = f" at FPR {rate:g}" if key == "tpr" and rate is not None else ""
    read = [
        (str(group.get("name")), group.get(key), estimate(group.get(key)))
        for group in block.get("groups") or ()
        if isinstance(group, Mapping)
    ]
    sure = number(block.get("confidence")) or 0.95
    found = [Found(f"{by} {name}", summary, sure) for name, _, summary in read if summary is not None]
    small = [name for name, value, _ in read if value is None]
    unsound = [f"{by} {name}" for name, value, summary in read if value is not None and summary is None]
    name = f"{key.upper()}{at} of each group by {by} at most {limit:g}"
    return compare(name, limit, found, [*without_interval(unsound), *_small(small)], doubts(document), allow, "groups")


def _small(names: Sequence[str]) -> list[Doubt]:
    if not names:
        return []
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return [Doubt("not-measurable", f"too few records to measure: {shown}")]
