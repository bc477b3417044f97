import pytest
import torch

from reticent.errors import InputError
from reticent.signals.queries import Queries, all_views, view


def test_the_plain_view_comes_first():
    assert Queries().views() == [(0, 0, False)]
    assert Queries(mirror=True).views() == [(0, 0, False), (0, 0, True)]
    views = Queries(mirror=True, shifts=1).views()
    assert len(views) == len(set(views)) == 18
    assert views[0] == (0, 0, False)


def test_views_are_shifted_with_reflected_borders():
    x = torch.arange(16.0).view(1, 1, 4, 4)
    assert torch.equal(view(x, 0, 0, False), x)
    assert torch.equal(view(x, 0, 0, True), x.flip(3))
    down = view(x, 1, 0, False)
    assert torch.equal(down[0, 0, 1:], x[0, 0, :3])
    assert torch.equal(down[0, 0, 0], x[0, 0, 1])
    right = view(x, 0, -1, False)
    assert torch.equal(right[0, 0, :, :3], x[0, 0, :, 1:])
    assert torch.equal(right[0, 0, :, 3], x[0, 0, :, 2])


def test_every_view_keeps_the_shape():
    x = torch.arange(2 * 3 * 25.0).view(2, 3, 5, 5)
    assert all(v.shape == x.shape for v in all_views(Queries(mirror=True, shifts=2), x))


def test_views_of_features_and_shifts_too_large_are_refused():
    with pytest.raises(InputError, match="mirror and shifts are for images, got tabular"):
        Queries(mirror=True).check("tabular", (4,))
    with pytest.raises(InputError, match="expected shifts below the image's 4 pixels, got 4"):
        Queries(shifts=4).check("image", (1, 4, 4))
    Queries().check("tabular", (4,))
