"""Single records: which are memorised, which are exposed, and what their numbers do not show."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from reticent.findings.locate import RecordsDocument
from reticent.findings.records import PICTURED, RecordRow, known
from reticent.report import blocks as b
from reticent.report.kinds import method, record_table
from reticent.report.pictures import records as pictures
from reticent.rounding import number
from reticent.say.glossary import terms
from reticent.say.records import order

CONFIDENCE = 0.95
"""Of a list that does not tell its own."""
TERMINAL = 10
"""Records that the terminal shows."""


def records(
    document: RecordsDocument,
    rows: Sequence[RecordRow] = (),
    thumbnails: Mapping[int, NDArray[Any]] | None = None,
) -> b.Report:
    """Bring single records into blocks: `rows` of all records, the most exposed first, and `thumbnails` by record."""
    name, data, population = b.Name(document.data.name), document.data, document.population
    scale = method.scale(data, population.models)
    drawn = thumbnails or {}
    return b.Report(
        title=f"Records of {name.text}",
        brand="record by record",
        section="Records",
        blocks=(
            b.Banner(
                about=("Records of ", b.Strong(name), f": {scale}"),
                sentence=document.sentence,
                blocks=(
                    *map(b.Prose, document.detail),
                    b.Prose(b.Link("What this list of records cannot say.", "limits"), only=b.PAGE),
                ),
            ),
            *b.only(b.PAGE, *_memorised(document, rows, drawn)),
            *b.only(b.PAGE, *_listed(document, rows, drawn)),
            b.Heading("The most exposed records", only=b.MARKDOWN),
            *b.only(b.TEXTS, record_table.table(document.most_exposed[:TERMINAL], _confidence(document))),
            b.Prose("±: the standard error of the number above it.", only=b.TEXTS),
            *b.only(b.PAGE, *_details(document)),
            *b.only(b.DOCUMENTS, *method.limits("list of records", document.cannot_say)),
            *method.glossary(terms("Member", "Exposure", "Memorisation", "Margin", "Interval", "Corrected p")),
        ),
        files=b.coded("All records are in `records.csv`, the numbers of this page in `records.json`."),
        version=document.environment.reticent,
    )


def _memorised(
    document: RecordsDocument, rows: Sequence[RecordRow], thumbnails: Mapping[int, NDArray[Any]]
) -> list[b.Block]:
    """Show how memorisation is spread, and the most memorised records that are pictures."""
    values, summary = known(rows, "memorisation"), document.memorisation
    heading = b.Heading("Memorised records", "memorised", "Memorised", level=2)
    if not len(values) or summary is None:
        return [heading, b.Prose("The memorisation of these records is not known.")]
    caption = (
        "Memorisation of every record: the share of models trained on it that label it correctly, minus that of the "
        "others. The axis of counts is logarithmic."
    )
    return [
        heading,
        b.Prose(
            "A record is memorised if models label it correctly because they were trained on it, and wrongly "
            "otherwise. Such records are rare or odd ones, or have a wrong label."
        ),
        b.Figures((b.Figure(partial(pictures.memorisation, values.tolist(), summary.threshold), caption),)),
        *record_table.pictured("The most memorised", document.most_memorised[:PICTURED], thumbnails, _written),
    ]


def _written(row: RecordRow) -> str:
    error = "" if row.memorisation_error is None else f" ± {number(row.memorisation_error, 2)}"
    return f"{number(row.memorisation, 2)}{error}"


def _listed(
    document: RecordsDocument, rows: Sequence[RecordRow], thumbnails: Mapping[int, NDArray[Any]]
) -> list[b.Block]:
    heading: b.Block = b.Heading("The records", "records", "Records", level=2)
    return [
        heading,
        *(
            (b.Prose(order(document.exposure)), *record_table.listing(rows, thumbnails, _confidence(document)))
            if rows
            else ()
        ),
    ]


def _confidence(document: RecordsDocument) -> float:
    return CONFIDENCE if document.exposure is None else document.exposure.confidence


def _details(document: RecordsDocument) -> list[b.Block]:
    return [
        b.Heading("Details and method", "details", "Details", level=2),
        b.Prose(
            "Every record is in the training set of about half of the models. What a record changes is the difference "
            "between the models that were trained on it and those that were not."
        ),
        method.facts(
            *method.about_models(document.recipe, document.population),
            *method.about_data(document.data),
            *method.about_run(document.environment),
        ),
        *method.columns(document.data),
    ]
