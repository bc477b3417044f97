"""``reticent plan``: what an audit would cost and could resolve."""

from reticent.cli.flags import Flags, with_options


def plan(flags: Flags = Flags(), **options: str) -> None:  # noqa: B008
    """Estimate time, memory, disk and the smallest resolvable false-positive rate of an audit, from one probe.

    Args:
        flags: the same as for `reticent audit`.
        options: An option of the defense.
    """
    import math
    from datetime import timedelta

    from rich.table import Table

    from reticent.cli.screen import stdout
    from reticent.jobs.config import gather, prepare
    from reticent.jobs.plan import estimate

    job = prepare(gather(flags.config, with_options(flags.values(), options, flags.config)))
    made = estimate(job)
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    table.add_row("models", f"{made.models}, of which {made.finished} are finished in {job.config.store}")
    each = f"{made.seconds_per_model:.1f} s" if made.seconds_per_model >= 0.05 else "less than 0.1 s"
    table.add_row("one model", f"{made.parameters:,} parameters, about {each} on {made.device}")
    if made.finished < made.models:
        processes = "one process" if made.workers == 1 else f"{made.workers} processes"
        table.add_row("training", f"about {timedelta(seconds=math.ceil(made.seconds))} in {processes}")
        table.add_row("memory", f"about {made.memory_bytes / 2**30:.1f} GiB")
        table.add_row("disk", f"about {math.ceil(made.disk_bytes / 2**20):,} MiB")
    else:
        table.add_row("training", "none: all models are finished")
    non_members = round(1 / made.smallest_fpr)
    table.add_row(
        "smallest FPR",
        f"{made.smallest_fpr:.2g}: each model has {non_members:,} non-members among {made.records:,} records",
    )
    for rate in made.rates:
        verdict = (
            "measurable"
            if rate["measurable"]
            else f"not measurable: needs {rate['non_members_needed']:,} non-members a model"
        )
        table.add_row(f"TPR at FPR {rate['fpr']:g}", verdict)
    stdout().print(table)
