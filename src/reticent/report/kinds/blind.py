"""The part of an audit on members and non-members themselves: what is found without the model, and beyond that."""

from collections.abc import Mapping, Sequence

from reticent.findings.attack import Audit
from reticent.findings.blind import Blind, Excess, Known
from reticent.findings.numbers import PairedDifference
from reticent.report import blocks as b
from reticent.report.cells import NOTHING, estimate, rate
from reticent.rounding import decimals, fraction, interval, level, percent, signed
from reticent.say import blind as say


def blocks(found: Blind | None, models: Mapping[str, Sequence[Audit]], fpr: float | None) -> tuple[b.Block, ...]:
    """Show the blind baseline, and where it finds a difference, each attack on each model beside it."""
    if found is None:
        return ()
    said = b.Prose(found.sentence, "lead")
    return (
        b.Heading("Members and non-members without the model", "blind", "Without the model", only=b.DOCUMENTS),
        said,
        b.Prose(say.MEANING, only=b.PAGE),
        *b.only(b.PAGE, *_by_features(found)),
        *b.only(b.DOCUMENTS, *([_beside(models, fpr)] if found.shift else [])),
    )


def _by_features(found: Blind) -> list[b.Block]:
    if found.labels is None:
        return []
    rows = [(say.KNOWN[Known.LABELS], found.labels), (say.KNOWN[found.by], found)]
    return [
        b.table(
            f"Members told from non-members without the model; below each AUC its {level(found.confidence)} interval",
            ("What the classifier sees", "AUC"),
            [(name, b.Cell(fraction(one.auc), one.auc, (interval(one.interval),))) for name, one in rows],
            key="blind-table",
        )
    ]


def _beside(models: Mapping[str, Sequence[Audit]], fpr: float | None) -> b.Table:
    """Put each attack beside what is found without the model."""
    heads = ["Attack", "AUC", "AUC without the model", "Difference"]
    if fpr is not None:
        heads += [f"Found at {level(fpr)} FPR", "Found without the model", "Difference, points"]
    rows = [_row(name, audit, audit.excess, fpr) for name, audits in models.items() for audit in audits if audit.excess]
    title = "Every attack beside what is found without the model; only differences of attacks that compare models count"
    return b.table(title, heads, rows, key="excess-table", sortable=True)


def _row(name: str, audit: Audit, excess: Excess, fpr: float | None) -> list[b.Text | b.Cell]:
    which = b.Name(f"{audit.name}, {name}" if name else audit.name, 50)
    cells: list[b.Text | b.Cell] = [which, estimate(audit.auc), fraction(excess.blind_auc), _difference(excess.auc)]
    if fpr is None:
        return cells
    beyond = excess.at(fpr)
    if beyond is None:
        return [*cells, rate(audit.rate(fpr)), NOTHING, NOTHING]
    blind = b.Cell(percent(beyond.blind_tpr, decimals(fpr)), beyond.blind_tpr)
    return [*cells, rate(audit.rate(fpr)), blind, _difference(beyond.tpr, points=True)]


def _difference(found: PairedDifference, *, points: bool = False) -> b.Cell:
    value = signed(100 * found.difference, 1) if points else signed(found.difference)
    return b.Cell(value, found.difference, (say.ends(found, points=points),))
