"""The main job from end to end, small: files, numbers, determinism, health, roles, queries, code of a user."""

import csv
import json
import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

import reticent
from reticent.data.roles import Roles
from reticent.errors import ModelError
from reticent.findings.audit import AuditDocument
from reticent.report.kinds.audit import audit as kind
from reticent.report.render.terminal import terminal
from reticent.store import Store

KEYS = [
    "schema",
    "verdict",
    "data",
    "recipe",
    "population",
    "attacks",
    "left_out",
    "epsilon",
    "groups",
    "exposure",
    "records",
    "non_adaptive",
    "control",
    "environment",
]
SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "schema.md"


def small(folder, **values):
    usual = {"records": 200, "models": 6, "epochs": 5, "workers": 1, "replicates": 200}
    return reticent.audit(**usual | {"store": folder / "store", "out": folder / "out"} | values)


def quick(folder, **values):
    return small(folder, **{"attacks": ["loss"], "models": 4, "epochs": 2, "replicates": 100} | values)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    return folder, small(folder)


def shown(document):
    console = Console(file=StringIO(), width=120)
    console.print(terminal(kind(AuditDocument.read(document))))
    return console.file.getvalue()


def plain(document):
    return {key: value for key, value in document.items() if key != "environment"}


def test_the_three_files_hold_what_the_call_answers(done):
    folder, audited = done
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["audit.json", "records.csv", "report.html"]
    assert {path.name for path in audited.files} == {"audit.json", "records.csv", "report.html"}
    document = json.loads((folder / "out" / "audit.json").read_text())
    assert list(document) == list(audited.document) == KEYS
    assert document == audited.document
    assert document["schema"] == "reticent.audit/1"
    assert [attack["name"] for attack in document["attacks"]] == list(audited.scores)


def test_one_row_a_record_with_the_documented_columns(done):
    folder, audited = done
    with (folder / "out" / "records.csv").open(newline="") as stream:
        reader = csv.DictReader(stream)
        rows = list(reader)
    assert sorted(int(row["record"]) for row in rows) == audited.ids.tolist()
    assert len(rows) == 200
    section = SCHEMA.read_text().split("## `records.csv`")[1].split("\n## ")[0]
    assert set(reader.fieldnames) <= set(re.findall(r"`([a-z_]+)`", section))
    exposures = [float(row["exposure"]) for row in rows]
    assert exposures == sorted(exposures, reverse=True)
    assert [row["exposure"] for row in audited.rows] == exposures
    for row in rows:
        assert (row["models_in"], row["models_out"]) == ("3", "3")
        assert row["label_name"] == row["label"]


@pytest.mark.slow
def test_two_runs_agree_in_all_but_the_environment(done, tmp_path):
    _, audited = done
    again = small(tmp_path)
    assert plain(again.document) == plain(audited.document)
    assert again.rows == audited.rows
    assert all(np.array_equal(again.scores[name], scores) for name, scores in audited.scores.items())


def test_times_stand_under_environment_only(done):
    _, audited = done
    text = json.dumps(plain(audited.document))
    assert not re.search(r'"[a-z_]*(seconds|started|finished|elapsed)[a-z_]*":', text)
    assert not re.search(r"\d{4}-\d\d-\d\dT\d\d", text)
    environment = audited.document["environment"]
    assert {"started", "seconds_training", "seconds_scoring", "models_found", "peak_memory_bytes"} <= set(environment)
    assert environment["models_found"] == 0


def test_finished_models_are_found_and_give_equal_numbers(done, tmp_path):
    folder, audited = done
    states = []
    again = small(folder, out=tmp_path / "out", progress=states.append)
    assert again.document["environment"]["models_found"] == 6
    assert [(state.done, state.found) for state in states] == [(6, 6)]
    assert plain(again.document) == plain(audited.document)


def naive_auc(scores, members):
    inside, outside = scores[members], scores[~members]
    return np.mean([(a > outside).mean() + (a == outside).mean() / 2 for a in inside])


def test_scores_are_higher_for_members_and_give_the_documents_auc(done):
    _, audited = done
    assert audited.membership.sum(axis=0).tolist() == [3] * 200
    for attack in audited.document["attacks"]:
        scores = audited.scores[attack["name"]]
        assert scores.shape == audited.membership.shape
        naive = [naive_auc(scores[row["model"]], audited.membership[row["model"]]) for row in attack["targets"]]
        assert [row["auc"]["value"] for row in attack["targets"]] == pytest.approx(naive, abs=1e-12)
        assert attack["overall"]["auc"]["mean"] == pytest.approx(np.mean(naive), abs=1e-12)
    assert audited.document["attacks"][0]["overall"]["auc"]["mean"] > 0.5


