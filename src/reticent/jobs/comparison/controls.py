"""The controls of a comparison: for each row, the baseline stopped early where it is as accurate."""

from collections.abc import Callable, Hashable, Sequence

from reticent.findings.comparison import ControlNote, Note, Role
from reticent.jobs.comparison.early import Stop, models_of, stopped
from reticent.jobs.comparison.rows import AuditedRow
from reticent.jobs.config import Job

Stops = Callable[[Job, Sequence[float]], list[Stop] | None]
"""Finds where a recipe has each accuracy, as `early.stops` does."""
Control = tuple[str, Job, Stop]
"""What a control is called, what trains it, and where it stops."""
Train = Callable[[Sequence[Control]], list[AuditedRow]]
"""Trains populations, and audits each."""


def controls(
    job: Job | None, baseline: AuditedRow, rows: Sequence[AuditedRow], stops: Stops, train: Train
) -> tuple[list[AuditedRow], list[ControlNote]]:
    """Make the controls of a comparison, and match each row with its own, or with the baseline.

    `stops` finds where to stop, in `job`, which is None for outputs that were brought; `train` makes the controls.
    """
    if job is None:
        return [], [ControlNote(note=Note.OUTPUTS)]
    left, notes = _sorted(baseline, [row for row in rows if row is not baseline and row.role is Role.RECIPE])
    places = stops(job, [accuracy for _, accuracy in left]) if left else []
    if places is None:
        return [], [*notes, ControlNote(note=Note.NO_EPOCHS)]
    planned: dict[Hashable, Control] = {}
    rows_of: dict[Hashable, list[str]] = {}
    patient = job.population.recipe.patience is not None
    for (row, accuracy), stop in zip(left, places, strict=True):
        short = stopped(job, stop.epochs)
        models = models_of(short)
        whole = not patient and (stop.epochs >= round(stop.end, 2) or models == models_of(job))
        if whole or (patient and baseline.accuracy is not None and accuracy >= baseline.accuracy):
            notes.append(_baseline_itself(row, stop, whole))
            baseline.matches.append(row.name)
        else:
            planned.setdefault(models, (f"{baseline.name}, {stop.epochs:g} of {stop.of} epochs", short, stop))
            rows_of.setdefault(models, []).append(row.name)
        if not stop.reached:
            notes.append(ControlNote(note=Note.TOO_ACCURATE, row=row.name, reached=stop.expected))
    made = train(list(planned.values()))
    for control, names in zip(made, rows_of.values(), strict=True):
        control.matches.extend(names)
    return made, notes


def _sorted(
    baseline: AuditedRow, rows: Sequence[AuditedRow]
) -> tuple[list[tuple[AuditedRow, float]], list[ControlNote]]:
    """Find the rows that need a control, with their accuracy; and say which do not, or can have none."""
    left, notes = list[tuple[AuditedRow, float]](), list[ControlNote]()
    for row in rows:
        if row.same_labels(baseline):
            baseline.matches.append(row.name)
            notes.append(ControlNote(note=Note.SAME_LABELS, row=row.name))
        elif row.accuracy is None:
            notes.append(ControlNote(note=Note.ACCURACY_UNKNOWN, row=row.name))
        else:
            left.append((row, row.accuracy))
    return left, notes


def _baseline_itself(row: AuditedRow, stop: Stop, whole: bool) -> ControlNote:
    """Say why the baseline, as it is, is a row's control."""
    if not whole:
        return ControlNote(note=Note.PATIENT, row=row.name)
    own = stop.end < stop.of
    return ControlNote(note=Note.WHOLE, row=row.name, epochs=stop.end if own else None, of=stop.of if own else None)
