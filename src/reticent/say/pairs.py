"""How two rows of a comparison stand to each other, in words and numbers."""

from decimal import ROUND_HALF_UP, Decimal

from reticent.findings.comparison import Comparison, ComparisonDocument, PairTest, Relation, Role, RowNumbers, Standing
from reticent.findings.numbers import Statistic
from reticent.rounding import decimals, fraction, interval, level, percent, signed
from reticent.say.grammar import alarms, plural
from reticent.say.population import BEYOND_CHANCE

MEASURES = {Statistic.AUC: "AUC", Statistic.TPR: "share of members found"}
UNEQUAL = f"{BEYOND_CHANCE}, which attacks tell whatever leaks"
BELOW = "less than 0.1"
"""Percentage points that one decimal would make none."""


def against(document: Comparison, first: str, second: str, other: str | None = None) -> str:
    """Begin a sentence by how one row stands to another, which may be called otherwise."""
    if document.tests.same(first, second):
        return f"{first} gives the same answers as {other or second}: it changes nothing here"
    leak, by = document.tests.leak(first, second), partly(document, first, second)
    return stands(leak, first, other or second, by, begins=True)


def stands(leak: Relation, first: str, second: str, partly: str, *, begins: bool = False) -> str:
    """Say of two rows, as they are called, which leaks less."""
    return {
        Relation.LESS: f"{first} leaks less{partly} than {second}",
        Relation.MORE: f"{first} leaks more{partly} than {second}",
        Relation.TIE: f"{'No' if begins else 'no'} difference is shown between {first} and {second}",
        Relation.MIXED: f"{first} leaks less by one measure and more by the other than {second}",
    }[leak]


def partly(document: Comparison, first: str, second: str) -> str:
    """Say where two rows differ by one measure and are a tie by the other; empty if they do not."""
    shown = document.tests.shown(first, second)
    tied = [one for one in MEASURES if one not in shown and document.tests.get(first, second, one) is not None]
    return f" (by the {MEASURES[shown[0]]}; not shown by the {MEASURES[tied[0]]})" if tied and shown else ""


def unlearned(document: Comparison, name: str) -> str:
    """Say how many models of a row did not learn."""
    row = document.row(name)
    return f"{row.unlearned} of the {plural(row.models, 'model')} of {name} did not learn"


def doubted(document: Comparison, held: Standing) -> str | None:
    """Say why nothing follows from how a recipe stands, whatever the accuracies; None where that is not so."""
    if held.doubt is not None:
        return UNEQUAL
    return None if held.unlearned is None else unlearned(document, held.unlearned)


def apart(difference: float, unit: str = "percentage points") -> str:
    """Write by how much a row is more or less accurate than another."""
    return f"{points(difference)} {unit} {'more' if difference > 0 else 'less'}"


def points(difference: float) -> str:
    """Write how far two shares are apart, in percentage points: the one rounding of sentences and of rows."""
    exact = Decimal(repr(round(100 * abs(difference), 6)))
    rounded = exact.quantize(Decimal("0.1"), ROUND_HALF_UP)
    return BELOW if exact and not rounded else str(rounded)


def numbers(document: ComparisonDocument, first: RowNumbers, second: RowNumbers) -> str:
    """Give both rows' numbers, and the difference with its interval."""
    parts, sure = [], level(document.confidence)
    tpr = document.tests.get(first.name, second.name, Statistic.TPR)
    if tpr is not None and document.fpr is not None and first.tpr is not None and second.tpr is not None:
        shares = [percent(row.tpr.mean, decimals(document.fpr)) for row in (first, second) if row.tpr is not None]
        parts.append(
            f"{shares[0]} against {shares[1]} of the members are found at {alarms(document.fpr)} (difference "
            f"{in_points(tpr, sure)})"
        )
    auc = document.tests.get(first.name, second.name, Statistic.AUC)
    if auc is not None:
        parts.append(
            f"AUC {fraction(first.auc.mean)} against {fraction(second.auc.mean)} (difference "
            f"{signed(auc.difference, 3)}, {sure} interval {interval(auc.interval, signed)}{_uncorrected(auc)})"
        )
    return "; ".join(parts)


def accuracies(document: ComparisonDocument, first: RowNumbers, second: RowNumbers) -> str:
    """Compare accuracies; empty if one is not known."""
    test = document.tests.get(first.name, second.name, Statistic.ACCURACY)
    if test is None or document.tests.same(first.name, second.name):
        return ""
    other = second.name if second.role is Role.RECIPE else "its control"
    found = in_points(test, level(document.confidence))
    if test.exact:
        return f"{first.name} and {other} label the same records correctly."
    if test.uncorrected:
        return f"The accuracies of {first.name} and {other} differ by {found}."
    if test.relation is Relation.TIE:
        return f"No difference in accuracy is shown between {first.name} and {other} (difference {found})."
    return f"{first.name} is {test.relation} accurate than {other} (difference {found})."


def in_points(test: PairTest, sure: str) -> str:
    """Write a difference of two shares."""
    ends = interval(test.interval, lambda end: signed(100 * end, 2))
    return f"{signed(100 * test.difference, 2)} percentage points, {sure} interval {ends}{_uncorrected(test)}"


def _uncorrected(test: PairTest) -> str:
    """Say why a tie's interval may leave out zero."""
    return " (for this test alone; after correcting for all tests it is not significant)" if test.uncorrected else ""
