"""Every kind of bad input is one clear sentence on standard error and exit code 2, without a traceback."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from reticent.errors import StoreLockedError
from reticent.jobs.config import gather, prepare
from reticent.store import Store

SMALL = "--records 60 --models 4 --epochs 1 --workers 1 --attack lira"


def refused(result, *words):
    code, _, err = result
    assert code == 2, err
    assert "Traceback" not in err
    for word in words:
        assert word in err, err


def own(folder, name="own.npz", **changes):
    rng = np.random.default_rng(0)
    arrays = {"x": rng.normal(size=(60, 5)).astype(np.float32), "y": np.arange(60) % 3} | changes
    np.savez(folder / name, **arrays)
    return name


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("audit --dataset digitss", ["unknown data set 'digitss'", "did you mean 'digits'"]),
        ("audit --attack lirra", ["unknown attack 'lirra'", "did you mean 'lira'"]),
        ("audit --architecture resnet21", ["unknown architecture", "'resnet20'"]),
        ("audit --epochs -3", ["epochs: expected greater than or equal to 1, got -3"]),
        ("audit --epochs three", ["three"]),
        ("audit --models 1", ["models: expected greater than or equal to 2, got 1"]),
        ("audit --models 2", ["lira", "reference"]),
        ("audit --records 6 --models 8", ["no more models than records, got 8 models of 6 records"]),
        ("audit --records 5000", ["at most 1,797 records", "5,000 to audit", "ask for fewer"]),
        ("audit --records 1000 --population 1000", ["1,000 for population", "2,000 in all"]),
        ("audit --epohcs 3", ["epohcs"]),
        ("audit --optimizer adm", ["optimizer: expected 'sgd', 'adam' or 'adamw', got 'adm'"]),
        ("audit --config none.toml", ["no configuration file 'none.toml'"]),
        ("audit --set epochs", ["expected key=value"]),
        ("audit --epsilon 8", ["give --defense dpsgd --epsilon 8; or did you mean 'promised-epsilon'?"]),
        (
            "audit --level 8",
            ["an option of the defense relaxloss, and none is given: give --defense relaxloss --level 8"],
        ),
        ("audit --defense nope", ["unknown defense 'nope': expected one of adv-reg", "(see reticent defenses)"]),
        ("audit --set epohcs=3", ["unknown key 'epohcs'", "did you mean 'epochs'"]),
        ("audit --set attack.lira.varianc=pooled", ["lira: unknown key 'varianc'", "did you mean 'variance'"]),
        ("audit --attack rmia --set attack.lira.variance=pooled", ["attack.lira: options are given", "rmia"]),
        ("audit --attack lira --attack lira", ["each name once"]),
        (
            "audit --dataset location30",
            ["location", "https://github.com/privacytrustlab/datasets", "reticent data fetch location30"],
        ),
        ("audit --dataset cifar10 --data-dir .", ["data_batch_1.bin", "fab780a1e191a7eda0f345501ccd62d20f7ed891"]),
        ("audit --dataset mine:load", ["no module named 'mine'"]),
        ("audit --dataset missing.npz", ["missing.npz"]),
        ("audit --architecture cnn", ["'cnn' takes image records, got tabular"]),
        ("audit --augmentation flip " + SMALL, ["'flip' is for image records"]),
        ("audit --set recipe.patience=3 " + SMALL, ["needs validation records", "--validation"]),
        ("audit --set queries.mirror=true " + SMALL, ["mirror and shifts are for images"]),
        ("audit --device gpu", ["expected auto, cpu, cuda or cuda:N, got 'gpu'"]),
        ("audit --set recipe.warmup_epochs=50.0", ["warmup_epochs at most epochs"]),
        ("attack", ["signals"]),
        ("attack --signals none.npz", ["no file 'none.npz'"]),
        ("data show digitss", ["digitss", "digits"]),
        ("adit", ["adit"]),
        ("compare [x].npz {y}.npz", ["no file '[x].npz'"]),
        ("compare --recipe [x].toml --recipe {y}.toml", ["no configuration file '[x].toml'"]),
    ],
)
def test_wrong_words(command, line, words):
    refused(command(line), *words)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_no_such_device(command):
    refused(command("audit --device cuda"), "has no CUDA device")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"x": np.full((60, 5), np.nan, np.float32)}, ["x: expected finite numbers, got 300 NaN or infinite of 300"]),
        ({"y": np.arange(60) % 3 - 1}, ["expected integers of at least 0", "got -1"]),
        ({"y": np.where(np.arange(60) % 3 == 1, 2, np.arange(60) % 3)}, ["classes have no record", "class 1"]),
        ({"y": np.zeros(60, np.int64)}, ["at least 2 classes, got 1"]),
        ({"y": np.arange(59) % 3}, ["60 records", "59"]),
        ({"x": np.full((60, 4, 4), 7.5)}, ["x", "uint8"]),
        ({"x": np.zeros((60, 7, 5, 5), np.uint8)}, ["1, 3 or 4 channels"]),
        ({"x": np.array([["a"] * 5] * 60)}, ["x"]),
        ({"x": np.zeros((0, 5)), "y": np.zeros(0, np.int64)}, ["at least one record"]),
    ],
)
def test_wrong_data(command, tmp_path, changes, words):
    refused(command(f"audit --dataset {own(tmp_path, **changes)} {SMALL}"), *words)


def test_a_file_that_is_no_archive(command, tmp_path):
    (tmp_path / "own.npz").write_bytes(b"PK\x03\x04 cut")
    refused(command("audit --dataset own.npz"), "own.npz")


def test_pickled_data_is_not_opened(command, tmp_path):
    np.savez(tmp_path / "own.npz", x=np.array([{}] * 3, dtype=object), y=np.arange(3))
    refused(command("audit --dataset own.npz"), "own.npz")


def test_a_wrong_checksum(command, tmp_path):
    folder = tmp_path / "data" / "location"
    folder.mkdir(parents=True)
    (tmp_path / "data" / "dataset_location.tgz").write_bytes(b"not the archive")
    refused(
        command("audit --dataset location30 --data-dir data"),
        "dataset_location.tgz",
        "expected git-blob-sha1 0cfc2caa0c8c8569cd68a5d4ab369a98c1f98447",
        "delete it and fetch it again",
    )


def test_an_unknown_key_of_a_file_names_the_file_and_the_nearest(command, tmp_path):
    (tmp_path / "a.toml").write_text("dataest = 'digits'\n")
    refused(command("audit --config a.toml"), "a.toml: unknown key 'dataest': did you mean 'dataset'")
    (tmp_path / "a.toml").write_text("[recipe]\nlearning_rat = 1.0\n")
    refused(command("audit --config a.toml"), "unknown key 'learning_rat': did you mean 'learning_rate'")


def test_a_folder_that_cannot_be_written(command, tmp_path):
    (tmp_path / "file").write_text("")
    refused(command(f"audit {SMALL} --out file/out"), "file/out")
    refused(command(f"audit {SMALL} --store file/store"), "the store file/store cannot be written")


def test_a_store_held_by_a_live_process(command, monkeypatch):
    monkeypatch.setattr(Store, "lingers", 0.0)
    job = prepare(gather(None, {"records": 60, "models": 4, "epochs": 1, "workers": 1, "attacks": ["lira"]}))
    try:
        with Store(Path("reticent-store")).open().claim(job.population.training_id(1)):
            refused(command(f"audit {SMALL}"), "being made by process", "which is alive", "give another --store")
            raise StoreLockedError("leave nothing behind")
    except StoreLockedError:
        pass
    assert command(f"audit {SMALL}")[0] == 0


MINE = """
import torch
class Nan(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x) * float("nan")
def nan(x, y, seed): return Nan(64, 10)
def four(x, y, seed): return torch.nn.Linear(64, 4)
def fails(x, y, seed): raise RuntimeError("out of luck")
def wide(classes): return torch.nn.Linear(64, classes + 1)
def softmax(x, y, seed): return torch.nn.Sequential(torch.nn.Linear(64, 10), torch.nn.Softmax(1))
def leaves(x, y, seed): raise SystemExit(0)
def narrow(classes): return torch.nn.Linear(63, classes)
number = 3
"""


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--train mine:nan", ["model 0", "answers hold NaN or infinity"]),
        ("--train mine:four", ["answered shape (60, 4) for 60 records: expected logits (60, 10)"]),
        ("--train mine:fails", ["mine:fails failed: RuntimeError: out of luck", "mine.py, line 8"]),
        (
            "--train mine:softmax",
            ["the model answers no logits: its answers lie between 0 and 1", "leave its layer '1' (Softmax) out"],
        ),
        ("--train mine:leaves", ["mine:leaves failed: SystemExit: 0"]),
        ("--train mine:fial", ["mine has no 'fial': did you mean", "'fails'"]),
        ("--train mine:number", ["expected a function or a class, got int"]),
        ("--architecture mine:wide", ["expected logits", "10)"]),
        ("--architecture mine:narrow", ["model 0: RuntimeError", "shapes"]),
        (
            "--optimizer sgd --learning-rate 1e30 --set recipe.epochs=9",
            ["model 0", "the training loss became", "lower the learning rate (1e+30)"],
        ),
    ],
)
def test_wrong_models(command, tmp_path, flags, words):
    (tmp_path / "mine.py").write_text(MINE)
    usual = SMALL.replace("--epochs 1 ", "") if "--train" in flags else SMALL
    refused(command(f"audit {usual} {flags}"), *words)


def test_what_a_function_of_the_users_does_not_use_is_refused(command, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    refused(command(f"audit {SMALL} --train mine:four"), "epochs: not used, since models are made by mine:four")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"membership": None}, ["the array 'membership' is missing"]),
        ({"membership": np.ones((8, 60), bool)}, ["all 60 records true"]),
        ({"membership": np.zeros((8, 60), bool)}, ["all 60 records false"]),
        ({"membership": np.ones((8, 60), np.int64)}, ["all 60 records true"]),
        ({"membership": np.full((8, 60), 2)}, ["membership: expected booleans, or 0 and 1, got 2 of model 0"]),
        ({"membership": np.ones((8, 59), bool)}, ["59"]),
        ({"membership": np.arange(60)[None] < 30}, ["membership: expected shape (8, 60) (models, records)"]),
        ({"logits": np.full((8, 60, 3), np.nan)}, ["logits: model 0 has 180 NaN"]),
        ({"logits": np.zeros((8, 50, 3))}, ["logits: expected shape (M, 60) or (M, 60, C)", "got (8, 50, 3)"]),
        ({"logits": np.zeros(8)}, ["logits: expected shape (M, 60) or (M, 60, C)", "got (8,)"]),
        (
            {"logits": None},
            [".npz: expected one of logits, probabilities, margins, got none of them; it holds labels, membership"],
        ),
        ({"labels": np.arange(59) % 3}, ["labels: expected one for each of the 60 records", "logits have, got 59"]),
        ({"margins": np.zeros((8, 60))}, ["expected one of logits, probabilities, margins, got logits and margins"]),
        ({"labels": np.arange(60)}, ["labels: expected integers from 0 to 2"]),
        ({"labels": np.linspace(0, 1, 60)}, ["labels: expected whole numbers as labels"]),
        ({"targets": np.array([9])}, ["targets: expected integers from 0 to 7, got 9"]),
        ({"targets": np.array([1, 1])}, ["targets", "once"]),
        ({"targets": np.arange(9) < 2}, ["targets: expected row numbers", "of the 8 models, got 9 booleans"]),
        (
            {"references": np.array(["m1"])},
            ["references: expected row numbers", "got texts, the first 'm1': give the rows' numbers, from 0"],
        ),
        ({"targets": np.zeros(8, bool)}, ["targets: expected at least one model to audit, got none"]),
        ({"references": np.array([0, 1])}, ["reference"]),
        ({"memebrship": np.ones((8, 60), bool)}, ["unknown array 'memebrship': did you mean 'membership'"]),
        (
            {"labels": np.array([{}] * 60, dtype=object)},
            ["'labels', an array of Python objects", "nothing was unpickled", "labels=numpy.array(labels.tolist())"],
        ),
    ],
)
def test_wrong_outputs(command, outputs, changes, words):
    refused(command(f"attack --attack lira --signals {outputs(**changes)}"), *words)


def test_a_table_of_outputs_is_refused_with_what_to_write(command, tmp_path):
    (tmp_path / "own.csv").write_text("a,outcome\n1,0\n")
    refused(
        command("attack --signals own.csv"), "own.csv: expected an .npz file", "got a table: read it", "numpy.savez("
    )


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--scores s.txt", ["ends in .npy or .npz"]),
        ("--scores s.npy", ["holds the scores of one attack, got", "--attack NAME"]),
        ("--attack wemem --scores s.npy", ["holds the scores of one attack, got 8 attacks"]),
        ("--attack nope", ["unknown attack 'nope'"]),
        ("--attack lira --set attack.lira.variance=half", ["lira: variance: expected"]),
    ],
)
def test_wrong_flags_of_attack(command, outputs, flags, words):
    refused(command(f"attack --signals {outputs()} {flags}"), *words)


def test_numpys_advice_on_pickles_is_not_passed_on(command, tmp_path):
    (tmp_path / "own.npz").write_bytes(b"no archive at all")
    for line in ("audit --dataset own.npz", "attack --signals own.npz"):
        code, _, err = command(line)
        assert code == 2
        assert "begins with b'no archive a': write it anew by numpy.savez" in err
        assert "allow_pickle" not in err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "audit --set defense=3",
            "defense: expected a name such as relaxloss, or a table with a name, got 3",
        ),
        ("audit --set defense=relaxlos", "unknown defense 'relaxlos': did you mean 'relaxloss'"),
        ("compare --set defense=3", "defenses: expected names such as relaxloss or dpsgd:epsilon=8, got 3"),
        ("audit --architecture foo", "expected one of "),
        ("audit --records 1", "reticent: records: expected greater than or equal to 2, got 1"),
    ],
)
def test_wrong_words_without_names_of_the_code(command, line, words):
    code, _, err = command(line)
    assert (code, words in err, "import" in err, "str:" in err) == (2, True, False, False), err


def test_numbers_and_attacks_are_refused_before_pytorch_is_loaded():
    code = (
        "import sys; from reticent.cli.flags import Flags; from reticent.errors import SpecError\n"
        "try: Flags(replicates=50, models=0, attacks=['lirra']).checked({})\n"
        "except SpecError as error: print(error, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for words in ("replicates: expected", "models: expected", "did you mean 'lira'? False"):
        assert words in done.stdout
