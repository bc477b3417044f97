"""The part of an audit on its attacks: what each finds, as a table and in figures."""

from collections.abc import Sequence
from functools import partial

from reticent.findings.attack import Audit
from reticent.findings.audit import AuditDocument
from reticent.findings.numbers import OverallRate
from reticent.report import blocks as b
from reticent.report.cells import estimate, rate, unmeasurable
from reticent.report.pictures import audit as pictures
from reticent.rounding import count, decimals, duration, fraction, interval, level, percent
from reticent.say.evidence import by_labels
from reticent.say.grammar import alarms, short

HISTOGRAMS = 9
"""Most attacks whose score histograms the page shows, the verdict's first."""
SPREAD = (
    "Each tick is one audited model, the diamond the mean over models, the bar its interval. A wide row means that the "
    "leak differs from one training run to the next."
)


def table(document: AuditDocument, audits: Sequence[Audit]) -> list[b.Block]:
    """Show what every attack finds."""
    sure, rates = level(audits[0].confidence), _rates(audits)
    measured = [fpr for fpr, known in rates.items() if known is None]
    intro = (
        f"Each line is one attack; below each number is its {sure} interval. Guessing finds the same share of members "
        "as of non-members."
    )
    if len(audits) > 1:
        intro += (
            " The verdict quotes the first line, with wider intervals: they allow for its having been chosen among all."
        )
    heads: b.Heads = (
        b.Column("Attack", whole=True),
        b.Column("AUC", "chance 0.5"),
        *(b.Column(f"Found at {level(fpr)} FPR", alarms(fpr)) for fpr in measured),
        b.Column("Balanced accuracy", "threshold from other models", only=b.DOCUMENTS),
        b.Column("Balanced accuracy", "best threshold: an upper bound", only=b.DOCUMENTS),
        *(b.Column(title, only=b.TERMINAL) for title in ("Balanced accuracy", "Oracle")),
    )
    seconds = document.environment.seconds_attacks
    rows = [_attack(one, measured, seconds.get(one.name)) for one in audits]
    legend = (
        f"Below each number, or in brackets: its {sure} interval. Found: the share of members that are found. FPR "
        "(false positive rate): the share of records that were not used for training but are taken for members. By "
        "chance: AUC 0.5, as many found as the FPR, balanced accuracy 0.5. Balanced accuracy is at a threshold from "
        "other models; the oracle's is at the best threshold, an upper bound."
    )
    if len(audits) > 1:
        legend += f" The verdict's intervals are wider: they allow for the choice among {len(audits)} attacks."
    if seconds:
        legend += " The time is what it took to score all models."
    missing = tuple(f"Found at {level(fpr)} FPR: {unmeasurable(known)}." for fpr, known in rates.items() if known)
    return [
        b.Heading("Every attack that was tried", "attacks", only=b.PAGE),
        b.Prose(intro, only=b.PAGE),
        b.table("What each attack finds", heads, rows, strong=0),
        b.Bullets((*missing, by_labels(audits, brought=document.recipe is None))),
        *b.only(b.TERMINAL, *map(b.Notice, dict.fromkeys(one.sentence for one in document.left_out))),
        b.Prose(legend, "note", only=b.TEXTS),
        *claimed(audits),
    ]


def claimed(audits: Sequence[Audit]) -> list[b.Block]:
    """Show how far the false-positive rates that attacks claim hold."""
    known = [(one, rate) for one in audits for rate in one.claimed or ()]
    if not known:
        return []
    rows = [
        (
            b.Cell(b.Name(one.name, 40)),
            b.Cell(level(rate.fpr)),
            b.Cell(percent(rate.realised, decimals(rate.fpr))),
            b.Cell(interval((rate.least, rate.most), partial(percent, digits=decimals(rate.fpr)))),
            b.Cell(f"{rate.within} of {rate.targets}"),
        )
        for one, rate in known
    ]
    heads = b.words("Attack", "Claimed FPR", "Realised", "Least and most of a model", "Models whose limits hold it")
    return [
        b.Prose(
            "These attacks say at which false positive rate they flag a record. Realised: the share of this audit's "
            "non-members that they flag at it."
        ),
        b.table("False positive rates as claimed", heads, rows),
    ]


