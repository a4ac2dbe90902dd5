"""Cells of the published record, drawn by a seed, computed anew and compared with it.

A cell is one fit of a method with all that it measured: an experiment, a data set, a
number of tasks, a train size and a repeat.
"""

import hashlib
import io
import math
import multiprocessing
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from mtmkl.typing import IntArray
from mtmkl_suite.config.load import load_paper, published_folder
from mtmkl_suite.config.models import Paper
from mtmkl_suite.config.readings import load_readings
from mtmkl_suite.data import default_registry
from mtmkl_suite.data.fetch.integrity import sha256_of
from mtmkl_suite.data.splits import make_split
from mtmkl_suite.errors import DataNotAvailableError
from mtmkl_suite.evaluation.cells import ALL, FitJob
from mtmkl_suite.files import read_json, read_table
from mtmkl_suite.run.fits import FAILED, UNSUPPORTED, run_fit
from mtmkl_suite.run.folders import PublishedFolder, PublishedReadings
from mtmkl_suite.run.jobs import end_with_the_run
from mtmkl_suite.run.pipeline import load_variant
from mtmkl_suite.run.provenance import current_commit, machine, packages

OUTCOMES = EQUAL, ROUNDING, DIFFERS, NO_DATA = "equal", "rounding", "differs", "no data"
"""The same text; numbers within :data:`TOLERANCE`, with the same parameters and data;
neither; not computed, as the data are not here."""

TOLERANCE = 1e-8
"""Relative difference that counts as rounding."""

_CELL = ["experiment", "dataset", "method", "n_tasks", "train_size", "repeat"]
_PLACE = ["subset", "fold", "setting", "task", "metric"]
_TEXT = ["params", "at_grid_edge", "data_digest"]
_TINY = 1e-12
"""Difference that is rounding whatever the size of the numbers."""
_SHOWN = 5
"""Values of a cell that are shown beside those of the record."""


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
    folder: PublishedFolder
    provenance: Mapping[str, Any]
    """Commit, seed and machine of the record, among others."""

    @property
    def name(self) -> tuple[str, str]:
        """The paper, and "main" or "readings"."""
        return self.config.paper.id, "readings" if self.config.readings else "main"

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The table as text, without methods that could not run."""
        columns = [*_CELL, *_PLACE, "value", *_TEXT, "fit_seconds"]
        scores = read_table(
            self.folder.scores, usecols=columns, dtype=str, keep_default_na=False
        )
        return scores[~scores["metric"].isin([UNSUPPORTED, FAILED])]

    @cached_property
    def cells(self) -> dict[Cell, IntArray]:
        """The positions of each cell's rows."""
        found = {}
        groups = self.scores.groupby(_CELL, sort=False).indices
        for keys, rows in cast(dict[tuple[str, ...], IntArray], groups).items():
            experiment, dataset, method, *numbers = keys
            place = (*self.name, experiment, dataset, method)
            found[Cell(*place, *map(int, numbers))] = rows
        return found

    def seconds(self) -> dict[Cell, float]:
        """Return the seconds that each cell took when it was made, 0 if unknown."""
        each = pd.to_numeric(self.scores["fit_seconds"], errors="coerce").to_numpy()
        return {c: float(np.nanmax([*each[k], 0.0])) for c, k in self.cells.items()}

    def held(self, cell: Cell) -> pd.DataFrame | None:
        """Return the rows in which the method chose what it holds in this cell."""
        hold = self.config.experiments[cell.experiment].entry(cell.method).hold
        if not hold or cell.repeat <= max(hold.values()):
            return None
        is_own = self.scores["repeat"].isin(map(str, hold.values()))
        for name in ("experiment", "dataset", "method"):
            is_own &= self.scores[name] == getattr(cell, name)
        rows = self.scores[is_own]
        return rows.assign(repeat=rows["repeat"].astype(int))


