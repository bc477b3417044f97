import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.errors import InputError, NonFiniteError
from reticent.locate.scoring import Scores
from reticent.locate.topk_mask import jaccard, shuffled_mask, topk_mask


def marked(masks):
    return torch.cat([mask.reshape(-1) for mask in masks.values()])


def naive(scores, k):
    """Sort all entries, the first of equal ones first."""
    flat = torch.cat([value.reshape(-1).double() for value in scores.values()]).numpy()
    mask = np.zeros(len(flat), dtype=bool)
    mask[np.argsort(-flat, kind="stable")[:k]] = True
    return torch.from_numpy(mask)


def test_the_papers_quantile_on_four_scores():
    assert marked(topk_mask({"w": torch.tensor([0.1, 0.9, 0.5, 0.3])}, 0.5)).tolist() == [False, True, True, False]


@settings(max_examples=50, deadline=None)
@given(data=st.data(), rate=st.floats(0, 1), wide=st.booleans())
def test_exactly_k_entries_are_marked_and_ties_go_by_place(data, rate, wide):
    kind = torch.float64 if wide else torch.float32
    some = st.sampled_from([0.0, -0.0, 1e-45, 1.0, 1.0000001, 3.0, 3e38, -2.0, -1e-45, 0.25])
    shapes = data.draw(st.lists(st.sampled_from([(), (3,), (2, 5), (1,), (0,), (4, 1, 3)]), min_size=1, max_size=4))
    scores = {}
    for i, shape in enumerate(shapes):
        count = int(np.prod(shape))
        values = data.draw(st.lists(some, min_size=count, max_size=count))
        scores[f"p{i}"] = torch.tensor(values, dtype=kind).reshape(shape)
    k = round(rate * sum(value.numel() for value in scores.values()))
    found = topk_mask(scores, rate)
    assert {name: mask.shape for name, mask in found.items()} == {name: v.shape for name, v in scores.items()}
    assert int(marked(found).sum()) == k
    assert torch.equal(marked(found), naive(scores, k))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_many_ties_in_numbers_of_every_kind(dtype):
    generator = torch.Generator().manual_seed(0)
    scores = {name: torch.rand(40, 7, generator=generator).round(decimals=2).to(dtype) for name in "abc"}
    for k in (1, 252, 839):
        assert torch.equal(marked(topk_mask(scores, k / 840)), naive(scores, k))
    assert all(value.dtype == dtype for value in scores.values())


def test_scores_are_left_as_they_are():
    scores = torch.rand(50, generator=torch.Generator().manual_seed(1))
    before = scores.clone()
    topk_mask({"w": scores}, 0.3)
    assert torch.equal(scores, before)


def test_scores_whose_difference_float32_cannot_hold_are_told_apart_in_float64():
    scores = {"w": torch.tensor([1.0, 1.0 + 1e-12, 1.0 - 1e-12], dtype=torch.float64)}
    assert topk_mask(scores, 1 / 3)["w"].tolist() == [False, True, False]


def test_a_tensor_that_is_not_contiguous_is_read_in_its_own_order():
    scores = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(topk_mask({"w": scores.T}, 0.5)["w"], topk_mask({"w": scores}, 0.5)["w"].T)


def test_a_layer_is_a_module_with_all_its_own_parameters():
    scores = {
        "a.weight": torch.tensor([9.0, 8.0, 7.0]),
        "a.bias": torch.tensor([1.0]),
        "b.weight": torch.tensor([0.5, 0.7]),
    }
    found = topk_mask(scores, 0.5, "layer")
    assert found["a.weight"].tolist() == [True, True, False]
    assert found["a.bias"].tolist() == [False]
    assert int(found["b.weight"].sum()) == 1


def test_parameters_without_a_gradient_are_never_taken_not_even_all_of_them():
    scores = Scores({"a": torch.zeros(3), "b": torch.zeros(2), "c": torch.ones(1)}, unused=["a"])
    found = topk_mask(scores, 1.0)
    assert found["a"].tolist() == [False] * 3
    assert found["b"].all()
    assert found["c"].all()
    assert int(marked(topk_mask(scores, 0.5)).sum()) == 3
    assert topk_mask(dict(scores), 0.5)["a"].tolist() == [True, True, False]
    assert not topk_mask(dict(scores), 1.0, unused=["b"])["b"].any()


def test_overlap_of_masks():
    a = {"w": torch.tensor([True, True, False, False]), "v": torch.tensor([True])}
    b = {"w": torch.tensor([True, False, True, False]), "v": torch.tensor([True])}
    assert jaccard(a, b) == 0.5
    assert jaccard(a, a) == 1.0
    assert jaccard({"w": torch.zeros(2, dtype=torch.bool)}, {"w": torch.zeros(2, dtype=torch.bool)}) == 1.0
    with pytest.raises(InputError, match="same parameters and shapes"):
        jaccard(a, {"w": b["w"]})


def test_bad_arguments_are_named():
    scores = {"w": torch.ones(3)}
    with pytest.raises(InputError, match=r"rate: expected a share from 0 to 1, got 1\.5"):
        topk_mask(scores, 1.5)
    with pytest.raises(InputError, match="scope: expected 'global' or 'layer', got 'all'"):
        topk_mask(scores, 0.5, "all")
    with pytest.raises(InputError, match="at least one parameter"):
        topk_mask({}, 0.5)
    with pytest.raises(NonFiniteError, match="scores of w: expected finite"):
        topk_mask({"w": torch.tensor([1.0, float("nan")])}, 0.5)


def test_a_shuffled_mask_has_as_many_entries_of_each_parameter_and_other_ones():
    big, gain = (torch.rand(shape, generator=torch.Generator().manual_seed(2)) for shape in ((300, 40), (30,)))
    scores = {"big": big, "gain": 10 + gain, "one": torch.tensor(5.0), "none": torch.zeros(0)}
    masks = [topk_mask(scores, rate) for rate in (0.003, 0.01)]
    few, many = (shuffled_mask(mask, torch.Generator().manual_seed(0)) for mask in masks)
    for name, mask in masks[1].items():
        assert many[name].shape == mask.shape
        assert many[name].sum() == mask.sum()
        assert (few[name] <= many[name]).all()
    assert many["gain"].all()
    assert many["one"]
    assert 0 < int(many["big"].sum()) < 200
    assert jaccard({"big": many["big"]}, {"big": masks[1]["big"]}) < 0.1
    other = shuffled_mask(masks[1], torch.Generator().manual_seed(1))
    assert not torch.equal(other["big"], many["big"])
