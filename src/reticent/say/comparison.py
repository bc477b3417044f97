"""A comparison in sentences: who leaks less than its control, by how much, at what accuracy, and how sure that is."""

from decimal import ROUND_HALF_UP, Decimal

from reticent.auditing.verdict import ENOUGH_TARGETS
from reticent.findings.comparison import (
    Comparison,
    ComparisonDocument,
    ControlNote,
    Note,
    PairTest,
    Relation,
    Role,
    Row,
    RowNumbers,
    Standing,
)
from reticent.findings.numbers import Statistic
from reticent.rounding import decimals, fraction, level, percent
from reticent.say.grammar import agree, alarms, listed, plural, short
from reticent.say.population import UNLEARNED

MANY = 2
"""Beside the baseline; of more recipes the sentence counts, in place of telling of each."""
AMONG = 4
"""Recipes, beside the baseline, that are compared with each other in words, too."""
BELOW = "less than 0.1"
"""Percentage points that one decimal would make none."""
MEASURES = {Statistic.AUC: "AUC", Statistic.TPR: "share of members found"}


def spoken(document: ComparisonDocument) -> ComparisonDocument:
    """Write a comparison's sentences into it."""
    document = document.with_(rows=tuple(_noticed(row, document) for row in document.rows))
    return document.with_(
        sentence=headline(document),
        detail=tuple(_detail(document)),
        cannot_say=(
            *(f"{row.name}: {notice}" for row in document.rows for notice in row.notices),
            *limits(document),
            *(_note(note, document) for note in document.notes if note.note is not Note.SAME_LABELS),
        ),
    )


def _recipes(document: Comparison) -> list[RowNumbers]:
    """List the recipes beside the baseline."""
    return [row for row in document.rows if row.role is Role.RECIPE and row.name != document.baseline]


def _named(document: Comparison, name: str) -> RowNumbers:
    return next(row for row in document.rows if row.name == name)


def _chosen(document: Comparison, row: RowNumbers) -> str | None:
    """Name the row that was chosen for a recipe's accuracy: its control, or the baseline where that is it as it is."""
    # An attacker who does not know of a defense matches a row by its models.
    chosen = (one for one in document.rows if one.role is not Role.NON_ADAPTIVE and row.name in one.matches)
    return next((one.name for one in chosen), None)


def _accuracy_known(document: Comparison, held: Standing, row: RowNumbers) -> bool:
    return document.tests.get(row.name, held.name, Statistic.ACCURACY) is not None


def headline(document: Comparison) -> str:
    """Say in one sentence how the recipes stand to the baseline and to their controls."""
    if len(_recipes(document)) > MANY:
        return _counted(document)
    clauses = [_clause(document, row, begins=not at) for at, row in enumerate(_recipes(document))]
    return f"{'; '.join(clauses)}."


def _clause(document: Comparison, row: RowNumbers, *, begins: bool) -> str:
    held, baseline = row.control, document.baseline
    assert held is not None
    against = _against(document, row.name, baseline, begins=begins)
    numbers = _in_short(row, _named(document, held.name))
    if held.unlearned is not None:
        return f"{against}, but {_unlearned(document, held.unlearned)}, so this is not judged"
    if held.name != baseline:
        return f"{against}, {_beside(document, row, held)}{numbers}{', so this is not judged' * held.apart}"
    if not _accuracy_known(document, held, row):
        return f"{against}{numbers}, at an accuracy that is not known"
    if held.apart:
        alone = " (no control)" if _chosen(document, row) is None else ""
        apart = _apart(held.missed or 0.0)
        return f"{against}{numbers}, but {baseline} is {apart} accurate, so this is not judged{alone}"
    return f"{against}{numbers}"


def _in_short(row: RowNumbers, other: RowNumbers) -> str:
    """Give what a recipe and the row that it is held against leak, and their accuracies."""
    accuracy = ""
    if row.right is not None and other.right is not None:
        accuracy = f"; accuracy {percent(row.right)} against {percent(other.right)}"
    return f" (AUC {fraction(row.auc.mean)} against {fraction(other.auc.mean)}{accuracy})"


