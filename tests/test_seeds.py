import numpy as np
import torch

from reticent import seeds


def test_streams_are_named_and_independent_of_each_other():
    a, b = seeds.rng(0, "model", 3, "order").random(4), seeds.rng(0, "model", 3, "init").random(4)
    assert not np.array_equal(a, b)
    assert np.array_equal(a, seeds.rng(0, "model", 3, "order").random(4))
    assert not np.array_equal(a, seeds.rng(1, "model", 3, "order").random(4))


def test_a_name_is_a_path_not_a_concatenation():
    assert seeds.integer(0, "a", "b") != seeds.integer(0, "a/b")
    assert seeds.integer(0, "model", 1) != seeds.integer(0, "model", "1")


def test_streams_never_move():
    assert seeds.integer(0, "membership") == 8241653892987622836
    assert seeds.integer(7, "model", 3, "init") == 598868773434645666


def test_torch_generators_follow_the_stream():
    first = torch.rand(3, generator=seeds.torch_generator(0, "x"))
    assert torch.equal(first, torch.rand(3, generator=seeds.torch_generator(0, "x")))
