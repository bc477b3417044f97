"""Processor time and memory of one model by each defense, as ratios to plain training in the same run.

Every defense of ``reticent defenses`` trains (or, for output defenses, answers for) the same model in a process of its
own, one thread each, as a worker of an audit does; plain training runs before and after all others, and its mean is the
measure of all. Ratios are of processor time, since other work on the machine moves the clock. Before anything is
counted, the process trains and asks two other models for an epoch or so: what the first of them takes more than the
second (imports, what PyTorch loads at its first step) is paid once a process, and told apart. Memory is what the work
held beyond what the process held before.

    python benchmarks/defenses.py [--dataset digits] [--data-dir DIR] [--epochs 10] [--defense NAME ...] [--repeats 2]
    python benchmarks/defenses.py --dataset cifar10 --data-dir DIR --architecture cnn --records 1000 --epochs 4
"""

import argparse
import json
import statistics
import subprocess
import sys

OPTIONS = {"dpsgd": "dpsgd:epsilon=8", "selena": "selena:models=10,outside=4"}
"""Options without which a defense does not run, or would be measured at its most expensive."""
LEAST = 0.2
"""Seconds for which a model is asked again and again, so that one answer's share is above the clock's error."""
NOTABLE = 0.5
"""What a process pays once is told from this many seconds on."""
PART = 0.05
"""What each model pays besides its training is told from this share of plain training on."""
LEFT_OUT = """
Ratios are of processor time. Left out is what a process pays once, before its first model: {once}. Training time
includes what each model pays besides:
"""


def measure(defense, args):
    """Train one model, and ask it about every record.

    Args:
        defense: as `reticent audit --defense` takes it.
        args: what the command line says: `dataset`, `data_dir`, `epochs`, `architecture` and `records`.

    Returns:
        Seconds of the processor (``train``, ``ask``, what a process pays ``once``), ``clock`` seconds of the training,
        bytes of both, and of ``train`` the ``search`` for the noise of an epsilon and the making of the ``output``.
    """
    import time
    from pathlib import Path

    import torch

    from reticent.jobs.config import prepare
    from reticent.options import AuditConfig
    from reticent.population.worker import Maker
    from reticent.procedures import PROCEDURES
    from reticent.store import Store
    from reticent.training.memory import peak

    torch.set_num_threads(1)
    cpu, used = torch.device("cpu"), time.process_time
    usual = {"dataset": args.dataset, "data_dir": args.data_dir, "records": args.records, "models": 4}
    usual["recipe"] = {"epochs": args.epochs} | ({"architecture": args.architecture} if args.architecture else {})
    reference = prepare(AuditConfig(**usual | {"defense": "adv-reg"})).population.roles.sizes()["reference"]
    population = prepare(AuditConfig(**usual | {"defense": defense, "reference": reference})).population
    maker = Maker(population, Store(Path("unused")), "cpu")
    facts = {"once": once(maker)}
    tidy()

    started, clock = used(), time.perf_counter()
    with peak(cpu) as memory:
        trained = maker._trained(0)
    facts |= {"train": used() - started, "clock": time.perf_counter() - clock}
    facts["search"] = 0.0
    if PROCEDURES[population.recipe.procedure.method].proves:
        started = used()
        maker._trained(0)  # The noise is known by now.
        facts["search"] = max(0.0, facts["train"] - (used() - started))
    started = used()
    with peak(cpu) as making:
        output = maker.output(0, trained.model)
    facts["output"] = used() - started
    facts["train"] += facts["output"]
    facts["train_bytes"] = max(memory.bytes, making.bytes)

    tidy()
    started, times = used(), 0
    with peak(cpu) as memory:
        while not times or used() - started < LEAST:
            maker._ask(trained.model, maker.audited, output)
            times += 1
    return facts | {"ask": (used() - started) / times, "ask_bytes": memory.bytes}


def once(maker):
    """Train and ask two models for as long as shows what an epoch costs.

    Args:
        maker: of the population.

    Returns:
        Seconds of the processor that the first took more than the second.
    """
    import time

    import torch

    from reticent.procedures import PROCEDURES

    entry = PROCEDURES[maker.population.recipe.procedure.method]
    spent = []
    for model in (1, 2):
        started = time.process_time()
        short = entry.short(maker.population.recipe).recipe
        trained = entry.train(short, maker.materials(model), maker.population.streams(model))
        few = maker.audited.take(torch.arange(64))
        maker._ask(trained.model, few, maker.output(model, trained.model))
        spent.append(time.process_time() - started)
    return max(0.0, spent[0] - spent[1])


def tidy():
    """Give memory that is free, but kept by the allocator, back to the system, so that using it again is counted."""
    import ctypes
    import gc

    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def measured(defense, args):
    """Measure in a fresh process, so that no defense profits from what another one loaded."""
    command = [sys.executable, __file__, "--one", defense, "--dataset", args.dataset, "--epochs", str(args.epochs)]
    for name in ("data_dir", "architecture", "records"):
        value = getattr(args, name)
        command += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def mean(runs):
    """Average what was measured over processes."""
    return {key: statistics.mean(one[key] for one in runs) for key in runs[0]}


def beside(found, base):
    """Say what the ratios leave out, and what of the training time is no training.

    Args:
        found: what was measured, by defense.
        base: the same of plain training.

    Returns:
        A paragraph.
    """
    first = [f"`{name}` {got['once']:.1f} s" for name, got in found.items() if got["once"] >= NOTABLE]
    told = ", ".join([*first, f"{'all others' if first else 'all'} less than {NOTABLE:g} s"])
    models = []
    for key, what in (("search", "the search for its noise"), ("output", "making what its answers go through")):
        for name, got in found.items():
            if got[key] >= PART * base["train"]:
                without = (got["train"] - got[key]) / base["train"]
                models.append(f"- `{name}`: {what}, {got[key]:.1f} s; without it the ratio is {without:.2f}.")
    return LEFT_OUT.format(once=told) + "\n".join(["", *(models or ["- nothing here."])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-dir")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--architecture", help="by default the one that suits the data")
    parser.add_argument("--records", type=int, help="by default all")
    parser.add_argument("--defense", action="append")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--one")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args)))
        return
    from reticent.jobs.defenses import catalogue

    names = args.defense or [OPTIONS.get(one.name, one.name) for one in catalogue()]
    plain = [measured("none", args) for _ in range(args.repeats)]
    found = {name: mean([measured(name, args) for _ in range(args.repeats)]) for name in names}
    plain += [measured("none", args) for _ in range(args.repeats)]
    base = mean(plain)
    spread = max(one["train"] for one in plain) / min(one["train"] for one in plain)
    records = f"{args.records:,} records" if args.records else None
    what = ", ".join(filter(None, (args.dataset, records, args.architecture, f"{args.epochs} epochs")))
    print(
        f"{what}, one thread; plain: {base['train']:.2f} s of the processor to train ",
        end="",
    )
    print(f"({base['clock']:.2f} s by the clock), {base['train_bytes'] / 2**20:.0f} MiB, {base['ask']:.3f} s ", end="")
    print(f"to ask (slowest by fastest {spread:.2f})\n")
    print("| defense | training time | training memory | answering time |")
    print("|---|---:|---:|---:|")
    for name, got in found.items():
        ratios = " | ".join(f"{got[key] / base[key]:.2f}" for key in ("train", "train_bytes", "ask"))
        print(f"| `{name}` | {ratios} |")
    print(beside(found, base).rstrip())


if __name__ == "__main__":
    main()
