"""The early-stopped control: the undefended recipe, ended where it is as accurate as a defended one.

A weaker model gives less away, so a defense that costs accuracy looks private by that alone. What it must beat is the
undefended model of the same accuracy, which anybody gets by training for less time. Where to end is read off how the
accuracy of the audited models themselves went, on records that they were not trained on: what another membership has
would be off by its luck, and where accuracy hardly rises any more that is a matter of many epochs. No attack plays a
part in the choice.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from reticent.data.membership import Membership
from reticent.jobs.base import Work
from reticent.jobs.config import Job
from reticent.population.in_store import using
from reticent.population.stored_signals import trajectories
from reticent.population.train import train
from reticent.training.run import batch_sizes, planned

QUIET = Work()
"""Tells nobody."""
PILOTS = 4
"""Models whose accuracy is followed to the end, to see how long to follow that of more."""
FINE = 32
"""Models, at most, whose accuracy is followed until a little after, or to the end, to see where to stop."""
STEEP = 0.01
"""If accuracy rises faster than this per epoch, linear interpolation is not trusted: the pilots are stopped at the
interpolated place and asked, at most `ASKED` times."""
ASKED = 3
NEAR = 0.002
"""A pilots' accuracy so close to what is asked for is near enough."""


@dataclass(frozen=True)
class Stop:
    """Where the undefended recipe is as accurate as another.

    Attributes:
        epochs: how many it trains; a fraction ends in the middle of one.
        of: how many its recipe has, which its schedule is made for.
        end: how many it trains when it is not stopped.
        expected: the pilots' mean accuracy there.
        reached: the pilots reach the accuracy asked for at some epoch; if not, `epochs` is where they come closest.
        steep: by how much accuracy rises between the two moments that `epochs` lies between.
    """

    epochs: float
    of: int
    end: float
    expected: float
    reached: bool
    steep: float = 0.0


def pilots(job: Job, models: int = PILOTS, epochs: float | None = None, work: Work = QUIET) -> list[float] | None:
    """Follow the accuracy of the first audited models of the undefended recipe on records they were not trained on."""
    population = job.population
    if population.recipe.procedure.method == "function":
        return None
    until = "" if epochs is None else f", by {epochs:g} of {population.recipe.epochs} epochs"
    work.tell(f"finding where the early-stopped controls stop{until}")
    membership = Membership(population.membership.matrix[:models])
    recipe = population.recipe.replace(patience=None)
    if epochs is not None:
        recipe = recipe.replace(stop_after=epochs)
    watched = replace(population, recipe=recipe, membership=membership, drawing=population.drawing[:models], watch=True)
    with using(job.config.store, watched) as store:
        made = train(watched, store, executor=job.executor, progress=work.progress)
        curves = trajectories(store, made)
    shortest = min(len(curve) for curve in curves)
    if not shortest:
        return None
    return [float(value) for value in np.mean([curve[:shortest] for curve in curves], axis=0)]


def stop(
    curve: Sequence[float],
    accuracy: float,
    chance: float = 0.0,
    of: int | None = None,
    between: Mapping[float, float] | None = None,
    end: float | None = None,
) -> Stop:
    """Find where a mean accuracy is first reached, between two epochs by a straight line."""
    end = float(len(curve)) if end is None else end
    known = dict(between or {}) | _moments(curve, end)
    at, values = np.array([0.0, *sorted(known)]), np.array([known[epochs] for epochs in sorted(known)])
    all_of = len(curve) if of is None else of
    above = np.flatnonzero(values >= accuracy)
    if len(above) == 0:
        best = int(values.argmax())
        return Stop(float(at[best + 1]), all_of, end, float(values[best]), reached=False)
    first = int(above[0])
    before = float(values[first - 1]) if first else min(chance, accuracy)
    share = 1.0 if values[first] == before else (accuracy - before) / (float(values[first]) - before)
    epochs = float(at[first] + share * (at[first + 1] - at[first]))
    steep = float(values[first]) - before
    return Stop(max(0.01, round(epochs, 2)), all_of, end, max(accuracy, before), reached=True, steep=steep)