def _beside(document: Comparison, row: RowNumbers, held: Standing) -> str:
    """Say how a recipe stands to its control, after how it stands to the baseline."""
    before = document.tests.leak(row.name, document.baseline)
    joined = "but" if before is Relation.LESS is not held.leak else "and"
    # After two names, "it" might be either.
    named = before in {Relation.LESS, Relation.MORE} and not document.tests.same(row.name, document.baseline)
    it = "it" if named else row.name
    other = "its control, the baseline stopped early at the same accuracy"
    if held.missed is not None:
        other = (
            f"its control, the baseline stopped early, which came out {_apart(held.missed)} accurate than {row.name}"
        )
    told = _stands(held.leak, it, other, _partly(document, row.name, held.name))
    return f"{joined} {told}"


def _counted(document: Comparison) -> str:
    """Say of how many recipes, and of which, it is shown that they leak less or more than their control."""
    sorts: dict[Relation | str, list[str]] = {
        sort: [] for sort in (Relation.LESS, Relation.MORE, Relation.MIXED, Relation.TIE, "apart", "unlearned")
    }
    recipes = _recipes(document)
    for row in recipes:
        held = row.control
        assert held is not None
        sort = "unlearned" if held.unlearned is not None else "apart" if held.apart else held.leak
        sorts[sort].append(_remarked(document, row, held))
    control = f"the baseline {document.baseline}"
    if any(row.role is Role.CONTROL for row in document.rows):
        control = f"its control ({document.baseline}, stopped early at the same accuracy)"
    (_, names), *others = ((sort, names) for sort, names in sorts.items() if names or sort is Relation.LESS)
    clauses = [f"none is shown to leak less than {control}"]
    if names:
        clauses = [f"{len(names)} {agree(len(names), 'leaks', 'leak')} less than {control}: {', '.join(names)}"]
    for sort, names in others:
        count, leak = len(names), agree(len(names), "leaks", "leak")
        told = {
            Relation.MORE: f"{count} {leak} more",
            Relation.MIXED: f"{count} {leak} less by one measure and more by the other",
            Relation.TIE: f"no difference is shown for {count}",
            "apart": f"{count} cannot be judged, because no control is as accurate",
            "unlearned": f"{count} cannot be judged, because most of the models did not learn",
        }[sort]
        clauses.append(f"{told}: {', '.join(names)}")
    same = [row.name for row in recipes if document.tests.same(row.name, document.baseline)]
    if same:
        clauses.append(f"{listed(same)} {agree(len(same), 'gives', 'give')} the same answers as {document.baseline}")
    return f"Of {len(recipes)} recipes, {'; '.join(clauses)}."


def _remarked(document: Comparison, row: RowNumbers, held: Standing) -> str:
    """Name a recipe, the measure where one alone sets it apart, and that its accuracy is not known if it is not."""
    alone = not held.apart and held.unlearned is None and bool(_partly(document, row.name, held.name))
    told = [f"by the {MEASURES[held.by[0]]} alone"] if alone else []
    told += ["no control"] if held.apart and _chosen(document, row) is None else []
    told += [] if _accuracy_known(document, held, row) else ["accuracy not known"]
    return f"{row.name} [{', '.join(told)}]" if told else row.name


def _partly(document: Comparison, first: str, second: str) -> str:
    """Say where two rows differ by one measure and are a tie by the other; empty if they do not."""
    shown = document.tests.shown(first, second)
    tied = [one for one in MEASURES if one not in shown and document.tests.get(first, second, one) is not None]
    return f" (by the {MEASURES[shown[0]]}; not shown by the {MEASURES[tied[0]]})" if tied and shown else ""


def _unlearned(document: Comparison, name: str) -> str:
    row = _named(document, name)
    return f"{row.unlearned} of the {plural(row.models, 'model')} of {name} did not learn"


def _apart(difference: float, unit: str = "percentage points") -> str:
    return f"{points(difference)} {unit} {'more' if difference > 0 else 'less'}"


def points(difference: float) -> str:
    """Write how far two shares are apart, in percentage points: the one rounding of sentences and of rows."""
    exact = Decimal(repr(round(100 * abs(difference), 6)))
    rounded = exact.quantize(Decimal("0.1"), ROUND_HALF_UP)
    return BELOW if exact and not rounded else str(rounded)


