import pytest

from mtmkl_suite.run.digests import digests_of, discard_damaged, write_digests


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A job's log with the digests of a file and of a folder with another."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "logs/fits").mkdir(parents=True)
    paths = [tmp_path / "results" / name for name in ("one.csv", "pages/two.html")]
    paths[1].parent.mkdir()
    for path in paths:
        path.write_bytes(path.name.encode())
    log = tmp_path / "logs/fits/job.log"
    outputs = [paths[0].relative_to(tmp_path), paths[1].parent.relative_to(tmp_path)]
    write_digests(log.relative_to(tmp_path), [*outputs, tmp_path / "not_there"])
    return paths


def test_what_is_as_it_was_written_stays(tmp_path, made):
    assert discard_damaged(tmp_path / "logs") == []
    assert all(path.is_file() for path in made)


@pytest.mark.parametrize("content", [b"", b"one.cs", b"one.csw", b"one.csv\n"])
def test_what_is_no_longer_what_was_written_is_deleted(tmp_path, made, content):
    made[0].write_bytes(content)
    assert list(map(str, discard_damaged(tmp_path / "logs"))) == ["results/one.csv"]
    # What was made with it goes, too.
    assert not any(path.exists() for path in made)
    assert discard_damaged(tmp_path / "logs") == []


def test_a_damaged_file_of_a_folder_is_noticed(tmp_path, made):
    made[1].write_bytes(b"two.htm1")
    assert [path.name for path in discard_damaged(tmp_path / "logs")] == ["two.html"]
    assert not made[0].exists()


def test_digests_that_are_damaged_themselves_say_nothing(tmp_path, made):
    digests = digests_of(tmp_path / "logs/fits/job.log")
    digests.write_bytes(b"\xff" + digests.read_bytes()[1:])
    made[0].write_bytes(b"")
    assert discard_damaged(tmp_path / "logs") == []
    assert not digests.exists()
