"""The group of records that stands out, in the verdict and on its card."""

from collections.abc import Sequence

from reticent.auditing.partition import CLASS, MISSING
from reticent.auditing.units import SEVERAL
from reticent.findings.audit import Reason, Verdict
from reticent.findings.group_limits import ExposedGroup
from reticent.rounding import decimals, down, fraction, level, p_value, percent
from reticent.say.grammar import plural, short
from reticent.say.groups import called, several


def named(found: ExposedGroup, names: Sequence[str], what: str) -> str:
    """Name the group: ``class "cats"``, ``group "north" by region``; `names` are those of the classes, or empty."""
    if found.name == SEVERAL:
        return several(found.by, what)
    if found.by == CLASS:
        return f'class "{called(found.by, found.name, names)}"'
    own = "without a value" if found.name == MISSING else f'"{short(found.name)}"'
    return f"group {own} by {short(found.by)}"


def sentence(found: ExposedGroup, names: Sequence[str], what: str) -> str:
    """Say which group leaks more; `what` is audited."""
    size = plural(found.records, what)
    text = named(found, names, what)
    return (
        f"{text[:1].upper()}{text[1:]} ({size}) leaks more: there, an attacker tells a training {what} from another "
        f"one in {percent(found.auc)} of pairs, elsewhere in {percent(found.others)}."
    )


def details(said: Verdict, found: ExposedGroup, names: Sequence[str], what: str) -> list[str]:
    """Say how sure that is, and what else is found there."""
    where, other = named(found, names, what), f" by {found.attack}" * (found.attack != said.attack)
    one, kind = ("class", "classes") if found.by == CLASS and found.name != SEVERAL else ("group", "groups")
    looked = f"{plural(found.groups, 'group')} and {plural(found.attacks, 'attack')}"
    lines = [
        f"In {where}, the area under the ROC curve{other} is {fraction(found.auc)} (at least "
        f"{down(found.auc_least, 0.5, 3)}); in the other {kind}, {fraction(found.others)} on average (p "
        f"{_p(found.p_corrected, 1 - said.confidence)} for the difference). That limit and p allow for having looked "
        f"at {looked}."
    ]
    if found.tpr is not None and found.false_alarms is not None and said.fpr:
        digits = decimals(said.fpr)
        told = (
            f"The threshold that flags {level(said.fpr)} of all non-members finds {percent(found.tpr, digits)} of that "
            f"{one}'s training {what}s, and flags {percent(found.false_alarms, digits)} of its non-members"
        )
        if said.tpr is not None and found.attack == said.attack and found.tpr < said.tpr:
            told += (
                f". That is a smaller share than of all training {what}s ({percent(said.tpr, digits)}): it is the AUC, "
                f"over all thresholds inside the {one}, that is larger"
            )
        lines.append(f"{told}.")
    if said.reason is Reason.IN_A_GROUP:
        lines.append("Over all records no attack is shown to do better than chance: the leak is of this group.")
    return lines


def card(found: ExposedGroup, names: Sequence[str], what: str) -> tuple[str, str, str]:
    """Write the group's heading, number and note."""
    note = f"at least {down(found.auc_least, 0.5, 3)}; {plural(found.records, what)}"
    return f"AUC in {named(found, names, what)}", fraction(found.auc), note


def _p(p: float, level: float) -> str:
    text = p_value(p, level)
    return text if text.startswith("<") else f"= {text}"
