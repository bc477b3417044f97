"""Numbers do not depend on the state of the process, nor on a network that changes its input: at every entrance.

The right numbers are those of the same network that changes a copy of its input, in a process as it begins; bit for
bit, in the weights and the signals of every model and in what is computed from them.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from entrances import ENTRANCES, stored
from state_networks import blobs
from torch_states import REFUSED, STATES, everything, settings

import reticent
from reticent.errors import ModelError
from reticent.torch_state import fixed

pytestmark = pytest.mark.usefixtures("pages")
HERE = Path(__file__).parent
ONE = "locate records"
"""The entrance at which every state is tried: it trains and asks models, and computes from what they say."""


@pytest.fixture(scope="session")
def right(tmp_path_factory):
    """Give the numbers of an entrance in a clean process, by a network that copies its input."""
    known = {}

    def numbers(name):
        if name not in known:
            known[name] = ENTRANCES[name](tmp_path_factory.mktemp("right"), "copying")
        return known[name]

    return numbers


def unclean(state, name, folder, network="copying"):
    """Go in by an entrance in a state; the state is as before afterwards, within its block and without."""
    outside = settings()
    with STATES[state]() if state in STATES else everything():
        within = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype(), np.geterr()
        found = ENTRANCES[name](folder, network)
        after = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype(), np.geterr()
    assert within == after
    assert settings() == outside
    return found


@pytest.mark.parametrize("name", ENTRANCES)
def test_no_state_and_no_network_that_changes_its_input_has_a_part_in_the_numbers(name, right, tmp_path):
    assert unclean("everything", name, tmp_path, "changing") == right(name)


@pytest.mark.parametrize("state", STATES)
def test_each_state_alone_has_no_part_in_them(state, right, tmp_path):
    assert unclean(state, ONE, tmp_path) == right(ONE)


@pytest.mark.calibration
@pytest.mark.parametrize("name", [name for name in ENTRANCES if name != ONE])
@pytest.mark.parametrize("state", STATES)
def test_each_state_alone_has_no_part_in_them_at_any_entrance(state, name, right, tmp_path):
    assert unclean(state, name, tmp_path) == right(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRANCES)
def test_a_network_that_changes_its_input_gives_the_numbers_of_one_that_copies_it(name, right, tmp_path):
    assert ENTRANCES[name](tmp_path, "changing") == right(name)


def test_a_clean_call_finds_the_clean_runs_after_an_unclean_one(right, tmp_path):
    unclean("everything", ONE, tmp_path)
    before = stored(tmp_path)
    found = ENTRANCES[ONE](tmp_path, "copying")
    assert found == before == right(ONE)
    assert len(list((tmp_path / "store" / "runs").iterdir())) == 4  # of two models: nothing was trained twice


def test_training_in_bfloat16_within_a_callers_autocast_uses_no_stale_weights(tmp_path):
    def losses(folder):
        _located(folder, precision="bfloat16", epochs=4)
        logs = sorted((folder / "runs").glob("*/log.jsonl"), key=lambda path: path.read_bytes())
        return [[json.loads(line)["loss"] for line in log.read_text().splitlines()] for log in logs]

    clean = losses(tmp_path / "clean")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        within = losses(tmp_path / "within")
    assert within == clean
    assert all(loss[-1] < loss[0] for loss in clean)


def _located(store, network="copying", **more):
    given = {"models": 2, "epochs": 1, "batch_size": 8, "workers": 1, "device": "cpu", "dataset": blobs(), **more}
    architecture = network if ":" in network else f"state_networks:{network}"
    return reticent.locate_records(architecture=architecture, store=str(store), out=str(store.parent / "out"), **given)


@pytest.mark.parametrize("named", REFUSED)
def test_what_cannot_be_set_aside_is_refused_by_name_before_anything_is_trained(named, tmp_path):
    with REFUSED[named](), pytest.raises(ModelError) as raised:
        _located(tmp_path / "store")
    assert str(raised.value) == (
        f"torch: {named} in force, which may change what any model computes: expected none while models are made and "
        "asked: leave its block, or remove its handle, first"
    )
    assert not list(tmp_path.glob("store/runs/*"))


def test_a_factory_that_leaves_a_hook_on_all_modules_is_refused_with_the_first_model(tmp_path):
    hooks = torch.nn.modules.module._global_forward_hooks
    try:
        with pytest.raises(ModelError, match=r"a hook on all modules \(register_module_f"):
            _located(tmp_path / "store", "hooked")
    finally:
        hooks.clear()
    assert not list(tmp_path.glob("store/runs/*"))


def test_what_a_factory_does_to_the_state_of_the_process_reaches_no_other_model(tmp_path):
    outside = settings()
    _located(tmp_path / "leaking", "leaking", models=3)
    assert settings() == outside
    _located(tmp_path / "copying", "copying", models=3)
    assert _weights(tmp_path / "leaking") == _weights(tmp_path / "copying")


def _weights(store):
    """The bytes of the weights in a store: same networks under other names."""
    return sorted(path.read_bytes() for path in store.glob("runs/*/*s.safetensors") if path.name != "roles.safetensors")


MODULE = """
import torch
torch.set_default_dtype(torch.float64)
torch.set_num_threads(2)
torch.autograd.set_grad_enabled(False)

