"""When records are called in unequal shares of the models.

Measured over 500 seeds, with 3, 5, 8, 16 and 64 models and 300 or 1,000 records: fair draws of each kind below are
called in at most 1.0 % of audits of 5 models or more, and 1.8 % of 3. While the records of a person counted as
independent, persons were called in 10 to 20 %, and 30 % in one of 8 models beside halves were never called.
"""

import numpy as np
import pytest

from reticent.auditing.shares import shares

RECORDS = 600


def coins(rng, models, probability=0.5):
    return rng.random((models, RECORDS)) < probability


def persons(rng, models, least, most):
    whose = np.repeat(np.arange(RECORDS), rng.integers(least, most + 1, RECORDS))[:RECORDS]
    return coins(rng, models)[:, whose]


def exactly(rng, models, held):
    return rng.random((models, RECORDS)).argsort(axis=0) < held


def harder(rng, models):
    return coins(rng, models, 1 / (1 + np.exp(-2 * rng.normal(size=RECORDS))))


FAIR = {
    "coins": coins,
    "few": lambda rng, models: coins(rng, models, 0.2),
    "pairs": lambda rng, models: persons(rng, models, 2, 2),
    "persons": lambda rng, models: persons(rng, models, 2, 20),
    "groups": lambda rng, models: persons(rng, models, 60, 60),
    "halves": lambda rng, models: exactly(rng, models, models // 2),
    "folds": lambda rng, models: exactly(rng, models, models - 1),
    "sizes": lambda rng, models: coins(rng, models, np.linspace(0.3, 0.7, models)[:, None]),
    "rows": lambda rng, models: rng.random((models, RECORDS)).argsort(axis=1) < RECORDS // 2,
    "one split": lambda rng, models: np.tile(rng.random(RECORDS) < 0.5, (models, 1)),
    "checkpoints": lambda rng, models: np.repeat(coins(rng, models), 3, axis=0),
}
UNEQUAL = {
    "one of them, and coins": lambda rng, models: np.where(
        rng.random(RECORDS) < 0.3, exactly(rng, models, 1), coins(rng, models)
    ),
    "one of them, and halves": lambda rng, models: np.where(
        rng.random(RECORDS) < 0.3, exactly(rng, models, 1), exactly(rng, models, models // 2)
    ),
    "all of them, and halves": lambda rng, models: (rng.random(RECORDS) < 0.1) | exactly(rng, models, models // 2),
    "beta": lambda rng, models: coins(rng, models, rng.beta(2, 2, RECORDS)),
    "difficulty": harder,
    "sizes": lambda rng, models: (
        rng.random((models, RECORDS))
        < 1 / (1 + np.exp(-0.6 * rng.normal(size=RECORDS) - np.linspace(-1, 1, models)[:, None]))
    ),
    "difficulty of persons": lambda rng, models: harder(rng, models)[:, np.arange(RECORDS) // 4 * 4],
}


@pytest.mark.parametrize("models", [5, 8, 32])
@pytest.mark.parametrize("kind", FAIR)
def test_fair_draws_of_records_and_of_persons_are_seldom_called_unequal(kind, models):
    called = [
        shares(FAIR[kind](np.random.default_rng(seed), models), np.arange(RECORDS)) is not None for seed in range(60)
    ]
    assert sum(called) <= 2


@pytest.mark.parametrize("models", [8, 32])
@pytest.mark.parametrize("kind", UNEQUAL)
def test_records_in_unequal_shares_are_called_so(kind, models):
    drawn = [UNEQUAL[kind](np.random.default_rng(seed), models) for seed in range(10)]
    found = [shares(one, np.arange(RECORDS)) for one in drawn]
    assert sum(one is not None for one in found) >= 9
    for one, membership in zip(found, drawn, strict=True):
        assert one in {None, (membership.mean(axis=0).min(), membership.mean(axis=0).max())}


def test_the_records_that_are_asked_about_alone_count():
    rng = np.random.default_rng(0)
    both = np.concatenate([coins(rng, 8), coins(rng, 8, 0.1)], axis=1)
    assert shares(both, np.arange(2 * RECORDS)) is not None
    assert shares(both, np.arange(RECORDS)) is None
    assert shares(both, np.arange(2 * RECORDS) < RECORDS) is None


@pytest.mark.parametrize("membership", [np.ones((4, 9), bool), np.zeros((4, 9), bool), np.arange(9)[None] < 4])
def test_one_model_and_records_of_one_kind_have_no_shares(membership):
    assert shares(membership, np.arange(9)) is None
