"""Stores in an object store: one in memory here, which creates and replaces as S3 does; S3 itself is in e2e."""

import errno
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from reticent.errors import CorruptRunError, StoreError, StoreLockedError
from reticent.store import at
from reticent.store import objects as module
from reticent.store.locks import process

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
def unclaimed(monkeypatch):
    """Makers do not see each other's claims."""
    monkeypatch.setattr(module.ObjectStore, "_held", lambda *_: nullcontext())


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
    asked = []
    other._ob = Shim(get=lambda store, key: asked.append(key) or obstore.get(store, key))
    assert value(other) == [1.0, 1.0, 1.0]
    assert asked == ["runs/r1/done.json"]


def test_a_copy_of_a_run_that_is_gone_or_was_made_anew_stands_for_none(clients):
    one, other = clients(), clients()
    write(one)
    assert value(other) == [1.0, 1.0, 1.0]
    obstore.delete(clients.objects, keys(clients))
    assert other.find("r1") is None
    assert not other.ended("r1")
    with pytest.raises(CorruptRunError, match="run r1 is gone: run the same command again"):
        other.whole("r1")
    assert write(one, value=2.0)
    assert [value(store) for store in (one, other)] == [[2.0, 2.0, 2.0]] * 2


def test_a_maker_whose_folder_holds_a_copy_already_is_told_of_no_other_maker(clients, caplog):
    one, other = clients(), clients()
    write(other, value=2.0)
    assert value(one) == [2.0, 2.0, 2.0]
    obstore.delete(clients.objects, keys(clients))
    assert write(one)
    assert "another maker" not in caplog.text
    assert value(one) == [1.0, 1.0, 1.0]


def test_who_loses_while_it_uploads_takes_the_run_that_won(clients, unclaimed):
    def put(store, key, content, **mode):
        result = obstore.put(store, key, content, **mode)
        if key.endswith(".safetensors") and other.find("r1") is None:
            assert write(other, value=2.0)
        return result

    one, other = clients(put=put), clients()
    assert not write(one)
    assert [value(store) for store in (one, other)] == [[2.0, 2.0, 2.0]] * 2
    assert len(keys(clients)) == 3


def test_who_won_has_won_also_where_nothing_can_be_tidied(clients):
    def refused(*_):
        raise obstore.exceptions.GenericError("503 Slow Down")

    one = clients()
    one._ob = Shim(list=refused)
    assert write(one)
    assert value(clients()) == [1.0, 1.0, 1.0]


def test_a_run_whose_maker_fails_does_not_exist_and_leaves_no_claim(clients):
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write(clients(), before=fail)
    assert keys(clients) == []
    assert clients().holder("r1") is None
    assert write(clients())


def test_of_two_that_commit_at_once_one_wins_and_the_other_notices(clients, unclaimed, caplog):
    first, second, reader = clients(), clients(), clients()
    for n in range(TRIES):
        at_once, won = threading.Barrier(2), {}

        def make(store, number, n=n, at_once=at_once, won=won):
            won[number] = write(store, f"r{n}", number, before=at_once.wait)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(make, (first, second), (1.0, 2.0)))
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

    with pytest.raises(StoreError, match=r"s3://bucket/models/runs/r1/[^/]+/a.safetensors arrived with 40 of "):
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


def test_a_live_maker_is_respected_for_longer_than_its_lease(clients, monkeypatch):
    versions, renewed = [], threading.Event()

    def put(store, key, content, **mode):
        result = obstore.put(store, key, content, **mode)
        if key == "leases/r1":
            versions.append(result["e_tag"])
            if len(versions) == 3:
                renewed.set()
        return result

    one, other = clients(put=put), clients()
    monkeypatch.setattr(module, "RENEWED", 0.0)
    monkeypatch.setattr(other, "_age", lambda there: 61.0 if there["e_tag"] in versions[:2] else 0.0)

    def wait():
        assert renewed.wait(60)
        assert other.holder("r1").startswith("process ")
        with pytest.raises(StoreLockedError, match=r"run r1 of the store s3://bucket/models is being made by process"):
            write(other)

    assert write(one, before=wait)
    assert other.holder("r1") is None


def test_a_dead_makers_lease_is_lost_and_two_commits_never_stand(clients, monkeypatch, caplog):
    dead, other = clients(), clients()
    monkeypatch.setattr(dead, "_renew", lambda *_: None)  # As of a machine that was cut off.
    monkeypatch.setattr(other, "_age", lambda _: 61.0)

    def cut_off():
        assert other.holder("r1") is None
        assert write(other, value=2.0)

    assert not write(dead, value=1.0, before=cut_off)
    assert [value(store) for store in (dead, other, clients())] == [[2.0, 2.0, 2.0]] * 3


@pytest.mark.parametrize(("seconds", "void"), [(40, False), (61, True)])
def test_a_lease_is_void_a_minute_after_it_was_written(clients, seconds, void):
    def head(store, key):
        found = obstore.head(store, key)
        ago = timedelta(seconds=seconds if key.startswith("leases/") else 0)
        return found | {"last_modified": found["last_modified"] - ago}

    one, other = clients(), clients(head=head)

    def look():
        assert (other.holder("r1") is None) == void
        if void:
            assert write(other, value=2.0)

    assert write(one, before=look) != void


