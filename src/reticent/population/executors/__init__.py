"""Where the models of a population are made: in this process, in a pool of processes, or on the machines of a cluster.

Each gives `Results`, a generator of models and failures in any order, which ends what it began when it is closed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from reticent.population.executors import inline, processes, ray_tasks
from reticent.population.executors.base import Failure, Results
from reticent.population.population import Population
from reticent.store import Store

__all__ = ["AUTO", "Executor", "Failure", "Results"]


@dataclass(frozen=True)
class Executor:
    """Who makes the models.

    Attributes:
        name: inline, processes or ray; auto is inline for one worker, else processes.
        address: of the Ray cluster; None for what RAY_ADDRESS says, or else one of this machine.
    """

    name: str = "auto"
    address: str | None = None

    def bound(self, workers: int, device: str) -> Callable[[Population, Store, list[int]], Results]:
        """Say how models are made by so many workers: in all, or with Ray on each GPU."""
        if self.name == "ray":
            return partial(ray_tasks.results, device=device, workers=workers, address=self.address)
        if self.name == "inline" or (self.name == "auto" and workers == 1):
            return partial(inline.results, device=device)
        return partial(processes.results, device=device, workers=workers)


AUTO = Executor()
