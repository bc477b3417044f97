import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

import reticent
from reticent import seeds
from reticent.errors import CorruptFileError, InputError, MissingFileError, ModelError, RolesError, SpecError
from reticent.jobs.config import OWN, gather, prepare
from reticent.jobs.locate.numbers import CELLS, by_kind, by_layer, density, held
from reticent.jobs.locate.scores import _save, read_scores
from reticent.jobs.locate.source import member_ids
from reticent.locate.scoring import Scores
from reticent.locate.topk_mask import jaccard, topk_mask
from reticent.locate.weights import Scoring, score
from reticent.population.in_store import finished
from reticent.say.locate import _scores
from reticent.training.data import Preparation
from reticent.training.materials import Materials
from reticent.training.recipe import Recipe
from reticent.training.streams import Streams

SMALL = {"epochs": 4, "models": 4, "scoring__steps": 5, "scoring__batch_size": 16}
FACTORY = """
from torch import nn

def make(classes):
    return nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, classes))
"""


def noise(n=120):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 6)).astype(np.float32), np.arange(n) % 3


def same(document):
    return {key: value for key, value in document.items() if key != "environment"}


@pytest.fixture
def own(own_folder):
    """A model that a plain script trained: its factory, its states as files, its members."""
    (own_folder / "mine_net.py").write_text(FACTORY)
    x, y = noise()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        scope = {}
        exec(FACTORY, scope)
        model = scope["make"](3)
        initial = {name: value.clone() for name, value in model.state_dict().items()}
        for _ in range(60):
            loss = nn.functional.cross_entropy(model(torch.from_numpy(x[:40])), torch.from_numpy(y[:40]))
            gradients = torch.autograd.grad(loss, list(model.parameters()))
            with torch.no_grad():
                for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                    parameter -= 0.3 * gradient
    save_file(initial, own_folder / "initial.safetensors")
    save_file(dict(model.state_dict()), own_folder / "model.safetensors")
    torch.save(model.state_dict(), own_folder / "model.pt")
    np.savez(own_folder / "data.npz", x=x, y=y)
    (own_folder / "members.txt").write_text("\n".join(map(str, range(40))))
    return model, initial


@pytest.mark.slow
def test_a_model_of_the_audit_is_trained_once_and_scored(tmp_path):
    given = {**SMALL, "dataset": noise(), "store": tmp_path / "s"}
    stages = []
    found = reticent.locate_weights(**given, out=tmp_path / "o", seeds=3, stage=stages.append)
    assert stages == [
        "training",
        *(f"vulnerability {k} of 3" for k in (1, 2, 3)),
        "learnability",
        "numbers",
        "report",
    ]
    assert [file.name for file in found.files] == [
        "weights.html",
        "vulnerability.safetensors",
        "learnability.safetensors",
        "weights.json",
    ]
    assert json.loads(found.files[3].read_text()) == found.document
    document = found.document
    assert document["schema"] == "reticent.locate.weights/1"
    assert document["data"]["reference"] == 24, "a fifth of the records"
    assert 30 < document["data"]["members"] < 66
    assert document["initial"]["origin"] == "training"
    assert 0 < document["initial"]["entropy"] <= 1
    entries = sum(value.numel() for value in found.vulnerability.values())
    assert document["model"]["entries"] == entries == document["kinds"][0]["entries"]
    assert document["sentence"].startswith("The 1 % of the weights that are most vulnerable hold ")
    assert found.sentence == document["sentence"]
    again = reticent.locate_weights(**given, out=tmp_path / "p", seeds=3)
    assert same(again.document) == same(document)
    assert all(torch.equal(value, found.learnability[name]) for name, value in again.learnability.items())
    audit = {key: value for key, value in given.items() if key not in {"dataset", "store"} and "scoring" not in key}
    job = prepare(gather(None, audit | {"dataset": OWN, "reference": 24}), reticent.Records.make(*noise()))
    assert finished(tmp_path / "s", job.population) == 1, "an audit finds the model"


