"""Checks of how a model is asked: in eval mode, the same twice, whatever the batch, and leaving no trace in it."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from reticent import seeds
from reticent.data.records import Records
from reticent.errors import TrainingModeError
from reticent.findings.selftest import Check, Fault
from reticent.jobs.selftest.checks import Checks, check, twin
from reticent.jobs.selftest.synthetic import SEED
from reticent.signals import ask as asked
from reticent.signals.queries import Queries
from reticent.training.data import Examples, Preparation

RECORDS, FEATURES, HIDDEN, CLASSES = 1100, 8, 16, 3
"""More records than one batch of asking holds (1,024)."""
Answers = NDArray[np.float32]


def eval_mode() -> Checks:
    """Ask a network with dropout and batch normalisation, whose eval-mode answers are computed by hand."""
    rng = seeds.rng(SEED, "selftest", "asking")
    records = Records.make(rng.normal(size=(RECORDS, FEATURES)).astype(np.float32), np.arange(RECORDS) % CLASSES)
    prepare = Preparation(records, torch.device("cpu"))
    everything = prepare.examples(records, np.arange(RECORDS))
    with torch.random.fork_rng(devices=[]):
        whole = _ask(_network(), prepare, everything)
        yield twin("by-hand", _by_hand(_network(), records.x), whole, Fault.TRAINING_MODE, 1e-4)
        again = _ask(_network(), prepare, everything)
        changed = int(np.count_nonzero(again != whole))
        yield check("twice", "the same answers", f"{changed} answers differ", changed == 0, Fault.TRAINING_MODE)
        parts = (slice(start, start + 7) for start in range(0, 140, 7))
        few = [Examples(everything.x[rows], everything.y[rows]) for rows in parts]
        small = np.concatenate([_ask(_network(), prepare, part) for part in few])
        yield twin("batch-size", whole[:140], small, Fault.TRAINING_MODE, 1e-4)
        yield from _guard(prepare, everything)
        yield _no_trace(prepare, everything)


def _guard(prepare: Preparation, examples: Examples) -> Checks:
    """Ask a model of which all, or one part, is in training mode: it must be refused, and left as it was."""
    for name, part in (("refused", ""), ("refused-in-part", "2")):
        network = _network()
        network.get_submodule(part).train()
        before = _modes(network)
        try:
            _ask(network, prepare, examples)
            got = "answered"
        except TrainingModeError:
            got = "refused"
        got += "" if _modes(network) == before else ", its mode changed"
        yield check(name, "refused", got, got == "refused", Fault.TRAINING_MODE)


def _no_trace(prepare: Preparation, examples: Examples) -> Check:
    network = _network()
    before = {name: value.clone() for name, value in network.state_dict().items()}, _modes(network)
    _ask(network, prepare, examples)
    moved = [name for name, value in network.state_dict().items() if not torch.equal(value, before[0][name])]
    moved += [] if _modes(network) == before[1] else ["the mode"]
    got = f"changed: {', '.join(moved) or 'nothing'}"
    return check("no-trace", "nothing in the model changes", got, not moved, Fault.TRAINING_MODE)


def _ask(network: nn.Module, prepare: Preparation, examples: Examples) -> Answers:
    return asked.ask(network, examples, prepare, CLASSES, Queries()).logits


def _modes(network: nn.Module) -> list[bool]:
    return [module.training for module in network.modules()]


def _network() -> nn.Module:
    """Build the same network every time, in eval mode, with running statistics unlike those of any batch."""
    generator = torch.Generator().manual_seed(SEED)
    network = nn.Sequential(
        nn.Linear(FEATURES, HIDDEN), nn.BatchNorm1d(HIDDEN), nn.Dropout(0.5), nn.ReLU(), nn.Linear(HIDDEN, CLASSES)
    )
    with torch.no_grad():
        for name, value in sorted(network.state_dict().items()):
            if value.is_floating_point():
                value.copy_(torch.rand(value.shape, generator=generator) + 0.5 * ("running" in name) - 0.3)
    return network.eval()


def _by_hand(network: nn.Module, x: NDArray[Any]) -> NDArray[np.float64]:
    """Compute the answers in eval mode, in 64 bits: dropout passes all, the norm uses its running statistics."""
    value = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    hidden = x.astype(np.float64) @ value["0.weight"].T + value["0.bias"]
    deviation = np.sqrt(value["1.running_var"] + 1e-5)
    hidden = (hidden - value["1.running_mean"]) / deviation * value["1.weight"] + value["1.bias"]
    return np.asarray(np.maximum(hidden, 0.0) @ value["4.weight"].T + value["4.bias"])
