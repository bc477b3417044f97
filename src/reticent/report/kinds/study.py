"""A study: the verdicts, each claim with its numbers, the figures, our numbers beside the paper's, how it was done."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from reticent.findings.study import (
    Answer,
    Claim,
    Column,
    Figure,
    Form,
    Part,
    Printed,
    PublishedTable,
    Reason,
    Row,
    SeedsEstimate,
    StudyDocument,
    Table,
)
from reticent.report import blocks as b
from reticent.report.cells import NOTHING
from reticent.report.kinds import method
from reticent.report.pictures import study as pictures
from reticent.rounding import level
from reticent.say.glossary import terms
from reticent.say.grammar import listed, plural, sentence, spans
from reticent.say.study import (
    ORIGINS,
    REASONS,
    answered,
    asked,
    between,
    by_kind,
    by_origin,
    in_short,
    printed,
    shared,
    written,
)

MARKS: dict[Answer, str] = {"yes": "✓", "no": "✗", "open": "?"}
GLOSSARY = (
    (
        "Reproduced",
        "Said of a claim of the paper's, where its own setting or a fair stand-in was run: every number that the claim "
        "rests on has its whole interval where the claim puts it.",
    ),
    ("Not reproduced", "There, at least one such number has its whole, widened interval where the claim does not."),
    ("Holds, does not hold", "The same of a claim of ours, in what was run."),
    (
        "Can't tell",
        "Neither. The reason stands beside it: too few models, records or seeds; kinds of network that disagree; or "
        "what was run is not what the claim is about.",
    ),
    ("Kind of network", "Such as ResNet. Kinds are judged apart, and none decides for another."),
    ("Seed", "Draws the roles of the records, the memberships and all models anew; the records stay the same."),
    *terms("Member", "False positive rate (FPR)", "True positive rate (TPR)", "AUC"),
)


def study(document: StudyDocument) -> b.Report:
    """Bring a study into blocks."""
    scale = document.scale
    return b.Report(
        title=f"Study {document.study}, scale {scale.name}",
        brand="study of a paper",
        section=f"{document.study}, scale {scale.name}",
        blocks=(
            b.Banner(
                about=("Study ", b.Strong(b.Name(document.study)), f", scale {scale.name}: {document.title}"),
                sentence=document.sentence,
                blocks=(
                    b.Prose((document.title, " ", document.paper), only=b.MARKDOWN),
                    b.Prose(document.paper, only=b.PAGE),
                    b.Prose((scale.about, " ", b.Link("What this study cannot say.", "limits")), only=b.PAGE),
                ),
            ),
            *_claims(document),
            *_figures(document.figures),
            *b.only(b.DOCUMENTS, *_tables(document), *_published(document.published)),
            *b.only(b.PAGE, *_details(document)),
            *b.only(b.DOCUMENTS, *method.limits("study", document.cannot_say or ("What other data would give.",))),
            *b.only(b.DOCUMENTS, *_notes(document)),
            *method.glossary(GLOSSARY),
        ),
        files=b.coded("The same numbers are in `study.json`; `study.md` has the tables for a document."),
        version=document.environment.reticent,
    )


def _claims(document: StudyDocument) -> tuple[b.Block, ...]:
    sure, number = level(document.confidence), 0
    made: list[b.Block] = [
        b.Heading("Claims, and what was found", "claims", "Claims", level=2, only=b.DOCUMENTS),
        b.Prose(
            "The rule of each claim was fixed before anything was measured. It asks something of one or more numbers. "
            f"A number says yes if its {sure} interval lies on the side that is asked (of zero, where so much or more "
            "is asked) and it is as large as asked itself; no if its interval, widened where a claim has several "
            f"numbers, falls short of what is asked; else it is open. Intervals of one seed are over {document.over}. "
            "Kinds of network are judged apart, and none decides for another.",
            only=b.DOCUMENTS,
        ),
    ]
    for origin, claims in by_origin(document.claims):
        made.append(b.Heading(f"{ORIGINS[origin]}, judged by {sure} intervals"))
        made += b.only(b.DOCUMENTS, *_judged(document, dict(enumerate(claims, number + 1))))
        made.append(b.Bullets(tuple(f"{MARKS[answered(one)]} {in_short(one)}" for one in claims), only=b.TERMINAL))
        number += len(claims)
    rest = "All numbers, the figures, the rules, and what this study cannot say are in the files:"
    return (*made, b.Heading(rest, only=b.TERMINAL))


Numbered = Mapping[int, Claim]


def _judged(document: StudyDocument, claims: Numbered) -> Iterator[b.Block]:
    """Show claims with their verdicts; folded, their numbers and rules, each once, with the claims that it is of."""
    reason = shared(list(claims.values()))
    measured = {i: one for i, one in claims.items() if any(kind.parts for kind in one.kinds)}
    if reason is not None:
        yield b.Prose(f"None can be told: {REASONS[reason]}." + " What was run says:" * bool(measured))
        # No kind of network counts then, which need not be said of each.
        measured = {i: one.with_(kinds=tuple(k.with_(counts=True) for k in one.kinds)) for i, one in measured.items()}
    if measured:
        heads = ("Claim", "Found") if reason is not None else ("Claim", "Verdict", "Found")
        yield b.table("Claims", b.words(*heads), (_verdict(i, one, reason) for i, one in measured.items()))
    if unmeasured := tuple(f"{i}. {one.text}" for i, one in claims.items() if i not in measured):
        yield b.Folded(f"Not measured at this scale: {plural(len(unmeasured), 'claim')}", (b.Bullets(unmeasured),))
    if numbers := tuple(_numbers(document, claims)):
        asks: b.Heads = (*b.words("Number", "Claim"), "Found", *b.words("Asked", "Answer"))
        yield b.Folded("The numbers that they rest on", (b.table("Numbers of claims", asks, numbers),))
    if rules := tuple(_rules(claims)):
        yield b.Folded("Their rules", (b.table("Rules of claims", b.words("Rule", "Claim"), rules),))


def _verdict(number: int, claim: Claim, reason: Reason | None) -> b.Line:
    about = f"; about {listed(claim.networks)}" if claim.networks else ""
    said = b.Cell(f"{number}. {claim.text}", below=(sentence(f"{claim.source}{about}"),))
    found = by_kind(claim)
    kinds = b.Cell(found[0], below=tuple(found[1:])) if found else NOTHING
    if reason is not None:
        return said, kinds
    why = (sentence(REASONS[claim.reason]),) if claim.reason else ()
    return said, b.Cell(f"{MARKS[answered(claim)]} {claim.verdict}", below=why), kinds


def _numbers(document: StudyDocument, claims: Numbered) -> Iterator[b.Line]:
    """List the numbers, each once; what all are of, where one setting was run, is not repeated."""
    of: dict[Part, list[int]] = {}
    for number, claim in claims.items():
        for part in (part for one in claim.kinds for part in one.parts):
            of.setdefault(part, []).append(number)
    for part, numbers in of.items():
        why = (REASONS[part.reason],) if part.reason else ()
        needed = "" if part.mean is None else asked(part)
        said = b.Cell(f"{MARKS[part.answer]} {part.answer}", None, why)
        label = f"{part.label}, {part.setting}" if part.setting and len(document.settings) > 1 else part.label
        yield label, spans(numbers), _cell(part, part.metric), needed, said


def _rules(claims: Numbered) -> Iterator[b.Line]:
    """List the rules, each once."""
    of: dict[str, list[int]] = {}
    for number, claim in claims.items():
        if claim.rule:
            of.setdefault(claim.rule, []).append(number)
    yield from ((rule, spans(numbers)) for rule, numbers in of.items())


def _cell(one: SeedsEstimate | None, form: Form, paper: Printed | None = None) -> b.Cell:
    """Write a number; below it its interval, and what the paper has in that place."""
    below = [between(one.interval, form)] if one is not None else []
    below += [f"paper: {printed(paper, form)}"] if paper is not None else []
    shown = tuple(text for text in below if text)
    if one is None or one.mean is None:
        return b.Cell(NOTHING.text, None, shown, "quiet")
    return b.Cell(written(one.mean, form), one.mean, shown)


def _figures(figures: Sequence[Figure]) -> tuple[b.Block, ...]:
    """Show a figure's panels on a page, and its file beside Markdown."""
    if not figures:
        return ()
    made: list[b.Block] = [b.Heading("Figures", "figures", "Figures", level=2, only=b.PAGE)]
    for one in figures:
        panels = tuple(b.Figure(partial(pictures.panel, one, i), p.title) for i, p in enumerate(one.panels))
        made += b.only(b.PAGE, b.Heading(one.title), b.Figures(panels))
        whole = b.Figure(partial(pictures.panel, one, 0), one.title, one.png)
        made.append(b.Figures((whole,), only=b.MARKDOWN))
    return tuple(made)


