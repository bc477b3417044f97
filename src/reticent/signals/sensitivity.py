"""The probe of SAMIA: how much the probabilities of a record's copies differ that are moved by a little noise.

Paper: Yuan and Zhang (2022), "Membership inference attacks and defenses in neural network pruning", USENIX Security.
The noise is in units of what the model is given, so that features of bits leave their domain, as in the authors' code.
"""

import copy

import torch
from torch import Tensor, nn

from reticent.objectives.base import Examples
from reticent.outputs import Output
from reticent.signals.probes import Sensitivity
from reticent.training.data import Preparation
from reticent.training.loop import EVALUATION_BATCH
from reticent.training.materials import forward


@torch.no_grad()
def sensitivity(
    spec: Sensitivity,
    network: nn.Module,
    examples: Examples,
    prepare: Preparation,
    classes: int,
    generator: torch.Generator,
    output: Output | None = None,
) -> Tensor:
    """Compute the mean of ``|p_c(x + step u) - p_c(x)| / step`` over normal draws u, ``(N, C)``.

    A copy of the network computes in float64: in float32 the differences of so small a step would be rounding.
    """
    wide = copy.deepcopy(network).double()

    def said(x: Tensor) -> Tensor:
        logits = forward(wide, x, classes).double()
        return (logits if output is None else output(logits, x.clone())).softmax(dim=1)

    found = []
    for stored in torch.split(examples.x, EVALUATION_BATCH):
        x = prepare(stored).double()
        plain, total = said(x), torch.zeros(len(x), classes, dtype=torch.float64, device=x.device)
        for _ in range(spec.copies):
            noise = torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x.device)
            total += (said(x + spec.step * noise) - plain).abs()
        found.append(total / (spec.copies * spec.step))
    return torch.cat(found)
