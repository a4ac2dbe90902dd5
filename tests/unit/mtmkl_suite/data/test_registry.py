import io
import json
import zipfile
from urllib.parse import quote

import platformdirs
import pytest
import yaml
from data_entries import file_of, set_of

from mtmkl_suite.data import (
    DataCorruptError,
    DataNotAvailableError,
    Registry,
    default_registry,
)
from mtmkl_suite.data.fetch import obtaining
from mtmkl_suite.data.fetch.integrity import problem_of
from mtmkl_suite.documents import config_dir
from mtmkl_suite.errors import ConfigError

TABLES = {"a.csv": b"0,1\n1,2\n", "b b.csv": b"0,3\n1,4\n"}

LOADER = """
import numpy as np
from mtmkl.datasets import MultiTaskData


def load_pair(files, *, scale=1.0):
    table = np.vstack([np.loadtxt(path, delimiter=",") for path in files.values()])
    return MultiTaskData(
        X=scale * table[:, 1:], y=np.zeros(4), task=table[:, 0].astype(int), name="pair"
    )


def load_half(files):
    assert [path.name for path in files.values()] == ["a.csv", "b b.csv"]
    other = np.loadtxt(files["pair/b b.csv"], delimiter=",")
    return MultiTaskData(X=other, y=[0.0, 0.0], task=[0, 1], name="half")


def load_misnamed(files):
    return MultiTaskData(X=[[1.0]], y=[0.0], task=[0], name="other")
"""


def file_entry(path, /, **changes):
    return file_of(path, TABLES[path], **changes)


def set_entry(loader="pair_loader:load_pair", **changes):
    return set_of(*map(file_entry, TABLES), loader=loader, **changes)


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Write a registry with the one data set "pair", an empty cache and no mirror."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "pair_loader.py").write_text(LOADER)
    monkeypatch.syspath_prepend(tmp_path / "code")
    monkeypatch.delenv(obtaining.MIRROR_VARIABLE, raising=False)
    monkeypatch.setenv(obtaining.CACHE_VARIABLE, str(tmp_path / "cache"))

    def make_registry(others=None, /, **changes):
        path = tmp_path / "datasets.yaml"
        entries = {"pair": set_entry(**changes)} | (others or {})
        path.write_text(yaml.safe_dump({"datasets": entries}))
        return Registry(path)

    return make_registry


def filled(folder):
    """Return a folder of data sets that has both files of the pair."""
    (folder / "pair").mkdir(parents=True)
    for path, content in TABLES.items():
        (folder / "pair" / path).write_bytes(content)
    return folder


@pytest.fixture
def mirror(make, tmp_path, monkeypatch):
    """Name a mirror in the environment."""
    monkeypatch.setenv(obtaining.MIRROR_VARIABLE, str(tmp_path / "mirror"))
    return filled(tmp_path / "mirror")


@pytest.fixture
def cache(tmp_path):
    return filled(tmp_path / "cache")


def serve(site, **changes):
    """Serve both files; return the entry that names their addresses."""
    for path, content in TABLES.items():
        site.add(quote(path), content)
    return {"url_bases": [site.url("")]} | changes


def test_the_environment_names_the_mirror(make, mirror):
    pair = make()
    assert pair.locate("pair") == "mirror"
    data = pair.load("pair", download=False)
    assert data.X.ravel().tolist() == [1, 2, 3, 4]


def test_then_the_cache(make, mirror, cache, site):
    pair = make(**serve(site))
    (mirror / "pair" / "a.csv").unlink()
    assert pair.locate("pair") == "cache"
    rows = pair.fetch(["pair"])
    assert [row["source"] for row in rows] == ["cache", "mirror"]
    assert not site.n_requests


def test_then_the_network(make, tmp_path, site):
    pair = make(**serve(site))
    assert pair.locate("pair") is None
    rows = pair.fetch(["pair"])
    assert [row["source"] for row in rows] == ["downloaded", "downloaded"]
    for path, content in TABLES.items():
        assert (tmp_path / "cache" / "pair" / path).read_bytes() == content
    assert pair.locate("pair") == "cache"
    assert pair.load("pair", download=False).n_tasks == 2
    assert site.n_requests == {"a.csv": 1, "b%20b.csv": 1}


