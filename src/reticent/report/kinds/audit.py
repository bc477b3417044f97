"""An audit: the verdict, the evidence, groups and single records, the method, what cannot be said."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from reticent.findings.attack import Audit, Measured
from reticent.findings.audit import AuditDocument, Leak, Verdict
from reticent.findings.numbers import OverallRate
from reticent.findings.records import RecordRow
from reticent.report import blocks as b
from reticent.report.cells import NOTHING, estimate, rate, unmeasurable
from reticent.report.kinds import epsilon, groups, importance, method, record_table
from reticent.report.pictures import audit as pictures
from reticent.report.pictures import dots
from reticent.report.svg import SERIES
from reticent.report.wording import TIES
from reticent.rounding import count, decimals, fraction, interval, level, percent
from reticent.say import verdict as say
from reticent.say.glossary import GLOSSARY
from reticent.say.grammar import alarms, plural, short
from reticent.say.trust import detectable

HISTOGRAMS = 9
"""Most attacks whose score histograms the page shows, the verdict's first."""
TONES: dict[Leak, b.Tone] = {Leak.FOUND: "bad", Leak.NOT_FOUND: "good", Leak.CANNOT_TELL: "unsure"}
SPREAD = (
    "Each tick is one audited model, the diamond the mean over models, the bar its interval. A wide row means that the "
    "leak differs from one training run to the next."
)
ACCURACY = (
    "Each tick is one model, the diamond their mean. The gap between the two rows is what a model knows better because "
    "it was trained on the record."
)
TRAINED = (
    "Many models are trained by one recipe, each on its own part of the records, so that a record is a member of some "
    "models and a non-member of the others."
)
GIVEN = (
    "The models were trained elsewhere; this audit knows only their answers. A record is a member of some models and a "
    "non-member of the others."
)
SCORED = (
    " An attack sees what a model says of a record and gives a score: higher means “was a member”. The audit compares "
    "the scores with the truth."
)


def audit(
    document: AuditDocument, rows: Sequence[RecordRow] = (), thumbnails: Mapping[int, NDArray[Any]] | None = None
) -> b.Document:
    """Bring an audit into blocks: `rows` of all records, the most exposed first, and `thumbnails` by record."""
    name, word = b.Name(document.data.name), say.WORDS[document.verdict.leak]
    audits = ordered(document)
    return b.Document(
        title=f"{word}: membership-privacy audit of {name.text}",
        brand="membership-privacy audit",
        section="Membership privacy",
        blocks=(
            _banner(document, name, word),
            b.Heading("Evidence", "evidence", "Evidence", level=2, only=b.DOCUMENTS),
            *_attacks(document, audits),
            *importance.blocks(audits),
            *b.only(b.PAGE, *_figures(document, audits)),
            *_epsilon(document, audits),
            *_non_adaptive(document, audits),
            *_control(document, audits),
            *b.only(b.PAGE, *_models(document, audits[0])),
            *groups.blocks(document.groups, document.data.class_names),
            *_records(document, rows, thumbnails or {}),
            *_method(document, audits),
            *b.only(b.DOCUMENTS, *method.limits("audit", document.verdict.cannot_say)),
            *b.only(b.TERMINAL, *(b.Notice(notice) for notice in document.population.notices)),
            *b.only(b.TERMINAL, *map(b.Notice, _unlearned(document))),
            *method.glossary(GLOSSARY.items()),
        ),
        files=("The same numbers are in ", b.Code("audit.json"), ", one line a record in ", b.Code("records.csv"), "."),
        version=document.environment.reticent or "",
    )


def ordered(document: AuditDocument) -> list[Audit]:
    """Put the attacks in the order of the report: the verdict's first, then by falling AUC."""
    return sorted(document.attacks, key=lambda one: (one.name != document.verdict.attack, -one.auc.mean))