def test_three_ways_to_give_a_model_give_the_same_scores(own, own_folder):
    model, initial = own
    shared = {"dataset": noise(), "reference": 30, "scoring__steps": 4, "scoring__batch_size": 20}
    by_module = reticent.locate_weights(
        network=model, initial=initial, members=np.arange(120) < 40, out=own_folder / "1", **shared
    )
    files = {"architecture": "mine_net:make", "members": "members.txt", **shared, "dataset": "data.npz"}
    by_files = reticent.locate_weights(
        weights="model.safetensors", initial="initial.safetensors", out=own_folder / "2", **files
    )
    by_seed = reticent.locate_weights(weights="model.pt", initial=5, out=own_folder / "3", **files)
    by_numpy = reticent.locate_weights(weights="model.pt", initial=np.int64(5), out=own_folder / "4", **files)
    for other in (by_files, by_seed, by_numpy):
        assert all(torch.equal(value, by_module.vulnerability[n]) for n, value in other.vulnerability.items())
        assert all(torch.equal(value, by_module.learnability[n]) for n, value in other.learnability.items())
    origins = [found.document["initial"]["origin"] for found in (by_module, by_files, by_seed, by_numpy)]
    assert origins == ["given", "file", "seed", "seed"]
    assert by_module.document["data"]["accuracy_members"] > 0.6
    assert set(by_module.vulnerability) == set(load_file(own_folder / "1" / "vulnerability.safetensors"))
    assert all(bool((value >= 0).all()) for value in by_module.vulnerability.values())
    assert not any("fresh draw" in line for line in by_seed.document["cannot_say"])


def test_the_scores_are_those_of_score(own, own_folder):
    model, initial = own
    found = reticent.locate_weights(
        network=model,
        initial=initial,
        members=range(40),
        dataset=noise(),
        seeds=2,
        scoring__steps=3,
        out=own_folder / "o",
        seed=7,
    )
    records = reticent.Records.make(*noise())
    prepare = Preparation(records, torch.device("cpu"))
    others = np.sort(seeds.rng(7, "locate", "reference").permutation(np.arange(40, 120))[:40])
    take = lambda ids: prepare.examples(records, np.asarray(ids, dtype=np.int64))  # noqa: E731
    known = Materials(take(range(40)), take([]), take(others), prepare, 3)
    streams = [Streams(7, 0).child("locate", k) for k in (0, 1)]
    first, second = (score(model, initial, known, Scoring(steps=3), one, Recipe()) for one in streams)
    assert all(torch.equal(value, first[name]) for name, value in found.vulnerability.items())
    rows, entries = found.document["stability"]["rows"], found.document["model"]["entries"]
    assert entries < 500
    assert [row["rate"] for row in rows] == [0.01, 0.05], "of 0.1 % no weight is taken, so nothing agrees"
    for row in rows:
        assert row["mean"] == row["least"] == jaccard(topk_mask(first, row["rate"]), topk_mask(second, row["rate"]))
    with safe_open(found.files[1], "pt") as file:
        assert file.metadata() == {"scores": "vulnerability", "unused": "", "order": "\n".join(first)}
    assert list(found.vulnerability) == list(first), "the network's order, not that of the names"
    assert [row["layer"] for row in found.document["layers"]] == ["0", "1", "3"]


@pytest.mark.words
def test_a_fresh_draw_is_told_and_so_is_a_model_that_knows_nothing(own, own_folder):
    _, initial = own
    found = reticent.locate_weights(
        architecture="mine_net:make",
        weights={name: torch.zeros_like(value) for name, value in initial.items()},
        members=range(40),
        dataset=noise(),
        scoring__steps=2,
        out=own_folder / "o",
    )
    said = " ".join(found.document["cannot_say"])
    assert found.document["initial"]["origin"] == "fresh draw"
    assert "The initial state is a fresh draw, since the one that this model was trained from" in said
    assert "no more than chance allows when always naming the largest class" in found.sentence
    assert "of the weights that are most vulnerable hold" in found.sentence
    assert "fresh draw" in found.files[0].read_text()


def test_learnability_alone_needs_neither_reference_nor_initial_state(own, own_folder):
    model, initial = own
    found = reticent.locate_weights(
        network=model,
        initial=initial,
        members=range(120),
        dataset=noise(),
        reference=0,
        scoring__unlearning=0.0,
        scoring__steps=2,
        out=own_folder / "o",
    )
    assert found.document["kinds"][0]["pearson"] == pytest.approx(1)
    assert found.document["kinds"][0]["spearman"] == pytest.approx(1)
    assert any("both scores are learnability" in line for line in found.document["cannot_say"])
    assert "% of the learnability. With unlearning at 0 both scores are learnability" in found.sentence
    for part in (0.0, 0.5):  # The same folder serves again, whatever it was.
        found.files[0].unlink()  # Not the real page.
        again = reticent.locate_weights(
            network=model, initial=initial, members=range(60), dataset=noise(), scoring__steps=2,
            scoring__unlearning=part, out=own_folder / "o",
        )  # fmt: skip
    assert "of the privacy vulnerability" in again.sentence


