"""A repair in sentences: whether the repaired model leaks less, at what accuracy, and what is not shown."""

from reticent.findings.audit import Leak, Reason
from reticent.findings.comparison import Relation
from reticent.findings.harden import (
    FAR,
    Doubt,
    HardenDocument,
    Note,
    RecordsNote,
    RepairData,
    RepairRun,
    Short,
    Side,
)
from reticent.findings.locate import Origin
from reticent.findings.numbers import Area, Statistic
from reticent.rounding import decimals, fraction, percent
from reticent.say import blind
from reticent.say.comparison import limits as limits_of_comparison
from reticent.say.grammar import alarms, listed, plural
from reticent.say.harden_checks import SAY_HOW, doubts, few, suspects
from reticent.say.limits import unresolved
from reticent.say.locate import FRESH

UNJUDGED = "Nothing is judged"
LEADS = {
    Relation.LESS: "The repaired model leaks less",
    Relation.MORE: "The repaired model leaks more",
    Relation.TIE: "The repair is not shown to change the leak",
    Relation.MIXED: "The repaired model leaks less by one measure and more by the other",
}
TAUGHT = (
    "The given model shows no sign of these members, and the repaired one, which the repair trained on them, leaks more"
)
WORDS = {
    Relation.LESS: "Leaks less",
    Relation.MORE: "Leaks more",
    Relation.TIE: "No difference shown",
    Relation.MIXED: "Less by one measure, more by the other",
}
LEFT = {
    Leak.FOUND: "A leak is found in the repaired model.",
    Leak.NOT_FOUND: "No leak that matters is found in the repaired model.",
    Leak.CANNOT_TELL: "Whether the repaired model still leaks cannot be told.",
}
STILL = "A leak is still found in the repaired model."
NOT_BEYOND = (
    "Beyond what is found without the model, nothing is shown in the repaired one; different data can hide a leak."
)
NOT_COMPARED = (
    "What is found beyond that in the repaired one may be the same difference, told better: no leak is shown."
)
BACKWARDS = "An attack that is read backwards still finds members of the repaired model."
BROKEN = "A model that is right so rarely tells little of its members because it tells little of anything."
STATE = (
    f"So they are not made as the model was, and the attack before the repair may be weaker than it could be. {SAY_HOW}"
)
REPAIRED_OTHERWISE = (
    "So the repair did to them something else than to the model, and an attack that learns from them may miss what the "
    "repaired model leaks: nothing is judged."
)
LOST = (
    "It is also less accurate, and a less accurate model leaks less by that alone. Whether the repair does better than "
    "stopping the training early is not tested here; reticent compare tests it."
)
ONE_MODEL = (
    "One model was repaired: the intervals say how the numbers would vary with other records, not with another model "
    "or another repair."
)
UNKNOWN_START = (
    "The references of the repaired model were rewound to their own initial states; the repair had to take a fresh "
    "draw. So the two are not made alike."
)
SAME_SOURCE = (
    "Whether members and non-members come from one source, divided at random: if they differ by time, place or kind, "
    "an attack that tells the kinds apart is counted as a leak."
)
OTHER_RECORDS = (
    "So a method that needs them otherwise is audited on other records, by other references and perhaps at another "
    "false positive rate: give --non-members and --reference to compare what two methods do."
)
OTHER_TRAINING = (
    "How the model was really trained: the references follow the training that you state. An attacker who knows the "
    "real one may find more."
)


def spoken(found: HardenDocument, further: tuple[str, ...] = ()) -> HardenDocument:
    """Fill in the sentences; `further` ones are said of the records."""
    compared = found.difference.with_(cannot_say=tuple(limits_of_comparison(found.difference, several=False)))
    found = found.with_(difference=compared)
    return found.with_(
        sentence=_sentence(found),
        detail=tuple(_detail(found)),
        cannot_say=tuple(dict.fromkeys(_limits(found, further))),
    )


def word(found: HardenDocument) -> str:
    """Say in the shortest form how the repaired model stands to the given one."""
    if found.broken:
        return "The model is broken"
    return "Not judged" if found.doubt is not None else WORDS[found.difference.relation]


