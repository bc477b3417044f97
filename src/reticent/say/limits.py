"""What an audit cannot say."""

from collections.abc import Sequence

from reticent.auditing.verdict import ENOUGH_FALSE_POSITIVES, ENOUGH_TARGETS, FEWEST
from reticent.findings.attack import Audit
from reticent.findings.audit import Leak, Reason, Verdict
from reticent.rounding import level, percent
from reticent.say.grammar import agree, listed, plural
from reticent.say.population import BEYOND_CHANCE

OPEN = {
    Reason.TOO_SMALL: "Whether there is a leak: the intervals are too wide. More models or more records would narrow "
    "them.",
    Reason.FEW_MODELS: "Whether there is a leak: how much models differ is hardly known from so few. More models would "
    "settle it.",
    Reason.TIES: "Whether there is a leak: too many records have equal scores for attacks to be read at that rate.",
    Reason.FEW_RECORDS: f"Whether there is a leak: at least {FEWEST} members and {FEWEST} non-members, or more models, "
    "are needed to judge it.",
    Reason.SHIFT: "Whether there is a leak: members and non-members differ without the model, which can hide one.",
    Reason.UNCOMPARED: "Whether there is a leak: members and non-members differ without the model, and what is found "
    "beyond that may be the same difference, told better. Attacks that compare a record with models that were not "
    "trained on it (lira, rmia) would settle it.",
    Reason.MOST_UNLEARNED: "Whether models that work leak: these learned nothing. More of them would not tell; train "
    "better first.",
    Reason.COPIES: "Whether there is a leak: leave the copies of records out, and audit again.",
    Reason.WEAK_ATTACKS: "Whether there is a leak: attacks that compare models (lira, rmia) would find more of it.",
    Reason.WEAK_ALONE: "Whether there is a leak: one model's answers tell easy records from others, and attacks that "
    "compare models, for which that cancels, show nothing.",
    Reason.UNEQUAL: f"Whether there is a leak: {BEYOND_CHANCE}, whatever the models tell.",
}
"""What is not known where nothing could be told."""


def of(said: Verdict, best: Audit) -> list[str]:
    """List what a verdict leaves open; `best` is the audit of its attack."""
    lines, models, sets = unresolved(best), len(best.targets), best.training_sets
    if sets == 1:
        what = "One model was audited" if models == 1 else f"The {models} models have nearly the same members"
        lines.append(f"{what}: how much another training run would differ is not known.")
    elif sets < ENOUGH_TARGETS:
        of = "" if sets == models else f", which have {sets} training sets,"
        lines.append(f"Only {models} models{of} were audited: how much they differ is hardly known.")
    if said.leak is Leak.CANNOT_TELL and said.reason in OPEN:
        lines.append(OPEN[said.reason])
    return [
        *lines,
        "Attacks that were not tried may find more: every figure is a lower bound on the leak.",
        "The rates are averages over records: single records can be far more exposed.",
    ]


def unresolved(audit: Audit) -> list[str]:
    """Say which rates the audit is too small for."""
    lines = []
    for rate in audit.rates:
        count, fpr = rate.false_positives_allowed, level(rate.fpr)
        if count < 1:
            lines.append(
                f"Nothing can be said at a false positive rate of {fpr}: it needs {rate.records_needed:,} non-members, "
                f"this audit has {rate.non_members:,}."
            )
        elif count < ENOUGH_FALSE_POSITIVES:
            lines.append(
                f"The figure at a false positive rate of {fpr} rests on few records: it allows each model only "
                f"{plural(count, 'false alarm')}."
            )
    return lines


def guesses(audits: Sequence[Audit]) -> list[str]:
    """Say which attacks guess, and how many of their answers."""
    some = [one for one in audits if one.guessed]
    if not some:
        return []
    told = listed([f"{one.name} {percent(one.guessed or 0.0)}" for one in some])
    return [
        f"Some records are in so few, or so many, of the models that an attack has no models of one kind to compare "
        f"with. It guesses there ({told} of members or non-members), which makes a leak look smaller by about as much."
    ]


def missing_strong(names: Sequence[str]) -> str:
    """Say that no attack ran that compares models which saw a record with models which did not."""
    verb = agree(len(names), "was", "were")
    return f"The strongest attacks are missing ({listed(names)} {verb} left out): the leak may be much larger."
