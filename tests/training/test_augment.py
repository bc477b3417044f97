import torch

from reticent.training.data import augment, crop, flip


def generator():
    return torch.Generator().manual_seed(0)


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
    y = augment(x, "flip-crop", 2, generator())
    assert torch.equal(y[:, 0], y[:, 1])
    assert torch.equal(y[:, 0], y[:, 2])


def test_none_is_none():
    x = torch.rand(2, 1, 4, 4, generator=generator())
    assert augment(x, "none", 2, generator()) is x
