"""BASE3: plain loops, and its sign."""

import numpy as np
from attack_cases import problem, used

from reticent.attacks import score


def test_equals_the_plain_loops():
    case = problem(3, models=8, records=30, queries=2, targets=[1, 5], population=0)
    scores, known = np.zeros(case.shape), case.membership.matrix
    for row, target in enumerate(case.targets):
        kept = used(case, target, online=True)
        for query in range(2):
            for i, phi in enumerate(case.signals.margins[target, :, query]):
                values = case.signals.margins[:, i, query]
                inside, outside = values[kept[:, i] & known[:, i]], values[kept[:, i] & ~known[:, i]]
                squares = len(inside) * inside.var() + len(outside) * outside.var()
                variance = squares / (len(inside) + len(outside))
                middle = 0.5 * (inside.mean() + outside.mean())
                scores[row, i] += 0.5 * (inside.mean() - outside.mean()) / variance * (phi - middle)
    np.testing.assert_allclose(score("base3", case), scores, rtol=1e-6)


def test_swapping_in_and_out_negates_scores():
    case = problem(4, models=9, population=0, targets=[0], references=range(1, 9))
    other = problem(4, models=9, population=0, targets=[0], references=range(1, 9), membership=~case.membership.matrix)
    other.signals.margins[:] = case.signals.margins
    np.testing.assert_allclose(score("base3", other), -score("base3", case), rtol=1e-9)
