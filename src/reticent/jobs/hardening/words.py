"""What a repair shows, in plain words, and what it does not."""

from collections.abc import Mapping
from typing import Any

from reticent.auditing.intervals import Interval
from reticent.auditing.verdict import FEWEST
from reticent.jobs import document
from reticent.jobs.hardening.ready import Ready
from reticent.jobs.hardening.repair import Repaired
from reticent.jobs.hardening.sides import Side
from reticent.jobs.locate.source import FRESH
from reticent.rounding import decimals, fraction, level, percent
from reticent.say.verdict import unresolved
from reticent.signals.query import UNSTEADY

Plain = Mapping[str, Any]
Blind = tuple[float, Interval]
"""AUC of the references' mean margin, which knows nothing of the model, and its interval."""
FAR = 0.05
"""References whose accuracy, or number of members, differs by more than this from the model's are told of."""
MEASURES = {"tpr": "share of members found", "auc": "AUC"}
LEADS = {
    "less": "The repaired model gives away less",
    "more": "The repaired model gives away more",
    "tie": "No difference between the two models is shown",
    "mixed": "The repaired model gives away less by one measure and more by the other",
}
APART = 0.05
"""So far from one half, with its whole interval, what knows nothing of the model makes the audit one of the records."""
UNJUDGED = "Nothing is judged"
LOST = (
    "It is less accurate too, and a model gives away less by that alone: whether this repair does better than stopping "
    "the training early is not shown here (reticent compare tests it)."
)
ONE_MODEL = (
    "One model was repaired: the intervals say how the numbers would move with other records, not how another model, "
    "or another repair of this one, would come out."
)
SAME_SOURCE = (
    "Members and non-members must come from one source, divided at random: where they differ by time, place or kind, "
    "an attack that tells the kinds apart is counted as a leak."
)


def relation(compared: Plain) -> tuple[str, str]:
    """Say how the repaired model stands to the given one."""
    # In each pair the first is the model before.
    found = {
        pair["statistic"]: {"first lower": "more", "second lower": "less", "tie": "tie"}[pair["verdict"]]
        for pair in compared["pairs"]
        if pair["statistic"] in MEASURES
    }
    told = {word for word in found.values() if word != "tie"}
    if len(told) != 1:
        return ("mixed" if told else "tie"), ""
    tied = [MEASURES[name] for name, word in found.items() if word == "tie"]
    shown = [MEASURES[name] for name, word in found.items() if word != "tie"]
    return told.pop(), f"The difference is shown by the {shown[0]} and not by the {tied[0]}." if tied else ""


def doubt(members: int, others: int, blind: Blind) -> str:
    """Say why nothing can be judged."""
    if min(members, others) < FEWEST:
        return (
            f"{UNJUDGED}: no interval over {members:,} members and {others:,} non-members can be relied on "
            f"(expected at least {FEWEST} of each)."
        )
    low, high = blind[1]
    if low <= 0.5 + APART and high >= 0.5 - APART:
        return ""
    return (
        f"{UNJUDGED}: where members and non-members differ by themselves, an attack that tells their kinds apart "
        "is counted as a leak. Were both prepared alike (scale, missing values, order of columns), and drawn at random "
        "from one source?"
    )


def sentence(compared: Plain, sides: Plain, why: str) -> str:
    """Say what the repair did."""
    word, _ = relation(compared)
    before, after = (next(row for row in compared["rows"] if row["name"] == name) for name in ("before", "after"))
    areas = [f"AUC {fraction(row['auc']['mean'])}" for row in (before, after)]
    if before["tpr"] is None or after["tpr"] is None:
        found = f"before {areas[0]}, after {areas[1]}"
    else:
        shares = [percent(row["tpr"]["mean"], decimals(compared["fpr"])) for row in (before, after)]
        found = (
            f"at {level(compared['fpr'])} false alarms {shares[0]} of the members were found before ({areas[0]}) and "
            f"{shares[1]} after ({areas[1]})"
        )
    right = [percent(sides[name]["accuracy"]["non_members"]["value"]) for name in ("before", "after")]
    return f"{UNJUDGED if why else LEADS[word]}: {found}. Accuracy on non-members: {right[0]} before, {right[1]} after."


