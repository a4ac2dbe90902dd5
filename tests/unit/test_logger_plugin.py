"""Output of the workflow's logger, from records like Snakemake's."""

import logging
import sys
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from mtmkl_suite.run.folders import RunFolder
from snakemake_logger_plugin_mtmkl import CAUSE, LogHandler, Run, announce


@pytest.fixture
def handler(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    settings = SimpleNamespace(dryrun=False, verbose=False, nocolor=True, stdout=False)
    results = RunFolder(tmp_path / "results")
    announce(Run(results, summary=lambda: "verdicts"))
    return LogHandler(settings, None)


def send(handler, text="", level=logging.INFO, at=0.0, **fields):
    record = logging.LogRecord("snakemake", level, "", 0, text, None, None)
    record.created = at
    record.__dict__.update(fields)
    handler.emit(record)


def start(handler, jobs):
    send(handler, event=LogEvent.WORKFLOW_STARTED)
    send(handler, event=LogEvent.RUN_INFO, stats={"fit": jobs, "total": jobs})


def job(handler, number, total, at=0.0):
    send(handler, event=LogEvent.JOB_INFO, jobid=number, rule_name="fit", at=at)
    at += 60.0
    send(handler, event=LogEvent.JOB_FINISHED, job_id=number, at=at)
    send(handler, event=LogEvent.PROGRESS, done=number + 1, total=total, at=at)


def test_without_a_terminal_there_are_ten_lines_at_most(handler, capsys):
    start(handler, 500)
    for number in range(500):
        job(handler, number, 500, at=60.0 * number)
    handler.close()
    shown = capsys.readouterr().err.splitlines()[1:-1]
    assert len(shown) == 10
    assert shown[0] == "50 of 500 jobs"


def test_a_run_that_ends_well(handler, tmp_path, capsys):
    (tmp_path / "results").mkdir()
    start(handler, 2)
    for number in range(2):
        job(handler, number, 2, at=60.0 * number)
    handler.close()
    shown = capsys.readouterr()
    assert shown.err.splitlines() == [
        "Planning the jobs",
        "1 of 2 jobs",
        "2 of 2 jobs",
        "2 jobs in 0:02:00",
    ]
    assert shown.out == f"Results: {(tmp_path / 'results').as_uri()}\n"


@pytest.mark.parametrize("log", [f"cell 1\n{CAUSE}\nit is [wet]\n", "it is [wet]\n"])
def test_a_failure_is_shown_with_its_cause(handler, tmp_path, capsys, log):
    (tmp_path / "fit.log").write_text(log)
    start(handler, 2)
    send(handler, event=LogEvent.JOB_INFO, jobid=0, rule_name="fit")
    error = (
        "CalledProcessError in file x:\nCommand 'c' returned non-zero exit status 1."
    )
    send(handler, error, logging.ERROR)
    send(
        handler, "Error in rule fit", logging.ERROR, event=LogEvent.JOB_ERROR,
        rule_name="fit", output=["a.csv", "b.npz"], log=[str(tmp_path / "fit.log")],
    )  # fmt: skip
    job(handler, 0, 2)
    handler.close()
    shown = capsys.readouterr().err
    assert "Failed: fit (a.csv, …)\n  it is [wet]\n  log: " in shown
    assert "cell 1" not in shown
    assert "CalledProcessError" not in shown
    assert "1 of 2 jobs were done in 0:01:00, 1 failed. Finished cells" in shown


def test_a_job_killed_from_outside_says_so(handler, capsys):
    start(handler, 1)
    error = "CalledProcessError in file x:\nCommand 'c' died with <Signals.SIGKILL: 9>."
    send(handler, error, logging.ERROR)
    assert "A job died with <Signals.SIGKILL: 9>." in capsys.readouterr().err


def test_warnings_are_shown_and_routine_is_not(handler, capsys):
    start(handler, 1)
    send(handler, "Select jobs to execute...")
    send(handler, "a disk is full", logging.WARNING)
    shown = capsys.readouterr().err
    assert "a disk is full" in shown
    assert "Select jobs" not in shown


def test_nothing_to_do_shows_the_verdicts_again(handler, tmp_path, capsys):
    (tmp_path / "results").mkdir()
    (tmp_path / "results/report.html").touch()
    send(handler, event=LogEvent.WORKFLOW_STARTED)
    send(handler, "Nothing to be done (all requested files are present).")
    handler.close()
    handler.close()
    shown = capsys.readouterr()
    assert "everything is up to date" in shown.err
    assert shown.out == "verdicts\n"
