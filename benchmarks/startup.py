"""How long the command takes to say what it can do: `reticent --help`, beside the import of torch that it must not do.

Run `python benchmarks/startup.py [--repeats 10]`.
"""

import argparse
import statistics
import subprocess
import sys
import time

BOUND = 0.4
HELP = [sys.executable, "-m", "reticent", "--help"]
TORCH = [sys.executable, "-c", "import torch"]


def seconds(command):
    """Time one run in a process of its own."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats
    for command in (HELP, TORCH):
        seconds(command)  # compiles and caches files
    pairs = [(seconds(HELP), seconds(TORCH)) for _ in range(repeats)]
    shown, imported = (statistics.median(column) for column in zip(*pairs, strict=True))
    kept = shown < BOUND
    print(
        f"{'PASS' if kept else 'FAIL'}  reticent --help: {shown:.3f} s (under {BOUND} s), "
        f"{shown / imported:.2f} of the {imported:.3f} s of import torch; medians of {repeats} alternating runs"
    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
