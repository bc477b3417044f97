"""Audits of small parts of the records, to predict what models of all of them leak."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reticent.auditing.size_curve import leak_curve
from reticent.errors import InputError
from reticent.findings.plan import LeakCurve, SizePoint
from reticent.jobs.audit import evaluate
from reticent.jobs.base import Work
from reticent.jobs.config import Job, by_record, called, prepare
from reticent.options import AuditConfig
from reticent.population.in_store import unfinished, using
from reticent.population.train import Callback
from reticent.torch_state import fixed

PARTS = (16, 8, 4)
"""Models are audited on so small parts of the records, the smallest first."""
FEWEST = 100
"""Audited records of the smallest part."""


def size_curve(
    config: AuditConfig | str | Path | None = None,
    *,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
    **values: Any,
) -> LeakCurve:
    """Audit models of three small parts of the records, and predict the leak of models of all of them.

    Models that are trained on fewer records leak more, so that the audit of a small part overstates what models of all
    records leak. Finished models are found in the store.

    Args:
        config: a configuration, the path of a TOML file, or None.
        progress: called after every model.
        stage: called with words before each part.
        **values: as for `reticent.audit`.

    Returns:
        The AUC at each size, how well the largest one was predicted from the others, and the prediction for models that
        are trained on all the records.

    Raises:
        InputError: there are fewer than 1,600 records to audit.

    Cost: as three audits, of a sixteenth, an eighth and a quarter of the records.

    Example:
        >>> import reticent
        >>> found = reticent.size_curve(dataset="location30", models=8)  # doctest: +SKIP
        >>> found.beyond.auc, found.beyond.interval  # doctest: +SKIP
    """
    return audits_by_size(called(config, values), progress=progress, stage=stage)


@fixed()
def audits_by_size(
    job: Job, *, progress: Callback | None = None, stage: Callable[[str], None] | None = None
) -> LeakCurve:
    """Audit parts of a job's records."""
    by_record(job.config)
    records = len(job.population.roles.audited)
    if records // PARTS[0] < FEWEST:
        raise InputError(
            f"curve: expected at least {FEWEST * PARTS[0]:,} records to audit, so that a {PARTS[0]}th of them are "
            f"{FEWEST}, got {records:,}: so few can be audited as a whole"
        )
    work, found = Work(stage, progress), []
    reference, sizes = len(job.population.roles.reference), [records // part for part in PARTS]
    smalls = [prepare(job.config.replace(records=size, reference=reference), job.records) for size in sizes]
    left = [unfinished(small.config.store, small.population) for small in smalls]
    # A model of twice as many records takes about twice as long.
    work.divide("size", [models * size for models, size in zip(left, sizes, strict=True)])
    for size, small in zip(sizes, smalls, strict=True):
        with using(small.config.store, small.population) as store:
            audits = evaluate(small, store, work.piece(f"models of {size:,} records", size)).measured.audits
        found.append((
            int(small.population.membership.matrix.sum(axis=1).mean()),
            {one.name: one.auc for one in audits},
        ))
    strongest = max(found[-1][1], key=lambda name: found[-1][1][name].mean)
    points = [SizePoint(members=members, auc=areas[strongest]) for members, areas in found]
    return leak_curve(strongest, points, records, job.config.confidence)
