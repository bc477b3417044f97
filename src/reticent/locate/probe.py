"""A linear probe: how well a support vector machine labels records from the features of each stage.

Paper: Fang and Kim (PPTP), section 3.3 and figure 8: fitted to features of training records, judged on others. Where
the accuracy stops growing with the stage, the paper finds that membership begins to show.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import torch
from annotated_types import Ge, Gt
from numpy.typing import NDArray
from torch import Tensor, nn

from reticent.locate.feature_maps import features
from reticent.models.stages import Stage
from reticent.objectives.base import Examples
from reticent.spec import Spec
from reticent.training.data import Preparation
from reticent.training.streams import Streams

ROUNDS = 1000
"""Most passes of the solver over the records."""


class Probe(Spec):
    """Options of the linear probe."""

    features: Literal["projected", "pooled"] = "projected"
    """What stands for a feature map of more than `width` numbers: a random projection to that many or, pooled, the
    mean over all positions (of a map's last two axes, or of the tokens)."""
    width: Annotated[int, Ge(1)] = 1024
    """Most features that the machine is given."""
    records: Annotated[int, Ge(2)] = 2000
    """Most training records that it is fitted to."""
    penalty: Annotated[float, Gt(0)] = 1.0
    """The machine's C: the weight of its errors. Features are standardised, and a row's length is about one."""


@dataclass(frozen=True, eq=False)
class Probed:
    """Which test records the probe labels right from each stage, ``(S, N)``; and whether its solver came to an end."""

    correct: NDArray[np.bool_]
    settled: tuple[bool, ...]


def probe(
    model: nn.Module,
    stages: Sequence[Stage],
    training: Examples,
    test: Examples,
    prepare: Preparation,
    classes: int,
    options: Probe,
    streams: Streams,
) -> Probed:
    """Fit a linear SVM to each stage's features of training records, and judge it on test records."""
    own = streams.child("probe")
    chosen = torch.randperm(len(training), generator=own.generator("records"))[: options.records]
    chosen = chosen.to(training.y.device)
    reduce = _Reduction(options, own)
    fitted = features(model, training.x[chosen], prepare, classes, stages, reduce)
    judged = features(model, test.x, prepare, classes, stages, reduce)
    labels, truth = training.y[chosen].cpu().numpy(), test.y.cpu().numpy()
    correct, settled = [], []
    for stage, rows, others in zip(stages, fitted, judged, strict=True):
        seed = own.integer(f"solver/{stage.name}") % 2**32
        guessed, ended = _machine(rows, labels, others, options.penalty, seed)
        correct.append(guessed == truth)
        settled.append(ended)
    return Probed(np.array(correct), tuple(settled))


class _Reduction:
    """From feature maps to rows of at most `width` numbers; the same projection for all records of a stage."""

    def __init__(self, options: Probe, streams: Streams) -> None:
        self._options, self._streams = options, streams
        self._hashes: dict[str, tuple[Tensor, Tensor]] = {}

    def __call__(self, stage: Stage, maps: Tensor) -> Tensor:
        width = self._options.width
        if self._options.features == "pooled" and maps[0].numel() > width:
            maps = pooled(maps)
        flat = maps.flatten(1)
        if flat.shape[1] <= width:
            return flat
        where, sign = self._hash(stage, flat.shape[1], flat.device)
        return flat.new_zeros(len(flat), width).index_add_(1, where, flat * sign)

    def _hash(self, stage: Stage, size: int, device: torch.device) -> tuple[Tensor, Tensor]:
        """Draw the projection: each number is added, with a random sign, to one of the features (Charikar 2002)."""
        if stage.name not in self._hashes:
            drawn = self._streams.generator(f"projection/{stage.name}")
            where = torch.randint(self._options.width, (size,), generator=drawn)
            sign = 2.0 * torch.randint(2, (size,), generator=drawn) - 1
            self._hashes[stage.name] = where.to(device), sign.to(device)
        return self._hashes[stage.name]


def pooled(maps: Tensor) -> Tensor:
    """Take the mean over all positions: of the last two axes of pictures, of the tokens, or of none."""
    if maps.dim() < 3:
        return maps
    return maps.mean(dim=1) if maps.dim() == 3 else maps.flatten(2).mean(dim=2)


def _machine(
    rows: NDArray[np.float32], labels: NDArray[np.int64], others: NDArray[np.float32], penalty: float, seed: int
) -> tuple[NDArray[np.int64], bool]:
    """Fit a machine to standardised rows, and let it label others."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0) * np.sqrt(rows.shape[1])
    if len(np.unique(labels)) == 1:
        return np.full(len(others), labels[0]), True
    machine = LinearSVC(C=penalty, random_state=seed, max_iter=ROUNDS, dual="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit((rows - mean) / scale, labels)
    ended = int(np.max(machine.n_iter_)) < ROUNDS
    guessed: NDArray[np.int64] = machine.predict((others - mean) / scale)
    return guessed, ended
