"""Measuring and writing, for all benchmarks.

A series is one problem at a geometric series of sizes, solved by ours and by baselines
in one process. Every baseline gets as little accuracy as it needs for the same relative
error of the objective, by the loosest of several settings that reaches it. Times are
processor time, with one thread: the median of repeats, for which the solvers of a size
take turns, since the speed of a machine drifts. Slopes are those of log time against
log size. The peak of memory is that of a process of its own, beyond what it needed for
a problem of the smallest size.

Only ratios of one run mean something. A baseline that is slow at one size is left out
at larger ones, by name; so is one that is not installed, and a series without its data.
"""

import contextlib
import csv
import importlib
import importlib.util
import json
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = (
    "series", "axis", "size", "baseline", "seconds", "ratio", "ratio_alone", "error",
    "accuracy", "slope", "peak_mb", "repeats", "remark",
)  # fmt: skip
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "cvxopt", "cvxpy", "clarabel",
            "scs", "skglm")  # fmt: skip
#: Seconds beyond which a baseline is left out at the next size, and in a quick run.
SLOW, SLOW_QUICK = 3.0, 1.0
#: By how much more than the size time is expected to grow, at least: its exponent.
GROWTH = 2.0
#: Turns in which repeats are taken: of short ones many at once, which fills the caches.
TURNS = 5


@dataclass(frozen=True)
class Outcome:
    """Result of a solver.

    Attributes
    ----------
    objective : float
    bound : float, optional
        From below, of ours.
    seconds : float, optional
        If not the whole call counts.
    alone : float, optional
        Seconds of the solver within, without what a modelling language does.
    """

    objective: float
    bound: float | None = None
    seconds: float | None = None
    alone: float | None = None


@dataclass(frozen=True)
class Solver:
    """Another way to solve the problem of a series.

    Attributes
    ----------
    name : str
    solve : callable
        Of the problem and an accuracy; returns an Outcome.
    accuracies : sequence of float
        From loose to fine, as shares of the accuracy of the series; or whatever else
        the solver takes, such as numbers of iterations, if ``is_share`` is False.
    is_share : bool
    package : str
        Which it needs.
    largest : float
        Size beyond which it is not tried.
    remark : str
    """

    name: str
    solve: Callable[[Any, float], Outcome]
    accuracies: Sequence[float] = (1.0, 0.1, 0.01, 1e-3)
    is_share: bool = True
    package: str = ""
    largest: float = np.inf
    remark: str = ""


@dataclass(frozen=True)
class Series:
    """One problem at several sizes.

    Attributes
    ----------
    name : str
    axis : str
        What the size is.
    sizes : sequence of int
    make : callable
        Of a size; returns the problem, whatever the solvers take. Raises
        DataNotAvailableError if there are no data.
    ours : Solver
    baselines : sequence of Solver
    accuracy : float
        Relative error of the objective; that of ours is certified.
    reference : float
        Accuracy at which ours is the optimum that errors are relative to.
    has_peaks : bool
        Whether peaks of memory are measured, too.
    """

    name: str
    axis: str
    sizes: Sequence[int]
    make: Callable[[int], Any]
    ours: Solver
    baselines: Sequence[Solver]
    accuracy: float = 1e-4
    reference: float = 1e-8
    has_peaks: bool = True


@dataclass
class Table:
    """The rows of a benchmark, and what was left out."""

    name: str
    title: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(self, **row: Any) -> None:
        """Add a row, and print it."""
        self.rows.append(dict.fromkeys(COLUMNS, "") | row)
        shown = " ".join(
            f"{key}={_text(value)}" for key, value in row.items() if key != "series"
        )
        print(f"  {row['series']}: {shown}", flush=True)

    def leave_out(self, what: str) -> None:
        """Note what is not measured, with the reason, and print it."""
        self.left_out.append(what)
        print(f"  left out: {what}", flush=True)