def _banner(document: AuditDocument, name: b.Name, word: str) -> b.Banner:
    said, population = document.verdict, document.population
    could = None if document.control is None else document.control.detectable
    power = "" if could is None or said.leak is Leak.FOUND else f"{detectable(could)} "
    meaning = f"{say.meaning(said, population)} {power}"
    sick = population.unlearned
    warning: b.Text = (
        b.Strong(f"{sick} of {plural(population.models, 'model')} did not learn."),
        " ",
        b.Link("Which.", "health"),
    )
    cards = (*_odds(said), *_cards(said), *((epsilon.card(document.epsilon),) if document.epsilon else ()))
    return b.Banner(
        about=("Audit of ", b.Strong(name), f": {method.scale(document.data, population.models)}"),
        sentence=said.sentence,
        tone=TONES[said.leak],
        word=word,
        blocks=(
            b.Prose(said.detail),
            b.Prose((meaning, b.Link("What this audit cannot say.", "limits")), only=b.PAGE),
            b.Cards(cards, only=b.PAGE),
            *([b.Notice(warning, "bad", only=b.PAGE)] if sick else []),
        ),
        menu="Verdict",
    )


def _odds(said: Verdict) -> list[b.Bars]:
    """Turn the verdict's rates into counts of records, which people judge better than rates."""
    if said.tpr is None or not said.fpr:
        return []
    base, ends = max(1000, round(10 / said.fpr)), said.tpr_interval
    full = max(said.tpr, said.fpr, ends[1] if ends else 0.0) * 1.04
    found: b.Text = (b.Strong(count(round(base * said.tpr))), " training records are found")
    wrong: b.Text = (b.Strong(count(round(base * said.fpr))), " others are taken for them")
    bars = (
        b.Bar(found, said.tpr / full, interval=(ends[0] / full, ends[1] / full) if ends else None),
        b.Bar(wrong, said.fpr / full, style="others"),
    )
    return [b.Bars(f"Of {count(base)} training records, and of {count(base)} others", bars)]


def _cards(said: Verdict) -> list[b.Card]:
    """Choose the numbers that stand beside the sentence."""
    cards = []
    if said.fpr:
        write = partial(percent, digits=decimals(said.fpr))
        ends = "" if said.tpr_interval is None else f"interval {interval(said.tpr_interval, write)}; "
        shown: b.Text = (write(said.tpr), b.Footnote(TIES)) if said.tied else write(said.tpr)
        note = f"{ends}chance {level(said.fpr)}"
        if said.tpr is None:
            shown, note = "not measurable", "There are too few non-members."
        cards.append(b.Card(f"Found at {level(said.fpr)} FPR", shown, note))
    ends = "" if said.auc_interval is None else f"interval {interval(said.auc_interval)}; "
    cards.append(b.Card("AUC", fraction(said.auc), f"{ends}chance 0.5"))
    return [*cards, b.Card("Attack", short(said.attack, 30), say.chosen(said))]


def _attacks(document: AuditDocument, audits: Sequence[Audit]) -> list[b.Block]:
    """Show what every attack finds."""
    sure, rates = level(audits[0].confidence), _rates(audits)
    measured = [fpr for fpr, known in rates.items() if known is None]
    intro = (
        f"Each line is one attack; below each number is its {sure} interval. Guessing finds the same share of members "
        "as of non-members."
    )
    if len(audits) > 1:
        intro += (
            " The verdict is about the first line, which was chosen after looking: so its intervals are wider there."
        )
    heads = (
        b.Column("Attack", whole=True),
        b.Column("AUC", "chance 0.5"),
        *(b.Column(f"Found at {level(fpr)} FPR", alarms(fpr)) for fpr in measured),
        b.Column("Balanced accuracy", "threshold from other models", only=b.DOCUMENTS),
        b.Column("Balanced accuracy", "best threshold: an upper bound", only=b.DOCUMENTS),
        b.Column("Balanced accuracy", only=b.TERMINAL),
        b.Column("Oracle", only=b.TERMINAL),
    )
    rows = tuple(_attack(one, measured, i == 0) for i, one in enumerate(audits))
    legend = (
        f"Below each number, or in brackets: its {sure} interval. Found: the share of members that are found. FPR "
        "(false positive rate): the share of records that were not used for training but are taken for members. By "
        "chance: AUC 0.5, as many found as the FPR, balanced accuracy 0.5. Balanced accuracy is at a threshold from "
        "other models; the oracle's is at the best threshold, an upper bound."
    )
    missing = tuple(f"Found at {level(fpr)} FPR: {unmeasurable(known)}." for fpr, known in rates.items() if known)
    return [
        b.Heading("Every attack that was tried", "attacks", only=b.PAGE),
        b.Prose(intro, only=b.PAGE),
        b.Table("What each attack finds", heads, rows),
        *([b.Bullets(missing)] if missing else []),
        *b.only(b.TERMINAL, *(b.Notice(one.sentence) for one in document.left_out)),
        b.Prose(legend, "note", only=b.TEXTS),
    ]


