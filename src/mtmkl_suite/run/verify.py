"""Cells of a record, drawn at random, computed anew and compared with what it says.

A cell is one fit of a method with all that it measured: an experiment, a data set, a
number of tasks, a train size and a repeat.
"""

import math
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from hashlib import sha256
from io import StringIO
from itertools import groupby
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.stats import beta

from mtmkl.typing import IntArray
from mtmkl_suite.arithmetic import pinned
from mtmkl_suite.config.models import Paper
from mtmkl_suite.data.errors import DataNotAvailableError
from mtmkl_suite.data.splits import make_splits, save_splits
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.evaluation.cache import content_key
from mtmkl_suite.evaluation.jobs import FitJob
from mtmkl_suite.files import read_json, read_table, write_json
from mtmkl_suite.run.fits import (
    FAILED,
    UNSUPPORTED,
    run_fit,
)
from mtmkl_suite.run.grouping import FitGroup, fit_groups
from mtmkl_suite.run.jobs import end_with_the_run
from mtmkl_suite.run.pipeline import code_version, load_variant
from mtmkl_suite.run.plan import find_variant, method_specs
from mtmkl_suite.run.provenance import machine, of_the_code

OUTCOMES = ("equal", "rounding", "differs")
"""The same text; numbers within :data:`ROUNDING` with the same parameters; neither."""

ROUNDING = 1e-8
"""Relative difference that counts as rounding."""

CONFIDENCE = 0.95

_MAIN = "main"
_READINGS = "readings"
_SCORES = {_MAIN: "scores.csv.gz", _READINGS: "readings.csv.gz"}
_CELL = ["experiment", "dataset", "method", "n_tasks", "train_size", "repeat"]
_PLACE = ["subset", "fold", "setting", "task", "metric"]
_TEXT = ["params", "at_grid_edge", "data_digest"]
_SHOWN = 5
"""Differences of a cell that are kept."""


@dataclass(frozen=True, order=True)
class Cell:
    """One fit of a record."""

    paper: str
    record: str
    """"main", or "readings" for other readings of the protocol."""
    experiment: str
    dataset: str
    method: str
    n_tasks: int
    train_size: int
    repeat: int

    def __str__(self) -> str:
        size = f", train size {self.train_size}" if self.train_size else ""
        return (
            f"{self.paper}: {self.experiment}, {self.method} on {self.dataset} "
            f"(repeat {self.repeat}{size}, {self.n_tasks} tasks)"
        )


@dataclass(frozen=True)
class Record:
    """The published scores of a paper, and the configuration that made them."""

    config: Paper
    folder: Path
    name: str = _MAIN

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The table as text, without methods that could not run."""
        path = self.folder / _SCORES[self.name]
        scores = read_table(path, dtype=str, keep_default_na=False)
        return scores[~scores["metric"].isin([UNSUPPORTED, FAILED])]

    @cached_property
    def seed(self) -> int:
        """The root seed of the record."""
        return int(read_json(self.folder / "provenance.json")["seed"])

    @property
    def machine(self) -> dict[str, Any]:
        """Processor, kernels of BLAS and system of the record."""
        found: dict[str, Any] = read_json(self.folder / "provenance.json")["machine"]
        return found

    @cached_property
    def cells(self) -> dict[Cell, IntArray]:
        """The positions of each cell's rows."""
        found = {}
        groups = self.scores.groupby(_CELL, sort=False).indices
        for keys, rows in cast(dict[tuple[str, ...], IntArray], groups).items():
            experiment, dataset, method, *numbers = keys
            place = (self.config.paper.id, self.name, experiment, dataset, method)
            found[Cell(*place, *map(int, numbers))] = rows
        return found

    def rows(self, cell: Cell) -> pd.DataFrame:
        """Return the rows of a cell, as text."""
        return self.scores.iloc[self.cells[cell]]

    def seconds(self) -> dict[Cell, float]:
        """Return what each cell took when it was made, of those that are configured."""
        each = pd.to_numeric(self.scores["fit_seconds"], errors="coerce").to_numpy()
        return {
            cell: float(np.fmax.reduce(each[rows]))
            for cell, rows in self.cells.items()
            if self.process_of(cell) is not None
        }

    def current(self) -> set[Cell]:
        """Return the configured cells that are of the code as it is here."""
        codes = self.scores["code_version"].to_numpy()
        here = cache(self.code_of)
        return {
            cell
            for cell, rows in self.cells.items()
            if self.process_of(cell) is not None
            and codes[rows[0]] == here(cell.experiment, cell.method)
        }

    @cached_property
    def processes(self) -> dict[tuple[str, str, str, int], FitGroup]:
        """The process of each fit, by experiment, data set, method and repeat."""
        return {
            (job.experiment, job.dataset, job.method, repeat): group
            for group in fit_groups(self.config)
            for job in group.jobs
            for repeat in job.repeats
        }

    def process_of(self, cell: Cell) -> FitGroup | None:
        """Return the process of a cell, None if it is no longer configured."""
        key = (cell.experiment, cell.dataset, cell.method, cell.repeat)
        return self.processes.get(key)

    def code_of(self, experiment: str, method: str) -> str:
        """Return the fingerprint of the code that would compute a cell here."""
        found = self.config.experiments[experiment]
        of_method = self.config.method_of(found.entry(method))
        return code_version(of_method, found.metrics)


