"""The limits of AUC and TPR of each group of records."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.auditing.gate.check import Check, Doubt, Found, compare, number, unjudged
from reticent.auditing.gate.leak import doubts, ties
from reticent.auditing.gate.limits import Limits
from reticent.auditing.gate.reading import Missing, called, read_estimate, without_interval
from reticent.say.grammar import short

Plain = Mapping[str, Any]


def checks(document: Plain, limits: Limits) -> list[Check]:
    """Hold the limits of groups against an audit."""
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
    column = short(by)
    found: list[Found] = []
    missing: list[Missing] = []
    small = []
    for group in block.get("groups") or ():
        if not isinstance(group, Mapping):
            continue
        value, shown = group.get(key), called(document, by, group.get("name"))
        if value is None:
            small.append(shown)
        else:
            read = read_estimate(f"{column} {shown}", value, block)
            if isinstance(read, Found):
                found.append(read)
            else:
                missing.append(read)
    name = f"{key.upper()}{at} of each group by {column} at most {limit:g}"
    tied = [str(block.get("attack"))] if any(one.summary.tied for one in found) else []
    absent = [*without_interval(missing), *_small(small), *ties(tied, rate)]
    return compare(name, limit, found, absent, doubts(document), allow, "groups")


def _small(names: Sequence[str]) -> list[Doubt]:
    if not names:
        return []
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return [Doubt("not-measurable", f"too few records to measure: {shown}")]
