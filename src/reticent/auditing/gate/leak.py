"""The limits of AUC and TPR, held against every attack of an audit."""

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from reticent.auditing.gate.check import FEWEST_TARGETS, Check, Doubt, Found, compare, number
from reticent.auditing.gate.limits import Limits
from reticent.auditing.gate.reading import Missing, read_estimate, without_interval
from reticent.auditing.roc import threshold_rate
from reticent.auditing.verdict import widened

BEFORE = ("lira", "lira-released", "rmia")
"""Strong attacks of documents from before audits said which of theirs are."""

Plain = Mapping[str, Any]


def checks(document: Plain, limits: Limits) -> list[Check]:
    """Hold the limits of AUC and TPR against an audit."""
    made = [] if limits.max_auc is None else [_auc(document, limits.max_auc, limits.allow)]
    return made + [_tpr(document, rate, limit, limits.allow) for rate, limit in limits.max_tpr]


def doubts(document: Plain) -> list[Doubt]:
    """Find what would take the meaning from low numbers, or from all numbers, of an audit."""
    return [*_control(document), *_health(document), *_strength(document), *_targets(document)]


def _auc(document: Plain, limit: float, allow: Sequence[str]) -> Check:
    read = [read_estimate(attack["name"], _overall(attack).get("auc"), attack) for attack in document["attacks"]]
    found = [_turned(one, len(read)) for one in read if isinstance(one, Found)]
    absent = without_interval([one for one in read if isinstance(one, Missing)])
    return compare(f"AUC at most {limit:g}", limit, found, absent, doubts(document), allow, "attacks")


def _turned(found: Found, attacks: int) -> Found:
    """Turn an attack that is shown to rank members below non-members: whoever knows that reads its scores backwards."""
    summary = found.summary
    if widened(summary, found.confidence, attacks)[1] >= 0.5:
        return found
    low, high = summary.interval
    turned = summary.with_(mean=1 - summary.mean, interval=(1 - high, 1 - low), tied=None)
    return Found(f"{found.name} read backwards", turned, found.confidence)


def _tpr(document: Plain, rate: float, limit: float, allow: Sequence[str]) -> Check:
    found: list[Found] = []
    missing: list[Missing] = []
    unknown, small, tied = [], [], []
    for attack in document["attacks"]:
        entry = _entry(_overall(attack).get("tpr_at_fpr"), rate)
        if entry is None:
            unknown.append(attack)
        elif not entry.get("measurable"):
            small.append(entry)
        else:
            read = read_estimate(attack["name"], entry.get("tpr"), attack, threshold_scale(attack, rate))
            if isinstance(read, Found):
                found.append(read)
                tied += [read.name] * (_strong(attack) and read.summary.tied is True)
            else:
                missing.append(read)
    if found and all(one.summary.tied for one in found):
        tied = [one.name for one in found]
    absent = [*_without_rate(unknown, rate), *without_interval(missing), *_small(small, rate), *ties(tied, rate)]
    name = f"TPR at FPR {rate:g} at most {limit:g}"
    return compare(name, limit, found, absent, doubts(document), allow, "attacks")


def ties(names: Sequence[str], rate: float | None) -> list[Doubt]:
    """Doubt a rate that equal scores decide, since it says little of what can be found at the one asked for."""
    if not names:
        return []
    near = "the false-positive rate asked for" if rate is None else f"a false-positive rate of {rate:g}"
    verb = "gives" if len(names) == 1 else "give"
    return [
        Doubt(
            "ties",
            f"{' and '.join(names)} {verb} so many records the same score that no threshold comes near {near}, so what "
            "can be found there is not known",
        )
    ]


