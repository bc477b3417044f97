"""Transferred thresholds: exact answers on small cases, and nothing learned from the audited target."""

import numpy as np
import pytest
from balanced_twin import balanced_accuracy_at

from reticent.auditing import roc, transferred_threshold


def test_the_threshold_comes_from_the_other_targets():
    members = np.tile(np.arange(6) < 3, (3, 1))
    base = np.array([5.0, 4, 3, 2, 1, 0])
    scores = np.stack([base, base, base + 10])
    chosen = transferred_threshold.thresholds(scores, members)
    # For the last target the other two agree on 3; its own scores say 13.
    assert chosen[2] == 3
    assert balanced_accuracy_at(scores[2], members[2], chosen[2]) == 0.5


def test_changing_a_targets_membership_does_not_move_its_threshold():
    rng = np.random.default_rng(0)
    scores, members = rng.normal(size=(5, 300)), rng.random((5, 300)) < 0.5
    before = transferred_threshold.thresholds(scores + members, members)
    changed = members.copy()
    changed[2] = ~changed[2]
    after = transferred_threshold.thresholds(scores + members, changed)
    assert after[2] == before[2]
    assert not np.array_equal(after, before)


def test_equals_brute_force_over_all_thresholds():
    rng = np.random.default_rng(1)
    members = rng.random((4, 80)) < 0.5
    scores = np.round(3 * (rng.normal(size=(4, 80)) + members))
    chosen = transferred_threshold.thresholds(scores, members)
    for target in range(4):
        others = [t for t in range(4) if t != target]

        def quality(threshold, others=others):
            return np.mean([balanced_accuracy_at(scores[t], members[t], threshold) for t in others])

        assert quality(chosen[target]) == pytest.approx(max(quality(x) for x in np.unique(scores)), abs=1e-12)


def test_references_are_used_in_place_of_the_other_targets():
    members = np.arange(6) < 3
    scores = np.array([[5.0, 4, 3, 2, 1, 0]])
    assert transferred_threshold.thresholds(scores, members[None]) is None
    reference = (scores - 1, members[None])
    assert transferred_threshold.thresholds(scores, members[None], reference).tolist() == [2.0]
    assert transferred_threshold.thresholds(
        np.repeat(scores, 2, 0), np.repeat(members[None], 2, 0), reference
    ).tolist() == [2, 2]


def test_of_equally_good_thresholds_the_middle_one_is_taken():
    scores, members = np.array([[5.0, 4, 3, 2, 1, 0]]), np.tile([True, False], 3)[None]
    assert transferred_threshold.thresholds(scores, members, (scores, members)).tolist() == [3.0]


def test_candidates_are_all_distinct_scores_or_quantiles():
    assert transferred_threshold.candidates(np.array([0.0, 1.0, 1.0, 2.0])).tolist() == [0, 1, 2]
    many = np.random.default_rng(0).normal(size=(10, 1000))
    grid = transferred_threshold.candidates(transferred_threshold.pooled(many))
    assert len(grid) == transferred_threshold.GRID
    assert np.isin(grid, many).all()
    assert (grid[0], grid[-1]) == (many.min(), many.max())


def test_transferred_accuracy_is_not_optimistic_on_a_null():
    rng = np.random.default_rng(2)
    scores, members = rng.normal(size=(40, 100)), rng.random((40, 100)) < 0.5
    chosen = transferred_threshold.thresholds(scores, members)
    accuracy = [balanced_accuracy_at(s, m, x) for s, m, x in zip(scores, members, chosen, strict=True)]
    oracle = [roc.roc(s, m).balanced_accuracy()[0] for s, m in zip(scores, members, strict=True)]
    assert np.mean(accuracy) == pytest.approx(0.5, abs=4 * 0.05 / np.sqrt(40))
    assert np.mean(oracle) > 0.56
