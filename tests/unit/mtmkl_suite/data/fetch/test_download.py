import gzip
import hashlib
import io
import tarfile
import zipfile
from types import SimpleNamespace

import pytest

from mtmkl_suite.data.entries import Archive, FileEntry
from mtmkl_suite.data.errors import DataCorruptError, DataNotAvailableError
from mtmkl_suite.data.fetch import download
from mtmkl_suite.data.fetch.download import Downloads, Patience
from mtmkl_suite.data.fetch.integrity import find_problem

CONTENT = b"".join(b"%d,%d\n" % (k, k * k) for k in range(500))


def expected_of(content, newline=None):
    return {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "newline": newline,
    }


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        for name, content in members.items():
            # Through ZipInfo, so that the path is stored as it is.
            opened.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def tarred(members, mode="w", link=None):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        if link is not None:
            info = tarfile.TarInfo("link")
            info.type, info.linkname = tarfile.SYMTYPE, link
            tar.addfile(info)
    return stream.getvalue()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache" / "set"


def get_file(folder, url, **expected):
    with Downloads(folder) as downloads:
        downloads.get(FileEntry(path="a.csv", urls=[url], **expected))


def member_of(url, member, path="a.csv", **expected):
    return FileEntry(path=path, archive=Archive(url=url, member=member), **expected)


def get_member(folder, url, member, **expected):
    with Downloads(folder) as downloads:
        downloads.get(member_of(url, member, **expected))


def test_a_file_arrives_whole(site, folder):
    url = site.add("a.csv", CONTENT)
    get_file(folder, url, **expected_of(CONTENT))
    assert (folder / "a.csv").read_bytes() == CONTENT
    assert [path.name for path in folder.iterdir()] == ["a.csv"]
    assert site.n_requests["a.csv"] == 1


def test_a_bar_shows_the_progress(site, folder, monkeypatch):
    import tqdm

    bars = []

    class Bar(tqdm.tqdm):
        def __init__(self, **options):
            super().__init__(**(options | {"disable": False, "file": io.StringIO()}))
            bars.append(self)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    get_file(folder, site.add("a.csv", CONTENT), **expected_of(CONTENT))
    (bar,) = bars
    assert (bar.n, bar.total) == (len(CONTENT), len(CONTENT))
    assert bar.desc.startswith("a.csv")


def test_a_wrong_hash_is_refused(site, folder):
    url = site.add("a.csv", b"9" + CONTENT[1:])
    with pytest.raises(DataCorruptError, match=r"its sha256 is \w+, expected"):
        get_file(folder, url, **expected_of(CONTENT))
    assert not folder.exists()


@pytest.mark.parametrize("is_announced", [True, False])
def test_more_bytes_than_registered_are_not_read(site, folder, is_announced):
    url = site.add("a.csv", CONTENT * 100)
    if not is_announced:
        site.unannounced.add("a.csv")
    with pytest.raises(
        DataCorruptError, match=f"than {len(CONTENT)}|most {len(CONTENT)}"
    ):
        get_file(folder, url, **expected_of(CONTENT))
    assert not folder.exists()


def test_an_interrupted_download_is_retried_then_refused(site, folder):
    url = site.add("a.csv", CONTENT)
    site.truncated.add("a.csv")
    with pytest.raises(DataNotAvailableError, match="broke"):
        get_file(folder, url, **expected_of(CONTENT))
    assert site.n_requests["a.csv"] == 3
    assert not folder.exists()


def test_an_interrupted_archive_is_refused(site, folder):
    # Its hash is not known, so that only the length can tell.
    url = site.add("a.zip", zipped({"a.csv": CONTENT}))
    site.truncated.add("a.zip")
    with pytest.raises(DataNotAvailableError, match="broke"):
        get_member(folder, url, "a.csv", **expected_of(CONTENT))
    assert not folder.exists()


def test_a_busy_server_is_asked_again(site, folder):
    url = site.add("a.csv", CONTENT)
    site.n_failures["a.csv"] = 2
    get_file(folder, url, **expected_of(CONTENT))
    assert (folder / "a.csv").read_bytes() == CONTENT
    assert site.n_requests["a.csv"] == 3


