"""Servers that do not deliver what was asked for, all on this machine."""

import gzip
import hashlib
import io
import tarfile
import threading
import time
import zipfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

import numpy as np

from faults.table import Fault
from mtmkl_suite.data.entries import Archive, FileEntry
from mtmkl_suite.data.errors import DataCorruptError, DataNotAvailableError
from mtmkl_suite.data.fetch import download
from mtmkl_suite.files import write_bytes

SEED = 19
CONTENT = b"".join(b"%d,%d\n" % (k, k * k) for k in range(500))
MOST_SECONDS = 60
MOST_REQUESTS = 100
STALL = 3.0  # seconds; the client waits for half a second


class Answers(BaseHTTPRequestHandler):
    """Answers by the first part of the path; the second is the page."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.n_requests += 1
        how, page = self.path.lstrip("/").split("/", 1)
        getattr(self, how)(self.server.pages[page])

    def send(self, body, length=None, status=200, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def good(self, body):
        self.send(body)

    def stalls_at_once(self, body):
        time.sleep(STALL)

    def stalls_in_the_middle(self, body):
        self.send(body[: len(body) // 2], len(body))
        self.wfile.flush()
        time.sleep(STALL)

    def truncates(self, body):
        self.send(body[: int(len(body) * self.server.rng.uniform())], len(body))

    def fails(self, body):
        self.send(b"sorry", status=500)

    def fails_twice(self, body):
        if self.server.n_requests < 3:
            self.send(b"sorry", status=500)
        else:
            self.send(body)

    def flips(self, body):
        changed = bytearray(body)
        at = int(self.server.rng.integers(len(body)))
        changed[at] ^= 1 << int(self.server.rng.integers(8))
        self.send(bytes(changed))

    def says_too_little(self, body):
        self.send(body, len(body) - 7)

    def says_too_much(self, body):
        self.send(body, len(body) + 7)

    def says_nonsense(self, body):
        self.send(body, "many")

    def redirects_elsewhere(self, body):
        port = self.server.server_port
        # Another name is another host.
        place = f"http://localhost:{port}/lies/page"
        self.send(b"", status=302, Location=place)

    def redirects_to_a_file(self, body):
        self.send(b"", status=302, Location="file:///etc/hostname")

    def redirects_forever(self, body):
        self.send(b"", status=302, Location=self.path)

    def lies(self, body):
        self.send(b"<html>Sign in</html>")

    def log_message(self, *args):
        pass


@contextmanager
def served(rng):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.pages, server.rng, server.n_requests = {}, rng, 0
    server.daemon_threads = True
    server.handle_error = lambda *args: None  # clients hang up
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}
    )
    thread.start()
    try:
        with (
            mock.patch.dict("os.environ", NO_PROXY="*", no_proxy="*"),
            mock.patch.object(download, "_TIMEOUT", (0.5, 0.5)),
        ):
            yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            opened.writestr(info, content)
    return stream.getvalue()


def tarred(members, links=()):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        for kind, name, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            tar.addfile(info)
    return stream.getvalue()


GOOD = ("a.csv", CONTENT)
ARCHIVES = {
    "a name with ../ (zip)": lambda: zipped([GOOD, ("../x", b"x")]),
    "a name with ../ (tar)": lambda: tarred([GOOD, ("d/../../x", b"x")]),
    "an absolute name (zip)": lambda: zipped([GOOD, ("/tmp/x", b"x")]),
    "an absolute name (tar)": lambda: tarred([GOOD, ("/tmp/x", b"x")]),
    "a drive (zip)": lambda: zipped([GOOD, ("C:\\x", b"x")]),
    "a symbolic link out": lambda: tarred(
        [GOOD], [(tarfile.SYMTYPE, "link", "../../x")]
    ),
    "a hard link out": lambda: tarred(
        [GOOD], [(tarfile.LNKTYPE, "link", "/etc/hostname")]
    ),
    "a link in place of the file": lambda: tarred(
        [], [(tarfile.SYMTYPE, "a.csv", "/etc/hostname")]
    ),
    "a device in place of the file": lambda: tarred(
        [], [(tarfile.CHRTYPE, "a.csv", "")]
    ),
    "a bomb (zip)": lambda: zipped([("a.csv", bytes(50_000_000))]),
    "a bomb (tar)": lambda: tarred([("a.csv", bytes(50_000_000))]),
    "a bomb (gzip)": lambda: gzip.compress(bytes(50_000_000)),
    "a cut archive": lambda: tarred([GOOD])[:-50],
    "a page in its place": lambda: b"<html>Sign in</html>",
}
# One member is read, into memory: names and links of others lead nowhere.
HARMLESS = {
    what for what in ARCHIVES if "name" in what or "out" in what or "drive" in what
}
# How a server answers, and whether the file arrives in spite of it.
ANSWERS = {
    "stalls_at_once": False, "stalls_in_the_middle": False, "truncates": False,
    "fails": False, "fails_twice": True, "flips": False, "says_too_little": False,
    "says_too_much": False, "says_nonsense": None, "redirects_elsewhere": False,
    "redirects_to_a_file": False, "redirects_forever": False, "lies": False,
}  # fmt: skip


def answers(count, scratch):
    """Ask each kind of server for a file and for an archive."""
    for trial in range(count):
        for how, arrives in ANSWERS.items():
            for page, content in (("page", CONTENT), ("zip", zipped([GOOD]))):
                with served(np.random.default_rng([SEED, trial])) as server:
                    server.pages[page] = content
                    url = f"http://127.0.0.1:{server.server_port}/{how}/{page}"
                    folder = scratch / f"{how}{page}{trial}"
                    line = _asked(server, url, page == "zip", folder, arrives)
                    yield line and f"{how}, {page}: {line}"


def _asked(server, url, is_archive, folder, arrives):
    source = {"urls": [url]}
    if is_archive:
        source = {"archive": Archive(url=url, member="a.csv")}
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    file = FileEntry(path="a.csv", bytes=len(CONTENT), sha256=sha256, **source)
    started = time.monotonic()
    try:
        write_bytes(folder / file.path, download.download(file, {}))
        error = None
    except (DataCorruptError, DataNotAvailableError) as refused:
        error = refused
    except Exception as other:
        return f"{type(other).__name__}: {other}"
    if time.monotonic() - started > MOST_SECONDS:
        return "it took too long"
    if server.n_requests > MOST_REQUESTS:
        return f"{server.n_requests} requests"
    return _kept(folder, error, arrives)


def _kept(folder: Path, error, arrives) -> str:
    left = sorted(path.name for path in folder.rglob("*"))
    if error is None:
        if arrives is False and (folder / "a.csv").read_bytes() != CONTENT:
            return "another content was kept"
        return "" if left == ["a.csv"] else f"left behind: {left}"
    if arrives:
        return f"given up: {error}"
    return f"left behind: {left}" if left else ""


def archives(count, scratch):
    """Ask for a file in each kind of archive."""
    for trial in range(count):
        for what, make in ARCHIVES.items():
            with served(np.random.default_rng([SEED, trial])) as server:
                server.pages["archive"] = make()
                url = f"http://127.0.0.1:{server.server_port}/good/archive"
                folder = scratch / f"inner{trial}" / what.replace("/", "_") / "set"
                line = _asked(server, url, True, folder, False)
                if not line and folder.exists() != (what in HARMLESS):
                    line = "it was taken" if folder.exists() else "it was refused"
                yield line and f"{what}: {line}"


FAULTS = [
    Fault(
        "Servers that do not deliver",
        "A server on this machine stalls, truncates, answers 500, flips bits, "
        "gives a wrong length, redirects to another host, to a file, forever: retried "
        "or refused in bounded time and requests, nothing kept but the true content",
        answers,
        few=1,
        many=4,
    ),
    Fault(
        "Archives that escape or explode",
        "Archives with links or devices in place of the file, bombs, cut: refused, "
        "nothing kept; with ../, absolute names, links as well: only the file is kept",
        archives,
        few=1,
        many=2,
    ),
]
