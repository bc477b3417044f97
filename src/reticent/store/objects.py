"""A store in an object store (S3 and what is compatible), with a folder of copies here.

A run is written here, and its files are uploaded under a name of the draft's own; it exists once ``done.json`` is
created, which an object store does once: of two makers one wins, and the other takes what the winner made. A claim is a
lease, an object that its holder renews; it only spares work, since without it too one commit stands.

A copy stands for a run as long as its ``done.json`` is that of the object store.

Objects: ``runs/<id>/done.json``, ``runs/<id>/<draft>/<file>``, ``leases/<id>``, ``clock``; for a moment ``marks/`` and
``probes/``.
"""

import hashlib
import json
import logging
import os
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from reticent.errors import MissingExtraError, StoreError, StoreLockedError
from reticent.store.disk import writing
from reticent.store.folder import UNKNOWN, Store
from reticent.store.locks import LONGEST, process
from reticent.store.run import DONE, Problem, Run

log = logging.getLogger(__name__)

LEASE, RENEWED = 60.0, 15.0
"""Seconds after which a claim that was not renewed is void, by the object store's clock; how often it is renewed."""
RETRY: Any = {
    "max_retries": 1000,
    "retry_timeout": timedelta(seconds=60),
    "backoff": {"init_backoff": timedelta(seconds=0.2), "max_backoff": timedelta(seconds=5), "base": 2},
}
"""How long what may pass (a busy server, a broken connection) is tried again: for the time, not so many times."""
SMALL: Any = {"connect_timeout": "5s", "timeout": "10s", "allow_http": True}
"""One try of a request whose answer is small: a lease outlives one that hangs."""
FILES: Any = {"connect_timeout": "5s", "read_timeout": "60s", "timeout": "86400s", "allow_http": True}
"""Requests for whole files: no limit as long as bytes keep coming."""
ARRIVING_STALE = 2 * 86400.0
"""Seconds after which what is arriving is of a process that died: a live one begins a file once a day at least."""
DRAFT = "draft"
"""The key of an object ``done.json`` that names the folder of its files."""


def copies(address: str) -> Path:
    """Return the folder of this machine that keeps what was read of an object store."""
    cache = os.environ.get("XDG_CACHE_HOME")
    named = hashlib.sha256(f"{os.environ.get('AWS_ENDPOINT_URL', '')} {address}".encode()).hexdigest()[:16]
    return (Path(cache) if cache else Path.home() / ".cache") / "reticent" / "stores" / named