def test_what_does_not_fit_is_refused_before_anything_is_trained(own, own_folder):
    model, initial = own
    asked = {"dataset": noise(), "out": own_folder / "o", "members": range(40)}
    refused = [
        ({"network": model, "initial": initial, "members": None}, InputError, "together with its members"),
        (
            {"weights": "model.pt", "architecture": "mine_net:make", "epochs": 3},
            SpecError,
            "epochs: the model is given",
        ),
        (
            {"weights": "model.pt", "architecture": "mlp"},
            ModelError,
            "the weights of model.pt: expected a state of this network: ",
        ),
        ({"weights": "none.pt", "architecture": "mine_net:make"}, MissingFileError, "no file 'none.pt'"),
        ({"network": model}, InputError, "expected initial= its state before training"),
        ({"weights": "model.pt", "initial": True, "architecture": "mine_net:make"}, InputError, "got bool"),
        ({"weights": "model.pt", "initial": 1.5, "architecture": "mine_net:make"}, InputError, "initial: expected a"),
        (
            {"network": model, "weights": "model.pt", "initial": initial},
            InputError,
            "either a network with its weights",
        ),
        ({"network": model, "initial": initial, "reference": 81}, RolesError, "expected 1 to 80 records"),
        ({"network": model, "initial": initial, "attacks": "lira"}, SpecError, "means nothing to reticent locate"),
        ({"network": nn.Sequential(nn.Linear(4, 3, device="meta")), "initial": initial}, ModelError, "is on the meta"),
        ({"network": model, "initial": initial, "seeds": 0}, InputError, "seeds: expected 1 or more"),
        ({"network": model, "initial": initial, "model": 3}, InputError, "got 3 beside a model of your own"),
        ({"network": model, "initial": initial, "members": range(120)}, RolesError, "and there are none"),
        ({"network": model, "initial": initial, "steps": 3}, SpecError, "give it as scoring__steps"),
        ({"network": model, "initial": initial, "scoring__power": 3}, SpecError, "power"),
        ({"members": None, "model": 9, **SMALL}, InputError, "expected a row from 0 to 3, got 9"),
        ({"members": None, "reference": 0, **SMALL}, InputError, "needs reference non-members"),
    ]
    for changes, error, words in refused:
        with pytest.raises(error, match=words):
            reticent.locate_weights(**{**asked, **changes, "store": own_folder / "s"})
    assert not (own_folder / "s" / "runs").exists() or not list((own_folder / "s" / "runs").iterdir())


def test_members_in_every_form(tmp_path):
    np.save(tmp_path / "m.npy", np.array([4, 2]))
    np.save(tmp_path / "b.npy", np.array([True, False, True, False, True]))
    (tmp_path / "m.txt").write_text("4\n2\n")
    for given in ([4, 2], np.array([2, 4]), tmp_path / "m.npy", tmp_path / "m.txt"):
        assert member_ids(given, 5).tolist() == [2, 4]
    assert member_ids(tmp_path / "b.npy", 5).tolist() == [0, 2, 4]
    for wrong, words in (
        ([1, 1], "record 1 stands there more than once$"),
        ([0, 1, 1, 0, 1], "if 0 and 1 are truth values, give them as booleans"),
        ([1], "at least 2"),
        ([1, 5], "from 0 to 4"),
        ([True, False], "5 truth values"),
    ):
        with pytest.raises(InputError, match=words):
            member_ids(np.array(wrong), 5)
    for bad in ("4 two", "4 1000000000000000000000000"):
        (tmp_path / "bad.txt").write_text(bad)
        with pytest.raises(CorruptFileError, match="one number a line"):
            member_ids(tmp_path / "bad.txt", 5)
    with pytest.raises(MissingFileError, match="row numbers"):
        member_ids(tmp_path / "none.npy", 5)


