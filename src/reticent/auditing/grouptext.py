"""What a comparison of groups shows, in a sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from reticent.auditing.labelling import CLASS, MISSING, Labelling
from reticent.rounding import percent

Plain = Mapping[str, Any]
LONGEST = 60
"""Characters of a group's name in a sentence."""
CUT = "The groups are ranges: the column has too many different numbers to be groups, and was cut at its quartiles."


def sentence(labelling: Labelling, entries: Sequence[Plain], most: int | None, needed: int) -> str:
    """Say whether a group stands out, and which.

    Args:
        labelling: the groups.
        entries: one a group.
        most: which group is the most exposed, if one stands out.
        needed: from how many records on a group is measurable.

    Returns:
        Sentences.
    """
    compared = [entry for entry in entries if entry["difference"] is not None]
    small = _small(entries, needed) + (f" {CUT}" if labelling.cut else "")
    what, many = ("class", "classes") if labelling.by == CLASS else ("group", "groups")
    place = "" if labelling.by == CLASS else f" by {short(labelling.by)}"
    if len(compared) < 2:
        known = sum(entry["auc"] is not None for entry in entries)
        few = f"only {known} of {len(entries)} has" if known == 1 else f"{known} of {len(entries)} have"
        reason = "there is only one" if len(entries) == 1 else f"each needs about {needed} records, and {few} enough"
        return f"The {many}{place} cannot be compared: {reason}.{f' {CUT}' * labelling.cut}"
    if most is None:
        less = sum(entry["stands_out"] == "less" for entry in entries)
        also = f" {less} of them give{'s' * (less == 1)} less away than the others." if less else ""
        return (
            f"No {what}{place} stands out as more exposed: what is highest among the {len(compared)} {many} is no more "
            f"than chance makes the highest of so many.{also}{small}"
        )
    entry = entries[most]
    rest = f"the other {what}" if len(compared) == 2 else f"the other {many}"
    sure = "" if len(compared) == 2 else f", corrected for all {len(compared)} {many}"
    others = sum(one["stands_out"] == "more" for one in entries) - 1
    also = f" {others} more stand{'s' * (others == 1)} out as well." if others else ""
    higher = sum(one["stands_out"] != "more" and one["auc"]["mean"] > entry["auc"]["mean"] for one in compared)
    among = " of those that stand out" if higher else ""
    if higher:
        have = "has" if higher == 1 else "have"
        also += f" {higher} of the others {have} a higher value, which chance may explain."
    return (
        f"The most exposed {what}{place}{among} is {_named(labelling, most)}: an attacker tells its members from its "
        f"non-members in {percent(entry['auc']['mean'])} of pairs, and those of {rest} in "
        f"{percent(entry['auc']['mean'] - entry['difference']['mean'])}; that is more than chance{sure}."
        f"{also}{small}"
    )


def short(text: str) -> str:
    """Cut a long name.

    Args:
        text: of the user's data.

    Returns:
        At most `LONGEST` characters, on one line.
    """
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _named(labelling: Labelling, group: int) -> str:
    shown = short(labelling.shown[group])
    return "the one without a value" if labelling.names[group] == MISSING else f'"{shown}"'


def _small(entries: Sequence[Plain], needed: int) -> str:
    count = sum(entry["auc"] is None for entry in entries)
    if not count:
        return ""
    verb = "is" if count == 1 else "are"
    return f" {count} of {len(entries)} {verb} too small to be measured (about {needed} records are needed)."
