"""A comparison in sentences: who leaks less than its control, by how much, at what accuracy, and how sure that is."""

from reticent.auditing.verdict import ENOUGH_TARGETS
from reticent.findings.comparison import (
    Comparison,
    ComparisonDocument,
    Note,
    Relation,
    Role,
    RowNumbers,
    Standing,
)
from reticent.findings.numbers import Statistic
from reticent.rounding import fraction, level, percent
from reticent.say.controls import missed, note_on, noticed
from reticent.say.grammar import agree, listed
from reticent.say.pairs import MEASURES, UNEQUAL, accuracies, against, apart, doubted, numbers, partly, stands
from reticent.say.population import UNLEARNED

AMONG = 4
"""Recipes, beside the baseline, that are compared with each other in words, too."""


def spoken(document: ComparisonDocument) -> ComparisonDocument:
    """Write a comparison's sentences into it."""
    document = document.with_(rows=tuple(noticed(row, document) for row in document.rows))
    return document.with_(
        sentence=headline(document),
        detail=tuple(_detail(document)),
        cannot_say=(
            *(f"{row.name}: {notice}" for row in document.rows for notice in row.notices),
            *limits(document),
            *(note_on(note, document) for note in document.notes if note.note is not Note.SAME_LABELS),
        ),
    )


def headline(document: Comparison) -> str:
    """Say in one sentence how the recipes stand to the baseline and to their controls."""
    return _counted(document) if len(document.recipes) > 1 else f"{_alone(document, document.recipes[0])}."


def _alone(document: Comparison, row: RowNumbers) -> str:
    """Say how the only recipe stands to the baseline and to its control, with numbers."""
    held, baseline = row.control, document.baseline
    assert held is not None
    told, found = against(document, row.name, baseline), _in_short(row, document.row(held.name))
    if (why := doubted(document, held)) is not None:
        return f"{told}, but {why}, so this is not judged"
    if held.name != baseline and held.apart:
        missed_by = f"came out {apart(held.missed or 0.0)} accurate than {row.name}"
        return f"{told}, but this is not judged: its control, the baseline stopped early, {missed_by}"
    if held.name != baseline:
        return f"{told}, {_beside(document, row, held)}{found}"
    if not _accuracy_known(document, held, row):
        return f"{told}{found}, at an accuracy that is not known"
    if held.apart:
        alone = " (no control)" if document.matched(row) is None else ""
        return f"{told}{found}, but {baseline} is {apart(held.missed or 0.0)} accurate, so this is not judged{alone}"
    return f"{told}{found}"


def _accuracy_known(document: Comparison, held: Standing, row: RowNumbers) -> bool:
    return document.tests.get(row.name, held.name, Statistic.ACCURACY) is not None


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
        other = f"its control, the baseline stopped early, which came out {apart(held.missed)} accurate than {row.name}"
    told = stands(held.leak, it, other, partly(document, row.name, held.name))
    return f"{joined} {told}"


def unjudged(document: ComparisonDocument) -> list[str]:
    """Say how recipes stand to controls that are not as accurate, which the headline of one recipe leaves out."""
    if len(document.recipes) > 1:
        return []
    held = ((row, row.control) for row in document.recipes if row.control is not None and row.control.apart)
    return [
        _controlled(document, row, document.row(one.name), one) for row, one in held if one.name != document.baseline
    ]


def _counted(document: Comparison) -> str:
    """Say of how many recipes, and of which, it is shown that they leak less or more than their control."""
    sorts: dict[Relation | str, list[str]] = {
        sort: [] for sort in (Relation.LESS, Relation.MORE, Relation.MIXED, Relation.TIE, "apart", "unlearned", "doubt")
    }
    recipes = document.recipes
    for row in recipes:
        held = row.control
        assert held is not None
        unlearned = "unlearned" if held.unlearned is not None else None
        sort = "doubt" if held.doubt is not None else unlearned or ("apart" if held.apart else held.leak)
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
            "doubt": f"{count} cannot be judged, because {UNEQUAL}",
        }[sort]
        clauses.append(f"{told}: {', '.join(names)}")
    same = [row.name for row in recipes if document.tests.same(row.name, document.baseline)]
    if same:
        clauses.append(f"{listed(same)} {agree(len(same), 'gives', 'give')} the same answers as {document.baseline}")
    return f"Of {len(recipes)} recipes, {'; '.join(clauses)}."


def _remarked(document: Comparison, row: RowNumbers, held: Standing) -> str:
    """Name a recipe, the measure where one alone sets it apart, and that its accuracy is not known if it is not."""
    alone = not held.apart and doubted(document, held) is None and bool(partly(document, row.name, held.name))
    told = [f"by the {MEASURES[held.by[0]]} alone"] if alone else []
    told += ["no control"] if held.apart and document.matched(row) is None else []
    told += [] if _accuracy_known(document, held, row) else ["accuracy not known"]
    return f"{row.name} [{', '.join(told)}]" if told else row.name