def _rates(audits: Sequence[Audit]) -> dict[float, OverallRate | None]:
    """List the false positive rates, the largest first, with what is known of one at which no attack has a number."""
    every = sorted((rate for audit in audits for rate in audit.rates), key=lambda rate: (-rate.fpr, rate.tpr is None))
    found: dict[float, OverallRate | None] = {}
    for one in every:
        found.setdefault(one.fpr, one if one.tpr is None else None)
    return found


def _attack(one: Audit, rates: Sequence[float], seconds: float | None) -> b.Line:
    balanced = one.overall.balanced_accuracy
    both = (None, None) if balanced is None else (balanced.transferred, balanced.oracle)
    cells = [estimate(found) for found in both]
    alone = [b.Cell(cell.text, cell.key, tone=cell.tone) for cell in cells]
    said = [f"sees {one.access}"] if one.access else []
    said += [f"{count(one.queries)} questions a record"] if one.queries else []
    said += [duration(seconds)] if seconds is not None else []
    name = b.Cell(b.Name(one.name, 40), below=(", ".join(said),) if said else ())
    return name, estimate(one.auc), *(rate(one.rate(fpr)) for fpr in rates), *cells, *alone


def figures(document: AuditDocument, audits: Sequence[Audit]) -> list[b.Block]:
    """Draw the curves, the spread over models, and the scores."""
    curved = [one for one in audits if one.roc is not None]
    drawn = [b.Figure(partial(pictures.spread, audits), SPREAD)]
    if curved:
        shown = curved[: pictures.CURVES]
        drawn.insert(0, b.Figure(partial(pictures.roc, shown, document.verdict.fpr), _roc_caption(shown, len(curved))))
    scored = [(one, one.histogram) for one in audits if one.histogram is not None]
    made: list[b.Block] = [b.Figures(tuple(drawn))]
    if not scored:
        return made
    shapes = tuple(
        b.Figure(partial(pictures.histogram, scores, one.name, f"scores-{i}"), histogram_caption(one))
        for i, (one, scores) in enumerate(scored[:HISTOGRAMS])
    )
    left = ", ".join(short(one.name, 40) for one, _ in scored[HISTOGRAMS:])
    return [
        *made,
        b.Heading("Scores of members and non-members"),
        b.Prose(
            "The further the two shapes lie apart, the easier the attack. The right-hand end matters most: a score "
            "that no non-member reaches gives a member away."
        ),
        b.Figures(shapes, "small"),
        *([b.Prose(("Not drawn here, but in ", b.Code("audit.json"), f": {left}."), "note")] if left else []),
    ]


def _roc_caption(audits: Sequence[Audit], known: int) -> str:
    sure, roc = level(audits[0].confidence), audits[0].roc
    meaning = f"where {sure} of the models lie" if roc is not None and roc.band == "targets" else f"the {sure} interval"
    bands = "Bands are" if len(audits) <= pictures.BANDS else "The band, for the attack of the verdict, is"
    more = f" Drawn: the first {len(audits)} of the {known} attacks in the table." if len(audits) < known else ""
    return (
        "How many members each attack finds (up) at each false positive rate (right), both on logarithmic axes. The "
        f"left end is what matters for privacy. {bands} {meaning}.{more}"
    )


def histogram_caption(one: Audit) -> str:
    """Describe one attack's histogram."""
    spiked = one.histogram is not None and pictures.spiked(one.histogram)
    scale = "; logarithmic axis, since one bar stands far above the others" if spiked else ""
    return f"{short(one.name)}: AUC {fraction(one.auc.mean)}{scale}"
