"""``reticent locate records``: which records a model leaks, and which it has memorised."""

from collections.abc import Sequence
from pathlib import Path

from reticent.cli.flags import Flags, with_options


def records(run: Path | None = None, *, flags: Flags = Flags(), **options: str) -> Sequence[Path]:  # noqa: B008
    """Say of each record how exposed it is and how far it is memorised, from a population of models.

    Args:
        run: A finished audit's folder, whose numbers are taken; by default models are trained, or found in the store.
        flags: what to train, and how.
        options: An option of the defense.

    Returns:
        The files that were written.
    """
    from reticent.cli.progress import screen
    from reticent.cli.screen import replaced, told, unlost
    from reticent.jobs.locate.records import again, locate_records
    from reticent.report.kinds import records as kind
    from reticent.report.output import RECORD_LIST

    values = with_options(flags.values(), options, flags.config)
    if run is not None:
        given = values | ({"config": flags.config} if flags.config else {})
        with unlost():
            found = again(run, given, checked=lambda out: replaced(out, RECORD_LIST))
    else:
        with unlost(), screen() as shown:
            found = locate_records(
                flags.config,
                progress=shown.model,
                stage=shown.stage,
                checked=lambda out: replaced(out, RECORD_LIST, shown.note),
                **values,
            )
    return told(kind.records(found.findings), found.files)
