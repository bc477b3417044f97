"""One target against a few references with round numbers, as in the exact checks of the specification."""

import numpy as np

from reticent.attacks import Problem, parse, score
from reticent.signals.matrix import Signals

WIDE = np.sqrt(1.25)


def worked(attack):
    """The score of a record with margin 2, IN references at 2 and 3, OUT ones at 0 and 1.

    A second record makes the mean and the variance of all IN margins 2 and 1, and of all OUT margins 0 and 1.
    """
    second = [-0.5 + WIDE, -0.5 - WIDE, 1.5 + WIDE, 1.5 - WIDE]
    margins = np.array([[2.0, 0.0], *zip([2.0, 3.0, 0.0, 1.0], second, strict=True)])
    known = np.array([[True, False], [True, False], [True, False], [False, True], [False, True]])
    signals = Signals(np.array([0, 1]), margins[:, :, None], 3)
    return score(parse(attack), Problem.make(signals, known, targets=[0], references=range(1, 5)))[0, 0]
