import math
import subprocess
import sys

import pytest
import torch

from reticent.errors import SpecError
from reticent.training import optim
from reticent.training.optim import factor, optimizer
from reticent.training.recipe import Recipe


def test_constant():
    assert factor(Recipe(epochs=2), 5, 10) == 1.0


def test_warm_up_grows_linearly_and_ends_below_one():
    recipe = Recipe(epochs=4, warmup_epochs=1.0)
    assert [factor(recipe, s, 4) for s in range(5)] == [1 / 5, 2 / 5, 3 / 5, 4 / 5, 1.0]


def test_cosine_goes_from_one_to_nearly_zero():
    recipe = Recipe(epochs=10, schedule="cosine")
    assert factor(recipe, 0, 10) == 1.0
    assert factor(recipe, 50, 10) == pytest.approx(0.5)
    assert factor(recipe, 99, 10) == pytest.approx(0.5 * (1 + math.cos(math.pi * 0.99)))


def test_linear_falls_from_one_to_nearly_zero_by_equal_steps():
    recipe = Recipe(epochs=10, schedule="linear", warmup_epochs=2)
    assert [factor(recipe, s, 10) for s in (19, 20, 60, 99)] == pytest.approx([20 / 21, 1.0, 0.5, 1 / 80])


def test_multistep_falls_at_its_milestones():
    recipe = Recipe(epochs=10, schedule="multistep", milestones=(0.5, 0.75), decay=0.1)
    assert [factor(recipe, s, 2) for s in (9, 10, 14, 15)] == pytest.approx([1, 0.1, 0.1, 0.01])


TORCH = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, fused=True),
    "sgd-plain": lambda p: torch.optim.SGD(p, lr=0.1, fused=True),
    "sgd-nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, fused=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1, weight_decay=0.01, fused=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.01, fused=True),
}
OURS = {
    "sgd": Recipe(optimizer="sgd", learning_rate=0.1, weight_decay=0.01),
    "sgd-plain": Recipe(optimizer="sgd", learning_rate=0.1, momentum=0.0),
    "sgd-nesterov": Recipe(optimizer="sgd", learning_rate=0.1, nesterov=True),
    "adam": Recipe(optimizer="adam", learning_rate=0.1, weight_decay=0.01),
    "adamw": Recipe(optimizer="adamw", learning_rate=0.1, weight_decay=0.01),
}


def parameters():
    generator = torch.Generator().manual_seed(0)
    return [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in ((4, 3), (3,), (2, 2, 2))]


def hide(monkeypatch):
    """Let the kernels take other arguments than those that are known."""
    monkeypatch.setattr(optim, "KNOWN", dict.fromkeys(optim.KNOWN, "momentum lr"))
    for kind in (optim.Adam, optim.Sgd):
        monkeypatch.setattr(kind, "_update", lambda *_: pytest.fail("a kernel was called"))


def test_this_version_has_the_kernels():
    assert all(map(optim.usable, optim.KNOWN))


def test_a_kernel_that_is_gone_or_takes_something_else_is_not_usable(monkeypatch):
    hide(monkeypatch)
    assert not any(map(optim.usable, optim.KNOWN))
    monkeypatch.setitem(optim.KNOWN, "_fused_no_such_", "lr")
    assert not optim.usable("_fused_no_such_")