def test_load_downloads_unless_told_not_to(make, site):
    pair = make(**serve(site))
    with pytest.raises(DataNotAvailableError, match="run `mtmkl datasets fetch pair`"):
        pair.load("pair", download=False)
    assert not site.n_requests
    assert pair.load("pair", scale=2.0).X.ravel().tolist() == [2, 4, 6, 8]


def test_the_archive_is_asked_last_and_once(make, tmp_path, site):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        for path, content in TABLES.items():
            opened.writestr(f"top/{path}", content)
    pair = make(
        url_bases=[site.url("gone/")], archive_url=site.add("x.zip", stream.getvalue())
    )
    pair.fetch(["pair"])
    for path, content in TABLES.items():
        assert (tmp_path / "cache" / "pair" / path).read_bytes() == content
    assert site.n_requests == {"gone/a.csv": 1, "gone/b%20b.csv": 1, "x.zip": 1}


@pytest.mark.parametrize("lacking", ["a folder", "a home"])
def test_a_cache_that_cannot_be_is_said(make, tmp_path, site, monkeypatch, lacking):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path / "file/cache"))
    if lacking == "a home":
        monkeypatch.delenv("MTMKL_DATA_CACHE")
        monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: f"~/{name}")
    registry = make(**serve(site))
    assert {row["status"] for row in registry.verify()} == {"missing"}
    with pytest.raises(DataNotAvailableError, match="set MTMKL_DATA_CACHE to a folder"):
        registry.load("pair")


def test_a_flipped_byte_in_the_mirror_is_found(make, mirror):
    (mirror / "pair" / "a.csv").write_bytes(b"1" + TABLES["a.csv"][1:])
    pair = make()
    for act in (pair.load, lambda name: pair.fetch([name])):
        with pytest.raises(DataCorruptError, match=r"'pair': .*a\.csv is damaged: its"):
            act("pair")


def test_a_damaged_cache_is_an_error_that_fetch_mends(make, cache, site):
    path = cache / "pair" / "a.csv"
    path.write_bytes(b"0,1\n")
    pair = make(**serve(site))
    with pytest.raises(DataCorruptError, match=r"has 4 bytes.*fetch pair` replaces it"):
        pair.load("pair", download=False)
    assert [row["source"] for row in pair.fetch(["pair"])] == ["downloaded", "cache"]
    assert path.read_bytes() == TABLES["a.csv"]


def test_verify(make, mirror):
    pair = make()
    assert {row["status"] for row in pair.verify(["pair"])} == {"ok"}
    (mirror / "pair" / "a.csv").unlink()
    (mirror / "pair" / "b b.csv").write_bytes(b"0,3\n1,5\n")
    rows = {row["file"]: row for row in pair.verify()}
    assert rows["a.csv"]["status"] == "missing"
    assert rows["b b.csv"]["status"] == "corrupt"
    assert "its sha256 is" in rows["b b.csv"]["detail"]


def test_line_ends_of_a_mirror_may_differ_where_declared(make, mirror):
    path = mirror / "pair" / "a.csv"
    path.write_bytes(TABLES["a.csv"].replace(b"\n", b"\r\n"))
    strict = make(files=[file_entry("a.csv")])
    assert strict.verify(["pair"])[0]["status"] == "corrupt"
    lenient = make(files=[file_entry("a.csv", newline="lf")])
    assert lenient.verify(["pair"])[0]["status"] == "ok"


