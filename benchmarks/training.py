"""Models a second of the population trainer against the plain way, in the same run: one by one, together, as picked.

The plain way: one model after the other, ``DataLoader`` over a ``TensorDataset``, default Adam, default threads.
Ours: ``reticent.population.train``, everything included (processes, signals, the store on disk), with two processes,
as a user has them, and in one process, by its processor time, which other processes on the machine change less. Models
are trained one by one, by stacks of fixed sizes, and as ``--stack auto`` picks, which measures first.
Same data, members, architecture, learning rate, batch and epochs; the final accuracies must agree within noise.

    python benchmarks/training.py [--models 16] [--repeats 2] [--case digits]

It fails (exit 1) if a promise does not hold: digits at least 4 times the plain way on two cores, with what was picked;
what was picked as fast as the fastest of the others in one process, within 10 %; accuracies within 0.02.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

NEAR = 1.1
"""What was picked takes at most so many times as long as the fastest; measuring it is told apart."""
STACKS = (4, 8, 16)
CORES = 2


@dataclass(frozen=True)
class Case:
    """One shape of data and network."""

    name: str
    widths: tuple[int, ...]
    learning_rate: float
    epochs: int
    least: float | None = None
    """How many times the plain way it must be, on two cores."""


CASES = (
    Case("digits", (256, 256), 2e-3, 40, least=4.0),
    Case("digits-small", (32,), 2e-3, 40),
    Case("location30-shape", (512, 256), 1e-3, 20),
)


def records(name):
    """Return digits, or made-up bits of Location30's shape: 5,010 records, 446 bits, 30 classes."""
    from reticent.data.load import load
    from reticent.data.records import Records

    if name.startswith("digits"):
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


def plain(case, models, workers):
    """Train in the plain way; answers seconds, processor seconds and the mean accuracy on non-members."""
    import torch
    from torch import nn

    made = population(case, models)
    x, y = torch.from_numpy(made.records.x), torch.from_numpy(made.records.y)
    if workers == 1:
        torch.set_num_threads(1)
    accuracies = []
    started, spent = time.perf_counter(), time.process_time()
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
    return time.perf_counter() - started, time.process_time() - spent, 1, 0.0, statistics.mean(accuracies)


def ours(case, models, workers, stack):
    """Train with the population trainer; what `plain` answers, the size of a stack, and the seconds to pick it."""
    from reticent.population.executors import Executor
    from reticent.population.stacking import AUTO, chosen
    from reticent.population.train import train
    from reticent.store import Store

    made = population(case, models)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder)).open()
        started = time.perf_counter()
        made = chosen(made, store, AUTO if stack == "auto" else int(stack), "cpu")
        picking = time.perf_counter() - started if stack == "auto" else 0.0
        started, spent = time.perf_counter(), time.process_time()
        done = train(made, store, executor=Executor(workers=workers))
        seconds, spent = time.perf_counter() - started, time.process_time() - spent
    return seconds, spent, made.stack, picking, statistics.mean(one.facts.accuracy_non_members for one in done)


@dataclass(frozen=True)
class Seen:
    """One measurement: what `ours` answers."""

    seconds: float
    spent: float
    stack: int
    picking: float
    accuracy: float


def alone(way, case, models, workers):
    """Run one measurement in a process of its own, so that thread settings do not leak between the ways."""
    command = [sys.executable, __file__, "--one", way, case, str(workers), "--models", str(models)]
    seconds, spent, stack, picking, accuracy = subprocess.run(
        command, check=True, capture_output=True, text=True
    ).stdout.split()
    return Seen(float(seconds), float(spent), int(stack), float(picking), float(accuracy))


def busy():
    """Tell how many processes want a core, before anything is measured."""
    return os.getloadavg()[0]


def compared(case, models, repeats, ways, workers):
    """Measure each way in turn; the fastest of the repeats of each, by processor time where there is one process."""
    runs = {way: [] for way in ways}
    for _ in range(repeats):
        for way, seen in runs.items():
            seen.append(alone(way, case.name, models, workers))
    by = (lambda one: one.spent) if workers == 1 else (lambda one: one.seconds)
    return {way: (by(min(seen, key=by)), min(seen, key=by)) for way, seen in runs.items()}


def shown(found, models, unit):
    """Print each way's models a second, and its ratios to the plain way and to one by one."""
    for way, (seconds, one) in found.items():
        name = {"plain": "plain", "1": "one by one", "auto": f"picked ({one.stack})"}.get(way, f"{way} at a time")
        told = f"  {name:<14} {models / seconds:7.2f} models a {unit}"
        told += "".join(
            f", {found[base][0] / seconds:5.2f} times {whose}"
            for base, whose in (("plain", "the plain way"), ("1", "one by one"))
            if base in found and base != way
        )
        print(told + f"; accuracy {one.accuracy:.3f}" + (f"; picked in {one.picking:.1f} s" if one.picking else ""))


def judged(case, one, two):
    """Give what does not hold."""
    fastest = min(seconds for way, (seconds, _) in one.items() if way not in {"plain", "auto"})
    slower, near = one["auto"][0] / fastest, abs(two["plain"][1].accuracy - two["auto"][1].accuracy) < 0.02
    ratio = two["plain"][0] / two["auto"][0]
    if slower > NEAR:
        yield f"what was picked takes {slower:.2f} times as long as the fastest (at most {NEAR})"
    if case.least is not None and ratio < case.least:
        yield f"{ratio:.2f} times the plain way on two cores (at least {case.least})"
    if not near:
        yield "the accuracies differ by more than 0.02"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES])
    parser.add_argument("--one", nargs=3, metavar=("WAY", "CASE", "WORKERS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        way, name, workers = options.one
        case = next(case for case in CASES if case.name == name)
        given = case, options.models, int(workers)
        print(*(plain(*given) if way == "plain" else ours(*given, way)))
        return 0
    failed = 0
    load = busy()
    print(f"{options.models} models, best of {options.repeats} alternating runs; {load:.1f} processes ran before")
    if load > 0.5:
        print("The machine is busy: ratios on two cores are not those of an idle one.")
    for case in CASES:
        if options.case and case.name not in options.case:
            continue
        print(f"{case.name}, one process and thread, by processor time:")
        one = compared(case, options.models, options.repeats, ("plain", "1", *map(str, STACKS), "auto"), 1)
        shown(one, options.models, "processor second")
        print(f"{case.name}, {CORES} processes (the plain way: torch's threads), by the clock:")
        two = compared(case, options.models, options.repeats, ("plain", "1", "auto"), CORES)
        shown(two, options.models, "second")
        wrong = list(judged(case, one, two))
        print(f"{'FAIL' if wrong else 'PASS'} {case.name}{': ' * bool(wrong)}{'; '.join(wrong)}")
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
