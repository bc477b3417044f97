"""The bootstrap against the plain loop, in one run, on one core.

Prints times and ratios, and exits 1 if a promise does not hold: 1,000 replicates on 25,000 members and 25,000
non-members in under 5 s, and at least 20 times faster than drawing indices and calling scikit-learn in a loop.

    OMP_NUM_THREADS=1 python benchmarks/bootstrap.py

The plain loops draw records with replacement, sort them, and read off the AUC and the TPR at four false-positive rates;
ours also finds each replicate's best threshold. Their time a replicate is measured on `PLAIN` replicates.
"""

import platform
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import auc as area
from sklearn.metrics import roc_curve

from reticent.auditing.attack_audit import FPRS
from reticent.auditing.bootstrap import bootstrap
from reticent.auditing.weighted_roc import FIXED

GROUP, REPLICATES, PLAIN, REPEATS = 25_000, 1000, 40, 5
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def scores(targets: int, records: int) -> tuple[Floats, Bools]:
    """Draw scores of models with a leak, each trained on half of the records."""
    rng = np.random.default_rng(0)
    members = rng.permuted(np.tile(np.arange(records) < records // 2, (targets, 1)), axis=1)
    return rng.normal(size=members.shape) + 0.3 * members, members


def with_sklearn(values: Floats, members: Bools, rng: np.random.Generator) -> list[float]:
    """Compute one replicate as users write it."""
    chosen = rng.integers(0, len(values), len(values))
    fpr, tpr, _ = roc_curve(members[chosen], values[chosen])
    return [area(fpr, tpr), *(tpr[np.searchsorted(fpr, rate, side="right") - 1] for rate in FPRS)]


def with_numpy(values: Floats, members: Bools, rng: np.random.Generator) -> list[float]:
    """Compute one replicate with as little as NumPy and SciPy need for it: ranks, and one threshold a rate."""
    chosen = rng.integers(0, len(values), len(values))
    drawn, truth = values[chosen], members[chosen]
    inside, outside = drawn[truth], np.sort(drawn[~truth])
    m, n = len(inside), len(outside)
    numbers = [(rankdata(drawn)[truth].sum() - m * (m + 1) / 2) / (m * n)]
    return numbers + [float(np.mean(inside > outside[n - 1 - int(rate * n)])) for rate in FPRS]


def seconds(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the shortest of several times."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Print the table."""
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"{GROUP:,} + {GROUP:,} scores, {REPLICATES:,} replicates; plain loops: {PLAIN} replicates, scaled up\n")
    values, members = scores(1, 2 * GROUP)
    ours = seconds(lambda: bootstrap(values, members, FPRS, REPLICATES, np.random.default_rng(1)))
    drawn = bootstrap(values, members, FPRS, REPLICATES, np.random.default_rng(1)).values[:, 0]
    failed = 0
    for name, plain in (("scikit-learn", with_sklearn), ("NumPy", with_numpy)):
        rng = np.random.default_rng(2)
        every = np.array([plain(values[0], members[0], rng) for _ in range(PLAIN)])
        # The same law: means over replicates agree within four standard errors.
        mine = drawn[:, [0, *range(len(FIXED), drawn.shape[1])]]
        error = np.sqrt(every.var(axis=0, ddof=1) / PLAIN + mine.var(axis=0, ddof=1) / REPLICATES)
        np.testing.assert_array_less(np.abs(every.mean(axis=0) - mine.mean(axis=0)), 4 * error)
        taken = seconds(lambda plain=plain, rng=rng: [plain(values[0], members[0], rng) for _ in range(PLAIN)], 2)  # type: ignore[misc]
        taken *= REPLICATES / PLAIN
        bound = 20 if plain is with_sklearn else None
        failed += bound is not None and taken / ours < bound
        line(f"plain loop with {name} ({taken:.1f} s): times slower", taken / ours, bound, at_least=True)
    failed += ours >= 5
    line("ours, seconds", ours, 5)
    for targets, records in ((16, 1797), (64, 1797), (16, 5010)):
        values, members = scores(targets, records)
        taken = seconds(lambda: bootstrap(values, members, FPRS, REPLICATES, np.random.default_rng(1)), 2)  # noqa: B023
        line(f"ours, seconds, {targets} models of {records:,} records", taken, None)
    return 1 if failed else 0


def line(name: str, value: float, bound: float | None, *, at_least: bool = False) -> None:
    """Print one row."""
    kept = "    " if bound is None else "PASS" if (value >= bound) == at_least else "FAIL"
    print(f"{kept}  {name:<58} {value:8.3f}" + ("" if bound is None else f"  (bound {bound:g})"))


if __name__ == "__main__":
    sys.exit(main())
