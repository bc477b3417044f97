"""What may be said of one record."""

from collections.abc import Sequence
from statistics import fmean

from reticent.auditing.record_epsilon import FEWEST
from reticent.findings.attack import TargetAudit
from reticent.findings.record_tests import NamedRecords, RecordEpsilon, RecordMethod, RecordRates, RecordTests
from reticent.rounding import count, interval, level, percent, plain, significant_down
from reticent.say.grammar import agree, plural

BEYOND_COINS = 5
"""Standard deviations from the mean share, which few models of many are off by chance."""
PARTS = "of the records in ten parts, by exposure and again by how much margins spread,"
BY = {
    RecordMethod.STUDENT: "by Student's distribution (exact where margins are normal)",
    RecordMethod.RESIDUAL: "by how standardised margins of other models' non-members spread (exact on average)",
    RecordMethod.RANK: "by their highest values (exact)",
}


def game(targets: Sequence[TargetAudit], shares: tuple[float, float] | None = None) -> str:
    """Say of which game the numbers of an audit are; `shares` where records differ in it (`Population.shares`)."""
    records = targets[0].members + targets[0].non_members
    each = [one.members / records for one in targets]
    share, coin = fmean(each), 0.5 / records**0.5
    chance = "one half" if abs(share - 0.5) < 3 * coin / len(targets) ** 0.5 else percent(share, 0)
    differing = []
    if max(abs(one - share) for one in each) > BEYOND_COINS * coin:
        differing.append(f"{_ends((min(each), max(each)))}, by model")
    if shares is not None:
        differing.append(f"it differs between records: {_ends(shares)} of the models were trained on one")
    if differing:
        chance += f" on average ({'; '.join(differing)})"
    return (
        f"All numbers are for one setting: the attacker knows all {count(records)} audited records, and each of them "
        f"was used for training with probability {chance}. An attacker who does not know the other training records "
        "finds less."
    )


def _ends(shares: tuple[float, float]) -> str:
    return interval(shares, lambda share: percent(share, 0))


def spoken(found: RecordTests) -> RecordTests:
    """Fill in the sentences."""
    lines = [] if found.rates is None else _rates(found.rates)
    lines += [] if found.named is None else [named(found.named)]
    lines += [] if found.epsilon is None else [_epsilon(found.epsilon)]
    return found.with_(sentences=tuple(lines))


def _rates(found: RecordRates) -> list[str]:
    off = sum(one.off for one in found.tenths)
    told = (
        f"With a threshold of its own for every record, each at a false positive rate of {level(found.fpr)}, an "
        f"attacker finds {percent(found.found.mean)} of the training records (interval "
        f"{interval(found.found.interval, percent)}). That is another question than the verdict's, where one threshold "
        "serves all records and false alarms may fall on a few of them. A record's threshold is set from "
        f"{plural(found.references, 'model')} without it, {BY[found.method]}. As a check, "
        f"{percent(found.false_alarms.mean, 2)} of non-members are flagged"
    )
    if not found.tenths:
        return [f"{told}."]
    if not off:
        return [f"{told}; {PARTS} none is shown to have another rate."]
    worst = max((one for one in found.tenths if one.off), key=lambda one: abs(one.rate.mean - found.fpr))
    return [
        f"{told}, but {PARTS} {off} of {len(found.tenths)} {agree(off, 'has', 'have')} another rate, "
        f"{percent(worst.rate.mean, 2)} in the worst: there, what is found is not at {level(found.fpr)}."
    ]


def named(found: NamedRecords | None) -> str:
    """Say how many records are named as members, by a population; None: too few models without some record."""
    if found is None:
        return (
            "No named.csv: a record is named only where at least 3 models to compare with were not trained on it, "
            "models of the same members being one."
        )
    base = (
        f"at a false discovery rate of {level(found.rate)} for each model, by {plural(found.population, 'record')} "
        "that no model was trained on"
    )
    if not found.named:
        return f"named.csv is empty: no record can be named as a member of a model {base}."
    return (
        f"{plural(found.named, 'record')} {agree(found.named, 'is', 'are')} named as members of "
        f"{plural(found.targets, 'model')}, each model by itself, {base}; {count(found.wrong)} of these names "
        f"{agree(found.wrong, 'is', 'are')} wrong. The longest list has {plural(found.longest, 'name')} (named.csv)."
    )


def _epsilon(found: RecordEpsilon) -> str:
    basis = (
        f"half of the models chose record {found.record}; of the other half, {found.found} of {found.trained} with it "
        f"and {found.wrong} of {found.untrained} without it lie above the threshold"
    )
    if not found.epsilon:
        return f"Of no record by itself is an epsilon above 0 shown ({basis}; {FEWEST} models are the fewest that can)."
    return (
        f"For one record alone, epsilon is at least {significant_down(found.epsilon)} at delta {plain(found.delta)}, "
        f"at {level(found.confidence)} confidence: {basis}."
    )
