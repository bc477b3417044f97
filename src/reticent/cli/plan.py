"""``reticent plan``: what an audit would cost and could resolve."""

from reticent.cli.flags import Flags


def plan(flags: Flags = Flags(), **options: str) -> None:  # noqa: B008
    """Estimate time, memory, disk and the smallest resolvable false-positive rate of an audit, from one probe.

    Args:
        flags: the same as for `reticent audit`.
        options: An option of the defense.
    """
    from reticent.cli.screen import show
    from reticent.jobs.config import gather, prepare
    from reticent.jobs.plan import estimate
    from reticent.report.blocks import Facts
    from reticent.say.plan import plan as told

    job = prepare(gather(flags.config, flags.asked(options)))
    show(Facts((("", tuple(told(estimate(job), str(job.config.store)))),)))
