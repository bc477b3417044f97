"""Plain training: one run of the loop from a fresh initialisation."""

from collections.abc import Callable, Sequence

from reticent.errors import ReticentError
from reticent.findings.training import ProcedureFacts
from reticent.procedures.base import Trained, fresh, objective, snapshot
from reticent.procedures.costs import Costs
from reticent.procedures.sampler_scores import sampled, scored
from reticent.training.loop import History, fit, fit_together
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.run import Run
from reticent.training.stack import Stack, laid_out
from reticent.training.streams import Streams


class _Begun:
    """A model before its training."""

    def __init__(self, recipe: Recipe, materials: Materials, streams: Streams) -> None:
        self.recipe, self.streams, self.costs = recipe, streams, Costs(materials.prepare.device)
        self.materials = scored(recipe, materials, streams, self.costs)
        self.model = fresh(recipe, self.materials, streams)
        self.initial = snapshot(self.model) if materials.start is None else dict(materials.start.state)
        self.loss = materials.instead or objective(recipe)

    def run(self) -> Run:
        return Run(self.model, self.recipe, self.materials, self.loss, self.streams)

    def trained(self, history: History) -> Trained:
        sampler = sampled(self.recipe, self.materials, history)
        facts = ProcedureFacts(notices=tuple(self.loss.notices()), sampler=sampler, stages=self.costs.stages)
        return Trained(self.model, self.initial, history, facts=facts)


def train(recipe: Recipe, materials: Materials, streams: Streams) -> Trained:
    """Train one model."""
    begun = _Begun(recipe, materials, streams)
    return begun.trained(fit(begun.model, recipe, begun.materials, begun.loss, streams))


def train_together(
    recipe: Recipe, materials: Sequence[Materials], streams: Sequence[Streams]
) -> list[Trained | ReticentError]:
    """Train several models as one batched computation; one that fails ends none of the others."""
    begun = [_Begun(recipe, *each) for each in zip(materials, streams, strict=True)]
    for one in begun:
        laid_out(one.model)
    histories = fit_together([one.run() for one in begun])
    return [
        found if isinstance(found, ReticentError) else one.trained(found)
        for one, found in zip(begun, histories, strict=True)
    ]


def epochs(
    recipe: Recipe, materials: Sequence[Materials], streams: Sequence[Streams]
) -> Callable[[int], Sequence[float | ReticentError]]:
    """Begin models, and give what trains them for an epoch of a number, several together: the losses."""
    begun = [_Begun(recipe, *each) for each in zip(materials, streams, strict=True)]
    if len(begun) > 1:
        for one in begun:
            laid_out(one.model)
    runs = [one.run() for one in begun]
    if len(runs) == 1:
        return lambda epoch: [runs[0].epoch(epoch, runs[0].steps)]
    stack = Stack(runs)
    stack.hold(runs)
    return lambda epoch: stack.epoch([(epoch, run.steps) for run in runs])
