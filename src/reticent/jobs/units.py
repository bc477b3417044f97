"""Units of several records, each measured as a record is: what may be said of one person."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reticent import scratch, seeds
from reticent.arrays import Ints
from reticent.attacks.base import Problem
from reticent.auditing.draws import Draws
from reticent.auditing.exposure import Exposure
from reticent.auditing.membership_probability import MembershipProbability
from reticent.auditing.partition import Partition, by_class
from reticent.auditing.record_pvalues import FPR, OwnRates, own_rates, record_pvalues
from reticent.auditing.units import groups_of_units, means_of_units
from reticent.data.membership import Membership
from reticent.data.units import Units
from reticent.findings.records import UnitRow
from reticent.jobs.document import record_rows
from reticent.signals.matrix import Signals


@dataclass(frozen=True, eq=False)
class MeasuredUnits:
    """What is known of single units.

    Attributes:
        probability: of membership; None where too few models were trained on a unit.
        own: what is found of each unit at its own rate, likewise.
    """

    units: Units
    exposure: Exposure
    probability: MembershipProbability | None
    own: OwnRates | None

    def rows(
        self, labels: Ints, names: Sequence[str] = (), partitions: Sequence[Partition] = ()
    ) -> tuple[UnitRow, ...]:
        """List every unit with the class and the groups of its records, the most exposed first."""
        at, sizes = np.arange(self.units.count), np.bincount(self.units.codes).tolist()
        of_class = by_class(labels)
        if len(names):
            of_class = replace(of_class, names=tuple(names[int(one)] for one in of_class.names))
        classes, *groups = (groups_of_units(one, self.units) for one in (of_class, *partitions))
        known = self.probability, groups, self.own
        table = record_rows(self.exposure, at, classes.codes, classes.names, *known)
        return tuple(UnitRow(self.units.names[row.record], sizes[row.record], row) for row in table)


def by_unit(units: Units) -> Partition:
    """Say in the list of records whose each is."""
    return Partition(units.column, units.names, units.codes)


def as_records(problem: Problem, units: Units) -> Problem:
    """Make a problem of which each unit is one record: its margins are the means of its records'.

    All of a unit are in a model's training set, or none, so that what holds for one record holds for it.
    """
    signals = problem.signals
    margins = scratch.zeros((signals.models, units.count, signals.queries))
    for model in range(signals.models):
        margins[model] = means_of_units(np.asarray(signals.margins[[model], :])[0].T, units).T
        scratch.release(margins)
    whole = Signals(labels=np.zeros(units.count, np.int64), margins=margins, classes=signals.classes)
    matrix = units.of_units(problem.membership.matrix)
    return Problem.make(whole, Membership(matrix), problem.targets, problem.references)


def measured_units(
    whole: Problem,
    units: Units,
    draws: Draws,
    exposed: Exposure,
    probability: MembershipProbability | None,
    *,
    seed: int,
    confidence: float,
) -> MeasuredUnits:
    """Measure single units, whose exposure is known."""
    targets = whole.targets
    tests = record_pvalues(whole.signals, draws, targets, whole.references, seeds.rng(seed, "units", "p-values"))
    rates = None if tests is None else own_rates(tests, whole.members, draws.of[targets], confidence, FPR)
    return MeasuredUnits(units, exposed, probability, rates)
