"""What a node of a cluster is told and checks before it trains; no cluster is needed for that."""

import pickle
import signal
import sys
from contextlib import nullcontext
from types import SimpleNamespace

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
        yield job.population, store.address, mark, "cpu"


def unpacked(parcel, path=()):
    return tasks._maker("cpu", tasks._versions("cpu"), list(path), pickle.dumps(parcel))


def test_a_node_without_the_data_set_makes_models(parcel, tmp_path):
    (tmp_path / "own.csv").unlink()
    made = unpacked(parcel).make(1)
    assert isinstance(made, Made)
    assert made.model == 1
    assert made.fresh


def test_a_node_whose_folder_is_another_says_so_and_makes_no_folder_there(parcel, tmp_path):
    population, _, mark, device = parcel
    elsewhere = tmp_path / "local" / "store"
    with pytest.raises(StoreError, match="is not the store of the machine that asks: mount one folder at the same"):
        unpacked((population, str(elsewhere), mark, device))
    assert not elsewhere.parent.exists()


def test_a_node_that_does_not_see_locks_of_others_says_so(parcel, monkeypatch):
    monkeypatch.setattr("reticent.store.locks.held", lambda lock: False)
    with pytest.raises(StoreError, match="do not hold between machines: mount it so that flock does"):
        unpacked(parcel)


def test_a_node_of_another_version_says_which_and_unpacks_nothing():
    other = {"reticent": "0.0.1", "torch": "2.4.0"}
    words = r"and the command \{'reticent': '0.0.1', 'torch': '2.4.0'\}: install the same on all"
    with pytest.raises(ModelError, match=words):
        tasks._maker("cpu", other, [], b"what this version cannot read")


def test_on_the_cpu_another_build_of_torch_is_another_version(monkeypatch):
    found = []
    for build in ("2.13.0+cpu", "2.13.0+cu128"):
        monkeypatch.setattr("torch.__version__", build)
        found.append((tasks._versions("cpu"), tasks._versions("cuda")))
    (cpu, cuda), (other_cpu, other_cuda) = found
    assert cpu != other_cpu
    assert cuda == other_cuda


