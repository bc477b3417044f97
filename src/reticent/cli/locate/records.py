"""``reticent locate records``: which records a model leaks, and which it has memorised."""

from collections.abc import Sequence
from pathlib import Path

from reticent.cli.flags import Flags


def records(run: Path | None = None, *, flags: Flags = Flags(), **options: str) -> Sequence[Path]:  # noqa: B008
    """Say of each record how exposed it is and how far it is memorised, from a population of models.

    Args:
        run: A finished audit's folder, whose numbers are taken; by default models are trained, or found in the store.
        flags: what to train, and how.
        options: An option of the defense.
    """
    from reticent.cli.job import reported
    from reticent.jobs.locate.records import locate_records
    from reticent.report.output import RECORD_LIST

    given = flags.asked(options) | ({"config": flags.config} if run and flags.config else {})
    return reported(
        RECORD_LIST,
        lambda screen: locate_records(
            run or flags.config, progress=screen.model, stage=screen.stage, checked=screen.checked, **given
        ),
    ).files