def test_a_trickle_is_given_up(site, folder, monkeypatch):
    # Every byte comes within the timeout, but they are too few; it takes 20 seconds.
    monkeypatch.setattr(download, "_WINDOW", 1.0)
    url = site.add("a.csv", CONTENT)
    site.dripped.add("a.csv")
    wanted = r"sent \d+ bytes in 1 s, fewer than 1024 per second: try again later"
    with pytest.raises(DataNotAvailableError, match=wanted):
        get_file(folder, url, **expected_of(CONTENT))
    assert site.n_requests["a.csv"] == 1
    assert not folder.exists()


def test_what_comes_fast_enough_is_waited_for(site, folder, monkeypatch):
    # Four windows, with a byte or two in each.
    monkeypatch.setattr(download, "_WINDOW", 0.2)
    monkeypatch.setattr(download, "_LEAST_RATE", 0.0)
    url = site.add("a.csv", b"12345678")
    site.dripped.add("a.csv")
    get_file(folder, url, **expected_of(b"12345678"))
    assert (folder / "a.csv").read_bytes() == b"12345678"


def test_a_missing_page_is_not_asked_again(site, folder):
    with pytest.raises(DataNotAvailableError, match="HTTP status 404"):
        get_file(folder, site.url("none.csv"), **expected_of(CONTENT))
    assert site.n_requests["none.csv"] == 1


def test_no_server(folder, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))
    with pytest.raises(
        DataNotAvailableError, match=r"^http\S+: no connection \(.*refused"
    ):
        # Port 1 is reserved and not served.
        get_file(folder, "http://127.0.0.1:1/a.csv", **expected_of(CONTENT))
    assert not folder.exists()


def test_what_was_there_stays_when_a_download_fails(site, folder):
    folder.mkdir(parents=True)
    (folder / "a.csv").write_bytes(b"before")
    url = site.add("a.csv", b"9" + CONTENT[1:])
    with pytest.raises(DataCorruptError):
        get_file(folder, url, **expected_of(CONTENT))
    assert (folder / "a.csv").read_bytes() == b"before"
    assert [path.name for path in folder.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("is_archive", [False, True])
def test_line_ends_are_normalised_where_declared(site, folder, is_archive):
    served = CONTENT.replace(b"\n", b"\r\n")
    if is_archive:
        url = site.add("a.zip", zipped({"a.csv": served}))
        get_member(folder, url, "a.csv", **expected_of(CONTENT, "lf"))
    else:
        get_file(folder, site.add("a.csv", served), **expected_of(CONTENT, "lf"))
    assert (folder / "a.csv").read_bytes() == CONTENT


ARCHIVES = {
    "zip": zipped,
    "tar": tarred,
    "tar.gz": lambda members: tarred(members, "w:gz"),
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_members_of_archives(site, folder, kind):
    members = {"data/a.csv": CONTENT, "data/b.csv": b"b", "README": b"?"}
    url = site.add("all." + kind, ARCHIVES[kind](members))
    with Downloads(folder) as downloads:
        for name in ("data/a.csv", "b.csv"):
            content = members["data/" + name.removeprefix("data/")]
            downloads.get(member_of(url, name, name, **expected_of(content)))
    assert (folder / "data/a.csv").read_bytes() == CONTENT
    assert (folder / "b.csv").read_bytes() == b"b"
    assert site.n_requests["all." + kind] == 1
    assert sorted(path.name for path in folder.iterdir()) == ["b.csv", "data"]


def test_a_gzip_of_one_file(site, folder):
    url = site.add("a.csv.gz", gzip.compress(CONTENT))
    get_member(folder, url, None, **expected_of(CONTENT))
    assert (folder / "a.csv").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (zipped({"b.csv": CONTENT}), "it holds no 'a.csv'"),
        (tarred({"xa.csv": CONTENT}), "it holds no 'a.csv'"),
        (zipped({"1/a.csv": CONTENT, "2/a.csv": CONTENT}), "2 members 'a.csv'"),
        (zipped({"a.csv": b"9" + CONTENT[1:]}), "its sha256 is"),
        (zipped({"a.csv": CONTENT[:-1]}), "bytes, expected"),
        (zipped({"a.csv": CONTENT * 1000}), "unpacks to more than"),
        (zipped({"a.csv": CONTENT, "../x": b"x"}), r"'\.\./x' leaves the folder"),
        (zipped({"a.csv": CONTENT, "/etc/x": b"x"}), "'/etc/x' leaves the folder"),
        (zipped({"a.csv": CONTENT, "C:/x": b"x"}), "'C:/x' leaves the folder"),
        (zipped({"a.csv": CONTENT, "d\\..\\..\\x": b"x"}), "leaves the folder"),
        (tarred({"a.csv": CONTENT, "../x": b"x"}), r"'\.\./x' leaves the folder"),
        (tarred({"a.csv": CONTENT, "d/../../x": b"x"}), "leaves the folder"),
        (tarred({"a.csv": CONTENT, "/x": b"x"}), "'/x' leaves the folder"),
        (tarred({"a.csv": CONTENT}, "w:gz")[:-40], "it cannot be unpacked"),
        (b"<html>Not here</html>", "neither zip nor tar nor gzip"),
        (gzip.compress(CONTENT), "it holds no 'a.csv'"),
    ],
    # Archives have the time in them, and the test processes must agree on names.
    ids=lambda value: value if isinstance(value, str) else "archive",
)
def test_bad_archives_are_refused(site, folder, archive, message):
    url = site.add("all.zip", archive)
    with pytest.raises(DataCorruptError, match=message):
        get_member(folder, url, "a.csv", **expected_of(CONTENT))
    assert list(folder.parent.parent.rglob("*")) == [folder.parent]


