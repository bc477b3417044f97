import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch import nn

from reticent.locate import correlation
from reticent.locate.correlation import Moments, agreement, pairs, total
from reticent.locate.layer_kinds import layer_kinds


def scores(seed, tail=4.0, shape=((40, 30), (200,), (3, 5, 7))):
    generator = torch.Generator().manual_seed(seed)
    return {f"p{i}": torch.exp(tail * torch.randn(s, generator=generator)) for i, s in enumerate(shape)}


def flat(side):
    return torch.cat([value.reshape(-1) for value in side.values()]).double().numpy()


@pytest.mark.parametrize("block", [7, 10**6])
def test_correlations_are_scipys(monkeypatch, block):
    monkeypatch.setattr(correlation, "BLOCK", block)
    a = scores(0)
    b = {name: value * torch.exp(scores(1)[name].log() / 4) for name, value in a.items()}
    b["p1"][:50] = 0
    found = agreement(a, b, list(a))
    x, y = flat(a), flat(b)
    assert found.entries == len(x)
    assert found.positive == np.count_nonzero(y) == len(x) - 50
    assert found.pearson == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    known = y > 0
    assert found.log_pearson == pytest.approx(stats.pearsonr(np.log(x[known]), np.log(y[known])).statistic, abs=1e-9)


def test_ranks_by_binary_digits_differ_little_from_exact_ones(monkeypatch):
    a = scores(0, shape=((300, 300),))
    b = {"p0": a["p0"].sqrt() * scores(1, 1.0, ((300, 300),))["p0"]}
    b["p0"][0] = 0
    exact = agreement(a, b, ["p0"]).spearman
    monkeypatch.setattr(correlation, "EXACT", 10)
    assert agreement(a, b, ["p0"]).spearman == pytest.approx(exact, abs=1e-4)


@settings(max_examples=40, deadline=None)
@given(factor=st.floats(1e-3, 1e3), seed=st.integers(0, 99))
def test_units_do_not_matter_and_the_order_alone_makes_spearman(factor, seed):
    a, b = scores(seed, 1.0, ((50,),)), scores(seed + 100, 1.0, ((50,),))
    found = agreement(a, b, ["p0"])
    scaled = agreement({"p0": a["p0"].double() * factor}, b, ["p0"])
    assert scaled.pearson == pytest.approx(found.pearson, abs=1e-9)
    assert scaled.log_pearson == pytest.approx(found.log_pearson, abs=1e-9)
    assert agreement({"p0": a["p0"].double() ** 3}, b, ["p0"]).spearman == pytest.approx(found.spearman, abs=1e-12)
    assert agreement(a, a, ["p0"]).pearson == pytest.approx(1)


def test_scores_that_do_not_vary_have_no_correlation():
    even, zero = {"w": torch.full((9,), 0.1)}, {"w": torch.zeros(9)}
    assert agreement(even, {"w": torch.arange(9.0)}, ["w"]).pearson is None
    found = agreement(zero, zero, ["w"])
    assert (found.pearson, found.log_pearson, found.spearman, found.positive) == (None, None, None, 0)
    assert agreement({"w": torch.ones(1)}, {"w": torch.ones(1)}, ["w"]).spearman is None
    assert Moments().correlation is None


def test_large_values_with_a_small_spread_keep_their_correlation():
    x = 1e8 + np.arange(100.0)
    moments = Moments()
    for part in np.array_split(x, 7):
        moments.add(part, -part)
    assert moments.correlation == pytest.approx(-1)
    assert moments.mean[0] == pytest.approx(1e8 + 49.5, abs=1e-6)


def test_sums_of_all_and_of_the_marked():
    a = {"w": torch.tensor([[1.0, 2.0], [4.0, 8.0]]), "v": torch.tensor(16.0)}
    mask = {"w": torch.tensor([[True, False], [False, True]]), "v": torch.tensor(False)}
    assert total(a, ["w", "v"]) == 31
    assert total(a, ["w", "v"], mask) == 9
    many = {"w": torch.full((2**24 + 4,), 1.0)}
    assert total(many, ["w"]) == 2**24 + 4
    assert [len(x) for x, _ in pairs(many, many, ["w"])] == [2**21] * 8 + [4]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.attn = nn.MultiheadAttention(4, 2)
        self.mlp = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 4, 2)
        self.words = nn.Embedding(10, 4)
        self.place = nn.Parameter(torch.zeros(1, 4))
        self.blocks = nn.ModuleList([Block()])
        self.encoder = nn.TransformerEncoderLayer(4, 2)
        self.norm = nn.RMSNorm(4) if hasattr(nn, "RMSNorm") else nn.LayerNorm(4)
        self.head = nn.Linear(4, 3)


class MLP(nn.Sequential):
    """A network named as a block is none."""


def test_a_classifier_is_no_block():
    """As in a common ViT; the MLP of a block, and one inside a head of attention, is."""
    with torch.random.fork_rng(devices=[]):
        linear = nn.ModuleDict({"mlp_head": nn.Linear(2, 2), "mlp": nn.Linear(2, 2), "attn_head": nn.Linear(2, 2)})
    found = {name.partition(".")[0]: kind for name, kind in layer_kinds(linear).items()}
    assert found == {"mlp_head": "linear", "mlp": "attention and MLP", "attn_head": "attention and MLP"}


def test_kinds_of_layers():
    with torch.random.fork_rng(devices=[]):
        found = layer_kinds(Transformer())
        plain = layer_kinds(MLP(nn.Conv1d(2, 3, 1), nn.BatchNorm1d(3), nn.Flatten(), nn.Linear(3, 2), nn.PReLU()))
    expected = {
        "patches.weight": "convolution",
        "words.weight": "embedding",
        "place": "other",
        "blocks.0.norm.weight": "norm",
        "blocks.0.attn.in_proj_weight": "attention and MLP",
        "blocks.0.attn.out_proj.weight": "attention and MLP",
        "blocks.0.mlp.0.bias": "attention and MLP",
        "encoder.linear1.weight": "attention and MLP",
        "encoder.norm1.weight": "norm",
        "norm.weight": "norm",
        "head.weight": "linear",
    }
    assert {name: found[name] for name in expected} == expected
    assert list(plain.values()) == ["convolution"] * 2 + ["norm"] * 2 + ["linear"] * 2 + ["other"]


def test_a_correlation_needs_two_entries_and_takes_no_degree_of_freedom_away():
    one, two, three = ({"w": torch.tensor(values)} for values in ([1.0], [1.0, 3.0], [1.0, 2.0, 4.0]))
    assert agreement(one, one, ["w"]).pearson is None
    assert agreement(two, {"w": torch.tensor([5.0, 4.0])}, ["w"]).pearson == pytest.approx(-1)
    found = agreement(three, {"w": torch.tensor([2.0, 1.0, 3.0])}, ["w"])
    assert found.pearson == pytest.approx(np.corrcoef([1, 2, 4], [2, 1, 3])[0, 1], rel=1e-12)
    assert found.spearman == pytest.approx(0.5, rel=1e-12)
