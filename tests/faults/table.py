"""A test of a fault, and the table of the outcomes of all of them."""

import csv
import datetime
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CHANGED = "+changes"
TABLE = ROOT / "figures" / "faults" / "faults.csv"
COLUMNS = (
    "test", "what is done", "count", "passed", "seconds", "note", "commit", "date",
)  # fmt: skip


class SkippedError(Exception):
    """A test that cannot be run here; says why."""


@dataclass(frozen=True)
class Fault:
    """A test of one kind of fault."""

    test: str
    done: str
    """The fault, and the outcome that has to follow."""
    trials: Callable[[int, Path], Iterator[str]]
    """Number and scratch folder -> lines of the trials, empty where all went well."""
    few: int
    """Trials in ``make test``, 0 where another test has the like."""
    many: int
    """Trials in ``make faults``."""


def run(fault: Fault, count: int, scratch: Path) -> tuple[dict[str, object], list[str]]:
    """Run a test; return its row of the table, and what went wrong."""
    lines: list[str] = []
    note, started, commit = "", time.monotonic(), current_commit()
    try:
        for line in fault.trials(count, scratch):
            lines.append(line)
            print("." if not line else f"\n{fault.test}: {line}", end="", flush=True)
    except SkippedError as reason:
        note = f"skipped: {reason}"
    problems = [line for line in lines if line]
    # What was asked of code that has changed since tells nothing of either.
    commit = commit if commit == current_commit() else f"{commit}{CHANGED}"
    row = {
        "test": fault.test, "what is done": fault.done, "count": len(lines),
        "passed": len(lines) - len(problems),
        "seconds": round(time.monotonic() - started), "note": note, "commit": commit,
        "date": datetime.date.today().isoformat(),
    }  # fmt: skip
    return row, problems


def measured(fault: Fault, count: int, path: Path) -> bool:
    """Tell whether so many trials of this very code are in the table, all well."""
    row = _rows(path).get(fault.test)
    if row is None or row["note"] or row["what is done"] != fault.done:
        return False
    commit = current_commit()
    return (
        row["commit"] == commit
        and not commit.endswith(CHANGED)
        and int(row["passed"]) == int(row["count"]) >= count
    )


def merge(rows: list[dict[str, object]], path: Path, order: list[str]) -> None:
    """Write rows into the table, in the order of the tests; others stay."""
    known = _rows(path) | {row["test"]: row for row in rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(known[test] for test in order if test in known)


def _rows(path: Path) -> dict[object, dict[str, Any]]:
    """Return the rows of the table by their test."""
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {row["test"]: row for row in csv.DictReader(file)}


def current_commit() -> str:
    """Return the commit that is checked out, and whether anything differs from it."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "workflow", "config", "tests")
    return git("rev-parse", "--short", "HEAD") + (CHANGED if changed else "")
