"""Members of one training, ranked by risk: who is put first, whether the rankings agree, and how they were made."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from reticent.findings.ranking import Agreement, RankedMember, RankingDocument
from reticent.findings.records import PICTURED
from reticent.report import blocks as b
from reticent.report.cells import NOTHING
from reticent.report.kinds import method, record_table
from reticent.rounding import count, number, percent
from reticent.say.glossary import terms
from reticent.say.grammar import plural, short

TERMINAL = 10
"""Members that the terminal shows."""
SMALL = 0.001
"""A score below it is not written out."""
GLOSSARY = (
    (
        "Loss",
        "How badly the model predicts the record's label: 0 if it is sure of it, larger the less probable it finds it.",
    ),
    (
        "Spread of the loss",
        "The interquartile range of the record's losses, before training and after every epoch (LT-IQR): the range "
        "that the middle half of them spans. Large if the model came to the label late, or went back and forth.",
    ),
    (
        "Leverage",
        "How much the record alone decides what the last layer says of it, weighed by how unsure the model is of it.",
    ),
    ("Rank correlation", "Spearman's: 1 if two rankings have the same order, 0 if they are unrelated."),
)
"""Word -> one line."""


def ranking(document: RankingDocument, thumbnails: Mapping[int, NDArray[Any]] | None = None) -> b.Report:
    """Bring a ranking into blocks, with `thumbnails` of members by record."""
    name, training = b.Name(document.data.name), document.training
    by_loss = [one for one in document.ranked if one.loss_iqr_rank <= len(document.ranked)]
    return b.Report(
        title=f"Members by risk: {name.text}",
        brand="members by risk",
        section="Members by risk",
        blocks=(
            b.Banner(
                about=("Members of one training on ", b.Strong(name), f": {method.scale(document.data)}"),
                sentence=document.sentence,
                tone="unsure" if document.detail else "neutral",
                blocks=(
                    *(b.Prose(line, only=b.DOCUMENTS) for line in document.detail),
                    *(b.Notice(line, only=b.TERMINAL) for line in document.detail),
                    b.Prose(b.Link("What this ranking cannot say.", "limits"), only=b.PAGE),
                ),
            ),
            b.Heading("The members put first", "members", "Members", level=2, only=b.DOCUMENTS),
            b.Prose(
                "The members at the top are those to look at first. Often they are rare or odd, or have a wrong "
                f"label. The model labels {percent(training.accuracy_members)} of its members correctly.",
                only=b.PAGE,
            ),
            *b.only(
                b.PAGE,
                *record_table.pictured("The first by their losses", by_loss[:PICTURED], thumbnails or {}, _written),
                _table(document.ranked),
            ),
            *b.only(b.TEXTS, _table(by_loss[:TERMINAL])),
            *b.only(b.PAGE, *_agreement(document.agreement)),
            *b.only(b.PAGE, *_details(document)),
            *b.only(b.DOCUMENTS, *method.limits("ranking", document.cannot_say)),
            *method.glossary((*terms("Member"), *GLOSSARY)),
        ),
        files=b.coded("All members are in `records.csv`, the numbers of this page in `ranking.json`."),
        version=document.environment.reticent,
    )


def _written(row: RankedMember) -> str:
    return f"spread {_score(row.loss_iqr)}"


def _score(value: float) -> str:
    return f"<\N{NO-BREAK SPACE}{SMALL:g}" if 0 < value < SMALL else number(value, 3 if value < 10 else 1)


def _table(rows: Sequence[RankedMember]) -> b.Table:
    heads: b.Heads = (
        *b.words("Record", "Class"),
        "Rank by spread of the loss",
        "Rank by leverage",
        "Loss after training",
    )
    return b.table(
        "Members that either ranking puts first, with their ranks in both; below each rank the score",
        (*heads, b.Column("Labelled correctly", numbers=False)),
        map(_row, rows),
        key="record-table",
        sortable=True,
        sorted=2,
        find="record or text",
        stacks=False,
    )


def _row(row: RankedMember) -> b.Line:
    names = (short(text, 40) or "(empty)" for text in (str(row.record), record_table.label(row)))
    right = b.Cell("yes") if row.correct else b.Cell("no", tone="bad")
    ranks = _rank(row.loss_iqr_rank, row.loss_iqr), _rank(row.leverage_rank, row.leverage)
    return *names, *ranks, b.Cell(_score(row.loss), row.loss), right


def _rank(rank: int | None, score: float | None) -> b.Cell:
    return NOTHING if rank is None or score is None else b.Cell(count(rank), rank, (_score(score),))


def _agreement(both: Agreement | None) -> tuple[b.Block, ...]:
    if both is None:
        return ()
    first = count(both.top)
    return (
        b.Heading("Do the two rankings agree?", "agreement", "Agreement", level=2),
        b.Prose(
            "Each sees something else: the spread of the loss how training came to the record, leverage how far the "
            "last layer depends on it. A member that both put first deserves attention first."
        ),
        b.Cards((
            b.Card(f"Shared of the first {first}", f"{count(both.shared)}", f"unrelated: {number(both.chance, 1)}"),
            b.Card("Rank correlation", number(both.spearman, 2), "1: the same order, 0: unrelated"),
        )),
    )


def _details(document: RankingDocument) -> list[b.Block]:
    training = document.training
    return [
        b.Heading("Details and method", "details", "Details", level=2),
        b.Prose(
            f"One model was trained on all {plural(training.members, 'member')}. Before training and after each of "
            f"{plural(training.epochs, 'epoch')} it was asked, in eval mode, about every member as it is, without "
            "augmentation; this has no part in the training. Leverage is that of the trained model's last layer as a "
            "regularised logistic regression on what reaches it."
        ),
        method.facts(
            ("The training", method.values(training, "accuracy_members", "commonest", "notices")),
            ("How the model was trained", method.tree(document.recipe)),
            method.about_data(document.data)[0],
            *method.about_run(document.environment),
        ),
        *method.columns(document.data),
    ]
