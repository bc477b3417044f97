"""Mixup with a pass after an epoch that draws what the model says of members to what it says of reference non-members.

Paper: Li, Li and Ribeiro (2021), "Membership inference attacks and defenses in classification models", CODASPY; the
released form of MLHospital. Both sides of the distance are asked in eval mode, so that equal records have distance 0
and no BatchNorm statistics move; which reference records meet a batch is drawn uniformly (the released index never
takes the last of a class).
"""

from typing import Annotated, ClassVar

import torch
from annotated_types import Ge, Le
from torch import Tensor

from reticent.objectives._sampling import ClassIndex, required_reference
from reticent.objectives.base import Context, Examples, ObjectiveEntry, hits
from reticent.objectives.mixup import Mixing, mixable
from reticent.spec import Spec
from reticent.torch_state import evaluating

CHUNK = 1024


class MixupMmd(Spec):
    """Options of mixup with the maximum mean discrepancy."""

    method: ClassVar[str] = "mixup-mmd"

    weight: Annotated[float, Ge(0)] = 3.0
    """What the squared distance is multiplied by; 0 leaves mixup alone."""
    gap: Annotated[float, Ge(0), Le(1)] = 0.03
    """How far the accuracies of members and reference non-members must lie apart for a pass to follow an epoch."""
    alpha: Annotated[float, Ge(0)] = 1.0
    """Shares of mixup are drawn from Beta(alpha, alpha); 0 mixes nothing."""


class _MixupMmd(Mixing):
    def begin(self, context: Context) -> None:
        super().begin(context)
        if self.spec.weight:
            self._reference = required_reference(context, MixupMmd.method)
            self._order, self._matches = (context.generator(f"mixup-mmd/{name}") for name in ("order", "matches"))

    def end_epoch(self, epoch: int) -> None:
        if not self.spec.weight or epoch >= self.context.epochs - 1:
            return
        members = self.context.members
        with evaluating(self.context.model):
            if abs(self._accuracy(members) - self._accuracy(self._reference)) < self.spec.gap:
                return
            order = torch.randperm(len(members), generator=self._order)
            for rows in torch.split(order, self.context.batch_size):
                if self._draw_together(members.take(rows)):
                    self.acts(epoch)

    def notices(self) -> list[str]:
        if not self.spec.weight:
            return []
        left = "the loss of mixup" if self._alpha else "cross-entropy"
        return self.idle("no pass followed an epoch", "Give a smaller gap, or train longer.", left)

    @torch.no_grad()
    def _accuracy(self, examples: Examples) -> float:
        parts = zip(torch.split(examples.x, CHUNK), torch.split(examples.y, CHUNK), strict=True)
        right = torch.stack([hits(self.context.ask(x), y).sum() for x, y in parts]).sum()
        return float(right) / len(examples)

    def _draw_together(self, members: Examples) -> bool:
        """Take one step on the distance between a batch and as many reference records of the same classes, if any."""
        reference = self._reference
        shuffled = torch.randperm(len(reference), generator=self._matches).to(reference.y.device)
        chosen, rows = _matched(members.y, reference.y[shuffled], self.context.classes)
        if not len(rows):
            return False
        with torch.no_grad():
            wanted = self.context.ask(reference.take(shuffled[rows]).x).softmax(dim=1)
        answers = self.context.ask(members.take(chosen).x).softmax(dim=1)
        self.context.update(self.spec.weight * _squared_mmd(answers, wanted))
        return True


def _matched(labels: Tensor, reference: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Pair records with reference records of the same class, in the order that these have.

    Where a class has fewer reference records than the batch asks for, they come again; records of classes that the
    reference lacks are left out. Returns rows of both, with equal class counts.
    """
    there = ClassIndex(reference, classes)
    chosen = torch.nonzero(there.count[labels] > 0).squeeze(1)
    kept = labels[chosen]
    place = ClassIndex(kept, classes).place % there.count[kept]
    return chosen, there.order[there.start[kept] + place]


def _squared_mmd(a: Tensor, b: Tensor) -> Tensor:
    """Estimate the squared maximum mean discrepancy of ``(n, C)`` and ``(m, C)``, biased; Gaussian kernel, width 1."""

    def kernel(u: Tensor, v: Tensor) -> Tensor:
        squared = u.square().sum(dim=1)[:, None] + v.square().sum(dim=1)[None, :] - 2 * u @ v.T
        return (-squared / 2).exp().mean()

    return kernel(a, a) + kernel(b, b) - 2 * kernel(a, b)


ENTRY = ObjectiveEntry(
    MixupMmd,
    _MixupMmd,
    "Mixup, and passes that draw the answers for members to those for reference records.",
    check_kind=mixable,
    per_record=False,
    paper="Li et al. (2021), CODASPY",
    cost="up to one more pass an epoch, with twice as many questions",
    needs=("reference",),
    between_epochs=True,
    off=(MixupMmd(weight=0.0, alpha=0.0),),
)
