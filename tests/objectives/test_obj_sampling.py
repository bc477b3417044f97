"""Drawing records: shuffled batches without end, and records by their class."""

from collections import Counter

import torch
from hypothesis import given
from hypothesis import strategies as st

from reticent.objectives import Examples
from reticent.objectives._sampling import ClassIndex, EndlessBatches


def deck(count, size, seed=0):
    examples = Examples(torch.arange(count), torch.arange(count) % 3)
    return EndlessBatches(examples, size, torch.Generator().manual_seed(seed))


@given(st.integers(1, 9), st.integers(1, 12), st.integers(1, 6))
def test_every_record_comes_once_before_any_comes_again(count, size, batches):
    cards = deck(count, size)
    assert cards.size == min(size, count)
    drawn = []
    for _ in range(batches):
        batch = cards.deal()
        assert len(batch) == cards.size
        assert batch.y.tolist() == [row % 3 for row in batch.x.tolist()]
        drawn += batch.x.tolist()
    for start in range(0, len(drawn), count):
        assert max(Counter(drawn[start : start + count]).values()) == 1


def test_passes_are_shuffled_anew_and_repeated_by_the_seed():
    passes = [deck(50, 50).deal().x.tolist(), *(c.deal().x.tolist() for c in [deck(50, 50)] * 2)]
    assert passes[0] == passes[1] != passes[2]
    assert sorted(passes[2]) == list(range(50))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20))
def test_places_within_classes(labels):
    found = ClassIndex(torch.tensor(labels), 6)
    assert found.count.tolist() == [labels.count(c) for c in range(6)]
    for row, label in enumerate(labels):
        assert found.place[row] == labels[:row].count(label)
        assert found.order[found.start[label] + found.place[row]] == row
