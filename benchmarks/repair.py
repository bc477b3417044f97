"""What repairing a trained model costs, against training from scratch with the same objective, in the same run.

For each objective: one model from scratch, and the repair of one plainly trained model by CWRF and by PPTP at a given
stage, each in a fresh process with warm kernels. Seconds and peak memory (beyond what the process held) are ratios to
training from scratch. "Training" is the second training alone; "repair" has scoring or the choice of the stage too, and
reads the states of the model that is repaired.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WIDE = '{"name": "mlp", "widths": [1024, 1024]}'


def job(defense, options):
    """Resolve one defense on the records that all rows share."""
    from reticent.jobs.config import prepare
    from reticent.options import AuditConfig

    recipe = {"epochs": options.epochs, "architecture": json.loads(options.architecture)}
    usual = {"dataset": options.dataset, "data_dir": options.data_dir, "models": 4, "reference": options.reference}
    return prepare(AuditConfig(**usual, records=options.records, recipe=recipe, defense=defense))


def measure(defense, options):
    """Train one model, or repair the one whose states are given; answers seconds and bytes."""
    import time

    import torch
    from safetensors.torch import load_file, save_file

    from reticent.population.worker import Maker
    from reticent.procedures import PROCEDURES, cwrf, pptp
    from reticent.procedures.base import snapshot
    from reticent.store import Store
    from reticent.training.memory import peak

    torch.set_num_threads(1)
    population = job(defense, options).population
    maker = Maker(population, Store(Path("unused")), options.device)
    recipe, materials, streams = population.recipe, maker.materials(0), population.streams(0)
    method = recipe.procedure.method
    short = job("none", options).population.recipe.replace(epochs=1, stop_after=None)
    PROCEDURES["plain"].train(short, materials, streams)
    gc.collect()

    def read(name):
        return {key: value.clone() for key, value in load_file(f"{options.states}/{name}.safetensors").items()}

    started = time.perf_counter()
    with peak(torch.device(options.device)) as memory:
        if method != "plain":
            repair = {"cwrf": cwrf, "pptp": pptp}[method].repair
            made = repair(read("trained"), read("initial"), recipe, materials, streams)
        else:
            made = PROCEDURES[method].train(recipe, materials, streams)
        if options.device != "cpu":
            torch.cuda.synchronize()
    found = {"seconds": time.perf_counter() - started, "bytes": memory.bytes}
    tuning = [one for one in made.facts.stages if one.name == "tuning"]
    found["tuning"] = tuning[0].seconds if tuning else found["seconds"]
    found["held"] = made.facts.pptp.share_frozen if method == "pptp" else None
    if defense == "none":
        save_file(snapshot(made.model), f"{options.states}/trained.safetensors")
        save_file(made.initial, f"{options.states}/initial.safetensors")
    return found


def alone(defense, options):
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--one", defense, "--states", options.states, "--dataset", options.dataset]
    command += ["--epochs", str(options.epochs), "--reference", str(options.reference), "--device", options.device]
    command += ["--data-dir", options.data_dir] if options.data_dir else []
    command += ["--records", str(options.records)] if options.records else []
    command += ["--architecture", options.architecture]
    # Then glibc gives each large tensor memory of its own, which goes back to the system with it.
    settled = os.environ | {"MALLOC_MMAP_THRESHOLD_": str(2**16)}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=settled)
    return json.loads(done.stdout)


def row(name, runs, base):
    """Write one line of the table."""
    got = {key: statistics.median(one[key] for one in runs) for key in ("seconds", "tuning", "bytes")}
    held = runs[0]["held"]
    return (
        f"| {name} | {got['tuning'] / base['seconds']:.2f} | {got['seconds'] / base['seconds']:.2f} "
        f"| {got['bytes'] / base['bytes']:.2f} | {'' if held is None else f'{held:.0%}'} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-dir")
    parser.add_argument("--records", type=int)
    parser.add_argument("--reference", type=int, default=300)
    parser.add_argument("--architecture", default=WIDE, help="as JSON; by default a network of which weights count")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--objective", action="append", help="by default relaxloss and hamp")
    parser.add_argument("--stage", action="append", help="of PPTP; by default 2 and head")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--states", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options)))
        return
    with tempfile.TemporaryDirectory() as options.states:
        print(f"{options.dataset}, {options.epochs} epochs from scratch, half of them in a repair, one thread\n")
        alone("none", options)
        for objective in options.objective or ["relaxloss", "hamp"]:
            ways = {"CWRF, rate 0.01": f"cwrf+{objective}"}
            ways |= {f"PPTP, stage {s}": f"pptp:stage={s}+{objective}" for s in options.stage or ["2", "head"]}
            runs = {name: [] for name in ("scratch", *ways)}
            for _ in range(options.repeats):
                for name in runs:
                    runs[name].append(alone(ways.get(name, objective), options))
            base = {key: statistics.median(one[key] for one in runs["scratch"]) for key in ("seconds", "bytes")}
            spread = max(one["seconds"] for one in runs["scratch"]) / min(one["seconds"] for one in runs["scratch"])
            print(f"{objective} from scratch: {base['seconds']:.2f} s, {base['bytes'] / 2**20:.1f} MiB ", end="")
            print(f"(median of {options.repeats}, slowest by fastest {spread:.2f})\n")
            print("| repair | time of training | time of repair | memory of repair | parameters that stay |")
            print("|---|---:|---:|---:|---:|")
            print("\n".join(row(name, runs[name], base) for name in ways), end="\n\n")


if __name__ == "__main__":
    main()
