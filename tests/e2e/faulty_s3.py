"""S3 as moto plays it, behind a proxy that makes faults, in a process of its own: it tells its address, then obeys.

Lines of standard input: ``busy SECONDS`` answers 503 for so long, ``cut`` forwards half of the next file of arrays that
is uploaded; the end of input ends all.
"""

import http.client
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from moto.server import ThreadedMotoServer

state = {"busy": 0.0, "cut": False, "refused": 0}


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if time.monotonic() < state["busy"]:
            state["refused"] += 1
            self.answer(503, {}, b"<Error><Code>SlowDown</Code></Error>")
            return
        headers = dict(self.headers.items())
        if state["cut"] and self.command == "PUT" and self.path.endswith(".safetensors"):
            state["cut"] = False
            body = body[: len(body) // 2]
            headers |= {"Content-Length": str(len(body))}
        upstream = http.client.HTTPConnection(*moto.get_host_and_port(), timeout=60)
        upstream.request(self.command, self.path, body, headers)
        got = upstream.getresponse()
        content = got.read()
        upstream.close()
        self.answer(got.status, dict(got.getheaders()), content)

    def answer(self, status, headers, content):
        given = {name.lower(): value for name, value in headers.items()}
        length = given.get("content-length", "0") if self.command == "HEAD" else str(len(content))
        self.send_response_only(status)
        for name, value in (given | {"content-length": length}).items():
            if name not in {"connection", "transfer-encoding"}:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = forward

    def log_message(self, *_):
        pass


moto = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
moto.start()
upstream = http.client.HTTPConnection(*moto.get_host_and_port())
upstream.request("PUT", "/bucket")
assert upstream.getresponse().status == 200
proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
proxy.daemon_threads = True
threading.Thread(target=proxy.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{proxy.server_address[1]}", flush=True)
for line in sys.stdin:
    word, _, seconds = line.strip().partition(" ")
    if word == "busy":
        state["busy"] = time.monotonic() + float(seconds)
    elif word == "cut":
        state["cut"] = True
    print(state["refused"], flush=True)
