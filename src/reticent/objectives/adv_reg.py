"""Adversarial regularisation: a loss that also asks an attack network, trained beside the model, to find no members.

Paper: Nasr, Shokri and Houmansadr (2018), "Machine learning with membership privacy using adversarial regularization",
CCS, algorithm 1. The model takes full passes over its members, and the attack network `attacker_steps` steps for each
of its steps (the released rounds of 52 and 2 batches, and ports that take one model step an epoch, under-train it). The
attack network learns from what the model says in eval mode of records as they are, not augmented; the reference is a
set of its own, never records that are audited. Tang et al. (2022), USENIX Security, train the same network with the
squared error.
"""

from itertools import pairwise
from typing import Annotated, ClassVar, Literal

import torch
from annotated_types import Ge, Gt
from torch import Tensor, nn
from torch.nn import functional

from reticent.objectives._sampling import EndlessBatches, required_reference
from reticent.objectives.base import Batch, Configured, Context, ObjectiveEntry
from reticent.spec import Spec
from reticent.torch_state import evaluating

Fit = Literal["mse", "bce"]
"""What an attack network minimises: the squared error of the member bit, or the binary cross-entropy."""

ANSWER, LABEL, BOTH = (1024, 512, 64), (128, 64), (128, 512, 256, 128, 64, 1)
"""Widths of the attack network's layers: for the answer, for the label, for both together; ReLU between them."""
DEVIATION = 0.01
"""Of its first weights, as released; biases are 0. So it says 0.5 of everybody at first and learns slowly: few steps of
training read as "private"."""
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


class _AdvReg(Configured[AdvReg]):
    def begin(self, context: Context) -> None:
        super().begin(context)
        if not self.spec.weight:
            return
        members, reference = context.members, required_reference(context, "adv-reg")
        size = min(context.batch_size, len(members), len(reference))
        self._members = EndlessBatches(members, size, context.generator("adv-reg/members"))
        self._reference = EndlessBatches(reference, size, context.generator("adv-reg/reference"))
        self._attacker = Attacker(context.classes, context.generator("adv-reg/attacker")).to(context.device)
        self._gap = torch.zeros((), device=context.device)
        self._optimizer = context.adam(list(self._attacker.parameters()), self.spec.attacker_learning_rate)

    def inputs(self, x: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        if self.spec.weight:
            self._attacker.requires_grad_(True)
            for _ in range(self.spec.attacker_steps):
                self._attack()
            self._attacker.requires_grad_(False)
        return x

    def _attack(self) -> None:
        """Take one step of the attack network, on equally many members and reference non-members."""
        members, reference = self._members.deal(), self._reference.deal()
        labels = torch.cat([members.y, reference.y])
        with evaluating(self.context.model), torch.no_grad():
            answers = self.context.ask(torch.cat([members.x, reference.x])).softmax(dim=1)
        member = torch.zeros(len(labels), device=labels.device)
        member[: len(members)] = 1.0
        self._optimizer.zero_grad()
        scores = self._attacker(answers, labels)
        with torch.no_grad():
            believed = scores.sigmoid()
            gap = believed[: len(members)].mean() - believed[len(members) :].mean()
            self._gap += RECENT * (gap - self._gap)
        fit_loss(scores, member, self.spec.attacker_loss).backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()

    def notices(self) -> list[str]:
        if not self.spec.weight:
            return []
        why = f"training ended with the warm-up (warmup_epochs={self.spec.warmup_epochs})"
        never = self.idle(why, "Give fewer warmup_epochs, or train longer.")
        if never or float(self._gap) >= ASLEEP:
            return never
        return [
            "The attack network of adv-reg hardly told members from reference records, to the end: it believed in the "
            f"membership of both alike (within {100 * ASLEEP:g} percentage points). Either there is little to find, or "
            "it was trained too little to act: train longer, or raise attacker_steps or attacker_learning_rate."
        ]

    def __call__(self, logits: Tensor, targets: Tensor, batch: Batch) -> Tensor:
        loss = functional.cross_entropy(logits, targets)
        if not self.spec.weight or batch.epoch < self.spec.warmup_epochs:
            return loss
        self.acts(batch.epoch)
        return loss + self.spec.weight * _regulariser(
            self._attacker(logits.softmax(dim=1), targets), self.spec.regulariser
        )


def _regulariser(scores: Tensor, kind: Literal["paper", "released"]) -> Tensor:
    """What the attack network gains from the members of a batch, by its log-odds ``(B,)``."""
    return functional.logsigmoid(scores).mean() if kind == "paper" else scores.sigmoid().mean() - 0.5


class Attacker(nn.Module):
    """The network; its ``forward`` answers the log-odds that a record is a member."""

    def __init__(self, classes: int, generator: torch.Generator) -> None:
        """Draw the network's weights from a generator, on the CPU; no global generator moves."""
        super().__init__()
        self.classes = classes
        self.answer, self.label = _chain((classes, *ANSWER), generator), _chain((classes, *LABEL), generator)
        self.both = _chain(BOTH, generator)

    def forward(self, probabilities: Tensor, labels: Tensor) -> Tensor:
        """Return log-odds ``(B,)`` from probabilities ``(B, C)`` and labels; their sigmoid is the paper's h."""
        onehot = functional.one_hot(labels, self.classes).to(probabilities.dtype)
        inner = torch.cat([_through(self.answer, probabilities), _through(self.label, onehot)], dim=1)
        *hidden, last = self.both
        out: Tensor = last(_through(hidden, inner))
        return out.squeeze(1)


def fit_loss(scores: Tensor, member: Tensor, fit: Fit) -> Tensor:
    """Compute what an attack network minimises, a mean over records; ``member`` is 1.0 for members and else 0.0."""
    if fit == "mse":
        return functional.mse_loss(scores.sigmoid(), member)
    return functional.binary_cross_entropy_with_logits(scores, member)


def _chain(widths: tuple[int, ...], generator: torch.Generator) -> nn.ModuleList:
    layers = nn.ModuleList()
    for before, after in pairwise(widths):
        layer = nn.utils.skip_init(nn.Linear, before, after)  # type: ignore[no-untyped-call]
        with torch.no_grad():
            layer.weight.normal_(0.0, DEVIATION, generator=generator)
            layer.bias.zero_()
        layers.append(layer)
    return layers


def _through(layers: nn.ModuleList | list[nn.Module], x: Tensor) -> Tensor:
    for layer in layers:
        x = functional.relu(layer(x))
    return x


ENTRY = ObjectiveEntry(
    AdvReg,
    _AdvReg,
    "Trained against an attack network, which is to find no members in what the model says.",
    per_record=False,
    paper="Nasr et al. (2018), CCS",
    cost="steps of an attack network: with a small network 20 to 50 times plain training, half of it at 1 a step",
    needs=("reference",),
    off=(AdvReg(weight=0.0),),
)