def published_records(papers: Sequence[str]) -> list[Record]:
    """Return the published records of papers, with their other readings."""
    found = []
    for paper in papers:
        for load, kind in (
            (load_paper, PublishedFolder),
            (load_readings, PublishedReadings),
        ):
            folder = kind(published_folder(paper))
            if folder.scores.is_file():
                made = read_json(folder.provenance)
                found.append(Record(load(paper, made["tier"]), folder, made))
    return found


def draw(seconds: Mapping[Cell, float], count: int, seed: str) -> list[Cell]:
    """Draw cells without replacement.

    Each paper, and in it each power of ten of the seconds that cells took, has its
    share, and at least one cell as far as there are enough for all.
    """
    strata: dict[tuple[str, int], list[Cell]] = {}
    for cell, each in sorted(seconds.items()):
        power = math.floor(math.log10(max(each, 0.01)))
        strata.setdefault((cell.paper, power), []).append(cell)
    digest = hashlib.sha256(seed.encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8]))
    places: list[tuple[float, Cell]] = []
    for cells in strata.values():
        n = len(cells)
        # The first of each stratum, of large ones before small ones, and then shares.
        order = [-n, *((k + 0.5) / n for k in range(1, n))]
        places += zip(order, (cells[k] for k in rng.permutation(n)), strict=True)
    return [cell for _, cell in sorted(places)[:count]]


def shortest_first(cells: Iterable[Cell], seconds: Mapping[Cell, float]) -> list[Cell]:
    """Sort cells by the seconds that they took, and one per megabyte of data."""

    def cost(cell: Cell) -> float:
        entry = default_registry()[cell.dataset.partition("[")[0]]
        return seconds[cell] + sum(file.bytes for file in entry.files) / 1e6

    return sorted(cells, key=lambda cell: (cost(cell), cell))


def compare(published: pd.DataFrame, computed: pd.DataFrame) -> dict[str, Any]:
    """Compare the rows of a cell, both as text; show the first values that differ."""
    there, here = (
        [*map(tuple, rows[_PLACE].to_numpy())] for rows in (published, computed)
    )
    if here != there:
        lost, extra = len({*there} - {*here}), len({*here} - {*there})
        return _unlike(f"{lost} values are missing and {extra} are new")
    scores = []
    rows = zip(published.to_dict("records"), computed.to_dict("records"), strict=True)
    for old, new in rows:
        place = [old["setting"], old["task"].removeprefix(ALL), old["metric"]]
        for column in ("value", *_TEXT):
            a, b = old[column], new[column]
            is_close = column == "value" and _is_close(a, b)
            outcome = EQUAL if a == b else ROUNDING if is_close else DIFFERS
            what = " ".join(filter(None, [*place, column.removeprefix("value")]))
            shown = {"what": what, "outcome": outcome, "published": a, "here": b}
            scores.append(shown)
    scores.sort(key=lambda each: OUTCOMES.index(each["outcome"]), reverse=True)
    n_different = sum(each["outcome"] != EQUAL for each in scores)
    return {
        "outcome": scores[0]["outcome"],
        "n_different": n_different,
        "scores": scores[: min(max(n_different, 1), _SHOWN)],
    }


def _is_close(published: str, here: str) -> bool:
    """Tell whether two numbers differ by rounding alone; none is close to nothing."""
    if not published or not here:
        return published == here
    return math.isclose(float(published), float(here), rel_tol=TOLERANCE, abs_tol=_TINY)


def _unlike(reason: str) -> dict[str, Any]:
    """Return the comparison of a cell that has no such values here."""
    shown = {"what": "cell", "outcome": DIFFERS, "published": "", "here": reason}
    return {"outcome": DIFFERS, "n_different": 1, "scores": [shown]}