def _rates(audits: Sequence[Audit]) -> dict[float, OverallRate | None]:
    """List the false positive rates, the largest first, with what is known of one at which no attack has a number."""
    every = sorted((rate for audit in audits for rate in audit.rates), key=lambda rate: (-rate.fpr, rate.tpr is None))
    found: dict[float, OverallRate | None] = {}
    for one in every:
        found.setdefault(one.fpr, one if one.tpr is None else None)
    return found


def _attack(one: Audit, rates: Sequence[float], first: bool) -> b.Row:
    balanced = one.overall.balanced_accuracy
    both = [] if balanced is None else [estimate(balanced.transferred), estimate(balanced.oracle)]
    both = both or [NOTHING, NOTHING]
    alone = [b.Cell(cell.text, cell.key, tone=cell.tone) for cell in both]
    name = b.Cell(b.Name(one.name, 40), below=(f"sees {one.access}",) if one.access else ())
    return b.Row((name, estimate(one.auc), *(rate(one.rate(fpr)) for fpr in rates), *both, *alone), strong=first)


def _figures(document: AuditDocument, audits: Sequence[Audit]) -> list[b.Block]:
    """Draw the curves, the spread over models, and the scores."""
    curved = [one for one in audits if one.roc is not None]
    drawn = [b.Figure(partial(pictures.spread, audits), SPREAD)]
    if curved:
        drawn.insert(0, b.Figure(partial(pictures.roc, curved, document.verdict.fpr), _roc_caption(curved)))
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


def _roc_caption(audits: Sequence[Audit]) -> str:
    sure, roc = level(audits[0].confidence), audits[0].roc
    meaning = f"where {sure} of the models lie" if roc is not None and roc.band == "targets" else f"the {sure} interval"
    bands = "Bands are" if len(audits) <= pictures.BANDS else "The band, for the attack of the verdict, is"
    return (
        "How many members each attack finds (up) at each false positive rate (right), both on logarithmic axes. The "
        f"left end is what matters for privacy. {bands} {meaning}."
    )


def histogram_caption(one: Audit) -> str:
    """Describe one attack's histogram."""
    spiked = one.histogram is not None and pictures.spiked(one.histogram)
    scale = "; logarithmic axis, since one bar stands far above the others" if spiked else ""
    return f"{short(one.name)}: AUC {fraction(one.auc.mean)}{scale}"


def _epsilon(document: AuditDocument, audits: Sequence[Audit]) -> tuple[b.Block, ...]:
    return () if document.epsilon is None else epsilon.blocks(document.epsilon, audits)