def draw(seconds: Mapping[Cell, float], count: int, seed: int) -> list[Cell]:
    """Draw cells without replacement, in random order.

    Each paper, and in it each power of ten of the seconds that cells took, has its
    share, and at least one cell as far as there are enough for all.
    """
    strata: dict[tuple[str, int], list[Cell]] = {}
    for cell, each in sorted(seconds.items()):
        power = math.floor(math.log10(max(each, 0.01))) if each == each else -2
        strata.setdefault((cell.paper, power), []).append(cell)
    count = min(count, len(seconds))
    sizes = np.array([len(cells) for cells in strata.values()])
    shares = _apportioned(sizes, count)
    rng = np.random.default_rng(seed)
    drawn = [
        cells[k]
        for cells, share in zip(strata.values(), shares, strict=True)
        for k in rng.choice(len(cells), size=share, replace=False)
    ]
    return [drawn[k] for k in rng.permutation(len(drawn))]


def _apportioned(sizes: IntArray, count: int) -> IntArray:
    """Return how many of ``count`` each stratum has, by the largest remainders."""
    if sizes.size == 0:
        return sizes
    exact = sizes * count / sizes.sum()
    shares = np.floor(exact).astype(int)
    shares[np.argsort(shares - exact, kind="stable")[: count - shares.sum()]] += 1
    for empty in np.flatnonzero(shares == 0):
        largest = int(np.argmax(shares))
        if shares[largest] > 1:
            shares[[empty, largest]] += [1, -1]
    return shares


def compare(published: pd.DataFrame, computed: pd.DataFrame) -> dict[str, Any]:
    """Compare the rows of a cell, both as text.

    Returns the outcome, the number of values, and of those that are not equal their
    number and the first :data:`_SHOWN`.
    """
    found: dict[str, Any] = {"values": len(published), "n_differences": 0}
    here = [tuple(row) for row in computed[_PLACE].to_numpy()]
    there = [tuple(row) for row in published[_PLACE].to_numpy()]
    if here != there:
        lost, extra = set(there) - set(here), set(here) - set(there)
        said = f"{len(lost)} values are missing and {len(extra)} are new"
        different = [{"what": "values", "published": str(len(there)), "here": said}]
        return found | {
            "outcome": "differs",
            "n_differences": len(lost) + len(extra),
            "differences": different,
        }
    differences = []
    outcome = "equal"
    for old, new, place in zip(
        published.to_dict("records"), computed.to_dict("records"), here, strict=True
    ):
        for column in ["value", *_TEXT]:
            if old[column] == new[column]:
                continue
            is_close = column == "value" and _is_rounding(old[column], new[column])
            outcome = "differs" if not is_close else outcome
            if outcome == "equal":
                outcome = "rounding"
            what = " ".join([*filter(None, place[3:]), column])
            both = {"published": old[column], "here": new[column]}
            differences.append({"what": what, **both, "rounding": is_close})
    differences.sort(key=lambda each: each["rounding"])
    return found | {
        "outcome": outcome,
        "n_differences": len(differences),
        "differences": differences[:_SHOWN],
    }


