"""One bound from the bounds of T targets, under any dependence between them.

Targets of one population share records, and each is a reference of the others, so nothing is assumed of how their
errors go together. Both rules hold for the epsilon of *one* training procedure that all targets came from.

* Twice the median p-value (Rueger 1978; see Vovk and Wang 2020, "Combining p-values via averaging"): if a share of half
  of T bounds is too high, at level alpha/2 each, then by Markov's inequality that happens with probability alpha at
  most. It reports what about half of the targets show.
* Bonferroni: the largest of T bounds at level alpha/T each.
"""

from collections.abc import Sequence
from typing import ClassVar

from reticent.spec import Spec


class TwiceMedian(Spec):
    """The middle bound of the targets, each at about half the error rate (Rueger's rule)."""

    method: ClassVar[str] = "twice-median"


class Bonferroni(Spec):
    """The largest bound of the targets, each at the error rate divided by their number."""

    method: ClassVar[str] = "bonferroni"


Combine = TwiceMedian | Bonferroni
"""How the targets' bounds become one."""


def level(spec: Combine, targets: int, alpha: float) -> float:
    """Say at which error rate each target's bound is needed.

    Args:
        spec: the rule.
        targets: their number T.
        alpha: error rate of the combined bound.

    Returns:
        ``alpha ceil(T / 2) / T``, that is alpha for one target and about alpha/2 for many; or ``alpha / T``.
    """
    return alpha * _needed(spec, targets) / targets


def combined(spec: Combine, bounds: Sequence[float]) -> float:
    """Combine bounds that hold at `level` each.

    Args:
        spec: the rule.
        bounds: one a target.

    Returns:
        The bound that `ceil(T / 2)` targets reach or exceed, or the largest.
    """
    return sorted(bounds, reverse=True)[_needed(spec, len(bounds)) - 1]


def _needed(spec: Combine, targets: int) -> int:
    """Count the bounds that must be too high for the combined one to be."""
    return (targets + 1) // 2 if isinstance(spec, TwiceMedian) else 1
