"""Why a limit is passed, failed or cannot be judged."""

from collections.abc import Sequence

from reticent.findings.attack import Audit
from reticent.findings.base import Interval
from reticent.findings.epsilon import Accountant
from reticent.findings.gate import Check, Outcome
from reticent.findings.numbers import Estimate
from reticent.findings.population import Population
from reticent.rounding import down, fraction, joined, level, percent, plain, significant_down, significant_up, up
from reticent.say.grammar import agree, listed, plural
from reticent.say.population import BEYOND_CHANCE, UNLEARNED

DIGITS = 4
"""Decimals of what is held against a limit."""
NOT_RESOLVED = "not resolved"
"""What became of a check that passes since nothing is shown of any group."""
WORDS = {
    Outcome.FAILED: "failed",
    Outcome.CANNOT_JUDGE: "cannot be judged",
    Outcome.SKIPPED: "cannot be judged, which was allowed",
    Outcome.PASSED: "passed",
    NOT_RESOLVED: "not resolved, which passes",
}
NO_GROUPS = "the audit has no groups: run it again with --group-by COLUMN"
NO_ACCURACY = "the audit has no accuracy on non-members, or not its spread over how many models and records"
RECORDS_DIFFER = (
    "members and non-members differ without the model, so that low numbers do not show that it gives nothing away: "
    "audit it with members and non-members from one source, drawn at random"
)
UNCOMPARED = (
    "members and non-members differ without the model, and only attacks that compare a record with models that were "
    "not trained on it can show a leak beyond that; not judged: "
)
UNEQUAL_SHARES = (
    f"{BEYOND_CHANCE}, so that numbers are high or low for that, whatever leaks: audit models that were each trained "
    "on a random half of the records"
)
FAILED_CONTROL = (
    "the null control failed: an attack found something where there is nothing, so no number of this audit can be "
    "relied on; run reticent selftest"
)


def sentence(outcome: Outcome, checks: Sequence[Check]) -> str:
    """Say what became of all checks, and which groups may be above a limit all the same."""
    counts = {word: [check.name for check in checks if result(check) == kind] for kind, word in WORDS.items()}
    (first, names), *others = [(word, names) for word, names in counts.items() if names]
    every = f"{len(names)} of {len(checks)} checks {first}{_called(names)}"
    if not others:
        every = f"the only check ({names[0]}) {first}" if len(names) == 1 else f"all {len(names)} checks {first}"
    rest = "".join(f"; {len(names)} {word}{_called(names)}" for word, names in others)
    return f"{outcome.value.capitalize()}: {every}{rest}.{_open(checks)}"


def result(check: Check) -> str:
    """Say in a word what became of a check."""
    return NOT_RESOLVED if check.none_resolved else check.outcome


