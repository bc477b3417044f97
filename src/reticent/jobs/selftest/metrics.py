"""Checks of the statistics against closed forms that can be worked out by hand."""

import numpy as np

from reticent import seeds
from reticent.auditing import attack_audit, intervals, roc
from reticent.jobs.selftest.line import Line, Lines, near, within
from reticent.jobs.selftest.made import SEED

MEMBERS, OTHERS = (4.0, 3.0, 2.0, 1.0), (2.5, 1.5, 0.5, 0.0)
TIES = "Ties: equal scores must count half, and may not be told apart by the order of the records."
SIGN = "A sign: higher scores must mean members, in every metric."
TAIL = "A wrong tail of the binomial distribution: the exact limits of a rate are not those of Clopper and Pearson."


def metrics() -> Lines:
    """Compare AUC, rates and balanced accuracy of eight scores with what pencil and paper give."""
    scores = np.array([*MEMBERS, *OTHERS])
    members = np.arange(8) < 4
    yield near("auc", 0.8125, float(roc.auc(scores, members)), SIGN)
    yield near("auc-negated", 0.1875, float(roc.auc(-scores, members)), SIGN)
    yield near("auc-ties", 0.5, float(roc.auc(np.ones(8), members)), TIES)
    some = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0])
    yield near("auc-some-ties", 2 / 3, float(roc.auc(some, np.arange(6) < 3)), TIES)
    yield near("tpr-without-false-alarm", 0.5, roc.tpr_at_fpr(scores, members, 0.0).tpr, SIGN)
    yield near(
        "tpr-at-quarter", 0.75, roc.tpr_at_fpr(scores, members, 0.25).tpr,
        "A rate at exactly the false-positive rate asked for must count (at most, not below), without interpolation.",
    )  # fmt: skip
    yield near("tpr-ties", 0.0, roc.tpr_at_fpr(np.ones(8), members, 0.5).tpr, TIES)
    yield near("balanced-accuracy", 0.75, roc.roc(scores, members).balanced_accuracy()[0], SIGN)
    yield near(
        "false-positives-allowed", 29, roc.allowed(0.29, 100),
        "Rounding: 0.29 of 100 is 29 false positives; in binary numbers the product is just below.",
    )  # fmt: skip
    order = seeds.rng(SEED, "selftest", "order").permutation(8)
    yield near("order-of-records", 0.8125, float(roc.auc(scores[order], members[order])), TIES)


def limits() -> Lines:
    """Compare confidence limits with known digits."""
    none, half = intervals.clopper_pearson(0, 10), intervals.clopper_pearson(5, 10)
    yield near("none-of-ten-low", 0.0, float(none[0]), TAIL)
    yield near("none-of-ten-high", 1 - 0.025**0.1, float(none[1]), TAIL)
    yield near("five-of-ten-low", 0.187086, float(half[0]), TAIL, 1e-6)
    yield near("five-of-ten-high", 0.812914, float(half[1]), TAIL, 1e-6)
    scores, members = np.array([*MEMBERS, *OTHERS]), np.arange(8) < 4
    text = "The variance of an AUC is not that of DeLong: its intervals are too short or too long."
    yield near("delong-variance", 0.171875 / 6, intervals.delong(scores, members)[1], text)
    low, high = intervals.auc_interval(scores, members)
    yield near("delong-low", 0.329, low, text, 1e-3)
    yield near("delong-high", 0.974, high, text, 1e-3)
    yield from _bootstrap()


def _bootstrap() -> Lines:
    """Compare the bootstrap of one target's AUC with its variance under no leak, (m + n + 1) / (12 m n)."""
    rng = seeds.rng(SEED, "selftest", "bootstrap")
    scores, members = rng.normal(size=(1, 1000)), (np.arange(1000) % 2 == 0)[None]
    done = attack_audit.audit_attack("selftest", {}, scores, members, [0], rng=rng, replicates=1000)
    low, high = done.auc.interval
    width = 2 * 1.959964 * (1001 / (12 * 500 * 500)) ** 0.5
    text = "The bootstrap does not redraw what it must: intervals over models and records are too short or too long."
    yield within("bootstrap-width", 0.85, 1.15, (high - low) / width, text)
    inside = low <= done.auc.mean <= high
    yield Line(
        "bootstrap-holds-estimate",
        "the AUC between its limits",
        f"{low:.3f} <= {done.auc.mean:.3f} <= {high:.3f}",
        inside,
        text,
    )