def _tables(document: StudyDocument) -> tuple[b.Block, ...]:
    sure = level(document.confidence)
    made: list[b.Block] = [b.Heading("Tables", "tables", "Tables", level=2, only=b.PAGE)]
    for i, one in enumerate(document.tables, 1):
        legend = f"Means over seeds, with {sure} intervals; of one seed these are over {document.over}."
        if any(row.paper for row in one.rows):
            legend += " Also the paper's number, which is of other data or another scale."
        made += [b.Heading(one.title, f"table-{i}"), b.Prose(legend, "note", only=b.DOCUMENTS), _table(one)]
    return tuple(made)


def _table(table: Table) -> b.Table:
    columns = [
        column
        for column in table.columns
        if any(row.values.get(column.key) or column.key in (row.paper or {}) for row in table.rows)
    ]
    rows = (_row(row, columns) for row in table.rows)
    return b.table(table.title, ("Row", *(column.label for column in columns)), rows, sortable=True)


def _row(row: Row, columns: Sequence[Column]) -> b.Line:
    paper = row.paper or {}
    cells = (_cell(row.values.get(one.key), one.form, paper.get(one.key)) for one in columns)
    return b.Cell(row.name, below=(row.about,) if row.about else ()), *cells


def _notes(document: StudyDocument) -> tuple[b.Block, ...]:
    """Fold what was noted of each setting."""
    noted = (one for one in document.settings if one.notes)
    return tuple(b.Folded(f"Notes on the runs, {one.label}", (b.Bullets(one.notes),)) for one in noted)


