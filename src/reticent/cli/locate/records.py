"""``reticent locate records``: which records a model leaks, and which it has memorised."""

from collections.abc import Sequence
from pathlib import Path

from reticent.cli.flags import Flags, Switch, flags, silent


@flags(*silent("locate records"), show=False)
class Asked(Flags):
    """What to train, and how."""


def records(
    run: Path | None = None,
    *,
    without_references: Switch = False,
    flags: Asked = Asked(),  # noqa: B008
    **options: str,
) -> Sequence[Path]:
    """Say of each record how exposed it is and how far it is memorised, from a population of models.

    Examples:
        reticent locate records reticent-audit
        reticent locate records --dataset mine.csv --label outcome --models 32

    Args:
        run: A finished audit's folder, whose numbers are taken. [models are trained, or found in the store]
        without_references: Train one model on all records, and rank its members by risk without any other model.
        flags: what to train, and how.
        options: An option of the defense, such as --epsilon 8 beside --defense dpsgd; see `reticent defenses NAME`.

    Raises:
        InputError: a finished audit, which has references, is to be read without any.
    """
    from reticent.cli.job import reported
    from reticent.errors import InputError
    from reticent.jobs.locate import ranking
    from reticent.jobs.locate.records import OUT, locate_records
    from reticent.report.output import RANKING, RECORD_LIST

    given = flags.asked(options)
    if without_references and run:
        raise InputError(f"without-references: trains one model, and reads no finished audit: leave {run} out")
    if without_references:
        return reported(
            RANKING,
            lambda screen: ranking.rank_members(flags.config, stage=screen.stage, **given),
            flags.folder(given, ranking.OUT),
        ).files
    given |= {"config": flags.config} if run and flags.config else {}
    return reported(
        RECORD_LIST,
        lambda screen: locate_records(run or flags.config, progress=screen.model, stage=screen.stage, **given),
        flags.folder(given, OUT),
    ).files
