"""A pruned state in a compact file: smaller by about the density, and the same bits when it is read."""

import pytest
import torch
from safetensors.torch import save_file

import reticent
from reticent.errors import CorruptFileError, MissingFileError
from reticent.sparsify.compact import packed, unpacked
from reticent.sparsify.masks import masked


def state():
    drawn = torch.Generator().manual_seed(0)
    return {
        "0.weight": torch.randn(40, 30, generator=drawn),
        "0.bias": torch.randn(40, generator=drawn),
        "1.num_batches_tracked": torch.tensor(7),
        "2.weight": torch.randn(8, 40, 3, generator=drawn).half(),
    }


def masks(density=0.1):
    drawn = torch.Generator().manual_seed(1)
    shapes = {"0.weight": (40, 30), "2.weight": (8, 40, 3)}
    chosen = {name: torch.rand(shape, generator=drawn) < density for name, shape in shapes.items()}
    return chosen | {"0.bias": torch.ones(40, dtype=torch.bool)}


def same(a, b):
    bits = lambda value: value.contiguous().view(-1).view(torch.uint8)  # noqa: E731
    return a.keys() == b.keys() and all(
        a[n].dtype == b[n].dtype and a[n].shape == b[n].shape and torch.equal(bits(a[n]), bits(b[n])) for n in a
    )


@pytest.mark.parametrize("density", [0.02, 0.1, 0.9])
def test_the_same_bits_come_back_and_the_file_is_smaller_by_about_the_density(tmp_path, density):
    chosen = masks(density)
    whole = masked(state(), chosen)
    save_file(whole, tmp_path / "whole.safetensors")
    save_file(packed(whole, chosen), tmp_path / "compact.safetensors")
    assert same(reticent.load_weights(tmp_path / "compact.safetensors"), whole)
    assert same(reticent.load_weights(tmp_path / "whole.safetensors"), whole)
    left = sum(int(chosen[name].sum()) * whole[name].element_size() for name in ("0.weight", "2.weight"))
    places = sum(-(-chosen[name].numel() // 8) for name in ("0.weight", "2.weight"))
    numbers = sum(value.nbytes for value in packed(whole, chosen).values())
    assert numbers == left + places + 40 * 4 + 8 + 8 * (2 + 3)


def test_values_of_zero_and_below_keep_their_bits():
    chosen = {"w": torch.tensor([True, True, False, True])}
    whole = {"w": torch.tensor([0.0, -0.0, 0.0, float("nan")])}
    assert same(unpacked(packed(whole, chosen)), whole)


def test_a_file_that_was_cut_is_named(tmp_path):
    tensors = packed(masked(state(), masks()), masks())
    for broken, words in (
        ({n: v for n, v in tensors.items() if n != "where/0.weight"}, "where/0.weight is missing"),
        (tensors | {"left/0.weight": torch.zeros(3)}, "0.weight has 3 values for other places"),
    ):
        save_file(broken, tmp_path / "broken.safetensors")
        with pytest.raises(CorruptFileError, match=f"not a compact file of a pruned model \\({words}\\)"):
            reticent.load_weights(tmp_path / "broken.safetensors")
    with pytest.raises(MissingFileError, match="expected the file of a network's weights"):
        reticent.load_weights(tmp_path / "none.safetensors")
