"""What a comparison of groups of records shows."""

from collections.abc import Iterator, Sequence

from reticent.auditing.partition import CLASS, MISSING
from reticent.auditing.units import SEVERAL
from reticent.findings.audit import Group, Grouping
from reticent.findings.group_limits import ExposedGroup
from reticent.findings.population import Population
from reticent.rounding import fraction, percent
from reticent.say.grammar import agree, plural, short, some

CUT = " The groups are ranges: the column has too many different numbers to be groups, and was cut at its quartiles."


def spoken(
    found: Grouping,
    names: Sequence[str],
    population: Population,
    exposed: ExposedGroup | None = None,
    what: str = "record",
    wrong_sign: Sequence[str] = (),
) -> Grouping:
    """Fill in the sentences of a grouping.

    `names` are those of the classes, or empty; `exposed` and `wrong_sign` are the verdict's.
    """
    backwards = [one for one in found.groups if one.backwards and one.backwards.attack not in wrong_sign]
    return found.with_(
        sentence=_sentence(found, names, population, what)
        + _beside_verdict(found, names, exposed, what)
        + _several(found, what)
        + CUT * found.cut,
        doubts=(
            *_backwards(found, backwards, names, what, brought=population.targets is not None),
            *_unknown(found, names, what),
        ),
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
        return f"The {many}{place} cannot be compared: {_too_few(found, what_of)}."
    most = next((group for group in compared if group.name == found.most_exposed), None)
    if most is None or most.auc is None or most.difference is None:
        less = sum(group.stands_out == "less" for group in found.groups)
        also = f" {less} of them {agree(less, 'leaks', 'leak')} less than the others." if less else ""
        return (
            f"No {what}{place} is shown to leak more than the others, by {found.attack}: chance may explain how the "
            f"{len(compared)} {many} differ.{also}"
        )
    two = len(compared) == 2
    rest, sure = f"the other {many}", f", corrected for all {len(compared)} {many}"
    if two:
        rest, sure = f"the other {what}", ""
    higher = _higher(compared, most)
    return (
        f"The most exposed {what}{place}{' of those that stand out' * bool(higher)} is "
        f"{_named(found.by, most.name, names, what_of)}: {found.attack} tells its members from its non-members in "
        f"{percent(most.auc.mean)} of pairs, and those of {rest} in {percent(most.auc.mean - most.difference.mean)}"
        f"{'' if two else ' on average'}; "
        f"the difference is more than chance{sure}.{_also(found, higher, names, what_of)}"
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


def _too_few(found: Grouping, what: str) -> str:
    if len(found.groups) == 1:
        return "there is only one"
    known = sum(group.auc is not None for group in found.groups)
    few = f"{'only ' * (known == 1)}{known} of {len(found.groups)} {agree(known, 'has', 'have')}"
    return f"each needs about {plural(found.records_needed, what)}, and {few} enough"


def _higher(compared: Sequence[Group], most: Group) -> int:
    """Count the groups that do not stand out, but have a higher AUC than the one that does."""
    assert most.auc is not None
    return sum(one.stands_out != "more" and one.auc is not None and one.auc.mean > most.auc.mean for one in compared)


def _also(found: Grouping, higher: int, names: Sequence[str], what: str) -> str:
    others = [one for one in found.groups if one.stands_out == "more" and one.name != found.most_exposed]
    also = ""
    if others:
        known = some([_named(found.by, one.name, names, what) for one in others])
        also = f" {len(others)} more {agree(len(others), 'stands', 'stand')} out as well ({known})."
    if higher:
        also += f" {higher} of the others {agree(higher, 'has', 'have')} a higher value, which chance may explain."
    return also


def _named(by: str, name: str, names: Sequence[str], what: str) -> str:
    if name == SEVERAL:
        return several(by, what)
    return "the one without a value" if name == MISSING else f'"{called(by, name, names)}"'


def _unknown(found: Grouping, names: Sequence[str], what: str) -> Iterator[str]:
    """Say of which groups nothing can be said."""
    small = [one for one in found.groups if one.auc is None]
    if 0 < len(small) < len(found.groups):
        those, one = _these(found, small, names, what), len(small) == 1
        size = f"it has {small[0].records:,}" if one else "they have fewer"
        yield f"Nothing can be said of {those}: about {plural(found.records_needed, what)} are needed, and {size}."


def _backwards(
    found: Grouping, below: Sequence[Group], names: Sequence[str], what: str, *, brought: bool
) -> Iterator[str]:
    """Say in which groups members rank below non-members, where that is not so of all records."""
    least = min((one.backwards for one in below if one.backwards), key=lambda one: one.auc, default=None)
    if least is not None:
        those = _these(found, below, names, what)
        how = f"{'the least ' * (len(below) > 1)}AUC {fraction(least.auc)}, by {least.attack}"
        check = " Check who is a member there." if brought else " Read backwards, that gives members away as well."
        yield f"In {those} members rank below non-members ({how}), by more than chance.{check}"


def _these(found: Grouping, groups: Sequence[Group], names: Sequence[str], what: str) -> str:
    """Name some groups: ``class "a"``, ``3 of 10 classes ("a", "b", "c")``."""
    one, many = ("class", "classes") if found.by == CLASS else ("group", "groups")
    place = "" if found.by == CLASS else f" by {short(found.by)}"
    known = [_named(found.by, group.name, names, what) for group in groups]
    if len(groups) > 1:
        return f"{len(groups)} of {len(found.groups)} {many}{place} ({some(known)})"
    return f"{known[0]}{place}" if groups[0].name in {SEVERAL, MISSING} else f"{one} {known[0]}{place}"