def _detail(document: ComparisonDocument) -> list[str]:
    """Compare each recipe with the baseline, its control, and its models under the attacker who does not know them."""
    recipes, lines = _recipes(document), []
    for row in recipes:
        baseline = _named(document, document.baseline)
        lines += [_two(document, row, baseline), _accuracies(document, row, baseline)]
        if row.control is not None and row.control.name != document.baseline:
            control = _named(document, row.control.name)
            lines += [_controlled(document, row, control, row.control), _accuracies(document, row, control)]
        lines += [
            _unaware(document, row, other)
            for other in document.rows
            if other.role is Role.NON_ADAPTIVE and row.name in other.matches
        ]
    if len(recipes) <= AMONG:
        lines += [_two(document, one, other) for i, one in enumerate(recipes) for other in recipes[i + 1 :]]
    return [line for line in lines if line]


def _two(document: ComparisonDocument, first: RowNumbers, second: RowNumbers) -> str:
    """Say how much two rows leak."""
    if document.tests.same(first.name, second.name):
        return f"{first.name} gives the same answers as {second.name}: all attacks give every record the same score."
    return f"{_against(document, first.name, second.name, begins=True)}: {_numbers(document, first, second)}."


def _unaware(document: ComparisonDocument, row: RowNumbers, other: RowNumbers) -> str:
    """Say how much a row leaks to an attacker who knows its defense, and to one who does not."""
    if document.tests.same(row.name, other.name):
        return (
            f"All attacks give every record the same score whether or not the attacker knows the defense of {row.name}."
        )
    called = f"{row.name} under an attacker who does not know its defense"
    return f"{_against(document, row.name, other.name, called, begins=True)}: {_numbers(document, row, other)}."


def _against(document: Comparison, first: str, second: str, other: str | None = None, *, begins: bool) -> str:
    """Say how one row stands to another, which may be called otherwise; a name begins a sentence as it is."""
    if document.tests.same(first, second):
        return f"{first} gives the same answers as {other or second}: it changes nothing here"
    return _stands(document.tests.leak(first, second), first, other or second, _partly(document, first, second), begins)


def _stands(leak: Relation, first: str, second: str, partly: str, begins: bool = False) -> str:
    return {
        Relation.LESS: f"{first} leaks less{partly} than {second}",
        Relation.MORE: f"{first} leaks more{partly} than {second}",
        Relation.TIE: f"{'No' if begins else 'no'} difference is shown between {first} and {second}",
        Relation.MIXED: f"{first} leaks less by one measure and more by the other than {second}",
    }[leak]


def _controlled(document: ComparisonDocument, row: RowNumbers, control: RowNumbers, held: Standing) -> str:
    """Judge a recipe against the baseline that was stopped early at the same accuracy."""
    if held.unlearned is not None:
        conclusion = f"but {_unlearned(document, held.unlearned)}, and {UNLEARNED}"
    elif held.missed is not None and held.apart:
        open_ = "this does not settle which of the two protects more"
        if held.leak is not Relation.TIE:
            open_ = "which of the two protects more is open"
        conclusion = f"but {row.name} is {_apart(-held.missed)} accurate, so {open_}"
    else:
        conclusion = {
            Relation.LESS: "so it protects by more than by being less accurate",
            Relation.MORE: "so stopping early protects more",
            Relation.TIE: "so it is not shown to protect more than stopping early does",
            Relation.MIXED: "so which of the two protects more depends on the measure",
        }[held.leak]
    lead = _against(document, row.name, control.name, f"its control ({control.name})", begins=True)
    return f"{lead}, {conclusion}: {_numbers(document, row, control)}."


