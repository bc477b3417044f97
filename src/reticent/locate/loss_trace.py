"""How much a member's loss moved over training: a ranking of members by risk that needs no other model.

Paper: arXiv 2411.05743 (LT-IQR): the interquartile range of a record's losses, before training and after every epoch.
Their released code takes the losses with the network in training mode; here they are taken in eval mode. Only traces of
equally many epochs compare, and a record that was not trained on has no trace that means the same.
"""

import numpy as np
from numpy.typing import ArrayLike

from reticent import checks
from reticent.arrays import Floats
from reticent.errors import ShapeError


def interquartile(losses: ArrayLike) -> Floats:
    """Compute the interquartile range of each record's losses.

    Of losses ``(E + 1, N)``, before training and after each of E epochs; larger means more at risk. Quartiles by linear
    interpolation.
    """
    traces = checks.floats(losses=losses, ndim=2)
    if len(traces) < 2:
        raise ShapeError(f"losses: expected those before training and after at least one epoch, got {len(traces)}")
    low, high = np.quantile(traces, (0.25, 0.75), axis=0)
    return np.asarray(high - low)