@pytest.mark.skipif(
    not hasattr(tarfile, "data_filter"), reason="Python before 3.11.4 has no filter"
)
@pytest.mark.parametrize("link", ["../../outside", "/etc/passwd"])
def test_links_that_leave_the_folder_are_refused(site, folder, link):
    url = site.add("all.tar", tarred({"a.csv": CONTENT}, link=link))
    with pytest.raises(DataCorruptError, match="cannot be unpacked"):
        get_member(folder, url, "a.csv", **expected_of(CONTENT))
    assert not folder.exists()


def test_archives_have_a_bound(site, folder):
    url = site.add("all.zip", zipped({"a.csv": CONTENT}))
    with (
        Downloads(folder, Patience(archive_bytes=100)) as downloads,
        pytest.raises(DataCorruptError, match="expected at most 100"),
    ):
        downloads.get(member_of(url, "a.csv", **expected_of(CONTENT)))


IMAGES = {"jpg/1.jpg": b"first", "jpg/2.jpg": b"second"}


@pytest.fixture
def checksums(tmp_path):
    path = tmp_path / "SHA256SUMS"
    path.write_text(
        "".join(
            f"{hashlib.sha256(content).hexdigest()}  {name}\n"
            for name, content in IMAGES.items()
        )
    )
    return path


# Packed in another way than the file that is known.
PACKED = {"path": "i.tar", "bytes": 10_000, "sha256": "0" * 64}


def get_images(folder, url, inner, checksums):
    with Downloads(folder) as downloads:
        downloads.get(member_of(url, inner, **PACKED), checksums)


@pytest.mark.parametrize("inner", [None, "images.tar.gz"])
def test_listed_members_are_packed_anew(site, folder, checksums, inner):
    members = {f"top/{name}": content for name, content in IMAGES.items()}
    archive = tarred(members | {"top/jpg/3.jpg": b"not listed"}, "w:gz")
    if inner is not None:
        archive = zipped({f"set/{inner}": archive, "set/README": b""})
    get_images(folder, site.add("all", archive), inner, checksums)
    with tarfile.open(folder / "i.tar") as tar:
        assert tar.getnames() == list(IMAGES)
    file = FileEntry(**PACKED)
    assert find_problem(folder / "i.tar", file, checksums=checksums) is None


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"jpg/1.jpg": b"first"}, "'jpg/2.jpg' is missing"),
        (IMAGES | {"jpg/2.jpg": b"third"}, "'jpg/2.jpg' has another sha256"),
        (IMAGES | {"copy/jpg/1.jpg": b"first"}, "'jpg/1.jpg' twice"),
        (IMAGES | {"../jpg/3.jpg": b"third"}, "leaves the folder"),
        (IMAGES | {"jpg/1.jpg": b"f" * 20_000}, "more than 10000 bytes"),
    ],
)
def test_bad_members_are_refused(site, folder, checksums, members, message):
    url = site.add("all.tgz", tarred(members, "w:gz"))
    with pytest.raises(DataCorruptError, match=message):
        get_images(folder, url, None, checksums)
    assert not folder.exists()


def test_one_file_is_no_set_of_members(site, folder, checksums):
    url = site.add("all.gz", gzip.compress(CONTENT))
    with pytest.raises(DataCorruptError, match=r"its member 'jpg/1\.jpg' is missing"):
        get_images(folder, url, None, checksums)
