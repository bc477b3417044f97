"""The architectures of the papers: published numbers of parameters, sizes of stages, and training in every form."""

import math
import re
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from owners import by_parameter
from records_alone import check_per_record_norms
from torch import nn
from torch.nn import functional

from reticent.errors import InputError, SpecError
from reticent.models import ARCHITECTURES
from reticent.models.atm import SHARED, SIZES, shifted
from reticent.models.base import Input, build
from reticent.models.stages import stages


@pytest.fixture(autouse=True)
def _forked():
    """Building draws from torch's global generator; keep that inside each test."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


SMALL = Input("image", (3, 32, 32))
TINY = Input("image", (3, 64, 64))
LARGE = Input("image", (3, 224, 224))
TEXT = Input("tokens", (12,), 30)
NARROW = {
    "atm": {"widths": (16, 16, 16, 16), "patch": 2},
    "densenet121": {"growth": 2},
    "fast-resnet": {"width": 2},
    "resnet34": {"width": 2},
    "resnet50": {"width": 2},
    "transformer": {"dim": 16, "heads": 2},
    "vgg11": {"width": 2},
    "vgg19": {"width": 2, "hidden": (8,), "dropout": 0.1},
    "vit": {"dim": 16, "depth": 2, "heads": 2, "hidden": 24, "dropout": 0.1},
}


def made(name, given=None, classes=10, **options):
    entry = ARCHITECTURES[name]
    return build(entry, entry.spec(**options), given or (TEXT if name == "transformer" else SMALL), classes)


def counted(name, given, classes, **options):
    with torch.device("meta"):
        return sum(p.numel() for p in made(name, given, classes, **options).parameters())


def batch(name, records, side=32):
    return torch.randint(0, 30, (records, 12)) if name == "transformer" else torch.randn(records, 3, side, side)


def maps(model, given):
    """Shape of each stage's output, by the stage's name."""
    found, handles = {}, []
    for stage in stages(model):
        keep = lambda *call, name=stage.name: found.update({name: tuple(call[2].shape[1:])})  # noqa: E731
        handles.append(model.get_submodule(stage.output).register_forward_hook(keep))
    x = torch.zeros(1, *given.shape, dtype=torch.int64 if given.kind == "tokens" else torch.float32)
    with torch.no_grad():
        model.eval()(x)
    for handle in handles:
        handle.remove()
    return found


IMAGENET = {"stem": "imagenet"}
PAPERS = {"hidden": (4096, 4096), "pool": 7}


@pytest.mark.parametrize(
    ("name", "given", "classes", "options", "published"),
    [
        # CIFAR forms: github.com/kuangliu/pytorch-cifar, as counted by those who use it.
        ("resnet18", SMALL, 10, {}, 11_173_962),
        ("resnet34", SMALL, 10, {}, 21_282_122),
        ("resnet50", SMALL, 10, {}, 23_520_842),
        ("resnet101", SMALL, 10, {}, 42_512_970),
        ("resnet152", SMALL, 10, {}, 58_156_618),
        ("densenet121", SMALL, 10, {}, 6_956_298),
        ("densenet121", SMALL, 10, {"growth": 12}, 1_000_618),
        # 1,728 + 128 of the stem; 73,728 + 256, 294,912 + 512 and 1,179,648 + 1,024 of the stages; twice 147,456 + 256
        # and twice 2,359,296 + 1,024 of the blocks; 5,120 of the head: the 6.57 million of the DAWNBench entries.
        ("fast-resnet", SMALL, 10, {}, 6_573_120),
        ("vgg11", SMALL, 10, {}, 9_231_114),
        ("vgg16", SMALL, 10, {}, 14_728_266),
        ("vgg19", SMALL, 10, {}, 20_040_522),
        # ImageNet forms: num_params of torchvision's weights.
        ("resnet18", LARGE, 1000, IMAGENET, 11_689_512),
        ("resnet34", LARGE, 1000, IMAGENET, 21_797_672),
        ("resnet50", LARGE, 1000, IMAGENET, 25_557_032),
        ("resnet101", LARGE, 1000, IMAGENET, 44_549_160),
        ("resnet152", LARGE, 1000, IMAGENET, 60_192_808),
        ("densenet121", LARGE, 1000, IMAGENET, 7_978_856),
        ("vgg11", LARGE, 1000, PAPERS, 132_868_840),
        ("vgg16", LARGE, 1000, PAPERS, 138_365_992),
        ("vgg19", LARGE, 1000, PAPERS, 143_678_248),
        ("vit", LARGE, 1000, {"patch": 16, "dim": 768, "depth": 12, "heads": 12, "hidden": 3072}, 86_567_656),
    ],
)
def test_published_numbers_of_parameters(name, given, classes, options, published):
    assert counted(name, given, classes, **options) == published


def atm_by_hand(size):
    """Count the layers of github.com/microsoft/ActiveMLP (models/activemlp.py), one after the other."""
    widths, total = (64, 128, 320, 512), 7 * 7 * 3 * 64 + 64
    for index, depth in enumerate(size.depths):
        c, ratio, shared = widths[index], size.ratios[index], SHARED[index]
        mixer = c * c + 2 * (c * c + c) + (c * (c // 4) + c // 4) + (c // 4 * 3 * c + 3 * c) + (c * c + c)
        block = 2 * 2 * c + mixer + (c * ratio * c + ratio * c) + (ratio * c * c + c)
        offsets = 2 * c + c * (2 * c // shared) + 2 * c // shared
        renewed = sum(j % size.every == 0 and j != depth - 1 for j in range(depth))
        total += depth * block + renewed * offsets + 9 * c + c
        total += 9 * c * widths[index + 1] + widths[index + 1] if index < 3 else 0
    return total + 2 * 512 + 512 * 1000 + 1000


@pytest.mark.parametrize(("size", "millions"), [("xt", 15), ("t", 27), ("b", 52)])
def test_the_active_token_mixer_has_the_parameters_of_the_released_code_and_the_millions_of_the_paper(size, millions):
    got = counted("atm", LARGE, 1000, size=size)
    assert got == atm_by_hand(SIZES[size])
    assert round(got / 1e6) == millions


def test_the_transformer_by_hand():
    block = 2 * 2 * 128 + (128 * 384 + 384) + (128 * 128 + 128) + (128 * 256 + 256) + (256 * 128 + 128)
    assert counted("transformer", Input("tokens", (64,), 1000), 14) == 1000 * 128 + 2 * block + 256 + 128 * 14 + 14


def shares(model, kinds):
    sizes = [sum(m.weight.numel() for m in model.modules() if isinstance(m, kind)) for kind in kinds]
    return [round(100 * size / sum(sizes), 2) for size in sizes]


def test_the_defaults_have_the_shares_of_weights_that_cwrf_prints():
    """Fang and Kim (2026), table 1: they fit 100 classes (see the module's text)."""
    with torch.device("meta"):
        resnet, vit = made("resnet18", classes=100), made("vit", classes=100)
    assert shares(resnet, [nn.Conv2d, nn.Linear, nn.BatchNorm2d]) == pytest.approx([99.50, 0.45, 0.05], abs=0.011)
    norms = sum(m.weight.numel() for m in vit.modules() if isinstance(m, nn.LayerNorm))
    head = vit.head.linear.weight.numel()
    others = sum(m.weight.numel() for m in vit.modules() if isinstance(m, nn.Linear | nn.Conv2d)) - head
    total = norms + head + others
    assert [round(100 * part / total, 2) for part in (others, head, norms)] == [99.39, 0.54, 0.07]


@pytest.mark.parametrize(
    ("options", "fourth"),
    [
        ({}, (64, 8, 8)),
        ({"stem": "tiny"}, (64, 4, 4)),
        ({"stem": "tiny", "strides": (1, 2, 2, 4)}, (64, 2, 2)),
        ({"stem": "tiny", "strides": (1, 2, 2, 1)}, (64, 8, 8)),
        ({"stem": "tiny", "widths": (8, 16, 32, 256)}, (256, 4, 4)),
        ({"stem": "imagenet"}, (64, 2, 2)),
    ],
)
def test_size_and_channels_of_the_fourth_stage_as_pptps_tables_vary_them(options, fourth):
    """Fang and Kim, tables 1 and 3: 2x2, 4x4 and 8x8 on 64 x 64 pixels; 256 to 2,048 channels."""
    found = maps(made("resnet18", TINY, **{"width": 8, **options}), TINY)
    assert list(found) == ["stem", "stage 1", "stage 2", "stage 3", "stage 4", "head"]
    assert found["stage 4"] == fourth


def test_a_bottleneck_stage_answers_four_times_its_width():
    found = maps(made("resnet50", width=4), SMALL)
    assert [found[f"stage {i}"] for i in range(1, 5)] == [(16, 32, 32), (32, 16, 16), (64, 8, 8), (128, 4, 4)]


def test_the_five_groups_of_vgg():
    found = maps(made("vgg16", width=2), SMALL)
    assert list(found) == [*(f"stage {i}" for i in range(1, 6)), "head"]
    assert [found[f"stage {i}"] for i in range(1, 6)] == [(2, 16, 16), (4, 8, 8), (8, 4, 4), (16, 2, 2), (16, 1, 1)]
    wide = maps(made("vgg11", widths=(2, 2, 3, 4, 5), strides=(2, 2, 2, 2, 1)), SMALL)
    assert (wide["stage 3"], wide["stage 5"]) == ((3, 4, 4), (5, 2, 2))


def test_the_fast_resnet_halves_three_times_and_scales_what_its_head_is_given():
    model = made("fast-resnet", width=2).eval()
    found = maps(model, SMALL)
    assert list(found) == ["stem", "stage 1", "stage 2", "stage 3", "head"]
    assert [found[f"stage {i}"] for i in range(1, 4)] == [(4, 16, 16), (8, 8, 8), (16, 4, 4)]
    doubled = made("fast-resnet", width=2, head_scale=0.25).eval()
    doubled.load_state_dict(model.state_dict())
    x = torch.randn(3, 3, 32, 32)
    assert torch.equal(doubled(x), 2 * model(x))
    with pytest.raises(InputError, match="three halvings need images of 8 pixels, got 7 x 9"):
        made("fast-resnet", Input("image", (3, 7, 9)))


def test_a_dense_block_joins_what_its_layers_add_and_a_transition_halves_it():
    found = maps(made("densenet121", growth=2), SMALL)
    assert list(found) == ["stem", *(f"stage {i}" for i in range(1, 5)), "head"]
    assert (found["stem"], found["stage 1"], found["stage 2"]) == ((4, 32, 32), (16, 32, 32), (32, 16, 16))
    assert (found["stage 3"], found["stage 4"]) == ((64, 8, 8), (64, 4, 4))
    layer, x = made("densenet121", growth=2).stages[0][0].eval(), torch.randn(2, 4, 5, 5)
    joined = layer(x)
    assert joined.shape == (2, 6, 5, 5)
    assert torch.equal(joined[:, :4], x)


def test_the_stages_of_the_token_mixer_and_four_times_as_large_maps():
    narrow = {"widths": (8, 8, 16, 16)}
    usual = maps(made("atm", TINY, **narrow), TINY)
    assert list(usual) == ["embedding", "stage 1", "stage 2", "stage 3", "stage 4", "head"]
    assert [usual[f"stage {i}"] for i in range(1, 5)] == [(8, 16, 16), (8, 8, 8), (16, 4, 4), (16, 2, 2)]
    finer = maps(made("atm", TINY, patch=2, **narrow), TINY)
    assert finer["stage 4"] == (16, 4, 4)
    last = maps(made("atm", TINY, strides=(1, 2, 2, 1), depths=(2, 2, 3, 2), **narrow), TINY)
    assert (last["stage 3"], last["stage 4"]) == ((16, 4, 4), (16, 4, 4))
    halved = made("atm", TINY, strides=(2, 2, 2, 1), **narrow)
    assert maps(halved, TINY)["stage 1"] == (8, 8, 8)
    assert by_parameter(halved, stages(halved))["stages.1.down.weight"] == "stage 2"


@pytest.mark.parametrize("name", sorted(NARROW))
def test_a_network_in_double_precision_answers_as_in_single(name):
    model, x = made(name, **NARROW[name]).eval(), batch(name, 2)
    with torch.no_grad():
        single = model(x)
        double = model.double()(x if name == "transformer" else x.double())
    assert double.dtype == torch.float64
    torch.testing.assert_close(double.float(), single, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["vit", "transformer"])
def test_every_block_of_a_transformer_is_a_stage(name):
    model = made(name, **NARROW[name])
    found = maps(model, TEXT if name == "transformer" else SMALL)
    assert list(found) == ["embedding", "block 1", "block 2", "head"]
    assert found["embedding"] == found["block 2"] == ((12, 16) if name == "transformer" else (65, 16))
    assert list(by_parameter(model, stages(model))) == [name for name, _ in model.named_parameters()]


@pytest.mark.parametrize("name", NARROW)
def test_one_record_in_training_and_gradients_everywhere(name):
    model = made(name, classes=7, **NARROW[name]).train()
    logits = model(batch(name, 1))
    assert logits.shape == (1, 7)
    logits[0, 0].backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in model.parameters())
    assert sum(float(p.grad.abs().sum()) > 0 for p in model.parameters()) > 0.5 * len(list(model.parameters()))


