"""What Snakemake shows of this workflow: one line of progress, and failures in full.

Snakemake finds logger plugins by the name of their package; the profile chooses this
one. ``--verbose`` and ``--dry-run`` show Snakemake's own lines; the log file below
``.snakemake/log`` has them in any case.
"""

import logging
import re
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from logging import ERROR, WARNING, LogRecord
from pathlib import Path
from types import TracebackType
from typing import Any

from snakemake.logging import (
    ColorizingTextHandler,
    DefaultFilter,
    DefaultFormatter,
)
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from mtmkl_suite.files import DamagedFileError, read_json, write_json
from mtmkl_suite.run.folders import RunFolder
from mtmkl_suite.run.jobs import CAUSE
from mtmkl_suite.run.locks import ResultsInUseError, lock_results
from mtmkl_suite.run.process import print_any_text
from snakemake_logger_plugin_mtmkl.progress import ProgressLine, duration

REPORT = "report"
"""Rule that comes last: with it the papers' verdicts are there."""

KEPT = "Finished cells are kept: run the same command to resume."

_SHOWN_WITHOUT_CAUSE = 30
_WEIGHT = 60.0
"""Seconds that this run must have measured to outweigh the pace of earlier ones."""
_SAID_AT_THE_END = (
    "At least one job did not complete successfully",
    "Exiting because a job execution failed",
)


@dataclass
class Run:
    """What the Snakefile knows of the run.

    Attributes
    ----------
    results : RunFolder
        The results.
    seconds : Path
        File with the mean seconds of the jobs of each rule; written after a run.
    usual_seconds : Path
        Such a file for the first run, from another machine.
    summary : callable
        Returns what is printed when the report is there.
    fit_seconds : callable
        Returns the expected seconds of fits that are not there yet, by "paper/name".
    stopped : bool
        Whether it was interrupted.
    """

    results: RunFolder
    seconds: Path
    usual_seconds: Path
    summary: Callable[[], str]
    fit_seconds: Callable[[], dict[str, float]] = dict
    stopped: bool = False


_announced: list[Run] = []


def announce(run: Run) -> None:
    """Tell the logger what run this is; called by the Snakefile."""
    _announced[:] = [run]


def was_stopped() -> bool:
    """Tell whether the last run was interrupted."""
    return any(run.stopped for run in _announced)


class TimeLeft:
    """Estimates the time left from the seconds that jobs of a rule took.

    ``recorded``: Mean seconds of the jobs of a rule in earlier runs. They are scaled by
    the pace of this run, which may use another or a busier machine.
    """

    def __init__(self, recorded: dict[str, float]) -> None:
        self._recorded = recorded
        self._planned: Counter[str] = Counter()
        self._running: dict[int, tuple[str, float]] = {}
        self._seconds: dict[str, list[float]] = {}
        self.cores = 1

    def plan(self, jobs: dict[str, int]) -> None:
        """Take the number of jobs of each rule."""
        self._planned = Counter(jobs)

    def start(self, job: int, rule: str, now: float) -> None:
        """Take the time at which a job starts."""
        self._running[job] = rule, now

    def finish(self, job: int, now: float) -> str:
        """Take the time at which a job ends; return its rule."""
        rule, started = self._running.pop(job)
        self._planned[rule] -= 1
        self._seconds.setdefault(rule, []).append(now - started)
        return rule

    def measured(self) -> dict[str, float]:
        """Return the mean seconds of each rule in this run."""
        return {rule: sum(each) / len(each) for rule, each in self._seconds.items()}

    def left(self, now: float) -> float:
        """Return the seconds left."""
        own = self.measured()
        both = own.keys() & self._recorded.keys()
        # Short jobs are mostly their start: their ratio says little of long ones.
        usual = _WEIGHT + sum(self._recorded[rule] for rule in both)
        pace = (_WEIGHT + sum(own[rule] for rule in both)) / usual
        means = {rule: pace * each for rule, each in self._recorded.items()} | own
        other = sum(own.values()) / len(own) if own else 1.0
        work = sum(n * means.get(rule, other) for rule, n in self._planned.items())
        for rule, started in self._running.values():
            work -= min(now - started, means.get(rule, other))
        return max(work, 0.0) / self.cores


