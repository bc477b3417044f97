"""``reticent plan``: what an audit would cost and could resolve."""

from reticent.cli.flags import Flags


def plan(flags: Flags = Flags(), **options: str) -> None:  # noqa: B008
    """Estimate time, memory, disk and the smallest resolvable false-positive rate of an audit, from one probe.

    Args:
        flags: the same as for `reticent audit`.
        options: An option of the defense.
    """
    import math
    from datetime import timedelta

    from reticent.cli.screen import facts, stdout
    from reticent.jobs.config import gather, prepare
    from reticent.jobs.plan import estimate

    job = prepare(gather(flags.config, flags.asked(options)))
    made = estimate(job)
    each = f"{made.seconds_per_model:.1f} s" if made.seconds_per_model >= 0.05 else "less than 0.1 s"
    rows = {"models": f"{made.models}, of which {made.finished} are finished in {job.config.store}"}
    rows["one model"] = f"{made.parameters:,} parameters, about {each} on {made.device}"
    if made.finished < made.models:
        processes = "one process" if made.workers == 1 else f"{made.workers} processes"
        rows["training"] = f"about {timedelta(seconds=math.ceil(made.seconds))} in {processes}"
        rows["memory"] = f"about {made.memory_bytes / 2**30:.1f} GiB"
        rows["disk"] = f"about {math.ceil(made.disk_bytes / 2**20):,} MiB"
    else:
        rows["training"] = "none: all models are finished"
    each_model = f"each model has {round(1 / made.smallest_fpr):,} non-members among {made.records:,} records"
    rows["smallest FPR"] = f"{made.smallest_fpr:.2g}: {each_model}"
    for rate in made.rates:
        needed = f"not measurable: needs {rate['non_members_needed']:,} non-members a model"
        rows[f"TPR at FPR {rate['fpr']:g}"] = "measurable" if rate["measurable"] else needed
    stdout().print(facts(rows))
