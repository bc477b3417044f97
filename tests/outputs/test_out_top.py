import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reticent.outputs._top import LARGEST, keep_top

NUMBERS = st.one_of(
    st.floats(-1e37, 1e37),
    st.floats(-2, 2),
    st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-24, 1 - 2**-25, 2**-126, 2**-149, -(2**-149), 2.0**20, 2.0**20 - 2**-4]),
)
ROWS = arrays("float64", (3, 4), elements=NUMBERS)


def double(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def test_answers_with_the_right_top_come_back_bit_for_bit():
    logits = double([0.0, 3.0, 1.0], [-5.0, -7.0, -9.0])
    answers = double([0.25, 0.3, 0.2], [1e-20, 0.0, -1e-300])
    assert torch.equal(keep_top(answers, logits), answers)


def test_a_tie_is_broken_by_the_least_step_that_can_be_stored():
    told = keep_top(double([0.5, 0.5, 0.1]), double([1.0, 2.0, 0.0])).float()
    assert told.tolist()[0][1] == 0.5
    assert 0.5 * (1 - 2**-22) <= told[0, 0] < 0.5
    assert told[0, 2] == torch.tensor(0.1)


def test_the_top_column_takes_the_largest_number_where_a_defense_gave_it_to_another():
    told = keep_top(double([9.0, 1.0, 4.0]), double([0.0, 1.0, 0.5])).float()[0]
    assert told[1] == 9
    assert 9 * (1 - 2**-22) <= told[0] < 9
    assert told[2] == 4


def test_ties_of_the_model_stay_ties():
    assert keep_top(double([3.0, 2.0, 1.0]), double([5.0, 5.0, 4.0])).tolist() == [[3.0, 3.0, 1.0]]
    # So close that they are one number once stored.
    assert keep_top(double([3.0, 2.0, 1.0]), double([5.0, 5.0 + 1e-9, 4.0])).tolist() == [[3.0, 3.0, 1.0]]


def test_numbers_are_bounded_on_both_sides():
    told = keep_top(double([1e300, -1e300, 2e37], [-1e300, -1e300, -1e300]), double([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]))
    assert bool((told.abs() <= LARGEST).all())
    assert told.float().argmax(dim=1).tolist() == [2, 2]
    assert keep_top(double([torch.inf, 0.0], [0.0, -torch.inf]), double([1.0, 0.0], [1.0, 0.0])).tolist() == [
        [1e37, 0.0],
        [0.0, -1e37],
    ]


@settings(max_examples=60, deadline=None)
@given(answers=ROWS, logits=ROWS)
def test_once_stored_the_same_columns_are_on_top(answers, logits):
    made, own = keep_top(torch.from_numpy(answers), torch.from_numpy(logits)).float(), torch.from_numpy(logits).float()
    assert torch.equal(made == made.amax(dim=1, keepdim=True), own == own.amax(dim=1, keepdim=True))
    assert bool((made.double().abs() <= LARGEST * (1 + 1e-7)).all())


@settings(max_examples=60, deadline=None)
@given(answers=ROWS, logits=ROWS)
def test_it_is_its_own_repetition(answers, logits):
    own = torch.from_numpy(logits)
    once = keep_top(torch.from_numpy(answers), own)
    assert torch.equal(keep_top(once, own), once)


@settings(max_examples=60, deadline=None)
@given(answers=ROWS, logits=ROWS)
def test_no_column_below_the_top_is_raised_and_their_order_stays(answers, logits):
    own, given_ = torch.from_numpy(logits), torch.from_numpy(answers)
    made = keep_top(given_, own)
    top = own.float() == own.float().amax(dim=1, keepdim=True)
    assert bool((made <= given_)[~top].all())
    for row, before, out in zip(made, given_, top, strict=True):
        others, first = row[~out], before[~out]
        assert torch.equal(others[first.argsort(stable=True)], others.sort().values)
