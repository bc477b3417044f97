"""One record, or one model, whose margins spread so far that what is pooled over all of them is mostly its own.

LiRA with few models, BaVarIA, PMIA and the exposures judge every record by a spread of margins that all records share.
Such a spread is a mean of squares, which one number among thousands can make its own: then too little is found in all
other records.
"""

import numpy as np

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.exposure import Exposure
from reticent.findings.evidence import Outweighing
from reticent.signals.matrix import Signals

MUCH = 0.2
"""A share of all squares from which one record or model is named,"""
TIMES = 10
"""where it is also so many times that of an equal part: of few, each has much."""


def outweighing(signals: Signals, membership: Bools, exposed: Exposure, ids: Ints) -> Outweighing | None:
    """Find what makes more than `MUCH` of how margins of a record and a kind differ between models.

    By the plain query: the record, or else the model, with the largest share of the squares; None where none has much.
    Cost: one pass over the margins.
    """
    of_models, of_records = np.zeros(signals.models), np.zeros(signals.records)
    for block in signals.blocks():
        apart = _apart(signals, membership, exposed, block) ** 2
        of_models += apart.sum(axis=1)
        of_records[block] = apart.sum(axis=0)
    total = float(of_records.sum())
    for kind, squares in (("record", of_records), ("model", of_models)):
        at = int(squares.argmax())
        if squares[at] <= max(MUCH, TIMES / len(squares)) * total:
            continue
        share = float(squares[at]) / total
        if kind == "model":
            return Outweighing(share=share, model=at)
        alone = _apart(signals, membership, exposed, slice(at, at + 1))[:, 0]
        model = int(np.abs(alone).argmax())
        margin = float(signals.plain(slice(at, at + 1), [model])[0, 0])
        return Outweighing(share=share, record=int(ids[at]), model=model, margin=margin)
    return None


def _apart(signals: Signals, membership: Bools, exposed: Exposure, block: slice) -> Floats:
    """Return how far margins ``(M, n)`` are from the mean of their record's models of the same kind."""
    margins = np.asarray(signals.plain(block), np.float64)
    return np.asarray(
        margins - np.where(membership[:, block], exposed.mean_in.data[block], exposed.mean_out.data[block])
    )