def _sentence(found: HardenDocument) -> str:
    """Say how the two models differ by one measure, what leak is left, and what it cost in accuracy."""
    right = [percent(side.accuracy.non_members.value) for _, side in found.sides]
    quoted, _ = _measures(found)
    lead, left = LEADS[found.difference.relation], f" {_left(found)}"
    if _no_sign(found) is not None and found.difference.relation is Relation.MORE:
        lead = TAUGHT
    if found.doubt is not None:
        lead, left = UNJUDGED, ""
    if found.broken:
        fell = f"its accuracy on non-members fell from {right[0]} to {right[1]}"
        return f"The repair broke the model: {fell}; {lead[0].lower()}{lead[1:]}: {_numbers(found, quoted)}.{left}"
    return f"{lead}: {_numbers(found, quoted)}.{left} Accuracy on non-members: {right[0]} before, {right[1]} after."


def _left(found: HardenDocument) -> str:
    said = found.after.verdict
    if said.reason is Reason.SHIFT:
        return NOT_BEYOND
    if said.reason is Reason.UNCOMPARED:
        return NOT_COMPARED
    if said.leak is Leak.FOUND and found.before.verdict.leak is Leak.FOUND:
        return STILL
    return BACKWARDS if said.reason is Reason.BACKWARDS else LEFT[said.leak]


def _measures(found: HardenDocument) -> tuple[Statistic, Statistic | None]:
    """Choose the measure that the headline quotes, one that shows the difference if any does; and name the other."""
    known = [one for one in (Statistic.TPR, Statistic.AUC) if found.difference.change(one) is not None]
    shown = found.difference.tests.shown("after", "before")
    first, *others = sorted(known, key=lambda one: one not in shown)
    return first, next(iter(others), None)


def _numbers(found: HardenDocument, measure: Statistic) -> str:
    """Give one measure of both models, each with the attack that it is the largest of."""
    before, after = (found.difference.row(name) for name, _ in found.sides)
    if measure is Statistic.TPR and before.tpr is not None and after.tpr is not None and found.difference.fpr:
        at = f"at {alarms(found.difference.fpr)}, "
        first, second = (percent(row.tpr.mean, decimals(found.difference.fpr)) for row in (before, after) if row.tpr)
        if before.attack == after.attack:
            return f"{at}{before.attack} found {first} of the members before and finds {second} after"
        now = f"the most are found by {after.attack} now, {second}"
        return f"{at}{before.attack} found {first} of the members before; {now}"
    first, second = (fraction(row.auc.mean) for row in (before, after))
    if before.auc_attack == after.auc_attack:
        return f"the AUC of {before.auc_attack} was {first} before and is {second} after"
    return f"the largest AUC was {first} before, of {before.auc_attack}, and is {second} after, of {after.auc_attack}"


def _detail(found: HardenDocument) -> list[str]:
    """Say what the other measure shows, and whether accuracy was paid for it."""
    differ = [*doubts(_no_sign(found), by_default=found.repair.by_default), *_different(found)]
    if found.broken:
        differ = [f"{BROKEN} {suspects(found.data.notes, found.repair.held, _short(found))}", *differ]
    if found.doubt is Doubt.REFERENCES_DIFFER:
        told = _accuracies(found.after, "after", found.data)
        return [*differ, *told, *_still(found)]
    if found.doubt is Doubt.FEW_RECORDS:
        return [*differ, f"{UNJUDGED}: {few(found.data.members, found.data.non_members)}"]
    if found.doubt is Doubt.RECORDS_DIFFER:
        asked = (
            f"{UNJUDGED}: in the given model no attack that compares models is shown to find more than that. "
            "Check that members and non-members were prepared alike (scale, missing values, order of columns) and "
            "drawn at random from one source."
        )
        one = "In the repaired model one is, and that is a leak."
        return [*differ, asked, *([one] if found.leak is Leak.FOUND else [])]
    accuracy = found.difference.change(Statistic.ACCURACY)
    lost = accuracy is not None and accuracy.relation is Relation.LESS
    return [*differ, *_other(found), *[LOST] * lost]


