"""Output of this workflow: one line of progress, and failures in full.

Snakemake finds logger plugins by the name of their package; the profile chooses this
one. ``--verbose`` and ``--dry-run`` show Snakemake's own lines; the log file below
``.snakemake/log`` has them in any case.
"""

import logging
import re
import sys
from collections.abc import Callable
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
from tqdm import tqdm

from mtmkl_suite.files import DamagedFileError
from mtmkl_suite.run.folders import RunFolder
from mtmkl_suite.run.jobs import CAUSE
from mtmkl_suite.run.process import print_any_text

REPORT = "report"
"""Last rule, after all verdicts."""

KEPT = "Finished cells are kept: run the same command to resume."

_SHOWN_WITHOUT_CAUSE = 30
_SECONDS = 5.0
"""Work assumed for a fit whose time was never measured."""
_OVERHEAD = 1.0
"""Seconds that a job takes beside its fits."""
_NOT_SAID = ("Assuming", "Config file")
_SAID_AT_THE_END = (
    "At least one job did not complete successfully",
    "Exiting because a job execution failed",
)


@dataclass
class Run:
    """Facts of the run that the Snakefile knows."""

    results: RunFolder
    summary: Callable[[], str]
    """Returns what is printed when the report is there."""
    fit_seconds: Callable[[], dict[str, float]] = dict
    """Returns the seconds that fits which are not there yet once took, by
    "paper/name"."""
    stopped: bool = False


_announced: list[Run] = []


def announce(run: Run) -> None:
    """Tell the logger what run this is; called by the Snakefile."""
    _announced[:] = [run]


def was_stopped() -> bool:
    """Tell whether the last run was interrupted."""
    return any(run.stopped for run in _announced)


class Progress:
    """The work that is done: on a terminal a live line, else ten lines at most."""

    def __init__(self, jobs: int, work: float) -> None:
        self.jobs, self.done = jobs, 0
        self._work, self._finished = work, 0.0
        self._running: dict[int, tuple[str, float]] = {}
        self._began = self._took = 0.0
        self._has_fit = False
        self._bar = tqdm(
            total=jobs, bar_format="{bar:40} {desc}", leave=False, disable=None
        )

    def start(self, job: int, rule: str, work: float, now: float) -> None:
        """Take a job that starts."""
        if not (self._running or self._finished):
            self._began = now
            self._bar.set_description_str(self.text())
        self._running[job] = rule, work

    def finish(self, job: int, now: float) -> str:
        """Take a job that has ended; return its rule."""
        rule, work = self._running.pop(job)
        self._finished += work
        self._took = now - self._began
        self._has_fit |= rule == "fit"
        return rule

    def update(self, done: int) -> None:
        """Show how many jobs are done."""
        is_tenth = 10 * done // self.jobs > 10 * self.done // self.jobs
        self.done = done
        if not self._bar.disable:
            self._bar.set_description_str(self.text(), refresh=False)
            self._bar.n = done
            self._bar.refresh()
        elif is_tenth:
            self.print(self.text())

    def print(self, text: str) -> None:
        """Print above the line."""
        self._bar.write(text, file=sys.stderr)

    def close(self) -> None:
        """Take the line away."""
        self._bar.close()

    def text(self) -> str:
        """Return the jobs done, and the time left once a fit has ended."""
        text = f"{self.done} of {self.jobs} jobs"
        if self.done == self.jobs:
            return text
        if not self._has_fit:
            return f"{text}, time left not known yet"
        left = self._took * (self._work / self._finished - 1)
        return f"{text}, about {duration(left)} left"


def duration(seconds: float) -> str:
    """Return a time as people say it: "40 s", "3 min", "2 h 15 min"."""
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


