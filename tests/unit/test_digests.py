import pytest

from mtmkl.digests import digests_of, discard_damaged, write_digests


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A job's log with the digests of two files, by relative paths."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "logs/fits").mkdir(parents=True)
    paths = [tmp_path / "results" / name for name in ("one.csv", "two.npz")]
    for path in paths:
        path.write_bytes(path.name.encode())
    log = tmp_path / "logs/fits/job.log"
    outputs = [path.relative_to(tmp_path) for path in paths]
    write_digests(log.relative_to(tmp_path), [*outputs, tmp_path / "not_there"])
    return paths


def test_what_is_as_it_was_written_stays(tmp_path, made):
    assert discard_damaged(tmp_path / "logs") == []
    assert all(path.is_file() for path in made)


@pytest.mark.parametrize("content", [b"", b"one.cs", b"one.csw", b"one.csv\n"])
def test_what_is_no_longer_what_was_written_is_deleted(tmp_path, made, content):
    made[0].write_bytes(content)
    assert list(map(str, discard_damaged(tmp_path / "logs"))) == ["results/one.csv"]
    assert [path.is_file() for path in made] == [False, True]
    assert discard_damaged(tmp_path / "logs") == []


def test_digests_that_are_damaged_themselves_say_nothing(tmp_path, made):
    digests = digests_of(tmp_path / "logs/fits/job.log")
    digests.write_bytes(b"\xff" + digests.read_bytes()[1:])
    made[0].write_bytes(b"")
    assert discard_damaged(tmp_path / "logs") == []
    assert not digests.exists()
