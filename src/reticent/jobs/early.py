"""The early-stopped control: the undefended recipe, ended where it is as accurate as a defended one.

A weaker model gives less away, so a defense that costs accuracy looks private by that alone. What it must beat is the
undefended model of the same accuracy, which anybody gets by training for less time. Where to end is chosen on pilot
models with a membership of their own, by their accuracy alone: the control's audit plays no part in the choice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from reticent import seeds
from reticent.data.membership import Membership
from reticent.jobs.config import Job
from reticent.jobs.using import using
from reticent.population.gather import trajectories
from reticent.population.population import Population
from reticent.population.train import Callback, train

PILOTS = 4
"""Models whose accuracy is followed to the end, to see where to stop roughly."""
FINE = 16
"""Models whose accuracy is followed until a little after that, to see where to stop."""


@dataclass(frozen=True)
class Stop:
    """Where the undefended recipe is as accurate as another.

    Attributes:
        epochs: how many epochs it trains; a fraction ends in the middle of one.
        of: how many its recipe has; its schedule is made for them.
        end: how many it trains when it is not stopped.
        expected: the pilots' mean accuracy there.
        reached: the pilots reach the accuracy asked for at some epoch; if not, `epochs` is where they come closest.
    """

    epochs: float
    of: int
    end: float
    expected: float
    reached: bool


def pilots(
    job: Job,
    models: int = PILOTS,
    epochs: int | None = None,
    *,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
) -> list[float] | None:
    """Follow the accuracy of the undefended recipe on records that it was not trained on.

    Args:
        job: of the undefended recipe.
        models: how many pilots.
        epochs: end after so many; by default the recipe is trained to its end. Its own early stopping (`patience`) is
            left out: it keeps another epoch than the last.
        progress: called after every pilot.
        stage: called with a word before it starts.

    Returns:
        Mean accuracy after every epoch; None where training does not run epoch by epoch, so that nothing can be
        stopped. The pilots are kept in the store.
    """
    population = job.population
    if population.recipe.procedure.method == "function":
        return None
    if stage is not None:
        stage("pilots of the early-stopped control")
    seed = seeds.integer(population.seed, "control", "early", models)
    membership = Membership.draw(models, population.membership.records, seed)
    recipe = population.recipe.replace(patience=None)
    if epochs is not None:
        recipe = recipe.replace(stop_after=epochs)
    watched = Population(recipe, population.records, population.roles, membership, seed, population.queries, watch=True)
    with using(job.config.store, watched) as store:
        made = train(watched, store, workers=min(job.workers, models), device=job.device, progress=progress)
        curves = trajectories(store, made)
    shortest = min(len(curve) for curve in curves)
    if not shortest:
        return None
    return [float(value) for value in np.mean([curve[:shortest] for curve in curves], axis=0)]


def stop(curve: Sequence[float], accuracy: float, chance: float = 0.0, of: int | None = None) -> Stop:
    """Find where a mean accuracy is first reached, between two epochs by a straight line.

    Args:
        curve: mean accuracy after every epoch.
        accuracy: what to match.
        chance: accuracy before the first epoch.
        of: how many epochs the recipe has; by default as many as the curve.

    Returns:
        Where to stop, to a hundredth of an epoch.
    """
    values, all_of = np.asarray(curve), len(curve) if of is None else of
    above = np.flatnonzero(values >= accuracy)
    if len(above) == 0:
        best = int(values.argmax())
        return Stop(best + 1.0, all_of, len(values), float(values[best]), reached=False)
    first = int(above[0])
    before = float(values[first - 1]) if first else min(chance, accuracy)
    share = 1.0 if values[first] == before else (accuracy - before) / (float(values[first]) - before)
    return Stop(max(0.01, round(first + share, 2)), all_of, len(values), max(accuracy, before), reached=True)


def stops(
    job: Job,
    accuracies: Sequence[float],
    *,
    progress: Callback | None = None,
    stage: Callable[[str], None] | None = None,
) -> list[Stop] | None:
    """Find where the undefended recipe has each of some accuracies: roughly by few pilots, then by more of them.

    Args:
        job: of the undefended recipe.
        accuracies: what to match.
        progress: called after every pilot.
        stage: called with a word before pilots start.

    Returns:
        One stop an accuracy; None where training cannot be stopped. Cost: `PILOTS` whole models, and `FINE` that train
        until somewhat after the latest stop.
    """
    curve = pilots(job, progress=progress, stage=stage)
    if curve is None:
        return None
    chance = 1 / job.records.classes
    epochs = job.population.recipe.epochs
    rough = [stop(curve, accuracy, chance, epochs) for accuracy in accuracies]
    early = [one.epochs for one in rough if one.reached and one.epochs < one.end]
    models = min(FINE, job.population.membership.records)
    if not early:
        return rough
    last = min(len(curve), ceil(1.5 * max(early)) + 1)
    fine = pilots(job, models, last, progress=progress, stage=stage) or curve
    found = []
    for one, accuracy in zip(rough, accuracies, strict=True):
        again = stop(fine, accuracy, chance, epochs)
        known = one.reached and one.epochs < one.end and again.reached
        found.append(replace(again, end=one.end) if known else one)
    return found


def stopped(job: Job, epochs: float) -> Job:
    """Make the job of the control: the same membership, streams and schedule, ended early.

    Args:
        job: of the undefended recipe.
        epochs: after how many.

    Returns:
        The job.
    """
    recipe = job.population.recipe.replace(stop_after=epochs, patience=None)
    return replace(job, population=replace(job.population, recipe=recipe))