def processor_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of a call, and what it returns."""
    begin = time.process_time()
    found = function()
    return time.process_time() - begin, found


def run(series: Series, table: Table, *, quick: bool) -> None:
    """Measure a series."""
    sizes = series.sizes[:1] if quick else series.sizes
    slow = SLOW_QUICK if quick else SLOW
    try:
        first = series.make(sizes[0])
    except _unavailable() as error:
        table.leave_out(f"{series.name}: no data ({str(error).splitlines()[0]})")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        baselines = [r for r in series.baselines if _is_there(r, series, table)]
        # What is compiled or loaded by a first call is not timed.
        series.ours.solve(first, series.accuracy)
        for baseline in baselines:
            if baseline.package:
                _once(baseline, series, first)
        before: dict[str, float] = {}
        for position, size in enumerate(sizes):
            problem = first if position == 0 else series.make(size)
            optimum = _optimum(series, problem)
            for baseline in list(baselines):
                growth = (size / sizes[max(position - 1, 0)]) ** GROWTH
                expected = before.get(baseline.name, 0.0) * growth
                if size > baseline.largest or expected > 2 * slow:
                    table.leave_out(
                        f"{series.name}: {baseline.name} from {series.axis} = {size} on"
                        + (f", after {before[baseline.name]:.2g} s" if expected else "")
                    )
                    baselines.remove(baseline)
            found: dict[str, Measured] = {}
            for turn in range(TURNS + 1):
                for solver in (series.ours, *baselines):
                    try:
                        if turn == 0:
                            setting = _setting(series, solver, problem, optimum, quick)
                            found[solver.name] = setting
                        else:
                            found[solver.name].repeat(turn)
                    except Exception as error:
                        if solver is series.ours:
                            raise
                        # A baseline's failure is a finding, not the benchmark's end.
                        what = str(error).splitlines() or [type(error).__name__]
                        table.leave_out(
                            f"{series.name}: {solver.name} fails at {series.axis} = "
                            f"{size}: {what[0][:120]}"
                        )
                        found.pop(solver.name, None)
                baselines = [
                    baseline for baseline in baselines if baseline.name in found
                ]
            base = found[series.ours.name].seconds
            for solver in (series.ours, *baselines):
                before[solver.name] = found[solver.name].seconds
                _add(table, series, size, solver, found[solver.name], base)
    _add_slopes(table, series)


def add_peaks(module: str, series: Series, table: Table) -> None:
    """Write the peak of memory at the largest size of each solver.

    ``module`` is where the process of its own finds the series, in ``SERIES``.
    """
    rows = [row for row in table.rows if row["series"] == series.name]
    for row in {row["baseline"]: row for row in rows}.values():
        case = {
            "module": module, "series": series.name, "baseline": row["baseline"],
            "size": row["size"], "smallest": series.sizes[0],
            "accuracy": row["accuracy"],
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, __file__, json.dumps(case)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            row["peak_mb"] = json.loads(done.stdout.splitlines()[-1])


def peak_bytes() -> int:
    """Return the most bytes that this process has had in memory."""
    status = Path("/proc/self/status")
    if status.is_file():  # Linux, whose getrusage counts the parent's memory too
        line = next(x for x in status.read_text().splitlines() if "VmHWM" in x)
        return 1024 * int(line.split()[1])
    import resource

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


def _peak_of(case: dict[str, Any]) -> float:
    """Return by how many MB (2^20 bytes) a solver raises the peak of this process."""
    sys.path.insert(0, str(Path(__file__).parent))
    found = {each.name: each for each in importlib.import_module(case["module"]).SERIES}
    series = found[case["series"]]
    baselines = {
        baseline.name: baseline for baseline in (series.ours, *series.baselines)
    }
    baseline = baselines[case["baseline"]]
    warnings.simplefilter("ignore")
    baseline.solve(series.make(case["smallest"]), case["accuracy"])
    problem = series.make(case["size"])
    before = peak_bytes()
    baseline.solve(problem, case["accuracy"])
    return (peak_bytes() - before) / 2**20


def write(table: Table, folder: Path, *, quick: bool) -> None:
    """Write the csv, the figure and where they come from, all or nothing."""
    from figures import draw

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{table.name}.csv"
    with path.with_suffix(".new").open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, COLUMNS)
        out.writeheader()
        out.writerows(
            {key: _text(value) for key, value in row.items()} for row in table.rows
        )
    draw(table, folder / f"{table.name}.svg")
    path.with_suffix(".new").replace(path)
    (folder / f"{table.name}.json").write_text(
        json.dumps(
            {
                "title": table.title, "quick": quick, **provenance(),
                "left_out": table.left_out,
            },
            indent=2, ensure_ascii=False,
        ) + "\n",
        encoding="utf-8",
    )  # fmt: skip


def provenance() -> dict[str, Any]:
    """Return commit, machine and versions."""
    from mtmkl_suite.run.provenance import current_commit

    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    import os

    return {
        "commit": current_commit(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": versions,
    }


def _unavailable() -> type[Exception]:
    from mtmkl_suite.errors import DataNotAvailableError

    return DataNotAvailableError


def _is_there(baseline: Solver, series: Series, table: Table) -> bool:
    for package in baseline.package.split():
        if importlib.util.find_spec(package) is None:
            table.leave_out(f"{series.name}: {baseline.name} needs {package}")
            return False
    return True


def _once(baseline: Solver, series: Series, problem: Any) -> None:
    """Let a baseline compile or load; that it can solve the problem is seen later."""
    share = baseline.accuracies[0]
    with contextlib.suppress(Exception):
        baseline.solve(problem, share * series.accuracy if baseline.is_share else share)


def _optimum(series: Series, problem: Any) -> float:
    """Return the optimum, from ours to a much finer gap: the middle of its bounds."""
    found = series.ours.solve(problem, series.reference)
    assert found.bound is not None
    return 0.5 * (found.objective + found.bound)


@dataclass
class Measured:
    """The setting of a solver that reaches the accuracy, and how long it takes."""

    solve: Callable[[], tuple[float, Outcome]]
    accuracy: float
    error: float
    alone: float | None
    reached: bool
    times: list[float]
    repeats: int

    @property
    def seconds(self) -> float:
        """The median."""
        return float(np.median(self.times))

    def repeat(self, turn: int) -> None:
        """Take the share of the repeats that is due in a turn."""
        for _ in range(self.repeats * turn // TURNS - len(self.times)):
            seconds, outcome = self.solve()
            self.times.append(seconds)
            self.alone = outcome.alone


def _setting(
    series: Series, baseline: Solver, problem: Any, optimum: float, quick: bool
) -> Measured:
    """Return the loosest setting that reaches the accuracy, still to be repeated."""
    for share in baseline.accuracies:
        accuracy = share * series.accuracy if baseline.is_share else share

        def solve(accuracy: float = accuracy) -> tuple[float, Outcome]:
            seconds, outcome = processor_seconds(
                lambda: baseline.solve(problem, accuracy)
            )
            return seconds if outcome.seconds is None else outcome.seconds, outcome

        seconds, outcome = solve()
        error = abs(outcome.objective - optimum) / max(abs(optimum), 1e-300)
        reached = error <= series.accuracy * (1 + 1e-6)
        if reached or seconds > (SLOW_QUICK if quick else SLOW):
            break
    found = Measured(solve, accuracy, error, outcome.alone, reached, [seconds], 1)
    if not quick and seconds < 1.0:
        # Short ones, which the clock and other work disturb most, most often.
        found.times.clear()
        found.repeats = int(np.clip(0.1 / max(seconds, 1e-9), 5, 99))
    return found


def _add(
    table: Table,
    series: Series,
    size: int,
    baseline: Solver,
    found: Measured,
    base: float,
) -> None:
    remarks = [baseline.remark] if baseline.remark else []
    if not found.reached:
        remarks.append("accuracy not reached: the ratio is a lower bound")
    table.add(
        series=series.name,
        axis=series.axis,
        size=size,
        baseline=baseline.name,
        seconds=found.seconds,
        ratio=found.seconds / max(base, 1e-9),
        ratio_alone="" if found.alone is None else found.alone / max(base, 1e-9),
        error=found.error,
        accuracy=found.accuracy,
        repeats=len(found.times),
        remark="; ".join(remarks),
    )


def _add_slopes(table: Table, series: Series) -> None:
    """Write the slope of log time against log size with the last size of each."""
    for name in (series.ours.name, *(baseline.name for baseline in series.baselines)):
        own = [
            row
            for row in table.rows
            if (row["series"], row["baseline"]) == (series.name, name)
        ]
        if len(own) >= 3:
            own[-1]["slope"] = slope_of([(row["size"], row["seconds"]) for row in own])


def slope_of(times: Sequence[tuple[float, float]]) -> float:
    """Return the slope of log seconds against log size over the last three sizes.

    The smallest sizes are mostly what every call costs.
    """
    sizes, seconds = np.array(times[-3:]).T
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-9)), 1)[0])


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    print(_peak_of(json.loads(sys.argv[1])))
