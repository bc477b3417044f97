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
from dataclasses import dataclass
from typing import Any

import torch

from reticent.errors import MissingExtraError, ModelError, ReticentError
from reticent.population.executors.base import Failure, Results, tried
from reticent.population.population import Population
from reticent.population.worker import Made, Maker
from reticent.store import Store, at
from reticent.version import VERSION

RETRIES = 3
"""So often a model's task runs again whose process, or machine, ended."""
PATIENCE = 60.0
"""Seconds until what another machine committed must be seen here: as long as network file systems keep old listings."""
VERSIONS = {"reticent": VERSION, "torch": torch.__version__}


@dataclass(frozen=True)
class Parcel:
    """What a node is told once.

    Attributes:
        population: what to make models of, with its records.
        store: where to keep them.
        mark: what a node must see there (`Store.marked`).
        device: where to train.
        path: where the driver finds a user's code.
        versions: those of the driver.
    """

    population: Population
    store: str
    mark: str
    device: str
    path: tuple[str, ...]
    versions: dict[str, str]


def results(
    population: Population, store: Store, models: list[int], *, device: str, workers: int, address: str | None
) -> Results:
    """Make models as tasks of a Ray cluster, each on one core, or on one of as many parts of a GPU as `workers` says.

    Raises:
        MissingExtraError: Ray is not installed.
        ModelError: no such cluster, or none with a GPU.
    """
    ray = _ray()
    with _connected(ray, address), store.marked() as mark:
        gpus = 1 / workers if device == "cuda" else 0
        if gpus and not ray.cluster_resources().get("GPU"):
            raise ModelError(
                "device cuda: no machine of the Ray cluster has a GPU: start one first, or give --device cpu"
            )
        parcel = Parcel(population, store.address, mark, device, tuple(sys.path), VERSIONS)
        # Pickled here, since what Ray unpickles may not be written to.
        sent = ray.put(pickle.dumps(parcel))
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
    """Connect to a cluster, unless this process already is; Ray's answer to SIGTERM does not replace ours."""
    if ray.is_initialized():
        yield
        return
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM)
    try:
        _check_reachable(address)
        ray.init(
            address=address, include_dashboard=None if address else False, log_to_driver=False, logging_level="ERROR"
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        which = address or os.environ.get("RAY_ADDRESS", "of this machine")
        raise ModelError(
            f"the Ray cluster {which} cannot be reached ({error}): "
            "give --address HOST:PORT, as `ray start --head` tells it; if it asks for a token, set RAY_AUTH_MODE=token"
        ) from None
    if main:
        signal.signal(signal.SIGTERM, before)
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str | None) -> None:
    """Fail in seconds where nothing listens, which Ray tries again for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=10).close()


def _result(ray: Any, ref: Any, model: int, store: Store) -> Made | Failure:
    try:
        result, node = ray.get(ref)
    except ray.exceptions.RayError as error:
        told = " ".join(str(error).split())
        return model, ModelError(f"model {model}: its process on the Ray cluster ended without an answer ({told:.300})")
    if not isinstance(result, Made):
        return model, result[1].retold(f"{result[1]} (on {node})")
    end = time.monotonic() + PATIENCE
    while not store.ended(result.signals):
        if time.monotonic() > end:
            return model, ModelError(f"model {model}: {node} has finished it, and the store {store.address} lacks it")
        time.sleep(0.5)
    return result


_MAKER: dict[str, Maker | ReticentError] = {}
"""The maker of this process of a node, by its parcel's mark; or why there is none."""


def _make(sent: list[Any], mark: str, model: int) -> tuple[Made | Failure, str]:
    import ray

    if mark not in _MAKER:
        _MAKER.clear()
        _MAKER[mark] = _unpacked(ray.get(sent[0]))
    maker = _MAKER[mark]
    result = tried(maker, model) if isinstance(maker, Maker) else (model, maker.prefixed(f"model {model}: "))
    return result, f"node {socket.gethostname()}, {ray.get_runtime_context().get_node_id()[:6]}"


def _unpacked(content: bytes) -> Maker | ReticentError:
    parcel: Parcel = pickle.loads(content)  # noqa: S301 (from the driver)
    sys.path += [folder for folder in parcel.path if folder not in sys.path]
    if parcel.versions != VERSIONS:
        return ModelError(f"this node has {VERSIONS}, and the command {parcel.versions}: install the same on all")
    try:
        store = at(parcel.store).open()
        store.check_marked(parcel.mark)
        return Maker(parcel.population, store, parcel.device)
    except ReticentError as error:
        return error
