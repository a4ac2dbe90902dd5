"""A web server for tests of downloads, on this machine alone."""

import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Site:
    """Pages by path, how often each was asked for, and how it misbehaves."""

    def __init__(self, address):
        self.address = address
        self.pages = {}
        self.n_requests = Counter()
        self.n_failures = {}  # answers with status 503 before a page is served
        self.heads = {}  # other status or headers than those of the page
        self.dripped, self.stalled = set(), set()  # a byte now and then; half of it
        self.is_over = threading.Event()

    def url(self, path):
        return f"{self.address}/{path}"

    def add(self, path, content):
        self.pages[path] = content
        return self.url(path)


@pytest.fixture
def site(monkeypatch):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.lstrip("/")
            site.n_requests[path] += 1
            if path not in site.pages:
                self.send_error(404)
                return
            if site.n_requests[path] <= site.n_failures.get(path, 0):
                self.send_error(503)
                return
            body = site.pages[path]
            status, headers = site.heads.get(path, (200, {}))
            self.send_response(status)
            for name, value in ({"Content-Length": len(body)} | headers).items():
                self.send_header(name, str(value))
            self.end_headers()
            if path in site.dripped:
                for byte in body[:200]:
                    self.wfile.write(bytes([byte]))
                    if site.is_over.wait(0.1):
                        break
                return
            self.wfile.write(body[: len(body) // 2] if path in site.stalled else body)
            if path in site.stalled:
                site.is_over.wait()

        def log_message(self, *args):
            pass

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}
    )
    thread.start()
    yield site
    site.is_over.set()
    server.shutdown()
    server.server_close()
    thread.join()
