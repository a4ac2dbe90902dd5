"""A test of a fault, and the table of the outcomes of all of them."""

import csv
import datetime
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
    note, started = "", time.monotonic()
    try:
        for line in fault.trials(count, scratch):
            lines.append(line)
            print("." if not line else f"\n{fault.test}: {line}", end="", flush=True)
    except SkippedError as reason:
        note = f"skipped: {reason}"
    problems = [line for line in lines if line]
    row = {
        "test": fault.test, "what is done": fault.done, "count": len(lines),
        "passed": len(lines) - len(problems),
        "seconds": round(time.monotonic() - started), "note": note,
        "commit": current_commit(), "date": datetime.date.today().isoformat(),
    }  # fmt: skip
    return row, problems


def merge(row: dict[str, object], path: Path, order: list[str]) -> None:
    """Write a row into the table, in the order of the tests; the others stay."""
    known: dict[object, dict[str, object]] = {}
    if path.is_file():
        with path.open(newline="", encoding="utf-8") as file:
            known = {each["test"]: dict(each) for each in csv.DictReader(file)}
    known[row["test"]] = row
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(known[test] for test in order if test in known)


def current_commit() -> str:
    """Return the commit that is checked out, and whether anything differs from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+changes"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()
