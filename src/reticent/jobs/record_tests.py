"""What may be said of one record, from a problem: rates of its own, names with few false ones, epsilon."""

from dataclasses import dataclass

from reticent import seeds
from reticent.arrays import Ints
from reticent.attacks.base import Problem
from reticent.auditing.draws import Draws
from reticent.auditing.exposure import Exposure
from reticent.auditing.named_records import named_records
from reticent.auditing.record_epsilon import record_epsilon
from reticent.auditing.record_pvalues import FPR, OwnRates, RecordPValues, own_rates, record_pvalues, record_rates
from reticent.findings.record_tests import NamedRecord, RecordTests


@dataclass(frozen=True, eq=False)
class TestedRecords:
    """What is known of single records.

    Attributes:
        tests: a p-value a target and record; None where records have too few models without them.
        own: what is found of each record at its own rate, likewise.
    """

    found: RecordTests
    names: tuple[NamedRecord, ...] = ()
    tests: RecordPValues | None = None
    own: OwnRates | None = None


def record_tests(
    problem: Problem, draws: Draws, exposed: Exposure, ids: Ints, *, seed: int, confidence: float, delta: float
) -> TestedRecords:
    """Test every record by itself."""
    signals, targets, members = problem.signals, problem.targets, problem.membership.of(problem.targets)
    tests = record_pvalues(signals, draws, targets, problem.references, seeds.rng(seed, "records", "p-values"))
    named = None
    if problem.population is not None:
        named = named_records(
            signals,
            problem.population,
            draws,
            targets,
            problem.references,
            seeds.rng(seed, "records", "named"),
            ids=ids,
        )
    epsilon = record_epsilon(
        signals, draws, seeds.rng(seed, "records", "epsilon"), ids=ids, delta=delta, confidence=confidence
    )
    found = RecordTests(
        rates=None if tests is None else record_rates(tests, members, exposed, confidence, FPR),
        named=None if named is None else named[0],
        epsilon=epsilon,
    )
    own = None if tests is None else own_rates(tests, members, draws.of[targets], confidence, FPR)
    return TestedRecords(found, () if named is None else named[1], tests, own)
