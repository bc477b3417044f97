"""The records of one model on its device, what is drawn of them in training, and where they become model input."""

from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reticent.data.records import Records
from reticent.errors import InputError
from reticent.models.base import Input
from reticent.objectives.base import Examples
from reticent.training import augmentation
from reticent.training.augmentation import CUTOUT, USUAL, Columns
from reticent.training.recipe import Recipe

__all__ = ["Examples", "Preparation"]


class Preparation:
    """From stored records to model input: images become ``(x / 255 - mean) / std``, features and tokens stay."""

    def __init__(self, records: Records, device: torch.device) -> None:
        self.device, self._records = device, records
        self.input = Input(records.kind, tuple(records.x.shape[1:]), records.vocabulary)
        self._scale: Tensor | None = None
        self._shift = torch.zeros(0)
        if records.kind == "image":
            mean, std = (torch.tensor(v, dtype=torch.float64).view(-1, 1, 1) for v in (records.mean, records.std))
            self._scale = (1 / (255 * std)).float().to(device)
            self._shift = (-mean / std).float().to(device)

    @property
    def as_stored(self) -> bool:
        """Tell whether the model input is the stored records."""
        return self._scale is None

    def examples(self, records: Records, ids: NDArray[np.int64]) -> Examples:
        """Bring some records to the device."""
        x, y = np.ascontiguousarray(records.x[ids]), records.y[ids]
        return Examples(torch.from_numpy(x).to(self.device), torch.from_numpy(y).to(self.device))

    def __call__(self, x: Tensor) -> Tensor:
        """Turn stored records into model input."""
        return x if self._scale is None else torch.addcmul(self._shift, x.float(), self._scale)

    def augmented(self, x: Tensor, recipe: Recipe, generator: torch.Generator) -> Tensor:
        """Draw a view of each stored record, as a recipe trains on them; without augmentation nothing is drawn."""
        kind, strength = recipe.augmentation, recipe.augmentation_strength
        usual = CUTOUT if "cutout" in kind else USUAL
        strength = usual if strength is None else strength
        if kind.startswith("flip"):
            x = augmentation.flip(x, generator)
        if "crop" in kind:
            x = augmentation.crop(x, recipe.padding, generator)
        if "cutout" in kind:
            x = augmentation.cutout(x, strength, self._mean_pixel, generator)
        if kind == "gaussian":
            x = augmentation.gaussian(x.float(), strength * self._spread, generator)
        if kind == "bit-flip":
            x = augmentation.bit_flip(x, strength, self._bits, generator)
        if kind == "feature-dropout":
            x = augmentation.dropout(x, strength, self._columns.mean, generator)
        if kind == "word-dropout":
            x = augmentation.dropout(x, strength, torch.zeros((), device=x.device), generator)
        return x

    @cached_property
    def _columns(self) -> Columns:
        return Columns.of(self._records.x, self.device)

    @property
    def _bits(self) -> Columns:
        columns = self._columns
        if not (columns.bits.any() or columns.groups):
            raise InputError(
                "augmentation 'bit-flip' needs features of zeros and ones, got none: give gaussian or feature-dropout"
            )
        return columns

    @cached_property
    def _mean_pixel(self) -> Tensor:
        return (255 * torch.tensor(self._records.mean)).round().to(self.device)

    @cached_property
    def _spread(self) -> Tensor:
        """Standard deviations that noise is measured in: of each column, or of each channel as it is normalised."""
        if self._records.kind == "image":
            return (255 * torch.tensor(self._records.std)).view(-1, 1, 1).to(self.device)
        return self._columns.std
