"""A comparison: the finding, accuracy against leak, row by row, two by two, every attack, and what it cannot say."""

from collections.abc import Sequence
from functools import partial

from reticent.findings.comparison import ComparisonDocument, PairTest, Role, Row
from reticent.findings.numbers import Lower, Statistic
from reticent.report import blocks as b
from reticent.report.cells import NOTHING, estimate
from reticent.report.kinds import method
from reticent.report.pictures import comparison as pictures
from reticent.rounding import MISSING, count, decimals, duration, interval, level, number, p_value, signed, up
from reticent.say.comparison import unjudged
from reticent.say.controls import remark
from reticent.say.epsilon import shown
from reticent.say.glossary import terms
from reticent.say.grammar import listed, short

GLOSSARY = (
    *terms("Member", "False positive rate (FPR)", "True positive rate (TPR)", "AUC", "Interval", "Epsilon"),
    ("Baseline", "The recipe that all others are compared with, as a rule the undefended one."),
    (
        "Control",
        "The baseline, stopped early to be about as accurate as the recipe that it is matched to; the table says how "
        "close it came. A less accurate model leaks less by itself, and a defense has to do better than that.",
    ),
    (
        "Not beaten",
        "No other row is at least as accurate and leaks at most as much, and is better in one of the two, by the "
        "estimates alone. Several rows can be: they are different trade-offs, not one winner.",
    ),
    ("Tie", "The difference is no larger than chance makes such differences. It does not show that the two are equal."),
    ("Corrected p", "How often chance alone would show such a difference, allowing for all pairs that were tested."),
)
"""Word -> one line."""
IN_TEXT = {b.MARKDOWN: 60, b.TERMINAL: 6}
"""Most pairs that a section in Markdown, and the terminal, list."""
ROWS = 8
"""With more rows, the terminal shows no controls."""
FOLDED = 4
"""With more sentences, the differences are told when they are asked for."""
MEASURES = {Statistic.AUC: "AUC", Statistic.TPR: "Members found", Statistic.ACCURACY: "Accuracy"}


def comparison(document: ComparisonDocument) -> b.Report:
    """Bring a comparison into blocks."""
    rows = ordered(document)
    recipes = sum(row.role is Role.RECIPE for row in rows)
    name = b.Name(document.data.name)
    return b.Report(
        title=f"Comparison of {recipes} recipes on {name.text}",
        brand="comparison of recipes",
        blocks=(
            _banner(document, name),
            b.Heading("Accuracy against leak", "recipes", "Recipes", level=2, only=b.DOCUMENTS),
            *b.only(b.PAGE, *_figures(document, rows)),
            *_rows(document, rows),
            *b.only(b.TERMINAL, *map(b.Notice, (*unjudged(document), *_noticed(rows)))),
            *b.only(b.DOCUMENTS, *_changes(rows)),
            *_pairs(document),
            *b.only(b.PAGE, *_details(document, rows)),
            *b.only(b.DOCUMENTS, *method.limits("comparison", document.cannot_say)),
            *method.glossary(GLOSSARY),
        ),
        files=b.coded("The same numbers are in `compare.json`, one line a recipe in `compare.csv`."),
        version=document.environment.reticent,
    )


def _noticed(rows: Sequence[Row]) -> list[str]:
    """Say what there is to notice, once for all rows of which it is said."""
    told: dict[str, list[str]] = {}
    for row in rows:
        for said in row.notices:
            told.setdefault(said, []).append(row.name)
    return [f"{listed(names)}{', each' * (len(names) > 1)}: {said}" for said, names in told.items()]


def ordered(document: ComparisonDocument) -> list[Row]:
    """List the rows in the document's order, each control or other attacker after the first row that it matches."""
    beside = sorted(
        (row for row in document.rows if row.role is not Role.RECIPE), key=lambda row: row.role is Role.CONTROL
    )
    found: list[Row] = []
    for row in document.rows:
        if row.role is Role.RECIPE:
            found += [row, *(one for one in beside if row.name in one.matches and one not in found)]
    return [*found, *(one for one in beside if one not in found)]


def _banner(document: ComparisonDocument, name: b.Name) -> b.Banner:
    size = method.scale(document.data)
    said: tuple[b.Block, ...] = tuple(b.Prose(line) for line in document.detail)
    if len(said) > FOLDED:
        said = (b.Folded(f"The differences in words ({count(len(said))})", (b.Bullets(document.detail),)),)
    tested = "All differences are tested in pairs, corrected for their number. "
    return b.Banner(
        about=("Comparison on ", b.Strong(name), f": {size}"),
        sentence=document.sentence,
        blocks=b.only(b.PAGE, *said, b.Prose((tested, b.Link("What this comparison cannot say.", "limits")))),
    )


