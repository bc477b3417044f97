import numpy as np
import pytest
import torch

from reticent.data.records import Records
from reticent.errors import InputError, SpecError
from reticent.training.augmentation import KINDS, Columns, bit_flip, check, crop, cutout, dropout, flip, gaussian
from reticent.training.data import Preparation
from reticent.training.recipe import Recipe


def generator():
    return torch.Generator().manual_seed(0)


def prepared(x):
    y = np.arange(len(x)) % 2
    return Preparation(Records.make(x, y), torch.device("cpu"))


def columns(x):
    return Columns.of(np.asarray(x, np.float32), torch.device("cpu"))


def test_a_flip_mirrors_half_of_the_images():
    x = torch.arange(4, dtype=torch.uint8).view(1, 1, 1, 4).expand(1000, 1, 2, 4)
    y = flip(x, generator())
    mirrored = (y[:, 0, 0, 0] == 3).sum().item()
    assert 430 < mirrored < 570
    assert y.dtype == torch.uint8
    assert set(map(tuple, y[:, 0, 0].tolist())) == {(0, 1, 2, 3), (3, 2, 1, 0)}


def test_a_crop_shifts_with_reflected_borders():
    x = torch.arange(25, dtype=torch.uint8).view(1, 1, 5, 5).expand(500, 1, 5, 5)
    y = crop(x, 2, generator())
    assert y.shape == x.shape
    assert y.dtype == torch.uint8
    padded = torch.nn.functional.pad(x[:1].float(), (2, 2, 2, 2), mode="reflect")[0, 0].to(torch.uint8)
    windows = {tuple(padded[r : r + 5, c : c + 5].flatten().tolist()) for r in range(5) for c in range(5)}
    seen = {tuple(image.flatten().tolist()) for image in y[:, 0]}
    assert seen == windows


def test_channels_move_together():
    x = torch.randint(255, (8, 3, 6, 6), generator=generator()).to(torch.uint8)
    x = x[:, :1].expand(8, 3, 6, 6)
    y = prepared(np.zeros((2, 6, 6, 3), np.uint8)).augmented(x, Recipe(augmentation="flip-crop"), generator())
    assert torch.equal(y[:, 0], y[:, 1])
    assert torch.equal(y[:, 0], y[:, 2])


def test_none_draws_nothing():
    x, drawing = torch.rand(2, 1, 4, 4, generator=generator()), generator()
    assert prepared(np.zeros((2, 4, 4), np.uint8)).augmented(x, Recipe(), drawing) is x
    assert torch.equal(torch.rand(3, generator=drawing), torch.rand(3, generator=generator()))


def test_bits_flip_so_that_the_mean_of_a_column_stays():
    # p = .2, rate .1: a 0 becomes 1 with .1 * .2 / .8 = .025, and .2 * .9 + .8 * .025 = .2.
    known = columns([[1], [0], [0], [0], [0]])
    ones = bit_flip(torch.ones(40_000, 1), 0.1, known, generator())
    zeros = bit_flip(torch.zeros(40_000, 1), 0.1, known, generator())
    assert ones.mean().item() == pytest.approx(0.9, abs=0.006)
    assert zeros.mean().item() == pytest.approx(0.025, abs=0.003)


def test_a_column_of_ones_keeps_its_zeros_half_of_the_time_at_most():
    known = columns([[1]] * 99 + [[0]])
    assert bit_flip(torch.zeros(20_000, 1), 0.2, known, generator()).mean().item() == pytest.approx(0.5, abs=0.015)


def test_a_category_is_drawn_anew_as_a_whole():
    x = np.eye(3, dtype=np.float32)[[0] * 6 + [1] * 3 + [2]]
    known = columns(np.hstack([x, np.ones((10, 1)), np.full((10, 1), 0.5)]))
    assert known.groups == ((0, 3),)
    assert known.bits.tolist() == [False, False, False, True, False]
    first = torch.tensor([[0.0, 0.0, 1.0, 1.0, 0.5]]).expand(40_000, 5)
    y = bit_flip(first, 0.5, known, generator())
    assert torch.equal(y[:, :3].sum(dim=1), torch.ones(40_000))
    assert y[:, :3].mean(dim=0).tolist() == pytest.approx([0.3, 0.15, 0.55], abs=0.01)
    assert torch.equal(y[:, 4], first[:, 4])
    assert torch.equal(first[0, :3], torch.tensor([0.0, 0.0, 1.0]))


def test_noise_is_as_large_as_the_columns():
    x = gaussian(torch.zeros(40_000, 2), 0.1 * torch.tensor([1.0, 30.0]), generator())
    assert x.std(dim=0).tolist() == pytest.approx([0.1, 3.0], rel=0.02)


def test_pixels_get_noise_in_the_units_that_the_network_sees():
    x = torch.full((50, 1, 8, 8), 100, dtype=torch.uint8)
    y = prepared(np.zeros((2, 8, 8), np.uint8)).augmented(x, Recipe(augmentation="gaussian"), generator())
    assert y.std().item() == pytest.approx(255 * 0.25 * 0.1, rel=0.05)  # The usual standard deviation is 0.25.


def test_dropped_features_become_their_mean():
    preparation = prepared(np.array([[0.0, 1.0], [4.0, 3.0]], np.float32))
    recipe = Recipe(augmentation="feature-dropout", augmentation_strength=0.25)
    y = preparation.augmented(torch.full((20_000, 2), 9.0), recipe, generator())
    assert set(y[:, 0].tolist()) == {9.0, 2.0}
    assert (y == 2.0).float().mean().item() == pytest.approx(0.25, abs=0.01)


def test_dropped_words_become_token_0():
    y = dropout(torch.full((5_000, 4), 7), 0.1, torch.zeros(()), generator())
    assert y.dtype == torch.int64
    assert (y == 0).float().mean().item() == pytest.approx(0.1, abs=0.01)
    assert set(y.flatten().tolist()) == {0, 7}


def test_a_cut_out_square_is_of_the_mean_colour_and_may_reach_over_the_border():
    x = torch.full((4_000, 2, 8, 8), 9, dtype=torch.uint8)
    y = cutout(x, 0.5, torch.tensor([100.0, 50.0]), generator())
    assert y.dtype == torch.uint8
    assert torch.equal(y[:, 0] == 100, y[:, 1] == 50)
    covered = (y[:, 0] == 100).sum(dim=(1, 2))
    assert covered.max().item() == 16
    assert covered.min().item() == 4  # In a corner: two of the four rows, and two of the four columns.


@pytest.mark.parametrize("name", KINDS)
def test_an_augmentation_is_refused_for_other_kinds_of_records(name):
    shapes = {"image": (3, 32, 32), "tabular": (7,), "tokens": (9,)}
    for kind, shape in shapes.items():
        if kind in KINDS[name]:
            check(name, 4, kind, shape)
        else:
            with pytest.raises(InputError, match=f"augmentation '{name}' is for .*, got {kind} records"):
                check(name, 4, kind, shape)


def test_bits_are_asked_for():
    preparation = prepared(np.array([[0.0, 1.5], [4.0, 3.0]], np.float32))
    with pytest.raises(InputError, match="needs features of zeros and ones, got none"):
        preparation.augmented(torch.zeros(2, 2), Recipe(augmentation="bit-flip"), generator())


def test_a_strength_that_nothing_uses_is_refused():
    with pytest.raises(SpecError, match=r"augmentation_strength .* got 0.2 with augmentation flip, which has none"):
        Recipe(augmentation="flip", augmentation_strength=0.2)
