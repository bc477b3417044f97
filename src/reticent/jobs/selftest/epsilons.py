"""Checks of the lower bounds on epsilon: closed forms, a known mechanism from below, and none where nothing leaks."""

from typing import Any

import numpy as np
from scipy.special import ndtri

from reticent import seeds
from reticent.auditing.epsilon import METHODS
from reticent.auditing.epsilon.bounds import bounds
from reticent.auditing.epsilon.gaussian import gaussian_delta, gaussian_epsilon
from reticent.auditing.epsilon.one_run import one_run_epsilon
from reticent.jobs.selftest.line import Line, Lines, near, number, within
from reticent.jobs.selftest.made import SEED, Floats

EACH = 20_000
"""Members, and as many others."""
MU, DELTA = 1.0, 1e-9
LEAST = 0.5
"""Every method finds at least this of the known epsilon, 6.17; in a sound installation 1.9 and more."""
CONFIDENCE = 0.999
"""Of each bound, one-sided."""
TOO_HIGH = (
    "A bound on epsilon that is above what is true: a wrong tail, a threshold that was chosen on the scores that it is "
    "judged on, or limits that do not hold together. Such a bound accuses a training that keeps its promise."
)
BLIND = "A bound on epsilon that finds nothing of a known leak: a wrong tail, or members and non-members exchanged."
DIGITS = "The formula of a bound on epsilon is wrong: a sign, or a tail."


def epsilons() -> Lines:
    """Compare formulas with known digits, and every method of the table with a Gaussian mechanism and with none."""
    yield near("gaussian-delta", 0.126936737507, float(gaussian_delta(1.0, 1.0)), DIGITS, 1e-10)
    yield near("gaussian-epsilon", 1.0, float(gaussian_epsilon(1.0, 0.126936737507)), DIGITS, 1e-8)
    yield near("one-run-90-of-100", 1.63082, one_run_epsilon(90, 100, 100), DIGITS, 1e-4)
    true = float(gaussian_epsilon(MU, DELTA))
    for name, entry in METHODS.items():
        options: dict[str, Any] = {"threshold": 2.5} if "threshold" in entry.spec.model_fields else {}
        method: Any = entry.spec(**options)
        found = _bound(method, MU)
        yield within(f"{name}-planted", LEAST, true, found, TOO_HIGH if found > true else BLIND)
        none = _bound(method, 0.0)
        yield Line(f"{name}-null", "0", number(none), none == 0, TOO_HIGH)


def _bound(method: Any, mu: float) -> float:
    """Bound epsilon from scores at the quantiles of N(0, 1) and N(mu, 1)."""
    quantiles: Floats = ndtri((np.arange(EACH) + 0.5) / EACH)
    members = np.arange(2 * EACH) < EACH
    rng = seeds.rng(SEED, "selftest", "epsilon")
    scores = np.concatenate([quantiles + mu, quantiles])
    return bounds(scores, members, method, delta=DELTA, rng=rng, confidence=CONFIDENCE)[0]