def _is_rounding(old: str, new: str) -> bool:
    try:
        a, b = float(old), float(new)
    except ValueError:
        return False
    return math.isclose(a, b, rel_tol=ROUNDING, abs_tol=ROUNDING * 1e-4)


def excluded_rate(n_different: int, n: int) -> float:
    """Return the share of differing cells that a sample excludes, at 95 %.

    The upper bound of Clopper and Pearson; 1 − 0.05^(1/n) where none differs.
    """
    if n_different >= n:
        return 1.0
    return float(beta.ppf(CONFIDENCE, n_different + 1, n - n_different))


@dataclass(frozen=True)
class Check:
    """Outcomes of the cells that were drawn."""

    results: dict[Cell, dict[str, Any]]
    no_data: dict[Cell, str]
    """Why cells could not be computed."""
    late: list[Cell]
    """Cells for which there was no time."""

    def counts(self) -> Counter[str]:
        """Return how many cells came to each outcome."""
        return Counter(each["outcome"] for each in self.results.values())


def verify(
    records: Sequence[Record],
    cells: Sequence[Cell],
    *,
    folder: Path,
    seconds: float,
    cores: int = 1,
    progress: Callable[[Cell, dict[str, Any]], None] = lambda cell, result: None,
) -> Check:
    """Compute cells anew, as far as there is time.

    What is finished stays in ``folder``; a cell whose code or rows have changed since
    is computed again.
    """
    from snakemake_executor_plugin_mtmkl import start_importing

    context = start_importing()
    end = time.monotonic() + seconds
    by_name = {(each.config.paper.id, each.name): each for each in records}
    todo: dict[tuple[str, str, str], list[Cell]] = {}
    paths: dict[Cell, Path] = {}
    groups = {}
    for cell in cells:
        record = by_name[cell.paper, cell.record]
        group = record.process_of(cell)
        if group is None:
            raise ConfigError(f"{cell}: not in the configuration, draw other cells")
        paths[cell] = folder / f"{_key(record, cell)}.json"
        groups[cell.paper, cell.record, group.name] = group
        if not paths[cell].is_file():
            key = cell.paper, cell.record, group.name
            todo.setdefault(key, []).append(cell)
    running: list[tuple[BaseProcess, list[Cell]]] = []
    told: set[Cell] = set()

    def tell() -> None:
        for cell in cells:
            if cell not in told and paths[cell].is_file():
                told.add(cell)
                progress(cell, read_json(paths[cell]))

    def start(own: list[Cell], target: Callable[..., None], *given: Any) -> BaseProcess:
        given = (pinned() | os.environ, *given)
        process = context.Process(target=target, args=given)
        process.start()
        running.append((process, own))
        return process

    try:
        while todo or running:
            tell()
            for process, own in list(running):
                if not process.is_alive():
                    running.remove((process, own))
                    _refuse_failure(process, own)
            if time.monotonic() >= end:
                break
            for key in list(todo)[: cores - len(running)]:
                record, own = by_name[key[:2]], todo.pop(key)
                rows = {cell: record.rows(cell) for cell in own}
                held = _held(record, own)
                of_cells = {cell: paths[cell] for cell in own}
                config, seed = record.config, record.seed
                start(own, _compute, config, seed, groups[key], rows, held, of_cells)
            time.sleep(0.05)
    finally:
        for process, _ in running:
            process.terminate()
            process.join()
    tell()
    done = {cell: read_json(paths[cell]) for cell in cells if paths[cell].is_file()}
    no_data = {c: each["no data"] for c, each in done.items() if "no data" in each}
    for cell in no_data:  # the data may be there the next time
        paths[cell].unlink()
    return Check(
        results={c: each for c, each in done.items() if c not in no_data},
        no_data=no_data,
        late=[cell for cell in cells if cell not in done],
    )


def _refuse_failure(process: BaseProcess, cells: Sequence[Cell]) -> None:
    if process.exitcode:
        raise RuntimeError(
            f"the process of {cells[0]} and {len(cells) - 1} others ended with status "
            f"{process.exitcode}; what it said is above"
        )


def _key(record: Record, cell: Cell) -> str:
    """Return the name under which a result is kept."""
    return content_key(
        cell=asdict(cell),
        code=record.code_of(cell.experiment, cell.method),
        rows=_digest(record.rows(cell)),
    )