def threshold_scale(attack: Plain, rate: float) -> float:
    """Say by how much to lower a TPR's lower limit, since its threshold was chosen on the same non-members.

    The threshold's true false-positive rate is above the one asked for where few are allowed (`roc.threshold_rate`). As
    an ROC curve is concave, TPR over FPR falls along it, so the TPR at the rate itself is at least the ratio of the two
    rates times what was measured.
    """
    expected = []
    for target in attack.get("targets") or ():
        entry = _entry(target.get("tpr_at_fpr"), rate) if isinstance(target, Mapping) else None
        allowed = None if entry is None else number(entry.get("false_positives_allowed"))
        others = None if entry is None else number(target.get("non_members"))
        if allowed is not None and others is not None:
            expected.append(threshold_rate(allowed, others))
    return min(1.0, rate * len(expected) / sum(expected)) if expected else 1.0


def _overall(attack: Plain) -> Plain:
    overall = attack.get("overall")
    return overall if isinstance(overall, Mapping) else {}


def _entry(entries: Any, rate: float) -> Plain | None:
    """Find the entry of a false-positive rate."""
    for entry in entries or ():
        fpr = number(entry.get("fpr")) if isinstance(entry, Mapping) else None
        if fpr is not None and isclose(fpr, rate, rel_tol=1e-9):
            return dict(entry)
    return None


def _without_rate(attacks: Sequence[Plain], rate: float) -> list[Doubt]:
    if not attacks:
        return []
    entries = _overall(attacks[0]).get("tpr_at_fpr") or ()
    rates = [number(entry.get("fpr")) for entry in entries if isinstance(entry, Mapping)]
    known = ", ".join(f"{known:g}" for known in rates if known is not None) or "none"
    return [Doubt("no-rate", f"the audit has no false-positive rate {rate:g}; it has {known}")]


def _small(entries: Sequence[Plain], rate: float) -> list[Doubt]:
    if not entries:
        return []
    need, have = entries[0].get("records_needed"), entries[0].get("non_members")
    return [
        Doubt(
            "not-measurable",
            f"a false-positive rate of {rate:g} is not measurable at this size: it needs {_count(need)} non-members a "
            f"model, the audit has {_count(have)}",
        )
    ]


def _count(value: Any) -> str:
    known = number(value)
    return "an unknown number of" if known is None else f"{known:,.0f}"


def _control(document: Plain) -> list[Doubt]:
    control = document.get("control")
    if not isinstance(control, Mapping) or control.get("passed") is not False:
        return []
    return [
        Doubt(
            "failed-control",
            "the null control failed: an attack found something where there is nothing, so no number of this audit can "
            "be relied on; run `reticent selftest`",
            fatal=True,
        )
    ]


def _health(document: Plain) -> list[Doubt]:
    population = document.get("population")
    facts: Plain = population if isinstance(population, Mapping) else {}
    sick = facts.get("health")
    if sick is None:
        message = "the audit does not say whether its models learned: what learned nothing has nothing to give away"
        return [Doubt("did-not-learn", message)]
    if not sick:
        return []
    some = f"{len(sick)} of {_count(facts.get('models'))} models did not learn"
    return [Doubt("did-not-learn", f"{some}: what learned nothing has nothing to give away")]


def _strength(document: Plain) -> list[Doubt]:
    names = [str(attack["name"]) for attack in document["attacks"]]
    if any(_strong(attack) for attack in document["attacks"]):
        return []
    ran = ", ".join(names) or "none"
    return [
        Doubt(
            "weak-attacks",
            f"no strong attack is in the audit (it ran {ran}): attacks that ask one model alone miss most of a leak; "
            "run lira or rmia",
        )
    ]


def _strong(attack: Plain) -> bool:
    """Whether an attack compares models with and without a record. The others miss most of a leak."""
    said = attack.get("strong")
    return attack["name"] in BEFORE if said is None else said is True


def _targets(document: Plain) -> list[Doubt]:
    counts = [len(attack.get("targets") or ()) for attack in document["attacks"]]
    fewest = min(counts, default=0)
    if fewest == 1 or fewest >= FEWEST_TARGETS:
        return []
    return [
        Doubt(
            "few-models",
            f"{fewest} models were audited: the interval over so few is too short to be held to its confidence; audit "
            f"{FEWEST_TARGETS} or more",
        )
    ]
