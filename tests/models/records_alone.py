import torch
from torch.nn import functional

from reticent.procedures.dpsgd import gradients, layers


def check_per_record_norms(model, x, y):
    """Hold the squared norms of per-record gradients against gradients of each record alone."""
    parameters = list(model.parameters())
    layers.check(model)
    with gradients.per_record(model) as hooks:
        functional.cross_entropy(model(x), y, reduction="sum").backward()
        parts = hooks.parts(parameters, len(x))
    got = torch.stack([part.squares() for part in parts])
    for record in range(len(x)):
        model.zero_grad()
        functional.cross_entropy(model(x[record : record + 1]), y[record : record + 1]).backward()
        expected = torch.stack([p.grad.square().sum() for p in parameters])
        assert torch.allclose(got[:, record], expected, rtol=2e-3, atol=1e-7)