def _no_sign(found: HardenDocument) -> Area | None:
    """Give how little the model's loss shows of its members, unless an attack found a leak that the loss did not."""
    return None if found.before.verdict.leak is Leak.FOUND else found.model.no_sign


def _short(found: HardenDocument) -> Short | None:
    """Tell whether the references before the repair do not know their own records as the model knows its members."""
    unlike = found.before.unlike(found.data.members, found.data.non_members)
    one = next((one for one in unlike if one.records == "members" and one.references < one.model), None)
    if one is None:
        return None
    epochs = found.repair.recipe["epochs"]
    assert isinstance(epochs, int), "a recipe has whole epochs"
    return Short("references", one.references, one.model, epochs, found.repair.tuning_epochs)


def _different(found: HardenDocument) -> list[str]:
    """Warn where members and non-members are told apart without the model."""
    if found.blind is None or not found.blind.shift:
        return []
    return [
        f"{found.blind.sentence} Only what an attack that compares models finds beyond that counts as leak, before and "
        "after."
    ]


def _other(found: HardenDocument) -> list[str]:
    """Say what the measure shows that the headline does not quote."""
    _, other = _measures(found)
    if other is None:
        return []
    told = "shows no difference"
    if other in found.difference.tests.shown("after", "before"):
        told = "shows the opposite" if found.difference.relation is Relation.MIXED else "shows the same"
    return [f"The other measure {told}: {_numbers(found, other)}."]


def _limits(found: HardenDocument, further: tuple[str, ...]) -> list[str]:
    return [
        *_accuracies(found.before, "before", found.data),
        *_sizes(found),
        *([FRESH, UNKNOWN_START] if found.model.initial is Origin.FRESH and not found.repair.goes_on else []),
        ONE_MODEL,
        *(_note(note, found.repair.defense) for note in found.data.notes),
        *further,
        *_unlearned(found.before, "given"),
        *_unlearned(found.after, "repaired"),
        *(f"Of the repair: {notice}" for notice in found.repair.notices),
        *(notice for _, side in found.sides for notice in side.notices),
        *(f"Of the references after the repair: {notice}" for notice in found.after.references.notices),
        *unresolved(found.before.attacks[0]),
        *found.difference.cannot_say,
        *(blind.unsaid(found.blind, compared=any(one.strong for one in found.after.attacks)) or [SAME_SOURCE]),
        *([] if found.repair.by_default else [OTHER_TRAINING]),
    ]


def _accuracies(side: Side, when: str, data: RepairData) -> list[str]:
    """Warn where the references are clearly more or less accurate than the model, by more than its records' noise."""
    told = [
        f"{100 * abs(one.references - one.model):.0f} percentage points "
        f"{'more' if one.references > one.model else 'less'} accurate on {one.records} than the model "
        f"({percent(one.references)} and {percent(one.model)})"
        for one in side.unlike(data.members, data.non_members)
    ]
    if not told:
        return []
    follows = STATE if when == "before" else REPAIRED_OTHERWISE
    return [f"The references {when} the repair are {listed(told)}. {follows}"]


def _still(found: HardenDocument) -> list[str]:
    """Say what holds although the attack after the repair may be too weak: a leak that it finds nevertheless."""
    if found.after.verdict.leak is not Leak.FOUND:
        return []
    return ["What it finds is a leak nevertheless: the repaired model still leaks at least that much."]


def _sizes(found: HardenDocument) -> list[str]:
    own, mean = found.data.members, found.before.references.members
    if abs(mean / own - 1) <= FAR:
        return []
    return [
        f"The model was trained on {own:,} members, each reference on about {mean:,.0f} records (half of members and "
        f"non-members). With {'fewer' if mean < own else 'more'} records the same training gives other models."
    ]


def _unlearned(side: Side, which: str) -> list[str]:
    sick = side.references.health
    if not sick:
        return []
    return [
        f"{len(sick)} of the {plural(len(side.references.runs), 'reference')} of the {which} model did not learn, so "
        "attacks learn little from them: train longer, or with another learning rate."
    ]


