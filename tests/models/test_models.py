import pytest
import torch

from reticent.errors import InputError, ModelError
from reticent.models import ARCHITECTURES
from reticent.models.base import Input, build
from reticent.models.cnn import CNN
from reticent.models.mlp import MLP
from reticent.models.user import Factory
from reticent.spec import canonical


@pytest.fixture(autouse=True)
def _forked():
    """Building draws from torch's global generator; keep that inside each test."""
    with torch.random.fork_rng():
        yield


IMAGE = Input("image", (3, 32, 32))
GIVEN = {"mlp": Input("tabular", (20,)), "cnn": IMAGE, "resnet18": IMAGE, "resnet20": IMAGE}
SPECS = {"cnn": {}, "mlp": {}, "resnet18": {"width": 8}, "resnet20": {}}


def make(name, given=None, classes=10, **options):
    entry = ARCHITECTURES[name]
    return build(entry, entry.spec(**options), given or GIVEN[name], classes)


def count(model):
    return sum(p.numel() for p in model.parameters())


def test_the_table_has_every_architecture_and_names_agree():
    deeper = {"resnet34", "resnet50", "resnet101", "resnet152", "vgg11", "vgg16", "vgg19"}
    others = {"fc", "fast-resnet", "densenet121", "vit", "atm", "transformer", "import"}
    assert set(ARCHITECTURES) == {*SPECS, *deeper, *others}
    assert all(entry.spec.method == name for name, entry in ARCHITECTURES.items())


def test_resnet20_has_the_published_number_of_parameters():
    assert count(make("resnet20")) == 272_474


def test_resnet18_has_the_published_number_of_parameters():
    assert count(make("resnet18")) == 11_173_962


def test_the_mlp_of_the_default_audit():
    assert count(make("mlp", Input("tabular", (64,)))) == 64 * 256 + 256 + 256 * 256 + 256 + 2570


@pytest.mark.parametrize(("columns", "classes", "weights"), [(446, 30, 151_198), (600, 100, 199_652)])
def test_the_papers_network_for_location30_and_purchase100(columns, classes, weights):
    """mia_prune's ColumnFC: 256 and 128 units with ReLU, dropout 0.1 after each."""
    model = make("fc", Input("tabular", (columns,)), classes)
    assert count(model) == weights
    assert [m.p for m in model.modules() if isinstance(m, torch.nn.Dropout)] == [0.1, 0.1]


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("classes", [2, 7])
def test_every_architecture_answers_logits_and_learns(name, classes):
    model = make(name, classes=classes, **SPECS[name])
    x = torch.randn(4, *GIVEN[name].shape)
    logits = model(x)
    assert logits.shape == (4, classes)
    logits.logsumexp(1).sum().backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in model.parameters())


@pytest.mark.parametrize("name", SPECS)
def test_the_same_global_seed_gives_the_same_weights(name):
    torch.manual_seed(0)
    first = make(name, **SPECS[name])
    torch.manual_seed(0)
    second = make(name, **SPECS[name])
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_the_mlp_flattens_images():
    assert make("mlp", Input("image", (1, 8, 8)))(torch.randn(2, 1, 8, 8)).shape == (2, 10)


def test_dropout_is_an_option():
    assert any(isinstance(m, torch.nn.Dropout) for m in make("mlp", dropout=0.5))


def test_images_too_small_are_refused():
    with pytest.raises(InputError, match="need images of 8 pixels, got 4 x 4"):
        make("cnn", Input("image", (1, 4, 4)))


def test_records_of_the_wrong_kind_are_refused():
    with pytest.raises(InputError, match="'resnet20' takes image records, got tabular of shape"):
        make("resnet20", GIVEN["mlp"])


def test_specs_say_what_differs_from_the_default():
    assert canonical(MLP(widths=(8,))) == {"method": "mlp", "widths": [8]}
    assert canonical(CNN()) == {"method": "cnn"}


@pytest.fixture
def user_module(tmp_path, monkeypatch):
    import importlib
    import sys

    def write(text, name="user_net"):
        (tmp_path / f"{name}.py").write_text(text)
        sys.modules.pop(name, None)
        importlib.invalidate_caches()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield write
    for name in ("user_net", "user_helper"):
        sys.modules.pop(name, None)


NET = "import torch\ndef net(input_shape, classes):\n    return torch.nn.Linear(input_shape[0], classes)\n"


def test_a_users_factory_gets_what_its_parameters_name(user_module):
    user_module(NET)
    assert make("import", GIVEN["mlp"], 3, factory="user_net:net")(torch.zeros(1, 20)).shape == (1, 3)


