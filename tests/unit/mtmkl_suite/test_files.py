"""Damaged files of results are named, with what to do."""

import gzip

import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.files import (
    DamagedFileError,
    intact,
    npz_bytes,
    read_json,
    read_table,
    write_bytes,
    write_json,
)
from mtmkl_suite.files import write_table as write


def read_arrays(path):
    with intact(path), np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


@pytest.fixture
def stored(tmp_path):
    rng = np.random.default_rng(0)
    write(tmp_path / "a.csv.gz", pd.DataFrame(rng.normal(size=(50, 3))))
    write_json(tmp_path / "a.json", {"status": "ok"})
    np.savez_compressed(tmp_path / "a.npz", values=rng.normal(size=500))
    return tmp_path


def cut(content):
    return content[: len(content) // 2]


def turned(content):
    middle = len(content) // 2
    return content[:middle] + bytes(255 - b for b in content[middle:-8]) + content[-8:]


@pytest.mark.parametrize("damage", [cut, turned, lambda content: b""])
@pytest.mark.parametrize(
    ("name", "read"),
    [("a.csv.gz", read_table), ("a.json", read_json), ("a.npz", read_arrays)],
)
def test_a_damaged_file_is_named(stored, name, read, damage):
    path = stored / name
    read(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DamagedFileError, match=f"{name} is damaged .*Delete it"):
        read(path)


def test_a_missing_file_is_not_a_damaged_one(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "a.csv")


def test_bytes_depend_on_content_alone(tmp_path):
    path = tmp_path / "a.csv.gz"
    write(path, pd.DataFrame({"a": [1, 2], "b": ["x", None]}))
    packed = path.read_bytes()
    assert gzip.decompress(packed) == b"a,b\n1,x\n2,\n"
    assert packed[3:8] == bytes(5)  # neither a name nor a time
    arrays = {"b": np.eye(3), "a": np.arange(4)}
    assert npz_bytes(arrays) == npz_bytes({key: arrays[key] for key in "ab"})


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_bytes(path, b"old")
    with pytest.raises(TypeError):
        write_bytes(path, "new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_of_fewer_digits(tmp_path):
    path = tmp_path / "derived.csv"
    exact = pd.DataFrame({"n": [3], "of": ["a"], "value": [np.nextafter(0.1, 1)]})
    write(path, exact.assign(mixed=pd.Series([1 / 3], dtype=object)), digits=10)
    assert path.read_text() == "n,of,value,mixed\n3,a,0.1,0.3333333333\n"
    write(path, exact)
    assert "0.10000000000000002" in path.read_text()