def test_scores_keep_their_order_and_the_names_of_what_is_never_taken(tmp_path):
    given = Scores({"10": torch.ones(2), "9": torch.zeros(1), "a": torch.ones(())}, unused=["9"])
    _save(tmp_path / "s.safetensors", given)
    found = read_scores(tmp_path / "s.safetensors")
    assert list(found) == ["10", "9", "a"]
    assert found.unused == {"9"}
    assert all(torch.equal(value, given[name]) for name, value in found.items())
    save_file({"w": torch.ones(2)}, tmp_path / "other.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"nonsense")
    for name, error in (("none", MissingFileError), ("other", CorruptFileError), ("bad", CorruptFileError)):
        with pytest.raises(error, match=name):
            read_scores(tmp_path / f"{name}.safetensors")


def made(seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = {"a.weight": (30, 20), "a.bias": (20,), "b.weight": (10, 8), "c.scale": ()}
    return {name: torch.rand(shape, generator=generator) ** 4 for name, shape in shapes.items()}


KINDS = {"a.weight": "convolution", "a.bias": "convolution", "b.weight": "linear", "c.scale": "norm"}


def test_one_model_of_two_can_be_scored(tmp_path):
    """No attack runs, so that none of its references are asked for."""
    found = reticent.locate_weights(**SMALL | {"models": 2}, dataset=noise(), store=tmp_path / "s", out=tmp_path / "o")
    assert 0 < found.document["kinds"][0]["share"] <= 1


def sentence(kinds, largest):
    return _scores(SimpleNamespace(kinds=kinds, largest=largest, unlearning=0.5))


def test_the_sentence_tells_no_scores_from_few_weights():
    one = {name: value.reshape(-1)[:14] for name, value in made().items()}
    small = held(one, one, ())
    assert [row.entries for row in small] == [0, 0, 2]
    assert sentence(by_kind(one, one, KINDS), small).startswith("The 5 % of the weights that are most vulnerable hold ")
    few = {name: value[:3] for name, value in one.items()}
    told = sentence(by_kind(few, few, KINDS), held(few, few, ()))
    assert told == "The network has too few weights to take 5 % of them; all have their scores."
    nothing = {name: torch.zeros_like(value) for name, value in one.items()}
    assert sentence(by_kind(nothing, nothing, KINDS), held(nothing, nothing, ())).startswith("No weight has any score")


def test_numbers_by_kind_by_layer_and_of_the_largest():
    a, b = made(), made(1)
    rows = by_kind(a, b, KINDS)
    assert [row.kind for row in rows] == ["all", "convolution", "linear", "norm"]
    assert [row.entries for row in rows] == [701, 620, 80, 1]
    assert sum(row.vulnerability for row in rows[1:]) == pytest.approx(1)
    assert rows[3].pearson is None
    layers = by_layer(a, b, KINDS, ())
    assert [(row.layer, row.kind, row.entries) for row in layers] == [
        ("a", "convolution", 620),
        ("b", "linear", 80),
        ("c", "norm", 1),
    ]
    assert sum(row.share for row in layers) == pytest.approx(1)
    assert sum(row.marked * row.entries for row in layers) == pytest.approx(7)
    largest = held(a, b, ())
    flat = torch.cat([value.reshape(-1) for value in a.values()]).double().sort(descending=True).values
    for row, k in zip(largest, (1, 7, 35), strict=True):
        assert row.entries == k
        assert row.vulnerability == pytest.approx(float(flat[:k].sum() / flat.sum()))
    assert held(a, a, ())[2].shared == held(a, a, ())[2].jaccard == 1
    nothing = {name: torch.zeros_like(value) for name, value in a.items()}
    assert held(nothing, nothing, ())[1].vulnerability is None
    assert by_layer(nothing, nothing, KINDS, ())[0].vulnerability is None


def test_densities_count_every_weight_once():
    a, b = made(), made(1)
    b["a.weight"][:5] = 0
    found = density(a, b, ["a.weight", "a.bias"])
    counts = np.array(found.counts)
    assert counts.shape == (CELLS, CELLS)
    assert counts.sum() == 620
    assert counts[:, 0].sum() >= 100, "zeros lie at the left edge"
    assert 10 ** found.y[1] == pytest.approx(float(torch.cat([a["a.weight"].reshape(-1), a["a.bias"]]).max()))
    assert density({"w": torch.zeros(3)}, {"w": torch.ones(3)}, ["w"]) is None
