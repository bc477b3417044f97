"""The limits that are not of an attack: epsilon, which an audit bounds from below only, and accuracy."""

from collections.abc import Mapping, Sequence
from typing import Any

from scipy.special import stdtrit

from reticent.auditing.gate.check import DIGITS, Check, Doubt, estimate, number, unjudged
from reticent.auditing.gate.limits import Limits
from reticent.auditing.intervals import clopper_pearson
from reticent.findings.epsilon import GIVEN
from reticent.rounding import down, fraction, significant_down, significant_up, up

CONFIDENCE = 0.95
"""Of the accuracy's interval, two-sided."""

Plain = Mapping[str, Any]


def epsilon(document: Plain, limits: Limits, doubts: Sequence[Doubt] = ()) -> Check:
    """Hold epsilon against its limit.

    An audit bounds epsilon from below, so by itself it can fail a limit and never meet it. A pass needs an accountant's
    epsilon, or one that the user states, at the same delta or a smaller one, that the audit does not contradict.
    """
    limit = limits.max_epsilon
    if limit is None:
        raise ValueError("max_epsilon is not given")
    found = document.get("epsilon")
    found = found if isinstance(found, Mapping) else {}
    lower, measured_at = number(found.get("lower")), number(found.get("delta"))
    delta = measured_at if limits.delta is None else limits.delta
    name = f"epsilon at most {limit:g}" + ("" if delta is None else f" at delta {delta:g}")
    counts = lower is not None and measured_at is not None and delta is not None and measured_at >= delta
    facts: dict[str, Any] = {"estimate": lower if counts else None, "attack": _text(found.get("attack"))}
    for doubt in doubts:
        if doubt.fatal:
            return unjudged(name, limit, doubt, limits.allow, **facts)
    if counts and lower is not None and lower > limit:
        sure = number(found.get("confidence"))
        message = f"above the limit: epsilon is at least {_down(lower)}" + (f" (confidence {sure:g})" if sure else "")
        return Check(name, limit, "failed", f"{message}, above {limit:g}", **facts)
    accountant = found.get("accountant")
    upper = _upper(accountant, delta) if isinstance(accountant, Mapping) else None
    if upper is None:
        return unjudged(name, limit, _no_upper(lower, counts, accountant), limits.allow, **facts)
    facts["bound"] = upper
    if upper > limit:
        message = f"not shown to be below the limit: {_whose(accountant)} is {significant_up(upper)}, above {limit:g}"
        return Check(name, limit, "failed", message, **facts)
    if lower is None:
        whose = _whose(accountant)
        doubt = Doubt("no-epsilon", f"the audit has no lower bound of epsilon to compare {whose} with")
        return unjudged(name, limit, doubt, limits.allow, **facts)
    if found.get("consistent") is False or (counts and lower > upper):
        message = (
            f"the audit contradicts {_whose(accountant)}: epsilon is at least {_down(lower)}, and that is at most "
            f"{significant_up(upper)}; one of the two is wrong"
        )
        return unjudged(name, limit, Doubt("contradiction", message), limits.allow, **facts)
    message = (
        f"{_whose(accountant)} is {significant_up(upper)}, at or below {limit:g}; "
        f"the audit ({_down(lower)} or more) does not contradict it{_proof(found.get('proven'))}"
    )
    return Check(name, limit, "passed", message, **facts)


def _proof(proven: Any) -> str:
    """Add what training proves, where the epsilon that passes is one that the user states."""
    value = number(proven.get("epsilon")) if isinstance(proven, Mapping) else None
    return "" if value is None else f"; training proves at most {significant_up(value)} at delta {proven.get('delta')}"


def _down(lower: float) -> str:
    return significant_down(lower) if lower > 0 else "0"


def _upper(accountant: Plain, delta: float | None) -> float | None:
    """Take the accountant's epsilon, if it holds at the delta asked for: a guarantee at a smaller one does."""
    at, value = number(accountant.get("delta")), number(accountant.get("epsilon"))
    return value if at is not None and delta is not None and at <= delta else None


def _whose(accountant: Any) -> str:
    """Say where an upper epsilon comes from."""
    if isinstance(accountant, Mapping) and (accountant.get("source") in GIVEN):
        return "epsilon as stated by the user, not computed,"
    return "the accountant's epsilon"


def _no_upper(lower: float | None, counts: bool, accountant: Any) -> Doubt:
    if isinstance(accountant, Mapping):
        at = f"{accountant.get('epsilon')} at delta {accountant.get('delta')}"
        return Doubt("no-accountant", f"{_whose(accountant)} is {at}, which says nothing at the delta asked for")
    known = f"; it shows that epsilon is at least {_down(lower)}" if counts and lower else ""
    return Doubt(
        "no-accountant",
        f"an audit can show that epsilon is above a limit, never that it is below{known}; a pass needs the epsilon of "
        "an accountant, which training with differential privacy has",
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def accuracy(document: Plain, limit: float, allow: tuple[str, ...]) -> Check:
    """Hold the lower limit of the mean accuracy on non-members against a limit: a broken model is private and useless.

    Where the document has no interval, it is Student's over models with the largest variance that records may add,
    ``p (1 - p) / N``; for one model, Clopper-Pearson's.
    """
    name = f"accuracy on non-members at least {limit:g}"
    found = _accuracy(document)
    if found is None:
        lacking = "the audit has no accuracy on non-members, or not its spread over how many models and records"
        return unjudged(name, limit, Doubt("no-accuracy", lacking), allow)
    mean, low, high = found
    shown = fraction(mean, DIGITS)
    facts: dict[str, Any] = {"estimate": mean, "bound": low, "side": "at least"}
    if low >= limit:
        return Check(name, limit, "passed", f"the lower limit {down(low, limit)} is at or above {limit:g}", **facts)
    if high < limit:
        message = f"below the limit: the accuracy is {shown}, and its upper limit {up(high, limit)} is below {limit:g}"
    else:
        message = (
            f"not shown to be above the limit: the accuracy is {shown}, and {limit:g} lies above the lower end of "
            f"its interval {down(low, limit)} to {up(high, limit)}: more models or more records may settle it"
        )
    return Check(name, limit, "failed", message, **facts)


def _accuracy(document: Plain) -> tuple[float, float, float] | None:
    """Return the mean and its limits."""
    population = document.get("population")
    facts = population if isinstance(population, Mapping) else {}
    spread = facts.get("accuracy")
    given = spread.get("non_members") if isinstance(spread, Mapping) else None
    read = estimate(given)
    if read is not None:
        return read.mean, *read.interval
    if not isinstance(given, Mapping):
        return None
    mean, std = number(given.get("mean")), number(given.get("std"))
    data = document.get("data")
    models, records = number(facts.get("models")), number(data.get("records")) if isinstance(data, Mapping) else None
    if mean is None or models is None or records is None or not 0 <= mean <= 1 or models < 1 or records < 1:
        return None
    if models < 2:
        # Half of the records are non-members of a model.
        half = max(1.0, records // 2)
        low, high = clopper_pearson(round(mean * half), half, CONFIDENCE)
        return mean, float(low), float(high)
    if std is None:
        return None
    variance = std**2 / models + mean * (1 - mean) / records
    arm = float(stdtrit(models - 1, (1 + CONFIDENCE) / 2)) * variance**0.5
    return mean, max(0.0, mean - arm), min(1.0, mean + arm)