def _numbers(document: ComparisonDocument, first: RowNumbers, second: RowNumbers) -> str:
    """Give both rows' numbers, and the difference with its interval."""
    parts, sure = [], level(document.confidence)
    tpr = document.tests.get(first.name, second.name, Statistic.TPR)
    if tpr is not None and document.fpr is not None and first.tpr is not None and second.tpr is not None:
        shares = [percent(row.tpr.mean, decimals(document.fpr)) for row in (first, second) if row.tpr is not None]
        parts.append(
            f"{shares[0]} against {shares[1]} of the members are found at {alarms(document.fpr)} (difference "
            f"{_points(tpr, sure)})"
        )
    auc = document.tests.get(first.name, second.name, Statistic.AUC)
    if auc is not None:
        low, high = (_signed(end, 3) for end in auc.interval)
        parts.append(
            f"AUC {fraction(first.auc.mean)} against {fraction(second.auc.mean)} (difference "
            f"{_signed(auc.difference, 3)}, {sure} interval {low} to {high}{_uncorrected(auc)})"
        )
    return "; ".join(parts)


def _accuracies(document: ComparisonDocument, first: RowNumbers, second: RowNumbers) -> str:
    """Compare accuracies; empty if one is not known."""
    test = document.tests.get(first.name, second.name, Statistic.ACCURACY)
    if test is None:
        return ""
    other = second.name if second.role is Role.RECIPE else "its control"
    found = _points(test, level(document.confidence))
    if test.uncorrected:
        return f"The accuracies of {first.name} and {other} differ by {found}."
    if test.relation is Relation.TIE:
        return f"No difference in accuracy is shown between {first.name} and {other} (difference {found})."
    return f"{first.name} is {test.relation} accurate than {other} (difference {found})."


def _points(test: PairTest, sure: str) -> str:
    """Write a difference of two shares."""
    low, high = (_signed(100 * end, 2) for end in test.interval)
    return f"{_signed(100 * test.difference, 2)} percentage points, {sure} interval {low} to {high}{_uncorrected(test)}"


def _signed(value: float, digits: int) -> str:
    """Write a difference with its sign; what is written as nothing has none."""
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]


def _uncorrected(test: PairTest) -> str:
    """Say why a tie's interval may leave out zero."""
    return " (for this test alone; after correcting for all tests it is not significant)" if test.uncorrected else ""


def limits(document: Comparison, *, several: bool = True) -> list[str]:
    """List what a comparison does not show; `several` models of a recipe could have been audited."""
    lines, fpr = [], document.fpr
    if document.targets == 1 and several:
        lines.append("One model of each recipe was audited: how much another training run would differ is not known.")
    elif document.targets is not None and 1 < document.targets < ENOUGH_TARGETS:
        lines.append(
            f"Only {document.targets} models of each recipe were audited: intervals over so few are too short to be "
            f"relied on. Audit {ENOUGH_TARGETS} or more."
        )
    if fpr is not None and document.rows[0].tpr is None:
        lines.append(f"Nothing can be said at a false positive rate of {level(fpr)}: the audits are too small for it.")
    ties = [row.name for row in document.rows if row.tpr is not None and row.tpr.tied]
    if ties and fpr is not None:
        lines.append(
            f"The share of members found for {listed(ties)} at a false positive rate of {level(fpr)} is not reliable: "
            "too many records have equal scores. The AUC is not affected."
        )
    unknown = [row.name for row in document.rows if row.accuracy.non_members is None]
    if unknown:
        lines.append(f"What is lost in accuracy: it is not known for {listed(unknown)}.")
    lines += [line for row in _recipes(document) for line in _missed(document, row)]
    if any(test.relation is Relation.TIE for test in document.pairs):
        lines.append(
            "A tie does not show that two recipes are equal: the interval says how large a difference may have been "
            "missed. More models or more records would narrow it."
        )
    if any(len(row.attacks) > 1 for row in document.rows):
        lines.append(
            "Each recipe is judged by the attack that finds most under it, chosen on the same records; for AUC and for "
            "TPR that may be another one."
        )
    return [*lines, "Attacks that were not tried may rank the recipes differently."]


def _missed(document: Comparison, row: RowNumbers) -> list[str]:
    """Say that a recipe's control is not as accurate as it, and whom that favours."""
    held = row.control
    if held is None or held.missed is None or _chosen(document, row) is None:
        return []
    much, judged = ("more", "too kind to") if held.missed > 0 else ("less", "too hard on")
    return [
        f"How {row.name} compares with the baseline at the same accuracy: its control, {held.name}, is "
        f"{_apart(held.missed)} accurate than {row.name}, and such a model leaks {much} by that alone, so the "
        f"comparison is {judged} {row.name}."
    ]


