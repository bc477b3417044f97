"""``reticent audit``: train a population, attack it, report what it leaks."""

from collections.abc import Sequence
from pathlib import Path

from reticent.cli.flags import Flags


def audit(flags: Flags = Flags(), **options: str) -> Sequence[Path]:  # noqa: B008
    """Audit a data set and a recipe: train models, attack every one of them, write a report.

    Models are kept in the store: the same command after an interruption goes on where it was, and trains nothing twice.

    Examples:
        reticent audit --dataset mine.csv --label outcome --models 32
        reticent audit --dataset mine.csv --label outcome --not-feature patient --unit patient
        reticent audit --dataset photos/ --image-size 32 --defense relaxloss
        reticent audit --dataset my_code:load --train my_code:train

    Args:
        flags: what to audit, and how.
        options: An option of the defense, such as --epsilon 8 beside --defense dpsgd; see `reticent defenses NAME`.
    """
    values = flags.checked(options)

    from reticent.cli.job import reported
    from reticent.jobs.audit import run
    from reticent.jobs.config import gather, prepare
    from reticent.report.output import AUDIT

    job = prepare(gather(flags.config, values))
    return reported(AUDIT, lambda screen: run(job, progress=screen.model, stage=screen.stage), job.config.out).files