def _figures(document: ComparisonDocument, rows: Sequence[Row]) -> tuple[b.Block, ...]:
    sure = level(document.confidence)
    known = [row for row in rows if row.right is not None]
    unknown = [row.name for row in rows if row.right is None]
    legend = (
        "A good recipe lies to the right (accurate) and low (close to chance). A point is a recipe, the thin bars are "
        f"its {sure} intervals. A hollow point is a control: the baseline, stopped early to be about as accurate as "
        "the recipe that a thin line joins it to; one that missed that by 5 points or more has no line. A defense is "
        "worth its cost if it lies below its control. The dashed line joins the recipes and controls that no other one "
        "beats."
    )
    if _unaware(rows):
        legend += (
            " A diamond is the same models as the recipe that it is joined to, attacked by one who does not know the "
            "defense; what lies between the two is no protection."
        )
    panels = [Statistic.AUC] + [Statistic.TPR] * any(row.tpr is not None for row in known)
    numbered = "Where there is no room for names, points have the numbers of the table's lines."
    figures = tuple(b.Figure(partial(pictures.panel, document, rows, one)) for one in panels)
    blocks: list[b.Block] = []
    if known:
        blocks = [b.Prose(legend), b.Figures(figures), b.Prose(numbered, "note")]
    if unknown:
        names = ", ".join(short(one) for one in unknown)
        blocks.append(b.Prose(f"Not drawn, as the accuracy is not known: {names}.", "note"))
    return tuple(blocks)


def _unaware(rows: Sequence[Row]) -> bool:
    return any(row.role is Role.NON_ADAPTIVE for row in rows)


def _rows(document: ComparisonDocument, rows: Sequence[Row]) -> tuple[b.Block, ...]:
    """Put the rows into a table, and say how to read it."""
    knowing = " of attackers who know the defense" * _unaware(rows)
    unbeaten = (
        f"Not beaten: no other line{knowing} is at least as accurate on non-members, leaks at most as much (by the "
        "members found; by the AUC where these are not measurable), and is better in one of the two, by the estimates "
        "alone. Several lines can be: they are different trade-offs, not one winner."
    )
    texts = [
        f"Below each number, or in brackets: its {level(document.confidence)} interval. Chance: AUC 0.5, and TPR equal "
        "to FPR."
    ]
    if any(row.role is Role.CONTROL for row in rows):
        texts.append(
            "Control: the baseline, stopped early to be about as accurate as a recipe. The recipe is worth its cost "
            "only if it leaks less than its control."
        )
    notes = [f"{count(rows[0].models)} audited models of every line."] if rows and _alike(rows) else []
    notes += [
        unbeaten,
        "AUC and members found are those of the strongest attack by that measure, which may differ between the two and "
        "between recipes; every attack is listed below.",
    ]
    if any(document.costs(row).peak_memory_bytes_per_model is not None for row in rows):
        notes.append(
            "Seconds and memory are of training one model, the mean over models, on the machine that trained them; "
            "memory is what training took beyond what its process held before."
        )
    return (
        b.Heading("Recipe by recipe", "rows", only=b.PAGE),
        *_tables_of_rows(document, rows),
        *b.only(b.TEXTS, *(b.Prose(line, "note") for line in (*texts, unbeaten))),
        b.Bullets(tuple(notes), "note", only=b.PAGE),
    )


def _alike(rows: Sequence[Row]) -> bool:
    """Whether every line has as many models."""
    return len({row.models for row in rows}) == 1


def _tables_of_rows(document: ComparisonDocument, rows: Sequence[Row]) -> tuple[b.Table, ...]:
    """Show all rows, but on a terminal no controls where rows are many."""
    whole = _table_of_rows(document, rows)
    if len(rows) <= ROWS:
        return (whole,)
    without = _table_of_rows(document, [row for row in rows if row.role is not Role.CONTROL])
    return *b.only(b.DOCUMENTS, whole), *b.only(b.TERMINAL, without)


