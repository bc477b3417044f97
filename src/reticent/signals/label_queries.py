"""Probes of labels alone: views, noisy copies, and the distance to the boundary. An output defense changes no label.

Papers: Choquette-Choo et al. (2021), "Label-only membership inference attacks"; Chen, Jordan and Wainwright (2020),
"HopSkipJumpAttack", for the distance.
"""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from reticent.objectives.base import Examples, hits
from reticent.signals.probes import Boundary, Noise, Views
from reticent.signals.queries import view
from reticent.training import augmentation
from reticent.training.data import Preparation
from reticent.training.loop import EVALUATION_BATCH
from reticent.training.materials import forward
from reticent.training.recipe import Recipe

CHUNK = 64
"""Records whose boundary is sought together."""
STARTS = 64
"""Records among which one that is labelled otherwise is looked for, the nearest, to begin with."""
Wrong = Callable[[Tensor, Tensor], Tensor]
"""From model input ``(B, ...)`` and labels ``(B,)`` to booleans: is the label not the predicted one?"""


def wrong(model: nn.Module, classes: int) -> Wrong:
    """Make of a model one that tells only whether it labels inputs wrongly; a tie is a mistake."""

    @torch.no_grad()
    def told(x: Tensor, y: Tensor) -> Tensor:
        parts = _batches(Examples(x, y), EVALUATION_BATCH)
        return torch.cat([~hits(forward(model, some, classes).double(), labels) for some, labels in parts])

    return told


def _batches(examples: Examples, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(torch.split(examples.x, size), torch.split(examples.y, size), strict=True)


def views(spec: Views, asked: Wrong, examples: Examples, prepare: Preparation) -> Tensor:
    """Tell which views of every record are labelled correctly, ``(N, Q)``."""
    found = []
    for x, y in _batches(examples, EVALUATION_BATCH):
        found.append(torch.stack([~asked(prepare(turned(x.float(), *one)), y) for one in spec.views()], dim=1).float())
    return torch.cat(found)


def turned(x: Tensor, degrees: int, down: int, right: int) -> Tensor:
    """Rotate images ``(B, channels, H, W)`` about their middle, or shift them; borders are reflected."""
    if not degrees:
        return view(x, down, right, flip=False)
    angle, (height, width) = math.radians(degrees), x.shape[2:]
    matrix = torch.tensor([
        [math.cos(angle), -math.sin(angle) * height / width, 0.0],
        [math.sin(angle) * width / height, math.cos(angle), 0.0],
    ])
    grid = functional.affine_grid(matrix.to(x).expand(len(x), 2, 3), list(x.shape), align_corners=False)
    return functional.grid_sample(x, grid, padding_mode="reflection", align_corners=False)


def noise(spec: Noise, asked: Wrong, examples: Examples, prepare: Preparation, generator: torch.Generator) -> Tensor:
    """Tell which share of noisy copies of every record is labelled correctly, ``(N, 1)``.

    Pixels and features get normal noise, features that are mostly bits are flipped, words are left out.
    """
    kind = prepare.input.kind
    how = "gaussian" if kind == "image" else augmentation.usual(kind, examples.x.cpu().numpy())
    recipe, found = Recipe.model_validate({"augmentation": how, "augmentation_strength": spec.strength}), []
    for x, y in _batches(examples, EVALUATION_BATCH):
        right = torch.zeros(len(x), device=x.device)
        for _ in range(spec.copies):
            right += ~asked(prepare(prepare.augmented(x, recipe, generator)), y)
        found.append(right / spec.copies)
    return torch.cat(found)[:, None]


def boundary(
    spec: Boundary, asked: Wrong, examples: Examples, prepare: Preparation, generator: torch.Generator
) -> Tensor:
    """Seek how near to every record is an input that is labelled otherwise, ``(N, 1)``, in units of model input.

    HopSkipJump: from the nearest of some other records that are labelled otherwise, along estimates of the gradient at
    the boundary. Inputs may lie where no record does, such as between two bits. Where none of those records is labelled
    otherwise, the distance is that of the farthest of them.
    """
    starts = prepare(examples.x[torch.randperm(len(examples), generator=generator)[:STARTS]]).float()
    found = []
    for stored, y in _batches(examples, CHUNK):
        x = prepare(stored).float()
        distance = torch.zeros(len(x), device=x.device)
        right = torch.nonzero(~asked(x, y))[:, 0]
        if len(right):
            distance[right] = _distances(spec, asked, x[right], y[right], starts, generator)
        found.append(distance)
    return torch.cat(found)[:, None]


def _distances(
    spec: Boundary, asked: Wrong, x: Tensor, y: Tensor, starts: Tensor, generator: torch.Generator
) -> Tensor:
    """Go from records ``(n, ...)`` that are labelled correctly to the boundary, and along it: ``(n,)``."""
    count, size = len(x), x[0].numel()
    wide = (-1, *[1] * (x.dim() - 1))

    def norm(difference: Tensor) -> Tensor:
        found: Tensor = difference.flatten(1).norm(dim=1)
        return found

    def each(inputs: Tensor) -> Tensor:
        """Ask about ``(n, k, ...)``: ``(n, k)``."""
        labels = y.repeat_interleave(inputs.shape[1])
        return asked(inputs.flatten(0, 1), labels).view(inputs.shape[:2])

    def onto(outside: Tensor) -> Tensor:
        """Halve the way to what is labelled otherwise."""
        low, high = torch.zeros(count, device=x.device), torch.ones(count, device=x.device)
        for _ in range(spec.HALVINGS):
            middle = (low + high) / 2
            over = asked(x + middle.view(wide) * (outside - x), y)
            high, low = torch.where(over, middle, high), torch.where(over, low, middle)
        return x + high.view(wide) * (outside - x)

    far = torch.cdist(x.flatten(1), starts.flatten(1))
    other = each(starts.expand(count, *starts.shape))
    nearest = torch.where(other, far, math.inf).argmin(dim=1)
    known = other.any(dim=1)
    at = onto(starts[torch.where(known, nearest, far.argmax(dim=1))])
    best = norm(at - x)
    for step in range(1, spec.steps + 1):
        away = norm(at - x)
        drawn = torch.randn(count, spec.directions, *x.shape[1:], generator=generator).to(x.device)
        drawn /= drawn.flatten(2).norm(dim=2).view(count, -1, *[1] * (x.dim() - 1))
        width = (away / math.sqrt(size)).clamp(min=1e-6).view(-1, 1, *[1] * (x.dim() - 1)) * 0.1
        sign = 2.0 * each(at[:, None] + width * drawn) - 1
        mean = sign.mean(dim=1, keepdim=True)
        weight = torch.where(mean.abs() < 1, sign - mean, sign).view(count, -1, *[1] * (x.dim() - 1))
        toward = (weight * drawn).mean(dim=1)
        toward /= norm(toward).clamp(min=1e-12).view(wide)
        length, moved = away / math.sqrt(step), at
        for _ in range(spec.HALVINGS):
            ahead = at + length.view(wide) * toward
            good = asked(ahead, y) & (moved == at).flatten(1).all(dim=1)
            moved = torch.where(good.view(wide), ahead, moved)
            length = length / 2
        at = torch.where(known.view(wide), onto(moved), at)
        best = torch.minimum(best, norm(at - x))
    return best
