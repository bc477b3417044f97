"""How members and non-members differ without the model, and what an attack finds beyond that."""

from reticent.auditing.verdict import FEWEST
from reticent.findings.audit import Leak, Reason, Verdict
from reticent.findings.blind import Blind, Known, Unlooked
from reticent.findings.numbers import PairedDifference, Statistic
from reticent.rounding import around, decimals, fraction, interval, level, percent, signed
from reticent.say.grammar import alarms, plural

KNOWN = {
    Known.LABELS: "the label alone",
    Known.SIZES: "the label of most records, and how many there are,",
    Known.RECORDS: "the record and its label",
    Known.REFERENCES: "the record, its label, and what reference models say of it",
}
"""What the classifier sees."""
MEANING = (
    "A classifier that sees the records and never asks the model learns on four fifths of them who is a member, and is "
    "judged on the rest, five times. Where it does better than chance, members and non-members are different data, and "
    "an attack that does as well shows that difference, not a leak. Only what an attack finds beyond it counts."
)
NOT_ALIKE = (
    "Epsilon and groups of records: both take members and non-members for alike, and these differ without the model."
)
BY_LABELS = (
    "Whether members and non-members differ in what they are: only their labels were looked at. Give the records "
    "(--records) to find out."
)
SMALL = (
    "Whether members and non-members differ without the model in a way that this classifier does not see: then a part "
    "of what attacks find is no leak."
)
ONE_SOURCE = (
    "Whether members and non-members come from one source, drawn at random: this audit assumes it. The "
    "attack that it rests on compares no record with models that were not trained on it, so that a difference between "
    "the two, which a model may tell better than the classifier without it, would look like a leak."
)
UNCOMPARED = (
    "A model that never saw these records may tell members from non-members better than a classifier that learns the "
    "difference from few of them."
)
WHY = {
    Unlooked.FEW_RECORDS: "too few different members or non-members of some audited model to tell (at least "
    f"{FEWEST} of either are needed)",
}
SETTLED = "members and non-members from one source, drawn at random, would settle it"


def spoken(found: Blind) -> Blind:
    """Fill in the sentence."""
    return found.with_(sentence=_sentence(found))


def _sentence(found: Blind) -> str:
    by = f"from {KNOWN[found.by]} (AUC {fraction(found.auc)}, interval {around(found.interval)}"
    if found.shift:
        return f"Members and non-members differ without the model: they are told apart {by}; 0.5 is chance)."
    least = (
        ""
        if found.detectable is None
        else (
            f" With {plural(found.records, 'record')}, a difference below an AUC of {fraction(found.detectable)} may "
            "be missed, and so may one that is spread thinly over many features."
        )
    )
    return f"Without the model, members and non-members are not told apart {by}; 0.5 is chance).{least}"


def unsaid(found: Blind | None, why: Unlooked | None = None, *, compared: bool = True) -> list[str]:
    """Say what a blind baseline leaves open, or why there is none; `compared`: some attack compares models."""
    assumed = [] if compared else [ONE_SOURCE]
    if found is None:
        told = [] if why is None else [f"Whether members and non-members differ without the model: {WHY[why]}."]
        return [*told, *assumed] if told else []
    open_ = BY_LABELS if found.by in {Known.LABELS, Known.SIZES} else SMALL
    return [NOT_ALIKE, open_] if found.shift else [open_, *assumed]


def headline(said: Verdict) -> str:
    """Say what the model's answers add to what is found without them."""
    assert said.excess is not None
    rate = said.excess.at(said.fpr) if said.best_by is Statistic.TPR else None
    if rate is None:
        return (
            "Members and non-members differ by themselves: without the model they are told apart in "
            f"{percent(said.excess.blind_auc)} of pairs; an attacker who asks the model does in {percent(said.auc)}. "
            f"{_counts(said)}"
        )
    write = decimals(rate.fpr)
    return (
        f"Members and non-members differ by themselves: at {alarms(rate.fpr)}, {percent(rate.blind_tpr, write)} of the "
        f"training records are found without the model, and {percent(said.tpr, write)} by an attacker who asks it. "
        f"{_counts(said)}"
    )


def _counts(said: Verdict) -> str:
    """Say what of the two figures counts."""
    if said.reason is Reason.UNCOMPARED:
        return "That difference is not shown to be a leak: the model may only tell the two kinds of records better."
    return "Only the difference counts as leak."


def beyond(said: Verdict) -> str:
    """Say how sure it is that the attack finds more than is found without the model."""
    assert said.excess is not None
    told = [f"its AUC differs by {signed(said.excess.auc.difference)} (interval {ends(said.excess.auc)})"]
    rate = said.excess.at(said.fpr)
    if rate is not None:
        points = f"{signed(100 * rate.tpr.difference, 1)} points (interval {ends(rate.tpr, points=True)})"
        told.append(f"the share found at a false positive rate of {level(rate.fpr)} by {points}")
    return f"{said.attack} beside what is found without the model: {' and '.join(told)}."


def ends(found: PairedDifference, *, points: bool = False) -> str:
    """Write the interval of a difference."""
    scale, digits = (100, 1) if points else (1, 3)
    return interval(found.interval, lambda end: signed(scale * end, digits))


def conclusion(said: Verdict) -> str:
    """Conclude from the excess."""
    if said.leak is Leak.FOUND:
        many = f", the choice among {said.best_of} attacks allowed for" if said.best_of > 1 else ""
        return f"That is more than chance{many}: the model gives away more than the records do."
    if said.reason is Reason.UNCOMPARED:
        return (
            f"{said.attack} finds more than the classifier does without the model, but that is not shown to be a leak: "
            f"it does not compare a record with models that were not trained on it. {UNCOMPARED}"
        )
    return (
        "Nothing is shown beyond that, so no leak is shown. None is excluded either, since different data can hide one."
    )