def _beside(
    audits: Sequence[Audit], others: Sequence[Measured], fpr: float | None, heads: tuple[str, str], title: str
) -> b.Table:
    """Put two attackers, or two audits, side by side, attack by attack."""
    known = {one.name: one for one in others}
    pairs = [(one.measured, known[one.name]) for one in audits if one.name in known]
    rates = [fpr] if fpr is not None and any(_rate(two, fpr) is not None for _, two in pairs) else []
    columns = [b.Column("Attack", whole=True), *(b.Column(f"AUC, {head}") for head in heads)]
    columns += [b.Column(f"Found at {level(one)} FPR, {head}") for one in rates for head in heads]
    rows = tuple(
        b.Row((
            b.Cell(b.Name(pair[0].name, 40)),
            *(estimate(one.auc) for one in pair),
            *(rate(_rate(one, each)) for each in rates for one in pair),
        ))
        for pair in pairs
    )
    return b.Table(title, tuple(columns), rows, only=b.DOCUMENTS)


def _rate(one: Measured, fpr: float) -> OverallRate | None:
    return next((rate for rate in one.tpr_at_fpr if rate.fpr == fpr and rate.tpr is not None), None)


def _non_adaptive(document: AuditDocument, audits: Sequence[Audit]) -> list[b.Block]:
    """Show the attacker who does not know of the defense beside the one who does."""
    found = document.non_adaptive
    if found is None:
        return []
    return [
        b.Heading("An attacker who does not know of the defense", "non-adaptive", only=b.DOCUMENTS),
        b.Prose(found.sentence),
        b.Prose(
            "All other numbers of this page are of an attacker who knows the defense and trains models with it. A "
            "defense is worth what it hides from that attacker.",
            only=b.PAGE,
        ),
        _beside(
            audits,
            found.attacks,
            document.verdict.fpr,
            ("knows it", "does not"),
            "An attacker who knows the defense, and one who does not, attack by attack",
        ),
    ]


def _control(document: AuditDocument, audits: Sequence[Audit]) -> list[b.Block]:
    """Show the null control beside the audit."""
    found = document.control
    if found is None:
        return []
    known = {one.name: one for one in found.attacks}
    names = [one.name for one in audits if one.name in known]
    both = (
        dots.Series("audit", [one.auc for one in audits if one.name in known]),
        dots.Series("permuted", [known[name].auc for name in names], filled=False, colour=SERIES[1], marker="s"),
    )
    heading = "AUC of each attack, in the audit and with permuted membership"
    caption = "Filled: the audit; hollow: membership permuted. The hollow ones belong on the dashed line."
    figure = b.Figure(partial(dots.beside, names, both, heading, "null-control"), caption)
    outcome: b.Text = (b.Strong("Passed." if found.passed else "Not passed."), f" {found.sentence}")
    allows = f"allows for having looked at {plural(len(names), 'attack')}" if len(names) > 1 else "asks for more"
    return [
        b.Heading("Control: the same audit with permuted membership", "control", only=b.DOCUMENTS),
        b.Notice(outcome, "good" if found.passed else "bad", only=b.PAGE),
        b.Prose(outcome, only=b.MARKDOWN),
        b.Prose(found.sentence, only=b.TERMINAL),
        b.Prose(
            "Who counts as a member was drawn anew, so that there is nothing to find: every attack must be at chance. "
            "One that is not would be wrong in the audit, too.",
            only=b.PAGE,
        ),
        *b.only(b.PAGE, b.Figures((figure,))),
        _beside(
            audits,
            found.attacks,
            document.verdict.fpr,
            ("audit", "permuted"),
            "The audit and the control, attack by attack",
        ),
        b.Prose(
            f"Each interval here stands by itself, at {level(audits[0].confidence)}: of so many, a few exclude chance "
            f"by accident. The outcome above {allows}, by wider intervals than these.",
            only=b.DOCUMENTS,
        ),
    ]


def _models(document: AuditDocument, best: Audit) -> list[b.Block]:
    """Show the accuracy and the leak of each model, and those that did not learn."""
    population = document.population
    made: list[b.Block] = []
    if population.accuracy is not None:
        beside = tuple(
            b.Prose((f"{name}: ", b.Strong(percent(one.mean)), f" (standard deviation over models {percent(one.std)})"))
            for name, one in (
                ("Members", population.accuracy.members),
                ("Non-members", population.accuracy.non_members),
            )
        )
        made += [
            b.Heading("Accuracy with and without the record"),
            b.Figures((b.Figure(partial(pictures.accuracy, population), ACCURACY),), beside=beside),
        ]
    if population.health:
        made += [b.Heading("Models that did not learn", "health"), b.Bullets(_unlearned(document))]
    return [*made, b.Heading("Model by model", "models"), _by_model(document, best)]


