"""What a person should know of a data set's features before an audit counts on them."""

import logging
from collections.abc import Sequence

import numpy as np

from reticent.data.features import alike
from reticent.data.records import Records
from reticent.findings.population import ColumnReading

log = logging.getLogger(__name__)

LARGE = 1e4
"""A feature that reaches further rules what a network learns with the usual learning rates."""
APART = 1e3
"""So many times further than another one a feature may reach before the two are told."""
NAMED = 3
"""Most columns that one notice names."""


def tell(records: Records) -> Records:
    """Warn of what a person should know of the features."""
    for sentence in notices(records):
        log.warning("%s: %s", records.name, sentence)
    return records


def notices(records: Records) -> list[str]:
    """Say what a person should know of the features before an audit counts on them."""
    telling = [reading for reading in records.readings if reading.telling]
    said = [f"column {reading.column!r}: {reading.note}" for reading in telling[:NAMED]]
    if len(telling) > NAMED:
        said.append(f"and more of {len(telling) - NAMED} others: reticent data check lists all")
    return [*(["; ".join(said)] if said else []), *_classes(records), *_sizes(records)]


def _classes(records: Records) -> list[str]:
    """Tell classes that may be one."""
    same = alike(records.class_names)
    return [f"the classes {same}: write their labels in one way if they are one class"] if same else []


def _sizes(records: Records) -> list[str]:
    """Name the largest feature, if it outweighs the others; those of 0 and 1 alone say yes or no, and have no size."""
    if records.kind != "tabular":
        return []
    reach = np.maximum(records.x.max(axis=0), -records.x.min(axis=0)).astype(np.float64)
    known = np.flatnonzero(reach > 0)
    if not len(known) or (reach.max() <= LARGE and reach.max() <= APART * reach[known].min()):
        return []
    largest = int(reach.argmax())
    rising = known[reach[known].argsort(kind="stable")].tolist()
    smallest = next((i for i in rising if not np.isin(records.x[:, i], (0, 1)).all()), largest)
    if reach[largest] <= LARGE and reach[largest] <= APART * reach[smallest]:
        return []
    beside = "" if largest == smallest else f", {_called(records.readings, smallest)} up to {reach[smallest]:.3g}"
    how = (
        "--scale standard brings all numbers to one scale"
        if records.readings
        else "bring them to one scale, such as (x - x.mean(axis=0)) / x.std(axis=0)"
    )
    return [
        f"features are given to the models as they are, and {_called(records.readings, largest)} reaches up to "
        f"{reach[largest]:.3g}{beside}: networks learn badly from that, and what learns badly leaks little; {how}"
    ]


def _called(readings: Sequence[ColumnReading], feature: int) -> str:
    """Name a feature by its column, where there are columns."""
    for reading in readings:
        if feature < reading.features:
            return repr(reading.column)
        feature -= reading.features
    return f"feature {feature}"
