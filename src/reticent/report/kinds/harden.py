"""A repair: the finding, both models side by side, every attack, what was done, and what it does not show."""

from functools import partial

from reticent.findings.attack import Audit
from reticent.findings.audit import Leak, Reason
from reticent.findings.comparison import Relation
from reticent.findings.harden import HardenDocument
from reticent.findings.numbers import Statistic
from reticent.report import blocks as b
from reticent.report.cells import NOTHING, estimate, rate
from reticent.report.estimates import Measure
from reticent.report.kinds import blind, method
from reticent.report.kinds.weights import ORIGINS
from reticent.report.pictures import audit as pictures
from reticent.report.pictures import dot_plot
from reticent.report.svg import SERIES
from reticent.rounding import count, decimals, duration, interval, level, percent, signed
from reticent.say import epsilon as say_epsilon
from reticent.say import harden as say
from reticent.say.glossary import terms
from reticent.say.grammar import plural

HIDDEN = ("accuracy_before", "accuracy_scored", "onset", "member_loss", "divergence")
"""Facts of a method that stand elsewhere on the page, or are too long for it."""
WORDS = (
    "Member",
    "Membership inference",
    "False positive rate (FPR)",
    "True positive rate (TPR)",
    "AUC",
    "Interval",
    "Not measurable",
    "Epsilon",
)


def harden(document: HardenDocument) -> b.Report:
    """Bring a repair into blocks."""
    name = b.Name(_architecture(document))
    return b.Report(
        title=f"{name.text} before and after {document.repair.defense}",
        brand="repair of a model",
        blocks=(
            _banner(document, name),
            b.Heading("Before and after", "both", "Before and after", level=2, only=b.DOCUMENTS),
            _both(document),
            *_notes(document),
            b.Prose(_took(document), only=b.TERMINAL),
            *b.only(b.DOCUMENTS, *_attacks(document)),
            *blind.blocks(
                document.blind, {name: side.attacks for name, side in document.sides}, document.difference.fpr
            ),
            *b.only(b.PAGE, *_done(document)),
            *method.limits("repair", document.cannot_say),
            *method.glossary(terms(*WORDS)),
        ),
        files=b.coded("The same numbers are in `harden.json`, the weights in `repaired.safetensors`."),
        version=document.environment.reticent,
    )


def _architecture(document: HardenDocument) -> str:
    architecture = document.model.architecture
    return str(architecture.get("factory") or architecture["method"])


def _banner(document: HardenDocument, name: b.Name) -> b.Banner:
    members = plural(document.data.members, "member")
    defense = b.Strong(b.Name(document.repair.defense, 120))
    return b.Banner(
        about=(b.Strong(name), f", trained on {members}, before and after ", defense),
        sentence=document.sentence,
        tone=_tone(document),
        word=say.word(document),
        blocks=(
            b.Prose(" ".join(document.detail)),
            b.Prose(b.Link("What this repair cannot say.", "limits"), only=b.PAGE),
        ),
    )


def _tone(document: HardenDocument) -> b.Tone:
    relation, left = document.difference.relation, document.after.verdict
    if document.doubt is not None and not document.broken:
        return "unsure"
    if document.broken or relation is Relation.MORE or left.leak is Leak.FOUND or left.reason is Reason.BACKWARDS:
        return "bad"
    return "good" if relation is Relation.LESS and left.leak is Leak.NOT_FOUND else "unsure"


def _both(document: HardenDocument) -> b.Table:
    """Put the measures of the verdict side by side: accuracy, and what the strongest attack finds."""
    found, sure = document.difference, level(document.difference.confidence)
    rows, sides = [found.row(name) for name, _ in document.sides], [side for _, side in document.sides]
    lines: list[tuple[str, list[b.Text | b.Cell], Statistic | None]] = [
        ("Accuracy, non-members", [percent(one.accuracy.non_members.value) for one in sides], Statistic.ACCURACY),
        ("Accuracy, members", [percent(one.accuracy.members.value) for one in sides], None),
        ("AUC", [_by(row.auc_attack, row.auc) for row in rows], Statistic.AUC),
    ]
    bounds = [side.epsilon for side in sides if side.epsilon is not None]
    if len(bounds) == 2:
        lines.append(("Epsilon, at least", [say_epsilon.shown(one.lower or 0) for one in bounds], None))
    if found.fpr is not None and all(row.tpr is not None for row in rows):
        shares: list[b.Text | b.Cell] = [_by(row.attack, row.tpr, found.fpr) for row in rows]
        lines.insert(3, (f"Members found at {level(found.fpr)} FPR", shares, Statistic.TPR))
    return b.table(
        f"Both models on the same records; changes are after minus before, below each its {sure} interval",
        ("Measure", "Before", "After", "Change"),
        [(title, *values, _change(document, statistic)) for title, values, statistic in lines],
        key="both-table",
    )


def _by(attack: str, found: Measure, fpr: float | None = None) -> b.Cell:
    """Write what the attack finds that finds most; its interval stands in the table of attacks."""
    share = estimate(found, True, decimals(fpr)) if fpr else estimate(found)
    return b.Cell(share.text, share.key, (b.Name(attack, 40),))


