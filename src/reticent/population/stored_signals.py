"""Signals of a finished population, read from the store by blocks of records."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from reticent.errors import CorruptRunError
from reticent.population.population import Population
from reticent.population.signals_run import ANSWERS
from reticent.population.training_run import history
from reticent.population.worker import Made
from reticent.signals.matrix import Matrix, Rows, Signals
from reticent.spec import Spec
from reticent.store import Store

SOFT_TARGETS = "soft_targets"
"""The array of ``artefacts.safetensors`` that holds what Split-AI says of a model's members, in their order."""


class StoredRow:
    """One model's array in a safetensors file; only the slice asked for is read."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        with safe_open(path, framework="np") as file:
            self.shape: tuple[int, ...] = tuple(file.get_slice(name).get_shape())

    def __getitem__(self, records: slice) -> NDArray[Any]:
        """Read some records."""
        with safe_open(self._path, framework="np") as file:
            return np.asarray(file.get_slice(self._name)[records])


class HeldRow:
    """One model's numbers for the records that it holds, as a row of all records: NaN elsewhere."""

    def __init__(self, path: Path, name: str, held: NDArray[np.bool_]) -> None:
        self._stored, self._held = StoredRow(path, name), held
        self._before = np.concatenate([[0], np.cumsum(held)])
        if self._stored.shape[:1] != (self._before[-1],):
            raise CorruptRunError(
                f"{path}: {name} is of shape {self._stored.shape}, and the model holds {self._before[-1]} records"
            )
        self.shape: tuple[int, ...] = (len(held), *self._stored.shape[1:])

    def __getitem__(self, records: slice) -> NDArray[Any]:
        """Read some records."""
        start, stop, _ = records.indices(len(self._held))
        result = np.full((max(0, stop - start), *self.shape[1:]), np.nan, dtype=np.float32)
        result[self._held[start:stop]] = self._stored[slice(int(self._before[start]), int(self._before[stop]))]
        return result


def replicas(population: Population, store: Store, made: Sequence[Made]) -> Matrix:
    """Open the soft targets that every model's own Split-AI gives its members ``(M, N, C)``; NaN for other records."""
    paths = _paths(store, [(one.model, one.training) for one in made], "artefacts.safetensors")
    held = population.membership.matrix
    return Rows([HeldRow(path, SOFT_TARGETS, held[one.model]) for path, one in zip(paths, made, strict=True)])


def probed(population: Population, store: Store, made: Sequence[Made]) -> dict[Spec, Matrix]:
    """Open what every model says to each of the population's probes ``(M, N, K)``."""
    result: dict[Spec, Matrix] = {}
    for at, probe in enumerate(population.probes):
        paths = _paths(store, [(one.model, one.probes[at]) for one in made], "probe.safetensors")
        result[probe] = Rows([StoredRow(path, ANSWERS) for path in paths])
    return result


def signals(population: Population, store: Store, made: Sequence[Made]) -> tuple[Signals, Signals | None]:
    """Open the signals of every model, whose hashes are checked."""
    paths = _paths(store, [(one.model, one.signals) for one in made], "signals.safetensors")
    labels, roles = population.records.y, population.roles
    audited = _open(paths, "", labels[roles.audited], population.records.classes)
    if not len(roles.population):
        return audited, None
    return audited, _open(paths, "population_", labels[roles.population], population.records.classes)


def _paths(store: Store, runs: Sequence[tuple[int, str]], name: str) -> list[Path]:
    """Find one file of every model's run, after checking the hashes of all of its files, once."""
    paths, broken = [], []
    for model, run_id in runs:
        try:
            paths.append(store.whole(run_id).folder / name)
        except CorruptRunError as error:
            broken.append(f"model {model}: {error}")
    if broken:
        raise CorruptRunError("\n".join(broken))
    return paths


def _open(paths: Sequence[Path], prefix: str, labels: NDArray[np.int64], classes: int) -> Signals:
    margins = Rows([StoredRow(path, f"{prefix}margins") for path in paths])
    logits = Rows([StoredRow(path, f"{prefix}logits") for path in paths])
    return Signals(labels=labels, margins=margins, classes=classes, logits=logits)


def trajectories(store: Store, made: Sequence[Made]) -> list[list[float]]:
    """Read how a watched population's accuracy on its non-members went."""
    return [history(store.whole(one.training)).accuracy for one in made]