def detail(compared: Plain, sides: Plain, blind: Blind, why: str) -> list[str]:
    """Say which measure shows the difference, whether a leak is left, and whether accuracy was paid for it."""
    if why:
        return [*_different(blind), why]
    left = {
        "found": "A leak is still found in the repaired model.",
        "not found": "No leak that matters is found in the repaired model.",
        "cannot tell": "Whether a leak is left in the repaired model cannot be told from so few records.",
    }
    _, partly = relation(compared)
    # In each pair the first is the model before.
    lost = any(pair["statistic"] == "accuracy" and pair["verdict"] == "second lower" for pair in compared["pairs"])
    said = [*([partly] if partly else []), left[sides["after"]["verdict"]["leak"]], *([LOST] if lost else [])]
    return [*_different(blind), *said]


def limits(ready: Ready, repaired: Repaired, before: Side, after: Side, compared: Plain) -> list[str]:
    """List what the repair and its audit do not show."""
    fresh = [FRESH, UNKNOWN_START] if ready.origin == "fresh draw" else []
    lines = [
        *_accuracies(ready, before),
        *_sizes(ready, before),
        *fresh,
        ONE_MODEL,
        *ready.sorted.said,
        *document.data_sentences(ready.sorted.records),
        *_sick(before, "given"),
        *_sick(after, "repaired"),
        *map(str, repaired.facts.get("notices", ())),
        *[UNSTEADY] * (before.unsteady or after.unsteady),
        *document.notices(after.made),
        *unresolved(before.audits[0]),
        *compared["cannot_say"],
        SAME_SOURCE,
        "What the references cannot know: how this model was trained. They are trained by the recipe that you state, "
        "and an attacker who knows the real one may find more.",
    ]
    return list(dict.fromkeys(lines))


UNKNOWN_START = (
    "The references of the repaired model know their own initial states, and the repair of this one did not: the two "
    "are not made alike."
)


def _different(blind: Blind) -> list[str]:
    """Warn where members and non-members are told apart without the model."""
    area, (low, high) = blind
    if low <= 0.5 <= high:
        return []
    harder = "easier" if area > 0.5 else "harder"
    return [
        f"Members and non-members differ by themselves: models that were each trained on half of both find the members "
        f"{harder} (AUC {fraction(area)}, interval {fraction(low)} to {fraction(high)}; 0.5 if they came from one "
        "source). So part of every number here, or a leak that it hides, is that difference."
    ]


def _accuracies(ready: Ready, before: Side) -> list[str]:
    """Warn where the references are clearly more or less accurate than the model, by more than its records' noise."""
    row, told = ready.membership.matrix[ready.target], []
    for what, right in (("members", before.correct[row]), ("non-members", before.correct[~row])):
        own = float(right.mean())
        mean = sum(one.facts[f"accuracy_{what.replace('-', '_')}"] for one in before.made) / len(before.made)
        if abs(mean - own) > max(FAR, 2 * (own * (1 - own) / len(right)) ** 0.5):
            far = f"{100 * abs(mean - own):.0f} percentage points {'more' if mean > own else 'less'} accurate on {what}"
            told.append(f"{far} than the model ({percent(mean)} and {percent(own)})")
    if not told:
        return []
    return [
        f"The references are {' and '.join(told)}, so they are not made as it was, and the attack before the repair "
        "may be weaker than it could be: state its training (--epochs, --batch-size, --optimizer, --learning-rate, "
        "--weight-decay)."
    ]


def _sizes(ready: Ready, before: Side) -> list[str]:
    own, mean = len(ready.sorted.members), sum(one.facts["members"] for one in before.made) / len(before.made)
    if abs(mean / own - 1) <= FAR:
        return []
    return [
        f"The model was trained on {own:,} members, each reference on about {mean:,.0f} records (half of members and "
        f"non-members): {'fewer' if mean < own else 'more'}, so they are not quite what this recipe makes of as many."
    ]


def _sick(side: Side, which: str) -> list[str]:
    health = document.health(side.made)
    if not health:
        return []
    return [
        f"{len(health)} of {len(side.made)} references of the {which} model did not learn, so attacks learn little "
        "from them: train longer, or with another learning rate."
    ]
