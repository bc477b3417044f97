"""From what was measured to the verdict on a claim: each kind of network by itself, then those that it is about."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reticent.studies.base import Claim, Results, Setting
from reticent.studies.judging import VERDICTS, Answer, Part, Reason, finding


@dataclass(frozen=True)
class Kind:
    """What one kind of network says of a claim.

    Attributes:
        network: the kind.
        settings: those with such a network.
        counts: it has a part in the verdict.
        parts: the numbers.
        found: yes, no or open.
        reason: why it is open, else None.
    """

    network: str
    settings: tuple[Setting, ...]
    counts: bool
    parts: tuple[Part, ...]
    found: Answer
    reason: Reason | None


@dataclass(frozen=True)
class Judged:
    """The verdict on a claim.

    Attributes:
        verdict: in the words of the claim's origin.
        reason: why it can't be told, else None.
        kinds: all kinds of network that were run.
    """

    verdict: str
    reason: Reason | None
    kinds: tuple[Kind, ...]


def judge(claim: Claim, results: Results) -> Judged:
    """Judge a claim."""
    kinds = tuple(_kind(claim, results, name) for name in dict.fromkeys(one.network for one in results.settings))
    answer, reason = _together(claim, kinds)
    return Judged(VERDICTS[claim.origin][answer], reason, kinds)


def _kind(claim: Claim, results: Results, network: str) -> Kind:
    settings = tuple(one for one in results.settings if one.network == network)
    parts = tuple(claim.parts(replace(results, settings=settings)))
    alike = claim.origin == "ours" or not any(one.unlike for one in settings)
    return Kind(network, settings, _about(claim, network) and alike, parts, *finding(parts))


def _about(claim: Claim, network: str) -> bool:
    return not claim.networks or network in claim.networks


def _together(claim: Claim, kinds: Sequence[Kind]) -> tuple[Answer, Reason | None]:
    counted = [one for one in kinds if one.counts]
    if not counted:
        return "open", "setting" if any(_about(claim, one.network) for one in kinds) else "network"
    measured = [one for one in counted if one.parts] or counted
    if {"yes", "no"} <= {one.found for one in measured}:
        return "open", "disagree"
    decisive = next((one for one in measured if one.found == "open"), measured[0])
    return decisive.found, decisive.reason
