"""IMIA: against a slow twin, by hand, and on imitators that find what references that saw other records do not."""

from dataclasses import replace

import numpy as np
import pytest
from attack_cases import auc, problem, used

from reticent.attacks import Problem, score
from reticent.attacks.base import Imitators
from reticent.attacks.imia import Imia
from reticent.errors import InputError, TooFewReferencesError
from reticent.signals.matrix import Signals


def worked(phi, inside, outside):
    """The score of one record of margin phi, with IN and OUT where they are told; a second record fills the places."""
    margins = np.array([[phi, 0.0], [inside, 0.0], [9.0, 0.0]])
    known = np.array([[True, False], [True, False], [False, True]])
    mimics = Imitators(np.array([[[outside], [0.0]], [[7.0], [0.0]]]), np.array([[False, True], [True, False]]))
    signals = Signals(np.array([0, 1]), margins[:, :, None], 3)
    case = Problem.make(signals, known, targets=[0], references=[1, 2], imitators={0: mimics})
    return score(Imia(), case)[0, 0]


@pytest.mark.parametrize(
    ("phi", "inside", "outside", "expected"),
    [(2.5, 3.0, 1.0, 2.0), (0.5, 3.0, 1.0, -6.0), (2.0, 3.0, 1.0, 0.0), (2.5, 1.0, 3.0, 0.0), (0.5, 1.0, 3.0, 0.0)],
)
def test_by_hand(phi, inside, outside, expected):
    assert worked(phi, inside, outside) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize("models", [8, 9])
def test_against_a_slow_twin(models, queries):
    case = problem(41, models=models, records=40, queries=queries)
    found = score(Imia(), case)
    for target in (0, 5):
        kept = used(case, target, online=True) & case.membership.matrix
        mimics = case.imitators[target]
        for record in range(40):
            terms, gaps = [], []
            for query in range(queries):
                inside = case.signals.margins[kept[:, record], record, query].mean()
                outside = mimics.margins[~mimics.inside[:, record], record, query].mean()
                phi = case.signals.margins[target, record, query]
                terms.append((outside - phi) ** 2 - (inside - phi) ** 2)
                gaps.append(inside - outside)
            expected = 0.0 if np.mean(gaps) < 0 else np.mean(terms)
            assert found[target, record] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_no_imitator_that_was_trained_on_a_record_says_anything_of_it():
    case = problem(42)
    other = {
        target: Imitators(np.where(one.inside[..., None], 50.0, one.margins), one.inside)
        for target, one in case.imitators.items()
    }
    assert score(Imia(), replace(case, imitators=other)).tobytes() == score(Imia(), case).tobytes()


def test_imitators_of_other_targets_change_no_bit():
    case = problem(43)
    alone = replace(case, targets=np.array([3]), imitators={3: case.imitators[3]})
    assert score(Imia(), alone).tobytes() == score(Imia(), case)[[3]].tobytes()


def test_it_finds_what_is_the_targets_own_where_references_do_not_know_it():
    """Each model has a liking of its own for each record, larger than what membership adds, which imitators share."""
    rng = np.random.default_rng(0)
    case = problem(44, models=16, records=800, effect=1.0, population=0, targets=[0])
    known, liking = case.membership.matrix, rng.normal(0, 3, (16, 800))
    margins = np.asarray(case.signals.margins)[..., 0] + liking
    mimics = Imitators(case.imitators[0].margins + liking[0][:, None], case.imitators[0].inside)
    signals = Signals(case.signals.labels, margins[:, :, None], 3)
    given = Problem.make(signals, known, targets=[0], imitators={0: mimics})
    areas = {name: auc(score(name, given)[0], known[0]) for name in ("imia", "lira")}
    assert areas["imia"] > areas["lira"] + 0.05


def test_a_target_without_imitators_is_named():
    case = problem(45)
    lacking = replace(case, imitators={0: case.imitators[0]})
    with pytest.raises(TooFewReferencesError, match="imia: expected models that imitate target 1, got none"):
        score(Imia(), lacking)
    with pytest.raises(InputError, match=r"imia: expected models that were trained .* or leave this attack out"):
        score(Imia(), replace(case, imitators=None))
