"""Stores in an object store: one in memory here, which creates and replaces as S3 does; S3 itself is in e2e."""

import threading
import time
from contextlib import nullcontext

import numpy as np
import pytest

from reticent.errors import CorruptRunError, StoreError, StoreLockedError
from reticent.store import at
from reticent.store import objects as module

obstore = pytest.importorskip("obstore", reason="obstore is not installed: pip install 'reticent[objects]'")
TRIES = 50


class Shim:
    """The functions of obstore, of which some misbehave."""

    def __init__(self, **changed):
        self.changed = changed

    def __getattr__(self, name):
        return self.changed.get(name) or getattr(obstore, name)


@pytest.fixture
def clients(tmp_path, monkeypatch):
    """Machines with folders of their own, and one object store."""
    memory, count = obstore.store.MemoryStore(), iter(range(100))

    def client(**changed):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / str(next(count))))
        store = module.ObjectStore("s3://bucket/models/", memory)
        store._ob = Shim(**changed)
        return store.open()

    client.objects = memory
    return client


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(module, "LEASE", 0.3)
    monkeypatch.setattr(module, "RENEWED", 0.05)


def write(store, run_id="r1", value=1.0, before=None):
    with store.claim(run_id, patience=0.0) as draft:
        draft.write_arrays("a.safetensors", {"x": np.full(3, value, np.float32)})
        draft.write_json("spec.json", {"v": value})
        draft.facts = {"seconds": value}
        if before is not None:
            before()
    return draft.won


def value(store, run_id="r1"):
    return store.whole(run_id).arrays("a.safetensors")["x"].tolist()


def keys(clients, prefix="runs/"):
    return sorted(one["path"] for part in obstore.list(clients.objects, prefix) for one in part)


def test_a_run_of_one_machine_is_found_by_another_and_read_from_its_copy(clients):
    one, other = clients(), clients()
    assert other.find("r1") is None
    assert not other.ended("r1")
    assert write(one)
    assert other.ended("r1")
    assert value(other) == [1.0, 1.0, 1.0]
    assert other.find("r1").facts == {"seconds": 1.0}
    obstore.delete(clients.objects, keys(clients))
    assert value(other) == [1.0, 1.0, 1.0]


def test_a_run_whose_maker_fails_does_not_exist_and_leaves_no_claim(clients):
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write(clients(), before=fail)
    assert keys(clients) == []
    assert clients().holder("r1") is None
    assert write(clients())


def test_of_two_that_commit_at_once_one_wins_and_the_other_notices(clients, monkeypatch, caplog):
    monkeypatch.setattr(module.ObjectStore, "_held", lambda *_: nullcontext())
    first, second, reader = clients(), clients(), clients()
    for n in range(TRIES):
        at_once, won = threading.Barrier(2), {}

        def make(store, number, n=n, at_once=at_once, won=won):
            won[number] = write(store, f"r{n}", number, before=at_once.wait)

        makers = [threading.Thread(target=make, args=pair) for pair in ((first, 1.0), (second, 2.0))]
        for maker in makers:
            maker.start()
        for maker in makers:
            maker.join()
        assert sorted(won.values()) == [False, True]
        winner = max(won, key=won.get)
        assert [value(store, f"r{n}")[0] for store in (first, second, reader)] == [winner] * 3
        assert len(keys(clients, f"runs/r{n}/")) == 3
    assert [record.message for record in caplog.records] == [
        f"run r{n} was finished by another maker meanwhile: that one is used" for n in range(TRIES)
    ]


def test_who_lost_gives_back_no_model_of_its_own(clients):
    one, other = clients(), clients()

    def make(draft):
        draft.write_json("spec.json", {"v": 1})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module.ObjectStore, "_held", lambda *_: nullcontext())
            write(other, value=7.0)
        return "a network"

    run, made = one.found_or_made("r1", make)
    assert made is None
    assert run.facts == {"seconds": 7.0}


def test_a_commit_whose_answer_was_lost_is_known_as_ones_own(clients):
    def put(store, key, content, **mode):
        result = obstore.put(store, key, content, **mode)
        if key.endswith("done.json"):  # The client sends it again.
            obstore.put(store, key, content, **mode)
        return result

    assert write(clients(put=put))
    assert value(clients()) == [1.0, 1.0, 1.0]


def test_a_truncated_upload_is_named_and_never_used(clients):
    def put(store, key, content, **mode):
        half = content.read_bytes()[:40] if key.endswith(".safetensors") else content
        return obstore.put(store, key, half, **mode)

    with pytest.raises(StoreError, match=r"s3://bucket/models/runs/r1/\w+/a.safetensors arrived with 40 of \d+ bytes"):
        write(clients(put=put))
    assert clients().find("r1") is None
    assert write(clients())
    assert len(keys(clients)) == 3


def test_an_object_that_was_changed_later_is_named_and_its_run_is_made_anew_for_all(clients, caplog):
    one = clients()
    write(one)
    (key,) = (key for key in keys(clients) if key.endswith(".safetensors"))
    obstore.put(clients.objects, key, b"half")
    other = clients()
    with pytest.raises(CorruptRunError, match=r"run r1: a.safetensors is not what was written"):
        other.whole("r1")
    assert other.find("r1") is None
    assert write(other, value=2.0)
    assert "run r1: a.safetensors is not what was written: it is not used, and made anew" in caplog.text
    assert value(clients()) == [2.0, 2.0, 2.0]
    assert len(keys(clients)) == 3