def test_a_mirror_that_is_no_folder_is_an_error(make, tmp_path, monkeypatch):
    monkeypatch.setenv(obtaining.MIRROR_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(DataNotAvailableError, match=r"MIRROR\) is not a folder"):
        make().load("pair")


def test_names_and_options_are_checked_before_work(make):
    pair = make()
    with pytest.raises(ValueError, match="unknown data set 'pear'; did you mean 'pair"):
        pair.load("pear")
    with pytest.raises(ValueError, match=r"option 'files' \(known: scale, inputs, tar"):
        pair.load("pair", files=1)
    with pytest.raises(ValueError, match="nothing reads it yet"):
        make(loader=None).load("pair")


def half_entry(**changes):
    uses = {"uses": ["pair/b b.csv"], **changes}
    return set_of(file_entry("a.csv"), loader="pair_loader:load_half", **uses)


def test_a_set_may_use_files_of_another(make, mirror, site):
    (mirror / "half").mkdir()
    (mirror / "half" / "a.csv").write_bytes(TABLES["a.csv"])
    known = make({"half": half_entry()}, **serve(site))
    assert known.locate("half") == "mirror"
    data = known.load("half", download=False)
    assert data.X.ravel().tolist() == [0, 3, 1, 4]
    # Not the whole other set: of this one a file is enough.
    (mirror / "pair" / "a.csv").unlink()
    assert known.load("half", download=False).digest() == data.digest()
    (mirror / "pair" / "b b.csv").unlink()
    assert known.locate("half") is None
    assert [row["status"] for row in known.verify(["half"])] == ["ok", "missing"]
    with pytest.raises(DataNotAvailableError, match=r"'pair' is not avail.*: b b\.csv"):
        known.load("half", download=False)
    sources = {row["dataset"]: row["source"] for row in known.fetch(["half"])}
    assert sources == {"half": "mirror", "pair": "downloaded"}
    assert known.locate("half") == "cache"


@pytest.mark.parametrize("use", ["pair/c.csv", "pear/a.csv", "half/a.csv"])
def test_what_a_set_uses_must_be_a_file_of_another(make, use):
    with pytest.raises(ConfigError, match=rf"half\.uses\.0': '{use}' is not the path"):
        make({"half": half_entry(uses=[use])})


def test_a_loader_must_give_the_name(make, mirror):
    pair = make(loader="pair_loader:load_misnamed")
    with pytest.raises(ValueError, match="calls 'pair' 'other'"):
        pair.load("pair")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"colour": "red"}, "datasets.pair.colour"),
        ({"origin": "copied"}, "datasets.pair.origin"),
        ({"url_bases": ["http://x/y"]}, "datasets.pair.url_bases.0"),
        ({"files": [file_entry("a.csv", path="../a.csv")]}, "files.0.path"),
        ({"files": [file_entry("a.csv", path="b/../../a.csv")]}, "files.0.path"),
        ({"files": [file_entry("a.csv", sha256="ab")]}, "files.0.sha256"),
        ({"files": [file_entry("a.csv", urls=["ftp://x"])]}, "files.0.urls.0"),
        ({"files": [file_entry("a.csv")] * 2}, "files.1.path"),
        ({"files": [file_entry("a.csv", members_sha256="S")]}, "0.members_sha256"),
    ],
)
def test_a_wrong_registry_names_the_key(make, changes, key):
    with pytest.raises(ConfigError, match=f"datasets.yaml: key '.*{key}'"):
        make(**changes)


def test_every_mirror_file_is_registered(data_mirror):
    manifest = json.loads((data_mirror / "MANIFEST.json").read_text())["datasets"]
    assert len(manifest) == 17
    known = default_registry()
    for name, expected in manifest.items():
        files = {file.path: file for file in known[name].files}
        assert sorted(files) == sorted(file["path"] for file in expected["files"])
        for file in expected["files"]:
            assert files[file["path"]].bytes == file["bytes"]
            assert files[file["path"]].sha256 == file["sha256"]
            assert set(file["urls"]) <= set(files[file["path"]].urls)


def test_the_mirror_is_intact(data_mirror):
    assert [row for row in default_registry().verify() if row["status"] != "ok"] == []


@pytest.mark.parametrize("name", ["flowers17", "caltech101"])
def test_images_have_the_shipped_hashes(data_mirror, name):
    entry = default_registry()[name]
    (file,) = [file for file in entry.files if file.members_sha256]
    checksums = config_dir() / entry.file(file.members_sha256).shipped
    in_another_way = file.model_copy(update={"bytes": 1, "sha256": "0" * 64})
    content = (data_mirror / name / file.path).read_bytes()
    assert problem_of(content, in_another_way, checksums) is None
