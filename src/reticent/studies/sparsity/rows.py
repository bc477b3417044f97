"""The rows of `sparsity`, as its tables, claims and figures name them, and what the paper prints."""

from collections.abc import Sequence

from reticent.options import Options
from reticent.studies.base import Published

DENSE = "Dense"
FIRST, LAST = 8, 16
"""Rounds of pruning between which the paper's claim is: 17.3 and 3.4 % of the parameters of ResNet-20 are left."""
CLAIMED = f"IMP, rounds {FIRST} to {LAST}"
FACTORED = "Butterfly, all budgets"
SLOPE = 3.6
"""By how many percent the defence gains for each percent of accuracy, as the paper says."""
TIMES = 2.0
"""A slope that is further from the paper's than by this factor is another one."""
ENDS = (SLOPE / TIMES, SLOPE * TIMES)
SLOPE_FROM = 0.01
"""The relative loss of accuracy from which on there is a slope."""


def imp(number: int) -> str:
    """Name the row of a round of pruning."""
    return f"IMP, round {number}"


def butterfly(budget: str) -> str:
    """Name the row of a butterfly network."""
    return f"Butterfly, {budget}"


def claimed(options: Options) -> list[str]:
    """Name the rows of rounds that the paper's claim is about."""
    return [imp(number) for number in options["rounds"] if FIRST <= number <= LAST]


def pruned(options: Options) -> list[str]:
    """Name the rows of rounds."""
    return [imp(number) for number in options["rounds"]]


def factored(options: Options) -> list[str]:
    """Name the rows of butterfly networks."""
    return [butterfly(name) for name in options["butterfly"]]


def less(rows: str, times: float) -> str:
    """Name what rows gain in defence, less so many times what they lose in accuracy."""
    return f"{rows}, gain less {times:g} times loss"


SMALLER, ALIKE = "a smaller dense network", "IMP of its size"
"""What each sparse network, and each butterfly network, is held against: of many, the one that has its size."""


def nearest(size: int, sizes: Sequence[int]) -> int:
    """Find the place of the size that is nearest by ratio."""
    return min(range(len(sizes)), key=lambda place: max(size / sizes[place], sizes[place] / size))


PUBLISHED = Published(
    "Sparsity in neural networks can improve their privacy, arXiv 2304.10553, abstract",
    "ResNet20",
    {CLAIMED: {"slope": (SLOPE, None)}},
    note="CIFAR-10. The text at hand has this one number: between 3.4 and 17.3 % of weights that are not zero (rounds "
    "16 to 8 of IMP, at a fifth a round), a relative loss of p % in accuracy goes with a relative gain of 3.6 p % in "
    "defence. What defence is, is not said; here it is 1 less the discriminator's balanced accuracy.",
)
