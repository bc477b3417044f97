"""Scoring against the plain way, in one run: RMIA against the dense comparison, LiRA's targets all at once against one.

Times are those of the processor, since all of it is one thread: so other programs move the ratios less.

Prints a table of ratios and exits 1 if a promise does not hold: one comparison of RMIA 100 times faster than dense, all
of it for 16 targets 80 times, peak memory below twice its inputs; all 128 targets of LiRA in at most 10 times the time
of one; learned in at most 5 times the time that its trees alone take to fit. The dense comparison is bound by the
processor and RMIA by memory, so that busy neighbours lower the second number: on two cores of an AMD EPYC that ten to
eighteen processes shared it was 84 to 114.

    python benchmarks/scoring.py
"""

import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from reticent.attacks import Problem, parse, score
from reticent.attacks.balance import Balance
from reticent.attacks.learned import Learned
from reticent.attacks.learned.learner import learn
from reticent.attacks.rmia.dominance import dominated
from reticent.data.membership import Membership
from reticent.signals.matrix import Signals

RECORDS, POPULATION = 50_000, 10_000
Floats = NDArray[np.float64]


def fastest(call: Callable[[], Floats], repeats: int) -> tuple[float, Floats]:
    """Return the shortest of several times, in seconds of the processor, and the result."""
    best, result = np.inf, np.empty(0)
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return best, result


def population(models: int, *, held_out: int) -> Problem:
    """Draw margins of a population with a leak, stored as float32 as the store does."""
    rng = np.random.default_rng(0)
    known = Membership.draw(models, RECORDS, 0)
    labels = rng.integers(0, 10, RECORDS)
    margins = (3 * rng.normal(size=RECORDS) + rng.normal(size=known.matrix.shape) + known.matrix).astype(np.float32)
    others = None
    if held_out:
        outside = 3 * rng.normal(size=held_out) + rng.normal(size=(models, held_out))
        others = Signals.from_margins(outside.astype(np.float32), rng.integers(0, 10, held_out), 10)
    return Problem.make(Signals.from_margins(margins, labels, 10), known, population=others)


def only(problem: Problem, target: int) -> Problem:
    """Keep one target."""
    return Problem(problem.signals, problem.membership, np.array([target]), problem.references, problem.population)


def dense_rmia(problem: Problem, target: int, gamma: float = 2.0) -> Floats:
    """RMIA of one target, every pair compared, by chunks that fit the memory."""
    p = 1 / (1 + np.exp(-problem.signals.margins[:, :, 0].astype(np.float64)))
    others = np.arange(problem.signals.models) != target
    inside = problem.membership.matrix[others]
    p_in = (p[others] * inside).sum(axis=0) / inside.sum(axis=0)
    p_out = (p[others] * ~inside).sum(axis=0) / (~inside).sum(axis=0)
    ratio_x = p[target] / (0.5 * (p_in + p_out))
    assert problem.population is not None
    p_z = 1 / (1 + np.exp(-problem.population.margins[:, :, 0].astype(np.float64)))
    return dense(ratio_x, p_z[target] / p_z[others].mean(axis=0), gamma)


def dense(ratio_x: Floats, ratio_z: Floats, gamma: float) -> Floats:
    """Compare every pair in NumPy; 100 records at a time, which is faster than all at once."""
    parts = [
        np.count_nonzero(ratio_x[i : i + 100, None] / ratio_z > gamma, axis=1) for i in range(0, len(ratio_x), 100)
    ]
    return np.concatenate(parts) / len(ratio_z)


def left_out(problem: Problem, target: int) -> NDArray[np.bool_]:
    """Say which references LiRA takes of each record: not the target, and not one that is too many."""
    alone, inside = only(problem, target), problem.membership.matrix
    dropped = Balance(alone).dropped(slice(0, RECORDS), inside)
    used = np.arange(problem.signals.models)[:, None] != np.full(problem.signals.records, target)
    if dropped is not None:
        some = np.flatnonzero(dropped.inside[0] | dropped.outside[0])
        used[dropped.which[0, some], some] = False
    return used


def plain_lira(problem: Problem, target: int, used: NDArray[np.bool_]) -> Floats:
    """Online LiRA of one target with variances of each record, vectorised over records in the plain way."""
    margins = problem.signals.margins[:, :, 0].astype(np.float64)
    others = np.arange(problem.signals.models) != target
    used, inside, logs = used[others], problem.membership.matrix[others], []
    for mask in (inside & used, ~inside & used):
        count = mask.sum(axis=0)
        centre = (margins[others] * mask).sum(axis=0) / count
        variance = ((margins[others] - centre) ** 2 * mask).sum(axis=0) / (count - 1)
        residual = (margins[target] - centre) ** 2 / (1 + 1 / count)
        logs.append(-0.5 * (residual / variance + np.log(variance)))
    return logs[0] - logs[1]


