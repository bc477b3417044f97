"""Butterfly layers against dense ones: time and memory of one layer, and accuracy of networks with as many weights.

    python benchmarks/butterfly.py speed
    python benchmarks/butterfly.py accuracy [--data-dir DIR] [--case digits] [--models 8]

`speed` asks a dense layer and the butterfly layer that replaces it in turn, in one process with one thread: the least
CPU time of a pass forward, and of one forward and backward; the entries of the weight, also as bytes with gradients and
Adam's two moments; the bytes that autograd keeps for the backward pass beside weights and input.

`accuracy` trains three networks alike on the same random halves of the same records: one with butterfly layers, the
dense network that they were put into, and the narrowest dense one of its kind that has at least as many weights as the
first. Accuracy is on the other half; the difference is paired over models.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from reticent.data.load import load
from reticent.data.membership import Membership
from reticent.data.roles import Roles
from reticent.models import ARCHITECTURES
from reticent.models.base import Architecture, build
from reticent.models.butterfly import Butterfly, factored
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.models.resnet import ResNet20
from reticent.population.population import Population
from reticent.population.train import train
from reticent.store import Store
from reticent.training.data import Preparation
from reticent.training.recipe import Recipe

POINTS = 0.02
"""How much less accurate a butterfly network may be."""


@dataclass(frozen=True)
class Layer:
    """A layer, and what it is given."""

    name: str
    make: Callable[[], nn.Module]
    given: tuple[int, ...]


LAYERS = (
    Layer("linear 256 x 256, batch 64", lambda: nn.Linear(256, 256), (64, 256)),
    Layer("linear 1024 x 1024, batch 64", lambda: nn.Linear(1024, 1024), (64, 1024)),
    Layer("linear 4096 x 4096, batch 64", lambda: nn.Linear(4096, 4096), (64, 4096)),
    Layer("conv 16 to 16, 3 x 3, 32 x 32 pixels, batch 64", lambda: _convolution(16), (64, 16, 32, 32)),
    Layer("conv 64 to 64, 3 x 3, 8 x 8 pixels, batch 64", lambda: _convolution(64), (64, 64, 8, 8)),
    Layer("conv 512 to 512, 3 x 3, 4 x 4 pixels, batch 64", lambda: _convolution(512), (64, 512, 4, 4)),
)


def _convolution(channels):
    return nn.Conv2d(channels, channels, 3, padding=1, bias=False)


def kept(layer, x):
    """Count the bytes that autograd keeps, each piece of memory once, without weights and input."""
    own = {t.untyped_storage().data_ptr() for t in (x, *layer.parameters())}
    pieces = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            pieces[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        _answer = layer(x)  # What it keeps lives as long as it does.
        return sum(pieces.values())


def seconds(layer, x, backward):
    """Measure the thread's own time, which others on the machine do not add to."""
    started = time.thread_time()
    if backward:
        layer(x).sum().backward()
    else:
        with torch.no_grad():
            layer(x)
    return time.thread_time() - started


