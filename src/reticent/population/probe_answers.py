"""What each probe makes of one model: the table of probes, and what they are given."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from reticent import seeds
from reticent.objectives.base import Examples
from reticent.outputs import Output
from reticent.signals import label_queries, students
from reticent.signals.label_queries import Wrong
from reticent.signals.sensitivity import sensitivity
from reticent.training.data import Preparation
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams


@dataclass(frozen=True, eq=False)
class Probed:
    """One model, and the records that it is asked about.

    Attributes:
        prepare: from stored records to model input.
        seed: the population's: what is drawn for a probe is the same for every model.
        others: the population's records, which no model sees.
        output: what the answers go through; None for probes of labels, which it does not change.
    """

    network: nn.Module
    examples: Examples
    prepare: Preparation
    classes: int
    seed: int
    others: Examples
    recipe: Recipe
    output: Output | None = None

    @property
    def asked(self) -> Wrong:
        """The model, of which labels alone are seen."""
        return label_queries.wrong(self.network, self.classes)

    def generator(self, name: str) -> torch.Generator:
        """Return a stream on the CPU."""
        return seeds.torch_generator(self.seed, "probe", name)


PROBES: dict[str, Callable[[Any, Probed], Tensor]] = {
    "views": lambda spec, one: label_queries.views(spec, one.asked, one.examples, one.prepare),
    "noise": lambda spec, one: label_queries.noise(spec, one.asked, one.examples, one.prepare, one.generator("noise")),
    "boundary": lambda spec, one: label_queries.boundary(
        spec, one.asked, one.examples, one.prepare, one.generator("boundary")
    ),
    "sensitivity": lambda spec, one: sensitivity(
        spec, one.network, one.examples, one.prepare, one.classes, one.generator("sensitivity"), one.output
    ),
    "students": lambda spec, one: students.losses(
        spec,
        one.network,
        one.examples,
        one.others,
        one.prepare,
        one.classes,
        one.recipe,
        Streams(one.seed, 0, ("student",)),
        one.output,
    ),
}
"""Every probe: from its spec and a model to numbers ``(N, K)``."""
