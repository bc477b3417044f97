"""Which answers are right, where each target is to have a given accuracy on its members and on the others."""

import numpy as np


def right(members, inside, outside):
    """Return booleans ``(T, N)``: the first records of each group are right, as many as its share says."""
    found = np.zeros_like(members)
    for group, share in ((members, inside), (~members, outside)):
        counted = np.rint(np.broadcast_to(share, len(members)) * group.sum(axis=1))
        found |= group & (group.cumsum(axis=1) <= counted[:, None])
    return found
