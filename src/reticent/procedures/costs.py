"""What the stages of a procedure cost: measured, so that it differs from run to run and lies apart from other facts."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from reticent.training.memory import peak

COSTS = "stages"
"""The fact that holds them: the only one of a procedure that differs between two runs of the same seed."""


class Costs:
    """Measures the stages of one training, one after the other."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._told: list[dict[str, Any]] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure one stage; one that ends with an error leaves nothing."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        started = time.perf_counter()
        with peak(self._device) as memory:
            yield
            if self._device.type == "cuda":
                torch.cuda.synchronize(self._device)
        seconds = time.perf_counter() - started
        self._told.append({"name": name, "seconds": seconds, "peak_memory_bytes": memory.bytes})

    @property
    def facts(self) -> dict[str, Any]:
        """The stages in order: ``name``, ``seconds``, and ``peak_memory_bytes`` beyond what was held before."""
        return {COSTS: list(self._told)}