@pytest.mark.parametrize("name", NARROW)
def test_bfloat16_points_where_float32_does(name):
    model = made(name, **{**NARROW[name], **({"dropout": 0.0} if "dropout" in NARROW[name] else {})}).train()
    x = batch(name, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        low = model(x)
    low.float().logsumexp(1).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())
    with torch.no_grad():
        full = model(x)
    assert float(functional.cosine_similarity(low.detach().float().flatten(), full.flatten(), dim=0)) > 0.95


@pytest.mark.parametrize("name", NARROW)
def test_the_same_seed_gives_the_same_weights_and_records_do_not_meet_in_evaluation(name):
    torch.manual_seed(3)
    first = made(name, **NARROW[name]).eval()
    torch.manual_seed(3)
    second = made(name, **NARROW[name]).eval()
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    x = batch(name, 5)
    with torch.no_grad():
        assert torch.allclose(first(x)[2:3], second(x[2:3]), atol=1e-4)


@pytest.mark.parametrize("name", [name for name in NARROW if name != "transformer"])
def test_another_layout_changes_where_weights_lie_and_not_what_is_answered(name):
    torch.manual_seed(3)
    usual = made(name, **NARROW[name]).eval()
    torch.manual_seed(3)
    last = made(name, layout="channels-last", **NARROW[name]).eval()
    x = batch(name, 4)
    with torch.no_grad():
        torch.testing.assert_close(last(x), usual(x), rtol=1e-4, atol=1e-5)
    for parameter in last.parameters():
        assert parameter.dim() != 4 or parameter.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("name", ["atm", "transformer", "vit"])
