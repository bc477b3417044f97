"""What a comparison shows, in plain words."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from reticent.auditing.comparison.findings import Findings, Relation, Standing, control_of, held_against, standing
from reticent.auditing.comparison.pairs import Pair
from reticent.auditing.comparison.rows import AUC, TPR, Row
from reticent.auditing.verdict import ENOUGH_TARGETS, too_few
from reticent.findings.base import Interval
from reticent.rounding import decimals, fraction, level, percent

BELOW = "less than 0.1"
"""Percentage points that one decimal would make none."""


def headline(rows: Sequence[Row], baseline: str, findings: Findings) -> str:
    """Say in one sentence how the recipes stand to the baseline and to their controls."""
    clauses = []
    for row in rows:
        if row.name == baseline or row.checked.entry.role != "recipe":
            continue
        clause = _against(row.name, baseline, findings)
        held = standing(rows, row.name, baseline, findings)
        apart = lost(rows, row.name, baseline, findings)
        if held.unlearned is not None:
            sick = next(one for one in rows if one.name == held.unlearned)
            clause += f", but {_unlearned(sick)}, so this is not judged"
        elif held.control != baseline:
            clause += _beside(row.name, held, baseline, findings)
        elif apart is not None:
            clause += f", but it is {_apart(apart)} accurate, and without a control that may be all of it"
        else:
            clause += _open(held)
        clauses.append(clause)
    return _capital("; ".join(clauses) + ".")


def _unlearned(row: Row) -> str:
    sick, models = row.checked.entry.unlearned
    return f"{sick} of the {models} models of {row.name} did not learn"


def _open(held: Standing) -> str:
    """Add to a clause on a row that is held against the baseline itself that the accuracies leave it open."""
    if not held.known:
        return ", at an accuracy that is not known"
    if held.missed is None or held.settled:
        return ""
    return f", but {held.control} is {_apart(held.missed)} accurate, so this is not judged"


def _beside(name: str, held: Standing, baseline: str, findings: Findings) -> str:
    """Add to a clause on a row how it stands to its control."""
    partly = findings.partly(name, held.control)
    relation, other = held.relation, "the control that was stopped early to be as accurate"
    if held.missed is not None:
        other = f"the control that was stopped early, which came out {_apart(held.missed)} accurate than {name}"
    before = findings.leak(name, baseline)
    joined = "but" if before == "less" != relation else "and"
    # After two names, "it" might be either.
    it = "it" if before in ("less", "more") and not findings.same(name, baseline) else name
    told = {
        "less": f"{it} leaks less{partly} than {other}",
        "more": f"{it} leaks more{partly} than {other}",
        "tie": f"no difference is shown between {it} and {other}",
        "mixed": f"{it} differs both ways from {other}",
    }[relation]
    return f", {joined} {told}{', so this is not judged' * held.apart}"


def lost(rows: Sequence[Row], name: str, baseline: str, findings: Findings) -> float | None:
    """Say how accuracy may explain by itself how a recipe stands to the baseline.

    It has no control, and moved alike.
    """
    relation, accuracy = findings.leak(name, baseline), findings.get(name, baseline, "accuracy")
    if accuracy is None or relation not in ("less", "more") or accuracy[2] != relation:
        return None
    return accuracy[0] if held_against(rows, name) is None else None


def _apart(difference: float) -> str:
    return f"{points(difference)} percentage points {'more' if difference > 0 else 'less'}"


def points(difference: float) -> str:
    """Write how far two shares are apart, in percentage points: the one rounding of sentences and of rows."""
    exact = Decimal(repr(round(100 * abs(difference), 6)))
    rounded = exact.quantize(Decimal("0.1"), ROUND_HALF_UP)
    return BELOW if exact and not rounded else str(rounded)


def _capital(text: str) -> str:
    """Begin a sentence that does not begin with a name."""
    return "N" + text[1:] if text.startswith("no difference is shown") else text


def detail(rows: Sequence[Row], baseline: str, findings: Findings, *, among: bool = True) -> list[str]:
    """Compare each recipe with the baseline, its control, and its models under the attacker who does not know them."""
    recipes = [row for row in rows if row.checked.entry.role == "recipe" and row.name != baseline]
    by_name = {row.name: row for row in rows}
    lines = []
    for row in recipes:
        lines += [two(row, by_name[baseline], findings), _accuracy(row, by_name[baseline], findings)]
        control = control_of(rows, row.name)
        if control is not None:
            lines += [_control(row, control, findings), _accuracy(row, control, findings)]
        lines += [two(row, other, findings) for other in rows if _same_models(other, row.name)]
    if among:
        lines += [two(one, other, findings) for i, one in enumerate(recipes) for other in recipes[i + 1 :]]
    return [line for line in lines if line]


def _same_models(row: Row, name: str) -> bool:
    return row.checked.entry.role == "non-adaptive" and name in row.checked.entry.matches


def two(first: Row, second: Row, findings: Findings) -> str:
    """Say how much two rows give away."""
    if second.checked.entry.role == "recipe" and findings.same(first.name, second.name):
        return f"{first.name} gives the same answers as {second.name}: all attacks give every record the same score."
    return _capital(f"{_against(first.name, second.name, findings)}: {_numbers(first, second, findings)}.")


def _against(first: str, second: str, findings: Findings) -> str:
    if findings.same(first, second):
        return f"{first} gives the same answers as {second}: it did nothing here"
    partly = findings.partly(first, second)
    return {
        "less": f"{first} leaks less{partly} than {second}",
        "more": f"{first} leaks more{partly} than {second}",
        "tie": f"no difference is shown between {first} and {second}",
        "mixed": f"{first} and {second} differ both ways, less by one measure and more by the other",
    }[findings.leak(first, second)]


def _control(row: Row, control: Row, findings: Findings) -> str:
    """Judge a recipe against the baseline that was stopped early at the same accuracy."""
    name, held = row.name, findings.standing(row.name, control.name)
    partly = findings.partly(name, control.name)
    other = f"the baseline, stopped early ({control.name})"
    lead = {
        "less": f"{name} leaks less{partly} than {other}",
        "more": f"{name} leaks more{partly} than {other}",
        "tie": f"no difference is shown between {name} and {other}",
        "mixed": f"{name} leaks less by one measure and more by the other than {other}",
    }[held.relation]
    if held.unlearned is not None:
        sick = row if held.unlearned == name else control
        conclusion = f"but {_unlearned(sick)}, and what learned nothing has nothing to give away"
    elif held.missed is not None and held.apart:
        what = f"but it came out {_apart(-held.missed)} accurate than that"
        conclusion = {
            "tie": f"{what}, so this does not settle which of the two is better",
        }.get(held.relation, f"{what}, too, so which of the two is better is open")
    else:
        conclusion = {
            "less": "so it protects by more than by being less accurate",
            "more": "so stopping early protects better",
            "tie": "so it is not shown to do better than stopping early does",
            "mixed": "so whether it does better than stopping early depends on the measure",
        }[held.relation]
    return _capital(f"{lead}, {conclusion}: {_numbers(row, control, findings)}.")


def _numbers(first: Row, second: Row, findings: Findings) -> str:
    sure = level(findings.confidence)
    parts = []
    tpr = findings.get(first.name, second.name, "tpr")
    if tpr is not None and findings.fpr is not None:
        every = 1 / Fraction(findings.fpr).limit_denominator(10**9)
        alarms = f"{every.denominator:,} false alarm{'s' * (every.denominator > 1)} in {every.numerator:,}"
        shares = " and ".join(percent(row.mean(TPR), decimals(findings.fpr)) for row in (first, second))
        parts.append(f"at {alarms}, {shares} of the training records are found (difference {_points(tpr, sure)})")
    area = findings.get(first.name, second.name, "auc")
    if area is not None:
        areas = " and ".join(fraction(row.mean(AUC)) for row in (first, second))
        value, (low, high), _ = area
        parts.append(
            f"the area under the ROC curve is {areas} "
            f"(difference {_signed(value, 3)}, {sure} interval {_signed(low, 3)} to {_signed(high, 3)}{_alone(area)})"
        )
    return "; ".join(parts)


def _accuracy(first: Row, second: Row, findings: Findings) -> str:
    """Compare accuracies; empty if one is not known."""
    found = findings.get(first.name, second.name, "accuracy")
    other = second.name if second.checked.entry.role == "recipe" else "its control"
    if found is None:
        return ""
    sure = level(findings.confidence)
    if found[2] == "tie" and _alone(found):
        return f"In accuracy, {first.name} and {other} differ by {_points(found, sure)}."
    if found[2] == "tie":
        return (
            f"In accuracy, no difference is shown between {first.name} and {other} (difference {_points(found, sure)})."
        )
    return f"{first.name} is {found[2]} accurate than {other} (difference {_points(found, sure)})."


def _points(found: tuple[float, Interval, Relation], sure: str) -> str:
    """Write a difference of two shares."""
    value, interval, _ = found
    low, high = (_signed(100 * end, 2) for end in interval)
    return f"{_signed(100 * value, 2)} percentage points, {sure} interval {low} to {high}{_alone(found)}"


def _signed(value: float, digits: int) -> str:
    """Write a difference with its sign; what is written as nothing has none."""
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]


def _alone(found: tuple[float, Interval, Relation]) -> str:
    """Say why a tie's interval may leave out zero: it is of the pair alone, and the verdict is corrected for all."""
    _, (low, high), relation = found
    if relation != "tie" or low <= 0 <= high:
        return ""
    return " if this pair were the only one tested; corrected for all tests of the comparison, chance may explain it"


