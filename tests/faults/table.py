"""A test of a fault, and the table of the outcomes of all of them."""

import datetime
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

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


#: The tests by the module that they are in.
FAULTS: dict[str, list[Fault]] = {}


def fault(test: str, done: str, *, few: int, many: int) -> Callable:
    """Return a decorator that makes a test of a function of trials."""

    def add(trials: Callable[[int, Path], Iterator[str]]) -> Callable:
        module = trials.__module__.rpartition(".")[2]
        FAULTS.setdefault(module, []).append(Fault(test, done, trials, few, many))
        return trials

    return add


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
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        known = {each["test"]: each for each in table.to_dict("records")}
    known[row["test"]] = row
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [known[test] for test in order if test in known]
    pd.DataFrame(rows, columns=COLUMNS).to_csv(path, index=False)


def current_commit() -> str:
    """Return the commit that is checked out, and whether anything differs from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+changes"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()