def _digest(rows: pd.DataFrame) -> str:
    text = rows[[*_PLACE, "value", *_TEXT]].to_csv(index=False)
    return sha256(text.encode()).hexdigest()[:16]


def _held(record: Record, cells: Sequence[Cell]) -> dict[Cell, pd.DataFrame]:
    """Return the rows in which a method chose what it holds in these cells."""
    found = {}
    for cell in cells:
        spec = method_specs(record.config, cell.experiment)[cell.method]
        if spec.hold and cell.repeat > max(spec.hold.values()):
            scores = record.scores
            is_own = (
                (scores["experiment"] == cell.experiment)
                & (scores["dataset"] == cell.dataset)
                & (scores["method"] == cell.method)
            )
            own = scores[is_own & scores["repeat"].isin(map(str, spec.hold.values()))]
            found[cell] = own.assign(repeat=own["repeat"].astype(int))
    return found


def _begin(environment: Mapping[str, str]) -> None:
    # The server from which this process was forked has an older one.
    os.environ.clear()
    os.environ.update(environment)
    # Gaps that are missed are for the logs of a run.
    sys.stdout = None
    warnings.simplefilter("ignore")


def _compute(
    environment: Mapping[str, str],
    config: Paper,
    seed: int,
    group: FitGroup,
    rows: Mapping[Cell, pd.DataFrame],
    held: Mapping[Cell, pd.DataFrame],
    paths: Mapping[Cell, Path],
) -> None:
    """Compute cells of one process of a record, and write what each came to."""
    _begin(environment)
    end_with_the_run()
    for cell, published in rows.items():
        if paths[cell].is_file():
            continue
        begin = time.perf_counter()
        try:
            computed = _computed(config, seed, cell, held.get(cell))
        except DataNotAvailableError as error:
            write_json(paths[cell], {"no data": str(error)})
            continue
        found = compare(published, computed)
        of_both = {
            "published_code": published["code_version"].iloc[0],
            "code": computed["code_version"].iloc[0],
            "published_digest": _digest(published),
            "digest": _digest(computed),
        }
        spent = round(time.perf_counter() - begin, 2)
        write_json(paths[cell], {**found, **of_both, "seconds": spent})


def _computed(
    config: Paper, seed: int, cell: Cell, held: pd.DataFrame | None
) -> pd.DataFrame:
    """Return the rows of a cell, computed here, as text."""
    experiment = config.experiments[cell.experiment]
    variant = find_variant(config, cell.dataset)
    protocol = config.protocols[experiment.protocol].named(experiment.protocol)
    data = load_variant(variant, seed, repeat=cell.repeat)
    splits = make_splits(data, protocol, seed, repeats=[cell.repeat])
    key = (cell.train_size, cell.repeat)
    if key not in splits:
        return pd.DataFrame(columns=[*_PLACE, "value", *_TEXT, "code_version"])
    entries = [
        entry.model_copy(update={"n_tasks": [cell.n_tasks]} if entry.n_tasks else {})
        for entry in experiment.methods
    ]
    own = {cell.experiment: experiment.model_copy(update={"methods": entries})}
    config = config.model_copy(update={"experiments": {**config.experiments, **own}})
    plan = FitJob(cell.experiment, cell.dataset, cell.method, 0, (cell.repeat,))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "splits.npz"
        save_splits(path, {key: splits[key]})
        fit = run_fit(
            config, plan, seed=seed, splits=path, cache=Path(folder), chosen=held
        )
    stream = StringIO()
    fit.scores.astype(object).to_csv(stream, index=False)
    stream.seek(0)
    return pd.read_csv(stream, dtype=str, keep_default_na=False)


def receipt(
    records: Sequence[Record], check: Check, *, seed: int, seconds: float
) -> dict[str, Any]:
    """Return what somebody else needs to repeat a check, and to compare with it."""
    code = of_the_code(records[0].config)
    kept = ("commit", "lock_sha256", "packages")
    n = len(check.results)
    return {
        "format": 1,
        "seed": seed,
        **{key: code[key] for key in kept},
        "machine": machine(),
        "seconds": round(seconds, 1),
        "records": {
            f"{each.config.paper.id}/{each.name}": _digest(each.scores)
            for each in records
        },
        "counts": {name: check.counts()[name] for name in OUTCOMES},
        "excluded_rate": excluded_rate(check.counts()["differs"], n) if n else None,
        "cells": [asdict(c) | each for c, each in sorted(check.results.items())],
        "no_data": [
            asdict(c) | {"reason": w} for c, w in sorted(check.no_data.items())
        ],
        "no_time": [asdict(cell) for cell in sorted(check.late)],
    }


