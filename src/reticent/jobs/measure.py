"""From a problem to numbers: all that an audit says of attacks, groups, units and single records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent import scratch, seeds
from reticent.arrays import Bools, Floats, Ints
from reticent.attacks import ATTACKS
from reticent.attacks.base import Offer, Problem
from reticent.attacks.complements import near_complements
from reticent.auditing.blind.baseline import Baseline
from reticent.auditing.draws import Draws
from reticent.auditing.epsilon.bounds import Epsilons, audit_epsilon, default_methods
from reticent.auditing.exposure import Exposure, Masked, count_exposed, exposure
from reticent.auditing.group_limits import group_limits, limited
from reticent.auditing.groups import allow_for_unlearned as allow_for_unlearned_groups
from reticent.auditing.groups import groups
from reticent.auditing.membership_probability import MembershipProbability, membership_probability
from reticent.auditing.outweighing import outweighing
from reticent.auditing.partition import Partition
from reticent.auditing.record_pvalues import OwnRates
from reticent.auditing.units import exposure_of_units, groups_of_units, scores_of_units
from reticent.auditing.verdict import (
    allow_for_copies,
    allow_for_exchanged,
    allow_for_unlearned,
    may_show,
    verdict,
    with_group,
    with_records,
)
from reticent.data.membership import divided
from reticent.findings.attack import Audit
from reticent.findings.audit import (
    AuditDocument,
    Control,
    Grouping,
    Leak,
    LeftOutAttack,
    NonAdaptive,
    Reason,
    Verdict,
)
from reticent.findings.base import Plain
from reticent.findings.environment import Environment
from reticent.findings.evidence import NearComplements, Outweighing
from reticent.findings.population import Data, Population
from reticent.findings.record_tests import NamedRecord
from reticent.findings.records import RecordTable
from reticent.jobs.base import Work
from reticent.jobs.document import record_rows
from reticent.jobs.record_tests import TestedRecords, record_tests
from reticent.jobs.scoring import Settings, attacked, beyond, scored
from reticent.jobs.units import MeasuredUnits, as_records, measured_units
from reticent.spec import Spec

_LIRA, _RISK = ATTACKS["lira"].spec(), ATTACKS["risk-score"].spec()


@dataclass(frozen=True, eq=False)
class Measurement:
    """What the attacks found.

    Attributes:
        scores: by attack, ``(T, N)``, higher means member.
        exposure: of every record, over the models that its margins are known of.
        epsilons: what the attacks rule out; None where members and non-members differ without the model.
        groups: what the verdict's attack finds in each group, one entry a partition.
        records: what may be said of single records; None where `epsilons` is.
        probability: of membership, as online LiRA sees it; None where too few models were trained on a record.
        risk: each record's privacy risk score ``(N,)``, a mean over the targets trained on it, masked where there is
            none; None where the score cannot be computed.
        near_complements: what strong attacks do not compare targets with; None where they are given all references.
        blind: how far members and non-members differ without the model, where reticent did not draw who is which.
        outweighing: the record or the model that makes much of what attacks pool over all, or None.
        units: what is known of single units, where units are audited; None too where `epsilons` is.
    """

    audits: tuple[Audit, ...]
    scores: dict[str, Floats]
    exposure: Exposure
    verdict: Verdict
    epsilons: Epsilons | None
    records: TestedRecords | None = None
    groups: tuple[Grouping, ...] = ()
    probability: MembershipProbability | None = None
    risk: Masked | None = None
    blind: Baseline | None = None
    near_complements: NearComplements | None = None
    outweighing: Outweighing | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)
    units: MeasuredUnits | None = None

    @property
    def own(self) -> OwnRates | None:
        """What is found of each record at its own rate, or None where that is not known."""
        return None if self.records is None else self.records.own

    @property
    def p_member(self) -> Floats | None:
        """How likely margins as high as the targets' are without the record ``(T, N)``, or None."""
        return None if self.records is None or self.records.tests is None else self.records.tests.p

    @property
    def names(self) -> tuple[NamedRecord, ...] | None:
        """The records that are named as members, or None where none could be."""
        return None if self.records is None or self.records.found.named is None else self.records.names

    def rows(
        self,
        ids: Ints,
        labels: Ints,
        names: Sequence[str] = (),
        partitions: Sequence[Partition] = (),
        beside: Mapping[str, NDArray[Any]] | None = None,
    ) -> RecordTable:
        """List every record with all that is known of it."""
        known = self.probability, partitions, self.own, self.risk
        return record_rows(self.exposure, ids, labels, names, *known, beside)

    def document(
        self,
        *,
        data: Data,
        population: Population,
        environment: Environment,
        recipe: Plain | None = None,
        control: Control | None = None,
        non_adaptive: NonAdaptive | None = None,
        left_out: Mapping[str, str] | None = None,
        unproved: str = "",
    ) -> AuditDocument:
        """Put what was found beside what it was found in: a document without sentences (`say.audit.spoken`)."""
        exposed = count_exposed(self.exposure if self.units is None else self.units.exposure, self.verdict.confidence)
        said = with_records(self.verdict, exposed, population)
        said = allow_for_unlearned(said, population)
        said = allow_for_copies(said, population)
        said = allow_for_exchanged(said, self.audits, population)
        shown = said.leak is Leak.FOUND
        audits, overall = self.audits, None
        if self.epsilons is not None:
            audits = tuple(audit.with_(epsilon=self.epsilons.attacks[audit.name]) for audit in audits)
            overall = self.epsilons.overall
        return AuditDocument(
            verdict=said,
            data=data,
            recipe=recipe,
            population=population,
            attacks=audits,
            left_out=tuple(LeftOutAttack(name=name, sentence=why) for name, why in (left_out or {}).items()),
            near_complements=self.near_complements,
            outweighing=self.outweighing,
            blind=None if self.blind is None else self.blind.found,
            epsilon=overall.with_(unproved=unproved) if overall is not None and unproved else overall,
            groups=self.groups if shown else tuple(allow_for_unlearned_groups(one, population) for one in self.groups),
            exposure=exposed,
            records=None if self.records is None else self.records.found,
            non_adaptive=non_adaptive,
            control=control,
            environment=environment.with_(
                seconds_attacks=self.seconds,
                seconds_parts={name: round(seconds, 3) for name, seconds in self.parts.items()},
            ),
        )