def test_a_copy_that_was_changed_is_fetched_again(clients):
    one = clients()
    write(one)
    (one.root / "runs" / "r1" / "a.safetensors").write_bytes(b"half")
    assert value(one) == [1.0, 1.0, 1.0]


def test_a_live_maker_is_respected_for_longer_than_its_lease(clients, short):
    one, other = clients(), clients()

    def wait():
        time.sleep(0.6)
        assert other.holder("r1").startswith("process ")
        with pytest.raises(StoreLockedError, match=r"run r1 of the store s3://bucket/models is being made by process"):
            write(other)

    assert write(one, before=wait)
    assert other.holder("r1") is None


def test_a_dead_makers_lease_is_lost_and_two_commits_never_stand(clients, short, monkeypatch, caplog):
    dead, other = clients(), clients()
    monkeypatch.setattr(dead, "_renew", lambda *_: None)  # As of a machine that was cut off.

    def cut_off():
        time.sleep(0.4)
        assert other.holder("r1") is None
        assert write(other, value=2.0)

    assert not write(dead, value=1.0, before=cut_off)
    assert [value(store) for store in (dead, other, clients())] == [[2.0, 2.0, 2.0]] * 3


def test_a_maker_whose_lease_was_taken_is_told(clients, short, caplog):
    def taken():
        obstore.put(clients.objects, "leases/r1", b'{"holder": "another", "token": ""}')
        time.sleep(0.3)

    assert write(clients(), before=taken)
    assert "leases/r1 was taken by another maker: whoever finishes first, its run is used" in caplog.text
    assert keys(clients, "leases/") == ["leases/r1"]


def test_a_store_that_overwrites_is_refused_at_the_start(clients):
    def put(store, key, content, mode=None):
        return obstore.put(store, key, content)

    with pytest.raises(
        StoreError, match=r"overwrites what must be created once \(it ignores If-None-Match or If-Match"
    ):
        clients(put=put)


def test_one_that_may_only_be_read_gives_its_runs_also_where_it_was_not_opened(clients, monkeypatch, tmp_path):
    def put(*_, **__):
        raise obstore.exceptions.PermissionDeniedError("403 Forbidden")

    assert write(clients())
    reader = clients(put=put)
    assert reader.read_only
    assert value(reader) == [1.0, 1.0, 1.0]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "fresh"))
    assert value(module.ObjectStore("s3://bucket/models", clients.objects)) == [1.0, 1.0, 1.0]


def test_one_that_does_not_answer_is_named(clients):
    def get(store, key):
        raise obstore.exceptions.GenericError("503 Slow Down\n\nDebug source:\n...")

    store = clients()
    store._ob = Shim(get=get)
    with pytest.raises(StoreError, match=r"the store s3://bucket/models does not answer \(503 Slow Down\): look at"):
        store.find("r1")


def test_runs_are_removed_by_their_owner_alone(clients):
    with pytest.raises(StoreError, match="remove it with the tools of its owner, while nothing runs"):
        clients().remove("r1")


def test_a_machine_knows_whether_it_sees_the_same_store(clients):
    one, other = clients(), clients()
    with one.marked() as mark:
        other.check_marked(mark)
    with pytest.raises(
        StoreError, match=r"s3://bucket/models on this machine is not the store of the machine that asks"
    ):
        other.check_marked(mark)
    assert keys(clients, "marks/") == keys(clients, "probes/") == []


@pytest.mark.parametrize(
    "done",
    [b"{", b"[]", b'{"files": {"../x": ""}, "draft": "d"}', b'{"files": {}, "draft": "../../y"}', b'{"files": {}}'],
)
def test_a_done_json_that_reticent_did_not_write_is_named_and_fetches_nothing(clients, done, tmp_path):
    store = clients()
    obstore.put(clients.objects, "runs/r1/done.json", done)
    with pytest.raises(CorruptRunError, match=r"run r1: done.json cannot be read: "):
        store.whole("r1")
    assert write(store)
    assert value(clients()) == [1.0, 1.0, 1.0]


def test_an_address_tells_which_store_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = at("s3://bucket/some/path")
    assert store.address == "s3://bucket/some/path"
    assert store.root.parent == tmp_path / "reticent" / "stores"
    assert at(tmp_path).address == str(tmp_path)
    with pytest.raises(StoreError, match=r"the store ftp://x/y does not answer"):
        at("ftp://x/y")


@pytest.mark.parametrize("wrong", [-86_400.0, 86_400.0])
def test_a_machine_whose_clock_is_wrong_judges_leases_as_others_do(clients, monkeypatch, wrong):
    one, other = clients(), clients()
    right = time.time

    def look():
        monkeypatch.setattr(time, "time", lambda: right() + wrong)
        assert other.holder("r1") is not None
        with pytest.raises(StoreLockedError, match="which is alive, or died less than 60 s ago"):
            write(other)

    assert write(one, before=look)
