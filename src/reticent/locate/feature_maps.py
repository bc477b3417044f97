"""What a network computes stage by stage: how far two networks lie apart on each record, and features for a probe.

Feature maps are never kept: of each batch only one number a record and stage, or a narrow row of features, stays.
"""

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from reticent.errors import ModelError, NonFiniteError
from reticent.models.stages import Stage
from reticent.torch_state import evaluating
from reticent.training.data import Preparation
from reticent.training.materials import forward

BATCH = 128
"""Records a forward pass: the full maps of one batch, of all stages, are what is held at a time."""


@dataclass(frozen=True, eq=False)
class MapDistances:
    """How far feature maps lie apart, ``(S, N)`` over the size of the map; and how many numbers a map has, ``(S,)``."""

    distances: NDArray[np.float64]
    sizes: tuple[int, ...]


def distance(one: Tensor, other: Tensor) -> Tensor:
    """Compute the Euclidean distance ``(B,)`` of two feature maps ``(B, ...)`` over the square root of their size.

    Paper: Fang and Kim, "Decoupling generalizability and membership privacy risks in neural networks", section 3.2.
    """
    gap = (one - other).flatten(1)
    apart: Tensor = torch.linalg.vector_norm(gap, dim=1, dtype=torch.float64) / math.sqrt(gap.shape[1])
    return apart


@torch.no_grad()
def map_distances(
    one: nn.Module, other: nn.Module, x: Tensor, prepare: Preparation, classes: int, stages: Sequence[Stage]
) -> MapDistances:
    """Compute how far two networks of one architecture lie apart on each stored record, stage by stage.

    Both are asked in eval mode about the same stored records, which are not augmented; both are left in the mode that
    they were in.
    """
    rows: list[Tensor] = []
    with closing(_batches((one, other), x, prepare, classes, stages)) as batches:
        for maps, others in batches:
            for stage, first, second in zip(stages, maps, others, strict=True):
                if first.shape != second.shape:
                    raise ModelError(
                        f"{stage.name}: the feature maps of the two networks have shapes {tuple(first.shape)} and "
                        f"{tuple(second.shape)}: expected networks of one architecture"
                    )
            rows.append(torch.stack(list(map(distance, maps, others))).cpu())
    distances = torch.cat(rows, dim=1).numpy()
    for stage, row in zip(stages, distances, strict=True):
        _finite(stage, row)
    return MapDistances(distances, tuple(one[0].numel() for one in maps))


@torch.no_grad()
def features(
    model: nn.Module,
    x: Tensor,
    prepare: Preparation,
    classes: int,
    stages: Sequence[Stage],
    reduce: Callable[[Stage, Tensor], Tensor],
) -> list[NDArray[np.float32]]:
    """Compute a narrow row of features for each record and stage, ``(N, k)`` a stage, in eval mode."""
    rows: list[list[Tensor]] = [[] for _ in stages]
    with closing(_batches((model,), x, prepare, classes, stages)) as batches:
        for (maps,) in batches:
            for kept, stage, found in zip(rows, stages, maps, strict=True):
                kept.append(reduce(stage, found).float().cpu())
    made = [torch.cat(kept).numpy() for kept in rows]
    for stage, row in zip(stages, made, strict=True):
        _finite(stage, row)
    return made


def _batches(
    models: Sequence[nn.Module], x: Tensor, prepare: Preparation, classes: int, stages: Sequence[Stage]
) -> Generator[list[list[Tensor]], None, None]:
    """Visit the records by batches: of each network its feature maps, one a stage."""
    with ExitStack() as held:
        asks = [held.enter_context(_watched(model, stages)) for model in models]
        for batch in torch.split(x, BATCH):
            given = prepare(batch)
            yield [ask(given, classes) for ask in asks]


def _finite(stage: Stage, values: NDArray[Any]) -> None:
    bad = int(np.count_nonzero(~np.isfinite(values)))
    if bad:
        raise NonFiniteError(
            f"{stage.name}: {bad} of {values.size} numbers of its feature maps are NaN or infinite; expected finite "
            "ones: check the model's training (a lower learning rate, the data's scale)"
        )


Seen = dict[str, Any]
"""By stage, what its module answered."""
Ask = Callable[[Tensor, int], list[Tensor]]
"""From model input ``(B, ...)`` and the number of classes to one feature map ``(B, ...)`` a stage."""


@contextmanager
def _watched(model: nn.Module, stages: Sequence[Stage]) -> Iterator[Ask]:
    """Listen to the stages' outputs; the network is in eval mode meanwhile."""
    seen = Seen()
    modules = dict(model.named_modules())

    def ask(x: Tensor, classes: int) -> list[Tensor]:
        seen.clear()
        forward(model, x, classes)
        return [_map(stage, seen, len(x)) for stage in stages]

    with ExitStack() as cleanup:
        for stage in stages:
            handle = modules[stage.output].register_forward_hook(
                lambda module, given, output, name=stage.name: seen.__setitem__(name, _kept(output))
            )
            cleanup.callback(handle.remove)
        with evaluating(model):
            yield ask


def _kept(answer: Any) -> Any:
    """Copy what a module answered, of several things the first: a later module may change it in place."""
    first = answer[0] if isinstance(answer, (tuple, list)) and answer else answer
    return first.detach().clone() if isinstance(first, Tensor) else first


def _map(stage: Stage, seen: Seen, records: int) -> Tensor:
    """Check what a stage's module answered."""
    if stage.name not in seen:
        raise ModelError(
            f"{stage.name}: its module {stage.output!r} was not called: name the stages by patterns (--stage), whose "
            "last module is used in the forward pass"
        )
    answer = seen[stage.name]
    if not isinstance(answer, Tensor) or not answer.is_floating_point() or answer.dim() < 1 or len(answer) != records:
        got = f"shape {tuple(answer.shape)}" if isinstance(answer, Tensor) else type(answer).__name__
        raise ModelError(
            f"{stage.name}: its module {stage.output!r} answered {got} for {records} records: expected a tensor of "
            "numbers with one row a record; name the stages by patterns (--stage)"
        )
    return answer.reshape(records, -1) if answer.dim() == 1 else answer