def build(input_shape, classes):
    return torch.nn.Sequential(torch.nn.Linear(input_shape[0], 5), torch.nn.Tanh(), torch.nn.Linear(5, classes))
"""


@pytest.fixture
def sets_flags(tmp_path):
    (tmp_path / "mine_flags.py").write_text(MODULE)
    yield f"{tmp_path / 'mine_flags.py'}:build"
    sys.modules.pop("mine_flags", None)


def test_flags_that_a_module_sets_when_it_is_imported_hold_for_no_model(sets_flags, tmp_path):
    outside = settings()
    _located(tmp_path / "first", sets_flags)
    assert settings() == outside
    first = _weights(tmp_path / "first")
    assert len(first) == 4
    _located(tmp_path / "second", sets_flags)  # The module is imported already.
    assert _weights(tmp_path / "second") == first


@pytest.mark.slow
@pytest.mark.parametrize("network", ["changing", "leaking", "drawing", "flags"])
def test_the_numbers_do_not_depend_on_the_number_of_workers(network, sets_flags, tmp_path):
    script = (
        "import sys; sys.path[:0] = sys.argv[4:]\n"
        "import reticent, numpy\n"
        "from state_networks import blobs\n"
        "architecture, workers, folder = sys.argv[1:4]\n"
        "reticent.locate_records(architecture=architecture, workers=int(workers), store=folder + '/store', models=4,\n"
        "    out=folder + '/out', epochs=2, batch_size=8, device='cpu', dataset=blobs())\n"
    )
    architecture = sets_flags if network == "flags" else f"state_networks:{network}"
    for workers in ("1", "2"):
        given = [architecture, workers, str(tmp_path / workers), str(HERE)]
        subprocess.run([sys.executable, "-c", script, *given], check=True, env=_environment())
    assert stored(tmp_path / "1") == stored(tmp_path / "2")


def _environment():
    import os

    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def test_a_network_that_draws_when_it_is_asked_says_the_same_whatever_was_drawn_before(tmp_path):
    _located(tmp_path / "one", "drawing")
    with STATES["generators"]():
        _located(tmp_path / "two", "drawing")
    assert _weights(tmp_path / "one") == _weights(tmp_path / "two")


def test_the_state_within_is_that_of_a_process_that_begins():
    begins = settings() | {"generators": None}
    with everything(), fixed():
        assert settings() | {"generators": None} == begins
        assert torch.ones(2).dtype == torch.float32
        assert not torch.ones(2, requires_grad=True).sum().is_inference()


@fixed()
def failing():
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_num_threads(2)
    np.seterr(all="raise")
    raise KeyError


def test_the_state_comes_back_after_an_error_and_after_the_code_within_changed_it():
    outside = settings()
    with pytest.raises(KeyError):
        failing()
    assert settings() == outside


@pytest.mark.parametrize("how", ["set_default_device", "block"])
def test_a_default_device_comes_back_as_it_was_chosen(how):
    chosen = STATES["default device" if how == "set_default_device" else "device block"]
    with chosen():
        with fixed():
            assert torch.ones(1).device.type == "cpu"
            torch.set_default_device("cpu")
        assert torch.ones(1).device.type == "meta"
    assert torch.ones(1).device.type == "cpu"
