import gzip
import io
import tarfile
import zipfile

import pytest
from data_entries import file_of

from mtmkl_suite.data.entries import Archive, FileEntry
from mtmkl_suite.data.fetch import download as module
from mtmkl_suite.data.fetch.download import download
from mtmkl_suite.data.fetch.integrity import problem_of
from mtmkl_suite.errors import DataCorruptError, DataNotAvailableError

CONTENT = b"".join(b"%d,%d\n" % (k, k * k) for k in range(500))
CRLF = CONTENT.replace(b"\n", b"\r\n")


def entry(content=CONTENT, **options):
    return FileEntry(**file_of("a.csv", content, **options))


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        for name, content in members.items():
            # Through ZipInfo, so that the path is stored as it is.
            opened.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def tarred(members, kind=tarfile.REGTYPE, mode="w:gz"):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = kind, len(content), "/etc/hostname"
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("served", "message"),
    [
        (b"9" + CONTENT[1:], r"its sha256 is \w+, expected"),
        (CONTENT[:-1], "bytes, expected"),
        (CONTENT * 100, f"more than {len(CONTENT)} bytes"),
    ],
)
def test_another_content_is_refused(site, served, message):
    with pytest.raises(DataCorruptError, match=message):
        download(entry(urls=[site.add("a.csv", served)]), {})


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, {"Content-Length": 10_000}),  # more than comes
        (302, {"Location": "file:///etc/hostname"}),
        (302, {"Location": "a"}),  # for ever
        (200, {}),  # no more after half of it
    ],
)
def test_a_server_that_does_not_deliver_is_given_up(site, monkeypatch, status, headers):
    monkeypatch.setattr(module, "_TIMEOUT", (0.2, 0.2))
    url = site.add("a", CONTENT)
    site.heads["a"] = status, headers
    site.stalled.update([] if headers else ["a"])
    archive = Archive(url=url, member="a.csv")
    for file in (entry(urls=[url]), entry(archive=archive)):
        with pytest.raises(DataNotAvailableError, match="connection failed"):
            download(file, {})
    assert site.n_requests["a"] <= 100


def test_a_length_that_is_no_number_is_not_believed(site):
    url = site.add("a", CONTENT)
    site.heads["a"] = 200, {"Content-Length": "many"}
    assert download(entry(urls=[url]), {}) == CONTENT


def test_a_busy_server_is_asked_again_and_a_missing_page_is_not(site):
    site.n_failures["a.csv"] = 2
    urls = [site.url("none.csv"), site.add("a.csv", CONTENT)]
    assert download(entry(urls=urls), {}) == CONTENT
    assert site.n_requests == {"none.csv": 1, "a.csv": 3}


def test_every_address_is_named_with_its_reason(site):
    # Port 1 is reserved and not served.
    urls = ["http://127.0.0.1:1/a.csv", site.url("none.csv")]
    with pytest.raises(
        DataNotAvailableError,
        match=r"1/a\.csv: the connection failed \(Conn.*none\.csv: HTTP status 404",
    ):
        download(entry(urls=urls), {})


def test_line_ends_may_differ_where_declared(site):
    archive = Archive(url=site.add("a.zip", zipped({"a.csv": CRLF})), member="a.csv")
    for source in ({"urls": [site.add("a.csv", CRLF)]}, {"archive": archive}):
        assert download(entry(newline="lf", **source), {}) == CRLF
        with pytest.raises(DataCorruptError):
            download(entry(**source), {})


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_members_of_an_archive_that_is_downloaded_once(site, pack):
    members = {"data/a.csv": CONTENT, "data/b.csv": b"b", "README": b"?"}
    url = site.add("all", pack(members))
    archives = {}
    for path in members:
        for wanted in (path, path.removeprefix("data/")):
            archive = Archive(url=url, member=wanted)
            file = entry(members[path], archive=archive)
            assert download(file, archives) == members[path]
    assert site.n_requests == {"all": 1}


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (zipped({"xa.csv": CONTENT}), "it holds no 'a.csv'"),
        (zipped({"1/a.csv": CONTENT, "2/a.csv": CONTENT}), "it holds 2 'a.csv'"),
        (zipped({"a.csv": b"9" + CONTENT[1:]}), "its sha256 is"),
        (zipped({"a.csv": CONTENT * 1000}), "unpacks to more than"),
        (tarred({"a.csv": CONTENT})[:-40], "it cannot be unpacked"),
        (tarred({"a.csv": CONTENT * 1000}), "unpacks to more than"),
        (tarred({"a.csv": b""}, tarfile.SYMTYPE), "it holds no 'a.csv'"),
        (tarred({"a.csv": b""}, tarfile.CHRTYPE), "it holds no 'a.csv'"),
        (b"<html>Sign in</html>", "it cannot be unpacked"),
    ],
    # Archives have the time in them, and the test processes must agree on names.
    ids=lambda value: value if isinstance(value, str) else "archive",
)
def test_bad_archives_are_refused(site, archive, message):
    source = Archive(url=site.add("all", archive), member="a.csv")
    with pytest.raises(DataCorruptError, match=message):
        download(entry(archive=source), {})


def test_a_gzip_holds_the_file_and_no_more(site):
    archive = Archive(url=site.add("a.gz", gzip.compress(CONTENT * 1000)))
    assert download(entry(CONTENT * 1000, archive=archive), {}) == CONTENT * 1000
    with pytest.raises(DataCorruptError, match="unpacks to more"):
        download(entry(archive=archive), {})


def test_archives_have_a_bound(site, monkeypatch):
    monkeypatch.setattr(module, "_MOST_ARCHIVE_BYTES", 100)
    archive = Archive(url=site.add("all", zipped({"a.csv": CONTENT})), member="a.csv")
    with pytest.raises(DataCorruptError, match="more than 100 bytes"):
        download(entry(archive=archive), {})


IMAGES = {"jpg/1.jpg": b"first", "jpg/2.jpg": b"second"}


@pytest.fixture
def checksums(tmp_path):
    path = tmp_path / "SHA256SUMS"
    each = (file_of(name, content) for name, content in IMAGES.items())
    path.write_text("".join(f"{file['sha256']}  {file['path']}\n" for file in each))
    return path


def images(url, inner=None):
    """Entry of a tar file of images, which is packed in another way than registered."""
    archive = Archive(url=url, member=inner)
    return FileEntry(path="i.tar", bytes=10_000, sha256="0" * 64, archive=archive)


@pytest.mark.parametrize("inner", [None, "images.tar.gz"])
def test_listed_members_are_packed_anew(site, checksums, inner):
    members = {f"top/{name}": content for name, content in IMAGES.items()}
    archive = tarred(members | {"top/jpg/3.jpg": b"not listed"})
    if inner is not None:
        archive = zipped({f"set/{inner}": archive, "set/README": b""})
    file = images(site.add("all", archive), inner)
    content = download(file, {}, checksums=checksums)
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        assert tar.getnames() == list(IMAGES)
    assert problem_of(content, file, checksums) is None


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"jpg/1.jpg": b"first"}, "'jpg/2.jpg' is not as in"),
        (IMAGES | {"jpg/2.jpg": b"third"}, "'jpg/2.jpg' is not as in"),
        (IMAGES | {"copy/jpg/1.jpg": b"first"}, "'jpg/1.jpg' is not as in"),
        (IMAGES | {"jpg/1.jpg": b"f" * 20_000}, "more than 10000 bytes"),
    ],
)
def test_bad_members_are_refused(site, checksums, members, message):
    with pytest.raises(DataCorruptError, match=message):
        download(images(site.add("all", tarred(members))), {}, checksums=checksums)
