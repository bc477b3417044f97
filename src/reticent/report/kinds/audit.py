"""An audit: the verdict, the evidence, groups and single records, the method, what cannot be said."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from reticent.findings.attack import Audit
from reticent.findings.audit import AuditDocument, Leak, Verdict
from reticent.findings.records import RecordRow, UnitRow
from reticent.report import blocks as b
from reticent.report.estimates import TIES
from reticent.report.kinds import (
    attacks,
    blind,
    epsilon,
    groups,
    importance,
    loss_tail,
    method,
    models,
    record_table,
    trust,
)
from reticent.rounding import around, count, decimals, fraction, joined, level, percent
from reticent.say import exposed_group, next_steps, record_tests
from reticent.say import records as say_records
from reticent.say import verdict as say
from reticent.say.glossary import GLOSSARY
from reticent.say.grammar import plural, short
from reticent.say.population import noun, repeated, several_records
from reticent.say.trust import detectable

TONES: dict[Leak, b.Tone] = {Leak.FOUND: "bad", Leak.NOT_FOUND: "good", Leak.CANNOT_TELL: "unsure"}
NAMED = 3
"""Most models that did not learn, which the terminal names."""
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
    document: AuditDocument,
    rows: Sequence[RecordRow] = (),
    thumbnails: Mapping[int, NDArray[Any]] | None = None,
    units: Sequence[UnitRow] = (),
) -> b.Report:
    """Bring an audit into blocks: `rows` of records and `units`, the most exposed first, and `thumbnails` by record."""
    name, word = b.Name(document.data.name), say.word(document.verdict)
    audits = ordered(document)
    return b.Report(
        title=f"{word}: membership-privacy audit of {name.text}",
        brand="membership-privacy audit",
        section="Membership privacy",
        blocks=(
            _banner(document, name, word, listed=bool(rows)),
            *b.only(b.DOCUMENTS, *_next(document)),
            b.Heading("Evidence", "evidence", "Evidence", level=2, only=b.DOCUMENTS),
            *attacks.table(document, audits),
            *importance.blocks(audits),
            *b.only(b.PAGE, *attacks.figures(document, audits)),
            *loss_tail.blocks(document.loss_tail),
            *blind.blocks(document.blind, {"": audits}, document.verdict.fpr),
            *_epsilon(document, audits),
            *trust.non_adaptive(document, audits),
            *trust.control(document, audits),
            *b.only(b.PAGE, *models.blocks(document, audits[0])),
            *groups.blocks(document.groups, document.data.class_names, document.verdict.group),
            *_records(document, rows, thumbnails or {}, units),
            *_method(document, audits),
            *b.only(b.DOCUMENTS, *method.limits("audit", document.verdict.cannot_say)),
            *b.only(b.TERMINAL, *map(b.Notice, _noticed(document))),
            *b.only(b.TERMINAL, *map(b.Notice, models.unlearned(document, NAMED))),
            *([] if (heavy := document.outweighing) is None else [b.Notice(heavy.sentence, only=b.TERMINAL)]),
            *method.glossary(GLOSSARY.items()),
            *b.only(b.TERMINAL, *_next(document)),
        ),
        files=b.coded(
            "The same numbers are in `audit.json`, one line a record in `records.csv`"
            + (f", one line a {short(document.data.unit)} in `units.csv`." if document.data.unit else ".")
        ),
        version=document.environment.reticent,
    )


def _noticed(document: AuditDocument) -> list[str]:
    """Say on a terminal what must not wait until the page is read."""
    data, tests = document.data, document.records
    named = [] if tests is None or not (data.roles or {}).get("population") else [record_tests.named(tests.named)]
    return [*document.population.notices, *repeated(data.duplicates or 0), *several_records(data.persons), *named]


def tone(said: Verdict) -> b.Tone:
    """Choose the colour of a verdict."""
    return "bad" if said.wrong_sign and said.leak is not Leak.FOUND else TONES[said.leak]


def ordered(document: AuditDocument) -> list[Audit]:
    """Put the attacks in the order of the report: the verdict's first, then by falling AUC."""
    return sorted(document.attacks, key=lambda one: (one.name != document.verdict.attack, -one.auc.mean))