class ObjectStore(Store):
    """A store in an object store.

    Attributes:
        root: the folder of this machine with copies of its runs, which may be removed while nothing runs.
        lingers: seconds that the claim of a process that died holds.
    """

    def __init__(self, address: str, objects: Any = None) -> None:
        self._at = address.rstrip("/")
        super().__init__(copies(self._at))
        try:
            import obstore
        except ImportError:
            raise MissingExtraError("obstore", "objects", f"the store {address}") from None
        self._ob = obstore
        self.lingers = LEASE
        with self._asking():
            self._objects, self._bodies = (
                objects or obstore.store.from_url(self._at, client_options=client, retry_config=RETRY)
                for client in (SMALL, FILES)
            )

    @property
    def address(self) -> str:
        """Where another process, or machine, finds this store."""
        return self._at

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Turn what an object store answers, and is no answer to what was asked, into one sentence."""
        try:
            yield
        except (self._ob.exceptions.AlreadyExistsError, self._ob.exceptions.PreconditionError):
            raise
        except (self._ob.exceptions.BaseError, ValueError) as error:
            told = str(error).split("\n\n")[0].replace("\n", " ")
            raise StoreError(
                f"the store {self._at} does not answer ({told:.300}): look at its address and at who may read and "
                f"write there{_unkeyed()}, and run the same command again; what was finished is kept"
            ) from error

    def _get(self, key: str) -> tuple[bytes, str] | None:
        """Read a small object, and its version; None where there is none."""
        with self._asking():
            try:
                got = self._ob.get(self._objects, key)
                return bytes(got.bytes()), str(got.meta["e_tag"])
            except FileNotFoundError:
                return None

    def _head(self, key: str) -> Any:
        with self._asking():
            try:
                return self._ob.head(self._objects, key)
            except FileNotFoundError:
                return None

    def _put(self, key: str, content: bytes, version: str | None = None) -> str | None:
        """Create an object, or replace that version of it; None if another did before."""
        mode: Any = "create" if version is None else {"e_tag": version}
        with self._asking():
            try:
                return str(self._ob.put(self._objects, key, content, mode=mode)["e_tag"])
            except (self._ob.exceptions.AlreadyExistsError, self._ob.exceptions.PreconditionError, FileNotFoundError):
                pass
        there = self._get(key)
        # A request whose answer was lost is sent again, and then meets what it wrote itself.
        return there[1] if there is not None and there[0] == content else None

    def _delete(self, *keys: str) -> None:
        with self._asking(), suppress(FileNotFoundError):
            self._ob.delete(self._objects, list(keys))

    def _probe(self) -> None:
        """Find out whether it creates, and replaces, only what it should: all that is promised rests on that."""
        super()._probe()
        key = f"probes/{secrets.token_hex(6)}"
        try:
            first = self._put(key, b"first")
        except StoreError as error:
            self.read_only = isinstance(error.__cause__, self._ob.exceptions.PermissionDeniedError)
            if self.read_only:
                return
            raise
        again = self._put(key, b"second")
        wrong = self._put(key, b"third", '"of another"')
        right = first and self._put(key, b"fourth", first)
        self._delete(key)
        if again is not None or wrong is not None or right is None:
            raise StoreError(
                f"the store {self._at} does not create an object once, or not replace that version of it that it is "
                "told (If-None-Match, If-Match), so that one machine's models could replace another's: use another "
                "store, or a newer version of it"
            )

    # Runs

    def ended(self, run_id: str) -> bool:
        """Tell whether a run was finished; whether it is whole is not looked at."""
        return self._head(f"runs/{run_id}/{DONE}") is not None

    def _examined(self, run_id: str) -> tuple[Run | None, Problem | None]:
        done = self._get(f"runs/{run_id}/{DONE}")
        if done is None:
            return None, None
        if _content(self._runs / run_id / DONE) == done[0]:
            run, problem = self._here(run_id)
            if problem is None:
                return run, None
        self._fetch(run_id, done[0])
        return self._here(run_id)

    def _fetch(self, run_id: str, done: bytes) -> None:
        """Copy a run to this machine as it is; its hashes are checked by who takes it."""
        folder = self.root / "arriving" / secrets.token_hex(6)
        with writing(self.root):
            for left in folder.parent.glob("*"):
                with suppress(OSError):
                    if time.time() - left.stat().st_mtime > ARRIVING_STALE:
                        shutil.rmtree(left, ignore_errors=True)
            folder.mkdir(parents=True)
            self._runs.mkdir(exist_ok=True)
            try:
                for name, key in _files(run_id, done).items():
                    self._download(key, folder / name)
                (folder / DONE).write_bytes(done)
                super()._commit(folder, run_id)
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def _download(self, key: str, path: Path) -> None:
        with self._asking(), suppress(FileNotFoundError), path.open("wb") as stream:
            for part in self._ob.get(self._bodies, key).stream():
                stream.write(part)

    def _commit(self, folder: Path, run_id: str) -> bool:
        done = json.dumps(json.loads((folder / DONE).read_bytes()) | {DRAFT: folder.name}).encode()
        (folder / DONE).write_bytes(done)
        won = self._uploaded(folder, run_id) and self._won(run_id, done)
        with suppress(StoreError):
            self._tidy(run_id, folder.name, won)
        if won:
            super()._commit(folder, run_id)
        return won

    def _stays(self, there: Path, draft: Path) -> bool:
        return _content(there / DONE) == _content(draft / DONE) and super()._stays(there, draft)

    def _uploaded(self, folder: Path, run_id: str) -> bool:
        """Upload the files of a draft; False if another maker won meanwhile, who removes what is not of its run."""
        for path in sorted(folder.iterdir()):
            if path.name == DONE:
                continue
            key, size = f"runs/{run_id}/{folder.name}/{path.name}", path.stat().st_size
            with self._asking():
                self._ob.put(self._bodies, key, path)
            there = self._head(key)
            if there is None and self.find(run_id) is not None:
                return False
            arrived = 0 if there is None else there["size"]
            if arrived != size:
                raise StoreError(
                    f"{self._at}/{key} arrived with {arrived:,} of {size:,} bytes: the run is not finished, and what "
                    "arrived is never used; run the same command again"
                )
        return True

    def _tidy(self, run_id: str, draft: str, won: bool) -> None:
        """Remove one's own files if one lost; if one won, what others who lost, or died, have left."""
        with self._asking():
            listed = [one["path"] for part in self._ob.list(self._objects, f"runs/{run_id}/") for one in part]
        mine = {key for key in listed if key.startswith(f"runs/{run_id}/{draft}/")}
        left = set(listed) - mine - {f"runs/{run_id}/{DONE}"} if won else mine
        if left:
            self._delete(*sorted(left))

    def _won(self, run_id: str, done: bytes) -> bool:
        """Make a run exist, in place of a corrupt one if there is one; only one of several makers can."""
        key = f"runs/{run_id}/{DONE}"
        while self._put(key, done) is None:
            there = self._get(key)
            if there is not None:
                if self.find(run_id) is not None:
                    return False
                if self._put(key, done, there[1]) is not None:
                    return True
        return True

    # Claims

    @contextmanager
    def _held(self, run_id: str, patience: float) -> Iterator[None]:
        """Hold a run's lease; among the processes of this machine, which write into one folder, the lock too."""
        with super()._held(run_id, patience), self._leased(run_id, patience):
            yield

    @contextmanager
    def _leased(self, run_id: str, patience: float) -> Iterator[None]:
        key, ours, end = f"leases/{run_id}", _Lease(), time.monotonic() + patience
        while (version := self._taken(key, ours)) is None:
            if time.monotonic() > end:
                raise StoreLockedError(
                    f"run {run_id} of the store {self._at} is being made by {self.holder(run_id) or UNKNOWN}, which is "
                    f"alive, or died less than {LEASE:.0f} s ago: wait for it and run the same command again, or give "
                    "another --store"
                )
            time.sleep(min(patience, 0.5))
        ended = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(key, ours, version, ended), daemon=True)
        renewing.start()
        try:
            yield
        finally:
            ended.set()
            renewing.join(timeout=RENEWED)
            with suppress(StoreError):
                there = self._get(key)
                if there is not None and ours.token.encode() in there[0]:
                    self._delete(key)

    def _taken(self, key: str, ours: "_Lease") -> str | None:
        """Take a lease that nobody has, or that is void: its version, or None."""
        version = self._put(key, ours.content())
        if version is None:
            there = self._head(key)
            if there is not None and self._age(there) > LEASE:
                version = self._put(key, ours.content(), there["e_tag"])
        return version

    def _renew(self, key: str, ours: "_Lease", version: str, ended: threading.Event) -> None:
        while not ended.wait(RENEWED):
            with suppress(StoreError):
                renewed = self._put(key, ours.content(), version)
                if renewed is None and not ended.is_set():
                    log.warning("%s was taken by another maker: whoever finishes first, its run is used", key)
                if renewed is None:
                    return
                version = renewed

    def _age(self, there: Any) -> float:
        """Seconds since an object was written, both times by the clock of the object store."""
        with self._asking():
            self._ob.put(self._objects, "clock", secrets.token_bytes(6))
        now = self._head("clock")
        # Where the owner of the store removed it just now, nothing is known: no claim is void by that.
        return 0.0 if now is None else float((now["last_modified"] - there["last_modified"]).total_seconds())

    def holder(self, run_id: str) -> str | None:
        """Say which process has claimed a run; one that died is named until its claim is void."""
        there = self._head(f"leases/{run_id}")
        if there is None or self._age(there) > LEASE:
            return None
        lease = self._get(f"leases/{run_id}")
        try:
            return None if lease is None else str(json.loads(lease[0])["holder"])[:LONGEST]
        except (ValueError, KeyError, TypeError):
            return UNKNOWN

    def remove(self, name: str, *, unfinished: bool = False) -> None:
        """Refuse: whether another machine uses a run is not known here."""
        raise StoreError(
            f"run {name} of the store {self._at}: remove it with the tools of its owner, while nothing runs"
        )

    # What other machines look for

    @contextmanager
    def marked(self) -> Iterator[str]:
        """Leave a mark until the block ends, by which other machines know this store."""
        mark = secrets.token_hex(6)
        self._put(f"marks/{mark}", b"")
        try:
            yield mark
        finally:
            with suppress(StoreError):
                self._delete(f"marks/{mark}")

    def check_marked(self, mark: str) -> None:
        """Refuse an object store that is not the one where a mark was left, by another endpoint for example."""
        if self._head(f"marks/{mark}") is None:
            raise StoreError(
                f"{self._at} on this machine is not the store of the machine that asks: give both the same endpoint "
                "(AWS_ENDPOINT_URL)"
            )


class _Lease:
    """What a lease says, another content each time, so that each has a version of its own."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(8)

    def content(self) -> bytes:
        """Write it."""
        told = {"holder": process(), "token": self.token}
        return json.dumps(told | {"renewed": secrets.token_hex(4)}).encode()


def _unkeyed() -> str:
    """Say what was used for want of keys."""
    if os.environ.get("AWS_ACCESS_KEY_ID"):
        return ""
    return " (AWS_ACCESS_KEY_ID is not set, so that a role of this machine was asked for)"


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _files(run_id: str, done: bytes) -> dict[str, str]:
    """Find the objects of a run's files; none where ``done.json`` is not what reticent writes."""
    try:
        told = json.loads(done)
        names, draft = list(told["files"]), str(told[DRAFT])
    except (ValueError, KeyError, TypeError):
        return {}
    plain = [name for name in (*names, draft) if Path(name).name == name]
    return {name: f"runs/{run_id}/{draft}/{name}" for name in names} if len(plain) == len(names) + 1 else {}
