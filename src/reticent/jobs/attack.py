"""Bring your own outputs: attacks and audit on the signals of any framework, without training."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, SupportsInt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reticent import scratch, user_files
from reticent.arrays import Ints, array
from reticent.attacks import ATTACKS
from reticent.attacks.base import Inputs, Problem
from reticent.attacks.complements import compared
from reticent.auditing.difficulty import difficulty
from reticent.auditing.loss_tail import loss_tail
from reticent.auditing.overall_confidence import overall_confidence
from reticent.auditing.partition import Partition
from reticent.auditing.shares import shares
from reticent.data.membership import Membership
from reticent.data.units import Units
from reticent.errors import InputError, ShapeError
from reticent.findings.attack import Audit
from reticent.findings.blind import Unlooked
from reticent.findings.population import Population
from reticent.findings.records import RecordTable, UnitRow
from reticent.jobs import grouping, output_facts, row_order
from reticent.jobs.attack_choice import alone, audited, runnable
from reticent.jobs.attack_time import Size, seconds
from reticent.jobs.base import AuditReported, Work
from reticent.jobs.blind import blind_baseline, same_records
from reticent.jobs.control import check, control, exchanged, nulls, possible
from reticent.jobs.measure import Measurement, measure
from reticent.jobs.scoring import Settings
from reticent.jobs.units import as_records, by_unit
from reticent.options import AttackConfig, Options, UnitScore
from reticent.report import parquet
from reticent.report.audit import write_audit
from reticent.report.output import AUDIT, Output
from reticent.rounding import duration
from reticent.say import audit as say
from reticent.say.population import copied, copies, of_units, one_label, unaudited
from reticent.signals.matrix import Signals
from reticent.spec import Spec
from reticent.torch_state import fixed

LONG = 2**21
"""Answers from which the time that attacks take is foretold."""
ANSWERS = ("logits", "probabilities", "margins")
"""What models said of the records: one of these is given."""


@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs of models that somebody else trained, as `attack` takes them."""

    labels: ArrayLike
    membership: ArrayLike | Membership
    logits: ArrayLike | None = None
    probabilities: ArrayLike | None = None
    margins: ArrayLike | None = None
    targets: ArrayLike | None = None
    references: ArrayLike | None = None
    classes: SupportsInt | None = None
    groups: Mapping[str, ArrayLike] = field(default_factory=dict)
    ungrouped: Sequence[str] = ()
    records: Any = None
    units: Units | None = None

    def problem(self) -> Problem:
        """Check them, and make of them what attacks take."""
        given = [name for name in ANSWERS if getattr(self, name) is not None]
        if len(given) > 1:
            raise InputError(f"expected one of {', '.join(ANSWERS)}, got {' and '.join(given)}")
        try:
            signals = self._signals()
        except ShapeError:
            for name in given:
                self._check_labels(name)
            raise
        if self.units is not None and len(self.units.codes) != signals.records:
            raise ShapeError(
                f"units: expected one value for each of {signals.records:,} records, got {len(self.units.codes):,}"
            )
        return Problem.make(signals, self.membership, self.targets, self.references, units=self.units)

    def _signals(self) -> Signals:
        if self.logits is not None:
            return Signals.from_logits(self.logits, self.labels)
        if self.probabilities is not None:
            return Signals.from_probabilities(self.probabilities, self.labels)
        if self.margins is not None:
            classes = None if self.classes is None else int(self.classes)
            return Signals.from_margins(self.margins, self.labels, classes)
        raise InputError(f"expected one of {', '.join(ANSWERS)}, got none of them")

    def _check_labels(self, name: str) -> None:
        """Refuse labels of another number of records than the answers of a name and the membership are of."""
        given = self.membership.matrix if isinstance(self.membership, Membership) else self.membership
        said, known = array(getattr(self, name), name).shape[:2], array(given, "membership").shape
        labels = array(self.labels, "labels").shape[:1]
        if len(known) == 2 and said == known and labels and labels[0] not in known:
            raise ShapeError(
                f"labels: expected one for each of the {known[1]:,} records that membership and {name} have, got "
                f"{labels[0]:,}"
            )