def _published(tables: Sequence[PublishedTable]) -> tuple[b.Block, ...]:
    if not tables:
        return ()
    made: list[b.Block] = [b.Heading("The paper's own numbers", "paper", "The paper", level=2)]
    for one in tables:
        heads = {column.key: column.label for column in one.columns}
        rows = (
            (name, *(printed(values.get(c.key), c.form) or NOTHING.text for c in one.columns))
            for name, values in one.rows.items()
        )
        remarks = (f"{it.row}, {heads.get(it.column, it.column)}: {it.text}" for it in one.remarks)
        notes = tuple(text for text in (one.note, *remarks) if text)
        made += [b.Heading(one.title), b.table(one.title, ("Row", *heads.values()), rows)]
        made += [b.Bullets(notes, "note")] if notes else []
    return tuple(made)


def _details(document: StudyDocument) -> tuple[b.Block, ...]:
    said = (
        "Each number is the mean over seeds. Its interval is, on each side, the wider end of two: that over "
        f"{document.over}, as if all seeds erred together; and, from three seeds on, that of the spread over seeds."
    )
    groups = tuple((one.label, method.tree(one.facts)) for one in document.settings)
    return (
        b.Heading("Details and method", "details", "Details", level=2),
        b.Prose(said),
        method.facts(*groups, *method.about_run(document.environment)),
    )
