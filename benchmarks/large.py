"""A whole audit of many records: time and memory of ``reticent attack``, whose cost must grow with the records alone.

Prints a row for each number of records, and exits 1 if a promise does not hold: at 1,000,000 records and 256 models
under 600 s and 2 GB of memory, a page under 2 MB at any number, and no more than 1.5 times the time an answer of the
smallest audit. Wall time counts only on a machine that does nothing else; CPU time stands beside it.

    python benchmarks/large.py [--models 256] [--records 10000 100000 1000000] [--attack loss lira ...]

Margins are made up: each record has a level and a leak of its own (exponential, half a standard deviation on average).
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BOUNDS = {"seconds": 600.0, "memory": 2e9, "page": 2e6, "growth": 1.5}
LARGEST = 1_000_000
BLOCK = 20_000


def made(folder: Path, models: int, records: int) -> Path:
    """Write outputs as another framework would: an .npz file with margins."""
    rng = np.random.default_rng(0)
    level, leak = rng.normal(3, 2, records), rng.exponential(0.5, records)
    membership = np.empty((models, records), dtype=np.bool_)
    margins = np.lib.format.open_memmap(folder / "margins.npy", "w+", np.float32, (models, records))
    for start in range(0, records, BLOCK):
        part = slice(start, min(start + BLOCK, records))
        half = np.tile(np.arange(models) < models // 2, (part.stop - start, 1))
        membership[:, part] = rng.permuted(half, axis=1).T
        noise = rng.normal(size=(models, part.stop - start))
        margins[:, part] = level[part] + leak[part] * membership[:, part] + noise
    labels = rng.integers(0, 10, records)
    np.savez(folder / "signals.npz", labels=labels, membership=membership, margins=margins, classes=10)
    return folder / "signals.npz"


def audit(signals: Path, out: Path, attacks: list[str]) -> None:
    """Audit them in this process, and print what it took."""
    from reticent import resident
    from reticent.jobs.attack import run
    from reticent.jobs.attacks import gather_attacks
    from reticent.jobs.signals_file import read_signals

    begun = time.perf_counter()

    def stage(told: str) -> None:
        cpu, peak = time.process_time(), resident.largest() / 1e9
        print(f"{time.perf_counter() - begun:8.0f} s, CPU {cpu:7.0f} s, {peak:.2f} GB: {told}", file=sys.stderr)

    config = gather_attacks(None, {"attacks": tuple(attacks)} if attacks else {})
    done = run(read_signals(signals), config, out, "made up", stage)
    stage("done")
    print(
        json.dumps({
            "seconds": time.perf_counter() - begun,
            "cpu": time.process_time(),
            "memory": resident.largest(),
            "page": (out / "report.html").stat().st_size,
            "parts": done.findings.environment.seconds_parts,
        })
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=256)
    parser.add_argument("--records", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--attack", nargs="*", default=[])
    parser.add_argument("--of", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.of is not None:
        audit(args.of, args.of.parent / "out", args.attack)
        return 0
    print("| records | seconds | CPU seconds | CPU µs an answer | memory (GB) | page (MB) |")
    print("|---:|---:|---:|---:|---:|---:|", flush=True)
    failed, first = 0, None
    for records in args.records:
        with tempfile.TemporaryDirectory() as folder:
            signals = made(Path(folder), args.models, records)
            command = [sys.executable, __file__, "--of", str(signals), "--attack", *args.attack]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        each = 1e6 * found["cpu"] / (args.models * records)
        first = each if first is None else first
        numbers = f"{found['seconds']:.0f} | {found['cpu']:.0f} | {each:.2f} | {found['memory'] / 1e9:.2f}"
        print(f"| {records:,} | {numbers} | {found['page'] / 1e6:.2f} |", flush=True)
        print(f"  parts (s): {found['parts']}", file=sys.stderr)
        failed += found["page"] > BOUNDS["page"] or each > BOUNDS["growth"] * first
        if records <= LARGEST:
            failed += found["seconds"] > BOUNDS["seconds"] or found["memory"] > BOUNDS["memory"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
