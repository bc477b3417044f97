"""What a bound on epsilon from below means, and how it fits what is promised from above."""

from collections.abc import Sequence

from reticent.auditing.epsilon.bounds import consistent
from reticent.findings.epsilon import Accountant, EpsilonAudit, EpsilonBounds
from reticent.rounding import down, level, plain, significant_down, up
from reticent.say.grammar import agree, listed, sentence, short

METHODS = {
    "all-thresholds": ("every threshold", "all thresholds of the scores are tried, and the bound is lowered for that"),
    "split": ("split", "the threshold is chosen on some of the records, and the bound is measured on the others"),
    "given": ("given threshold", "the threshold was fixed before looking"),
    "gaussian": ("Gaussian", "if training leaks as Gaussian noise does (as in DP-SGD), from all scores together"),
    "one-run": ("one run", "the right guesses are counted that an attacker makes on many records of one model"),
    "f-dp": ("one run, Gaussian", "as one run, if training leaks as Gaussian noise does"),
}
"""Method -> its name, and how it works."""
COMBINED = (
    "The bound of several models is the median of theirs, each made at half the error that is allowed: that holds "
    "however the models depend on each other."
)


def meaning(unit: str | None) -> str:
    """Say what epsilon is of: of a record, or of a unit, a value of that column."""
    what = "a single record" if unit is None else f"one {short(unit)}, with all its records,"
    return (
        f"Epsilon says how surely an attacker can tell whether {what} was used: 0 is not at all, and more is surer. "
        "“At least” is what these attacks have shown; the true epsilon may be far larger, and only training with "
        "differential privacy proves that it is not."
    )


def spoken(found: EpsilonAudit) -> EpsilonAudit:
    """Fill in the sentence."""
    told = measured(found)
    return found.with_(sentence=told if found.unproved is None else f"{told} {found.unproved}")


def measured(found: EpsilonAudit) -> str:
    """Say what the bound means, and how it fits what is promised."""
    lower, delta, confidence = found.lower, found.delta, found.confidence
    assert lower is not None
    assert delta is not None
    assert confidence is not None
    at, sure = f"(at delta {plain(delta)})", f"at {level(confidence)} confidence"
    told = f"This shows nothing about epsilon: at this size the audit cannot rule out epsilon 0 {at}, {sure}."
    if lower > 0:
        told = f"No training with epsilon below {least(lower)} {at} could give such results, {sure}."
    if found.accountant is not None:
        told = f"{told} {_beside(lower, delta, found.accountant)}"
    if found.of_record is not None:
        told = f"{told} {_of_record(found.of_record, found.proven or found.accountant)}"
    if found.accountant is None or found.proven is None:
        return told
    kept = "proves" if found.proven.covers(found.accountant) else "does not prove"
    return f"{told} {_beside(lower, delta, found.proven)} So the training {kept} the promise."


def _of_record(proof: Accountant, above: Accountant | None) -> str:
    """Say that the proof is of one record, and whether anything follows for a unit of several."""
    told = f"Of one record by itself the accountant proves at most {up(proof.epsilon, digits=2)}"
    if above is not None and not above.stated:
        return f"{told}; what holds for a unit follows from that."
    return f"{told}; for a unit of several, which are there or not together, that proves nothing."


def method_name(method: str) -> str:
    """Name a method for people."""
    return METHODS.get(method, (method,))[0]


def shown(lower: float) -> str:
    """Write a bound from below by itself; that there is none is said, since 0 reads as if epsilon were 0."""
    return least(lower) if lower > 0 else "none shown"


def note(found: EpsilonAudit) -> str:
    """Say what stands beside the bound on its card."""
    assert found.delta is not None
    assert found.confidence is not None
    said = f"delta {plain(found.delta)}, {level(found.confidence)} sure"
    if found.lower == 0:
        said = f"nothing is ruled out ({said})"
    for above in filter(None, (found.accountant, found.proven)):
        at = "" if above.delta == found.delta else f" at delta {plain(above.delta)}"
        most = f"at most {up(above.epsilon, digits=2)}{at}"
        stated = f"{most}, as stated by the user, not computed"
        said += f"; {stated}" if above.stated else f"; the accountant proves {most}{_of(above)}"
    if found.of_record is not None:
        said += f"; of one record alone at most {up(found.of_record.epsilon, digits=2)} (accountant)"
    return f"{said}; training proves no upper bound" if found.unproved else said


def origin(found: EpsilonAudit) -> str:
    """Say how the bounds of the table and the one of the sentence belong together: the table may show higher ones."""
    many = f"lowered for the choice among {found.best_of} attacks" if found.best_of and found.best_of > 1 else ""
    how = f"by “{method_name(found.method or '')}”, the method fixed in advance"
    said = f"The bound above is that of {found.attack}, {how}{many and f', and {many}'}."
    if found.lower == 0:
        said = f"No attack has a bound above 0 {how}{many and f', once that is {many}'}."
    return f"{said} In the table each bound stands by itself{', and so may be higher' if many else ''}."


def assumptions(attacks: Sequence[EpsilonBounds]) -> list[str]:
    """Say what the methods assume, each assumption once."""
    needed: dict[str, dict[str, None]] = {}
    for bound in (bound for one in attacks for bound in one.bounds):
        if bound.assumes:
            needed.setdefault(bound.assumes, {})[f"“{method_name(bound.method)}”"] = None
    return [f"{listed(who)} {agree(len(who), 'assumes', 'assume')} that {text}." for text, who in needed.items()]


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


def _of(above: Accountant) -> str:
    """Say of how many records together an accountant's epsilon is."""
    return "" if above.records is None else f" for a unit of {above.records:,} records, the most that one has"


def _beside(lower: float, delta: float, above: Accountant) -> str:
    """Hold the bound from below against one from above."""
    fits = consistent(lower, delta, above)
    at = _at(above.delta, None if fits is None else delta)
    who, promise = "accountant", f"the accountant proves at most {up(above.epsilon, digits=2)}{at}{_of(above)}"
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
