from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow/scripts"


@pytest.fixture
def job_log(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    from job_log import job_log

    return job_log


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_disk_too_full_for_the_log_is_said_in_one_line(job_log, tmp_path, capsys):
    (tmp_path / "job.log").symlink_to("/dev/full")
    snakemake = SimpleNamespace(log=[str(tmp_path / "job.log")], output=[])
    with pytest.raises(SystemExit) as ended, job_log(snakemake):
        raise RuntimeError("cannot be logged")
    assert ended.value.code == 1
    said = capsys.readouterr().err.strip()
    assert said.startswith("No space left on device: ")
    assert "\n" not in said


def test_the_cause_of_a_failure_is_in_the_log(job_log, tmp_path):
    log = tmp_path / "job.log"
    snakemake = SimpleNamespace(log=[str(log)], output=[])
    with pytest.raises(SystemExit), job_log(snakemake):
        raise RuntimeError("what went wrong")
    text = log.read_text()
    assert "RuntimeError: what went wrong" in text