def _detail(document: ComparisonDocument) -> list[str]:
    """Compare each recipe with the baseline, its control, and its models under the attacker who does not know them."""
    recipes, lines = document.recipes, []
    for row in recipes:
        baseline = document.row(document.baseline)
        lines += [_two(document, row, baseline), accuracies(document, row, baseline)]
        if row.control is not None and row.control.name != document.baseline:
            control = document.row(row.control.name)
            lines += [_controlled(document, row, control, row.control), accuracies(document, row, control)]
        lines += [
            _unaware(document, row, other)
            for other in document.rows
            if other.role is Role.NON_ADAPTIVE and row.name in other.matches
        ]
    if len(recipes) <= AMONG:
        lines += [_two(document, one, other) for i, one in enumerate(recipes) for other in recipes[i + 1 :]]
    return [line for line in lines if line]


def _two(document: ComparisonDocument, first: RowNumbers, second: RowNumbers) -> str:
    if document.tests.same(first.name, second.name):
        return f"{first.name} gives the same answers as {second.name}: all attacks give every record the same score."
    return f"{against(document, first.name, second.name)}: {numbers(document, first, second)}."


def _unaware(document: ComparisonDocument, row: RowNumbers, other: RowNumbers) -> str:
    """Say how much a row leaks to an attacker who knows its defense, and to one who does not."""
    if document.tests.same(row.name, other.name):
        return (
            f"All attacks give every record the same score whether or not the attacker knows the defense of {row.name}."
        )
    called = f"{row.name} under an attacker who does not know its defense"
    return f"{against(document, row.name, other.name, called)}: {numbers(document, row, other)}."


def _controlled(document: ComparisonDocument, row: RowNumbers, control: RowNumbers, held: Standing) -> str:
    """Judge a recipe against the baseline that was stopped early at the same accuracy."""
    if held.unlearned is not None:
        conclusion = f"but {doubted(document, held)}, and {UNLEARNED}"
    elif held.missed is not None and held.apart:
        open_ = "this does not settle which of the two protects more"
        if held.leak is not Relation.TIE:
            open_ = "which of the two protects more is open"
        conclusion = f"but {row.name} is {apart(-held.missed)} accurate, so {open_}"
    else:
        conclusion = {
            Relation.LESS: "so it protects by more than by being less accurate",
            Relation.MORE: "so stopping early protects more",
            Relation.TIE: "so it is not shown to protect more than stopping early does",
            Relation.MIXED: "so which of the two protects more depends on the measure",
        }[held.leak]
    lead = against(document, row.name, control.name, f"its control ({control.name})")
    return f"{lead}, {conclusion}: {numbers(document, row, control)}."


def limits(document: Comparison, *, several: bool = True) -> list[str]:
    """List what a comparison does not show; `several` models of a recipe could have been audited."""
    lines, fpr, what = [], document.fpr, "recipe" if several else "model"
    models, sets = document.targets, document.training_sets or document.targets
    if sets == 1 and several:
        one = "One model" if models == 1 else f"{models} models of nearly the same members"
        verb = "was" if models == 1 else "were"
        lines.append(f"{one} of each recipe {verb} audited: how much another training run would differ is not known.")
    elif sets is not None and 1 < sets < ENOUGH_TARGETS:
        of = "" if sets == models else f", which have {sets} training sets,"
        more = "" if sets == models else " training sets"
        lines.append(
            f"Only {models} models of each recipe{of} were audited: how much models differ is hardly known from so "
            f"few, so only a large difference could be shown. Audit {ENOUGH_TARGETS}{more} or more."
        )
    if fpr is not None and document.rows[0].tpr is None:
        lines.append(f"Nothing can be said at a false positive rate of {level(fpr)}: the audits are too small for it.")
    ties = [row.name for row in document.rows if row.tpr is not None and row.tpr.tied]
    if ties and fpr is not None:
        lines.append(
            f"The share of members found for {listed(ties)} at a false positive rate of {level(fpr)} is not reliable: "
            "too many records have equal scores. The AUC is not affected."
        )
    if any(row.control is not None and row.control.doubt is not None for row in document.recipes):
        lines.append(
            f"Which {what} leaks less: records that are in more of the models are more often members, whatever the "
            "models tell. Compare models that are each trained on a random half of the records."
        )
    unknown = [row.name for row in document.rows if row.accuracy.non_members is None]
    if unknown:
        lines.append(f"What is lost in accuracy: it is not known for {listed(unknown)}.")
    lines += [line for row in document.recipes for line in missed(document, row)]
    if any(test.relation is Relation.TIE for test in document.pairs):
        lines.append(
            f"A tie does not show that two {what}s are equal: the interval says how large a difference may have been "
            "missed. More models or more records would narrow it."
        )
    if any(len(row.attacks) > 1 for row in document.rows):
        lines.append(
            f"For each {what} the strongest attack counts, one by AUC and one by the share of members found. Both are "
            "chosen on the records that they are judged on."
        )
    return [*lines, f"Attacks that were not tried may rank the {what}s differently."]
