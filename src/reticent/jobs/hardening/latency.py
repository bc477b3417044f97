"""How long a pruned model takes to answer, beside the model that it was."""

import time
from statistics import median

import torch
from torch import Tensor, nn

from reticent.findings.harden import Latency
from reticent.jobs.hardening.checks import Ready
from reticent.jobs.hardening.repair import Repaired, network
from reticent.procedures.prune import Prune
from reticent.sparsify.structured import coupled, shrunk

CALLS = 50
"""So often each model is asked about one record, in turn with the other."""


@torch.no_grad()
def latency(ready: Ready, made: Repaired) -> Latency:
    """Measure how long the model takes before and after, without the filters that are gone."""
    x = ready.materials.prepare(ready.materials.members.first(1).x)
    models = [network(ready, state) for state in (ready.trained, made.state)]
    spec = ready.after.recipe.procedure
    smaller = isinstance(spec, Prune) and spec.structure == "filters"
    if isinstance(spec, Prune) and smaller:
        models[1] = shrunk(models[1], coupled(models[1], x, spec.skip), made.masks)
    seconds = [[_timed(model, x) for model in models] for _ in range(CALLS)]
    before, after = (median(one) for one in zip(*seconds, strict=True))
    return Latency(seconds_before=before, seconds_after=after, smaller=smaller)


def _timed(model: nn.Module, x: Tensor) -> float:
    started = time.perf_counter()
    model(x)
    if x.is_cuda:
        torch.cuda.synchronize(x.device)
    return time.perf_counter() - started
