"""``reticent locate weights`` as a user types it."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

SMALL = "--models 4 --epochs 2 --records 60 --reference 40 --steps 3"


def test_a_model_that_is_trained_here(command, tmp_path):
    code, out, err = command(f"locate weights --dataset digits {SMALL} --unlearning 0.3 --set scoring.power=2")
    assert code == 0, err
    assert "of the weights that are most vulnerable hold" in " ".join(out.split())
    assert "Kind of" in out
    document = json.loads((tmp_path / "reticent-locate" / "weights.json").read_text())
    assert (document["scoring"]["unlearning"], document["scoring"]["power"], document["scoring"]["steps"]) == (
        0.3,
        2,
        3,
    )
    assert document["data"]["reference"] == 40
    assert {file.name for file in (tmp_path / "reticent-locate").iterdir()} == {
        "weights.html",
        "weights.json",
        "vulnerability.safetensors",
        "learnability.safetensors",
    }


@pytest.mark.slow
def test_a_model_of_ones_own(command, tmp_path):
    (tmp_path / "mine_one.py").write_text(
        "from torch import nn\n\ndef make(classes):\n    return nn.Linear(6, classes)\n"
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        first, trained = (nn.Linear(6, 3).state_dict() for _ in range(2))
    save_file(trained, tmp_path / "m.safetensors")
    save_file(first, tmp_path / "i.safetensors")
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "d.npz", x=rng.normal(size=(90, 6)).astype(np.float32), y=np.arange(90) % 3)
    np.save(tmp_path / "members.npy", np.arange(90) < 30)
    line = "locate weights --dataset d.npz --architecture mine_one:make --weights m.safetensors --steps 2"
    assert command(line)[0] == 2
    code, out, err = command(f"{line} --members members.npy --initial i.safetensors --seeds 2 --out o")
    assert code == 0, err
    assert "batches" in out
    by_file = json.loads((tmp_path / "o" / "weights.json").read_text())
    code, out, err = command(f"{line} --members members.npy --initial-seed 3 --seeds 2 --out p")
    assert code == 0, err
    by_seed = json.loads((tmp_path / "p" / "weights.json").read_text())
    assert by_seed["kinds"] == by_file["kinds"]
    code, out, err = command(f"{line} --members members.npy --out q")
    assert code == 0, err
    assert "a fresh draw" in " ".join(out.split())


def test_what_a_user_gets_wrong(command):
    for line, words in (
        ("--initial a.pt --initial-seed 3", "leave one out"),
        ("--attack lira", "means nothing to reticent locate weights"),
        ("--members m.npy", "neither network nor weights"),
        ("--set scoring.stepps=3", "did you mean 'steps'"),
        ("--unlearning 1.5", "unlearning: expected less than or equal to 1"),
        ("--weights w.pt --members m.npy --epochs 3", "epochs: the model is given"),
    ):
        code, _, err = command(f"locate weights {line}")
        assert code == 2
        assert words in err, err


def test_help_names_the_command(command):
    code, out, _ = command("locate --help")
    assert code == 0
    assert "weights" in out
