"""Seconds and memory of one model by each defense, as ratios to plain training in the same run.

Every defense of ``reticent defenses`` trains (or, for output defenses, answers for) the same model in a process of its
own, one thread each, as a worker of an audit does; plain training runs before and after all others, and its mean is the
measure of all. Memory is what the work held beyond what the process held before.

    python benchmarks/defenses.py [--dataset digits] [--data-dir DIR] [--epochs 10] [--defense NAME ...] [--repeats 2]
"""

import argparse
import json
import statistics
import subprocess
import sys

OPTIONS = {"dpsgd": "dpsgd:epsilon=8", "selena": "selena:models=10,outside=4"}
"""Options without which a defense does not run, or would be measured at its most expensive."""


def measure(defense, dataset, data_dir, epochs):
    """Train one model, ask it about every record; answers seconds and bytes of both."""
    import time
    from pathlib import Path

    import torch

    from reticent.jobs.config import AuditConfig, prepare
    from reticent.population.worker import Maker
    from reticent.store import Store
    from reticent.training.memory import peak

    torch.set_num_threads(1)
    usual = {"dataset": dataset, "data_dir": data_dir, "models": 4, "recipe": {"epochs": epochs}}
    reference = prepare(AuditConfig(**usual | {"defense": "adv-reg"})).population.roles.sizes()["reference"]
    job = prepare(AuditConfig(**usual | {"defense": defense, "reference": reference}))
    maker = Maker(job.population, Store(Path("unused")), "cpu")
    warm = maker.materials(0)
    warm.prepare(warm.members.x[:2])
    facts = {}
    started = time.perf_counter()
    with peak(torch.device("cpu")) as memory:
        trained = maker._trained(0)
    facts["train"] = time.perf_counter() - started
    facts["train_bytes"] = memory.bytes
    started = time.perf_counter()
    with peak(torch.device("cpu")) as memory:
        maker.ask(trained.model, 0)
    facts["ask"] = time.perf_counter() - started
    facts["ask_bytes"] = memory.bytes
    return facts


def measured(defense, args):
    """Measure in a fresh process, so that no defense profits from what another one loaded."""
    command = [sys.executable, __file__, "--one", defense, "--dataset", args.dataset, "--epochs", str(args.epochs)]
    command += ["--data-dir", args.data_dir] if args.data_dir else []
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-dir")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--defense", action="append")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--one")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args.dataset, args.data_dir, args.epochs)))
        return
    from reticent.jobs.defenses import catalogue

    names = args.defense or [OPTIONS.get(one.name, one.name) for one in catalogue()]
    plain = [measured("none", args) for _ in range(args.repeats)]
    rows = {name: [measured(name, args) for _ in range(args.repeats)] for name in names}
    plain += [measured("none", args) for _ in range(args.repeats)]
    base = {key: statistics.mean(one[key] for one in plain) for key in plain[0]}
    spread = max(one["train"] for one in plain) / min(one["train"] for one in plain)
    print(f"{args.dataset}, {args.epochs} epochs, one thread; plain: {base['train']:.2f} s to train, ", end="")
    print(f"{base['train_bytes'] / 2**20:.0f} MiB, {base['ask']:.3f} s to ask (slowest by fastest {spread:.2f})\n")
    print("| defense | training time | training memory | answering time |")
    print("|---|---:|---:|---:|")
    for name, runs in rows.items():
        got = {key: statistics.mean(one[key] for one in runs) for key in runs[0]}
        print(
            f"| `{name}` | {got['train'] / base['train']:.2f} | {got['train_bytes'] / base['train_bytes']:.2f} "
            f"| {got['ask'] / base['ask']:.2f} |"
        )


if __name__ == "__main__":
    main()
