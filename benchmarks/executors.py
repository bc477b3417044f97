"""What Ray costs a model, and the efficiency that follows, against the same work in this process.

A population that is finished is gone through in turn by one process (``inline``) and by a cluster of one node of one
core, which both find each model and check its hashes. What that takes Ray from one model to the next is taken for the
overhead of a model, without the noise of training; a part of it is the finding, which inline shows. The time until the
first one is the start of a run. From these two follows the efficiency of n nodes of one core for M = 64 models of t
seconds each:

    efficiency = M t / (n (start + ceil(M / n) (t + overhead)))

It leaves out what one machine cannot show: a network, a file system that is shared, and nodes of many cores, which
start many processes at once.

Run: ``python benchmarks/executors.py [ROUNDS]``. Needs Ray.
"""

import math
import statistics
import sys
import tempfile
import time
from pathlib import Path

from ray.cluster_utils import Cluster

from reticent.jobs.config import Job, chosen, prepare
from reticent.population.executors import Executor
from reticent.population.train import train
from reticent.store import Store

MODELS = 64
SECONDS, NODES = (1, 10, 60), (4, 16, 64)


def timed(job: Job, store: Store, executor: Executor) -> tuple[float, float]:
    """Answer the seconds until the first model, and those from one model to the next."""
    times = [time.perf_counter()]
    times.extend(time.perf_counter() for _ in executor.results(job.population, store, list(range(MODELS))))
    return times[1] - times[0], (times[-1] - times[1]) / (MODELS - 1)


def main() -> None:
    """Print the overhead of a model, and a table of efficiencies."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    job = prepare(chosen(None, {"models": MODELS, "records": 200, "epochs": 1, "attacks": ["loss"], "device": "cpu"}))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    ways = {"inline": Executor("inline"), "ray": Executor("ray", cluster.address)}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder)).open()
        train(job.population, store)
        for number in range(rounds):
            for name in sorted(ways, reverse=bool(number % 2)):
                first, each = timed(job, store, ways[name])
                found[name].append((first, each))
                print(f"{name:6}: first model after {first:6.3f} s, then one in {1000 * each:6.2f} ms", flush=True)
    cluster.shutdown()
    start, each = ({name: statistics.median(one[part] for one in of) for name, of in found.items()} for part in (0, 1))
    overhead = each["ray"]
    print(
        f"overhead a model: at most {1000 * overhead:.1f} ms (inline {1000 * each['inline']:.1f} ms); "
        f"start of a run: {start['ray']:.1f} s"
    )
    print(f"efficiency for {MODELS} models")
    for seconds in SECONDS:
        takes = [start["ray"] + math.ceil(MODELS / nodes) * (seconds + overhead) for nodes in NODES]
        row = [f"{nodes} nodes {MODELS * seconds / (nodes * one):.2f}" for nodes, one in zip(NODES, takes, strict=True)]
        print(f"models of {seconds:2} s: {', '.join(row)}")


if __name__ == "__main__":
    main()
