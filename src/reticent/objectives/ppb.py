"""PPB, posterior balancing: cross-entropy, and a penalty on how differently two halves of a batch are ranked.

Paper: Yuan and Zhang (2022), "Membership inference attacks and defenses in neural network pruning", USENIX Security.
What the model says of each record is sorted, so that classes are forgotten; the record at a place of the first half and
that at the same place of the second should then look alike. Deviation: the paper uses it where a pruned model is
fine-tuned; here it serves the whole training, or the part that ``after`` says.
"""

from typing import Annotated, ClassVar

from annotated_types import Ge, Lt
from torch import Tensor
from torch.nn import functional

from reticent.objectives.base import Batch, Configured, ObjectiveEntry
from reticent.spec import Spec


class Ppb(Spec):
    """Options of posterior balancing."""

    method: ClassVar[str] = "ppb"

    weight: Annotated[float, Ge(0)] = 4.0
    """The weight of the divergence between the halves of a batch (lambda in the paper)."""
    after: Annotated[float, Ge(0), Lt(1)] = 0.0
    """The share of the epochs that is plain training before the divergence counts."""


class _Ppb(Configured[Ppb]):
    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        loss = functional.cross_entropy(logits, targets)
        half = len(targets) // 2
        if not self.spec.weight or not half or batch.epoch < self.spec.after * self.context.epochs:
            return loss
        self.acts(batch.epoch)
        ranked = logits[: 2 * half].log_softmax(dim=1).sort(dim=1, descending=True, stable=True).values
        first, second = ranked[:half], ranked[half:]
        divergence = (second.exp() * (second - first)).sum(dim=1).mean()
        return loss + self.spec.weight * divergence

    def notices(self) -> list[str]:
        after = self.spec.after
        if not self.spec.weight:
            return []
        if not after:
            return self.idle("every batch had one record", "Give a larger batch_size.")
        return self.idle(
            f"training ended with the epochs that are plain (after={after:g})",
            "Give a smaller after, or train longer.",
        )


ENTRY = ObjectiveEntry(
    Ppb,
    _Ppb,
    "A penalty on how differently the sorted answers of two halves of a batch look.",
    per_record=False,
    paper="Yuan and Zhang (2022), USENIX Security",
    cost="sorting the logits of every batch",
    off=(Ppb(weight=0.0),),
)
