import pytest
import torch
from owners import by_parameter
from torch import nn

from reticent.errors import ModelError
from reticent.models import ARCHITECTURES
from reticent.models.base import Input
from reticent.models.stages import Stage, Staged, stages


@pytest.fixture(autouse=True)
def _forked():
    """Building draws from torch's global generator; keep that inside each test."""
    with torch.random.fork_rng():
        yield


class Residual(nn.Module):
    """A block with a shortcut, as a user writes one."""

    def __init__(self, before, after):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after)
        self.conv2, self.bn2 = nn.Conv2d(after, after, 3, padding=1), nn.BatchNorm2d(after)
        self.downsample = nn.Sequential(nn.Conv2d(before, after, 1), nn.BatchNorm2d(after))


class LikeTorchvision(nn.Module):
    """The layout of torchvision's ResNets: pooling and ReLU are registered between layers."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        self.relu, self.maxpool = nn.ReLU(), nn.MaxPool2d(2)
        for index in range(1, 5):
            self.add_module(f"layer{index}", nn.Sequential(Residual(4, 4), Residual(4, 4)))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(4, 3)


class LikeViT(nn.Module):
    """A token and positions held by the network itself, and one list of blocks."""

    def __init__(self, blocks=3):
        super().__init__()
        self.token, self.positions = nn.Parameter(torch.zeros(1, 1, 8)), nn.Parameter(torch.zeros(1, 5, 8))
        self.patches = nn.Conv2d(3, 8, 4)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True) for _ in range(blocks))
        self.norm, self.classifier = nn.LayerNorm(8), nn.Linear(8, 3)


class Box(nn.Module):
    """A module that holds others."""


class LikeBERT(nn.Module):
    """A backbone in a module of its own, whose blocks lie in a module that wraps a list."""

    def __init__(self):
        super().__init__()
        self.bert = Box()
        self.bert.embeddings = nn.Embedding(9, 8)
        self.bert.encoder = Box()
        self.bert.encoder.layer = nn.ModuleList(Residual(2, 2) for _ in range(6))
        self.bert.pooler = nn.Linear(8, 8)
        self.dropout, self.classifier = nn.Dropout(0.1), nn.Linear(8, 3)


IMAGE = Input("image", (3, 32, 32))


def named(found):
    return {stage.name: (stage.modules, stage.output) for stage in found}


def built(name, given, **options):
    entry = ARCHITECTURES[name]
    return entry.build(entry.spec(**options), given, 10)


def test_the_hidden_blocks_of_the_mlp():
    found = stages(built("mlp", Input("image", (1, 4, 4)), widths=(8, 9), dropout=0.1))
    assert named(found) == {
        "block 1": (("0", "1", "2", "3"), "3"),
        "block 2": (("4", "5", "6"), "6"),
        "head": (("7",), "7"),
    }


def test_the_convolution_blocks_of_the_cnn_end_before_the_pooling_to_one_value():
    found = stages(built("cnn", Input("image", (3, 32, 32))))
    assert [stage.name for stage in found] == ["block 1", "block 2", "block 3", "head"]
    assert found[2] == Stage("block 3", ("8", "9", "10", "11"), "11")
    assert found[3].modules == ("12", "13", "14")


@pytest.mark.parametrize(("name", "count"), [("resnet18", 4), ("resnet20", 3)])
def test_a_resnets_shortcut_belongs_to_the_stage_whose_first_block_it_is(name, count):
    model = built(name, Input("image", (3, 32, 32)), width=4)
    found = stages(model)
    assert [stage.name for stage in found] == ["stem", *(f"stage {i}" for i in range(1, count + 1)), "head"]
    owner = by_parameter(model, found)
    assert owner["stages.1.0.shortcut.0.weight"] == "stage 2"
    assert owner["stem.1.bias"] == "stem"
    assert found[2].holds("stages.1.0.bn1.running_mean")
    assert not found[2].holds("stages.10.weight")


def test_the_layout_of_torchvisions_resnets():
    found = stages(LikeTorchvision())
    assert named(found) == {
        "conv1": (("conv1", "bn1", "relu", "maxpool"), "bn1"),
        **{f"layer{i}": ((f"layer{i}",), f"layer{i}") for i in range(1, 5)},
        "head": (("avgpool", "fc"), "fc"),
    }


def test_one_list_of_blocks_is_opened_and_its_owners_parameters_go_to_the_first_stage():
    found = stages(LikeViT())
    assert found[0] == Stage("patches", ("patches",), "patches", ("token", "positions"))
    assert [stage.name for stage in found] == ["patches", "blocks.0", "blocks.1", "blocks.2", "head"]
    assert found[3].modules == ("blocks.2", "norm")
    assert found[3].output == "norm"


def test_a_backbone_in_a_module_of_its_own_is_opened():
    names = [stage.name for stage in stages(LikeBERT())]
    assert names == ["bert.embeddings", *(f"bert.encoder.layer.{i}" for i in range(6)), "bert.pooler", "head"]


def test_features_and_classifier_are_opened_where_they_are_all_there_is():
    convolutions = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3), nn.ReLU()]
    model = Box()
    model.features, model.avgpool = nn.Sequential(*convolutions), nn.AdaptiveAvgPool2d(1)
    model.classifier = nn.Sequential(nn.Dropout(), nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    assert named(stages(model)) == {
        "features.0": (("features.0", "features.1", "features.2", "features.3"), "features.3"),
        "features.4": (("features.4", "features.5"), "features.5"),
        "classifier.1": (("avgpool", "classifier.0", "classifier.1", "classifier.2"), "classifier.2"),
        "head": (("classifier.3",), "classifier.3"),
    }


def test_a_shared_activation_is_never_the_output_outside_a_sequential():
    model = Box()
    model.norm, model.one, model.act, model.two = nn.BatchNorm1d(4), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)
    assert named(stages(model)) == {"one": (("norm", "one", "act"), "one"), "head": (("two",), "two")}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (nn.Linear(3, 2), Stage("head", ("",), "")),
        (nn.LayerNorm(3), Stage("head", ("",), "")),
        (nn.Sequential(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))), Stage("head", ("0",), "0")),
    ],
    ids=["linear", "norm", "nested"],
)
def test_a_network_of_one_layer_is_all_head(model, expected):
    found = stages(model)
    assert [stage.name for stage in found] == ["head"]
    assert all(found[0].holds(name) for name in model.state_dict())
    model.get_submodule(found[0].output)
    assert expected.name == found[0].name


def test_patterns_are_stages_in_their_order_and_take_names_of_parameters_too():
    found = stages(LikeViT(), ["patches, token, positions", "blocks.[01]", "blocks.2,norm", "classifier"])
    assert found[0] == Stage("patches, token, positions", ("patches",), "patches", ("token", "positions"))
    assert found[1] == Stage("blocks.[01]", ("blocks.0", "blocks.1"), "blocks.1")
    assert found[2].output == "norm"
    assert found[3] == Stage("head", ("classifier",), "classifier")


def test_the_output_of_a_module_list_is_its_last_module():
    found = stages(LikeViT(), ["patches,token,positions", "blocks", "norm,classifier"])
    assert found[1] == Stage("blocks", ("blocks",), "blocks.2")


@pytest.mark.parametrize(
    ("patterns", "words"),
    [
        (["layr1", "fc"], "stage pattern 'layr1' matches no module: did you mean 'layer1'"),
        (["conv1,bn1,layr1", "fc"], "stage pattern 'layr1' matches no module"),
        (
            ["conv1,bn1,layer?", "layer4", "fc"],
            r"'layer4.0.conv1.weight' is in two stages, 'conv1,bn1,layer\?' and 'lay",
        ),
        (
            ["layer1", "layer[234]", "fc"],
            "parameters in no stage: conv1.weight, conv1.bias, bn1.weight, bn1.bias; add",
        ),
        (["conv1,bn1,layer1", "fc"], "layer2.0.conv1.weight, .* and 67 more; add a pattern"),
        (["conv1.weight", "fc"], "'conv1.weight' matches parameters and no module"),
        (["fc", "fc", "*"], "two stages are named"),
        (["", "fc"], "stage pattern '' matches no module"),
    ],
)
def test_what_a_user_can_get_wrong_in_patterns(patterns, words):
    with pytest.raises(ModelError, match=words):
        stages(LikeTorchvision(), patterns)


def test_tied_parameters_in_two_stages_are_refused_and_may_share_one():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    model[2].weight = model[0].weight
    with pytest.raises(ModelError, match=r"'0.weight' and '2.weight' are one tensor"):
        stages(model)
    assert [stage.name for stage in stages(model, ["*"])] == ["head"]


def test_a_network_without_parameters_is_refused():
    with pytest.raises(ModelError, match="ReLU has no parameters"):
        stages(nn.ReLU())


def test_a_users_own_outline_is_taken_and_checked():
    class Mine(Staged):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

        def outline(self):
            return [Stage("all of a", ("a",), "a"), Stage("head", ("b",) if self.whole else ("a",), "b")]

    model = Mine()
    model.whole = True
    assert [stage.name for stage in stages(model)] == ["all of a", "head"]
    model.whole = False
    with pytest.raises(ModelError, match=r"'a.weight' is in two stages"):
        stages(model)
    with pytest.raises(NotImplementedError):
        Staged().outline()


def test_every_architectures_parameters_are_in_one_stage_and_outputs_are_modules():
    shapes = {
        "image": Input("image", (3, 32, 32)),
        "tabular": Input("tabular", (12,)),
        "tokens": Input("tokens", (16,), 30),
    }
    for name, entry in ARCHITECTURES.items():
        if name == "import":
            continue
        with torch.device("meta"):
            model = built(name, shapes[entry.kinds[0]])
        found = stages(model)
        assert list(by_parameter(model, found)) == [n for n, _ in model.named_parameters()], name
        assert found[-1].name == "head"
        assert all(stage.output in dict(model.named_modules()) for stage in found)