def _table_of_rows(document: ComparisonDocument, rows: Sequence[Row]) -> b.Table:
    fpr, costs = document.fpr, [document.costs(row) for row in rows]
    columns = {
        b.Column("Recipe", numbers=False): [
            b.Cell((b.Dot(pictures.kind(document, row), str(at)), b.Name(row.name)), at, _remarked(document, row))
            for at, row in enumerate(rows, 1)
        ],
        b.Column("Accuracy, non-members"): [estimate(row.accuracy.non_members, True) for row in rows],
        b.Column("Accuracy, members", only=b.PAGE): [estimate(row.accuracy.members, True) for row in rows],
        b.Column("AUC"): [estimate(row.auc) for row in rows],
        b.Column(_found(fpr)): [estimate(row.tpr, True, decimals(fpr)) for row in rows],
        b.Column("Epsilon, at least"): [_epsilon(row) for row in rows],
        b.Column("Not beaten", numbers=False): [b.Cell("✓ yes" if row.pareto else "no") for row in rows],
        b.Column("Audited models", only=b.PAGE): [
            NOTHING if _alike(rows) else b.Cell(count(row.models), row.models) for row in rows
        ],
        b.Column("Cost a model", only=b.PAGE): [
            _cost(one.seconds_per_model, one.peak_memory_bytes_per_model) for one in costs
        ],
    }
    shown = {column: cells for column, cells in columns.items() if any(cell != NOTHING for cell in cells)}
    title = f"Accuracy and leak of each recipe; below each number its {level(document.confidence)} interval"
    lines = zip(*shown.values(), strict=True)
    return b.table(title, shown, lines, key="rows-table", sortable=True, find="name")


def _remarked(document: ComparisonDocument, row: Row) -> tuple[b.Text, ...]:
    said = remark(document, row)
    return (said,) if said else ()


def _epsilon(row: Row) -> b.Cell:
    if row.epsilon is None and row.accountant is None:
        return NOTHING
    word = "" if row.accountant is None else "stated" if row.accountant.stated else "proven"
    below = () if row.accountant is None else (f"{word}: at most {up(row.accountant.epsilon, digits=2)}",)
    return b.Cell(MISSING if row.epsilon is None else shown(row.epsilon), row.epsilon, below)


def _cost(seconds: float | None, memory: float | None) -> b.Cell:
    if seconds is None:
        return NOTHING
    return b.Cell(
        duration(seconds) if seconds >= 0.05 else "<0.1 s",
        seconds,
        () if memory is None else (f"{number(memory / 2**20, 0)} MiB" if memory >= 2**19 else "<1 MiB",),
    )


def _found(fpr: float | None) -> str:
    return f"Members found at {level(fpr)}" if fpr else "Members found"


def _changes(rows: Sequence[Row]) -> tuple[b.Block, ...]:
    """List in what recipes differ from the baseline."""
    lines: list[b.Line] = [
        (
            b.Name(row.name),
            short(change.key.replace(".", ", ").replace("_", " "), 80),
            *map(_setting, (change.baseline, change.value)),
        )
        for row in rows
        if row.role is Role.RECIPE
        for change in row.changes
    ]
    if not lines:
        return ()
    heads = b.words("Recipe", "Setting", "Baseline", "Here")
    return (
        b.Heading("What is different from the baseline", "changes"),
        b.table("Settings in which a recipe differs from the baseline", heads, lines),
    )


def _setting(item: object) -> str:
    return "not set" if item is None else short(method.value(item), 120)


def _pairs(document: ComparisonDocument) -> tuple[b.Block, ...]:
    """List the tests: all on a page, those that differ first in Markdown, those alone on a terminal."""
    if not document.pairs:
        return ()
    differ = sorted((one for one in document.pairs if one.verdict is not Lower.TIE), key=lambda one: one.p_corrected)
    ties = [one for one in document.pairs if one.verdict is Lower.TIE]
    most, few = IN_TEXT[b.MARKDOWN], IN_TEXT[b.TERMINAL]
    heading = b.Heading("Two by two", "pairs", "Pairs", level=2, only=b.DOCUMENTS)
    said = (
        "The same records and the same draws of members stand behind both recipes of a pair, so that what they have in "
        "common cancels out. The difference is the first minus the second. A tie says that this audit shows no "
        "difference, not that there is none: its interval says how large one may be."
    )
    short_ = _table(document, [*differ, *ties][:most])
    left = f"{count(len(document.pairs) - most)} more pairs are left out here."
    lines = tuple(_line(document, one) for one in differ[:few])
    hidden = len(differ) - few
    more = f"; {count(hidden)} more differ (compare.html lists them)" if hidden > 0 else ""
    tied = f"{count(len(ties))} of {count(len(document.pairs))} tests are ties: no difference shown{more}."
    return (
        heading,
        b.Prose(said, only=b.PAGE),
        *b.only(b.PAGE, _table(document, document.pairs)),
        b.Bullets(
            (
                "Accuracy and members found are shares; their differences are in percentage points.",
                "“Found only by one”: members that the attack finds under the first recipe and not under the second, "
                "and the reverse, summed over models. McNemar's p is of each model by itself (of several, twice the "
                "median p); it takes the thresholds as given, and decides nothing.",
            ),
            "note",
            only=b.PAGE,
        ),
        *b.only(b.MARKDOWN, short_, *((b.Prose(left),) if len(document.pairs) > most else ())),
        *b.only(b.TERMINAL, *(b.Prose(line) for line in lines), b.Prose(tied, "note")),
    )