def _banner(document: AuditDocument, name: b.Name, word: str, *, listed: bool) -> b.Banner:
    said, population, what = document.verdict, document.population, noun(document.data.unit)
    could = None if document.control is None else document.control.detectable
    power = "" if could is None or said.leak is Leak.FOUND else f"{detectable(could)} "
    meaning = f"{say.meaning(document, what)} {power}"
    sick = population.unlearned
    warning: b.Text = (
        b.Strong(f"{sick} of {plural(population.models, 'model')} did not learn."),
        " ",
        b.Link("Which.", "health"),
    )
    person: tuple[b.Text, ...] = (" ", b.Link("What it says of one person.", "one-person")) if listed else ()
    shown = () if said.group is None else (b.Card(*exposed_group.card(said.group, document.data.class_names, what)),)
    cards = (
        *_odds(said, what),
        *_cards(said),
        *shown,
        *((epsilon.card(document.epsilon),) if document.epsilon else ()),
    )
    return b.Banner(
        about=("Audit of ", b.Strong(name), f": {method.scale(document.data, population.models)}"),
        sentence=said.sentence,
        tone=tone(said),
        word=word,
        blocks=(
            b.Prose(said.detail),
            *(b.Prose(told, only=b.TEXTS) for told in say.counted(said, what)),
            b.Prose((meaning, b.Link("What this audit cannot say.", "limits"), *person), only=b.PAGE),
            b.Cards(cards, only=b.PAGE),
            *([b.Notice(warning, "bad", only=b.PAGE)] if sick else []),
        ),
        menu="Verdict",
    )


def _next(document: AuditDocument) -> tuple[b.Block, ...]:
    """Say what to do now, with which command."""
    steps = next_steps.after(document)
    if not steps:
        return ()
    told = tuple((f"{what}: ", b.Code(command)) if command else f"{what}." for what, command in steps)
    return b.Heading("What to do next", "next", "Next", level=2), b.Bullets(told)


def _odds(said: Verdict, what: str) -> list[b.Bars]:
    """Turn the verdict's rates into counts of records, which people judge better than rates."""
    odds, ends = say.odds(said), said.tpr_interval
    if odds is None:
        return []
    base, found, wrong = odds
    full = max(found / base, wrong / base, ends[1] if ends else 0.0) * 1.04 * base
    bars = (
        b.Bar(
            (b.Strong(count(found)), f" training {what}s are found"),
            found / full,
            interval=(base * ends[0] / full, base * ends[1] / full) if ends else None,
        ),
        b.Bar((b.Strong(count(wrong)), " others are taken for them"), wrong / full, style="others"),
    )
    return [b.Bars(f"Of {count(base)} training {what}s, and of {count(base)} others", bars)]


def _cards(said: Verdict) -> list[b.Card]:
    """Choose the numbers that stand beside the sentence."""
    cards = []
    if said.fpr:
        write = partial(percent, digits=decimals(said.fpr))
        ends = "" if said.tpr_interval is None else f"interval {joined(say.share_ends(said))}; "
        shown: b.Text = (write(said.tpr), b.Footnote(TIES)) if said.tied else write(said.tpr)
        beyond = None if said.excess is None else said.excess.at(said.fpr)
        note = f"{ends}chance {say.guessing(said)}"
        if beyond is not None:
            note = f"{ends}without the model {write(beyond.blind_tpr)}"
        elif said.unequal is not None:
            note = f"{ends}up to {write(said.unequal.tpr)} with permuted membership"
        if said.tpr is None:
            shown, note = "not measurable", "There are too few non-members."
        cards.append(b.Card(f"Found at {level(said.fpr)} FPR", shown, note))
    ends = "" if said.auc_interval is None else f"interval {around(said.auc_interval)}; "
    beside = "chance 0.5" if said.excess is None else f"without the model {fraction(said.excess.blind_auc)}"
    if said.unequal is not None:
        beside = f"up to {fraction(said.unequal.auc)} with permuted membership"
    cards.append(b.Card("AUC", fraction(said.auc), f"{ends}{beside}"))
    return [*cards, b.Card("Attack", short(said.attack, 30), say.chosen(said))]


def _epsilon(document: AuditDocument, audits: Sequence[Audit]) -> tuple[b.Block, ...]:
    return () if document.epsilon is None else epsilon.blocks(document.epsilon, audits, document.data.unit)


def _records(
    document: AuditDocument,
    rows: Sequence[RecordRow],
    thumbnails: Mapping[int, NDArray[Any]],
    units: Sequence[UnitRow],
) -> list[b.Block]:
    said: list[b.Block] = [b.Prose(document.exposure.sentence, "lead")] if document.exposure is not None else []
    tested = document.records.sentences if document.records is not None else ()
    said += [b.Prose(sentence, only=b.DOCUMENTS) for sentence in tested]
    heading = b.Heading("The records", "records", "Records", level=2, only=b.DOCUMENTS)
    confidence = document.verdict.confidence
    if not rows:
        return [heading, *said] if said else []
    return [
        heading,
        b.Prose(say_records.by_unit(document.data) + say_records.order(document.exposure), only=b.PAGE),
        *said,
        *b.only(b.PAGE, *record_table.of_units(units, document.data.unit or "", confidence)),
        *b.only(b.PAGE, *record_table.listing(rows, thumbnails, confidence)),
        b.Heading("What this says of one person", "one-person", only=b.PAGE),
        b.Bullets(tuple(say_records.one_person(document.exposure, document.data)), only=b.PAGE),
        b.Prose(b.coded("Answers in full, with an example: `docs/one_person.md` of reticent."), "note", only=b.PAGE),
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
    accuracy = population.audited_accuracy
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
