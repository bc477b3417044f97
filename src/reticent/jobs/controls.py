"""The controls of a comparison: for each row, the baseline stopped early where it is as accurate."""

from collections.abc import Hashable, Sequence
from typing import Protocol

from reticent.jobs.config import Job
from reticent.jobs.contenders import Contender
from reticent.jobs.early import Stop, stopped
from reticent.jobs.entrants import Entrant
from reticent.report.wording import percent
from reticent.training.loop import planned
from reticent.training.run import batch_sizes

UNKNOWN = "a recipe that costs accuracy looks private by that alone."


class Maker(Protocol):
    """Who trains and audits."""

    def stops(self, job: Job, accuracies: Sequence[float]) -> list[Stop] | None:
        """Find where the undefended recipe has each accuracy, as `reticent.jobs.early.stops` does."""

    def train(self, name: str, job: Job, where: Stop | None = None) -> list[Contender]:
        """Train one population and audit it."""


def control(maker: Maker, found: Sequence[Entrant], contenders: list[Contender], baseline: str) -> list[str]:
    """Put the controls behind the rows of a comparison.

    Args:
        maker: trains them.
        found: what is compared.
        contenders: the rows; controls are added, and the baseline notes the rows whose control it is itself.
        baseline: name of the row that is stopped early.

    Returns:
        Sentences on rows that have no control of their own, or one that is not as accurate.
    """
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
        models = _models(short)
        whole = not patient and (where.epochs >= round(where.end, 2) or models == _models(job))
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
                f"{other.name} is more accurate than {baseline} at any epoch of its training (it reaches "
                f"{percent(where.expected)}): its control is less accurate than it is, which counts against it."
            )
    contenders += made.values()
    return notes


def _models(job: Job) -> Hashable:
    """Tell the models of two stops apart: by their steps in plain training, and else by where they are stopped.

    Stops may be so close that each model has as many steps with both, and then they are one control.
    """
    population, recipe = job.population, job.population.recipe
    if recipe.procedure.method != "plain":
        return recipe.stop_after or recipe.epochs
    sizes = (len(population.members(model)) for model in range(population.models))
    return tuple(sum(planned(recipe, len(batch_sizes(size, recipe.batch_size)))) for size in sizes)


def _own(first: Contender, others: Sequence[Contender]) -> tuple[list[Contender], list[str]]:
    """Leave those rows that need a control, and say which do not, or can have none."""
    left, notes, unknown = [], [], []
    for one in others:
        if one.as_right_as(first):
            notes.append(f"{one.name} is right on the same records as {first.name}, which therefore is its control.")
            first.matched.append(one.name)
        elif one.accuracy is None:
            unknown.append(f"{one.name} has no early-stopped control: its accuracy is not known from margins alone.")
        else:
            left.append(one)
    return left, notes + unknown


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
