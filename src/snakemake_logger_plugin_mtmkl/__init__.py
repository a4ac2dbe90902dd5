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
from datetime import timedelta
from logging import ERROR, WARNING, LogRecord
from pathlib import Path
from types import TracebackType
from typing import Any

from snakemake.logging import ColorizingTextHandler
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
    stopped: bool = False


_announced: list[Run] = []


def announce(run: Run) -> None:
    """Tell the logger what run this is; called by the Snakefile."""
    _announced[:] = [run]


def was_stopped() -> bool:
    """Tell whether the last run was interrupted."""
    return any(run.stopped for run in _announced)


class LogHandler(LogHandlerBase):
    """Shows progress, warnings and failures; at the end a summary."""

    # Filter, formatter and log file are Snakemake's.
    writes_to_stream = True
    has_filter = has_formatter = writes_to_file = needs_rulegraph = False

    def __post_init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._jobs = self._failed = 0
        self._started = self._now = 0.0
        self._log = ""
        self._executing = self._up_to_date = self._has_report = False
        stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self._plain = ColorizingTextHandler(self.common_settings.nocolor, stream)
        print_any_text()
        sys.excepthook = _say_stopped
        # A full disk also refuses lines of the log; the failure itself is reported.
        logging.raiseExceptions = False

    def emit(self, record: LogRecord) -> None:
        """Show a record, or update the progress from it."""
        try:
            if self.common_settings.dryrun or self.common_settings.verbose:
                self._plain.setFormatter(self.formatter)
                self._plain.handle(record)
            else:
                self._take(record)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Remove the line of progress and print the summary."""
        if self._bar is not None:
            self._bar.close()
            self._say_end(int(self._bar.n))
        elif self._up_to_date:
            _print("Nothing to be done: everything is up to date.")
            self._has_report = True
            self._say_results()
        self._bar, self._up_to_date = None, False
        super().close()

    def _take(self, record: LogRecord) -> None:
        self._now = record.created
        told = record.__dict__
        match told.get("event"):
            case LogEvent.WORKFLOW_STARTED:
                self._executing, self._started = True, self._now
                _print("Planning the jobs")
            case LogEvent.RUN_INFO:
                self._jobs = told["stats"]["total"]
            case LogEvent.JOB_INFO:
                self._has_report |= told["rule_name"] == REPORT
                if self._bar is None:
                    self._bar = tqdm(
                        total=self._jobs,
                        bar_format="{bar:40} {n} of {total} jobs, {remaining} left",
                        leave=False,
                        disable=None,  # only on a terminal
                    )
            case LogEvent.PROGRESS if self._bar is not None:
                self._take_progress(self._bar, told["done"])
            case LogEvent.JOB_ERROR if not was_stopped():
                self._take_failure(told)
            case None:
                self._take_message(record)
            case _ if record.levelno >= WARNING:
                self._take_message(record)

    def _take_progress(self, bar: "tqdm[Any]", done: int) -> None:
        """Show how many jobs are done; without a terminal in ten lines at most."""
        is_tenth = 10 * done // self._jobs > 10 * bar.n // self._jobs
        bar.n = done
        bar.refresh()
        if bar.disable and is_tenth:
            _print(f"{done} of {self._jobs} jobs")

    def _take_failure(self, record: dict[str, Any]) -> None:
        self._failed += 1
        outputs = [*record["output"][:1], "…"][: len(record["output"])]
        _print(f"Failed: {record['rule_name']} ({', '.join(outputs)})")
        for log in map(Path, record["log"]):
            if log.is_file():
                _print(_cause(log.read_text(encoding="utf-8")))
            _print(f"  log: {log}")

    def _take_message(self, record: LogRecord) -> None:
        text = record.getMessage()
        if text.startswith("Terminating processes on user request"):
            for run in _announced:
                run.stopped = True
            _print("Stopping")
        elif text.startswith("Nothing to be done"):
            self._up_to_date = True
        elif text.startswith("Complete log(s): "):
            self._log = text.partition(": ")[2]
        elif record.levelno >= ERROR and "CalledProcessError" in text:
            # The log of a job has exceptions, but no other ending.
            ending = re.search(r"(died with .*|returned non-zero .*)", text)
            if ending and not ending[1].endswith(("status 1.", "status 130.")):
                _print(f"A job {ending[1]}")
        elif record.levelno >= WARNING:
            if not any(said in text for said in _SAID_AT_THE_END):
                _print(text)
        elif not self._executing and not text.startswith(_NOT_SAID):
            _print(text)

    def _say_end(self, done: int) -> None:
        took = timedelta(seconds=round(self._now - self._started))
        if done == self._jobs:
            _print(f"{done} jobs in {took}")
            self._say_results()
            return
        if self._has_report:
            self._say_results()
        stopped = "Stopped: " if was_stopped() else ""
        failed = f", {self._failed} failed" if self._failed else ""
        done_in = f"{done} of {self._jobs} jobs were done in {took}"
        _print(f"{stopped}{done_in}{failed}. {KEPT}")
        if self._log:
            _print(f"Log: {self._log}")

    def _say_results(self) -> None:
        for run in _announced:
            if not self._has_report or not run.results.report.is_file():
                print(f"Results: {run.results.path.as_uri()}")
                continue
            try:
                print(run.summary())
            except DamagedFileError as error:
                _print(str(error))


def _print(text: str) -> None:
    """Print above the line of progress, if there is one."""
    tqdm.write(text, file=sys.stderr)


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