def test_a_users_network_takes_butterfly_layers(user_module):
    layers = "torch.nn.Linear(input_shape[0], 32), torch.nn.ReLU(), torch.nn.Linear(32, classes)"
    user_module(f"import torch\ndef net(input_shape, classes):\n    return torch.nn.Sequential({layers})\n")
    made = make("import", GIVEN["mlp"], 3, factory="user_net:net", butterfly={"layers": ["0"]})
    assert [type(part).__name__ for part in made] == ["ButterflyLinear", "ReLU", "Linear"]
    assert made(torch.zeros(2, 20)).shape == (2, 3)


def test_a_changed_line_changes_the_identity(user_module):
    user_module(NET)
    first = Factory(factory="user_net:net").resolve()
    user_module(NET + "# another line\n")
    assert Factory(factory="user_net:net").resolve() != first


def test_a_changed_helper_changes_the_identity(user_module):
    user_module("WIDTH = 3\n", "user_helper")
    user_module("import user_helper\n" + NET)
    first = Factory(factory="user_net:net").resolve()
    user_module("WIDTH = 4\n", "user_helper")
    user_module("import user_helper\n" + NET)
    assert Factory(factory="user_net:net").resolve() != first


def test_code_that_changed_under_way_is_refused(user_module):
    user_module(NET)
    spec = Factory(factory="user_net:net").resolve()
    user_module(NET + "\n")
    with pytest.raises(ModelError, match="its source changed"):
        build(ARCHITECTURES["import"], spec, GIVEN["mlp"], 3)


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        ("user_net:ned", "has no 'ned': did you mean 'net'"),
        ("user_nett:net", "no module named 'user_nett'; looked in"),
        ("user_net:broken", r"user_net:broken failed: ValueError: no .*user_net\.py, line 5"),
        ("user_net:number", "expected a function or a class, got int"),
        ("user_net:nothing", "expected a torch.nn.Module, got NoneType"),
        ("user_net:wants", "needs an argument 'width', and only input_shape, classes, vocabulary are passed"),
        ("user_net:lazy", "user_net:lazy: weight has no shape yet, as in a lazy module"),
        ("user_net:meta", "user_net:meta: weight is on the meta device, and has no values: expected a network that is"),
        ("user_net:buffer", r"1.running_mean is on the meta device, .* build it on the CPU \(without torch.device"),
        ("user net", "expected an import string"),
    ],
)
def test_what_a_user_can_get_wrong(user_module, factory, words):
    more = "def broken():\n    raise ValueError('no')\nnumber = 3\ndef nothing():\n    return None\n"
    more += "def wants(classes, width, *rest, **options):\n    return None\n"
    more += "def lazy():\n    return torch.nn.LazyLinear(3)\n"
    more += "def meta():\n    with torch.device('meta'):\n        return torch.nn.Linear(5, 3)\n"
    more += "def buffer():\n    last = torch.nn.BatchNorm1d(3, affine=False, device='meta')\n"
    more += "    return torch.nn.Sequential(torch.nn.Linear(5, 3), last)\n"
    user_module(NET + more)
    with pytest.raises((InputError, ModelError), match=words):
        make("import", GIVEN["mlp"], 3, factory=factory)


def test_a_factory_whose_wrapper_gives_what_it_asks_for_is_no_mistake(user_module):
    more = "import functools\ndef given(make):\n    @functools.wraps(make)\n    def whole(classes):\n"
    more += "        return make(classes, 5)\n    return whole\n"
    more += "@given\ndef wrapped(classes, width):\n    return torch.nn.Linear(width, classes)\n"
    user_module(NET + more)
    assert make("import", GIVEN["mlp"], 3, factory="user_net:wrapped").in_features == 5


def test_a_module_that_fails_on_import_is_named_with_its_line(user_module):
    user_module("import torch\n1 / 0\n")
    with pytest.raises(InputError, match=r"ZeroDivisionError: division by zero .*user_net\.py, line 2"):
        make("import", GIVEN["mlp"], 3, factory="user_net:net")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((5, 7), r"got 5 x 7: give --set recipe\.architecture\.widths=\[32,64\], or --architecture mlp"),
        ((1, 7), r"got 1 x 7: give --architecture mlp"),
    ],
)
def test_images_too_small_for_the_cnn_are_told_what_takes_them(size, words):
    with pytest.raises(InputError, match=words):
        make("cnn", Input("image", (1, *size)), 2)