def _change(document: HardenDocument, statistic: Statistic | None) -> b.Cell:
    """Write the change, after minus before."""
    change = None if statistic is None else document.difference.change(statistic)
    if change is None:
        return b.Cell("")
    scale, digits, unit = (1, 3, "") if statistic is Statistic.AUC else (100, 1, " points")
    if statistic is Statistic.TPR:
        digits = decimals(document.difference.fpr)
    ends = interval([scale * end for end in change.interval], partial(signed, digits=digits))
    return b.Cell(signed(scale * change.difference, digits) + unit, below=(ends,))


def _notes(document: HardenDocument) -> tuple[b.Block, ...]:
    said = [say.chosen(document), say.alone(document)]
    text = " ".join(["Below a number: the attack that finds most by that measure.", *filter(None, said)])
    return (b.Prose(text, "note"),)


def _took(document: HardenDocument) -> str:
    cost = document.environment.repair
    anew = cost.seconds_training_anew
    beside = "" if anew is None else f"; training the model anew would take about {duration(anew)}"
    return f"The repair took {duration(cost.seconds)}{beside}."


def _attacks(document: HardenDocument) -> list[b.Block]:
    """Show every attack on both models."""
    sure, fpr = level(document.difference.confidence), document.difference.fpr
    before = sorted(document.before.attacks, key=lambda one: -one.auc.mean)
    after = {one.name: one for one in document.after.attacks}
    pairs = [(one, after[one.name]) for one in before]
    strongest = document.difference.row("before").auc_attack
    heading = "AUC of each attack, before and after the repair"
    series = (
        dot_plot.Series("before", [one.auc for one, _ in pairs], filled=False, colour=SERIES[1], marker="s"),
        dot_plot.Series("after", [two.auc for _, two in pairs]),
    )
    drawn = b.Figure(
        partial(dot_plot.beside, [one.name for one in before], series, heading, "attack-dots"),
        f"Every attack, with {sure} intervals over records.",
    )
    both = [
        next(one for one in side.attacks if one.name == strongest).with_(name=name) for name, side in document.sides
    ]
    of = f"{strongest}, before and after"
    curves = b.Figure(
        partial(pictures.roc, both[::-1], fpr, "curves", of),
        (
            "The attack ",
            b.Name(strongest, 40),
            f", whose AUC is the largest before the repair, with {sure} bands. Up and left is worse for the members.",
        ),
    )
    found = "Members found" if fpr is None else f"Found at {level(fpr)} FPR"
    heads = [f"{what}, {side}" for what in ("AUC", found, "Epsilon at least") for side in ("before", "after")]
    return [
        b.Heading("What attacks find, before and after", "attacks", "Attacks", level=2),
        *b.only(b.PAGE, b.Figures((curves, drawn))),
        b.table(
            f"Every attack before and after; below each number its {sure} interval",
            ("Attack", *heads),
            [
                (
                    b.Name(pair[0].name, 40),
                    *(estimate(one.auc) for one in pair),
                    *(rate(one.rate(fpr)) for one in pair),
                    *map(_epsilon, pair),
                )
                for pair in pairs
            ],
            key="attack-table",
            sortable=True,
        ),
    ]


def _epsilon(audit: Audit) -> b.Cell:
    """Write the bound of the headline's method."""
    bounds = () if audit.epsilon is None else audit.epsilon.bounds
    return b.Cell(say_epsilon.shown(bounds[0].epsilon), bounds[0].epsilon) if bounds else NOTHING


def _done(document: HardenDocument) -> list[b.Block]:
    """Say what was done, with what and at what cost."""
    many = count(document.references)
    return [
        b.Heading("What was done", "details", "Details", level=2),
        b.Prose(" ".join(filter(None, (say.done(document.repair), say.shipped(document))))),
        b.Prose(
            f"Before the repair, attacks learn from {many} models that were trained plainly; after it, from {many} "
            "that went through the whole defended training, each with its own choice of weights. Each was "
            "trained on a random half of members and non-members."
        ),
        _facts(document),
        *method.columns(document.data),
    ]


def _facts(document: HardenDocument) -> b.Facts:
    repair, cost, references = document.repair, document.environment.repair, document.references
    stages = tuple((stage.name, duration(stage.seconds)) for stage in cost.stages)
    done = {
        key: {name: value for name, value in item.items() if name not in HIDDEN}
        for key, item in repair.facts.to_json().items()
        if isinstance(item, dict)
    }
    right = (
        (f"accuracy on {kind}, {name}", percent(spread.mean))
        for name, side in document.sides
        for kind, spread in (
            ("members", side.references.accuracy.members),
            ("non-members", side.references.accuracy.non_members),
        )
    )
    return method.facts(
        ("Model", (*method.values(document.model, "initial"), ("initial state", ORIGINS[document.model.initial]))),
        *method.about_data(document.data),
        ("How the model was repaired", method.tree(repair.recipe)),
        ("What the method did", method.tree(done)),
        ("References, trained alike", (("models", count(references)), *right)),
        (
            "Cost of the repair",
            (("time", duration(cost.seconds)), *method.values(cost, "stages", "seconds"), ("stages", stages)),
        ),
        *method.about_run(document.environment, "repair"),
    )