def _moments(curve: Sequence[float], end: float) -> dict[float, float]:
    """Say after how many epochs each value of a curve is; the last one of a training may lie within an epoch."""
    return {min(float(number), end): value for number, value in enumerate(curve, 1)}


def stops(job: Job, accuracies: Sequence[float], work: Work = QUIET) -> list[Stop] | None:
    """Find where the undefended recipe has each of some accuracies; few pilots say how long to look at more of them."""
    recipe, chance = job.population.recipe, 1 / job.records.classes
    end = float(recipe.stop_after or recipe.epochs)
    rough = pilots(job, min(PILOTS, job.population.models), work=work)
    if rough is None or len(rough) != ceil(end):
        return None
    latest = max(stop(rough, accuracy, chance, end=end).epochs for accuracy in accuracies)
    models, last = min(FINE, job.population.models), ceil(1.5 * latest) + 1
    fine = pilots(job, models, last, work) if last < end else None
    if fine is None or max(fine) < max(accuracies):
        # What few models reach early, all together may reach late, or never.
        fine = pilots(job, models, work=work) or rough
    known = _moments(fine, min(end, float(len(fine))))
    found = []
    for accuracy in accuracies:
        where = stop(fine, accuracy, chance, recipe.epochs, end=max(known))
        curved = where.reached and where.steep > STEEP
        where = _asked(job, models, fine, accuracy, where, work) if curved else where
        found.append(replace(where, end=end))
    return found


def _asked(job: Job, models: int, curve: Sequence[float], accuracy: float, where: Stop, work: Work) -> Stop:
    """Stop the same pilots there, ask how accurate they are, and draw the line anew through what they say.

    Accuracy may go up and down within an epoch, so that no line finds it: then it is the nearest of what was asked, and
    of the two epochs around it.
    """
    chance, between = 1 / job.records.classes, dict[float, float]()
    drawn = _moments(curve, where.end)
    ends = _around(drawn, where.epochs)
    asked = {models_of(stopped(job, epochs)) for epochs in ends}
    for _ in range(ASKED):
        same = models_of(stopped(job, where.epochs))
        if same in asked:
            break
        asked.add(same)
        reached = pilots(job, models, where.epochs, work)
        if reached is None:
            return where
        between[where.epochs] = reached[-1]
        if abs(reached[-1] - accuracy) <= NEAR:
            return where
        where = stop(curve, accuracy, chance, where.of, between, where.end)
    known = between | {epochs: drawn[epochs] for epochs in ends}
    nearest = min(known, key=lambda epochs: abs(known[epochs] - accuracy))
    return replace(where, epochs=nearest, expected=known[nearest])


def _around(moments: Iterable[float], epochs: float) -> list[float]:
    """Find the last moment before, and the first one from there on."""
    before = [moment for moment in moments if moment < epochs]
    after = [moment for moment in moments if moment >= epochs]
    return [*sorted(before)[-1:], *sorted(after)[:1]]


def stopped(job: Job, epochs: float) -> Job:
    """Make the job of the control: the same membership, streams and schedule, ended early."""
    recipe = job.population.recipe.replace(stop_after=epochs, patience=None)
    return replace(job, population=replace(job.population, recipe=recipe))


def models_of(job: Job) -> Hashable:
    """Tell the models of two stops of a recipe apart: by their steps in plain training, else by where they are stopped.

    Stops may be so close that each model has as many steps with both: then the models are the same.
    """
    population, recipe = job.population, job.population.recipe
    if recipe.procedure.method != "plain":
        return recipe.stop_after or recipe.epochs
    sizes = (len(population.members(model)) for model in range(population.models))
    return tuple(sum(planned(recipe, len(batch_sizes(size, recipe.batch_size)))) for size in sizes)
