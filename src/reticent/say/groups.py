"""What a comparison of groups of records shows."""

from collections.abc import Sequence

from reticent.auditing.partition import CLASS, MISSING
from reticent.auditing.units import SEVERAL
from reticent.findings.audit import Group, Grouping
from reticent.findings.group_limits import ExposedGroup
from reticent.findings.population import Population
from reticent.rounding import percent
from reticent.say.grammar import agree, plural, short

CUT = " The groups are ranges: the column has too many different numbers to be groups, and was cut at its quartiles."


def spoken(
    found: Grouping,
    names: Sequence[str],
    population: Population,
    exposed: ExposedGroup | None = None,
    what: str = "record",
) -> Grouping:
    """Fill in the sentence of a grouping; `names` are those of the classes, or empty, `exposed` is the verdict's."""
    return found.with_(
        sentence=_sentence(found, names, population, what)
        + _several(found, what)
        + _beside_verdict(found, names, exposed, what)
    )


def called(by: str, name: str, names: Sequence[str]) -> str:
    """Name a group of records in a sentence: a class by its name, if it has one."""
    return short(full_name(by, name, names))


def full_name(by: str, name: str, names: Sequence[str]) -> str:
    """Name a group of records, however long."""
    known = by == CLASS and name.isascii() and name.isdigit() and int(name) < len(names)
    return names[int(name)] if known else name


def _sentence(found: Grouping, names: Sequence[str], population: Population, what_of: str) -> str:
    classes = found.by == CLASS
    what, many = ("class", "classes") if classes else ("group", "groups")
    place = "" if classes else f" by {short(found.by)}"
    if found.unlearned:
        why = f"{population.unlearned} of {population.models} models did not learn"
        return f"No {what}{place} is named as more or less exposed: {why}."
    compared = [group for group in found.groups if group.difference is not None and group.auc is not None]
    if len(compared) < 2:
        return f"The {many}{place} cannot be compared: {_too_few(found)}.{CUT * found.cut}"
    small = _small(found) + CUT * found.cut
    most = next((group for group in compared if group.name == found.most_exposed), None)
    if most is None or most.auc is None or most.difference is None:
        less = sum(group.stands_out == "less" for group in found.groups)
        also = f" {less} of them {agree(less, 'leaks', 'leak')} less than the others." if less else ""
        return (
            f"By {found.attack}, no {what}{place} stands out as more exposed: of {len(compared)} {many} one has the "
            f"highest AUC, and chance alone may explain by how much.{also}{small}"
        )
    two = len(compared) == 2
    rest, sure = f"the other {many}", f", corrected for all {len(compared)} {many}"
    if two:
        rest, sure = f"the other {what}", ""
    higher = _higher(compared, most)
    return (
        f"The most exposed {what}{place}{' of those that stand out' * bool(higher)} is "
        f"{_named(found.by, most.name, names, what_of)}: {found.attack} tells its members from its non-members in "
        f"{percent(most.auc.mean)} of pairs, and those of {rest} in {percent(most.auc.mean - most.difference.mean)}; "
        f"that is more than chance{sure}.{_also(found, higher)}{small}"
    )


def several(by: str, what: str) -> str:
    """Name the group of the units whose records are in several groups."""
    return f"the group of {what}s with records in several {'classes' if by == CLASS else f'groups by {short(by)}'}"


def _several(found: Grouping, what: str) -> str:
    """Say what the group of units in several groups is, which no value of the column names."""
    return f' "{SEVERAL}" is {several(found.by, what)}.' if any(one.name == SEVERAL for one in found.groups) else ""


def _beside_verdict(found: Grouping, names: Sequence[str], exposed: ExposedGroup | None, what: str) -> str:
    """Say why the verdict names another group of these than the one that is the most exposed here."""
    if exposed is None or exposed.by != found.by or exposed.name == found.most_exposed:
        return ""
    kind = "" if exposed.name == SEVERAL else "the class " if found.by == CLASS else "the group "
    named = f" The verdict names {kind}{_named(found.by, exposed.name, names, what)}"
    if exposed.attack != found.attack:
        return f"{named}: {exposed.attack} shows that one, and all that is said here is of {found.attack}."
    looked = f"{plural(exposed.groups, 'group')} and {plural(exposed.attacks, 'attack')}"
    return (
        f"{named}: of those that still stand out after a correction for all {looked}, it is the "
        "furthest above the others."
    )


def _too_few(found: Grouping) -> str:
    if len(found.groups) == 1:
        return "there is only one"
    known = sum(group.auc is not None for group in found.groups)
    few = f"{'only ' * (known == 1)}{known} of {len(found.groups)} {agree(known, 'has', 'have')}"
    return f"each needs about {found.records_needed} records, and {few} enough"


def _higher(compared: Sequence[Group], most: Group) -> int:
    """Count the groups that do not stand out, but have a higher AUC than the one that does."""
    assert most.auc is not None
    return sum(one.stands_out != "more" and one.auc is not None and one.auc.mean > most.auc.mean for one in compared)


def _also(found: Grouping, higher: int) -> str:
    others = sum(one.stands_out == "more" for one in found.groups) - 1
    also = f" {others} more {agree(others, 'stands', 'stand')} out as well." if others else ""
    if higher:
        also += f" {higher} of the others {agree(higher, 'has', 'have')} a higher value, which chance may explain."
    return also


def _named(by: str, name: str, names: Sequence[str], what: str) -> str:
    if name == SEVERAL:
        return several(by, what)
    return "the one without a value" if name == MISSING else f'"{called(by, name, names)}"'


def _small(found: Grouping) -> str:
    count = sum(group.auc is None for group in found.groups)
    if not count:
        return ""
    verb = agree(count, "is", "are")
    needed = plural(found.records_needed, "record")
    return f" {count} of {len(found.groups)} {verb} too small to be measured (about {needed} are needed)."