def _open(checks: Sequence[Check]) -> str:
    groups = list(dict.fromkeys(group for check in checks for group in check.unresolved))
    if not groups:
        return ""
    return (
        f" {plural(len(groups), 'group')} may still be above a limit ({_some(groups)}): the audit is too small to "
        "tell. With --max-group-auc and --max-group-tpr the gate passes only if every group is shown to be below."
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _called(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if len(names) <= 2 else ""


def evidence(name: str, found: Estimate, confidence: float, limit: float) -> str:
    """Write one number that is compared."""
    ties = ", decided by equal scores" if found.tied else ""
    ends = _ends(found.interval, limit)
    return f"{name}: {fraction(found.mean, DIGITS)}, {100 * confidence:.6g} % interval {ends}{ties}"


def below(name: str, upper: float, limit: float, count: int, each: str, allowed: Sequence[str]) -> str:
    """Say that every upper limit is at or below the limit."""
    every = f"all {count} {each}" if count > 1 else f"the only one of the {each}"
    told = "".join(f"; allowed: {message}" for message in allowed)
    return f"the upper limit of {every} is at or below {limit:g}; the highest is {up(upper, limit)} ({name}){told}"


def above(name: str, mean: float, lower: float, limit: float, count: int, each: str, chosen: bool) -> str:
    """Say that a lower limit is above the limit."""
    reasons = _widening(count, each, chosen)
    wide = f", widened for {reasons}," if reasons else ""
    return (
        f"above the limit: {name} has {fraction(mean, DIGITS)}, and its lower limit{wide} is {down(lower, limit)}, "
        f"above {limit:g}"
    )


def _widening(count: int, each: str, chosen: bool) -> str:
    return listed([f"{count} {each}"] * (count > 1) + ["the choice of its threshold"] * chosen)


def above_alone(name: str, found: Estimate, lower: float, limit: float, count: int, each: str, chosen: bool) -> str:
    """Say that an interval lies above the limit, and no longer does when it is widened."""
    return (
        f"not shown to be below the limit: the whole interval of {name}, {_ends(found.interval, limit)} (estimate "
        f"{fraction(found.mean, DIGITS)}), lies above {limit:g}; nor shown to be above it: widened for "
        f"{_widening(count, each, chosen)} it begins at {down(lower, limit)}; more models or more records may "
        "settle it"
    )


def not_below(name: str, found: Estimate, limit: float) -> str:
    """Say that the limit lies inside an interval."""
    return (
        f"not shown to be below the limit: the interval of {name}, {_ends(found.interval, limit)} (estimate "
        f"{fraction(found.mean, DIGITS)}), reaches above {limit:g}; more models or more records may settle it"
    )


def no_number(each: str) -> str:
    """Say that there is nothing to compare."""
    return f"the audit has no number for any of the {each}"


def outside(names: Sequence[str]) -> str:
    """Say that estimates lie outside of their own intervals."""
    return f"{listed(names)} {agree(len(names), 'lies', 'lie')} outside of its own interval"


def ties(names: Sequence[str], rate: float | None) -> str:
    """Say that equal scores decide a rate."""
    near = "the false positive rate asked for" if rate is None else f"a false positive rate of {rate:g}"
    return (
        f"{listed(names)} {agree(len(names), 'gives', 'give')} so many records the same score that no threshold "
        f"comes near {near}, so what can be found there is not known"
    )


def no_rate(rate: float, audit: Audit) -> str:
    """Say which rates there are."""
    known = ", ".join(f"{one.fpr:g}" for one in audit.rates) or "none"
    return f"the audit has no false positive rate {rate:g}; it has {known}"


def small_rate(rate: float, needed: int, there: int) -> str:
    """Say how many non-members a rate needs."""
    return (
        f"a false positive rate of {rate:g} is not measurable at this size: it needs {needed:,} non-members a model, "
        f"the audit has {there:,}"
    )


def small_groups(names: Sequence[str]) -> str:
    """Say which groups are too small."""
    return f"too few records to measure: {_some(names)}"


def group_above(name: str, attack: str, found: float, least: float, limit: float, wrong: float | None) -> str:
    """Say that a group is above a limit; `wrong` is the share of its non-members that a TPR comes with."""
    alarms, beyond = "", ""
    if wrong is not None:
        alarms, beyond = f", with false alarms at {fraction(wrong, DIGITS)}", " beyond these"
    return (
        f"above the limit: {attack} has {fraction(found, DIGITS)} in {name}{alarms}, at least "
        f"{down(least, limit)}{beyond} by a lower limit that holds for all groups and attacks together, above {limit:g}"
    )


def no_group_above(name: str, least: float, limit: float, unresolved: Sequence[str], groups: int) -> str:
    """Say that no group is above, and which might be."""
    told = f"the highest lower limit of {plural(groups, 'group')} is {down(least, limit)} ({name})"
    return f"{told}; {_unresolved(unresolved)}" if unresolved else f"{told}; all are below"


def no_group_measured(unresolved: Sequence[str]) -> str:
    """Say that nothing is shown of any group."""
    return f"no group is large enough for anything to be shown of it; {_unresolved(unresolved)}"


def _unresolved(names: Sequence[str]) -> str:
    return f"{_some(names)} {agree(len(names), 'is', 'are')} not resolved, and may be below or above"


def learned(population: Population) -> str:
    """Say that models did not learn, or that nobody knows."""
    if population.health is None:
        return f"the audit does not say whether its models learned, and {UNLEARNED}"
    return f"{population.unlearned} of {population.models} models did not learn, and {UNLEARNED}"


def contradicted(population: Population) -> str:
    """Say that many records have a copy with the other membership."""
    return (
        f"{percent(population.contradicted)} of members and non-members have an exact copy that is the other of the "
        "two, which hides a leak: leave the copies out and audit again"
    )


def weak(names: Sequence[str], models: int) -> str:
    """Say that no attack ran that compares models."""
    remedy = "run lira or rmia"
    if models < 2:
        remedy = "those that find more (lira, rmia) need the outputs of several models, trained on random halves"
    return (
        f"no strong attack is in the audit (it ran {', '.join(names)}): attacks that ask one model alone miss most of "
        f"a leak; {remedy}"
    )


def low_confidence(confidence: float, enough: float) -> str:
    """Say that intervals are too narrow to be held against a limit."""
    return (
        f"the intervals of the audit hold at {level(confidence)}, expected at least {level(enough)}: run it again with "
        f"--confidence {enough:g}"
    )


def few_models(models: int, sets: int, enough: int) -> str:
    """Say that little is known from few models, or from those of few training sets."""
    of = "" if sets == models else f", which have {sets} training sets"
    more = f"audit {enough} or more" if sets == models else f"audit models of {enough} training sets or more"
    return f"{models} models were audited{of}: how much models differ is hardly known from so few; {more}"


def epsilon_above(lower: float, limit: float, confidence: float | None) -> str:
    """Say that epsilon is above its limit."""
    sure = f" (confidence {confidence:g})" if confidence else ""
    return f"above the limit: epsilon is at least {_down(lower)}{sure}, above {limit:g}"


def epsilon_not_below(accountant: Accountant, limit: float) -> str:
    """Say that the epsilon from above is above the limit."""
    return f"not shown to be below the limit: {_is(accountant)}, above {limit:g}"


def epsilon_passed(lower: float, accountant: Accountant, limit: float, proven: Accountant | None) -> str:
    """Say that the epsilon from above meets the limit, and is not contradicted."""
    proof = ""
    if proven is not None:
        proof = f"; training proves at most {significant_up(proven.epsilon)} at delta {plain(proven.delta)}"
    return f"{_is(accountant)}, at or below {limit:g}; the audit ({_down(lower)} or more) does not contradict it{proof}"


def contradiction(lower: float, accountant: Accountant) -> str:
    """Say that the bounds from below and from above exclude each other."""
    return (
        f"the audit contradicts {_whose(accountant)}: epsilon is at least {_down(lower)}, and that is at most "
        f"{significant_up(accountant.epsilon)}; one of the two is wrong"
    )


def no_upper(lower: float | None, accountant: Accountant | None, of_record: Accountant | None) -> str:
    """Say why there is no epsilon from above at the delta asked for."""
    if accountant is not None:
        at = f"{significant_up(accountant.epsilon)} at delta {plain(accountant.delta)}"
        return f"{_whose(accountant)} is {at}, which says nothing at the delta asked for"
    known = f"; it shows that epsilon is at least {_down(lower)}" if lower else ""
    if of_record is not None:
        return (
            f"the accountant's epsilon ({significant_up(of_record.epsilon)}) is of one record, and proves nothing for "
            f"a unit of several{known}"
        )
    return (
        f"an audit can show that epsilon is above a limit, never that it is below{known}; a pass needs the epsilon of "
        "an accountant, which training with differential privacy has"
    )


def no_lower(accountant: Accountant) -> str:
    """Say that there is nothing to hold the epsilon from above against."""
    return f"the audit has no lower bound of epsilon to compare {_whose(accountant)} with"


def accuracy(mean: float, low: float, high: float, limit: float) -> str:
    """Say how the accuracy stands to its limit."""
    if low >= limit:
        return f"the lower limit {down(low, limit)} is at or above {limit:g}"
    shown = fraction(mean, DIGITS)
    if high < limit:
        return f"below the limit: the accuracy is {shown}, and its upper limit {up(high, limit)} is below {limit:g}"
    return (
        f"not shown to be above the limit: the accuracy is {shown}, and {limit:g} lies above the lower end of its "
        f"interval {_ends((low, high), limit)}: more models or more records may settle it"
    )


def _ends(ends: Interval, limit: float) -> str:
    """Write an interval, rounded outwards."""
    return joined([down(ends[0], limit), up(ends[1], limit)])


def _down(lower: float | None) -> str:
    return significant_down(lower or 0)


def _is(accountant: Accountant) -> str:
    return f"{_whose(accountant)} is {significant_up(accountant.epsilon)}"


def _whose(accountant: Accountant) -> str:
    of = "" if accountant.records is None else f" for a unit of {accountant.records:,} records"
    return "epsilon as stated by the user, not computed," if accountant.stated else f"the accountant's epsilon{of}"
