"""benchmarks/butterfly.py: what it counts, and a network of butterfly layers against a dense one of as many weights."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import torch
from torch import nn

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "butterfly.py"


@pytest.fixture(scope="module")
def benchmark():
    found = spec_from_file_location("butterfly_benchmark", FILE)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_what_autograd_keeps_is_counted_once_and_without_weights_and_input(benchmark):
    x = torch.zeros(8, 16, requires_grad=True)
    with torch.random.fork_rng():
        linear, deep = nn.Linear(16, 32), nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
    assert benchmark.kept(linear, x) == 0
    assert benchmark.kept(deep, x) == 4 * 8 * 32  # What the ReLU answers, which the last layer is given.


@pytest.mark.slow
def test_on_digits_a_butterfly_network_is_no_less_accurate_than_a_dense_one_of_as_many_weights(benchmark, capsys):
    case = next(one for one in benchmark.CASES if one.name == "digits")
    with torch.random.fork_rng():
        gap = benchmark.accuracy(case, 4, None)
    told = capsys.readouterr().out
    assert gap.mean() >= -0.02
    assert "butterfly: 13,322 weights" in told
    assert "dense of as many weights: 13,450 weights" in told