def test_per_record_gradients_are_those_of_each_record_alone(name):
    options = {**NARROW[name], **({"dropout": 0.0} if name == "vit" else {})}
    if name == "atm":
        options["depths"] = (2, 2, 4, 2)  # Four blocks: positions are added twice in a stage.
    given = TEXT if name == "transformer" else Input("image", (3, 16, 16))
    model = made(name, given, classes=3, **options).train()
    x, y = batch(name, 3, 16), torch.tensor([0, 1, 2])
    check_per_record_norms(model, x, y)


def naive(x, offsets, axis):
    """Read one number after the other, as a deformable convolution with bilinear interpolation does."""
    out = torch.zeros_like(x)
    for at in torch.cartesian_prod(*(torch.arange(n) for n in x.shape)).tolist():
        place = at[axis] + float(offsets[tuple(at)])
        for index in (math.floor(place), math.floor(place) + 1):
            if 0 <= index < x.shape[axis]:
                source = [*at[:axis], index, *at[axis + 1 :]]
                out[tuple(at)] += x[tuple(source)] * max(0.0, 1 - abs(place - index))
    return out


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), axis=st.sampled_from([1, 2]), spread=st.sampled_from([0.5, 3.0, 50.0]))
def test_shifts_are_those_of_a_deformable_convolution(seed, axis, spread):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2, 3, 4, 2, generator=generator, dtype=torch.float64)
    offsets = spread * torch.randn(2, 3, 4, 2, generator=generator, dtype=torch.float64)
    assert torch.allclose(shifted(x, offsets, axis), naive(x, offsets, axis), atol=1e-12)


