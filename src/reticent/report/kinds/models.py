"""The part of an audit on its models: their accuracy, those that did not learn, and the leak of each."""

from functools import partial

from reticent.findings.attack import Audit
from reticent.findings.audit import AuditDocument
from reticent.findings.numbers import Spread
from reticent.report import blocks as b
from reticent.report.cells import estimate
from reticent.report.pictures import audit as pictures
from reticent.rounding import count, percent
from reticent.say.grammar import plural, short

ACCURACY = (
    "Each tick is one model, the diamond their mean. The gap between the two rows is what models owe to having been "
    "trained on a record."
)


def blocks(document: AuditDocument, best: Audit) -> list[b.Block]:
    """Show the accuracy and the leak of each model, and those that did not learn."""
    population = document.population
    made: list[b.Block] = []
    if population.accuracy is not None:
        shown = {"": population.accuracy, " of audited models": population.accuracy_of_targets}
        beside = tuple(
            b.Prose((f"{name}: ", b.Strong(percent(one.mean)), _spread(one)))
            for of, right in shown.items()
            if right is not None
            for name, one in ((f"Members{of}", right.members), (f"Non-members{of}", right.non_members))
        )
        made += [
            b.Heading("Accuracy on members and non-members"),
            b.Figures((b.Figure(partial(pictures.accuracy, population), ACCURACY),), beside=beside),
        ]
    if population.health:
        made += [b.Heading("Models that did not learn", "health"), b.Bullets(unlearned(document))]
    return [*made, b.Heading("Model by model", "models"), _by_model(document, best)]


def unlearned(document: AuditDocument, most: int | None = None) -> tuple[str, ...]:
    """Name the models that did not learn, each with what it does instead; of more than `most` count the others."""
    told = tuple(f"Model {one.model} {one.problem}." for one in document.population.health or ())
    if most is None or len(told) <= most:
        return told
    return *told[:most], f"{plural(len(told) - most, 'more model')} did not learn; the files below name them."


def _by_model(document: AuditDocument, best: Audit) -> b.Table:
    """Join each model's accuracy with the leak that the verdict's attack finds in it."""
    targets = {one.model: one for one in best.targets}
    known = {one.model: one for one in document.population.per_model}
    rows: list[b.Line] = []
    for model in dict.fromkeys((*known, *targets)):
        facts, target = known.get(model), targets.get(model)
        members = facts.members if facts else targets[model].members
        right = facts and facts.accuracy_members, facts and facts.accuracy_non_members
        area = estimate(None if target is None else target.auc)
        rows.append((str(model), count(members), *map(percent, right), area))
    trained = "Members" if document.data.unit is None else "Members' records"
    heads = ("Model", trained, "Accuracy, members", "Accuracy, non-members", f"AUC of {short(best.name, 40)}")
    return b.table("Accuracy and leak of each model", heads, rows, key="models-table")


def _spread(found: Spread) -> str:
    return "" if found.std is None else f" (standard deviation over models {percent(found.std)})"