def measure(
    problem: Problem,
    attacks: Sequence[Spec],
    settings: Settings,
    *,
    ids: Ints,
    partitions: Sequence[Partition] = (),
    blind: Baseline | None = None,
    nulls: Sequence[Sequence[Audit]] | None = None,
    drawn: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Measurement:
    """Run attacks on every target, audit their scores, and look at records, numbered `ids`, and groups of them.

    `nulls` and `drawn` are as `verdict` takes them; `progress` is told of each part before it begins.

    Groups, records and epsilon take members and non-members for alike, so they are left out where `blind` tells them
    apart; groups and epsilon too where who is a member depends on more than chance.
    """
    work = Work(progress)
    with work.on("attacks"):
        audits, scores, seconds = attacked(problem, attacks, settings, progress=progress)
        members, near = problem.members, near_complements(problem)
        told = {name: scores_of_units(own, problem.units) for name, own in scores.items()}
    with work.on("exposure", "exposure of records"):
        believed = _probability(problem, scores if _LIRA in attacks else {}, settings)
        risk = _risk(problem, scores if _RISK in attacks else {}, settings)
        draws = Draws.make(problem.membership, problem.drawn)
        found = exposure(problem.signals, problem.membership, draws)
        heavy = outweighing(problem.signals, problem.membership.matrix, found, ids)
    shift = blind is not None and blind.found.shift
    if blind is not None and shift:
        with work.on("blind"):
            audits = beyond(attacks, audits, told, members, blind, settings)
    measured = Measurement(
        audits,
        scores,
        found,
        verdict(audits, nulls, drawn=drawn),
        epsilons=None,
        probability=believed,
        risk=risk,
        blind=blind,
        near_complements=near,
        outweighing=heavy,
        seconds=seconds,
        parts=work.seconds,
    )
    if shift:
        return measured
    said = measured.verdict
    with work.on("groups", "groups of records"):
        partitions = [groups_of_units(one, problem.units) for one in partitions if nulls is None]
        described, whole = found, None
        if problem.units is not None:
            whole = as_records(problem, problem.units)
            draws = Draws.make(whole.membership)
            described = exposure_of_units(exposure(whole.signals, whole.membership, draws), found, problem.units)
        fpr, sure = said.fpr, settings.confidence
        showing = may_show(audits, drawn=drawn)
        limits = group_limits(partitions, told, members, first=said.attack, fpr=fpr, confidence=sure, among=showing)
        seen = (
            groups(one, told[said.attack], members, described, attack=said.attack, fpr=fpr, confidence=sure, told=first)
            for one, first in zip(partitions, limits.first, strict=True)
        )
        compared = tuple(limited(one, limits, at) for at, one in enumerate(seen))
        said = with_group(said, limits.exposed)
    with work.on("epsilon", "epsilon"):
        alike = nulls is None and said.reason is not Reason.WEAK_ALONE
        epsilons = _epsilons(problem, told, members, settings) if alike else None
    tested = of_units = None
    with work.on("records", "tests of records"):
        if whole is None or problem.units is None:
            tested = record_tests(problem, draws, found, ids, seed=settings.seed, confidence=sure, delta=settings.delta)
        else:  # What is said of one record takes the records for apart.
            believed = _probability(whole, {}, settings)
            of_units = measured_units(
                whole, problem.units, draws, described, believed, seed=settings.seed, confidence=sure
            )
    return replace(measured, verdict=said, epsilons=epsilons, records=tested, groups=compared, units=of_units)


def _epsilons(problem: Problem, scores: Mapping[str, Floats], members: Bools, settings: Settings) -> Epsilons:
    """Bound epsilon from below, beside what training promises and proves."""
    return audit_epsilon(
        scores,
        members,
        delta=settings.delta,
        methods=default_methods(members, settings.delta, fair=_fair(problem)),
        rng=seeds.rng(settings.seed, "epsilon"),
        confidence=settings.confidence,
        accountant=settings.accountant,
        proven=None if settings.promised is None else settings.computed,
        of_record=settings.of_record,
    )


def _fair(problem: Problem) -> bool:
    """Tell whether fair coins may have drawn who is a member: not where all records are in, say, 3 of 5 models."""
    matrix = problem.membership.matrix
    matrix = matrix[divided(matrix)]
    models = matrix.sum(axis=0)
    return bool(models.min() != models.max() or 2 * models[0] == len(matrix))


def _probability(problem: Problem, scores: Mapping[str, Floats], settings: Settings) -> MembershipProbability | None:
    """Compute each record's probability of membership from online LiRA's log-likelihood ratios, made if need be."""
    ratios = scores[_LIRA.method] if _LIRA.method in scores else scored(_LIRA, problem, settings.seed)
    if ratios is None:
        return None
    return membership_probability(ratios, problem.membership.of(problem.targets), settings.confidence)


def _risk(problem: Problem, scores: Mapping[str, Floats], settings: Settings) -> Masked | None:
    """Average each record's privacy risk score over the targets trained on it, made if need be."""
    if not ATTACKS[_RISK.method].answered(Offer.of(problem)):
        return None
    risks = scores[_RISK.method] if _RISK.method in scores else scored(_RISK, problem, settings.seed)
    if risks is None:
        return None
    members, total = problem.membership.of(problem.targets), np.zeros(problem.signals.records)
    for row, own in scratch.rows(risks, members):
        total += np.where(own, row, 0.0)
    count = members.sum(axis=0)
    return np.ma.MaskedArray(total / np.maximum(count, 1), mask=count == 0)