def test_shifts_by_whole_places_and_none():
    x = torch.arange(1.0, 5.0).view(1, 1, 4, 1)
    assert torch.equal(shifted(x, torch.zeros_like(x), 2), x)
    assert shifted(x, torch.ones_like(x), 2).flatten().tolist() == [2, 3, 4, 0]
    assert shifted(x, torch.full_like(x, -0.25), 2).flatten().tolist() == [0.75, 1.75, 2.75, 3.75]
    assert shifted(x, torch.full_like(x, 1e9), 2).abs().sum() == 0


def test_shifts_have_gradients_for_what_is_read_and_for_where():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, 3, 4, 2, generator=generator, dtype=torch.float64, requires_grad=True)
    offsets = torch.rand(1, 3, 4, 2, generator=generator, dtype=torch.float64) * 0.8 + 0.1
    assert torch.autograd.gradcheck(lambda a, b: shifted(a, b, 2), (x, offsets.requires_grad_()))


def test_padding_is_not_looked_at_and_order_is():
    model = made("transformer", **NARROW["transformer"]).eval()
    text = torch.randint(1, 30, (2, 12))
    longer = torch.cat([text, torch.zeros(2, 5, dtype=torch.int64)], dim=1)
    with torch.no_grad():
        assert torch.allclose(model(text), model(longer), atol=1e-5)
        assert not torch.allclose(model(text), model(text.flip(1)), atol=1e-2)
        assert torch.isfinite(model(torch.zeros(2, 12, dtype=torch.int64))).all()
    everything = made("transformer", padding=-1, **NARROW["transformer"]).eval()
    with torch.no_grad():
        assert not torch.allclose(everything(text), everything(longer), atol=1e-2)


