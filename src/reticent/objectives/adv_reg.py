"""Adversarial regularisation: a loss that also asks an attack network, trained beside the model, to find no members.

Paper: Nasr, Shokri and Houmansadr (2018), "Machine learning with membership privacy using adversarial regularization",
CCS, algorithm 1. The model takes full passes over its members, and the attack network `attacker_steps` steps for each
of its steps (the released rounds of 52 and 2 batches, and ports that take one model step an epoch, under-train it). The
attack network learns from what the model says in eval mode of records as they are, not augmented; the reference is a
set of its own, never records that are audited.
"""

from typing import Annotated, ClassVar, Literal

import torch
from annotated_types import Ge, Gt
from torch import Tensor
from torch.nn import functional

from reticent.objectives._attacker import Attacker, Fit, fit_loss
from reticent.objectives._sampling import EndlessBatches, required_reference
from reticent.objectives.base import Batch, Context, Objective
from reticent.spec import Spec

RECENT = 0.02
"""Weight of one attack step in the mean of what the attack network finds of late."""
ASLEEP = 0.005
"""An attack network that finds less than this gives the model nothing to learn from."""


class AdvReg(Spec):
    """Options of adversarial regularisation."""

    method: ClassVar[str] = "adv-reg"

    weight: Annotated[float, Ge(0)] = 3.0
    """What the regulariser is multiplied by (lambda)."""
    regulariser: Literal["paper", "released"] = "released"
    """The mean of log h over the batch, or of h less one half, which the published weights belong to."""
    attacker_steps: Annotated[int, Ge(1)] = 3
    """Steps of the attack network for each step of the model (k)."""
    warmup_epochs: Annotated[int, Ge(0)] = 1
    """First epochs without the regulariser, in which the attack network is trained already."""
    attacker_learning_rate: Annotated[float, Gt(0)] = 1e-4
    """Of the attack network's Adam."""
    attacker_loss: Fit = "mse"
    """What the attack network minimises: the squared error of the member bit, or the binary cross-entropy."""


def build(spec: AdvReg) -> Objective:
    """Return the loss."""
    return _AdvReg(spec)


class _AdvReg(Objective):
    def __init__(self, spec: AdvReg) -> None:
        self._spec = spec

    def begin(self, context: Context) -> None:
        super().begin(context)
        if not self._spec.weight:
            return
        members, reference = context.members, required_reference(context, "adv-reg")
        size = min(context.batch_size, len(members), len(reference))
        self._members = EndlessBatches(members, size, context.generator("adv-reg/members"))
        self._reference = EndlessBatches(reference, size, context.generator("adv-reg/reference"))
        self._attacker = Attacker(context.classes, context.generator("adv-reg/attacker")).to(context.device)
        self._gap = torch.zeros((), device=context.device)
        self._optimizer = context.adam(list(self._attacker.parameters()), self._spec.attacker_learning_rate)

    def inputs(self, x: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        del targets, batch
        if self._spec.weight:
            self._attacker.requires_grad_(True)
            for _ in range(self._spec.attacker_steps):
                self._attack()
            self._attacker.requires_grad_(False)
        return x

    def _attack(self) -> None:
        """Take one step of the attack network, on equally many members and reference non-members."""
        members, reference = self._members.deal(), self._reference.deal()
        labels = torch.cat([members.y, reference.y])
        with self.context.evaluating(), torch.no_grad():
            answers = self.context.ask(torch.cat([members.x, reference.x])).softmax(dim=1)
        member = torch.zeros(len(labels), device=labels.device)
        member[: len(members)] = 1.0
        self._optimizer.zero_grad()
        scores = self._attacker(answers, labels)
        with torch.no_grad():
            believed = scores.sigmoid()
            gap = believed[: len(members)].mean() - believed[len(members) :].mean()
            self._gap += RECENT * (gap - self._gap)
        fit_loss(scores, member, self._spec.attacker_loss).backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()

    def notices(self) -> list[str]:
        if not self._spec.weight:
            return []
        why = f"training ended with the warm-up (warmup_epochs={self._spec.warmup_epochs})"
        never = self.idle("adv-reg", why, "Give fewer warmup_epochs, or train longer.")
        if never or float(self._gap) >= ASLEEP:
            return never
        return [
            "adv-reg: to the end, the attack network believed hardly more in the membership of members than in that of "
            f"reference records (by less than {100 * ASLEEP:g} points). Either there is little to find, or it was "
            "trained too little to act at all: train longer, or raise attacker_steps or attacker_learning_rate."
        ]

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        loss = functional.cross_entropy(logits, targets)
        if not self._spec.weight or batch.epoch < self._spec.warmup_epochs:
            return loss
        self.acts(batch.epoch)
        return loss + self._spec.weight * _regulariser(
            self._attacker(logits.softmax(dim=1), targets), self._spec.regulariser
        )


def _regulariser(scores: Tensor, kind: Literal["paper", "released"]) -> Tensor:
    """What the attack network gains from the members of a batch, by its log-odds ``(B,)``."""
    return functional.logsigmoid(scores).mean() if kind == "paper" else scores.sigmoid().mean() - 0.5
