"""Ray: each model is a task of a cluster; it may run again, and is committed once."""

import os
import pickle
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from reticent.errors import MissingExtraError, ModelError, ReticentError
from reticent.population.executors.base import Failure, Results, stacks
from reticent.population.population import Population
from reticent.population.worker import Made, Maker
from reticent.store import Store, at
from reticent.version import VERSION

RETRIES = 3
"""So often a model's task runs again whose process, or machine, ended."""
PATIENCE = 60.0
"""Seconds until what another machine committed must be seen here: as long as network file systems keep old listings."""


def results(
    population: Population, store: Store, models: list[int], *, device: str, workers: int, address: str | None
) -> Results:
    """Make models, or stacks of them, as tasks of a Ray cluster, each on a core, or a part of a GPU (`workers` of one).

    Raises:
        MissingExtraError: Ray is not installed.
        ModelError: no such cluster, or none that can take a model, or it failed.
        ReticentError: a node cannot make models; it would take one task after the other in vain.
    """
    ray = _ray()
    with _connected(ray, address) as ours, store.marked() as mark:
        gpus = 1 / workers if device == "cuda" else 0
        _check_able(ray, gpu=gpus > 0)
        # Pickled here, since what Ray unpickles may not be written to, and a node compares its versions first.
        content = pickle.dumps((population, store.address, mark, device))
        sent = ray.put((device, _versions(device), sys.path, content))
        task = ray.remote(_make).options(num_cpus=1, num_gpus=gpus, max_retries=RETRIES)
        known = ray.cluster_resources()
        places = known.get("GPU", 0) * workers if gpus else known.get("CPU", 1)
        left = {task.remote([sent], mark, part): part for part in stacks(population, models, max(1, int(places)))}
        try:
            while left:
                done, _ = ray.wait(list(left))
                for ref in done:
                    yield from _results(ray, ref, left.pop(ref), store)
        finally:
            # Leaving the cluster ends our tasks; Ray aborts the process if one that is cancelled ends just then.
            for ref in left if not ours else ():
                ray.cancel(ref, force=True)


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "ray", "--executor ray") from None
    return ray


@contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[bool]:
    """Connect to a cluster, unless this process already is, and say it if that fails; tells whether we did."""
    ours = not ray.is_initialized()
    if ours:
        _connect(ray, address)
    try:
        yield ours
    except ray.exceptions.RayError as error:
        raise ModelError(
            f"the Ray cluster failed ({_line(error)}): finished models are kept; run the same command again"
        ) from None
    finally:
        if ours:
            ray.shutdown()


def _connect(ray: Any, address: str | None) -> None:
    """Connect to a cluster; Ray's answer to SIGTERM does not replace ours."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM)
    try:
        _check_reachable(address)
        ray.init(
            address=address, include_dashboard=None if address else False, log_to_driver=False, logging_level="ERROR"
        )
    except (ray.exceptions.RayError, RuntimeError, ValueError, OSError) as error:
        which = address or os.environ.get("RAY_ADDRESS", "of this machine")
        raise ModelError(
            f"the Ray cluster {which} cannot be reached ({_line(error)}): "
            "give --address HOST:PORT, as `ray start --head` tells it; if it asks for a token, set RAY_AUTH_MODE=token"
        ) from None
    finally:
        if main:
            signal.signal(signal.SIGTERM, before)


def _line(error: Exception) -> str:
    return f"{' '.join(str(error).split()):.300}"


def _check_reachable(address: str | None) -> None:
    """Fail in seconds where nothing listens, which Ray tries again for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=10).close()


def _check_able(ray: Any, *, gpu: bool) -> None:
    """Refuse a cluster on which no task would ever begin."""
    what = ("CPU", "GPU") if gpu else ("CPU",)
    if not any(node["Alive"] and all(node["Resources"].get(one, 0) >= 1 for one in what) for node in ray.nodes()):
        raise ModelError(
            "device cuda: no machine of the Ray cluster has a core and a GPU: start one first, or give --device cpu"
            if gpu
            else "no machine of the Ray cluster has a core for tasks: start one first (ray start --num-cpus N)"
        )


def _results(ray: Any, ref: Any, models: list[int], store: Store) -> Results:
    """Give what a task gave; what it raised is of its node, not of its models, and raised here."""
    try:
        found, node = ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, ReticentError):
            raise cause from None
        told = " ".join(f"{type(cause).__name__}: {cause}".split())
        raise ModelError(f"a node of the Ray cluster cannot make models ({told})") from None
    except ray.exceptions.RayError as error:
        told = _line(error)
        for model in models:
            yield model, ModelError(f"model {model}: its process on the Ray cluster ended without an answer ({told})")
        return
    for result in found:
        yield _seen(result, node, store)


def _seen(result: Made | Failure, node: str, store: Store) -> Made | Failure:
    """Give one model that a node made, once its runs are seen here."""
    if not isinstance(result, Made):
        return result[0], result[1].retold(f"{result[1]} (on {node})")
    end = time.monotonic() + PATIENCE
    while not all(map(store.ended, (result.signals, *result.probes))):
        if time.monotonic() > end:
            told = f"model {result.model}: {node} has finished it, and the store {store.address} lacks it"
            return result.model, ModelError(told)
        time.sleep(0.5)
    return result


_MAKER: dict[str, Maker] = {}
"""The maker of this process of a node, by the mark in its store."""


def _make(sent: list[Any], mark: str, models: list[int]) -> tuple[list[Made | Failure], str]:
    import ray

    node = f"node {socket.gethostname()}, {ray.get_runtime_context().get_node_id()[:6]}"
    if mark not in _MAKER:
        _MAKER.clear()
        try:
            _MAKER[mark] = _maker(*ray.get(sent[0]))
        except ReticentError as error:
            raise error.retold(f"{error} (on {node})") from None
    return [*_MAKER[mark].make_all(models)], node


def _versions(device: str) -> dict[str, str]:
    """State what a model's bits depend on; on the CPU, where they are the same everywhere, also the build of torch."""
    build = torch.__version__
    return {"reticent": VERSION, "torch": build if device == "cpu" else build.partition("+")[0]}


def _maker(device: str, versions: dict[str, str], path: list[str], content: bytes) -> Maker:
    """Prepare a node: the driver's versions, where it finds a user's code, and what to make models of."""
    if versions != _versions(device):
        raise ModelError(
            f"this node has {_versions(device)}, and the command {versions}: install the same on all, on the CPU the "
            "same build of torch too, since the last bits of a model may depend on it"
        )
    sys.path += [folder for folder in path if folder not in sys.path]
    population, address, mark, device = pickle.loads(content)  # noqa: S301 (from the driver)
    store = at(address)
    store.check_marked(mark)  # Before it is opened, which makes the folders of one that is not there.
    return Maker(population, store.open(), device)