KEYS = tuple(one.name for one in fields(Outputs) if one.name not in {"groups", "ungrouped", "units"})
"""Arrays of a file that are no facts about the records."""


@dataclass(frozen=True, eq=False)
class Attacked(AuditReported):
    """An audit of outputs that were brought.

    Attributes:
        findings: what ``audit.json`` holds, typed; its recipe is None.
        files: report.html, records.csv and audit.json, if they were written, and units.csv of units.
        problem: signals, membership, targets and references.
        units: of units, what ``units.csv`` holds, the most exposed first.
    """

    problem: Problem
    units: tuple[UnitRow, ...] = ()

    @property
    def targets(self) -> NDArray[np.int64]:
        """The audited rows ``(T,)``."""
        return self.problem.targets

    @property
    def every_score(self) -> dict[str, NDArray[np.float64]]:
        """The scores of all records that were brought, by attack; NaN for those that were not audited."""
        records = self.findings.data.records
        if len(self.ids) == records:
            return self.scores
        wide = {name: scratch.zeros((len(rows), records)) for name, rows in self.scores.items()}
        for name, rows in self.scores.items():
            for told, row in scratch.rows(wide[name], rows):
                told[:] = np.nan
                told[self.ids] = row
        return wide


def attack(
    *,
    labels: ArrayLike,
    membership: ArrayLike | Membership,
    logits: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    margins: ArrayLike | None = None,
    targets: ArrayLike | None = None,
    references: ArrayLike | None = None,
    classes: int | None = None,
    attacks: str | tuple[str, ...] | list[str] = (),
    options: Mapping[str, Options] | None = None,
    groups: Mapping[str, ArrayLike] | None = None,
    ungrouped: Sequence[str] = (),
    units: ArrayLike | None = None,
    unit_score: UnitScore = "mean",
    seed: int = 0,
    out: str | Path | None = None,
    replicates: int = 1000,
    confidence: float = 0.95,
    delta: float = 1e-5,
    promised_epsilon: float | None = None,
    control: Literal["none", "null"] = "none",
    format: Literal["html", "md"] = "html",  # noqa: A002
    records_format: Literal["csv", "parquet"] = "csv",
    name: str = "outputs",
    records: Any = None,
    stage: Callable[[str], None] | None = None,
) -> Attacked:
    """Attack and audit outputs of models that somebody else trained.

    Args:
        labels: true labels ``(N,)`` from 0.
        membership: booleans ``(M, N)``, or zeros and ones: which model was trained on which record.
        logits: ``(M, N, C)``, or ``(M, N)`` of binary models with one logit; or give probabilities or margins.
        probabilities: of the classes ``(M, N, C)``, or ``(M, N)`` of class 1 of binary models; what is exactly 0 or 1
            is told as what the numbers can resolve (`Signals.from_probabilities`), and the report says how many are.
        margins: log-odds of the true label ``(M, N)`` or ``(M, N, Q)``; enough for LiRA, RMIA, loss and confidence.
        targets: rows to audit, or a boolean mask ``(M,)`` of them, each with members and non-members; by default all.
        references: rows that may be learned from, or a mask of them; by default all; a target is never among its own.
            They may have been trained on none of the records, or on all.
        classes: number of classes, where only margins are given; by default one more than the largest label.
        attacks: names, or one name; by default the strongest that these outputs allow.
        options: by attack.
        groups: by name, one value a record ``(N,)``: the groups of records that share a value are compared, as the
            classes always are.
        ungrouped: names of further facts about the records that are at hand and not looked at; the report says so.
        units: to which person, or other unit of several records, each belongs ``(N,)``: whole units are audited, and
            `membership` must be the same for all records of one. By default records are.
        unit_score: how scores of a unit's records are joined: "mean", "sum" or "max".
        seed: for the bootstrap.
        out: folder for the three files; None writes nothing.
        replicates: of the bootstrap.
        confidence: of every interval.
        delta: of the lower bounds on epsilon.
        promised_epsilon: the epsilon, at `delta`, that the training is said to keep; shown beside the bound.
        control: "null" repeats the audit with permuted membership, where there is nothing to find.
        format: "md" writes report.md too, a section of a model card.
        records_format: "parquet" writes records.parquet too, with the columns of records.csv; it needs pyarrow.
        name: what the report calls the data.
        records: what the models saw, as `reticent.load` takes it, or an array ``(N, ...)`` as `Records.make` does: to
            find out whether members and non-members differ without the model. By default the labels alone are looked
            at.
        stage: called with some words before each stage, such as an attack.

    Returns:
        The audit.

    Raises:
        InputError: none or several of logits, probabilities and margins, or `out` holds files that reticent did not
            write.
        StoreError: there can be no such folder.
        UnwrittenError: the files cannot be written; it holds the document.

    Example:
        >>> import numpy as np, reticent
        >>> rng = np.random.default_rng(0)
        >>> membership = rng.permuted(np.tile([True, False], (500, 8)), axis=1).T
        >>> margins = rng.normal(size=(16, 500)) + 1.0 * membership
        >>> labels = np.arange(500) % 10
        >>> found = reticent.attack(labels=labels, membership=membership, margins=margins, attacks=["lira"])
        >>> round(found.document["attacks"][0]["overall"]["auc"]["mean"], 1)
        0.7
    """
    config = AttackConfig(
        attacks=(attacks,) if isinstance(attacks, str) else tuple(attacks),
        attack={name: dict(table) for name, table in (options or {}).items()},
        seed=seed,
        replicates=replicates,
        confidence=confidence,
        delta=delta,
        promised_epsilon=promised_epsilon,
        control=control,
        unit=None if units is None else "unit",
        unit_score=unit_score,
        format=format,
        records_format=records_format,
    )
    grouping.check_unit(config)
    if units is not None and "unit" in (groups or {}):
        raise InputError("groups: 'unit' is what the audited units are called: give this group another name")
    brought = Outputs(
        labels=labels,
        membership=membership,
        logits=logits,
        probabilities=probabilities,
        margins=margins,
        targets=targets,
        references=references,
        classes=classes,
        groups=groups or {},
        ungrouped=ungrouped,
        records=records,
        units=None if units is None else Units.of("unit", units, unit_score),
    )
    return run(brought, config, out, name, stage)


