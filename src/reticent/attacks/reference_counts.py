"""Counting references: does every target keep enough of them for every record?"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.base import Needs, Rows
from reticent.data.membership import Membership, divided
from reticent.errors import TooFewReferencesError, UnequalSharesError

Counts = NDArray[np.int64]
UNFAIR, MATERIAL = 1e-6, 1.5
"""How improbable under fair draws, and how many times as large, a variance of counts is that is refused."""
MOST_GUESSED = 0.2
"""The largest share of the members, or of the non-members, that an attack guesses, having no references of one kind for
them: what it finds is understated by as much. With independent halves of 5 models that is 13 %, with 8 models 2 %."""
FEWER = "choose options that need fewer"
"""What helps an attack whose options may need fewer references."""
CHEAPEST = Needs(references_out=1)
"""What any attack needs that compares models and has options, with those that need least."""


def counts(membership: Membership, targets: Rows, references: Rows) -> Iterator[tuple[Counts, Counts]]:
    """Count each target's references trained on a record and those not, ``(N,)`` each, the target left out."""
    inside = np.add.reduce(membership.of(references), axis=0, dtype=np.int64)
    outside = len(references) - inside
    for target in targets:
        own = membership.matrix[target]
        yield (inside - own, outside - ~own) if target in references else (inside, outside)


def unreferenced(needs: Needs, membership: Membership, targets: Rows, references: Rows) -> NDArray[np.bool_] | None:
    """Tell which targets have too few IN or OUT references for which records ``(T, N)``; None where all have enough.

    A target's own row has no part in its row here.
    """
    if not (needs.references_in or needs.references_out):
        return None
    inside = np.add.reduce(membership.of(references), axis=0, dtype=np.int64)
    if needs.references_in < inside.min() and needs.references_out < len(references) - inside.max():
        return None  # even without one more reference of either kind, a target's own
    short = np.empty((len(targets), membership.records), dtype=np.bool_)
    for row, (within, without) in zip(short, counts(membership, targets, references), strict=True):
        row[:] = (within < needs.references_in) | (without < needs.references_out)
    return short if short.any() else None


def guessed(short: NDArray[np.bool_], members: NDArray[np.bool_]) -> float:
    """Tell which share of the members, or of the non-members if that is more, is guessed, over all targets."""
    return max(float((short & kind).sum() / max(kind.sum(), 1)) for kind in (members, ~members))


def require(
    method: str, needs: Needs, membership: Membership, targets: Rows, references: Rows, fewer: str = FEWER
) -> None:
    """Check that targets have what an attack needs, for all but `MOST_GUESSED` of the members and of the non-members.

    Where each record is in one model, say, no member has an IN reference, and all others have. `fewer` says which
    options need fewer references.
    """
    able = references[divided(membership.of(references))] if needs.references else references
    told = " that hold some of the records and not others" if len(able) < len(references) else ""
    for target in targets:
        others = int(np.count_nonzero(able != target))
        if others < needs.references:
            raise TooFewReferencesError(
                f"{method}: expected at least {needs.references} reference models besides the target{told}, got "
                f"{others} for target {target}: {needs.references - others} too few. "
                f"{_more(membership, references, needs)}"
            )
    short = unreferenced(needs, membership, targets, references)
    if short is None or guessed(short, membership.of(targets)) <= MOST_GUESSED:
        return
    rows, models = membership.of(references), membership.models
    same = len(rows) > 1 and (rows == rows[0]).all()
    lacking = _shortage(needs, membership, targets, references, short)
    if same:
        lacking = (
            f"all {len(rows)} references were trained on the same records (their rows of membership are equal), so "
            "that no record has both IN and OUT references"
        )
    every = unreferenced(needs, membership, targets, np.arange(models))
    if every is None or guessed(every, membership.of(targets)) <= MOST_GUESSED:
        remedies = [f"there are {models} models, and {len(rows)} of them are references: add more to the references"]
    elif same:
        remedies = ["more models of the same split do not help: train each on a half of the records of its own"]
    else:
        remedies = [_further(needs, len(rows))]
    if unreferenced(CHEAPEST, membership, targets, references) is None and not needs.replicas:
        remedies.append(fewer)
    raise TooFewReferencesError(f"{method}: {lacking}: {', or '.join(remedies)}")


def require_equal_shares(method: str, drawn: Membership, references: Rows) -> None:
    """Refuse references of which some records are in far more than others: then how many are OUT tells a member.

    The spread of counts is held against that of fair draws of one share; records in equally many models spread less.
    """
    counted = np.add.reduce(drawn.of(references), axis=0, dtype=np.int64)
    share = counted.mean() / max(len(references), 1)
    fair = len(references) * share * (1 - share)
    if fair == 0 or counted.var() <= MATERIAL * fair:
        return
    from scipy.special import chdtrc  # what trains loads no SciPy

    if chdtrc(len(counted) - 1, len(counted) * counted.var() / fair) < UNFAIR:
        low, high = np.percentile(counted, [10, 90]).astype(int)
        raise UnequalSharesError(
            f"{method}: expected every record in about equally many references, since it reads OUT references alone, "
            f"got records in {low} and in {high} of {len(references)}: whoever is in more models is more often a "
            "member, and has fewer OUT references, which alone would look like a leak; use lira, rmia or another "
            "attack with IN and OUT references (mode online)"
        )


def _more(membership: Membership, references: Rows, needs: Needs) -> str:
    """Say where further references come from."""
    if len(membership.matrix) == 1:
        return "One model alone was given: add models that were trained alike on other records"
    if len(references) == len(membership.matrix) == np.count_nonzero(divided(membership.matrix)):
        return f"Train more models: {needs.references + 1} in all are enough"
    return "Add rows to the references"


def _shortage(needs: Needs, membership: Membership, targets: Rows, references: Rows, short: NDArray[np.bool_]) -> str:
    worst = int(short.sum(axis=1).argmax())
    inside, outside = next(counts(membership, targets[[worst]], references))
    lacks_in = np.maximum(needs.references_in - inside, 0)
    lacks_out = np.maximum(needs.references_out - outside, 0)
    record = int(np.argmax(lacks_in + lacks_out))
    lacks = {"IN": lacks_in[record], "OUT": lacks_out[record]}
    missing = " and ".join(f"{count} {kind}" for kind, count in lacks.items() if count)
    return (
        f"expected at least {needs.references_in} IN and {needs.references_out} OUT references for every record "
        "(models besides the target that were trained on it, and that were not), but target "
        f"{targets[worst]} has fewer for {np.count_nonzero(short[worst])} of {len(inside)} records: record {record} "
        f"has {inside[record]} IN and {outside[record]} OUT, so {missing} "
        f"{'is' if sum(lacks.values()) == 1 else 'are'} missing"
    )


def _further(needs: Needs, models: int) -> str:
    """Say how many models are enough, evenly divided."""
    enough = 2 * (max(needs.references_in, needs.references_out) + 1)
    drawn = f"with each record in half of them, as reticent.Membership.draw(models, records, seed) does: {enough}"
    if models >= enough:
        return f"train models {drawn} such are enough, while some records are in too few or too many of these {models}"
    return f"train more models, {drawn} in all are then enough"