def test_the_numbers_of_the_models_are_those_of_their_signals(done):
    folder, audited = done
    labels = reticent.load("digits").y[audited.ids]
    facts = audited.document["population"]
    store = Store(folder / "store")
    for row in facts["per_model"]:
        spec = json.loads(next((folder / "store" / "runs").glob(f"{row['run']}/spec.json")).read_text())
        assert (spec["kind"], spec["model"]) == ("training", row["model"])
        assert store.find(row["run"]) is not None
        assert row["members"] == audited.membership[row["model"]].sum()
        assert row["accuracy_members"] > row["accuracy_non_members"] - 0.1
    assert facts["accuracy"]["members"]["mean"] == pytest.approx(
        np.mean([row["accuracy_members"] for row in facts["per_model"]])
    )
    assert (facts["models"], facts["parameters"], facts["health"]) == (6, 64 * 256 + 256 * 257 + 257 * 10 + 256, [])
    assert [int(row["label"]) for row in sorted(audited.rows, key=lambda row: row["record"])] == labels.tolist()


@pytest.mark.words
def test_models_at_chance_are_named(tmp_path):
    audited = quick(tmp_path, epochs=1, learning_rate=1e-9)
    document = audited.document
    sick = document["population"]["health"]
    assert [row["model"] for row in sick] == [0, 1, 2, 3]
    assert all("always naming the commonest class gives" in row["problem"] for row in sick)
    said = [sentence for sentence in document["verdict"]["cannot_say"] if "did not learn" in sentence]
    assert said[0].startswith("4 of 4 models did not learn (model 0, 1, 2, 3): ")
    if document["verdict"]["leak"] == "cannot tell":
        assert "a model that learned nothing has nothing to leak" in document["verdict"]["detail"]
    assert document["verdict"]["detail"].startswith("4 of 4 models did not learn. ")
    assert shown(document).index("4 of 4 models did not learn") < shown(document).index("oracle")
    assert not any("More models" in sentence for sentence in document["verdict"]["cannot_say"])
    assert "Model 2 labels" in shown(document)
    page = (tmp_path / "out" / "report.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert audited.sentence in page
    assert "did not learn (model 0, 1, 2, 3)" in page


def validation_loss(records, weights):
    x = records.x.astype(np.float64)
    for layer in (0, 2, 4):
        x = x @ weights[f"{layer}.weight"].T.astype(np.float64) + weights[f"{layer}.bias"]
        x = np.maximum(x, 0) if layer < 4 else x
    return np.mean(np.log(np.exp(x).sum(axis=1)) - x[np.arange(len(x)), records.y])


@pytest.mark.slow
def test_early_stopping_keeps_the_best_epoch_and_audits_no_validation_record(tmp_path):
    audited = quick(tmp_path, epochs=60, patience=1, validation=100, learning_rate=0.03)
    assert audited.document["data"]["roles"] == {"audited": 200, "validation": 100, "reference": 0, "population": 0}
    digits = reticent.load("digits")
    validation = Roles.split(digits, 0, audited=200, validation=100).validation
    assert not np.isin(validation, audited.ids).any()
    store = Store(tmp_path / "store")
    for row in audited.document["population"]["per_model"]:
        run = store.find(row["run"])
        losses = [json.loads(line)["validation_loss"] for line in run.file("log.jsonl").read_text().splitlines()]
        assert len(losses) < 60
        assert losses[-1] >= losses[-2] == min(losses)
        kept = validation_loss(digits.take(validation), run.arrays("weights.safetensors"))
        assert kept == pytest.approx(min(losses), rel=1e-4)
    again = quick(tmp_path, epochs=60, validation=100, learning_rate=0.03)
    assert again.document["environment"]["models_found"] == 0


@pytest.mark.slow
def test_mirrored_pictures_are_asked_about_too(images, tmp_path):
    usual = {"dataset": images, "records": 100, "architecture": "mlp", "attacks": ["lira"]}
    plainly = quick(tmp_path, **usual)
    both = quick(tmp_path, **usual, queries={"mirror": True})
    assert both.document["population"]["queries"]["mirror"] is True
    assert both.document["population"]["per_model"] == plainly.document["population"]["per_model"]
    assert not np.array_equal(both.scores["lira"], plainly.scores["lira"])
    alone = quick(tmp_path, **usual, queries={"mirror": True}, attack={"lira": {"queries": 1}})
    assert np.array_equal(alone.scores["lira"], plainly.scores["lira"])
    assert "data:image/png" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
def test_rmia_compares_with_records_that_no_model_sees(tmp_path):
    def held(scores, count):
        return np.allclose(scores * count, np.rint(scores * count), atol=1e-9)

    audited = quick(tmp_path, attacks=["rmia"], population=70)
    assert audited.document["data"]["roles"]["population"] == 70
    assert held(audited.scores["rmia"], 70)
    held_out = quick(tmp_path, attacks=["rmia"], population=70, attack__rmia__population="held-out")
    assert np.array_equal(held_out.scores["rmia"], audited.scores["rmia"])
    others = quick(tmp_path, attacks=["rmia"], population=70, attack__rmia__population="others")
    assert held(others.scores["rmia"], 199)
    assert not held(others.scores["rmia"], 70)


MINE = """
import numpy as np
import torch


def load():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 6))
    return {"x": x, "y": (x[:, 0] > 0).astype(int), "name": "my data", "licence": "mine"}


class Net(torch.nn.Module):
    def __init__(self, input_shape, classes):
        super().__init__()
        self.inner = torch.nn.Linear(input_shape[0], classes)

    def forward(self, x):
        return self.inner(x)


class OneLogit(torch.nn.Module):
    def __init__(self, input_shape):
        super().__init__()
        self.inner = torch.nn.Linear(input_shape[0], 1)

    def forward(self, x):
        return self.inner(x)


def train(x, y, seed):
    torch.manual_seed(seed)
    net = torch.nn.Linear(x.shape[1], 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    for _ in range(20):
        loss = torch.nn.functional.cross_entropy(net(torch.from_numpy(x)), torch.from_numpy(y))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net
"""


@pytest.fixture
def mine(own_folder):
    (own_folder / "mine.py").write_text(MINE)
    return own_folder


def own(folder, **values):
    return quick(folder, **{"dataset": "mine:load", "records": None, "learning_rate": 0.05, "epochs": 20} | values)


def test_a_users_model_and_data(mine):
    document = own(mine, architecture="mine:Net").document
    assert (document["data"]["name"], document["data"]["licence"], document["data"]["records"]) == (
        "my data",
        "mine",
        80,
    )
    assert document["recipe"]["architecture"]["factory"] == "mine:Net"
    assert (document["population"]["parameters"], document["population"]["health"]) == (14, [])


@pytest.mark.slow
def test_a_users_training_function(mine):
    document = own(mine, procedure="mine:train", epochs=None, learning_rate=None).document
    assert document["recipe"]["procedure"]["function"] == "mine:train"
    assert sorted(document["recipe"]) == ["output", "procedure"]
    assert document["population"]["accuracy"]["members"]["mean"] > 0.8
    again = own(mine, procedure="mine:train", epochs=None, learning_rate=None)
    assert (again.document["environment"]["models_found"], plain(again.document)) == (4, plain(document))


@pytest.mark.slow
def test_a_binary_head_of_one_logit(mine):
    audited = own(mine, architecture="mine:OneLogit", attacks=())
    assert audited.document["population"]["parameters"] == 7
    assert audited.document["population"]["accuracy"]["members"]["mean"] > 0.8
    assert all(np.isfinite(scores).all() for scores in audited.scores.values())
    assert "lira" in audited.scores


@pytest.mark.slow
def test_a_failing_model_is_named_and_the_others_are_kept(mine):
    text = MINE.replace("torch.manual_seed(seed)", "assert (mine_calls.append(1) or len(mine_calls)) != 2, 'no luck'")
    (mine / "mine.py").write_text(text.replace("import torch\n", "import torch\nmine_calls = []\n", 1))
    with pytest.raises(
        ModelError, match=r"1 of 4 models could not be made \(3 are finished and kept\):\n  model 1: .*no"
    ):
        own(mine, procedure="mine:train", epochs=None, learning_rate=None)
    assert not (mine / "out" / "audit.json").exists()


def a_net(input_shape, classes):
    import torch

    return torch.nn.Linear(input_shape[0], classes)


def test_data_and_functions_may_be_given_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 4)).astype(np.float32), np.arange(60) % 3
    options = {"models": 4, "epochs": 1, "workers": 1, "replicates": 100, "attacks": ["loss"], "store": tmp_path / "s"}
    pair = reticent.audit(dataset=(x, y), architecture=a_net, out=tmp_path / "a", **options)
    assert pair.document["data"]["records"] == 60
    assert pair.document["recipe"]["architecture"]["factory"] == f"{__name__}:a_net"
    records = reticent.audit(dataset=reticent.Records.make(x, y), architecture=a_net, out=tmp_path / "b", **options)
    assert records.document["environment"]["models_found"] == 4
    with pytest.raises(
        reticent.ReticentError, match=r"architecture: .*<lambda> .* cannot be imported by worker processes"
    ):
        reticent.audit(dataset=(x, y), architecture=lambda classes: None, **options)
    with pytest.raises(reticent.ReticentError, match=r"architecture: .* got an instance of Identity: give its class"):
        reticent.audit(dataset=(x, y), architecture=torch.nn.Identity(), **options)
    with pytest.raises(reticent.ReticentError, match="dataset: got int: expected a pair of arrays"):
        reticent.audit(dataset=3, **options)
