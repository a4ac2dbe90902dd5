"""What the logger of the workflow shows, from records like Snakemake's."""

import logging
import sys
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from mtmkl_suite.files import read_json, write_json
from mtmkl_suite.run.folders import RunFolder
from snakemake_logger_plugin_mtmkl import (
    CAUSE,
    LogHandler,
    Run,
    TimeLeft,
    _announced,
    announce,
)


@pytest.fixture
def handler(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    settings = SimpleNamespace(
        dryrun=False, verbose=False, nocolor=True, stdout=False, quiet=set(),
        show_failed_logs=True, debug_dag=False, printshellcmds=False,
    )  # fmt: skip
    seconds, usual = tmp_path / "seconds.json", tmp_path / "usual.json"
    results = RunFolder(tmp_path / "results")
    announce(Run(results, seconds, usual, summary=lambda: "verdicts"))
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


def job(handler, number, total, at=0.0):
    send(handler, event=LogEvent.JOB_INFO, jobid=number, rule_name="fit", at=at)
    send(handler, event=LogEvent.JOB_FINISHED, job_id=number, at=at + 60)
    send(handler, event=LogEvent.PROGRESS, done=number + 1, total=total, at=at + 60)


@pytest.mark.parametrize("own", ['{"fit": 3600.0}', "", None])
def test_the_time_left_comes_from_recorded_seconds(handler, tmp_path, own):
    write_json(tmp_path / "usual.json", {"fit": 10.0 if own else 3600.0})
    if own is not None:
        (tmp_path / "seconds.json").write_text(own)
    start(handler, 2)
    send(handler, event=LogEvent.JOB_INFO, jobid=0, rule_name="fit")
    assert handler._time.left(now=0.0) == 7200.0
    assert handler._time.left(now=1800.0) == 5400.0
    handler.close()


@pytest.mark.parametrize(("usual", "pace"), [(5.0, 70 / 65), (0.01, 70 / 60.01)])
def test_the_pace_of_this_run_scales_earlier_ones(usual, pace):
    """Of a short job, of which most is its start, least."""
    left = TimeLeft({"fit": usual, "table": 4.0})
    left.cores = 2
    left.plan({"fit": 3, "table": 1, "report": 1})
    left.start(0, "fit", 0.0)
    left.finish(0, 10.0)
    assert left.measured() == {"fit": 10.0}
    # Two fits, a table, and a rule that nobody has timed: the mean of the measured.
    assert left.left(10.0) == pytest.approx((20 + 4 * pace + 10) / 2)


def test_fits_with_times_of_their_own_are_told_first(handler, capsys):
    expected = {"own/long": 3000.0, "own/short": 600.0}
    (run,) = _announced
    run.fit_seconds = lambda: expected
    start(handler, 2)
    assert "About 1 h 0 min on 1 core, as once measured" in capsys.readouterr().err
    fit = {"paper": "own", "group": "short"}
    send(handler, event=LogEvent.JOB_INFO, jobid=0, rule_name="fit", wildcards=fit)
    send(handler, event=LogEvent.JOB_FINISHED, job_id=0, at=300.0)
    # It was expected to take 600 s; a minute counts as being at the usual pace.
    left = 3000.0 * (60 + 300) / (60 + 600)
    assert handler._time.left(now=300.0) == pytest.approx(left)
    handler.close()
    assert set(read_json(run.seconds)) == set()


def test_no_time_is_told_before_a_fit_has_ended(handler, tmp_path, capsys):
    write_json(tmp_path / "usual.json", {"fit": 12.4, "another_compile": 81.0})
    send(handler, event=LogEvent.WORKFLOW_STARTED)
    send(handler, event=LogEvent.RUN_INFO,
         stats={"fit": 2, "data": 1, "compile": 1, "total": 4})  # fmt: skip
    for done, rule in enumerate(["data", "compile", "fit", "fit"], start=1):
        send(handler, event=LogEvent.JOB_INFO, jobid=done, rule_name=rule, at=done)
        send(handler, event=LogEvent.JOB_FINISHED, job_id=done, at=done + 1)
        send(handler, event=LogEvent.PROGRESS, done=done, total=4, at=done + 1)
    handler.close()
    assert capsys.readouterr().err.splitlines()[1:-1] == [
        "1 of 4 jobs, time left not known yet",
        "2 of 4 jobs, time left not known yet",
        "3 of 4 jobs, about 1 s left",
        "4 of 4 jobs",
    ]
    # Of others nothing was learnt.
    kept = {"data": 1.0, "compile": 1.0, "fit": 1.0, "another_compile": 81.0}
    assert read_json(tmp_path / "seconds.json") == kept


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
