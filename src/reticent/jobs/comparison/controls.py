"""The controls of a comparison: for each row, the baseline stopped early where it is as accurate."""

from collections.abc import Hashable, Sequence
from typing import Protocol

from reticent.jobs.comparison.early import Stop, models_of, stopped
from reticent.jobs.comparison.rows import Contender
from reticent.jobs.comparison.specs import Entrant
from reticent.jobs.config import Job
from reticent.rounding import fraction, percent

UNKNOWN = "a recipe that costs accuracy looks private by that alone."


class Maker(Protocol):
    """Who trains and audits."""

    def stops(self, job: Job, accuracies: Sequence[float]) -> list[Stop] | None:
        """Find where the undefended recipe has each accuracy, as `reticent.jobs.comparison.early.stops` does."""

    def train(self, name: str, job: Job, where: Stop | None = None) -> list[Contender]:
        """Train one population and audit it."""


def control(maker: Maker, found: Sequence[Entrant], contenders: list[Contender], baseline: str) -> list[str]:
    """Put the controls behind the rows of a comparison."""
    job = next(one.job for one in found if one.name == baseline)
    if job is None:
        return [f"There is no early-stopped control, since {baseline} is of outputs that were brought: {UNKNOWN}"]
    first = next(one for one in contenders if one.name == baseline)
    others, notes = _own(first, [one for one in contenders if one.name != baseline and one.aware])
    accuracies = [one.accuracy for one in others if one.accuracy is not None]
    places = maker.stops(job, accuracies) if others else []
    if places is None:
        return [
            *notes,
            f"There is no early-stopped control, since the training of {baseline} has no epochs that could be cut off: "
            f"{UNKNOWN}",
        ]
    made: dict[Hashable, Contender] = {}
    patient = job.population.recipe.patience is not None
    for other, where in zip(others, places, strict=True):
        short = stopped(job, where.epochs)
        models = models_of(short)
        whole = not patient and (where.epochs >= round(where.end, 2) or models == models_of(job))
        why, beside = _why_none(other, first, where, patient=patient, whole=whole), first
        if why:
            notes.append(why)
        else:
            if models not in made:
                made[models] = maker.train(f"{baseline}, {where.epochs:g} of {where.of} epochs", short, where)[0]
            beside = made[models]
        beside.matched.append(other.name)
        if not where.reached:
            notes.append(
                f"{baseline} reaches {percent(where.expected)} at most, at any epoch of its training, and {other.name} "
                f"{percent(other.accuracy)}: what is less accurate gives away less by that alone, so the control is "
                f"too hard on {other.name} by so much."
            )
    contenders += made.values()
    return notes


def _own(first: Contender, others: Sequence[Contender]) -> tuple[list[Contender], list[str]]:
    """Leave those rows that need a control, and say which do not, or can have none."""
    left, unknown = list[Contender](), list[str]()
    for one in others:
        if one.as_right_as(first):
            one.notices.append(_labels(one, first))
            first.matched.append(one.name)
        elif one.accuracy is None:
            unknown.append(f"{one.name} has no early-stopped control: its accuracy is not known from margins alone.")
        else:
            left.append(one)
    return left, unknown


def _labels(one: Contender, first: Contender) -> str:
    """Say of a row with the baseline's labels what that leaves an attacker who looks at nothing else."""
    area = one.area("correctness")
    much = "" if area is None else f" (AUC {fraction(area)}, attack correctness)"
    return (
        f"It is right on the same records as {first.name}, which therefore is its control; who sees labels alone finds "
        f"as much with it as without{much}."
    )


def _why_none(other: Contender, first: Contender, where: Stop, *, patient: bool, whole: bool) -> str:
    """Say why the baseline, as it is, is a row's control; empty where it is not."""
    if patient and first.accuracy is not None and (other.accuracy or 0.0) >= first.accuracy:
        return (
            f"{other.name} has no early-stopped control: it is at least as accurate as {first.name}, whose training "
            "stops early by itself, so the baseline is its control."
        )
    if whole:
        own = f" ({where.end:g} of {where.of} epochs, by its own stop_after)" if where.end < where.of else ""
        return (
            f"{other.name} has no early-stopped control: {first.name} is closest to its accuracy when it is trained "
            f"to the end{own}, so the baseline is its control."
        )
    return ""
