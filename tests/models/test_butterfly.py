"""Butterfly layers: factors by their definition, chains against all that there are, and layers in any network."""

import math
import re
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
import torch
from owners import by_parameter
from records_alone import check_per_record_norms
from torch import nn
from torch.nn import functional

from reticent.errors import ModelError, SpecError
from reticent.jobs.recipes import build_recipe
from reticent.locate.layer_kinds import layer_kinds
from reticent.models import ARCHITECTURES
from reticent.models.base import Input, build
from reticent.models.butterfly import Butterfly, ButterflyConv2d, ButterflyLinear, Factored, factored
from reticent.models.butterfly.chains import Factor, divisors, minimal, weights, within
from reticent.models.stages import stages
from reticent.procedures.dpsgd import layers

SHAPES = [(8, 8), (6, 12), (12, 6), (16, 36), (10, 64), (12, 18)]
IMAGE = Input("image", (3, 16, 16))


@pytest.fixture(autouse=True)
def _forked():
    """Building draws from torch's global generator; keep that inside each test."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def deformable(p, q, r, s, t):
    """DeBut's type of a factor: p x q, blocks of r x s diagonal matrices of size t."""
    assert p * s == q * r
    return Factor(p // (r * t), r, s, t)


def written_out(shape, values):
    """Place a factor's weights one by one, as its definition says."""
    made = values.new_zeros(shape.outputs, shape.inputs)
    for a, r, c, d in np.ndindex(*values.shape):
        row = (a * shape.rows + r) * shape.diagonal + d
        column = (a * shape.columns + c) * shape.diagonal + d
        made[row, column] = values[a, r, c, d]
    return made


def multiplied(layer):
    made = written_out(layer.chain[0], layer.factors[0])
    for shape, values in zip(layer.chain[1:], layer.factors[1:], strict=True):
        made = made @ written_out(shape, values)
    return made


def linear(chain, **options):
    return ButterflyLinear(chain, nn.Linear(chain[-1].inputs, chain[0].outputs, **options))


def test_two_factors_of_four_by_four():
    chain = (deformable(4, 4, 2, 2, 2), deformable(4, 4, 2, 2, 1))
    assert minimal(4, 4, 2) == chain
    assert [factor.weights for factor in chain] == [8, 8]
    layer = linear(chain)
    assert [int((written_out(*pair) != 0).sum()) for pair in zip(chain, layer.factors, strict=True)] == [8, 8]
    assert layer.product().shape == (4, 4)
    assert bool((layer.product() != 0).all())


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_the_square_butterfly_with_hadamards_values_is_hadamards_matrix(levels):
    size = 2**levels
    chain = tuple(deformable(size, size, 2, 2, 2 ** (levels - place)) for place in range(1, levels + 1))
    assert minimal(size, size, levels) == chain
    layer = linear(chain)
    with torch.no_grad():
        for factor in layer.factors:
            factor.copy_(torch.tensor([[1.0, 1.0], [1.0, -1.0]])[:, :, None].expand_as(factor))
    expected = torch.ones(1, 1)
    for _ in range(levels):
        expected = torch.kron(torch.tensor([[1.0, 1.0], [1.0, -1.0]]), expected)
    assert torch.equal(layer.product(), expected)
    assert torch.equal(layer.product() @ layer.product().T, size * torch.eye(size))


def test_one_factor_is_the_dense_convolution():
    assert minimal(8, 27, 1) == (deformable(8, 27, 8, 27, 1),)
    dense = nn.Conv2d(3, 8, 3, stride=2, padding=1)
    layer = ButterflyConv2d(minimal(8, 27, 1), dense)
    with torch.no_grad():
        layer.factor1.copy_(dense.weight.permute(0, 2, 3, 1).reshape(1, 8, 27, 1))  # Positions, then channels.
    x = torch.randn(2, 3, 9, 9)
    assert torch.equal(layer.weight, dense.weight)
    assert torch.equal(layer(x), dense(x))


@pytest.mark.parametrize(("shape", "factors", "rank"), [*product(SHAPES, (2, 3), (1,)), ((16, 36), 2, 4)])
def test_a_linear_layer_is_its_product(shape, factors, rank):
    chain = minimal(*shape, factors, rank)
    for bias in (True, False):
        layer, x = linear(chain, bias=bias), torch.randn(2, 5, shape[1])
        assert torch.allclose(layer.product(), multiplied(layer), atol=1e-6)
        assert torch.allclose(layer(x), functional.linear(x, layer.weight, layer.bias), atol=1e-5)
        assert torch.allclose(layer(x[0, 0]), layer(x)[0, 0], atol=1e-6)
        with pytest.raises(RuntimeError):
            layer(torch.randn(5, 2 * shape[1]))


GEOMETRIES = [{}, {"padding": 1}, {"stride": 2, "padding": (0, 2)}, {"dilation": 2, "padding": "same"}]


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("kernel", [3, (3, 2), 1])
def test_a_convolution_is_its_product_times_unfolded_input(geometry, kernel):
    dense = nn.Conv2d(4, 6, kernel, **geometry)
    layer, x = ButterflyConv2d(minimal(6, dense.weight[0].numel(), 2), dense), torch.randn(2, 4, 8, 7)
    assert torch.allclose(layer(x), functional.conv2d(x, layer.weight, layer.bias, **geometry), atol=1e-5)
    if geometry.get("padding") == "same":
        return
    patches = functional.unfold(x, kernel, **geometry)  # Channels, then positions: the chain has it the other way.
    patches = patches.unflatten(1, (4, -1)).transpose(1, 2).flatten(1, 2)
    answer = layer(x)
    expected = multiplied(layer) @ patches + layer.bias[:, None]
    assert torch.allclose(answer.flatten(2), expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["linear", "convolution"])
def test_gradients_are_those_of_the_factors_written_out(kind):
    if kind == "linear":
        layer, x = linear(minimal(12, 18, 3)).double(), torch.randn(4, 18, dtype=torch.float64)
    else:
        dense = nn.Conv2d(4, 6, 3, stride=2, padding=1)
        layer, x = ButterflyConv2d(minimal(6, 36, 2), dense).double(), torch.randn(2, 4, 7, 7, dtype=torch.float64)
    x.requires_grad_()
    whole = multiplied(layer)
    if kind == "linear":
        twin = functional.linear(x, whole, layer.bias)
    else:
        kernel = whole.unflatten(1, (3, 3, 4)).permute(0, 3, 1, 2)
        twin = functional.conv2d(x, kernel, layer.bias, 2, 1)
    back = torch.randn_like(twin)
    wanted = [x, *layer.parameters()]
    expected = torch.autograd.grad(twin, wanted, back)
    got = torch.autograd.grad(layer(x), wanted, back)
    assert len(got) == len(layer.chain) + 2
    assert all(torch.allclose(a, b, rtol=1e-10, atol=1e-12) for a, b in zip(got, expected, strict=True))


def splits(number, parts):
    if parts == 1:
        return [(number,)]
    return [(one, *rest) for one in divisors(number) for rest in splits(number // one, parts - 1)]


def every_chain(outputs, inputs, factors, rank):
    """All chains that Le et al. call chainable, of one rank and not redundant, with widths that go one way."""
    for rows, columns in product(splits(outputs, factors), splits(inputs, factors)):
        chain = []
        for place in range(factors):
            tall = rows[place] * (1 if place == 0 else rank)
            wide = columns[place] * (1 if place == factors - 1 else rank)
            chain.append(Factor(math.prod(columns[:place]), tall, wide, math.prod(rows[place + 1 :])))
        widths = [outputs, *(factor.inputs for factor in chain)]
        monotone = sorted(widths) in {True: [widths], False: [widths[::-1]]}[inputs >= outputs]
        if monotone and all(rank < min(a.rows, b.columns) for a, b in pairwise(chain)):
            yield tuple(chain)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factors", [2, 3])
@pytest.mark.parametrize("rank", [1, 2])
def test_no_monotone_chain_has_fewer_weights(shape, factors, rank):
    chains = list(every_chain(*shape, factors, rank))
    found = minimal(*shape, factors, rank)
    if found is None:
        assert not chains
        return
    assert found in chains
    assert weights(found) == min(map(weights, chains))
    for left, right in pairwise(found):
        assert left.inputs == right.outputs
        assert left.blocks * left.columns == rank * right.blocks
        assert right.rows * right.diagonal == rank * left.diagonal


def test_known_minimal_chains():
    """By hand, 64 x 576 in two factors of rank 1: c_1 b_2 (b_1 + c_2) is least at b = (32, 2), c = (32, 18)."""
    assert minimal(64, 576, 2) == (Factor(1, 32, 32, 2), Factor(32, 2, 18, 1))
    assert weights(minimal(64, 576, 2)) == 32 * 2 * (32 + 18)
    assert weights(minimal(64, 64, 2)) == 2 * 8 * 64
    assert minimal(7, 16, 3) is None


def test_a_budget_takes_the_largest_rank_that_keeps_to_it():
    assert within(64, 576, 2, 3200 / 36_864) == minimal(64, 576, 2)
    assert within(64, 576, 2, 3199 / 36_864) is None
    shares = [weights(within(64, 576, 2, budget)) / 36_864 for budget in (0.1, 0.2, 0.3, 0.5)]
    assert shares == sorted(shares)
    assert all(share <= budget for share, budget in zip(shares, (0.1, 0.2, 0.3, 0.5), strict=True))
    ranks = [r for r in {*divisors(64), *divisors(576)} if (c := minimal(64, 576, 2, r)) and weights(c) <= 0.2 * 36_864]
    assert within(64, 576, 2, 0.2) == minimal(64, 576, 2, max(ranks))


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_every_block_that_meets_between_two_factors_has_the_rank(rank):
    left, right = chain = minimal(16, 64, 2, rank)
    whole = linear(chain).product().detach()
    block = whole[: left.rows * left.diagonal : left.diagonal, : right.columns]
    assert min(block.shape) > rank
    assert int(torch.linalg.matrix_rank(block)) == rank


@pytest.mark.parametrize(("shape", "factors", "rank"), [((64, 576), 2, 1), ((64, 576), 2, 8), ((128, 128), 4, 1)])
def test_the_product_has_the_variance_of_the_layer_it_replaces(shape, factors, rank):
    dense = nn.Linear(shape[1], shape[0])
    products = [ButterflyLinear(minimal(*shape, factors, rank), dense).product() for _ in range(40)]
    got = torch.stack(products).detach().square().mean() / dense.weight.detach().square().mean()
    assert float(got) == pytest.approx(1, abs=0.06)


def test_layers_are_replaced_and_others_keep_their_bits():
    entry, spec = ARCHITECTURES["resnet20"], {"layers": ("stages.2.*.conv?",), "budget": 0.2}
    torch.manual_seed(1)
    dense = build(entry, entry.spec(width=8), IMAGE, 10)
    torch.manual_seed(1)
    made = build(entry, entry.spec(width=8, butterfly=spec), IMAGE, 10)
    replaced = {name for name, part in made.named_modules() if isinstance(part, ButterflyConv2d)}
    assert replaced == {f"stages.2.{block}.conv{index}" for block in range(3) for index in (1, 2)}
    before, after = dense.state_dict(), made.state_dict()
    same = [name for name in before if name in after]
    assert set(before) - set(same) == {f"{name}.weight" for name in replaced}
    assert all(torch.equal(before[name], after[name]) for name in same)
    # What is counted are the entries that are not zero.
    chains = [part.chain for part in made.modules() if isinstance(part, Factored)]
    saved = 32 * 144 + 5 * 32 * 288 - sum(map(weights, chains))
    assert sum(p.numel() for p in made.parameters()) == sum(p.numel() for p in dense.parameters()) - saved
    assert all(weights(chain) <= 0.2 * chain[0].outputs * chain[-1].inputs for chain in chains)
    x = torch.randn(2, 3, 16, 16)
    made(x).sum().backward()
    assert all(p.grad is not None and bool(p.grad.any()) for p in made.parameters())


EVERYWHERE = {
    "atm": {"widths": (16, 16, 16, 16), "patch": 2},
    "cnn": {"widths": (8, 16)},
    "densenet121": {"growth": 4},
    "fast-resnet": {"width": 4},
    "fc": {},
    "mlp": {},
    "vgg11": {"width": 4},
    "vit": {"dim": 16, "depth": 2, "heads": 2, "hidden": 24},
}
INNER = {
    "atm": ("stages.*.mlp.*",),
    "cnn": ("4",),
    "densenet121": ("stages.3.*conv?",),
    "fast-resnet": ("stages.2.*",),
    "fc": ("1", "*4"),
    "mlp": ("*",),
    "vgg11": ("groups.4.*",),
    "vit": ("blocks.*",),
}


@pytest.mark.parametrize("name", EVERYWHERE)
def test_every_built_in_architecture_takes_them(name):
    entry = ARCHITECTURES[name]
    given = Input("image", (3, 32, 32)) if name == "vgg11" else Input("image", (4, 16, 16))
    spec = entry.spec(**EVERYWHERE[name], butterfly={"layers": INNER[name]})
    model = build(entry, spec, given, 10).eval()
    assert any(isinstance(part, Factored) for part in model.modules())
    assert model(torch.randn(2, *given.shape)).shape == (2, 10)
    assert list(by_parameter(model, stages(model))) == [name for name, _ in model.named_parameters()]
    assert "other" not in {kind for name, kind in layer_kinds(model).items() if "factor" in name}


def test_a_users_network_a_layer_in_two_places_and_a_network_that_is_one_layer():
    body = nn.Linear(12, 12)
    model = nn.Sequential(body, nn.ReLU(), body, nn.Linear(12, 4))
    made = factored(model, Butterfly(layers=("0",)))
    assert made is model
    assert made[0] is made[2]
    assert isinstance(made[0], ButterflyLinear)
    assert type(made[3]) is nn.Linear
    alone = factored(nn.Linear(12, 12), Butterfly(layers=("*",)))
    assert alone(torch.zeros(1, 12)).shape == (1, 12)
    assert repr(alone) == "ButterflyLinear(12 x 12, (1, 3, 3, 4) * (3, 4, 4, 1))"


def test_torchs_encoder_reads_the_weight_of_its_linear_layers():
    """Its fast path in evaluation never calls them."""
    encoder = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True).eval()
    made, x = factored(encoder, Butterfly(layers=("linear?",))), torch.randn(2, 5, 16)
    with torch.no_grad():
        fast = made(x)
    assert torch.allclose(made(x), fast, atol=1e-5)


def test_per_record_gradients_are_those_of_each_record_alone():
    entry = ARCHITECTURES["cnn"]
    spec = entry.spec(widths=(8, 16), butterfly={"layers": ("4", "10")})
    model, x, y = build(entry, spec, IMAGE, 4).train(), torch.randn(3, 3, 16, 16), torch.tensor([0, 1, 2])
    model, _ = layers.without_batchnorm(model)
    check_per_record_norms(model, x, y)


def test_the_option_of_a_recipe():
    table = {"name": "mlp", "butterfly": {"layers": ["0"], "factors": 3}}
    recipe = build_recipe({}, {"architecture": table})
    assert recipe.architecture.butterfly == Butterfly(layers=("0",), factors=3)


PAGE = (Path(__file__).parents[2] / "docs" / "butterfly.md").read_text(encoding="utf-8")


def test_the_pages_example_prints_what_it_says(capsys):
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
    exec(code, {})
    assert capsys.readouterr().out.splitlines() == [line[2:] for line in code.splitlines() if line.startswith("# ")]


def test_the_pages_shares_of_resnet20s_weights():
    entry = ARCHITECTURES["resnet20"]
    model = build(entry, entry.spec(), IMAGE, 10)
    named = {name: part for name, part in model.named_modules() if re.fullmatch(r"stages\..*conv.", name)}
    assert len(named) == 18
    sizes = [(len(part.weight), part.weight[0].numel()) for part in named.values()]
    rest = 272_474 - sum(outputs * inputs for outputs, inputs in sizes)
    for factors in (2, 3, 4):
        chains = [[minimal(*size, factors) for size in sizes]]
        chains += [[within(*size, factors, budget) for size in sizes] for budget in (0.2, 0.3, 0.5)]
        cells = [f"{(rest + sum(map(weights, one))) / 2_724.74:.1f} %" for one in chains]
        assert f"| {factors} | {' | '.join(cells)} |" in PAGE


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(12, 8), nn.Linear(8, 12)
        self.head.weight = self.table.weight


def zero():
    layer = nn.Linear(8, 8)
    nn.init.zeros_(layer.weight)
    return layer


@pytest.mark.parametrize(
    ("network", "options", "words"),
    [
        (nn.Linear(8, 8), {"layers": ("fc",)}, "'fc' matches no nn.Linear or nn.Conv2d of the network"),
        (nn.Sequential(nn.Conv2d(8, 8, 3, groups=2)), {}, r"cannot be replaced: 0 has groups \(2\): leave them out"),
        (nn.Conv2d(8, 8, 3, padding_mode="circular"), {}, "the network pads with circular"),
        (Tied(), {}, "head shares its weight with another module"),
        (nn.Sequential(zero()), {}, "0 begins with zeros, from which no product of factors can be trained"),
        (nn.Linear(7, 7), {}, r"\(7 x 7\) has no chain of 2 factors"),
        (nn.Linear(2, 2), {}, r"no chain of 2 factors"),
        (nn.Linear(4, 4), {}, r"\(4 x 4\) has at least 1.000 of its weights in 2 factors"),
        (nn.Linear(64, 64), {"budget": 0.2}, r"\(64 x 64\) has at least 0.250 of its weights in 2 factors"),
        (nn.Sequential(*(nn.Linear(7, 7) for _ in range(7))), {}, "4 .* factors; and 2 more: leave them out"),
    ],
)
def test_what_a_user_can_get_wrong(network, options, words):
    with pytest.raises(ModelError, match=words):
        factored(network, Butterfly(**{"layers": ("*",), **options}))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "butterfly: layers must be given: shell-style patterns of names of modules, such as stages"),
        ({"layers": 3}, "butterfly: layers: expected a list, got 3"),
        ({"layers": ()}, "at least 1 value"),
        ({"layers": ("*",), "factors": 1}, "greater than or equal to 2, got 1"),
        ({"layers": ("*",), "budget": 1.5}, "butterfly: budget: expected less than 1, got 1.5"),
        ({"layers": ("*",), "factor": 3}, "butterfly: unknown key 'factor': did you mean 'factors'"),
    ],
)
def test_wrong_options(options, words):
    with pytest.raises(SpecError, match=words):
        ARCHITECTURES["mlp"].spec(butterfly=options)
