"""What one training takes, alone in a process: seconds, and the most memory that it holds beyond what was held."""

import gc
import json
import os
import pickle
import subprocess
import sys
import time
from dataclasses import astuple, dataclass
from pathlib import Path

import torch

from reticent.errors import ModelError
from reticent.population.population import Population
from reticent.population.training_run import state
from reticent.population.worker import Maker
from reticent.procedures import PROCEDURES, entry
from reticent.procedures.base import undefended
from reticent.procedures.costs import cut
from reticent.store import Store
from reticent.torch_state import fixed
from reticent.training.memory import peak

SETTLED = {"MALLOC_MMAP_THRESHOLD_": str(2**16)}
"""Then glibc gives each larger tensor memory of its own, which goes back to the system with it."""


@dataclass(frozen=True)
class Taken:
    """What a training took: seconds, and bytes beyond what was held before, None where the system cannot tell.

    `training` are the seconds of the second training alone, or of all where there is one.
    """

    seconds: float
    bytes: int | None
    training: float


@fixed()
def timed(population: Population, store: Store, device: str, first: str | None) -> Taken:
    """Train the first model of a population, or repair the one of a run; kernels are warm and garbage is collected."""
    maker = Maker(population, store, device)
    recipe, materials, streams = population.recipe, maker.materials(0), population.streams(0)
    procedure, cuda = entry(recipe), torch.device(device).type == "cuda"
    PROCEDURES["plain"].train(cut(undefended(recipe), 1), materials, streams)
    gc.collect()
    if cuda:
        torch.cuda.synchronize()
    started = time.perf_counter()
    with peak(torch.device(device)) as memory, streams.lent("training"):
        if first is None or procedure.repair is None:
            made = procedure.train(recipe, materials, streams)
        else:
            run = store.whole(first)
            made = procedure.repair(state(run, "weights"), state(run, "initial"), recipe, materials, streams, None)
        if cuda:
            torch.cuda.synchronize()
    seconds = time.perf_counter() - started
    tuning = [stage.seconds for stage in made.facts.stages if stage.name == "tuning"]
    return Taken(seconds, memory.bytes, tuning[0] if tuning else seconds)


def alone(population: Population, store: Store, device: str, first: str | None) -> Taken:
    """Measure it in a process of its own, which shares no memory with what ran before."""
    given = pickle.dumps((population, str(store.root.resolve()), device, first))
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(command, input=given, capture_output=True, env=os.environ | SETTLED, check=False)
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise ModelError(f"a training that was to be timed ended without an answer: {told or done.returncode}")
    return Taken(*json.loads(done.stdout.splitlines()[-1]))


def _main() -> None:
    population, root, device, first = pickle.load(sys.stdin.buffer)  # noqa: S301 (what `alone` wrote)
    print(json.dumps(astuple(timed(population, Store(Path(root)), device, first))))  # noqa: T201


if __name__ == "__main__":
    _main()
