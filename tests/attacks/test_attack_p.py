"""Attack-P: the share of the population whose loss is at least as large."""

from dataclasses import replace

import numpy as np
import pytest
from attack_cases import problem

from reticent.attacks import Problem, parse, score
from reticent.data.membership import Membership
from reticent.signals.matrix import Signals


def margins_of(losses):
    """The log-odds of labels whose cross-entropies these are."""
    return -np.log(np.expm1(losses))


def test_example_of_the_algorithms_page():
    population = Signals.from_margins(margins_of([[0.1, 0.2, 0.4, 0.8]] * 2), [0, 1, 0, 1])
    audited = Signals.from_margins(margins_of([[0.3, 0.05, 0.9]] * 2), [0, 1, 0])
    case = Problem.make(audited, [[True, False, True], [False, True, False]], population=population)
    np.testing.assert_array_equal(1 - score("attack-p", case), [[0.5, 0.0, 1.0]] * 2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("population", [0, 25])
def test_scores_equal_a_plain_count_of_losses_with_ties(seed, population):
    case = problem(seed, models=4, records=20, population=population)
    rounded = replace(case, signals=replace(case.signals, margins=np.round(case.signals.margins)))
    if population:
        rounded = replace(rounded, population=replace(case.population, margins=np.round(case.population.margins)))
    losses = np.log1p(np.exp(-rounded.signals.margins[:, :, 0]))
    others = np.log1p(np.exp(-rounded.population.margins[:, :, 0])) if population else losses
    for target in range(4):
        for record in range(20):
            kept = [others[target, z] for z in range(others.shape[1]) if population or z != record]
            below = np.mean([one < losses[target, record] - 1e-12 for one in kept])
            assert score("attack-p", rounded)[target, record] == pytest.approx(1 - below, abs=1e-12)


def test_rmia_whose_references_know_nothing_is_attack_p():
    case = problem(2, models=6, targets=[0], references=range(1, 6))
    parts = [replace(one, margins=np.where(np.arange(6)[:, None, None] == 0, one.margins, 0.0), logits=None)
             for one in (case.signals, case.population)]  # fmt: skip
    known = replace(case, signals=parts[0], population=parts[1])
    rmia = parse({"method": "rmia", "mode": "offline", "a": 1.0, "gamma": 1.0, "temperature": 1.0})
    np.testing.assert_allclose(score(rmia, known), score("attack-p", known), atol=1e-12)


def test_one_model_alone_is_enough():
    case = problem(3, models=4)
    alone = Problem.make(
        Signals(case.signals.labels, case.signals.margins[:1], 3),
        Membership(case.membership.matrix[:1]),
        population=Signals(case.population.labels, case.population.margins[:1], 3),
    )
    np.testing.assert_array_equal(score("attack-p", alone)[0], score("attack-p", case)[0])
