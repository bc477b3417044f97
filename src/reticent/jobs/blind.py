"""The blind baseline, of records as jobs have them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.arrays import Bools, Floats, Ints
from reticent.auditing.blind.baseline import Baseline, baseline
from reticent.auditing.blind.features import of_records
from reticent.auditing.units import means_of_units
from reticent.data.load import load
from reticent.data.records import Records
from reticent.data.units import Units
from reticent.errors import InputError
from reticent.findings.blind import Known
from reticent.jobs.scoring import Settings


def blind_baseline(
    members: Bools,
    labels: Ints,
    records: Records | None,
    ids: Ints,
    settings: Settings,
    further: Floats | None = None,
    units: Units | None = None,
) -> Baseline | None:
    """Tell members from non-members without the model.

    Args:
        members: booleans ``(T, N)``, or ``(T, U)`` of units.
        labels: ``(N,)``.
        records: of which the N are some; None where they are not at hand.
        ids: which these are ``(N,)``.
        settings: seed and confidence.
        further: ``(N, K)``, what references say of the records.
        units: to which unit each record belongs: units are told apart, by how many records they have, the means of
            these records' features, and the label that most of these have.

    Returns:
        The baseline; None for few records.
    """
    features = groups = known = None
    if units is not None:
        known = Known.SIZES if records is None else Known.RECORDS
        labels = units.most(labels)

        def features(rows: Ints) -> Floats:
            kept, places = np.unique(rows, return_inverse=True)
            within = np.flatnonzero(np.isin(units.codes, kept))
            some = units.among(within)
            told = np.log(np.bincount(some.codes))[:, None]
            if records is not None:
                own = means_of_units(of_records(records.kind, records.x[ids[within]]).T, some).T
                told = np.concatenate([own, told], axis=1)
            return np.asarray(told[places])

    elif records is not None:
        groups, known = records.groups[ids], Known.RECORDS if further is None else Known.REFERENCES

        def features(rows: Ints) -> Floats:
            own = of_records(records.kind, records.x[ids[rows]])
            return own if further is None else np.concatenate([own, further[rows]], axis=1)

    return baseline(members, labels, features, groups, seed=settings.seed, confidence=settings.confidence, known=known)


def same_records(given: Any, labels: NDArray[np.int64]) -> Records:
    """Take the records that outputs are of, and check that they are these: as many, and classes at the same places."""
    if isinstance(given, (str, Path)):
        records = load(given)
    elif isinstance(given, Records):
        records = given
    else:
        try:
            records = Records.make(given, np.unique(labels, return_inverse=True)[1])
        except InputError as error:
            raise error.prefixed("records: ") from None
    if len(records) != len(labels):
        raise InputError(
            f"records: expected one for each of the {len(labels):,} labels of the outputs, in their order, got "
            f"{len(records):,}"
        )
    pairs = np.unique(np.stack([records.y, labels]), axis=1)
    if pairs.shape[1] > min(len(np.unique(row)) for row in pairs):
        other = np.flatnonzero(~_alike(records.y, labels))
        raise InputError(
            f"records: their classes are not those of the outputs' labels in {len(other):,} of {len(labels):,} rows, "
            f"the first is row {other[0]} (from 0): expected the same records in the same order"
        )
    return records


def _alike(first: Ints, second: Ints) -> Bools:
    """Tell where two numberings ``(N,)`` have one class, by the names of classes that make most rows alike."""
    from scipy.optimize import linear_sum_assignment  # only an error needs it

    counts = np.zeros((first.max() + 1, second.max() + 1), dtype=np.int64)
    np.add.at(counts, (first, second), 1)
    one, other = linear_sum_assignment(counts, maximize=True)
    named = np.full(len(counts), -1)
    named[one] = other
    return np.asarray(named[first] == second)
