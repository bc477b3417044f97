"""What an audit will take, in words."""

import math
from collections.abc import Iterator
from datetime import timedelta

from reticent.findings.plan import LeakCurve, Plan, Predicted
from reticent.rounding import fraction, interval, level, significant_up
from reticent.say.grammar import agree, plural
from reticent.say.population import noun


def plan(found: Plan, store: str) -> Iterator[tuple[str, str]]:
    """Say what an audit will take, and what it can resolve."""
    finished = f"{found.finished} {agree(found.finished, 'is', 'are')} finished in {store}"
    yield "models", f"{found.models}, of which {finished}"
    each = f"about {found.seconds_per_model:.1f} s" if found.seconds_per_model >= 0.05 else "less than 0.1 s"
    yield "one model", f"{found.parameters:,} parameters, {each} on {found.device}"
    if found.finished < found.models:
        processes = "one process" if found.workers == 1 else f"{found.workers} processes"
        together = f", {found.stack} models at a time as one computation" if found.stack > 1 else ""
        yield "training", f"about {_time(found.seconds)} in {processes}{together}"
        if found.stacking is not None:
            times = found.stacking.microseconds.items()
            told = "; ".join(f"{micro:,.0f} µs {_way(count)}" for count, micro in times)
            yield "measured", f"a step of one model takes {told}"
        yield "memory", f"about {found.memory_bytes / 2**30:.1f} GiB"
        yield "disk", f"about {_size(found.disk_bytes)}"
    else:
        yield "training", "none: all models are finished"
    temporary = f", and {_size(found.temporary_bytes)} in temporary files" if found.temporary_bytes else ""
    yield "attacks", f"about {_time(found.seconds_audit)} with the audit of their scores{temporary}"
    whole = found.seconds + found.seconds_audit + found.seconds_around
    yield (
        "in all",
        f"about {_time(whole)} with loading and the report, as fast as this machine is now; without the models of "
        "--also-non-adaptive, and attacks that look at more than outputs",
    )
    for paper in found.papers:
        told = f"about {_time(paper.seconds)} of training, {_time(paper.seconds_audit)} of attacks"
        yield f"{paper.models} models", f"{told}, {_size(paper.disk_bytes)} on disk: as many as {paper.name}"
    non_members = plural(round(1 / found.smallest_fpr), "non-member")
    least = significant_up(found.smallest_fpr)
    what = plural(found.records if found.units is None else found.units, noun(found.unit))
    yield "smallest FPR", f"{least}: each model has {non_members} among {what}"
    for rate in found.rates:
        needed = f"not measurable: needs {rate.non_members_needed:,} non-members a model"
        yield f"TPR at FPR {rate.fpr:g}", "measurable" if rate.measurable else needed


def _way(count: str) -> str:
    """Say how so many models are trained."""
    return "one by one" if count == "1" else f"{count} at a time"


def _time(seconds: float) -> str:
    return str(timedelta(seconds=math.ceil(seconds)))


def _size(number: int) -> str:
    return f"{math.ceil(number / 2**20):,} MiB"


def curve(found: LeakCurve) -> Iterator[tuple[str, str]]:
    """Say how the leak falls with the number of training records, and what follows for models of all of them."""
    yield "attack", f"{found.attack}; in brackets {level(found.confidence)} intervals"
    for point in found.points:
        yield f"{point.members:,} training records", f"AUC {fraction(point.auc.mean)} ({interval(point.auc.interval)})"
    if found.held_out is None or found.beyond is None:
        yield (
            "all records",
            "no prediction: at some size no leak is resolved, or all members are, so that there is nothing to follow; "
            "more --models narrow the intervals",
        )
        return
    told = "as was found" if found.held else "which is not what was found: do not rely on the next line"
    held = found.held_out
    yield "check", f"the smaller sizes predict {_predicted(held)} for {held.members:,} training records, {told}"
    yield "all records", f"models trained on all {found.beyond.members:,} records: {_predicted(found.beyond)}"
    yield (
        "assumed",
        "the distance between members and non-members is a power of the number of records, beyond the sizes seen too",
    )


def _predicted(found: Predicted) -> str:
    return f"AUC {fraction(found.auc)} ({interval(found.interval)})"
