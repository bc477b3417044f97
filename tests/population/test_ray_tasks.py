"""What a node of a cluster is told and checks before it trains; no cluster is needed for that."""

import pickle
import sys
from dataclasses import replace

import pytest

from reticent.errors import MissingExtraError, ModelError, StoreError
from reticent.jobs.config import chosen, prepare
from reticent.population.executors import ray_tasks as tasks
from reticent.population.worker import Made, Maker
from reticent.store import Store

TABLE = "\n".join(["a,b,label", *(f"{row % 7},{row % 5},{row % 2}" for row in range(60))])


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store").open()


@pytest.fixture
def parcel(tmp_path, store):
    """Of a table that is gone once it is packed: a node needs no data set."""
    (tmp_path / "own.csv").write_text(TABLE)
    job = prepare(chosen(None, {"dataset": tmp_path / "own.csv", "models": 2, "epochs": 1, "attacks": ["loss"]}))
    with store.marked() as mark:
        yield tasks.Parcel(job.population, store.address, mark, "cpu", (), tasks.VERSIONS)


def test_a_node_without_the_data_set_makes_models(parcel, tmp_path):
    (tmp_path / "own.csv").unlink()
    made = tasks.tried(tasks._unpacked(pickle.dumps(parcel)), 1)
    assert isinstance(made, Made)
    assert made.model == 1
    assert made.fresh


def test_a_node_whose_folder_is_another_says_so_and_trains_nothing(parcel, tmp_path):
    elsewhere = tmp_path / "local" / "store"
    told = tasks._unpacked(pickle.dumps(replace(parcel, store=str(elsewhere))))
    assert isinstance(told, StoreError)
    assert "is not the store of the machine that asks: mount one folder at the same path on all of them" in str(told)


def test_a_node_that_does_not_see_locks_of_others_says_so(parcel, monkeypatch):
    monkeypatch.setattr("reticent.store.locks.held", lambda lock: False)
    told = tasks._unpacked(pickle.dumps(parcel))
    assert "do not hold between machines: mount it so that flock does" in str(told)


def test_a_node_of_another_version_says_which(parcel):
    other = pickle.dumps(replace(parcel, versions={"reticent": "0.0.1", "torch": "2.4.0"}))
    told = tasks._unpacked(other)
    assert isinstance(told, ModelError)
    assert "and the command {'reticent': '0.0.1', 'torch': '2.4.0'}: install the same on all" in str(told)


def test_a_node_finds_the_users_code_where_the_driver_does(parcel, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    made = tasks._unpacked(pickle.dumps(replace(parcel, path=(str(tmp_path), *sys.path))))
    assert isinstance(made, Maker)
    assert sys.path.count(str(tmp_path)) == 1


def test_a_mark_is_gone_when_its_process_has_ended(store):
    with store.marked() as mark:
        store.check_marked(mark)
    with pytest.raises(StoreError, match="is not the store of the machine that asks"):
        store.check_marked(mark)


def test_ray_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        MissingExtraError, match=r"--executor ray needs ray, which is not installed: pip install 'ray>="
    ):
        tasks._ray()


class Gone:
    """A Ray whose task's process died."""

    class exceptions:
        RayError = RuntimeError

    @staticmethod
    def get(_):
        raise RuntimeError("The worker died unexpectedly.\nIts exit code was 1.")


def test_a_process_that_ended_is_a_failure_of_its_model_alone(store):
    model, error = tasks._result(Gone, None, 7, store)
    assert model == 7
    told = "model 7: its process on the Ray cluster ended without an answer (The worker died unexpectedly. Its exit"
    assert str(error).startswith(told)


class Failed(Gone):
    """A Ray whose node said why."""

    @staticmethod
    def get(_):
        return (3, ModelError("model 3: no memory")), "node gpu-4, ab12cd"


def test_a_failure_says_on_which_node(store):
    assert str(tasks._result(Failed, None, 3, store)[1]) == "model 3: no memory (on node gpu-4, ab12cd)"


def test_a_model_that_only_a_node_has_is_a_failure(store, monkeypatch):
    class Answered(Gone):
        @staticmethod
        def get(_):
            return Made(2, "t", "s", None, fresh=True), "node gpu-4, ab12cd"

    monkeypatch.setattr(tasks, "PATIENCE", 0.0)
    _, error = tasks._result(Answered, None, 2, store)
    assert str(error) == f"model 2: node gpu-4, ab12cd has finished it, and the store {store.address} lacks it"