def test_a_suspended_maker_of_this_machine_is_not_disturbed_when_its_lease_is_void(clients, monkeypatch):
    one = clients()
    other = module.ObjectStore("s3://bucket/models", clients.objects)
    monkeypatch.setattr(other, "_age", lambda _: 61.0)

    def suspended():
        assert other.root == one.root
        with pytest.raises(StoreLockedError, match=f"is being made by {process()}, which is alive"):
            write(other)

    assert write(one, before=suspended)


@pytest.mark.parametrize("content", [b'{"holder": "another", "token": ""}', b"\xff"])
def test_a_maker_whose_lease_was_taken_is_told_and_leaves_it(clients, monkeypatch, caplog, content):
    one = clients()
    monkeypatch.setattr(module, "RENEWED", 0.0)
    monkeypatch.setattr(one, "_renew", lambda *_: None)
    assert write(one, before=lambda: obstore.put(clients.objects, "leases/r1", content))
    assert keys(clients, "leases/") == ["leases/r1"]
    monkeypatch.undo()
    monkeypatch.setattr(module, "RENEWED", 0.0)
    one._renew("leases/r1", module._Lease(), '"of before"', threading.Event())
    assert "leases/r1 was taken by another maker: whoever finishes first, its run is used" in caplog.text


def test_a_maker_that_ends_does_not_wait_for_a_request_that_hangs(clients, monkeypatch):
    one, answered, ended = clients(), threading.Event(), []
    monkeypatch.setattr(module, "RENEWED", 0.0)
    monkeypatch.setattr(one, "_renew", lambda *_: ended.append(answered.wait(60)))
    assert write(one)
    assert ended == []
    assert keys(clients, "leases/") == []
    answered.set()


@pytest.mark.parametrize("content", [b"\xff", b"{", b"[]", b"{}"])
def test_a_lease_that_reticent_did_not_write_is_of_another_process(clients, content):
    one = clients()
    obstore.put(clients.objects, "leases/r1", content)
    assert one.holder("r1") == "another process"
    with pytest.raises(StoreLockedError, match=r"run r1 .* is being made by another process, which is alive, or"):
        write(one)


def test_no_lease_is_void_where_the_clock_was_removed(clients, monkeypatch):
    def head(store, key):
        if key == "clock":
            raise FileNotFoundError(errno.ENOENT, "no such object", key)
        return obstore.head(store, key)

    one, other = clients(), clients()
    other._ob = Shim(head=head)
    assert write(one, before=lambda: other.holder("r1").index("process "))


def test_a_request_that_hangs_ends_before_the_lease_does_and_files_take_as_long_as_they_go_on(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = at("s3://bucket/path")
    small, files = (int(one.client_options["timeout"][:-1]) for one in (store._objects, store._bodies))
    assert small + module.RENEWED < module.LEASE
    assert small < module.RENEWED
    assert files >= timedelta(days=1).total_seconds()
    assert store._bodies.client_options["read_timeout"] == "60s"


def test_a_store_that_overwrites_is_refused_at_the_start(clients):
    def put(store, key, content, mode=None):
        return obstore.put(store, key, content)

    with pytest.raises(StoreError, match=r"does not create an object once, or not replace that version of it that"):
        clients(put=put)


def test_a_store_that_never_replaces_is_refused_at_the_start(clients):
    def put(store, key, content, mode=None):
        if isinstance(mode, dict):
            raise obstore.exceptions.PreconditionError("412 Precondition Failed")
        return obstore.put(store, key, content, mode=mode)

    with pytest.raises(StoreError, match=r"that it is told \(If-None-Match, If-Match\), so that one machine's models"):
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


def test_what_this_machine_refuses_is_not_told_as_an_answer_of_the_store(clients):
    def put(store, key, content, **mode):
        if isinstance(content, Path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(content))
        return obstore.put(store, key, content, **mode)

    store = clients(put=put)
    with pytest.raises(StoreError, match=rf"the store {store.root} cannot be written \(Permission denied\): give a"):
        write(store)


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
    assert at("a:b/c").root == Path("a:b/c")


@pytest.mark.parametrize(
    "address",
    [
        "ftp://x/y",
        "gs://bucket/x",
        "S3://bucket",
        "s3://",
        "s3:/bucket/x",
        "s3://key:secret@bucket/x",
        "s3://key:sec/secret@bucket",
        "s3://bucket/x?secret=1",
        "s3://bucket/x#secret",
        Path("s3://bucket/x"),
    ],
)
def test_an_address_of_another_form_is_refused_and_no_key_in_it_is_told(address):
    with pytest.raises(
        StoreError, match=r"begins with '(s3|S3|ftp|gs):': expected a folder, or the text s3://bucket/path"
    ) as told:
        at(address)
    assert "secret" not in str(told.value)


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


def test_copies_that_never_arrived_are_removed_once_they_are_old(clients):
    write(clients())
    reader = clients()
    old, new = (reader.root / "arriving" / name for name in ("old", "new"))
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "half").write_bytes(b"...")
    os.utime(old, (time.time() - 1.5 * module.ARRIVING_STALE,) * 2)
    assert value(reader) == [1.0] * 3
    assert [one.name for one in (reader.root / "arriving").iterdir()] == ["new"]