def cells_of(document: Mapping[str, Any]) -> list[Cell]:
    """Return all cells of a receipt."""
    names = Cell.__dataclass_fields__
    try:
        return [
            Cell(**{name: each[name] for name in names})
            for kind in ("cells", "no_data", "no_time")
            for each in document[kind]
        ]
    except (KeyError, TypeError) as error:
        raise ConfigError(
            f"no receipt of mtmkl verify (lacks {error}): give the file that it wrote"
        ) from error


def receipts_beside(record: Record) -> list[dict[str, Any]]:
    """Return the receipts that are published beside a record."""
    folder = record.folder.parent / "receipts"
    return [read_json(path) for path in sorted(folder.glob("*.json"))]


CURRENT, VERIFIED, OLDER = "current", "verified again", "older"
"""Of the code as it is here; of older code, by a method of which a receipt has cells
and none that differs; neither."""


def standing(
    record: Record, receipts: Iterable[Mapping[str, Any]]
) -> dict[str, Counter[str]]:
    """Return how many cells of each experiment stand how to the code as it is here."""
    verified = _verified(receipts)
    place = (record.config.paper.id, record.name)
    found: dict[str, Counter[str]] = {}
    cells = record.scores[[*_CELL, "code_version"]].drop_duplicates()
    counts = cells.groupby(["experiment", "method", "code_version"]).size()
    for *names, n in counts.reset_index().itertuples(index=False):
        experiment, method, code = map(str, names)
        kind = OLDER
        # What is no longer configured is older.
        with suppress(LookupError):
            here = record.code_of(experiment, method)
            if code == here:
                kind = CURRENT
            elif (*place, experiment, method, here) in verified:
                kind = VERIFIED
        found.setdefault(experiment, Counter())[kind] += int(n)
    return found


def standing_of_artefacts(
    record: Record, found: Mapping[str, Counter[str]]
) -> dict[str, Counter[str]]:
    """Return, from the same of experiments, that of each figure and table with scores.

    The experiments that none shows follow, by their own names.
    """
    shown = {name: each.shown for name, each in record.config.artefacts.items()}
    rest = set(found) - {name for own in shown.values() for name in own}
    sums = {
        name: sum((found.get(each, Counter()) for each in own), Counter[str]())
        for name, own in (shown | {name: [name] for name in sorted(rest)}).items()
    }
    return {name: counts for name, counts in sums.items() if counts}


def worst(counts: Mapping[str, int]) -> str:
    """Return how what shows these cells stands to the code."""
    return next(kind for kind in (OLDER, VERIFIED, CURRENT) if counts.get(kind))


_WORDS = {
    CURRENT: "computed with the code beside them",
    VERIFIED: "computed with older code, but verified again with this",
    OLDER: "computed with older code",
}


def standing_text(record: Record) -> str:
    """Say how a record's figures and tables stand to the code as it is here."""
    found = standing(record, receipts_beside(record))
    kinds = Counter(
        worst(counts)
        for name, counts in standing_of_artefacts(record, found).items()
        if name in record.config.artefacts
    )
    counted = [f"{kinds[k]} {words}" for k, words in _WORDS.items() if kinds[k]]
    if not counted:
        return ""
    return (
        "Figures and tables with scores, when this page was written: "
        f"{', '.join(counted)}; `mtmkl verify --status` lists them."
    )


def _verified(
    receipts: Iterable[Mapping[str, Any]],
) -> set[tuple[str, ...]]:
    """Return where receipts have cells of some code, none of which differs."""
    keys = ("paper", "record", "experiment", "method", "code")
    cells = sorted(
        (tuple(cell[key] for key in keys), cell["outcome"])
        for each in receipts
        for cell in each["cells"]
    )
    return {
        place
        for place, own in groupby(cells, key=lambda cell: cell[0])
        if all(outcome != "differs" for _, outcome in own)
    }
