"""Output of the workflow's logger, from records like Snakemake's."""

import logging
import sys
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from mtmkl_suite.run.folders import RunFolder
from snakemake_logger_plugin_mtmkl import (
    CAUSE,
    LogHandler,
    Run,
    _announced,
    announce,
    duration,
)


@pytest.fixture
def handler(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    settings = SimpleNamespace(
        dryrun=False, verbose=False, nocolor=True, stdout=False, quiet=set(),
        show_failed_logs=True, debug_dag=False, printshellcmds=False,
    )  # fmt: skip
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
    send(handler, event=LogEvent.RESOURCES_INFO, cores=1)
    send(handler, event=LogEvent.RUN_INFO, stats={"fit": jobs, "total": jobs})


def job(handler, number, total, at=0.0, seconds=60.0, rule="fit", **fields):
    begins = {"event": LogEvent.JOB_INFO, "jobid": number, "rule_name": rule}
    send(handler, **begins, at=at, **fields)
    at += seconds
    send(handler, event=LogEvent.JOB_FINISHED, job_id=number, at=at)
    send(handler, event=LogEvent.PROGRESS, done=number + 1, total=total, at=at)


@pytest.mark.parametrize(
    ("seconds", "took", "left"),
    [
        ((3000.0, 600.0), 300.0, "25 min"),  # this machine is twice as fast
        ((3.0, 0.001), 1.0, "4 s"),  # a job takes its time, however short its fits
    ],
)
def test_fits_that_were_once_measured_weigh_by_their_seconds(
    handler, capsys, seconds, took, left
):
    (run,) = _announced
    run.fit_seconds = lambda: dict(zip(("own/long", "own/short"), seconds, strict=True))
    start(handler, 2)
    job(handler, 0, 2, seconds=took, wildcards={"paper": "own", "group": "short"})
    handler.close()
    assert capsys.readouterr().err.splitlines()[1:3] == [
        f"About {duration(sum(seconds) + 2)} on 1 core, by earlier measurements",
        f"1 of 2 jobs, about {left} left",
    ]


def test_no_time_is_told_before_a_fit_has_ended(handler, capsys):
    send(handler, event=LogEvent.WORKFLOW_STARTED)
    send(handler, event=LogEvent.RUN_INFO,
         stats={"fit": 2, "data": 1, "table": 1, "total": 4})  # fmt: skip
    for number, rule in enumerate(["data", "fit", "fit", "table"]):
        job(handler, number, 4, at=9 * number + 9, seconds=9, rule=rule)
    handler.close()
    assert capsys.readouterr().err.splitlines()[1:-1] == [
        "1 of 4 jobs, time left not known yet",
        "2 of 4 jobs, about 18 s left",
        "3 of 4 jobs, about 2 s left",
        "4 of 4 jobs",
    ]


def test_without_a_terminal_there_are_ten_lines_at_most(handler, capsys):
    start(handler, 500)
    for number in range(500):
        job(handler, number, 500, at=60.0 * number)
    handler.close()
    shown = capsys.readouterr().err.splitlines()[1:-1]
    assert len(shown) == 10
    assert shown[0] == "50 of 500 jobs, about 7 h 30 min left"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (59, "59 s"), (90, "2 min"), (3580, "1 h 0 min")],
)
def test_a_duration_is_said_as_people_do(seconds, text):
    assert duration(seconds) == text


def test_a_run_that_ends_well(handler, tmp_path, capsys):
    (tmp_path / "results").mkdir()
    start(handler, 2)
    for number in range(2):
        job(handler, number, 2, at=60.0 * number)
    handler.close()
    shown = capsys.readouterr()
    assert shown.err.splitlines() == [
        "Planning the jobs",
        "1 of 2 jobs, about 1 min left",
        "2 of 2 jobs",
        "2 jobs in 2 min",
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
    assert "1 of 2 jobs were done in 1 min, 1 failed. Finished cells" in shown


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
