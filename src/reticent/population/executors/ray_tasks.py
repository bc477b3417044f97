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
from reticent.population.executors.base import Failure, Results
from reticent.population.population import Population
from reticent.population.worker import Made, Maker
from reticent.store import Store, at
from reticent.version import VERSION

RETRIES = 3
"""So often a model's task runs again whose process, or machine, ended."""
PATIENCE = 60.0
"""Seconds until what another machine committed must be seen here: as long as network file systems keep old listings."""
VERSIONS = {"reticent": VERSION, "torch": torch.__version__}


def results(
    population: Population, store: Store, models: list[int], *, device: str, workers: int, address: str | None
) -> Results:
    """Make models as tasks of a Ray cluster, each on one core, or on one of as many parts of a GPU as `workers` says.

    Raises:
        MissingExtraError: Ray is not installed.
        ModelError: no such cluster, or none that can take a model, or it failed.
        ReticentError: a node cannot make models; it would take one task after the other in vain.
    """
    ray = _ray()
    with _connected(ray, address), store.marked() as mark:
        gpus = 1 / workers if device == "cuda" else 0
        _check_able(ray, gpu=gpus > 0)
        # Pickled here, since what Ray unpickles may not be written to, and a node compares its versions first.
        sent = ray.put((VERSIONS, sys.path, pickle.dumps((population, store.address, mark, device))))
        task = ray.remote(_make).options(num_cpus=1, num_gpus=gpus, max_retries=RETRIES)
        left = {task.remote([sent], mark, model): model for model in models}
        try:
            while left:
                done, _ = ray.wait(list(left))
                for ref in done:
                    yield _result(ray, ref, left.pop(ref), store)
        finally:
            for ref in left:
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
def _connected(ray: Any, address: str | None) -> Iterator[None]:
    """Connect to a cluster, unless this process already is, and say it if that fails."""
    ours = not ray.is_initialized()
    if ours:
        _connect(ray, address)
    try:
        yield
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


def _result(ray: Any, ref: Any, model: int, store: Store) -> Made | Failure:
    """Give what a task gave; what it raised is of its node, not of its model, and raised here."""
    try:
        result, node = ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, ReticentError):
            raise cause from None
        told = " ".join(f"{type(cause).__name__}: {cause}".split())
        raise ModelError(f"a node of the Ray cluster cannot make models ({told})") from None
    except ray.exceptions.RayError as error:
        told = _line(error)
        return model, ModelError(f"model {model}: its process on the Ray cluster ended without an answer ({told})")
    if not isinstance(result, Made):
        return model, result[1].retold(f"{result[1]} (on {node})")
    end = time.monotonic() + PATIENCE
    while not store.ended(result.signals):
        if time.monotonic() > end:
            return model, ModelError(f"model {model}: {node} has finished it, and the store {store.address} lacks it")
        time.sleep(0.5)
    return result


_MAKER: dict[str, Maker] = {}
"""The maker of this process of a node, by the mark in its store."""


def _make(sent: list[Any], mark: str, model: int) -> tuple[Made | Failure, str]:
    import ray

    node = f"node {socket.gethostname()}, {ray.get_runtime_context().get_node_id()[:6]}"
    if mark not in _MAKER:
        _MAKER.clear()
        try:
            _MAKER[mark] = _maker(*ray.get(sent[0]))
        except ReticentError as error:
            raise error.retold(f"{error} (on {node})") from None
    [made] = _MAKER[mark].make_all([model])
    return made, node


def _maker(versions: dict[str, str], path: list[str], content: bytes) -> Maker:
    """Prepare a node: the driver's versions, where it finds a user's code, and what to make models of."""
    if versions != VERSIONS:
        raise ModelError(f"this node has {VERSIONS}, and the command {versions}: install the same on all")
    sys.path += [folder for folder in path if folder not in sys.path]
    population, address, mark, device = pickle.loads(content)  # noqa: S301 (from the driver)
    store = at(address)
    store.check_marked(mark)  # Before it is opened, which makes the folders of one that is not there.
    return Maker(population, store.open(), device)