def _noticed(row: Row, document: ComparisonDocument) -> Row:
    """Add to a row's notices that it leaves the baseline's labels as they are."""
    told = any(note.note is Note.SAME_LABELS and note.row == row.name for note in document.notes)
    if not told:
        return row
    found = next((attack for attack in row.attacks if attack.name == "correctness"), None)
    much = "" if found is None else f" (AUC {fraction(found.auc.mean)}, attack correctness)"
    notice = (
        f"It labels the same records correctly as {document.baseline}, which is therefore its control: an attacker who "
        f"sees labels alone finds as much with it as without it{much}."
    )
    return row.with_(notices=(*row.notices, notice))


def _note(note: ControlNote, document: ComparisonDocument) -> str:
    baseline, row = document.baseline, note.row or ""
    alone = "a recipe that costs accuracy can look private for that reason alone."
    none = f"{row} has no early-stopped control: "
    if note.note is Note.OUTPUTS:
        return f"There is no early-stopped control, because {baseline} is a file of outputs: {alone}"
    if note.note is Note.NO_EPOCHS:
        return f"There is no early-stopped control, because the training of {baseline} has no epochs: {alone}"
    if note.note is Note.ACCURACY_UNKNOWN:
        return f"{none}its accuracy is not known from margins alone."
    if note.note is Note.PATIENT:
        return (
            f"{none}it is at least as accurate as {baseline}, whose training stops early by itself, so the baseline is "
            "its control."
        )
    if note.note is Note.WHOLE:
        own = "" if note.of is None else f" ({note.epochs:g} of {note.of} epochs, by its own stop_after)"
        return (
            f"{none}{baseline} is closest to its accuracy at the end of its training{own}, so the baseline is its "
            "control."
        )
    if note.note is Note.DEFENDED:
        return (
            f"How the rows compare with an undefended model: the baseline, {baseline}, is itself defended. Give an "
            "undefended one with --baseline."
        )
    reached, wanted = percent(note.reached), percent(_named(document, row).right)
    return (
        f"{baseline} reaches an accuracy of at most {reached} at any epoch, and {row} has {wanted}: a less accurate "
        f"model leaks less by that alone, so the control is too hard on {row}."
    )


def remark(document: ComparisonDocument, row: Row) -> str:
    """Say in a few words what a row is, or how a recipe stands to its control."""
    if row.role is Role.NON_ADAPTIVE:
        return "its models, attacked by one who does not know the defense"
    if row.role is Role.CONTROL:
        when = "" if row.epochs_kept is None else f" after {row.epochs_kept:g} epochs"
        near = [f"{_nearness(row.right, _named(document, name).right)} {short(name, 40)}" for name in row.matches]
        return ", ".join([f"control: stopped{when}", *near])
    if row.name == document.baseline:
        return "baseline"
    return "" if row.control is None else _standing(document, row, row.control)


def _standing(document: ComparisonDocument, row: Row, held: Standing) -> str:
    other = "the baseline" if held.name == document.baseline else "its control"
    if held.unlearned is not None:
        idle = "it" if held.unlearned == row.name else other
        return f"not judged: most models of {idle} did not learn"
    if held.apart:
        return f"not judged: {other} is {_apart(held.missed or 0.0, 'points')} accurate"
    measures = {Statistic.AUC: "AUC", Statistic.TPR: "members found"}
    alone = f", by {measures[held.by[0]]} alone" if len(held.by) == 1 else ""
    told = {
        Relation.LESS: f"leaks less than {other}{alone}",
        Relation.MORE: f"leaks more than {other}{alone}",
        Relation.TIE: f"not told apart from {other}",
        Relation.MIXED: f"leaks less than {other} by one measure, more by the other",
    }[held.leak]
    return told if held.settled else f"{told}, at an accuracy that is not known"


def _nearness(control: float | None, wanted: float | None) -> str:
    """Say how a control's accuracy compares with that of a row, up to the row's name."""
    if control is None or wanted is None:
        return "to be as accurate as"
    if abs(control - wanted) < 0.0005:
        return "as accurate as"
    return f"{_apart(control - wanted, 'points')} accurate than"