def _table(document: ComparisonDocument, tests: Sequence[PairTest]) -> b.Table:
    heads: b.Heads = (
        *b.words("First", "Second", "Measure", "Verdict"),
        "Difference",
        "p, corrected",
        b.Column("Found only by one", only=b.PAGE),
    )
    title = f"Every two recipes against each other, with {level(document.confidence)} intervals"
    lines = (_pair(document, test) for test in tests)
    return b.table(title, heads, lines, key="pairs-table", sortable=True, find="name or verdict", choices=(2, 0, 1))


def _pair(document: ComparisonDocument, test: PairTest) -> b.Line:
    lower, least = test.first if test.verdict is Lower.FIRST else test.second, 1 - document.confidence
    told: b.Text | b.Cell = b.Cell(f"{short(lower, 40)} is lower", tone="strong")
    if test.verdict is Lower.TIE:
        told = "tie: no difference shown"
    written, ends = difference(test)
    once = NOTHING
    if test.mcnemar is not None:
        both = f"{count(test.mcnemar.only_first)} and {count(test.mcnemar.only_second)}"
        once = b.Cell(both, test.mcnemar.p, (f"McNemar p {p_value(test.mcnemar.p, least)}",))
    p = b.Cell(p_value(test.p_corrected, least), test.p_corrected, (f"alone: {p_value(test.p, least)}",))
    names = b.Name(test.first), b.Name(test.second), measure(test.statistic, document.fpr)
    return *names, told, b.Cell(written, test.difference, (ends,)), p, once


def _line(document: ComparisonDocument, test: PairTest) -> str:
    """Tell of a difference in one line."""
    test = test.turned() if test.verdict is Lower.FIRST else test
    written, ends = difference(test)
    return (
        f"{measure(test.statistic, document.fpr)}: {short(test.second, 40)} is below {short(test.first, 40)} by "
        f"{written.lstrip('+')} ({ends}; corrected p {p_value(test.p_corrected, 1 - document.confidence)})"
    )


def difference(test: PairTest) -> tuple[str, str]:
    """Write a difference and its interval, in the statistic's unit."""
    if test.exact:
        return "0", "exactly equal"
    if test.statistic is Statistic.AUC:
        return signed(test.difference), interval(test.interval, signed)
    return f"{signed(100 * test.difference, 2)} points", interval(test.interval, lambda end: signed(100 * end, 2))


def measure(statistic: Statistic, fpr: float | None) -> str:
    """Name a statistic."""
    at = f" at {level(fpr)}" if statistic is Statistic.TPR and fpr else ""
    return f"{MEASURES[statistic]}{at}"


def _details(document: ComparisonDocument, rows: Sequence[Row]) -> tuple[b.Block, ...]:
    names = list(dict.fromkeys(attack.name for row in rows for attack in row.attacks))
    lines: list[b.Line] = [(b.Name(row.name), *(_attack(row, name, document.fpr) for name in names)) for row in rows]
    with_tpr = any(row.tpr is not None for row in rows)
    found = ", and the most members found," if with_tpr else ""
    return (
        b.Heading("Details and method", "details", "Details", level=2),
        b.Heading("Every attack on every recipe", "attacks"),
        b.Prose(
            f"Bold: the largest AUC{found} under each recipe; by that it is judged. A defense that stops only some "
            "attacks is no defense."
        ),
        b.table(f"AUC of each attack{', and members found' * with_tpr}, by recipe", ("Recipe", *names), lines),
        b.Heading("How it was done"),
        b.Prose(
            f"{_made_alike(document)}, and attacked by the same attacks. Intervals come from redrawing models and "
            "records; the same redraw serves both recipes of a pair. Tests are corrected for their number."
        ),
        method.facts(*method.about_data(document.data), *method.about_run(document.environment, "rows")),
        *method.columns(document.data),
    )


def _made_alike(document: ComparisonDocument) -> str:
    """Say what the models of all rows have in common; of outputs that were brought only their membership is known."""
    if document.data.kind == "outputs":
        return "The models of all rows were trained on the same records, row by row of the same membership"
    return "All recipes were trained on the same halves of the records, with the same random streams"


def _attack(row: Row, name: str, fpr: float | None) -> b.Cell:
    """Write what one attack finds under a row."""
    found = next((attack for attack in row.attacks if attack.name == name), None)
    if found is None:
        return b.Cell(MISSING, tone="quiet")
    auc, below = estimate(found.auc), list[b.Text]()
    if found.tpr is not None:
        tpr = estimate(found.tpr, True, decimals(fpr)).text
        below.append(("found: ", b.Strong(tpr) if name == row.attack else tpr))
    return b.Cell(b.Strong(auc.text) if name == row.auc_attack else auc.text, auc.key, (*auc.below, *below))
