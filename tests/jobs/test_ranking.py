"""`locate records --without-references`: one training, its members' losses and leverages, and what is said of them."""

import csv
import json

import numpy as np
import pytest
import torch
from scipy.special import log_softmax
from torch import nn

import reticent
from reticent.cli import app
from reticent.cli.run import guarded
from reticent.data.records import Records
from reticent.errors import SpecError
from reticent.findings.ranking import RankingDocument
from reticent.locate.last_layer import answers
from reticent.locate.leverage import last_layer
from reticent.report.kinds.ranking import ranking
from reticent.report.render.html import html
from reticent.say.ranking import ranking as said
from reticent.training.data import Preparation

QUICK = {"dataset": "digits", "records": 120, "epochs": 4, "architecture__widths": [16], "device": "cpu"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ranking")


@pytest.fixture(scope="module")
def found(folder):
    return reticent.rank_members(**QUICK, store=folder / "store", out=folder / "out")


def network(folder, run, state):
    """Answer as the multilayer perceptron of a run does, by hand: logits, and what the last layer sees."""
    from safetensors.numpy import load_file

    weights = load_file(folder / "store" / "runs" / run / f"{state}.safetensors")
    (a, b), (c, d) = (
        (weights[f"{name}.weight"].astype(float), weights[f"{name}.bias"].astype(float))
        for name in sorted({key.partition(".")[0] for key in weights})
    )
    return lambda x: (np.maximum(x @ a.T + b, 0) @ c.T + d, np.maximum(x @ a.T + b, 0))


def test_every_number_by_hand(found, folder):
    records, run = reticent.load("digits"), found.findings.training.run
    x, y = np.asarray(records.x[found.ids], float), records.y[found.ids]
    at = np.arange(120), y
    for state, row in (("initial", 0), ("weights", -1)):
        logits, hidden = network(folder, run, state)(x)
        assert found.losses[row] == pytest.approx(-log_softmax(logits, axis=1)[at], rel=1e-4, abs=1e-6)
    assert found.losses.shape == (5, 120)
    by_id = {one.record: one for one in found.members}
    assert list(by_id) != sorted(by_id)
    members = [by_id[int(record)] for record in found.ids]
    low, high = np.quantile(found.losses, (0.25, 0.75), axis=0)
    assert [one.loss_iqr for one in members] == pytest.approx(high - low)
    features = np.column_stack([hidden, np.ones(120)])
    expected = last_layer(features, np.exp(log_softmax(logits, axis=1)))
    assert [one.leverage for one in members] == pytest.approx(expected, rel=1e-3)
    assert [one.loss for one in members] == pytest.approx(found.losses[-1], rel=1e-4, abs=1e-6)
    assert [one.correct for one in members] == (logits.argmax(axis=1) == y).tolist()
    for key in ("loss_iqr", "leverage"):
        order = sorted(found.members, key=lambda one: getattr(one, f"{key}_rank"))
        assert [getattr(one, f"{key}_rank") for one in order] == list(range(1, 121))
        values = [getattr(one, key) for one in order]
        assert values == sorted(values, reverse=True)


def test_the_files_hold_all_members_and_the_document_the_first_of_both_rankings(found, folder):
    with (folder / "out" / "records.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [(int(line["record"]), float(line["leverage"])) for line in lines] == [
        (one.record, one.leverage) for one in found.members
    ]
    written = json.loads((folder / "out" / "ranking.json").read_text(encoding="utf-8"))
    listed = {row["record"] for row in written["ranked"]}
    assert listed == {one.record for one in found.members if min(one.loss_iqr_rank, one.leverage_rank) <= 50}
    told = written["agreement"]
    ranks = np.array([(one.loss_iqr_rank, one.leverage_rank) for one in found.members])
    shared = int((ranks <= 6).all(axis=1).sum())
    assert (told["top"], told["shared"], told["chance"]) == (6, shared, pytest.approx(0.3))
    assert told["spearman"] == pytest.approx(np.corrcoef(ranks.T)[0, 1])
    assert RankingDocument.read(written).with_(environment=found.findings.environment) == found.findings
    assert found.sentence.startswith("120 members are ranked by risk from one training of 4 epochs. ")
    assert f"{shared} of the first 6 by the spread of their losses" in found.sentence


def test_a_finished_training_is_found_and_has_no_part_in_audits(found, folder):
    again = reticent.rank_members(**QUICK, store=folder / "store", out=folder / "again")
    assert again.document["environment"]["models_found"] == 1
    assert (again.members, again.sentence) == (found.members, found.sentence)
    assert found.document["environment"]["models_found"] == 0
    recorded = json.loads((folder / "store" / "runs" / found.findings.training.run / "spec.json").read_text())
    assert recorded["trace"] is True


def test_wrong_labels_that_training_comes_to_fit_are_put_first(folder):
    records = reticent.load("digits")
    x, y = records.x[:600], records.y[:600].copy()
    y[:12] = (y[:12] + 5) % 10
    given = QUICK | {"dataset": (x, y), "records": None, "epochs": 60, "architecture__widths": [64]}
    found = reticent.rank_members(**given, store=folder / "store", out=folder / "wrong")
    assert np.median([one.loss_iqr_rank for one in found.members if one.record < 12]) <= 60


@pytest.mark.parametrize(
    "more", [{"defense": "dpsgd:noise=1.0"}, {"defense": "relaxloss"}, {"patience": 1, "validation": 60}]
)
def test_recipes_of_one_training_are_ranked(folder, more):
    found = reticent.rank_members(**QUICK | more, store=folder / "store", out=folder / "more")
    training = found.findings.training
    assert len(found.losses) == training.epochs + 1 <= 5
    assert any(f"after {training.epochs} of 4 epochs" in told for told in found.findings.detail) == (
        training.epochs < 4
    )


@pytest.mark.parametrize("defense", ["selena", "pptp", "cwrf", "mist"])
def test_procedures_without_one_course_of_losses_are_refused_before_training(defense, tmp_path):
    with pytest.raises(SpecError, match=rf"procedure: {defense} does not train one.* by dpsgd or plain"):
        reticent.rank_members(**QUICK, defense=defense, store=tmp_path / "s", out=tmp_path / "o")
    assert not (tmp_path / "s").exists()


def test_what_means_nothing_is_refused(folder, capsys):
    for given in ({"models": 4}, {"attacks": "lira"}, {"confidence": 0.9}):
        with pytest.raises(SpecError, match=f"{next(iter(given))}: means nothing to reticent locate records --without"):
            reticent.rank_members(**QUICK | given)
    assert guarded(app, ["locate", "records", str(folder), "--without-references"]) == 2
    assert "trains one model, and reads no finished audit" in capsys.readouterr().err


class Ends(nn.Module):
    """A network whose last layer is hidden in different ways."""

    def __init__(self, how):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.how, self.one = how, nn.Linear(5, 4)
            self.two = nn.Linear(4, 1 if how == "one logit" else 2, bias=False)

    def forward(self, x):
        hidden = torch.relu(self.one(x))
        made = self.two(hidden)
        return {"scaled": 2 * made, "one logit": made[:, 0]}.get(self.how, made)


@pytest.mark.parametrize("how", ["plain", "one logit", "scaled"])
def test_what_the_last_layer_sees(how):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 5)).astype(np.float32), np.arange(30) % 2
    records = Records.make(x, y)
    prepare = Preparation(records, torch.device("cpu"))
    network = Ends(how)
    found = answers(network, prepare.examples(records, np.arange(30)), prepare, 2)
    assert found.logits.shape == (30, 2)
    if how == "scaled":
        assert found.features is None
        return
    hidden = torch.relu(network.one(torch.from_numpy(x))).detach().double().numpy()
    assert found.features == pytest.approx(hidden)
    assert not network.two._forward_hooks


