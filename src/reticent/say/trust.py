"""What the null control and the attacker who does not know of the defense show."""

from reticent.findings.audit import Control, Detectable, NonAdaptive
from reticent.findings.numbers import Lower
from reticent.rounding import decimals, fraction, level, percent
from reticent.say.grammar import agree, listed

NULL = "With permuted membership, where there is nothing to find,"


def control(found: Control, *, unequal: bool) -> Control:
    """Fill in the sentence of a null control; `unequal`: who is a member depends on more than chance."""
    return found.with_(sentence=_control(found, unequal=unequal))


def _control(found: Control, *, unequal: bool) -> str:
    differ = f"{NULL} {listed(found.differ)} {agree(len(found.differ), 'differs', 'differ')} from chance"
    if found.differ and unequal:
        return (
            f"{differ}: records that are in more of the models are told by what they are. Only what the audit finds "
            "beyond that is a leak. Where each record is as likely a member as any other (reticent.Membership.draw), "
            "there is no such difference."
        )
    if found.differ:
        return (
            f"{differ}: the numbers of this audit cannot be trusted. Run reticent selftest; if it passes, look for "
            "records that occur several times, or for signals that were not computed by the models they are said to be "
            "of."
        )
    said = f"{NULL} no attack does better than chance."
    return said if found.detectable is None else f"{said} {detectable(found.detectable)}"


def detectable(least: Detectable) -> str:
    """Say how large a leak must be for an audit of this size to find it."""
    size = f"an AUC of {fraction(least.auc)}"
    if least.tpr is not None and least.fpr is not None:
        rate = percent(least.tpr, decimals(least.fpr))
        size += f", or {rate} of the members at a false positive rate of {level(least.fpr)}"
    sure = f"with a probability of {level(least.power)}"
    return f"An audit of this size finds a leak {sure} if it is as large as {size}, by {least.attack}."


def non_adaptive(found: NonAdaptive, attack: str, aware: float) -> NonAdaptive:
    """Fill in the sentence; `attack` is the verdict's, and `aware` its AUC with references that know the defense."""
    return found.with_(sentence=_non_adaptive(found, attack, aware))


def _non_adaptive(found: NonAdaptive, attack: str, aware: float) -> str:
    if found.same_scores:
        return (
            f"The attack that finds most, {attack}, gives the same scores (AUC {fraction(aware)}) whether or not the "
            "attacker knows of the defense, so it does not tell what hiding the defense would change."
        )
    unaware = next(one.auc.mean for one in found.attacks if one.name == attack)
    said = (
        f"An attacker who does not know of the defense reaches an AUC of {fraction(unaware)}; one who knows it, and "
        f"trains references with it, {fraction(aware)} (both by {attack})"
    )
    if found.verdict is Lower.TIE:
        return f"{said}: no difference is shown, so it is not shown that hiding the defense protects anybody."
    if found.verdict is Lower.SECOND:
        return f"{said}: the difference is protection that works only while the attacker does not know of the defense."
    return f"{said}: here references without the defense serve the attacker better, so the larger number counts."
