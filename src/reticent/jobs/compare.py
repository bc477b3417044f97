"""Compare recipes: train each under the same membership, attack each, and test in pairs what differs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent import seeds, user_files
from reticent.auditing.attack_audit import FPRS
from reticent.auditing.comparison.compare import compare as tested
from reticent.errors import InputError
from reticent.findings.comparison import ComparisonDocument, ComparisonEnvironment, ControlNote, Note
from reticent.jobs import attack as attacking
from reticent.jobs import audit as auditing
from reticent.jobs.base import Reported, Work
from reticent.jobs.comparison.controls import Control, controls
from reticent.jobs.comparison.early import Stop, stops
from reticent.jobs.comparison.folders import RowFolders
from reticent.jobs.comparison.for_all import for_all
from reticent.jobs.comparison.pairing import RowSpec
from reticent.jobs.comparison.rows import AuditedRow, brought, trained
from reticent.jobs.comparison.sources import (
    Defenses,
    Finished,
    Recipes,
    check_arguments,
    named,
    place,
    refuse_runs,
)
from reticent.jobs.comparison.specs import baseline_of, row_specs
from reticent.jobs.config import Job
from reticent.options import AttackConfig, Options
from reticent.population.in_store import finished, unfinished, using
from reticent.population.train import Callback
from reticent.report.comparison import write_comparison
from reticent.report.output import AUDIT, Output
from reticent.say.comparison import spoken
from reticent.say.population import in_store
from reticent.store import at
from reticent.torch_state import fixed

OUTPUTS = "given outputs"
"""What the data of outputs that were brought are called."""
ARGUMENTS = ("recipes", "defenses", "baseline", "early_stopped", "augmented", "fpr", "progress", "stage", "note")
"""Of `compare`, beside the keys of a configuration."""
Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Compared(Reported[ComparisonDocument]):
    """A comparison that ran.

    Attributes:
        findings: what ``compare.json`` holds, typed.
        files: compare.html, compare.csv and compare.json.
        audits: the document of each row's audit, by name.
    """

    audits: dict[str, dict[str, Any]]


def compare(
    *runs: str | Path | Finished,
    recipes: Recipes = (),
    defenses: Defenses = (),
    baseline: str | None = None,
    early_stopped: bool = True,
    augmented: bool = False,
    fpr: float | None = None,
    out: str | Path = "reticent-compare",
    progress: Callback | None = None,
    stage: Tell | None = None,
    note: Tell | None = None,
    **values: Any,
) -> Compared:
    """Compare recipes, or audits that ran: accuracy against leak, with paired tests.

    All are trained under the same membership and random streams, and audited on the same records. Beside each recipe
    stands its control: the baseline, stopped early at the same accuracy. Finished models are found in the store.

    Args:
        *runs: folders of audits, results of `reticent.audit`, or ``.npz`` files of outputs as ``reticent attack`` takes
            them.
        recipes: TOML files of audits, or tables of keys and values; in a list, or by name.
        defenses: names of `reticent defenses`, or one of them, with options as ``dpsgd:epsilon=8`` or in a table with
            ``name``; "none" is the undefended recipe, and comes first where no row is undefended, whatever the
            baseline.
        baseline: name of the undefended one; by default the first, or the only undefended one if the first is defended.
        early_stopped: train the controls.
        augmented: train a further control, a row of its own: the baseline with the augmentation that suits the records,
            each model stopped at its best validation loss. A tenth of the records is set aside for that, unless
            `validation` says how many.
        fpr: false-positive rate of the comparison; by default the smallest that is well measured.
        out: folder for compare.html, compare.csv and compare.json, and for a folder with each audit.
        progress: called after every model.
        stage: called with a word before each stage.
        note: called with a sentence for each row: how many of its models are in the store, and how many are trained.
        **values: keys of `AuditConfig` or `Recipe` that hold for all, as for `reticent.audit`.

    Returns:
        The comparison.

    Raises:
        UnknownNameError: no row is called as `baseline` says, or an argument that there is not.
        InputError: runs by name, fewer than two, or two that cannot be paired; a rate that audits do not have; or `out`
            holds files that are read here, or that reticent did not write.
        UnwrittenError: the files cannot be written, or another command wrote others there meanwhile.

    Example:
        >>> import reticent
        >>> recipes = {"plain": {}, "decay": {"weight_decay": 0.01}}
        >>> done = reticent.compare(recipes=recipes, models=8, epochs=5)  # doctest: +SKIP
        >>> print(done.sentence)  # doctest: +SKIP
    """
    if "runs" in values:
        refuse_runs(values["runs"])
    return run(
        runs,
        recipes=recipes,
        defenses=defenses,
        baseline=baseline,
        early_stopped=early_stopped,
        augmented=augmented,
        fpr=fpr,
        out=out,
        progress=progress,
        stage=stage,
        note=note,
        values=values,
    )


@fixed()
def run(
    runs: Sequence[str | Path | Finished] = (),
    *,
    recipes: Recipes = (),
    defenses: Defenses = (),
    baseline: str | None = None,
    early_stopped: bool = True,
    augmented: bool = False,
    fpr: float | None = None,
    out: str | Path,
    progress: Callback | None = None,
    stage: Tell | None = None,
    note: Tell | None = None,
    values: Options,
    begin: Callable[[], object] = lambda: None,
) -> Compared:
    """Compare as `compare` says; `begin` is called when everything is checked, as earlier reports are set aside."""
    check_arguments(values, ARGUMENTS)
    if fpr is not None and fpr not in FPRS:
        raise InputError(f"fpr: expected one of {', '.join(f'{rate:g}' for rate in FPRS)}, got {fpr}")
    common, asked = for_all(values), row_specs(runs, recipes, values, defenses, augmented=augmented)
    first = baseline_of(asked, baseline)
    note = note or _silent
    read = [path for run in runs for path in AUDIT.files(place(run))]
    folders = RowFolders(user_files.path(out), [*read, *named(recipes).values(), values.get("dataset")], common.format)
    outputs = {one.name: folders.take(one.name, one.config.format) for one in asked}
    work = Work(stage, progress)
    with ExitStack() as held:
        owners: dict[tuple[str, str], str] = {}
        left = dict.fromkeys(outputs, 0)
        jobs = [(one.name, one.job) for one in asked if one.job is not None]
        for _, job in jobs:
            held.enter_context(using(job.config.store, job.population))
        folders.begin()
        begin()
        for name, job in jobs:
            owner = owners.setdefault((job.config.store, job.population.training_id(0)), name)
            there = finished(job.config.store, job.population)
            note(in_store(name, there, job.population.models, job.config.store, owner))
            left[name] = (job.population.models - there) * (owner == name)
        # Where these stop, and so how long they take, is known when the rows are.
        work.divide("row", list(left.values()), then="controls" if early_stopped and first.job is not None else "")
        auditor = _Auditor(folders, outputs, work, note, held)
        rows = [row for one in asked for row in auditor.audit(one)]
        base = next(row for row in rows if row.name == first.name)
        notes: list[ControlNote] = []
        if early_stopped:
            more, notes = controls(first.job, base, rows, auditor.stops, auditor.controls)
            rows += more
        work.tell("comparison")
        if first.defended:
            notes.append(ControlNote(note=Note.DEFENDED))
        found = _findings(rows, base, fpr, asked, common, notes)
        found = found.with_(
            environment=ComparisonEnvironment(
                **dict(work.environment(rows={row.name: row.costs for row in rows})),
            )
        )
        files = write_comparison(folders.output, found)
        for told in folders.left():
            note(told)
        return Compared(found, files, {row.name: row.findings.to_json() for row in rows})


def _silent(_: str) -> None:
    """Tell nobody."""


class _Auditor:
    """Makes the audits of rows, each with its report."""

    def __init__(
        self, folders: RowFolders, outputs: Mapping[str, Output], work: Work, note: Tell, held: ExitStack
    ) -> None:
        self._folders, self._outputs, self._work, self._note, self._held = folders, outputs, work, note, held
        for name, output in outputs.items():
            self._replacing(name, output)

    def _replacing(self, name: str, output: Output) -> None:
        told = self._folders.replaced(name, output)
        if told is not None:
            self._note(told)

    def audit(self, spec: RowSpec) -> list[AuditedRow]:
        """Audit one row; by one attacker, or by two."""
        if spec.job is not None:
            return self._train(spec.name, spec.job, self._outputs[spec.name])
        assert spec.outputs is not None
        tell = self._work.piece(spec.name).tell
        done = attacking.run(spec.outputs, spec.config, self._outputs[spec.name].folder, spec.name, tell)
        return [brought(done, done.problem, spec.name)]

    def controls(self, planned: Sequence[Control]) -> list[AuditedRow]:
        """Train the baseline, stopped early at each of some places."""
        for _, job, _ in planned:
            self._held.enter_context(using(job.config.store, job.population))
        self._work.divide("control", [unfinished(job.config.store, job.population) for _, job, _ in planned])
        return [self._control(*one) for one in planned]

    def _control(self, name: str, job: Job, stop: Stop) -> AuditedRow:
        output = self._folders.late(name, job.config.format)
        self._replacing(name, output)
        return self._train(name, job, output, stop)[0]

    def stops(self, job: Job, accuracies: Sequence[float]) -> list[Stop] | None:
        """Find where the undefended recipe has each accuracy."""
        return stops(job, accuracies, self._work)

    def _train(self, name: str, job: Job, output: Output, stop: Stop | None = None) -> list[AuditedRow]:
        """Train, or find, one population, audit it, and write its report."""
        evaluated = auditing.evaluate(job, at(job.config.store).open(), self._work.piece(name))
        return trained(evaluated, auditing.write(evaluated, output), name, stop)


def _findings(
    rows: Sequence[AuditedRow],
    baseline: AuditedRow,
    fpr: float | None,
    asked: Sequence[RowSpec],
    common: AttackConfig,
    notes: Sequence[ControlNote],
) -> ComparisonDocument:
    """Test the rows in pairs, and put the document together."""
    first = rows[0].findings
    seed = next((one.job.config.seed for one in asked if one.job is not None), common.seed)
    compared = tested(
        [row.for_tests() for row in rows],
        fpr=first.verdict.fpr if fpr is None else fpr,
        rng=seeds.rng(seed, "comparison"),
        confidence=asked[0].config.confidence,
        replicates=max(one.config.replicates for one in asked),
        baseline=baseline.name,
    )
    # Outputs that were brought are called as their file, which is but one row's name.
    data = first.data.with_(name=OUTPUTS) if first.data.kind == "outputs" else first.data
    found = (row.found(numbers, baseline) for row, numbers in zip(rows, compared.rows, strict=True))
    return spoken(
        ComparisonDocument(
            **dict(compared) | {"rows": tuple(found)},
            data=data,
            notes=tuple(notes),
            environment=ComparisonEnvironment(),
        )
    )