@fixed()
def run(
    brought: Outputs,
    config: AttackConfig,
    out: str | Path | None = None,
    name: str = "outputs",
    stage: Callable[[str], None] | None = None,
) -> Attacked:
    """Attack and audit outputs as a configuration says; its `group_by` was said where they were read."""
    if config.records_format == "parquet":
        parquet.check()
    work, problem = Work(stage), brought.problem()
    if problem.signals.models == 1:
        config = alone(config, problem.signals)
    signals = problem.signals
    partitions = grouping.of_outputs(signals.labels, brought.groups)
    records = None if brought.records is None else same_records(brought.records, signals.labels)
    if records is not None:
        given = Inputs(records.kind, records.x, records.x[:0], records.vocabulary)
        problem = replace(problem, inputs=given)
    ids, problem, facts = _looked_at(problem, config)
    partitions = tuple(partition.among(ids) for partition in partitions)
    specs, left_out = runnable(problem, config)
    settings = Settings.of(config)
    if permuted := config.control == "null":
        check(problem, specs, settings)
    output = None if out is None else Output.take(user_files.path(out), AUDIT, kind=config.format)
    _foretell(problem.signals, specs, settings, work)
    with work.on("scoring"):
        work.tell("blind baseline")
        whole = problem if problem.units is None else as_records(problem, problem.units)
        blind = blind_baseline(problem.members, problem.signals.labels, records, ids, settings, units=problem.units)
        if blind is None or not blind.found.shift:  # Else what goes beyond the baseline is judged.
            facts = _beyond_chance(whole, facts)
        permuted = permuted or (facts.unequal and possible(problem, specs, settings))
        controls = _controls(problem, specs, settings, facts, work) if permuted else []
        measured = measure(
            problem,
            specs,
            settings,
            ids=ids,
            partitions=partitions,
            blind=blind,
            nulls=controls if facts.unequal else None,
            drawn=False,
            progress=work.tell,
        )
        checked = control(controls[0], measured.verdict) if controls else None
    found = measured.document(
        data=output_facts.data_facts(signals, name, ids, problem.units),
        population=facts,
        environment=work.environment(out=None if out is None else str(out)),
        control=checked,
        left_out=left_out,
    )
    if blind is None:
        found = found.with_(not_blind=Unlooked.FEW_RECORDS)
    if problem.signals.models == 1:
        found = found.with_(loss_tail=loss_tail(whole.signals.of_model(0), problem.members[0], config.confidence))
    strong = [name for name in left_out if ATTACKS[name].strong]
    unit = [] if problem.units is None else [of_units(problem.units)]
    further = [*unit, *facts.notices, *dict.fromkeys(left_out.values()), *say.not_looked_at(brought.ungrouped)]
    found = say.spoken(found, further, () if any(audit.strong for audit in measured.audits) else strong)
    rows, units = _listed(measured, problem, partitions, ids)
    form = config.records_format
    files = () if output is None else write_audit(output, found, rows, units=units, records_format=form)
    return Attacked(found, files, rows, measured.scores, ids, measured.p_member, problem, units)


