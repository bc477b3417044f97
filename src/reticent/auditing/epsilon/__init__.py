"""Epsilon from below: what the success of an attack rules out.

A training that is (epsilon, delta)-DP lets no attack be too good; an attack that is better refutes that epsilon. One
file a method, each with its frozen spec; `METHODS` says what each assumes. `base` holds what all work on,
`rank_thresholds` limits at thresholds that the data choose, `guesses` who is guessed in one run, `bounds` the bounds of
a whole audit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.auditing.epsilon import all_thresholds, f_dp, gaussian, given, one_run, split
from reticent.auditing.epsilon.all_thresholds import AllThresholds
from reticent.auditing.epsilon.base import Groups
from reticent.auditing.epsilon.f_dp import FDp
from reticent.auditing.epsilon.gaussian import Gaussian
from reticent.auditing.epsilon.given import Given
from reticent.auditing.epsilon.one_run import OneRun
from reticent.auditing.epsilon.split import Split
from reticent.spec import Spec

__all__ = ["METHODS", "AllThresholds", "Entry", "FDp", "Gaussian", "Given", "Method", "OneRun", "Split"]

Method = AllThresholds | Split | Given | Gaussian | OneRun | FDp
"""The options of a method."""


@dataclass(frozen=True)
class Entry:
    """One method.

    Attributes:
        bound: a lower confidence limit of one target's epsilon, ``bound(spec, groups, delta, alpha, rng)``: above the
            true epsilon with probability alpha at most; at least 0, which says nothing, and finite.
        assumes: what must hold for the bound to hold, for people.
    """

    spec: type[Spec]
    bound: Callable[[Any, Groups, float, float, np.random.Generator], float]
    assumes: str


_COUNTS = "a record's score does not depend on how many of the models hold the record"
_COINS = f"who is a member was drawn by fair coins, and {_COUNTS}"
_INDEPENDENT = f"given the model, the scores of different records do not depend on each other, and {_COUNTS}"

METHODS: dict[str, Entry] = {
    "all-thresholds": Entry(AllThresholds, all_thresholds.bound, _INDEPENDENT),
    "split": Entry(Split, split.bound, _INDEPENDENT),
    "given": Entry(Given, given.bound, f"{_INDEPENDENT}, and the threshold was chosen without them"),
    "gaussian": Entry(Gaussian, gaussian.bound, f"{_INDEPENDENT}, and training leaks as Gaussian noise does"),
    "one-run": Entry(OneRun, one_run.bound, f"{_COINS}; records may depend on each other"),
    "f-dp": Entry(
        FDp, f_dp.bound, f"{_COINS}, and training leaks as Gaussian noise does; records may depend on each other"
    ),
}
"""Name -> method."""