class LogHandler(LogHandlerBase):
    """Shows progress, warnings and failures; at the end a summary."""

    # ``--quiet`` has nothing to take away; the log file is Snakemake's.
    writes_to_stream = has_filter = has_formatter = True
    writes_to_file = needs_rulegraph = False

    def __post_init__(self) -> None:
        self._progress: Progress | None = None
        self._cores = 1
        self._failed = 0
        self._started = self._now = 0.0
        self._log = ""
        self._executing = self._stopped = self._up_to_date = False
        self._has_report = False
        self._jobs, self._work = 0, 0.0
        self._fits: dict[str, float] = {}
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
        # A full disk also refuses lines of the log; the failure itself is reported.
        logging.raiseExceptions = False

    def emit(self, record: LogRecord) -> None:
        """Show a record, or update the progress from it."""
        try:
            if self.common_settings.dryrun or self.common_settings.verbose:
                self._plain.handle(record)
            else:
                self._take(record)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Remove the line of progress and print the summary."""
        if self._progress is not None:
            self._progress.close()
            progress, self._progress = self._progress, None
            self._say_end(progress)
        elif self._up_to_date:
            self._print("Nothing to be done: everything is up to date.")
            self._has_report = True
            self._say_results()
        self._executing = self._up_to_date = False
        super().close()

    def _take(self, record: LogRecord) -> None:
        self._now = record.created
        told, progress = record.__dict__, self._progress
        match told.get("event"):
            case LogEvent.WORKFLOW_STARTED:
                self._executing, self._started = True, self._now
                self._print("Planning the jobs")
            case LogEvent.RUN_INFO:
                self._take_plan(told["stats"])
            case LogEvent.RESOURCES_INFO:
                self._cores = told.get("cores", self._cores)
            case LogEvent.JOB_INFO:
                if progress is None:
                    progress = self._progress = Progress(self._jobs, self._work)
                rule, of = told["rule_name"], (told.get("wildcards") or {}).values()
                work = self._work_of("/".join(of)) if rule == "fit" else _OVERHEAD
                progress.start(told["jobid"], rule, work, self._now)
            case LogEvent.JOB_FINISHED:
                if progress is not None:
                    rule = progress.finish(told["job_id"], self._now)
                    self._has_report |= rule == REPORT
            case LogEvent.PROGRESS:
                if progress is not None:
                    progress.update(told["done"])
            case LogEvent.JOB_ERROR:
                if not self._stopped:
                    self._take_failure(told)
            case None:
                self._take_message(record)
            case _ if record.levelno >= WARNING:
                self._take_message(record)

    def _take_plan(self, stats: dict[str, Any]) -> None:
        fits = _announced[0].fit_seconds() if _announced else {}
        n_fits, self._jobs = stats.get("fit", 0), stats["total"]
        if len(fits) <= n_fits:  # else some are not wanted
            self._fits = fits
        left = sum(map(self._work_of, self._fits)) + self._jobs - n_fits
        self._work = left + (n_fits - len(self._fits)) * self._work_of("")
        if self._fits:
            on = f"{self._cores} core" + "s" * (self._cores > 1)
            took = duration(self._work / self._cores)
            self._print(f"About {took} on {on}, by earlier measurements")

    def _work_of(self, fit: str) -> float:
        return self._fits.get(fit, _SECONDS) + _OVERHEAD

    def _take_failure(self, record: dict[str, Any]) -> None:
        self._failed += 1
        outputs = [*record["output"][:1], "…"][: len(record["output"])]
        self._print(f"Failed: {record['rule_name']} ({', '.join(outputs)})")
        for log in map(Path, record["log"]):
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
            # The log of a job has exceptions, but no other ending.
            ending = re.search(r"(died with .*|returned non-zero .*)", text)
            if ending and not ending[1].endswith(("status 1.", "status 130.")):
                self._print(f"A job {ending[1]}")
        elif record.levelno >= WARNING:
            if not any(said in text for said in _SAID_AT_THE_END):
                self._print(text)
        elif not self._executing and not text.startswith(_NOT_SAID):
            self._print(text)

    def _say_end(self, progress: Progress) -> None:
        took = duration(self._now - self._started)
        jobs, done = progress.jobs, progress.done
        if done == jobs:
            self._print(f"{jobs} jobs in {took}")
        if done == jobs or self._has_report:
            self._say_results()
        if done == jobs:
            return
        left = f"{done} of {jobs} jobs were done in {took}"
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
        if self._progress is not None:
            self._progress.print(text)
        else:
            print(text, file=sys.stderr)


def _cause(log: str) -> str:
    """Return the cause of a failure from its log, indented."""
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