@pytest.mark.parametrize(
    ("name", "given", "options", "error", "words"),
    [
        ("vgg11", Input("image", (1, 28, 28)), {}, InputError, "need images of 32 pixels, got 28 x 28: set strides"),
        ("vit", Input("image", (1, 30, 30)), {}, InputError, "patches of 4 pixels do not divide images of 30 x 30"),
        ("atm", Input("image", (1, 3, 3)), {}, InputError, "at least 4 pixels"),
        ("transformer", Input("tokens", (4,)), {}, InputError, "got a vocabulary of 0"),
        ("transformer", SMALL, {}, InputError, "takes tokens records, got image"),
        ("resnet34", SMALL, {"widths": (8, 8)}, SpecError, "widths to have 4 numbers, one for each stage, or none; it"),
        ("resnet20", SMALL, {"strides": (1, 1, 1, 1)}, SpecError, "strides to have 3 numbers"),
        ("resnet50", SMALL, {"stem": "large"}, SpecError, "expected 'cifar', 'tiny' or 'imagenet'"),
        ("vgg16", SMALL, {"widths": (8,) * 4}, SpecError, "widths to have 5 numbers"),
        ("atm", SMALL, {"widths": (8, 8, 16, 24)}, SpecError, "widths to be multiples of 4, 8, 8, 16"),
        ("atm", SMALL, {"depths": (1, 2, 2, 2)}, SpecError, "greater than or equal to 2"),
        ("atm", SMALL, {"size": "s"}, SpecError, "expected 'xt', 't' or 'b'"),
        ("vit", SMALL, {"dim": 30}, SpecError, r"dim \(30\) to be a multiple of heads \(8\)"),
        ("transformer", TEXT, {"dim": 9, "heads": 3}, SpecError, r"dim \(9\) to be even and a multiple"),
    ],
)
def test_what_a_user_can_get_wrong(name, given, options, error, words):
    with pytest.raises(error, match=words):
        made(name, given, **options)


PAGE = Path(__file__).parents[2] / "docs" / "architectures.md"


def test_the_page_has_every_architecture_with_its_number_of_parameters():
    rows = [line.split("|")[1:-1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    table = {row[0].strip(" `"): row for row in rows if len(row) == 5}
    missing = set(ARCHITECTURES) - {"import"} - set(table)
    assert not missing, f"docs/architectures.md: add a row of records, stages and parameters for {', '.join(missing)}"
    assert set(table) == set(ARCHITECTURES) - {"import"}
    for name, row in table.items():
        if number := re.match(r"\s*([\d,]+)", row[3]):
            assert counted(name, SMALL, 10) == int(number[1].replace(",", "")), name
        assert ("tokens" in row[1], "images" in row[1]) == tuple(
            kind in ARCHITECTURES[name].kinds for kind in ("tokens", "image")
        )


def test_the_pages_example_prints_what_it_says(capsys):
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    exec(code, {})
    assert capsys.readouterr().out.splitlines() == [line[2:] for line in code.splitlines() if line.startswith("# ")]