def _note(found: RecordsNote, defense: str) -> str:
    if found.note is Note.SCALE_ASSUMED:
        return (
            "How the model's pictures were normalised was not said: mean 0.5 and std 0.25 of pixels from 0 to 1 are "
            "assumed (--mean, --std). If the accuracies here are not those that you know, look there first."
        )
    if found.note is Note.REST:
        told = "Every row of the data set that is no member is taken for a non-member"
        return f"{told}, but for {plural(found.count, 'exact duplicate')} of members." if found.count else f"{told}."
    if found.note is Note.AUDIT_ONLY:
        return f"Nothing in {defense} needs reference non-members: all of them serve for the audit. {OTHER_RECORDS}"
    lack, given = ("reference non-members", "non-members")
    if found.given == "reference":
        lack, given = "non-members for the audit", "reference records"
    return (
        f"No {lack} were given: the {found.count:,} {given} were divided at random, one half for the audit, the other "
        f"for {defense}. {OTHER_RECORDS}"
    )


def done(repair: RepairRun) -> str:
    """Say what the repair did to the model."""
    objective = repair.recipe["objective"]
    loss = objective["method"] if isinstance(objective, dict) else objective
    epochs = "" if repair.tuning_epochs is None else f" for {plural(repair.tuning_epochs, 'epoch')}"
    trained = f"trained{epochs} with {loss}"
    cwrf, pptp, sparse = repair.facts.cwrf, repair.facts.pptp, repair.facts.sparsity
    if sparse is not None:
        rounds = "round" if sparse.rounds == 1 else f"of {sparse.rounds} rounds"
        shares = f"{percent(sparse.density)}; {percent(sparse.density_of_parameters)} of all parameters"
        return (
            f"{sparse.weights_left:,} of {sparse.weights:,} weights of linear layers and convolutions are left "
            f"({shares}), the others are 0; what was left was {trained} after each {rounds}."
        )
    if cwrf is not None:
        return (
            f"{cwrf.rewound:,} of {cwrf.weights:,} weights ({100 * cwrf.rate:.3g} %) were rewound to their initial "
            f"values and held; the others were {trained}."
        )
    if pptp is not None:
        kept = listed(pptp.frozen) or "no stage"
        return (
            f"From {pptp.stage} on ({pptp.chosen}), the network was rewound to its initial state and {trained}; {kept} "
            "stayed as it was."
        )
    return f"The model was {trained}."


def shipped(found: HardenDocument) -> str:
    """Say what a pruned model saves; empty of one that is not pruned."""
    compact, latency = found.compact, found.environment.latency
    if compact is None or latency is None:
        return ""
    saves = (
        "without the filters that are gone" if latency.smaller else "with zeros in place of weights, which save no time"
    )
    return (
        f"The compact file has {compact.bytes:,} bytes, {percent(compact.bytes / compact.bytes_whole)} of the "
        f"{compact.bytes_whole:,} of the whole state, and gives back the same bits. One record takes "
        f"{1000 * latency.seconds_after:.3g} ms, {saves}; before, it took {1000 * latency.seconds_before:.3g} ms."
    )


def alone(found: HardenDocument) -> str:
    """Say why an interval may leave out 0 without being a finding; empty where none does."""
    pairs = found.difference.pairs
    if not any(one.uncorrected for one in pairs):
        return ""
    return (
        f"Each interval is of its own line alone. {len(pairs)} changes are tested together; with that allowed for, "
        "chance may explain a change whose own interval just leaves out 0."
    )


def chosen(found: HardenDocument) -> str:
    """Say why epsilon is below that of the attack itself; empty where there was no choice among attacks."""
    many = len(found.before.attacks)
    if many == 1 or not any(side.epsilon and side.epsilon.lower for _, side in found.sides):
        return ""
    return (
        f"Epsilon is lowered for the choice among {many} attacks; the bounds in the table of attacks are each of one "
        "attack alone, and so may be higher."
    )