def input_bytes(problem: Problem) -> int:
    """Count the bytes of what one attack is given."""
    held = problem.population.margins if problem.population is not None else np.empty(0)
    arrays = (problem.signals.margins, problem.signals.labels, problem.membership.matrix, held)
    return sum(np.asarray(array).nbytes for array in arrays)


def rmia() -> list[tuple[str, float, float, bool]]:
    """Compare RMIA with its dense form: the comparison by itself, and everything for 16 targets."""
    rng = np.random.default_rng(1)
    log_x, log_z = rng.normal(size=(RECORDS, 1)), rng.normal(size=(POPULATION, 1))
    slow, expected = fastest(lambda: dense(np.exp(log_x[:, 0]), np.exp(log_z[:, 0]), 2.0), 1)
    fast, got = fastest(lambda: dominated(log_x, log_z, float(np.log(2))) / POPULATION, 7)
    np.testing.assert_allclose(got, expected, atol=2 / POPULATION)
    rows = [("RMIA, comparison of one target: times faster than dense", slow / fast, 100, slow / fast >= 100)]

    problem = population(16, held_out=POPULATION)
    spec = parse({"method": "rmia", "gamma": 2.0, "temperature": 1.0})
    slow, expected = fastest(lambda: dense_rmia(problem, 3), 3)
    fast, got = fastest(lambda: score(spec, problem), 7)
    np.testing.assert_allclose(got[3], expected, atol=2 / POPULATION)
    ratio = 16 * slow / fast
    rows.append(("RMIA, all of 16 targets: times faster than dense", ratio, 80, ratio >= 80))

    one, size = only(problem, 3), input_bytes(problem)
    tracemalloc.start()
    tracemalloc.reset_peak()
    score(spec, one)
    peak = (size + tracemalloc.get_traced_memory()[1]) / size
    tracemalloc.stop()
    rows.append((f"RMIA, one target: peak memory over its inputs ({size / 1e6:.1f} MB)", peak, 2, peak < 2))
    return rows


def lira() -> list[tuple[str, float, float, bool]]:
    """Compare all 128 targets with one done the plain way."""
    problem = population(128, held_out=0)
    used = left_out(problem, 3)
    plain, expected = fastest(lambda: plain_lira(problem, 3, used), 5)
    rows = []
    for options in ({}, {"variance": "pooled"}):
        spec = parse({"method": "lira", **options})
        every, got = fastest(lambda spec=spec: score(spec, problem), 3)  # type: ignore[misc]
        if not options:
            np.testing.assert_allclose(got[3], expected, rtol=1e-9, atol=1e-9)
        name = "own variances" if not options else "pooled variance"
        rows.append((f"LiRA, {name}: all 128 targets over one, plain", every / plain, 10, every / plain <= 10))
    return rows


def learned() -> list[tuple[str, float, float, bool]]:
    """Compare all of 8 targets with the fits of trees that this takes: 8 groups of 7 references, 2 folds."""
    rng, records, classes = np.random.default_rng(2), 3000, 20
    known = Membership.draw(8, records, 0)
    labels = rng.integers(0, classes, records)
    logits = rng.normal(size=(8, records, classes)) + 2 * rng.normal(size=(records, classes))
    logits[:, np.arange(records), labels] += 3 + known.matrix
    problem = Problem.make(Signals.from_logits(logits, labels), known)
    spec = parse({"method": "learned", "learner": "trees"})
    assert isinstance(spec, Learned)
    rows, members = rng.normal(size=(7 * records // 2, 46)).astype(np.float32), rng.random(7 * records // 2) < 0.5
    fit, _ = fastest(lambda: learn(spec, rows, members)(rows[:1]), 3)
    every, _ = fastest(lambda: score(spec, problem), 1)
    ratio = every / (16 * fit)
    return [("learned, all of 8 targets: times the fits of its trees", ratio, 5, ratio <= 5)]


def main() -> int:
    """Print the table."""
    failed = 0
    print(f"{RECORDS:,} records, {POPULATION:,} of the population")
    for name, value, bound, kept in rmia() + lira() + learned():
        print(f"{'PASS' if kept else 'FAIL'}  {name:<66} {value:9.2f}  (bound {bound:g})")
        failed += not kept
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
