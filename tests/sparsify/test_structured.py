"""Filters go with all that hangs on them: the smaller network answers as the masked one does, to 1e-5."""

import pytest
import torch
from torch import nn

from reticent.errors import ModelError
from reticent.models import ARCHITECTURES
from reticent.models.base import Input, build
from reticent.sparsify.masks import left, masked, prunable, whole
from reticent.sparsify.structured import coupled, pruned_filters, shrunk


@pytest.fixture(autouse=True)
def _own_random_numbers():
    """Networks begin with torch's global generator, which no test may leave changed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def moved(model, x):
    """Give norm layers other values than those that they begin with, as training would."""
    with torch.no_grad():
        for _ in range(3):
            model.train()(torch.randn(16, *x.shape[1:]))
        for module in model.modules():
            if isinstance(module, nn.modules.batchnorm._NormBase):
                nn.init.normal_(module.weight), nn.init.normal_(module.bias)
    return model.eval()


def built(make, *shape):
    x = torch.randn(4, *shape)
    return moved(make(), x), x


def architecture(name, **options):
    entry = ARCHITECTURES[name]
    return built(lambda: build(entry, entry.spec(**options), Input("image", (3, 32, 32)), 10), 3, 32, 32)


def pruned(model, x, shares=(0.5,), criterion="l1", scope="layer", skip=()):
    found, masks = coupled(model, x, skip), whole(prunable(model, skip))
    for share in shares:
        before = masks
        drawn = torch.Generator().manual_seed(0)
        masks = pruned_filters(dict(model.named_parameters()), found, masks, share, scope, criterion, drawn)
        assert all(not (masks[name] & ~before[name]).any() for name in before)
    return found, masks


def held_to(model, x, found, masks, skip=()):
    """Shrink, hold the small network against the masked one, and count what is left."""
    model.load_state_dict(masked(model.state_dict(), masks))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    small = shrunk(model, found, masks)
    with torch.no_grad():
        assert torch.allclose(model(x), small(x), rtol=0, atol=1e-5)
        assert torch.allclose(model.train()(x), small.train()(x), rtol=0, atol=1e-5), "batch statistics too"
    assert all(torch.equal(value, before[name]) for name, value in before.items())
    facts = left(model, masks, 1, skip)
    assert facts.parameters_left == sum(p.numel() for p in small.parameters())
    return small, facts


class Dense(nn.Module):
    """Two layers whose outputs are concatenated behind the input, with BatchNorm in front of each, as in DenseNet."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, padding=1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(6), nn.BatchNorm2d(10), nn.BatchNorm2d(14)])
        self.layers = nn.ModuleList([nn.Conv2d(6, 4, 3, padding=1), nn.Conv2d(10, 4, 3, padding=1)])
        self.head = nn.Linear(14 * 4, 5)

    def forward(self, x):
        x = self.stem(x)
        for norm, layer in zip(self.norms, self.layers, strict=False):
            x = torch.cat([x, layer(torch.relu(norm(x)))], 1)
        return self.head(nn.functional.adaptive_avg_pool2d(torch.relu(self.norms[2](x)), 2).flatten(1))


def test_resnet20_at_half_of_its_filters():
    model, x = architecture("resnet20")
    found, masks = pruned(model, x)
    small, facts = held_to(model, x, found, masks)
    assert [len(group) for group in found.values()] == [16] * 4 + [32] * 4 + [64] * 4
    assert small.stages[0][0].conv1.weight.shape == (8, 8, 3, 3)
    assert small.stages[1][0].shortcut[0].weight.shape == (16, 8, 1, 1)
    assert small.head[2].weight.shape == (10, 32)
    assert small.stages[2][2].bn2.running_var.shape == (32,)
    assert facts.parameters_left == 68_786


@pytest.mark.parametrize("name", ["vgg16", "resnet18", "cnn"])
def test_other_networks(name):
    options = {"cnn": {}, "vgg16": {"width": 8, "hidden": (20,), "pool": 2}, "resnet18": {"width": 8}}[name]
    model, x = architecture(name, **options)
    small, _ = held_to(model, x, *pruned(model, x, (0.75, 0.5), "l2"))
    ours = [m.out_channels for m in model.modules() if isinstance(m, nn.Conv2d)]
    assert [m.out_channels for m in small.modules() if isinstance(m, nn.Conv2d)] == [count // 2 for count in ours]


@pytest.mark.parametrize(
    "name",
    [pytest.param("vgg16", marks=pytest.mark.slow), pytest.param("densenet121", marks=pytest.mark.calibration)],
)
def test_the_papers_networks_in_full_size(name):
    model, x = architecture(name)
    small, _ = held_to(model, x, *pruned(model, x, (0.8, 0.4)))
    ours = [m.out_channels for m in model.modules() if isinstance(m, nn.Conv2d)]
    theirs = [m.out_channels for m in small.modules() if isinstance(m, nn.Conv2d)]
    assert theirs == [round(0.4 * count) for count in ours]


def test_concatenated_channels_and_norms_in_front_of_layers():
    model, x = built(Dense, 3, 8, 8)
    small, _ = held_to(model, x, *pruned(model, x))
    assert (small.stem.out_channels, small.layers[1].in_channels, small.head.in_features) == (3, 5, 28)
    assert small.norms[2].num_features == 7


def test_filters_go_by_their_norm_and_by_those_of_all_that_are_added():
    model, x = built(lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), 3)
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[3.0, 0, 0], [1.5, 1.5, 1.5], [0.1, 0, 0], [0.2, 0, 0]]))
    for criterion, row in (("l1", 1), ("l2", 0)):
        _, masks = pruned(model, x, (0.25,), criterion)
        assert masks["0.weight"].any(1).nonzero().view(-1).tolist() == [row]
        assert masks["0.bias"].nonzero().view(-1).tolist() == [row]
        assert masks["2.weight"].any(0).nonzero().view(-1).tolist() == [row]