@pytest.mark.parametrize("name", OURS)
def test_training_without_the_kernels_has_the_same_bits(name, monkeypatch):
    ends = []
    for hidden in (False, True):
        if hidden:
            hide(monkeypatch)
        mine = parameters()
        made = optimizer(OURS[name], mine)
        generator = torch.Generator().manual_seed(2)
        for step in range(8):  # the first has its first gradient in the third step, and the last has none in it
            made.rate = 0.1 / (step + 1)
            made.zero_grad()
            for i, parameter in enumerate(mine):
                gradient = torch.randn(parameter.shape, generator=generator)
                if not (i == 0 and step < 2) and not (i == 2 and step == 2):
                    parameter.grad = gradient
            made.step()
        ends.append(mine)
    assert all(map(torch.equal, *ends))


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("unused", [(), (1,), (0, 2)], ids=["all", "one-unused", "two-unused"])
@pytest.mark.parametrize("hidden", [False, True], ids=["kernels", "no-kernels"])
def test_steps_are_those_of_torch_bit_for_bit(name, unused, hidden, monkeypatch):
    """Some parameters have no gradient in the first three steps, and one in the last three."""
    if hidden:
        hide(monkeypatch)
    mine, theirs = parameters(), parameters()
    made, reference = optimizer(OURS[name], mine), TORCH[name](theirs)
    fused = not (unused and reference.param_groups[0].get("momentum"))
    if not fused:  # torch's own fused SGD fails on parameters whose first gradient comes late
        reference = torch.optim.SGD(
            theirs, **{k: v for k, v in reference.defaults.items() if k != "fused"}, fused=False
        )
    generator = torch.Generator().manual_seed(1)
    for step in range(6):
        made.rate = reference.param_groups[0]["lr"] = 0.1 / (step + 1)
        made.zero_grad()
        reference.zero_grad()
        for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            gradient = torch.randn(a.shape, generator=generator)
            if step >= 3 or i not in unused:
                a.grad, b.grad = gradient.clone(), gradient.clone()
        made.step()
        reference.step()
        for a, b in zip(mine, theirs, strict=True):
            assert torch.equal(a, b) if fused else torch.allclose(a, b, rtol=1e-6, atol=0), (name, step)


def laid(values, layout):
    """Give the same values (2, 3, 4, 5) in another layout of memory."""
    if layout == "part":
        return torch.full((2, 3, 4, 7), 9.0)[..., :5].copy_(values)
    return values.to(memory_format=torch.channels_last) if layout == "channels last" else values.clone()


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("gradients", ["plain", "channels last", "part"])
@pytest.mark.parametrize("layout", ["plain", "channels last", "part"])
def test_steps_do_not_depend_on_how_numbers_lie_in_memory(name, layout, gradients):
    generator = torch.Generator().manual_seed(3)
    values, each = torch.randn(2, 3, 4, 5, generator=generator), torch.randn(3, 2, 3, 4, 5, generator=generator)
    ends = []
    for here, there in (("plain", "plain"), (layout, gradients)):
        parameter = torch.nn.Parameter(laid(values, here))
        made = optimizer(OURS[name], [parameter])
        for gradient in each:
            parameter.grad = laid(gradient, there)
            made.step()
        ends.append(parameter.detach())
    assert torch.allclose(*ends, rtol=1e-6, atol=1e-7)


def test_frozen_parameters_are_left_alone():
    frozen, free = parameters()[:2]
    frozen.requires_grad = False
    made = optimizer(Recipe(weight_decay=0.5), [frozen, free])
    before = frozen.clone()
    free.grad = torch.ones_like(free)
    made.step()
    assert torch.equal(frozen, before)
    assert len(made.parameters) == 1


@pytest.mark.slow
def test_training_does_not_import_the_compiler():
    code = (
        "import sys, torch; from reticent.training.optim import optimizer; from reticent.training.recipe import Recipe;"
        "p = torch.nn.Parameter(torch.ones(2)); p.grad = torch.ones(2); optimizer(Recipe(), [p]).step();"
        "print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_warm_up_longer_than_training_is_refused():
    with pytest.raises(SpecError, match="warmup_epochs at most epochs"):
        Recipe(epochs=2, warmup_epochs=3.0)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"epochs": -1}, "epochs: expected greater than or equal to 1, got -1"),
        ({"learning_rate": 0.0}, "learning_rate: expected greater than 0"),
        ({"optimizer": "adm"}, "optimizer: expected 'sgd', 'adam' or 'adamw', got 'adm'"),
        ({"epohcs": 3}, "unknown key 'epohcs': did you mean 'epochs'"),
        ({"batch_size": 0}, "batch_size"),
        ({"milestones": (1.5,)}, "milestones"),
    ],
)
def test_the_words_of_each_refusal(values, words):
    with pytest.raises(SpecError, match=words):
        Recipe(**values)
