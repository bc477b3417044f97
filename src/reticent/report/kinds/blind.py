"""The part of an audit on members and non-members themselves: what is found without the model, and beyond that."""

from collections.abc import Sequence

from reticent.findings.attack import Audit
from reticent.findings.blind import Blind, Known
from reticent.findings.numbers import PairedDifference
from reticent.report import blocks as b
from reticent.report.cells import NOTHING, estimate, rate, table
from reticent.rounding import decimals, fraction, interval, level, percent, signed
from reticent.say import blind as say


def blocks(found: Blind | None, audits: Sequence[Audit], fpr: float | None) -> tuple[b.Block, ...]:
    """Show the blind baseline, and where it finds a difference, each attack beside it."""
    if found is None:
        return ()
    said = b.Prose(found.sentence, "lead")
    return (
        b.Heading("Members and non-members without the model", "blind", "Without the model", only=b.DOCUMENTS),
        said,
        b.Prose(say.MEANING, only=b.PAGE),
        *b.only(b.PAGE, *_by_features(found)),
        *b.only(b.DOCUMENTS, *(_beside(audits, fpr) if found.shift else ())),
    )


def _by_features(found: Blind) -> list[b.Block]:
    if found.labels is None:
        return []
    rows = [(say.KNOWN[Known.LABELS], found.labels), (say.KNOWN[found.by], found)]
    return [
        table(
            f"Members told from non-members without the model; below each AUC its {level(found.confidence)} interval",
            ("What the classifier sees", "AUC"),
            [(name, b.Cell(fraction(one.auc), one.auc, (interval(one.interval),))) for name, one in rows],
            key="blind-table",
        )
    ]


def _beside(audits: Sequence[Audit], fpr: float | None) -> list[b.Block]:
    """Put each attack beside what is found without the model."""
    heads = ["Attack", "AUC", "AUC without the model", "Difference"]
    if fpr is not None:
        heads += [f"Found at {level(fpr)} FPR", "Found without the model", "Difference, points"]
    rows = []
    for audit in audits:
        excess = audit.excess
        if excess is None:
            continue
        cells: list[b.Text | b.Cell] = [b.Name(audit.name, 40), estimate(audit.auc), fraction(excess.blind_auc)]
        cells.append(_difference(excess.auc))
        beyond = excess.at(fpr)
        if fpr is not None:
            blind = NOTHING if beyond is None else b.Cell(percent(beyond.blind_tpr, decimals(fpr)), beyond.blind_tpr)
            cells += [rate(audit.rate(fpr)), blind]
            cells.append(NOTHING if beyond is None else _difference(beyond.tpr, points=True))
        rows.append(cells)
    title = "Every attack beside what is found without the model; only the differences count as leak"
    return [table(title, heads, rows, key="excess-table", sortable=True)]


def _difference(found: PairedDifference, *, points: bool = False) -> b.Cell:
    value = signed(100 * found.difference, 1) if points else signed(found.difference)
    return b.Cell(value, found.difference, (say.ends(found, points=points),))
