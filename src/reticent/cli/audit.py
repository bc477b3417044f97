"""``reticent audit``: train a population, attack it, report what it gives away."""

from collections.abc import Sequence
from pathlib import Path

from reticent.cli.flags import Flags, with_options


def audit(flags: Flags = Flags(), **options: str) -> Sequence[Path]:  # noqa: B008
    """Audit a data set and a recipe: train models, attack every one of them, write a report.

    Models are kept in the store: the same command after an interruption goes on where it was, and trains nothing twice.

    Args:
        flags: what to audit, and how.
        options: An option of the defense, such as --epsilon 8 beside --defense dpsgd; see `reticent defenses NAME`.

    Returns:
        The files that were written.
    """
    from reticent.cli.progress import screen
    from reticent.cli.screen import first, replaced, told, unlost
    from reticent.jobs.audit import run
    from reticent.jobs.config import gather, prepare
    from reticent.report.kinds.audit import audit as kind
    from reticent.report.output import AUDIT

    job = prepare(gather(flags.config, with_options(flags.values(), options, flags.config)))
    with unlost(), screen() as shown:
        stage = first(lambda: replaced(Path(job.config.out), AUDIT, shown.note), shown.stage)
        audited = run(job, progress=shown.model, stage=stage)
    return told(kind(audited.findings), audited.files)