def _unlearned(document: AuditDocument) -> tuple[str, ...]:
    return tuple(f"Model {one.model} {one.problem}." for one in document.population.health or ())


def _by_model(document: AuditDocument, best: Audit) -> b.Table:
    """Join each model's accuracy with the leak that the verdict's attack finds in it."""
    targets = {one.model: one for one in best.targets}
    known = {one.model: one for one in document.population.per_model}
    rows = []
    for model in dict.fromkeys((*known, *targets)):
        facts, target = known.get(model), targets.get(model)
        members = facts.members if facts else targets[model].members
        rows.append(
            b.Row((
                b.Cell(str(model)),
                b.Cell(count(members)),
                b.Cell(percent(facts and facts.accuracy_members)),
                b.Cell(percent(facts and facts.accuracy_non_members)),
                estimate(None if target is None else target.auc),
            ))
        )
    heads = ("Model", "Members", "Accuracy, members", "Accuracy, non-members", f"AUC of {short(best.name, 40)}")
    return b.Table("Accuracy and leak of each model", tuple(map(b.Column, heads)), tuple(rows), key="models-table")


def _records(
    document: AuditDocument, rows: Sequence[RecordRow], thumbnails: Mapping[int, NDArray[Any]]
) -> list[b.Block]:
    """Show single records."""
    said = [b.Prose(document.exposure.sentence, "lead")] if document.exposure is not None else []
    heading = b.Heading("The records", "records", "Records", level=2, only=b.DOCUMENTS)
    if not rows:
        return [heading, *said] if said else []
    return [
        heading,
        b.Prose(record_table.MEANING, only=b.PAGE),
        *said,
        *b.only(b.PAGE, *record_table.gallery(rows, thumbnails), *record_table.distribution(rows)),
        b.Heading("Record by record", "record-by-record", only=b.PAGE),
        b.Prose(record_table.extent(rows), only=b.PAGE),
        *b.only(b.PAGE, record_table.table(rows)),
    ]


def _method(document: AuditDocument, audits: Sequence[Audit]) -> list[b.Block]:
    """Say how it was done: in full on a page, in short in Markdown."""
    data, population, recipe = document.data, document.population, document.recipe
    facts = method.facts(
        *method.about_data(data),
        *method.about_models(recipe, population),
        *method.about_attacks(audits),
        *method.about_run(document.environment),
    )
    return [
        b.Heading("Method", "method", "Method", level=2, only=b.DOCUMENTS),
        b.Prose((TRAINED if recipe else GIVEN) + SCORED, only=b.PAGE),
        *b.only(b.PAGE, facts, *method.columns(data)),
        b.Facts((("", _in_short(document)),), only=b.MARKDOWN),
    ]


def _in_short(document: AuditDocument) -> b.Values:
    """Say what was audited, with what and when."""
    population, recipe, environment = document.population, document.recipe or {}, document.environment
    own = method.own_training(recipe)
    accuracy = population.accuracy
    facts: list[tuple[str, Any]] = [
        ("Data", document.data.name),
        ("Records", method.audited(document.data)),
        ("Models", count(population.models)),
        ("Trained", own and f"by {own}"),
        *(() if own else method.parts(recipe)),
        *((name, values) for name, values in method.repaired(population)),
        ("Accuracy on members", accuracy and percent(accuracy.members.mean)),
        ("Accuracy on non-members", accuracy and percent(accuracy.non_members.mean)),
        ("Audited with", environment.reticent and f"reticent {environment.reticent}"),
        ("Started", environment.started),
    ]
    return tuple((name, fact) for name, fact in facts if fact)
