"""The real data, written in their official formats where the shared copies are at hand; a server on this machine."""

import contextlib
import http.server
import threading

import pytest
from shared_copies import SHARED, made


@pytest.fixture(scope="session")
def shared():
    if not SHARED.is_dir():
        pytest.skip(f"the copies of the real data are not at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def location_folder(tmp_path_factory):
    return made(tmp_path_factory.mktemp("location"), "location30")


@pytest.fixture(scope="session")
def adult_folder(tmp_path_factory):
    return made(tmp_path_factory.mktemp("adult"), "adult")


@pytest.fixture(scope="session")
def mnist_folder(tmp_path_factory):
    return made(tmp_path_factory.mktemp("mnist"), "mnist")


@pytest.fixture
def no_other_folders(monkeypatch, tmp_path):
    """Official files are found only where a test says."""
    monkeypatch.delenv("RETICENT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "reticent" / "data"


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the bytes of a dictionary; understands Range; may break off after some bytes."""

    def do_GET(self):
        content = self.server.files.get(self.path)
        asked = self.headers.get("Range")
        self.server.asked.append((self.path, asked))
        if content is None:
            self.send_error(404)
            return
        begin = int(asked.removeprefix("bytes=").split("-")[0]) if asked and self.server.ranges else 0
        if asked and self.server.ranges and begin >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(content[begin : self.server.stop_at])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    """A server; `server.files["/name"] = bytes`, `server.url`, `server.asked`."""
    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.daemon_threads = False
    served.files, served.asked, served.ranges, served.stop_at = {}, [], True, None
    served.url = f"http://127.0.0.1:{served.server_address[1]}"
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()
