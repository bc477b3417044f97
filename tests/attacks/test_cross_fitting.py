"""Who learns for whom, from which records, in equal numbers."""

from dataclasses import replace

import numpy as np
import pytest
from attack_cases import problem

from reticent import seeds
from reticent.attacks import Problem
from reticent.attacks.cross_fitting import HELD, folds, groups, held, pairs, words
from reticent.signals.matrix import Signals


def drawn(case, references, chosen=None, most=None):
    word = words(case, seeds.rng(0, "x"))
    chosen = np.arange(case.signals.records) if chosen is None else chosen
    return pairs(case, np.asarray(references), chosen, word, most)


def test_no_target_is_a_reference_of_its_own_group():
    found = list(groups(problem(0, models=12, records=30, population=0), 5))
    assert sorted(target for one in found for target in one.targets) == list(range(12))
    for one in found:
        number = one.targets[0] % 5
        assert (one.targets % 5 == number).all()
        np.testing.assert_array_equal(one.references, [model for model in range(12) if model % 5 != number])


def test_targets_are_alone_where_all_references_share_their_number():
    case = problem(0, models=12, records=30, population=0, references=[1, 5, 9], targets=[1, 5, 2])
    found = {tuple(one.targets): (one.name, one.references.tolist()) for one in groups(case, 4)}
    assert found == {
        (1,): (("target", 1), [5, 9]),
        (5,): (("target", 5), [1, 9]),
        (2,): (("group", 2), [1, 5, 9]),
    }


def test_so_many_references_are_taken_as_are_asked_for():
    case = problem(0, models=12, records=30, population=0)
    for one in groups(case, 3, references=2):
        assert len(set(one.references.tolist())) == 2
        assert (one.references % 3 != one.targets[0] % 3).all()
    assert len({tuple(one.references) for one in groups(case, 3, references=2)}) == 3


def test_a_pair_is_one_record_with_a_member_and_a_non_member():
    case = problem(1, models=9, records=80, population=0)
    references, chosen = [1, 2, 4, 5, 7], np.arange(10, 60)
    found = drawn(case, references, chosen)
    half = len(found.models) // 2
    assert found.members.sum() == half
    np.testing.assert_array_equal(case.membership.matrix[found.models, found.records], found.members)
    np.testing.assert_array_equal(found.records[:half], found.records[half:])
    assert np.isin(found.records, chosen).all()
    assert np.isin(found.models, references).all()
    assert len({*zip(found.models.tolist(), found.records.tolist(), strict=True)}) == 2 * half
    inside = case.membership.matrix[references][:, chosen]
    assert half == np.minimum(inside.sum(axis=0), (~inside).sum(axis=0)).sum()


@pytest.mark.parametrize("most", [10, 60, 250])
def test_every_record_gives_as_many_pairs_as_the_others(most):
    found = drawn(problem(1, models=16, records=40, population=0), range(16), most=most)
    assert len(found.models) == most
    counts = np.bincount(found.records[: most // 2], minlength=40)
    assert counts.max() - counts.min() <= 1


def test_pairs_follow_from_what_models_say_and_not_from_the_place():
    case = problem(2, models=8, records=50, population=0)
    order = np.random.default_rng(0).permutation(50)
    one, other = drawn(case, range(8), most=60), drawn(case.among(order), range(8), most=60)
    np.testing.assert_array_equal(one.models, other.models)
    np.testing.assert_array_equal(one.records, order[other.records])


def test_with_one_reference_a_pair_is_two_records_of_one_label():
    case = problem(3, models=4, records=90, population=0)
    found = drawn(case, [2])
    half = len(found.models) // 2
    labels = case.signals.labels
    assert (found.models == 2).all()
    np.testing.assert_array_equal(case.membership.matrix[2, found.records], found.members)
    np.testing.assert_array_equal(labels[found.records[:half]], labels[found.records[half:]])
    least = [min((labels == c)[case.membership.matrix[2] == kind].sum() for kind in (True, False)) for c in range(3)]
    assert half == sum(least)
    assert len(drawn(case, [2], most=20).models) == 20


def test_a_class_without_members_gives_no_pairs():
    case = problem(3, models=4, records=90, population=0)
    known = case.membership.matrix & (case.signals.labels != 1)
    assert not (
        case.signals.labels[drawn(replace(case, membership=type(case.membership)(known)), [2]).records] == 1
    ).any()
    alone = Problem.make(
        Signals.from_margins(np.arange(8.0).reshape(2, 4), [0, 0, 1, 1]), np.array([[1, 1, 0, 0], [0, 1, 0, 1]]) == 1
    )
    assert len(drawn(alone, [0]).models) == 0


@pytest.mark.parametrize("count", [2, 5])
def test_records_held_out_are_one_in_five_of_every_fold(count):
    word = words(problem(4, models=8, records=200, population=0), seeds.rng(0, "x"))
    fold, out = folds(word, count), held(word, count)
    assert [out[fold == part].sum() for part in range(count)] == [200 // count // HELD] * count
    twice = np.concatenate([word, word])
    assert (held(twice, count)[:200] == held(twice, count)[200:]).all()
