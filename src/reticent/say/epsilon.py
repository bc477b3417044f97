"""What a bound on epsilon from below means, and how it fits what is promised from above."""

from reticent.auditing.epsilon.bounds import consistent
from reticent.findings.epsilon import Accountant, EpsilonAudit
from reticent.rounding import down, level, plain, significant_down, up
from reticent.say.grammar import sentence


def spoken(found: EpsilonAudit) -> EpsilonAudit:
    """Fill in the sentence."""
    told = _sentence(found)
    return found.with_(sentence=told if found.unproved is None else f"{told} {found.unproved}")


def _sentence(found: EpsilonAudit) -> str:
    lower, delta, confidence = found.lower, found.delta, found.confidence
    assert lower is not None
    assert delta is not None
    assert confidence is not None
    at, sure = f"(at delta {plain(delta)})", f"at {level(confidence)} confidence"
    told = f"This shows nothing about epsilon: at this size the audit cannot rule out epsilon 0 {at}, {sure}."
    if lower > 0:
        told = f"No training with epsilon below {least(lower)} {at} could give such results, {sure}."
    if found.accountant is None:
        return told
    told = f"{told} {_beside(lower, delta, found.accountant)}"
    if found.proven is None:
        return told
    kept = "proves" if found.proven.covers(found.accountant) else "does not prove"
    return f"{told} {_beside(lower, delta, found.proven)} So the training {kept} the promise."


def least(lower: float) -> str:
    """Write a bound from below with two decimals, unless these would make it 0."""
    return down(lower, digits=2) if lower >= 0.01 else significant_down(lower)


def _at(upper: float, lower: float | None) -> str:
    """Name the delta of an upper bound where it is not that of the lower one, and what follows if that is given."""
    if upper == lower:
        return ""
    if lower is None:
        return f" (at delta {plain(upper)})"
    what = f"and so at {plain(lower)} too" if upper < lower else f"which says nothing of delta {plain(lower)}"
    return f" (at delta {plain(upper)}, {what})"


def _beside(lower: float, delta: float, above: Accountant) -> str:
    """Hold the bound from below against one from above."""
    fits = consistent(lower, delta, above)
    at = _at(above.delta, None if fits is None else delta)
    who, promise = "accountant", f"the accountant proves at most {up(above.epsilon, digits=2)}{at}"
    wrong = "the noise is not added as it assumes, or another of its assumptions does not hold"
    if above.stated:
        who, wrong = "promise", "the training does not keep it"
        promise = f"epsilon at most {plain(above.epsilon)}{at}, as stated by the user, not computed"
    if fits is None:
        return f"It cannot be held against the {who}: {promise}, and another delta is another promise."
    if fits:
        return f"That does not contradict the {who}: {promise}."
    return sentence(
        f"That contradicts the {who}: {promise}. Either {wrong}, or this is one of the rare audits that are wrong"
    )