def speed(repeats):
    torch.set_num_threads(1)
    print(f"one thread, best of {repeats} turns; ratios are butterfly to dense, so that below 1 the butterfly wins")
    print(
        "| layer | factors | entries | time forward | time forward and backward | entries in training, MB | kept, MB |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for case in LAYERS:
        dense, x = case.make(), torch.randn(case.given, requires_grad=True)
        for factors in (2, 4):
            layers = (dense, factored(case.make(), Butterfly(layers=("*",), factors=factors)))
            entries = [sum(p.numel() for p in layer.parameters() if p.dim() > 1) for layer in layers]
            times = {(way, backward): [] for way in (0, 1) for backward in (False, True)}
            for turn in range(repeats + 1):
                for (way, backward), seen in times.items():
                    taken = seconds(layers[way], x, backward)
                    seen.extend([taken] if turn else [])  # The first turn warms up.
            best = {key: min(seen) for key, seen in times.items()}
            ratios = [f"{best[1, backward] / best[0, backward]:.2f}" for backward in (False, True)]
            megabytes = (
                [f"{16 * one / 1e6:.2f}" for one in entries[::-1]],
                [f"{kept(one, x) / 1e6:.2f}" for one in layers[::-1]],
            )
            cells = [case.name, str(factors), f"{entries[1] / entries[0]:.3f}", *ratios, *map(" / ".join, megabytes)]
            print(f"| {' | '.join(cells)} |")


@dataclass(frozen=True)
class Case:
    """Data and a kind of network, by its width.

    Attributes:
        width: of the network that butterfly layers are put into.
        dense: the network of a width.
        layers: which layers become butterfly layers.
        records: how many are drawn, None for all.
    """

    name: str
    dataset: str
    width: int
    dense: Callable[[int], Architecture]
    layers: tuple[str, ...]
    records: int | None
    recipe: dict[str, object]


IMAGES = {"learning_rate": 1e-3, "weight_decay": 5e-4, "schedule": "cosine", "batch_size": 64}
CASES = (
    Case(
        "digits", "digits", 256, lambda w: MLP(widths=(w, w)), ("0", "2"), None, {"epochs": 40, "learning_rate": 2e-3}
    ),
    Case("cnn", "cifar10", 16, lambda w: CNN(widths=(w, 2 * w, 4 * w)), ("4", "8"), 2000, IMAGES | {"epochs": 15}),
    Case(
        "resnet20",
        "cifar10",
        8,
        lambda w: ResNet20(width=w),
        ("stages.*",),
        1000,
        IMAGES | {"epochs": 10, "batch_size": 32},
    ),
)


def weights(architecture, records):
    given = Preparation(records, torch.device("cpu")).input
    model = build(ARCHITECTURES[architecture.method], architecture, given, records.classes)
    return sum(p.numel() for p in model.parameters())


def accuracies(case, architecture, records, models):
    """Train a population; answer the accuracy of each model on the records it was not trained on."""
    recipe = Recipe(architecture=architecture, **case.recipe)
    roles = Roles.split(records, 0, audited=case.records)
    made = Population(recipe, records, roles, Membership.draw(models, len(roles.audited), 0), 0)
    with tempfile.TemporaryDirectory() as folder:
        done = train(made, Store(Path(folder)).open())
    return np.array([one.facts.accuracy_non_members for one in done])


def accuracy(case, models, data_dir):
    """Print what the networks of a case come to; answer how much more accurate the butterfly one is, by model."""
    records = load(case.dataset, data_dir=data_dir)
    dense = case.dense(case.width)
    sparse = dense.replace(butterfly=Butterfly(layers=case.layers))
    enough = weights(sparse, records)
    equal = next(one for w in range(1, case.width) if weights(one := case.dense(w), records) >= enough)
    started = time.perf_counter()
    networks = {"butterfly": sparse, "dense of as many weights": equal, "dense before": dense}
    found = {name: accuracies(case, one, records, models) for name, one in networks.items()}
    size, epochs = case.records or len(records), case.recipe["epochs"]
    taken = f"{time.perf_counter() - started:.0f} s"
    print(f"{case.name}: {case.dataset}, {size:,} records, half for each of {models} models, {epochs} epochs, {taken}")
    for name, one in networks.items():
        print(f"  {name}: {weights(one, records):,} weights, accuracy {100 * found[name].mean():.1f} %")
    gap = found["butterfly"] - found["dense of as many weights"]
    told = f"{100 * gap.mean():+.1f} points (standard error {100 * gap.std(ddof=1) / models**0.5:.1f})"
    verdict = "no less accurate than 2 points" if gap.mean() >= -POINTS else "LESS accurate by more than 2 points"
    print(f"  butterfly against dense of as many weights: {told}: {verdict}")
    return gap


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "accuracy"])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES])
    options = parser.parse_args()
    if options.what == "speed":
        speed(options.repeats)
        return 0
    for case in CASES:
        if case.name in (options.case or [case.name]):
            accuracy(case, options.models, options.data_dir)
    return 0


if __name__ == "__main__":
    sys.exit(main())
