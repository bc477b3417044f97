"""How a recipe stands to its control: what the tests show, and whether accuracy alone may explain it."""

from collections.abc import Sequence

from reticent.auditing.comparison.scores import RowScores
from reticent.findings.audit import Reason
from reticent.findings.comparison import PairTests, Relation, Role, Standing
from reticent.findings.numbers import Statistic

NEAR = 0.01
"""A control that is closer than this, and whose difference's own interval holds 0, is as accurate as its row."""


def standing(rows: Sequence[RowScores], row: RowScores, baseline: str, tests: PairTests) -> Standing:
    """Hold a recipe against its control, or against the baseline where there is none."""
    other = next(
        (one for one in rows if one.role == Role.CONTROL and row.name in one.matches),
        next(one for one in rows if one.name == baseline),
    )
    leak = tests.leak(row.name, other.name)
    found = tests.get(other.name, row.name, Statistic.ACCURACY)
    missed = None
    # The difference's own interval: a correction for many tests would hide gaps, and what it hides is not equal.
    if found is not None and not (found.interval[0] <= 0 <= found.interval[1] and abs(found.difference) < NEAR):
        missed = found.difference
    unlearned, unequal = _unlearned(row, other, leak), row.unequal or other.unequal
    return Standing(
        name=other.name,
        leak=leak,
        by=tests.shown(row.name, other.name),
        missed=missed,
        unlearned=unlearned,
        doubt=Reason.UNEQUAL if unequal else None,
        settled=unlearned is None and not unequal and settled(leak, missed, known=found is not None),
    )


def settled(leak: Relation, missed: float | None, *, known: bool) -> bool:
    """Tell whether accuracies are known and leave the relation as it is.

    A model that is more accurate leaks more by that alone: that a recipe leaks less than a control that is more
    accurate shows nothing, nor does a tie with one that is not as accurate, or what differs both ways.
    """
    if missed is None:
        return known
    return leak is (Relation.MORE if missed > 0 else Relation.LESS)


def _unlearned(row: RowScores, other: RowScores, leak: Relation) -> str | None:
    """Name the row whose models did not learn, where nothing follows from the relation for that.

    Such models have nothing to give away; what they do give away is shown all the same.
    """
    if not row.learned and leak is not Relation.MORE:
        return row.name
    return other.name if not other.learned and leak is not Relation.LESS else None