class LogHandler(LogHandlerBase):
    """Shows progress, warnings and failures; at the end a summary."""

    def __post_init__(self) -> None:
        self._line: ProgressLine | None = None
        self._time = TimeLeft({})
        self._fits: dict[str, float] = {}
        self._jobs = 0
        self._done = 0
        self._failed = 0
        self._started = self._now = 0.0
        self._log = ""
        self._executing = self._stopped = self._up_to_date = False
        self._has_report = self._is_measured = False
        self._plain = ColorizingTextHandler(
            nocolor=self.common_settings.nocolor,
            stream=sys.stdout if self.common_settings.stdout else sys.stderr,
            formatter=DefaultFormatter(
                self.common_settings.quiet, self.common_settings.show_failed_logs
            ),
            filter=DefaultFilter(
                self.common_settings.quiet,
                self.common_settings.debug_dag,
                self.common_settings.verbose,
                self.common_settings.dryrun,
                self.common_settings.printshellcmds,
            ),
        )
        print_any_text()
        sys.excepthook = _say_stopped
        # A line of a log that a full disk does not take is no news beside the failure.
        logging.raiseExceptions = False

    @property
    def writes_to_stream(self) -> bool:
        """Say that the default handler is not needed."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """Say that the log file is Snakemake's."""
        return False

    @property
    def has_filter(self) -> bool:
        """Ask for every record: ``--quiet`` has nothing to take away."""
        return True

    @property
    def has_formatter(self) -> bool:
        """Say that records are not formatted."""
        return True

    @property
    def needs_rulegraph(self) -> bool:
        """Say that the graph of the rules is not needed."""
        return False

    def emit(self, record: LogRecord) -> None:
        """Show a record, or take from it how far the run is."""
        try:
            if self.common_settings.dryrun or self.common_settings.verbose:
                self._plain.handle(record)
            else:
                self._take(record)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Remove the line of progress and print the summary."""
        if self._line is not None:
            self._line.close()
            self._line = None
            self._say_end()
        elif self._up_to_date:
            self._print("Nothing to be done: everything is up to date.")
            self._has_report = True
            self._say_results()
            for run in _announced:  # which did not start, and so deleted nothing
                with suppress(ResultsInUseError, OSError):
                    lock_results(run.results).close()
        self._executing = self._up_to_date = False
        super().close()

    def _take(self, record: LogRecord) -> None:
        self._now = record.created
        event = getattr(record, "event", None)
        take = {
            LogEvent.WORKFLOW_STARTED: self._take_start,
            LogEvent.RUN_INFO: self._take_plan,
            LogEvent.RESOURCES_INFO: self._take_resources,
            LogEvent.JOB_INFO: self._take_job,
            LogEvent.JOB_FINISHED: self._take_finished,
            LogEvent.PROGRESS: self._take_progress,
            LogEvent.JOB_ERROR: self._take_failure,
        }
        if event in take:
            take[event](record.__dict__)
        elif event is None or record.levelno >= WARNING:
            self._take_message(record)

    def _take_start(self, record: dict[str, Any]) -> None:
        self._executing = True
        self._started = self._now
        self._print("Planning the jobs")

    def _take_plan(self, record: dict[str, Any]) -> None:
        jobs = {rule: n for rule, n in record["stats"].items() if rule != "total"}
        self._jobs = record["stats"]["total"]
        cores = self._time.cores
        fits = _announced[0].fit_seconds() if _announced else {}
        self._fits = fits if len(fits) <= jobs.get("fit", 0) else {}
        self._time = TimeLeft(_recorded_seconds() | self._fits)
        self._time.cores = cores
        # A fit with a time of its own counts as a rule of its own.
        jobs |= dict.fromkeys(self._fits, 1) | {
            "fit": jobs.get("fit", 0) - len(self._fits)
        }
        self._time.plan(jobs)
        self._is_measured = not jobs["fit"] and not self._fits
        if self._fits:
            on = f"{cores} core" + "s" * (cores > 1)
            left = duration(self._time.left(self._now))
            self._print(f"About {left} on {on}, as once measured")

    def _take_resources(self, record: dict[str, Any]) -> None:
        if "cores" in record:
            self._time.cores = record["cores"]

    def _take_job(self, record: dict[str, Any]) -> None:
        fit = "/".join((record.get("wildcards") or {}).values())
        name = fit if fit in self._fits else record["rule_name"]
        self._time.start(record["jobid"], name, self._now)
        if self._line is None:
            self._line = ProgressLine(self._jobs, "jobs")
            self._show_progress()

    def _take_finished(self, record: dict[str, Any]) -> None:
        rule = self._time.finish(record["job_id"], self._now)
        self._has_report |= rule == REPORT
        self._is_measured |= rule == "fit" or rule in self._fits

    def _take_progress(self, record: dict[str, Any]) -> None:
        self._done = record["done"]
        self._show_progress()

    def _show_progress(self) -> None:
        if self._line is not None:
            left = self._time.left(self._now) if self._is_measured else None
            self._line.update(self._done, left)

    def _take_failure(self, record: dict[str, Any]) -> None:
        if self._stopped:
            return
        self._failed += 1
        outputs = [*record["output"][:1], "…"][: len(record["output"])]
        logs = [Path(log) for log in record["log"]]
        self._print(f"Failed: {record['rule_name']} ({', '.join(outputs)})")
        for log in logs:
            if log.is_file():
                self._print(_cause(log.read_text(encoding="utf-8")))
            self._print(f"  log: {log}")

    def _take_message(self, record: LogRecord) -> None:
        text = record.getMessage()
        if text.startswith("Terminating processes on user request"):
            self._stopped = True
            for run in _announced:
                run.stopped = True
            self._print("Stopping")
        elif text.startswith("Nothing to be done"):
            self._up_to_date = True
        elif text.startswith("Complete log(s): "):
            self._log = text.partition(": ")[2]
        elif record.levelno >= ERROR and "CalledProcessError" in text:
            # An exception is in the log of its job; what ended it otherwise is not.
            ending = re.search(r"(died with .*|returned non-zero .*)", text)
            if ending and not ending[1].endswith(("status 1.", "status 130.")):
                self._print(f"A job {ending[1]}")
        elif record.levelno >= WARNING:
            if not any(said in text for said in _SAID_AT_THE_END):
                self._print(text)
        elif not self._executing and not text.startswith("Assuming"):
            self._print(text)

    def _say_end(self) -> None:
        took = duration(self._now - self._started)
        if _announced:
            means = _recorded_seconds() | self._time.measured()
            kept = {rule: means[rule] for rule in means if rule not in self._fits}
            write_json(_announced[0].seconds, kept)
        if self._done == self._jobs:
            self._print(f"{self._jobs} jobs in {took}")
        if self._done == self._jobs or self._has_report:
            self._say_results()
        if self._done == self._jobs:
            return
        left = f"{self._done} of {self._jobs} jobs were done in {took}"
        if self._failed:
            left += f", {self._failed} failed"
        self._print(f"Stopped: {left}. {KEPT}" if self._stopped else f"{left}. {KEPT}")
        if self._log:
            self._print(f"Log: {self._log}")

    def _say_results(self) -> None:
        for run in _announced:
            if not self._has_report or not run.results.report.is_file():
                print(f"Results: {run.results.path.as_uri()}")
                continue
            try:
                print(run.summary())
            except DamagedFileError as error:
                self._print(str(error))

    def _print(self, text: str) -> None:
        if self._line is not None:
            self._line.print(text)
        else:
            print(text, file=sys.stderr)


def _recorded_seconds() -> dict[str, float]:
    for run in _announced:
        for path in (run.seconds, run.usual_seconds):
            if path.is_file():
                with suppress(DamagedFileError):
                    return dict(read_json(path))
    return {}


def _cause(log: str) -> str:
    """Return what a log says of the cause of a failure, indented."""
    _, marked, cause = log.rpartition(f"{CAUSE}\n")
    lines = cause.splitlines()
    shown = lines if marked else lines[-_SHOWN_WITHOUT_CAUSE:]
    return "\n".join(f"  {line}" for line in shown)


def _say_stopped(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Say in a line that a run was interrupted before its jobs began."""
    if issubclass(kind, KeyboardInterrupt):
        print(f"Stopped. {KEPT}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)
