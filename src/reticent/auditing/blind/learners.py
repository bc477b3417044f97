"""The classifier of the blind baseline: logistic regression and boosted trees, whose answers are added up.

Their sum is one score, fixed in advance: choosing the better of the two on the judged records would need a correction.
"""

import warnings

import numpy as np

from reticent.arrays import Bools, Floats
from reticent.threads import one_thread

COLUMNS = 256
"""Features that are learned from: those whose means differ most in the training folds."""
TREES, DEPTH, RATE = 100, 3, 0.05
L2 = 10.0
"""Penalty of the logistic regression, of standardised features."""


def told_apart(x: Floats, members: Bools, judged: Floats, seed: int) -> Floats:
    """Learn who is a member, and score other records.

    From ``(n, D)`` features and ``(k, D)`` judged ones: ``(k,)``, the sum of the two learners' log-odds.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # 1.5 s to import
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    mean, std = x.mean(axis=0), x.std(axis=0)
    gap = np.abs(x[members].mean(axis=0) - x[~members].mean(axis=0)) / np.where(std > 0, std, 1.0)
    kept = np.sort(np.argsort(-gap, kind="stable")[:COLUMNS])
    kept = kept[std[kept] > 0]
    if not len(kept):
        return np.zeros(len(judged))
    known, asked = ((values[:, kept] - mean[kept]) / std[kept] for values in (x, judged))
    total = np.zeros(len(judged))
    learners = (
        LogisticRegression(C=1 / L2, max_iter=1000),
        HistGradientBoostingClassifier(
            max_iter=TREES, max_depth=DEPTH, learning_rate=RATE, early_stopping=False, random_state=seed % 2**32
        ),
    )
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for learner in learners:
            total += learner.fit(known, members).decision_function(asked)
    return total