def test_ranked_together_filters_of_all_layers_share_one_count():
    model, x = architecture("cnn")
    with torch.no_grad():
        model[0].weight.mul_(10)
    found, masks = pruned(model, x, (0.5,), scope="global")
    small, _ = held_to(model, x, found, masks)
    convs = [m for m in small.modules() if isinstance(m, nn.Conv2d)]
    assert sum(m.out_channels for m in convs) == round(0.5 * sum(map(len, found.values())))
    assert convs[0].out_channels == 32


def test_layers_that_are_skipped_stay_whole():
    model, x = architecture("cnn")
    small, _ = held_to(model, x, *pruned(model, x, skip=["4"]))
    assert [m.out_channels for m in small.modules() if isinstance(m, nn.Conv2d)] == [16, 64, 64]


def test_layers_that_are_held_or_meet_a_shared_weight_stay_whole():
    def make():
        layers = [nn.Linear(5, 5) for _ in range(5)]
        layers[0].weight.requires_grad_(False)
        layers[3].weight = layers[2].weight
        return nn.Sequential(*layers[:2], nn.ReLU(), *layers[2:4], nn.Linear(5, 4), nn.Linear(4, 3))

    model, x = built(make, 5)
    found, masks = pruned(model, x, skip=["3"])
    assert list(found) == [("5",)], "0 is held, 1 is read by the shared weight, 3 and 4 share it"
    held_to(model, x, found, masks, ["3"])


class Mixed(nn.Module):
    """Channels that are added to the input, are mixed, scale by their number, or pass an activation."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 3)
        self.norm = nn.LayerNorm(4) if kind == "mixed" else nn.Identity()

    def forward(self, x):
        inner = self.norm(self.first(x))
        if self.kind == "input":
            return self.last(x + inner)
        return self.last(torch.sigmoid(inner) / self.first.out_features if self.kind == "scaled" else inner.sigmoid())


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("input", "no filter can be pruned"),
        ("mixed", "no filter can be pruned"),
        ("scaled", r"without channels of zeros the network answers something else \(by 0\.\d+\)"),
    ],
)
def test_networks_whose_filters_cannot_go_are_refused(kind, words):
    model, x = built(lambda: Mixed(kind), 4)
    with pytest.raises(ModelError, match=rf"{words}.*\(structure=weights\)"):
        coupled(model, x)


def test_an_activation_that_makes_more_of_zero_changes_nothing_since_the_next_columns_go_too():
    model, x = built(lambda: Mixed("sigmoid"), 4)
    small, _ = held_to(model, x, *pruned(model, x))
    assert small.first.out_features == 2


def test_a_network_that_does_not_run_without_a_channel_is_refused():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.scale, self.last = nn.Linear(4, 6), nn.Parameter(torch.ones(6)), nn.Linear(6, 3)

        def forward(self, x):
            return self.last(self.first(x) * self.scale)

    model, x = built(Counts, 4)
    with pytest.raises(ModelError, match="does not run without some of its channels"):
        coupled(model, x)


def test_a_layer_that_would_vanish_is_refused_by_name():
    model, x = architecture("cnn")
    with pytest.raises(ModelError, match=r"none of the 32 of the layer '0': prune less.*skip=\[\"0\"\]"):
        pruned(model, x, (0.01,))


def test_grouped_convolutions_hold_what_they_read_and_make():
    def make():
        convolutions = [nn.Conv2d(3, 8, 1), nn.Conv2d(8, 8, 3, groups=8), nn.Conv2d(8, 8, 1), nn.Conv2d(8, 6, 1)]
        return nn.Sequential(*convolutions, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3))

    model, x = built(make, 3, 6, 6)
    found, masks = pruned(model, x)
    assert list(found) == [("2",), ("3",)]
    held_to(model, x, found, masks)