def test_a_node_finds_the_users_code_where_the_driver_does(parcel, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert isinstance(unpacked(parcel, path=(str(tmp_path), *sys.path)), Maker)
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


class RayError(Exception):
    pass


class RayTaskError(RayError):
    """Its message is a coloured traceback, as Ray's is."""

    def __init__(self, cause):
        super().__init__(f"\x1b[36mray::_make()\x1b[39m {'File, line, ' * 50} {cause}")
        self.cause = cause


class Gone:
    """A Ray whose task's process died."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    @staticmethod
    def get(_):
        raise RayError("The worker died unexpectedly.\nIts exit code was 1.")


def test_a_model_is_seen_once_its_probes_are(store, monkeypatch):
    asked, made = [], Made(0, "t", "s", None, fresh=True, probes=("p",))  # type: ignore[arg-type]
    monkeypatch.setattr(Store, "ended", lambda _, run: asked.append(run) or (run != "p" or asked.count("p") > 2))
    monkeypatch.setattr(tasks.time, "sleep", lambda _: None)
    assert tasks._seen(made, "node", store) is made
    assert asked.count("p") == 3


def test_a_process_that_ended_is_a_failure_of_its_model_alone(store):
    [(model, error), (other, _)] = tasks._results(Gone, None, [7, 9], store)
    assert (model, other) == (7, 9)
    told = "model 7: its process on the Ray cluster ended without an answer (The worker died unexpectedly. Its exit"
    assert str(error).startswith(told)


@pytest.mark.parametrize(
    ("cause", "kind", "told"),
    [
        (StoreError("no such mount (on node gpu-4, ab12cd)"), StoreError, "no such mount (on node gpu-4, ab12cd)"),
        (
            ImportError("No module\nnamed reticent"),
            ModelError,
            "a node of the Ray cluster cannot make models (ImportError: No module named reticent)",
        ),
    ],
)
def test_a_node_that_cannot_make_models_ends_the_run_by_name(store, cause, kind, told):
    class Unable(Gone):
        @staticmethod
        def get(_):
            raise RayTaskError(cause)

    with pytest.raises(kind) as caught:
        list(tasks._results(Unable, None, [7], store))
    assert str(caught.value) == told


def test_a_node_that_failed_is_prepared_anew_for_its_next_task(parcel, monkeypatch):
    node = SimpleNamespace(get_node_id=lambda: "ab12cdef")
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(get=lambda ref: ref, get_runtime_context=lambda: node))
    monkeypatch.setattr(tasks, "_MAKER", {})
    mark, sent = parcel[2], [("cpu", tasks._versions("cpu"), [], pickle.dumps(parcel))]
    with monkeypatch.context() as broken:
        broken.setattr("reticent.store.locks.held", lambda lock: False)
        with pytest.raises(StoreError, match=r"do not hold between machines.* \(on node .*, ab12cd\)$"):
            tasks._make(sent, mark, [1])
    [made], node = tasks._make(sent, mark, [1])
    assert (made.model, node.endswith(", ab12cd")) == (1, True)


@pytest.mark.parametrize("ours", [True, False])
def test_a_cluster_that_fails_is_named_and_left_only_if_it_was_ours(monkeypatch, ours):
    left, before = [], signal.getsignal(signal.SIGTERM)

    class Failing(Gone):
        is_initialized = staticmethod(lambda: not ours)
        init = staticmethod(lambda **_: signal.signal(signal.SIGTERM, lambda *_: None))
        shutdown = staticmethod(lambda: left.append("left"))

    with pytest.raises(ModelError) as caught, tasks._connected(Failing, None):  # noqa: PT012
        assert signal.getsignal(signal.SIGTERM) is before
        raise RayError("no\nspace left")
    told = "the Ray cluster failed (no space left): finished models are kept; run the same command again"
    assert (str(caught.value), left) == (told, ["left"] * ours)


def test_a_connection_that_fails_leaves_our_answer_to_sigterm():
    before = signal.getsignal(signal.SIGTERM)

    class Refusing(Gone):
        is_initialized = staticmethod(lambda: False)

        @staticmethod
        def init(**_):
            signal.signal(signal.SIGTERM, lambda *_: None)
            raise RayError("wrong token")

    with pytest.raises(ModelError, match=r"cannot be reached \(wrong token\): .*set RAY_AUTH_MODE=token"):
        tasks._connect(Refusing, None)
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    ("machines", "gpu", "words"),
    [
        ([{"CPU": 0}, {}], False, "no machine of the Ray cluster has a core for tasks: start one first"),
        ([{"CPU": 8}, {"GPU": 4}], True, "device cuda: no machine of the Ray cluster has a core and a GPU"),
        ([{"CPU": 8}, {"CPU": 1, "GPU": 4}], True, None),
        ([{}, {"CPU": 1}], False, None),
    ],
)
def test_a_cluster_on_which_no_task_would_begin_is_refused(machines, gpu, words):
    ended = {"Alive": False, "Resources": {"CPU": 8, "GPU": 8}}
    ray = SimpleNamespace(nodes=lambda: [ended, *({"Alive": True, "Resources": one} for one in machines)])
    with pytest.raises(ModelError, match=words) if words else nullcontext():
        tasks._check_able(ray, gpu=gpu)


class Failed(Gone):
    """A Ray whose node said why."""

    @staticmethod
    def get(_):
        return [(3, ModelError("model 3: no memory"))], "node gpu-4, ab12cd"


def test_a_failure_says_on_which_node(store):
    [(_, error)] = tasks._results(Failed, None, [3], store)
    assert str(error) == "model 3: no memory (on node gpu-4, ab12cd)"


def test_a_model_that_only_a_node_has_is_a_failure(store, monkeypatch):
    class Answered(Gone):
        @staticmethod
        def get(_):
            return [Made(2, "t", "s", None, fresh=True)], "node gpu-4, ab12cd"

    monkeypatch.setattr(tasks, "PATIENCE", 0.0)
    [(_, error)] = tasks._results(Answered, None, [2], store)
    assert str(error) == f"model 2: node gpu-4, ab12cd has finished it, and the store {store.address} lacks it"
