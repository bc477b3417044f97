"""Signals of a finished population, read from the store by blocks of records."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from reticent.errors import CorruptRunError
from reticent.population.population import Population
from reticent.population.worker import Made
from reticent.signals.matrix import Rows, Signals
from reticent.store import Store


class StoredRow:
    """One model's array in a safetensors file; only the slice asked for is read."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        with safe_open(path, framework="np") as file:
            self.shape: tuple[int, ...] = tuple(file.get_slice(name).get_shape())

    def __getitem__(self, records: slice) -> NDArray[Any]:
        """Read some records.

        Args:
            records: a slice with step one.

        Returns:
            ``(n, ...)``.
        """
        with safe_open(self._path, framework="np") as file:
            return np.asarray(file.get_slice(self._name)[records])


def signals(population: Population, store: Store, made: Sequence[Made]) -> tuple[Signals, Signals | None]:
    """Open the signals of every model; each file's hash is checked once.

    Args:
        population: what was trained.
        store: where it lies.
        made: one entry a model, by row.

    Returns:
        Signals of the audited records, and of the attacker's population or None where that role is empty.

    Raises:
        CorruptRunError: runs are gone or their bytes changed; all are named.
    """
    paths, broken = [], []
    for one in made:
        try:
            paths.append(_file(store, one))
        except CorruptRunError as error:
            broken.append(f"model {one.model}: {error}")
    if broken:
        raise CorruptRunError("\n".join(broken))
    labels, roles = population.records.y, population.roles
    audited = _open(paths, "", labels[roles.audited], population.records.classes)
    if not len(roles.population):
        return audited, None
    return audited, _open(paths, "population_", labels[roles.population], population.records.classes)


def _file(store: Store, one: Made) -> Path:
    run = store.find(one.signals)
    if run is None:
        raise CorruptRunError(f"run {one.signals} is gone: run the same command again")
    return run.file("signals.safetensors")


def _open(paths: Sequence[Path], prefix: str, labels: NDArray[np.int64], classes: int) -> Signals:
    margins = Rows([StoredRow(path, f"{prefix}margins") for path in paths])
    logits = Rows([StoredRow(path, f"{prefix}logits") for path in paths])
    return Signals(labels=labels, margins=margins, classes=classes, logits=logits)


def trajectories(store: Store, made: Sequence[Made]) -> list[list[float]]:
    """Read how a watched population's accuracy on its non-members went.

    Args:
        store: where the runs lie.
        made: one entry a model.

    Returns:
        For each model, its accuracy after every epoch; empty where its training does not run epoch by epoch.

    Raises:
        CorruptRunError: a run is gone, or its bytes changed.
    """
    curves = []
    for one in made:
        run = store.find(one.training)
        if run is None:
            raise CorruptRunError(f"run {one.training} is gone: run the same command again")
        lines = [json.loads(line) for line in run.file("log.jsonl").read_text(encoding="utf-8").splitlines()]
        curves.append([line["accuracy"] for line in lines if "accuracy" in line])
    return curves
