"""Whether membership depends on what a record is, told by models that were not trained on it."""

import numpy as np
import pytest

from reticent.auditing.difficulty import difficulty

RECORDS = 600


def drawn(kind, models, rng, easier=0.5):
    """Draw a design ``(M, N)`` and records' easiness ``(N,)``; each is a member with probability `easier` if easy."""
    easy = rng.normal(0, 1.5, RECORDS)
    if kind == "halves":
        return rng.permuted(np.tile(np.arange(models)[:, None] < models // 2, (1, RECORDS)), axis=0), easy
    if kind == "all but one of halves":
        return rng.permuted(np.tile(np.arange(models + 1)[:, None] < (models + 1) // 2, (1, RECORDS)), axis=0)[1:], easy
    if kind == "complements":
        matrix = rng.random((models, RECORDS)) < 0.5
        matrix[1::2] = ~matrix[::2]
        return matrix, easy
    if kind == "folds":
        return rng.integers(0, models, RECORDS) == np.arange(models)[:, None], easy
    if kind == "persons":  # Three records each, equally easy.
        return np.repeat(rng.random((models, RECORDS // 3)) < 0.5, 3, axis=1), np.repeat(easy[::3], 3)
    if kind == "checkpoints":  # Of so many runs by two.
        return np.repeat(rng.random(((models + 1) // 2, RECORDS)) < 0.5, 2, axis=0)[:models], easy
    if kind == "most":
        return rng.random((models, RECORDS)) < 0.9, easy
    return rng.random((models, RECORDS)) < np.where(easy > 0, easier, 1 - easier), easy


def told(kind, models, easier=0.5, seeds=100):
    """Tell in which share of populations that leak, with skewed margins of different scales, difficulty is told."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        matrix, easy = drawn(kind, models, rng, easier)
        noise = rng.exponential(1, matrix.shape) * np.linspace(1, 2, models)[:, None]
        margins = easy + noise + matrix * rng.exponential(2, RECORDS)
        found.append(difficulty(lambda model, margins=margins: margins[model], matrix, np.arange(models)))
    return np.mean([one is not None for one in found]), [one for one in found if one is not None]


KINDS = "coins", "halves", "all but one of halves", "complements", "folds", "persons", "checkpoints", "most"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("models", [2, 4, 10])
def test_who_is_a_member_by_chance_is_not_told_by_difficulty(kind, models):
    assert told(kind, models)[0] <= 0.03


@pytest.mark.parametrize(("easier", "models"), [(0.6, 6), (0.4, 6), (0.55, 12)])
def test_easier_or_harder_records_that_are_members_more_often_are_told(easier, models):
    share, areas = told("coins", models, easier)
    assert share >= 0.9
    assert all((area > 0.5) == (easier > 0.5) for area in areas)


def test_one_target_with_easy_members_is_judged_by_itself_among_fair_references():
    found = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        matrix, easy = drawn("coins", 33, rng)
        matrix[0] = rng.random(RECORDS) < np.where(easy > 0, 0.65, 0.35)
        margins = easy + rng.normal(size=matrix.shape)
        found.append([difficulty(lambda model: margins[model], matrix, np.array([at])) is not None for at in (0, 1)])  # noqa: B023
    assert np.mean(found, axis=0) == pytest.approx([0.9, 0.0], abs=0.1)


def test_where_no_model_tells_of_another_nothing_is_told():
    one = np.arange(RECORDS) % 2 == 0
    assert difficulty(lambda _: np.arange(RECORDS), one[None], np.arange(1)) is None
    assert difficulty(lambda _: np.arange(RECORDS), np.stack([one, ~one]), np.arange(2)) is None
    assert difficulty(lambda _: np.zeros(RECORDS), np.stack([one, np.roll(one, RECORDS // 3)]), np.arange(2)) is None


def test_the_area_is_a_share_of_pairs():
    rng = np.random.default_rng(0)
    matrix, easy = drawn("coins", 5, rng, easier=0.7)
    margins = easy + rng.normal(size=matrix.shape)
    areas = np.full((5, 5), np.nan)
    for asked, model in np.ndindex(5, 5):
        if asked != model:
            inside = margins[asked, ~matrix[asked] & matrix[model]]
            areas[asked, model] = (inside[:, None] > margins[asked, ~matrix[asked] & ~matrix[model]]).mean()
    of_models = np.nanmean(areas, axis=0)
    assert difficulty(lambda model: margins[model], matrix, np.arange(5)) == pytest.approx(of_models.mean(), abs=1e-12)
