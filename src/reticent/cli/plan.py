"""``reticent plan``: what an audit would cost and could resolve."""

from reticent.cli.flags import Flags, Switch
from reticent.cli.screen import show


def plan(*, curve: Switch = False, flags: Flags = Flags(), **options: str) -> None:  # noqa: B008
    """Estimate time, memory, disk and the smallest resolvable false-positive rate of an audit, from one probe.

    Examples:
        reticent plan --dataset mine.csv --label outcome --models 32
        reticent plan --dataset mine.csv --label outcome --curve

    Args:
        curve: Also audit models of a sixteenth, an eighth and a quarter of the records, and predict the leak of models
            that are trained on all of them; this takes about half as long as the audit itself.
        flags: the same as for `reticent audit`.
        options: An option of the defense, such as --epsilon 8 beside --defense dpsgd; see `reticent defenses NAME`.
    """
    values = flags.checked(options)

    from reticent.cli.job import Screen
    from reticent.jobs.config import gather, prepare
    from reticent.jobs.plan import estimate
    from reticent.report.blocks import Facts
    from reticent.report.output import AUDIT
    from reticent.say.plan import plan as told

    job = prepare(gather(flags.config, values))
    with Screen(AUDIT) as screen:
        made = estimate(job, screen.stage)
    show(Facts((("", tuple(told(made, str(job.config.store)))),)))
    if curve:
        from reticent.jobs.size_curve import audits_by_size
        from reticent.say.plan import curve as told_of

        with Screen(AUDIT) as screen:
            found = audits_by_size(job, progress=screen.model, stage=screen.stage)
        show(Facts((("", tuple(told_of(found))),)))