@pytest.mark.words
def test_doubts_and_limits_are_told(found):
    training = found.findings.training.with_(learned=False, accuracy_members=0.1, commonest=0.11, epochs=3)
    ranked = tuple(one.with_(leverage=None, leverage_rank=None) for one in found.findings.ranked)
    output = {"output": {"method": "top"}}
    changed = found.findings.with_(training=training, ranked=ranked, agreement=None, recipe=output)
    told = said(changed)
    assert told.sentence.startswith("120 members are ranked by risk from one training, by the spread of their losses")
    assert [line.split(",")[0].split(":")[0] for line in told.detail] == [
        "The model did not learn",
        "Training stopped early",
        "The network does not end in one linear layer on one row of features a record",
    ]
    assert any("output defense" in line for line in told.cannot_say)
    assert not any("leverage sees the last layer" in line for line in told.cannot_say)
    page = html(ranking(told))
    assert "Do the two rankings agree?" not in page
    assert "Do the two rankings agree?" in html(ranking(found.findings))


def test_the_command_prints_the_first(found, folder, capsys):
    line = "locate records --without-references --dataset digits --records 120 --epochs 4 --device cpu"
    line += f" --set recipe.architecture.widths=[16] --store {folder / 'store'} --out {folder / 'cli'}"
    assert guarded(app, line.split()) == 0
    shown = capsys.readouterr().out
    assert all(str(one.record) in shown for one in found.members[:10])
    assert "ranking.json" in shown
