"""Models a second of the population trainer against the plain way, in the same run.

The plain way: one model after the other, ``DataLoader`` over a ``TensorDataset``, default Adam, default threads.
Ours: ``reticent.population.train`` with two processes, everything included (processes, signals, the store on disk).
Same data, members, architecture, learning rate, batch and epochs; the final accuracies must agree within noise.

    python benchmarks/training.py [--models 16] [--repeats 2]
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

BOUND = 2.5


@dataclass(frozen=True)
class Case:
    """One shape of data and network."""

    name: str
    widths: tuple[int, ...]
    learning_rate: float
    epochs: int


CASES = (Case("digits", (256, 256), 2e-3, 40), Case("location30-shape", (512, 256), 1e-3, 20))


def records(name):
    """Return digits, or made-up bits of Location30's shape: 5,010 records, 446 bits, 30 classes."""
    from reticent.data.load import load
    from reticent.data.records import Records

    if name == "digits":
        return load("digits")
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(5010) % 30)
    rates = np.clip(rng.beta(0.5, 4, 446) + 0.06 * rng.normal(size=(30, 446)), 0.01, 0.9)
    return Records.make((rng.random((5010, 446)) < rates[y]).astype(np.float32), y, name=name)


def population(case, models):
    from reticent.data.membership import Membership
    from reticent.data.roles import Roles
    from reticent.models.mlp import MLP
    from reticent.population.population import Population
    from reticent.training.recipe import Recipe

    data = records(case.name)
    recipe = Recipe(architecture=MLP(widths=case.widths), learning_rate=case.learning_rate, epochs=case.epochs)
    roles = Roles.split(data, 0)
    return Population(recipe, data, roles, Membership.draw(models, len(data), 0), 0)


def plain(case, models):
    """Train in the plain way; answers seconds and the mean accuracy on non-members."""
    import torch
    from torch import nn

    made = population(case, models)
    x, y = torch.from_numpy(made.records.x), torch.from_numpy(made.records.y)
    accuracies = []
    started = time.perf_counter()
    for m in range(models):
        torch.manual_seed(m)
        sizes = [x.shape[1], *case.widths]
        layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
        model = nn.Sequential(*layers, nn.Linear(sizes[-1], made.records.classes))
        inside = torch.from_numpy(made.membership.matrix[m])
        loader = torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(x[inside], y[inside]), batch_size=64, shuffle=True
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=case.learning_rate)
        for _ in range(case.epochs):
            for xs, ys in loader:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(xs), ys).backward()
                optimizer.step()
        with torch.no_grad():
            accuracies.append(float((model(x[~inside]).argmax(1) == y[~inside]).double().mean()))
    return time.perf_counter() - started, statistics.mean(accuracies)


def ours(case, models):
    """Train with the population trainer; answers seconds and the mean accuracy on non-members."""
    from reticent.population.executors import Executor
    from reticent.population.train import train
    from reticent.store import Store

    made = population(case, models)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        done = train(made, Store(Path(folder)).open(), executor=Executor(workers=2))
        seconds = time.perf_counter() - started
    return seconds, statistics.mean(one.facts.accuracy_non_members for one in done)


def alone(what, case, models):
    """Run one measurement in a process of its own, so that thread settings do not leak between the two ways."""
    command = [sys.executable, __file__, "--one", what, case, "--models", str(models)]
    seconds, accuracy = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(accuracy)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--one", nargs=2, metavar=("WAY", "CASE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        way, name = options.one
        case = next(case for case in CASES if case.name == name)
        print(*{"plain": plain, "ours": ours}[way](case, options.models))
        return 0
    failed = 0
    print(f"{options.models} models, best of {options.repeats} alternating runs")
    for case in CASES:
        runs = {"plain": [], "ours": []}
        for _ in range(options.repeats):
            for way, seen in runs.items():
                seen.append(alone(way, case.name, options.models))
        best = {way: min(seconds for seconds, _ in seen) for way, seen in runs.items()}
        accuracy = {way: seen[0][1] for way, seen in runs.items()}
        ratio = best["plain"] / best["ours"]
        near = abs(accuracy["plain"] - accuracy["ours"]) < 0.02
        failed += not (ratio >= BOUND and near)
        verdict = "PASS" if ratio >= BOUND and near else "FAIL"
        rates = ", ".join(
            f"{way} {options.models / s:.2f} models/s (accuracy {accuracy[way]:.3f})" for way, s in best.items()
        )
        print(f"{verdict} {case.name}: {ratio:.2f} times (at least {BOUND}); {rates}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