def limits(rows: Sequence[Row], pairs: Sequence[Pair], findings: Findings) -> list[str]:
    """List what the comparison does not show."""
    lines, fpr = [], findings.fpr
    targets = len(rows[0].checked.members)
    if targets == 1:
        lines.append("One model of each recipe was audited: how much another training run would differ is not known.")
    elif targets < ENOUGH_TARGETS:
        lines.append(f"Only {targets} models of each recipe were audited: how much they differ is hardly known.")
        lines += _few(targets)
    if fpr is not None and TPR not in rows[0].strongest:
        lines.append(f"Nothing can be said at a false-positive rate of {level(fpr)}: the audits are too small for it.")
    ties = [row.name for row in rows if TPR in row.strongest and row.strongest[TPR].summaries[TPR].tied]
    if ties and fpr is not None:
        lines.append(
            f"How the share of members found at {level(fpr)} of {', '.join(ties)} compares with others: equal scores "
            "decide it, and no threshold comes near that rate of false alarms. The AUC is not concerned."
        )
    unknown = [row.name for row in rows if row.accuracy is None]
    if unknown:
        lines.append(f"What is lost in accuracy: it is not known for {', '.join(unknown)}.")
    lines += _missed(rows, findings)
    if any(pair.verdict == "tie" for pair in pairs):
        lines.append(
            "A tie does not show that two recipes are equal: the interval says how large a difference may have been "
            "missed. More models or more records would narrow it."
        )
    if any(len(row.attacks) > 1 for row in rows):
        lines.append(
            "By each measure a recipe is judged by the attack that finds most by it, chosen on the same records; for "
            "AUC and TPR these may be two."
        )
    return [*lines, "Attacks that were not tried may rank the recipes otherwise."]


def _missed(rows: Sequence[Row], findings: Findings) -> list[str]:
    """Say which controls are not as accurate as the rows that they stand beside, and whom that favours."""
    lines = []
    for row in rows:
        control = held_against(rows, row.name)
        missed = None if control is None else findings.missed(row.name, control.name)
        if control is None or missed is None:
            continue
        much, judged = ("more", "too kind to") if missed > 0 else ("less", "too hard on")
        lines.append(
            f"How {row.name} stands to the baseline at its accuracy: its control, {control.name}, came out "
            f"{_apart(missed)} accurate than {row.name}, and such a model gives away {much} by that alone, so the "
            f"comparison is {judged} {row.name}."
        )
    return lines


def _few(models: int) -> list[str]:
    if not too_few(models):
        return []
    return [f"Intervals over only {models} models are too short to be relied on: audit {ENOUGH_TARGETS} or more."]
