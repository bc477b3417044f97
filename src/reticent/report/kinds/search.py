"""A search: what was chosen, how accuracy and leak go with the values, what was tried."""

from functools import partial

from reticent.findings.search import SearchDocument, Tried
from reticent.report import blocks as b
from reticent.report.cells import estimate
from reticent.report.pictures import search as pictures
from reticent.report.pictures.study import panel
from reticent.rounding import decimals, level
from reticent.say.search import allowed


def search(document: SearchDocument) -> b.Report:
    """Bring a search into blocks."""
    name = b.Name(document.data.name)
    return b.Report(
        title=f"Search of {document.defense} on {name.text}",
        brand="search of a defense's options",
        blocks=(
            b.Banner(
                about=("Search of ", b.Strong(b.Name(document.defense, 120)), " on ", name),
                sentence=document.sentence,
                menu="Choice",
            ),
            *b.only(b.PAGE, *_curves(document)),
            b.Heading("What was tried", "tried", "Table", level=2, only=b.DOCUMENTS),
            _tried(document),
            *b.only(
                b.TERMINAL, *(b.Notice(f"{one.defense}: {told}") for one in document.tried for told in one.notices)
            ),
            *b.only(b.DOCUMENTS, *_limits(document)),
        ),
        files=b.coded("The same numbers are in `search.json`."),
        version=document.environment.reticent,
    )


def _curves(document: SearchDocument) -> tuple[b.Block, ...]:
    several = [key for key, values in document.over.items() if len(values) > 1]
    over = [pictures.sensitivity(document, key, i) for i, key in enumerate(several)]
    drawn = [b.Figure(partial(panel, one, place)) for one in over for place in range(len(one.panels))]
    trade = b.Figure(
        partial(pictures.trade, document), "Privacy against utility: a good value lies to the right and low."
    )
    ring = "; what was chosen has a sign of its own" if document.chosen is not None else ""
    legend = (
        f"The thin bars are {level(document.confidence)} intervals{ring}. The "
        "dashed line is the undefended recipe, the dotted one the least accuracy that is accepted "
        f"({allowed(document)} may be lost)."
    )
    return (
        b.Heading("How accuracy and leak go with the values", "curves", "Curves", level=2),
        b.Prose(legend),
        b.Figures((*drawn, trade)),
    )


def _tried(document: SearchDocument) -> b.Table:
    fpr = document.fpr
    found = f"Members found at {level(fpr)}" if fpr else "Members found"
    heads: b.Heads = (*b.words("Recipe"), "Accuracy, non-members", "AUC", found, *b.words("Chosen"))
    tried = (document.undefended, *document.tried)
    rows = (_row(one, document.chosen, fpr) for one in tried)
    strong = next((i for i, one in enumerate(tried) if one.defense == document.chosen), None)
    title = f"Accuracy and leak of each value, with {level(document.confidence)} intervals"
    return b.table(title, heads, rows, key="tried-table", sortable=True, strong=strong)


def _row(one: Tried, chosen: str | None, fpr: float | None) -> b.Line:
    name = b.Cell(b.Name(one.defense, 80), below=("never acted",) if one.idle else ())
    numbers = estimate(one.accuracy, True), estimate(one.auc), estimate(one.tpr, True, decimals(fpr))
    return name, *numbers, "✓ chosen" if one.defense == chosen else ""


def _limits(document: SearchDocument) -> tuple[b.Block, ...]:
    seed = document.seed
    of_chosen = (
        "How much the chosen value leaks. It was picked for its low AUC on these models, which may be luck: only "
        f"an audit of other models tells. The models of this search were drawn with the seed {seed.search}, those "
        f"of the audit are drawn with {seed.audit}.",
        "Whether the chosen value is the best one: values whose intervals overlap may be equally good.",
    )
    return (
        b.Heading("What this search cannot say", "limits", "Limits", level=2),
        b.Bullets((
            *(of_chosen if document.chosen is not None else ()),
            "What values between those that were tried would do.",
            *(f"{one.defense}: {notice}" for one in document.tried for notice in one.notices),
        )),
    )
