"""What learns membership from features: gradient-boosted trees or, of few rows, a logistic regression."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from reticent.attacks.learned.options import Learned
from reticent.attacks.learned.trees import Trees
from reticent.signals.matrix import Floats

Features = NDArray[np.float32]
Rule = Callable[[Features], Floats]
"""From features ``(n, F)`` to log-odds of membership ``(n,)``, more than what all records have."""
LEAF = 100
"""Fewest rows in a leaf."""
PENALTY = 1.0
"""Of squared values of leaves, and of squared coefficients at least."""
SETTLED = 1e-4
"""Largest step of a coefficient at which the regression is done; its penalty changes by no more than ten times that."""
FAR = 5.0
"""Standard deviations at which the logistic regression's features are cut."""
STEPS = 25


def learn(spec: Learned, rows: Features, members: NDArray[np.bool_]) -> Rule:
    """Learn a rule from rows ``(K, F)`` and members ``(K,)``; their order counts in the last bits.

    Cost: O(rows F) a tree, or O(rows F^2) a step of the regression.
    """
    known = float(members.mean()) if len(members) else 0.0
    if not 0 < known < 1 or (rows == rows[0]).all():
        return lambda asked: np.zeros(len(asked))
    usual = np.log(known / (1 - known))
    few = spec.learner == "auto" and len(rows) < spec.enough
    return _logistic(rows, members, usual) if few or spec.learner == "logistic" else _trees(spec, rows, members, usual)


def _trees(spec: Learned, rows: Features, members: NDArray[np.bool_], usual: float) -> Rule:
    from sklearn.ensemble import HistGradientBoostingClassifier

    fitted = HistGradientBoostingClassifier(
        max_iter=spec.rounds,
        learning_rate=spec.rate,
        max_leaf_nodes=spec.leaves,
        min_samples_leaf=LEAF,
        l2_regularization=PENALTY,
        early_stopping=False,
        random_state=0,
    ).fit(rows, members)
    trees = Trees.of(fitted, rows) or fitted.decision_function

    def rule(asked: Features) -> Floats:
        return np.asarray(trees(asked) - usual) if len(asked) else np.zeros(0)

    return rule


def _logistic(rows: Features, members: NDArray[np.bool_], usual: float) -> Rule:
    """Fit by Newton's steps; features are centred, scaled and cut.

    The penalty of squared coefficients is the one under which they are most likely (MacKay, 1992, "The evidence
    framework applied to classification networks"): the number of coefficients that the rows determine over the sum of
    squares. Where features tell little, a fixed one that suits a large leak would fit what is there by chance.
    """
    centre, spread = rows.mean(axis=0, dtype=np.float64), rows.std(axis=0, dtype=np.float64)
    varies = spread > 1e-9 * (1 + np.abs(centre))

    def scaled(values: Features) -> Floats:
        return np.asarray(np.clip((values[:, varies] - centre[varies]) / spread[varies], -FAR, FAR))

    x = np.column_stack([scaled(rows), np.ones(len(rows))])
    weights, penalty, penalised = np.zeros(x.shape[1]), PENALTY, np.append(np.ones(x.shape[1] - 1), 0.0)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-(x @ weights)))
        known = (x * (p * (1 - p))[:, None]).T @ x
        slope = x.T @ (p - members) + penalty * penalised * weights
        step = np.linalg.solve(known + np.diag(penalty * penalised), slope)
        weights -= step
        told = np.maximum(np.linalg.eigvalsh(known[:-1, :-1]), 0.0)
        likely = (told / (told + penalty)).sum() / max((weights[:-1] ** 2).sum(), 1 / len(rows))
        likely = min(max(likely, PENALTY), len(rows))
        settled = np.abs(step).max() < SETTLED and abs(likely / penalty - 1) < 10 * SETTLED
        penalty = likely
        if settled:
            break

    def rule(asked: Features) -> Floats:
        result = np.full(len(asked), weights[-1] - usual)
        for column, weight in zip(scaled(asked).T, weights, strict=False):  # by itself, whatever is asked along with it
            result += weight * column
        return result

    return rule
