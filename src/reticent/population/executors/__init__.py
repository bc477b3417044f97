"""Where the models of a population are made: in this process, in a pool of processes, or on the machines of a cluster.

Each gives `Results`, a generator of models and failures in any order, which ends what it began when it is closed.
"""

from dataclasses import dataclass

from reticent.population.executors import inline, processes, ray_tasks
from reticent.population.executors.base import Failure, Results
from reticent.population.population import Population
from reticent.store import Store

__all__ = ["AUTO", "Executor", "Failure", "Results"]


@dataclass(frozen=True)
class Executor:
    """Who makes the models, and where.

    Attributes:
        name: inline, processes or ray; auto is inline for one worker, else processes.
        address: of the Ray cluster; None for what RAY_ADDRESS says, or else one of this machine.
        workers: number of processes, or with Ray of models at a time on each GPU.
        device: of every worker.
    """

    name: str = "auto"
    address: str | None = None
    workers: int = 1
    device: str = "cpu"

    def results(self, population: Population, store: Store, models: list[int]) -> Results:
        """Make models of a population."""
        given, workers, device = (population, store, models), self.workers, self.device
        if self.name == "ray":
            return ray_tasks.results(*given, device=device, workers=workers, address=self.address)
        if self.name == "inline" or (self.name == "auto" and workers == 1):
            return inline.results(*given, device=device)
        return processes.results(*given, device=device, workers=workers)


AUTO = Executor()