def _foretell(signals: Signals, specs: Sequence[Spec], settings: Settings, work: Work) -> None:
    """Tell how long attacks take on many answers."""
    if signals.models > 1 and signals.models * signals.records >= LONG:
        size = Size(signals.models, signals.records, 0 if signals.logits is None else signals.classes)
        work.tell(f"attacks: about {duration(seconds(size, specs, settings))}")


def _controls(
    problem: Problem, specs: Sequence[Spec], settings: Settings, facts: Population, work: Work
) -> list[tuple[Audit, ...]]:
    """Repeat the audit with nothing to find; where more than chance decides membership, a leak is what goes beyond."""
    made = [nulls(problem, specs, settings, work.tell)]
    if facts.overall_confidence is not None:
        made.append(nulls(problem, specs, settings, work.tell, exchanged))
    return made


def _beyond_chance(whole: Problem, facts: Population) -> Population:
    """State what goes with membership though nothing leaked."""
    told, matrix, targets = whole.signals.of_model, whole.membership.matrix, whole.targets
    sure = overall_confidence(told, matrix, targets, compared(whole))
    return facts.with_(difficulty=difficulty(told, matrix, targets), overall_confidence=sure)


def _listed(
    measured: Measurement, problem: Problem, partitions: Sequence[Partition], ids: Ints
) -> tuple[RecordTable, tuple[UnitRow, ...]]:
    """List the records, and the units where these are audited, the most exposed first."""
    labels, units = problem.signals.labels, problem.units
    if units is None:
        return measured.rows(ids, labels, partitions=partitions), ()
    rows = measured.rows(ids, labels, partitions=(*partitions, by_unit(units)))
    return rows, () if measured.units is None else measured.units.rows(labels, partitions=partitions)


def _looked_at(problem: Problem, config: AttackConfig) -> tuple[NDArray[np.int64], Problem, Population]:
    """Choose the records to audit, keep these, and state what is known of them and of the models."""
    signals, models = problem.signals, output_facts.alike(problem.signals)
    _once(models, problem.membership.matrix)
    row_order.check(problem)
    first = output_facts.copied(problem)
    ids = audited(problem, first, config)
    contradicted = problem.membership.contradicted(first, problem.targets, ids)
    notices = [
        *signals.notices,
        *copies(models),
        *copied(len(ids) - len(np.unique(first[ids])), contradicted),
        *one_label(signals.labels, signals.classes),
        *unaudited(np.setdiff1d(np.arange(signals.records), ids), ids, first),
    ]
    kept = problem.among(ids)
    matrix = kept.drawn.matrix
    differing = shares(matrix, np.arange(matrix.shape[1]))
    return ids, kept, output_facts.population_facts(problem, differing, contradicted, notices)


def _once(groups: Sequence[Sequence[int]], membership: NDArray[np.bool_]) -> None:
    """Refuse one model that was brought several times: an audit would take it for so many."""
    for group in groups:
        seen: dict[bytes, int] = {}
        for model in group:
            first = seen.setdefault(membership[model].tobytes(), model)
            if first != model:
                raise InputError(
                    f"model {model} has the answers and the membership of model {first} on every record: expected each "
                    "model once, since a repeated one counts as further evidence; leave it out"
                )
