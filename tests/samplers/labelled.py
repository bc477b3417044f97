"""What samplers are told in their tests: labels, and scores that rank each class in the order of its rows."""

import torch

from reticent.samplers.base import Known


def known(*counts, epochs=8, weight_decay=5e-4, scores=None):
    y = torch.cat([torch.full((count,), label) for label, count in enumerate(counts)])
    ranked = torch.linspace(1, 0, len(y), dtype=torch.float64)
    return Known(y, epochs, weight_decay, ranked if scores is None else torch.tensor(scores, dtype=torch.float64))


def visits(build, spec, given, epochs):
    """Rows and weight decays of each epoch."""
    made = build(spec, given)
    return [[(group.rows.tolist(), group.weight_decay) for group in made(epoch)] for epoch in range(epochs)]