def computed_cells(
    records: Sequence[Record], cells: Sequence[Cell], *, until: float, cores: int
) -> Generator[tuple[Cell, dict[str, Any]]]:
    """Compute cells anew until a time, and yield the comparison of each when done."""
    of = {cell: record for record in records for cell in record.cells}
    tasks = []
    for cell in cells:
        record = of[cell]
        try:
            given = record.scores.iloc[record.cells[cell]], record.held(cell)
        except KeyError as error:
            reason = f"{error} is not in the configuration"
            yield cell, _unlike(reason) | {"seconds": 0.0}
        else:
            tasks.append((record.config, record.provenance["seed"], cell, *given))
    # A new interpreter takes the variables that pin arithmetic from this one.
    with multiprocessing.get_context("spawn").Pool(cores, _begin) as pool:
        computed = pool.imap_unordered(_checked, tasks)
        try:
            for _ in tasks:
                yield computed.next(max(until - time.monotonic(), 0.0))
        except multiprocessing.TimeoutError:
            pass


def _begin() -> None:
    """Prepare a process that computes cells."""
    end_with_the_run()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Gaps that are missed are for the logs of a run.
    sys.stdout = None
    warnings.simplefilter("ignore")


def _checked(
    task: tuple[Paper, int, Cell, pd.DataFrame, pd.DataFrame | None],
) -> tuple[Cell, dict[str, Any]]:
    """Compute a cell and compare it with the rows of the record."""
    config, seed, cell, rows, held = task
    begin = time.perf_counter()
    try:
        computed = _computed(config, seed, cell, held)
        failed = computed.loc[computed["metric"].isin([UNSUPPORTED, FAILED]), "params"]
        found = _unlike(failed.iloc[0]) if len(failed) else compare(rows, computed)
    except DataNotAvailableError as error:
        found = _unlike(str(error)) | {"outcome": NO_DATA}
    except Exception as error:
        found = _unlike(f"{type(error).__name__}: {error}")
    return cell, found | {"seconds": round(time.perf_counter() - begin, 2)}


def _computed(
    config: Paper, seed: int, cell: Cell, held: pd.DataFrame | None
) -> pd.DataFrame:
    """Return the rows of a cell, computed here, as text."""
    experiment = config.experiments[cell.experiment]
    entry = experiment.entry(cell.method)
    if entry.n_tasks:
        entry = entry.model_copy(update={"n_tasks": [cell.n_tasks]})
    own = experiment.model_copy(update={"methods": [entry]})
    config = config.model_copy(update={"experiments": {cell.experiment: own}})
    variant = next(v for v in experiment.variants if v.id == cell.dataset)
    protocol = config.protocols[experiment.protocol].named(experiment.protocol)
    data = load_variant(variant, seed, repeat=cell.repeat)
    size, repeat = cell.train_size, cell.repeat
    split = make_split(data, protocol, seed, train_size=size, repeat=repeat)
    plan = FitJob(cell.experiment, cell.dataset, cell.method, 0, (repeat,))
    splits = {(size, repeat): split}
    with tempfile.TemporaryDirectory() as cache:
        scores, _ = run_fit(
            config, plan, seed=seed, splits=splits, cache=Path(cache), version="",
            chosen=held,
        )  # fmt: skip
    text = scores.astype(object).to_csv(index=False)
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def excluded_rate(n_different: int, n: int) -> float:
    """Return the upper bound of Clopper and Pearson on the share that differs, 95 %."""
    test = binomtest(n_different, n, alternative="less")
    return float(test.proportion_ci(0.95).high)


def counted(results: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many cells came to each outcome."""
    found = Counter(each["outcome"] for each in results)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def receipt(
    records: Sequence[Record],
    seed: str,
    cells: Sequence[Cell],
    results: Mapping[Cell, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return what somebody else needs to repeat a check, and to compare with it."""
    return {
        "seed": seed,
        "commit": current_commit(),
        "packages": packages(),
        "machine": machine(),
        "records": {
            "/".join(each.name): sha256_of(each.folder.scores) for each in records
        },
        "counts": counted(results.values()),
        "cells": [asdict(cell) | dict(results[cell]) for cell in sorted(results)],
        "no_time": [asdict(cell) for cell in sorted(set(cells) - set(results))],
    }
