"""Checks of rates, intervals and lower bounds on epsilon against closed forms and a known mechanism."""

from typing import Any

import numpy as np
from scipy.special import ndtri

from reticent import seeds
from reticent.auditing import attack_audit, intervals, roc
from reticent.auditing.epsilon import METHODS
from reticent.auditing.epsilon.bounds import bounds
from reticent.auditing.epsilon.gaussian import gaussian_delta, gaussian_epsilon
from reticent.auditing.epsilon.one_run import one_run_epsilon
from reticent.findings.selftest import Fault
from reticent.jobs.selftest.checks import Checks, check, near, number, within
from reticent.jobs.selftest.synthetic import SEED, Floats

EACH = 20_000
"""Members, and as many others."""
MU, DELTA = 1.0, 1e-9
LEAST = 0.5
"""Every method finds at least this of the known epsilon, 6.17; in a sound installation 1.9 and more."""
CONFIDENCE = 0.999
"""Of each bound, one-sided."""
MEMBERS, OTHERS = (4.0, 3.0, 2.0, 1.0), (2.5, 1.5, 0.5, 0.0)


def metrics() -> Checks:
    """Compare AUC, rates and balanced accuracy of eight scores with what pencil and paper give."""
    scores = np.array([*MEMBERS, *OTHERS])
    members = np.arange(8) < 4
    yield near("auc", 0.8125, float(roc.auc(scores, members)), Fault.SIGN)
    yield near("auc-negated", 0.1875, float(roc.auc(-scores, members)), Fault.SIGN)
    yield near("auc-ties", 0.5, float(roc.auc(np.ones(8), members)), Fault.TIES)
    some = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0])
    yield near("auc-some-ties", 2 / 3, float(roc.auc(some, np.arange(6) < 3)), Fault.TIES)
    yield near("tpr-without-false-alarm", 0.5, roc.tpr_at_fpr(scores, members, 0.0).tpr, Fault.SIGN)
    yield near("tpr-at-quarter", 0.75, roc.tpr_at_fpr(scores, members, 0.25).tpr, Fault.RATE)
    yield near("tpr-ties", 0.0, roc.tpr_at_fpr(np.ones(8), members, 0.5).tpr, Fault.TIES)
    yield near("balanced-accuracy", 0.75, roc.roc(scores, members).balanced_accuracy()[0], Fault.SIGN)
    yield near("false-positives-allowed", 29, roc.allowed(0.29, 100), Fault.RATE)
    order = seeds.rng(SEED, "selftest", "order").permutation(8)
    yield near("order-of-records", 0.8125, float(roc.auc(scores[order], members[order])), Fault.TIES)


def limits() -> Checks:
    """Compare confidence limits with known digits."""
    none, half = intervals.clopper_pearson(0, 10), intervals.clopper_pearson(5, 10)
    yield near("none-of-ten-low", 0.0, float(none[0]), Fault.BINOMIAL_TAIL)
    yield near("none-of-ten-high", 1 - 0.025**0.1, float(none[1]), Fault.BINOMIAL_TAIL)
    yield near("five-of-ten-low", 0.187086, float(half[0]), Fault.BINOMIAL_TAIL, 1e-6)
    yield near("five-of-ten-high", 0.812914, float(half[1]), Fault.BINOMIAL_TAIL, 1e-6)
    scores, members = np.array([*MEMBERS, *OTHERS]), np.arange(8) < 4
    yield near("delong-variance", 0.171875 / 6, intervals.delong(scores, members)[1], Fault.DELONG)
    low, high = intervals.auc_interval(scores, members)
    yield near("delong-low", 0.329, low, Fault.DELONG, 1e-3)
    yield near("delong-high", 0.974, high, Fault.DELONG, 1e-3)
    yield from _bootstrap()


def _bootstrap() -> Checks:
    """Compare the bootstrap of one target's AUC with its variance under no leak, (m + n + 1) / (12 m n)."""
    rng = seeds.rng(SEED, "selftest", "bootstrap")
    scores, members = rng.normal(size=(1, 1000)), (np.arange(1000) % 2 == 0)[None]
    done = attack_audit.audit_attack("selftest", {}, scores, members, [0], rng=rng, replicates=1000)
    low, high = done.auc.interval
    width = 2 * 1.959964 * (1001 / (12 * 500 * 500)) ** 0.5
    yield within("bootstrap-width", 0.85, 1.15, (high - low) / width, Fault.BOOTSTRAP)
    told = f"{low:.3f} <= {done.auc.mean:.3f} <= {high:.3f}"
    inside = low <= done.auc.mean <= high
    yield check("bootstrap-holds-estimate", "the AUC between its limits", told, inside, Fault.BOOTSTRAP)


def epsilons() -> Checks:
    """Compare formulas with known digits, and every method of the table with a Gaussian mechanism and with none."""
    yield near("gaussian-delta", 0.126936737507, float(gaussian_delta(1.0, 1.0)), Fault.EPSILON_FORMULA, 1e-10)
    back = float(gaussian_epsilon(1.0, 0.126936737507))
    yield near("gaussian-epsilon", 1.0, back, Fault.EPSILON_FORMULA, 1e-8)
    yield near("one-run-90-of-100", 1.63082, one_run_epsilon(90, 100, 100), Fault.EPSILON_FORMULA, 1e-4)
    true = float(gaussian_epsilon(MU, DELTA))
    for name, entry in METHODS.items():
        method: Any = entry.spec(threshold=2.5) if "threshold" in entry.spec.model_fields else entry.spec()
        found = _bound(method, MU)
        cause = Fault.EPSILON_TOO_HIGH if found > true else Fault.EPSILON_BLIND
        yield within(f"{name}-planted", LEAST, true, found, cause)
        none = _bound(method, 0.0)
        yield check(f"{name}-null", "0", number(none), none == 0, Fault.EPSILON_TOO_HIGH)


def _bound(method: Any, mu: float) -> float:
    """Bound epsilon from scores at the quantiles of N(0, 1) and N(mu, 1)."""
    quantiles: Floats = ndtri((np.arange(EACH) + 0.5) / EACH)
    members = np.arange(2 * EACH) < EACH
    rng = seeds.rng(SEED, "selftest", "epsilon")
    scores = np.concatenate([quantiles + mu, quantiles])
    return bounds(scores, members, method, delta=DELTA, rng=rng, confidence=CONFIDENCE)[0]
