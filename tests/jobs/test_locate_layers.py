"""`locate layers` from beginning to end: who trains on what, what is found again, what is written, what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import reticent
from reticent.cli import app
from reticent.cli.run import guarded
from reticent.data.records import Records
from reticent.errors import InputError, ModelError, SpecError
from reticent.findings.locate import LayersDocument
from reticent.jobs.locate.layers import prepare
from reticent.jobs.locate.networks import ALL, HALVES, Networks
from reticent.locate.probe import Probe
from reticent.report.kinds.layers import layers
from reticent.report.render.html import html
from reticent.store import Store

pytestmark = pytest.mark.words

QUICK = {
    "dataset": "digits",
    "records": 150,
    "epochs": 2,
    "architecture__widths": [12, 8],
    "seeds": 2,
    "replicates": 100,
    "workers": 1,
    "probe__width": 32,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("layers")


@pytest.fixture(scope="module")
def found(folder):
    return reticent.locate_layers(**QUICK, store=folder / "store", out=folder / "out")


def planned(tmp_path, **changes):
    job, options = prepare(None, QUICK | {"store": tmp_path / "store"} | changes)
    return Networks(job, options, options.test)


def test_the_document_is_written_and_holds_each_stage(found, folder):
    assert [path.name for path in found.files] == ["layers.html", "layers.json"]
    written = json.loads((folder / "out" / "layers.json").read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(found.document))
    assert written["schema"] == "reticent.locate.layers/1"
    assert [stage["name"] for stage in written["stages"]] == [stage.name for stage in found.onset.stages]
    assert [stage["size"] for stage in written["stages"]] == [12, 8, 10]
    assert [stage["parameters"] for stage in written["stages"]] == [64 * 12 + 12, 12 * 8 + 8, 8 * 10 + 10]
    assert sum(stage["share"] for stage in written["stages"]) == pytest.approx(1)
    assert written["sentence"] == found.sentence
    assert written["options"]["probe"]["width"] == 32
    assert written["onset"]["contrasts"] == 4


def test_networks_that_learned_nothing_are_told(found):
    """Two epochs at a small rate: no stage shows anything, and that is no sign of safety."""
    models = found.document["models"]
    idle = [one for one in models if one["accuracy_members"] < 0.15]
    assert idle
    assert {one["learned"] for one in idle} == {False}
    count = sum(not one["learned"] for one in models)
    assert any(line.startswith(f"{count} of 6 networks did not learn") for line in found.document["detail"])


def test_histograms_hold_every_distance(found):
    assert found.document["data"]["trained_on"] == len(found.ids) == 120
    for index, stage in enumerate(found.document["stages"]):
        drawn = stage["distances"]
        assert sum(drawn["both"]) + sum(drawn["one"]) == 4 * len(found.ids)
        single = np.concatenate([one.distances[index][one.one] for one in found.contrasts])
        assert drawn["means"]["one"] == pytest.approx(single.mean())
        assert sum(drawn["one"]) == len(single)


def test_models_steps_and_accuracies_are_told(found):
    models = found.document["models"]
    assert [(m["repetition"], m["trained_on"]) for m in models] == [(k, w) for k in (0, 1) for w in (ALL, *HALVES)]
    assert [m["members"] for m in models] == [120, 60, 60] * 2
    assert [(m["epochs"], m["steps"]) for m in models] == [(2, 4), (2, 2), (2, 2)] * 2
    wholes = [m["accuracy_test"] for m in models if m["trained_on"] == ALL]
    assert found.document["accuracy"]["mean"] == pytest.approx(np.mean(wholes))


def trained(tmp_path, **changes):
    asked = QUICK | {"seeds": 1, "store": tmp_path / "store", "out": tmp_path / "out"} | changes
    return reticent.locate_layers(**asked).document["models"]


def test_epochs_and_steps_are_those_that_were_taken(tmp_path):
    models = trained(tmp_path, stop_after=1.5, batch_size=30)
    assert [(m["epochs"], m["steps"]) for m in models] == [(2, 6), (2, 3), (2, 3)]
    impatient = trained(tmp_path / "impatient", patience=1, validation=20, learning_rate=1.0, epochs=30, batch_size=30)
    for model in impatient:
        assert 2 <= model["epochs"] < 30
        assert model["steps"] == model["epochs"] * -(-model["members"] // 30)


def test_steps_of_a_procedure_of_its_own_are_not_guessed(tmp_path):
    models = trained(tmp_path, procedure="dpsgd")
    assert [(m["epochs"], m["steps"]) for m in models] == [(2, None)] * 3
    assert "–" in (tmp_path / "out" / "layers.html").read_text(encoding="utf-8")


def test_the_store_serves_the_same_call_again_and_new_options_train_nothing(found, folder):
    again = reticent.locate_layers(**QUICK, store=folder / "store", out=folder / "again")
    assert again.document["environment"]["models_found"] == 6
    kept = {key: value for key, value in again.document.items() if key != "environment"}
    assert kept == {key: value for key, value in found.document.items() if key != "environment"}
    job, options = prepare(None, QUICK | {"margin": 0.0, "seeds": 1, "store": folder / "store"})
    others = Networks(job, options, options.test).groups[0][0]
    assert [others.training_id(row) for row in range(3)] == [model["run"] for model in found.document["models"][:3]]


@pytest.mark.slow
def test_an_interrupted_run_goes_on(found, folder, tmp_path):
    runs = [model["run"] for model in found.document["models"]]
    store = Store(folder / "store")
    gone = store.find(runs[4])
    store.remove(gone.id)
    signals = [path.name for path in (folder / "store" / "runs").iterdir()]
    for name in signals:
        if store.find(name).facts.get("of") == runs[4]:
            store.remove(name)
    again = reticent.locate_layers(**QUICK, store=folder / "store", out=tmp_path)
    assert again.document["environment"]["models_found"] == 5
    assert again.document["stages"] == found.document["stages"]


def test_networks_of_a_repetition_begin_with_the_same_weights(found, folder):
    store = Store(folder / "store")
    initial = [store.find(m["run"]).arrays("initial.safetensors") for m in found.document["models"]]
    for k in (0, 3):
        assert all(np.array_equal(initial[k][n], initial[j][n]) for j in (k + 1, k + 2) for n in initial[k])
    assert not all(np.array_equal(initial[0][n], initial[3][n]) for n in initial[0])
    assert len({m["run"] for m in found.document["models"]}) == 6


def test_no_weights_are_written_beside_the_finding(found, folder):
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["layers.html", "layers.json"]


def test_halves_share_nothing_and_test_records_are_in_none(tmp_path):
    probes = planned(tmp_path)
    for repetition in (0, 1):
        whole, first, second = (probes.rows[repetition, what] for what in (ALL, *HALVES))
        assert not (first & second).any()
        assert np.array_equal(first | second, whole)
        assert np.array_equal(whole, ~probes.test)
    assert not np.array_equal(probes.rows[0, HALVES[0]], probes.rows[1, HALVES[0]])


def test_exact_duplicates_are_on_one_side(tmp_path):
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=(60, 4)), 2, axis=0)
    job, options = prepare(
        None,
        {
            "dataset": Records.make(x, np.arange(120) // 2 % 2),
            "architecture": "mlp",
            "models": None,
            "store": tmp_path,
            "seeds": 2,
        },
    )
    probes = Networks(job, options, options.test)
    for part in (probes.test, *probes.rows.values()):
        assert np.array_equal(part[::2], part[1::2])


def test_equal_steps_give_halves_twice_the_epochs(tmp_path):
    probes = planned(tmp_path, equalise="steps", batch_size=10)
    assert [len(population.drawing) for population, _ in probes.groups] == [2, 4]
    assert [population.recipe.epochs for population, _ in probes.groups] == [2, 4]
    assert [{what for _, what in keys} for _, keys in probes.groups] == [{ALL}, {*HALVES}]
    with pytest.raises(InputError, match="expected seeds of at least 2, got 1"):
        planned(tmp_path, equalise="steps", seeds=1)


def test_a_network_of_ones_own_with_stages_by_pattern(own_folder):
    (own_folder / "mine_net.py").write_text(
        "from torch import nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, classes):\n"
        "        super().__init__()\n"
        "        self.body = nn.ModuleList([nn.Linear(64, 8), nn.Linear(8, 8)])\n"
        "        self.fc = nn.Linear(8, classes)\n"
        "    def forward(self, x):\n"
        "        for layer in self.body:\n"
        "            x = layer(x).relu()\n"
        "        return self.fc(x)\n"
    )
    values = QUICK | {"seeds": 1, "swap": False, "probe": None}
    del values["architecture__widths"], values["probe__width"]
    found = reticent.locate_layers(
        **values, architecture="mine_net:Net", stages=("body.0", "body.1", "fc"), store="s", out="o"
    )
    assert [(stage["name"], stage["output"]) for stage in found.document["stages"]] == [
        ("body.0", "body.0"),
        ("body.1", "body.1"),
        ("head", "fc"),
    ]
    assert found.document["stages"][0]["probe"] is None
    assert found.document["options"]["probe"] is None
    with pytest.raises(ModelError, match="stage pattern 'layer9' matches no module"):
        reticent.locate_layers(**values, architecture="mine_net:Net", stages=("layer9", "fc"), store="n", out="p")
    assert not Path("n").exists(), "known before training"


@pytest.mark.slow
def test_training_of_ones_own_is_compared_too(own_folder):
    (own_folder / "mine_train.py").write_text(
        "import torch\n"
        "from torch import nn\n"
        "def train(x, y, seed):\n"
        "    torch.manual_seed(seed)\n"
        "    net = nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 10))\n"
        "    step = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "    for _ in range(3):\n"
        "        loss = nn.functional.cross_entropy(net(torch.as_tensor(x).float()), torch.as_tensor(y))\n"
        "        step.zero_grad(); loss.backward(); step.step()\n"
        "    return net\n"
    )
    with torch.random.fork_rng():
        found = reticent.locate_layers(
            dataset="digits",
            records=150,
            train="mine_train:train",
            seeds=1,
            replicates=100,
            workers=1,
            probe="none",
            store="s",
            out="o",
        )
    assert [stage["size"] for stage in found.document["stages"]] == [8, 10]
    assert all(0 < stage["distances"]["means"]["both"] < 10 for stage in found.document["stages"])


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"attacks": "lira"}, SpecError, "attacks: means nothing to reticent locate layers: leave it out"),
        ({"models": 4}, SpecError, "models: means nothing to reticent locate layers, which trains .*: give --seeds"),
        ({"seed": 0, "seeds": 0}, SpecError, "seeds"),
        ({"equalise": "time"}, SpecError, "'epochs' or 'steps'"),
        ({"probe": "tree"}, SpecError, "expected svm, none or a table of options, got 'tree'"),
        ({"probe": {"width": 0}}, SpecError, "width"),
        ({"margins": 0.1}, SpecError, "unknown key 'margins'"),
        ({"test": 0.9}, InputError, "at least 10 records in each half"),
        ({"stages": ("0", "2")}, ModelError, "parameters in no stage"),
    ],
)
def test_bad_input_is_refused_before_training(tmp_path, values, error, message):
    given = QUICK | {"store": tmp_path / "store", "out": tmp_path / "out"} | values
    if "probe" in values:
        del given["probe__width"]
    with pytest.raises(error, match=message):
        reticent.locate_layers(**given)
    assert not (tmp_path / "store" / "runs").exists()


def test_options_of_the_probe_are_reached_by_dots():
    _, options = prepare(None, QUICK | {"probe__penalty": 0.5, "stages": "0"})
    assert options.probe == Probe(width=32, penalty=0.5)
    assert options.stages == ("0",)
    assert (options.replicates, options.confidence) == (100, 0.95)


@pytest.mark.slow
def test_the_command_prints_the_table(folder, found, capsys):
    line = f"locate layers --dataset digits --records 150 --epochs 2 --workers 1 --seeds 2 --store {folder / 'store'} "
    line += "--set recipe.architecture.widths=[12,8] --set probe.width=32 --set replicates=100"
    assert guarded(app, [*line.split(), "--out", str(folder / "cli")]) == 0
    shown = capsys.readouterr()
    assert found.sentence.split(";")[0] in shown.out.replace("\n", " ")
    assert "block 1" in shown.out
    assert "layers.json" in shown.out
    assert guarded(app, ["locate", "layers", "--stage", "nothing", "--stage", "0", "--out", str(folder / "cli")]) == 2
    assert "matches no module" in capsys.readouterr().err


def test_the_page_shows_every_stage(found, folder):
    page = (folder / "out" / "layers.html").read_text(encoding="utf-8")
    assert page == html(layers(found.findings))
    for stage in found.document["stages"]:
        assert f"Distances of feature maps at {stage['name']}" in page
        assert f"{stage['effect']['mean']:.3f}" in page


def test_names_of_modules_are_escaped(found):
    stages = [found.document["stages"][0] | {"name": "<b>&x", "probe": None}]
    changed = found.document | {"stages": stages, "sentence": "<script>", "detail": ["<i>warned</i>"]}
    page = html(layers(LayersDocument.read(changed)))
    assert "<b>&x" not in page
    assert "&lt;b&gt;&amp;x" in page
    assert "<i>warned" not in page
