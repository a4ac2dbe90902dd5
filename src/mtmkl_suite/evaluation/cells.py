"""Fit jobs, and the loop over their cells: (repeat, train size, number of tasks).

A finished cell is stored, so that a killed run loses one of them. An entry of the store
is one ``.npz`` file named by the hash of everything it depends on, and exists
completely or not at all. Its last bytes are the digest of all before them: a zip
archive checks what its members hold, but not which array bears which name.
"""

import hashlib
import io
import json
import logging
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.typing import IntArray
from mtmkl_suite.data.scaling import fitted_inputs, fitted_targets
from mtmkl_suite.evaluation.selectors import (
    SELECTORS,
    Fitted,
    Part,
    Point,
    Selector,
    outcome_of,
    resolve_selector,
)
from mtmkl_suite.evaluation.supplied import as_json, tell_tasks, with_matrices
from mtmkl_suite.files import npz_bytes, write_bytes
from mtmkl_suite.metrics import Metric, Outcome

if TYPE_CHECKING:
    import pandas as pd

    from mtmkl.datasets.container import MultiTaskData
    from mtmkl_suite.config.models import Experiment, Method, MethodEntry
    from mtmkl_suite.data.splits import Split

COLUMNS = (
    "paper", "experiment", "dataset", "method", "n_tasks", "subset", "train_size",
    "repeat", "fold", "setting", "task", "metric", "value", "params", "at_grid_edge",
    "fit_seconds", "n_iter", "gap", "data_digest", "code_version", "train_unit",
)  # fmt: skip
"""Columns of a scores table, one row a metric value."""

ALL = "all"

_DIGEST_BYTES = hashlib.sha256().digest_size
_log = logging.getLogger(__name__)

_VALIDATION = "validation_"  # before the name of a metric on validation rows


@dataclass(frozen=True)
class FitJob:
    """One unit of the workflow: a method on a data set for some repeats."""

    experiment: str
    dataset: str
    method: str
    chunk: int
    repeats: tuple[int, ...]

    @property
    def place(self) -> str:
        """Name of the method's scores, and the beginning of that of its arrays."""
        return f"{self.experiment}/{self.dataset}/{self.method}"

    @property
    def stem(self) -> str:
        """Path of its results below ``fits/``, without an ending."""
        return f"{self.place}.{self.chunk}"


@dataclass(frozen=True)
class Job:
    """Everything that a fit job needs besides its data."""

    paper: str
    plan: FitJob
    experiment: "Experiment"
    entry: "MethodEntry"
    """The method as the experiment uses it,"""
    method: "Method"
    """its settings,"""
    method_class: type
    """and the estimator's class."""
    grid: list[Point]
    """Points to choose from, or to walk along in path mode."""
    metrics: Mapping[str, Metric]
    """Metrics by name."""
    seed: int
    """The root seed."""
    code_version: str
    """Fingerprint of the code behind the scores."""
    cache: Path
    """Folder of finished cells."""
    held: Mapping[str, Any]
    """Hyper-parameters that an earlier repeat has chosen for this one."""
    train_unit: str = ""
    """Unit of the train sizes, see :func:`~mtmkl_suite.data.protocols.train_unit`."""

    @property
    def columns(self) -> dict[str, str]:
        """Columns of a scores table that are alike in all rows of the job."""
        return {
            "paper": self.paper,
            "experiment": self.plan.experiment,
            "dataset": self.plan.dataset,
            "method": self.plan.method,
            "code_version": self.code_version,
            "train_unit": self.train_unit,
        }

    @property
    def selector(self) -> Selector:
        """The way to choose hyper-parameters, if any are chosen."""
        if getattr(self.method_class, "fits_on_test", False):
            return SELECTORS["on_test"]
        if self.experiment.mode == "path":
            return SELECTORS["path"]
        return resolve_selector(self.method.selection)

    def keeps_arrays(self, repeat: int, n_tasks: int) -> list[str]:
        """Return fitted attributes to keep of a cell, if it has the most tasks."""
        arrays = self.experiment.arrays
        if arrays is None or repeat not in arrays.repeats:
            return []
        is_largest = n_tasks == max(self.entry.n_tasks, default=n_tasks)
        return arrays.names if is_largest else []


def derived_seed(root: int, *key: str | int) -> int:
    """Return a 32-bit seed for a purpose, from the root seed and the purpose's key."""
    text = json.dumps(key)
    sequence = np.random.SeedSequence([root, zlib.crc32(text.encode())])
    return int(sequence.generate_state(1)[0])


def drawn_points(method: "Method", name: str, seed: int) -> list[Point]:
    """Return the points of a method's grid that are tried, in its order.

    A search draws some by the root seed and the method's id alone, without replacement;
    of two searches the smaller is part of the larger.
    """
    points = method.points
    if method.search is None or len(points) <= method.search.points:
        return points
    rng = np.random.default_rng(derived_seed(seed, "search", name))
    drawn = rng.permutation(len(points))[: method.search.points]
    return [points[k] for k in sorted(drawn)]


def _with_held(points: list[Point], held: Mapping[str, Any]) -> list[Point]:
    """Return the different points that are left with some parameters held."""
    if not held:
        return points
    found: list[Point] = []
    for point in points:
        changed = {name: held.get(name, value) for name, value in point.items()}
        if changed not in found:
            found.append(changed)
    return found


class MethodFailedError(Exception):
    """A method could not be fitted or scored; its cause is the exception it raised."""


@contextmanager
def naming(cell: str) -> Iterator[None]:
    """Raise whatever goes wrong inside as a failure of the method in this cell."""
    try:
        yield
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else repr(error)
        raise MethodFailedError(f"{cell}: {what}") from error


def run_job(
    job: Job,
    load_data: Callable[[int], "MultiTaskData"],
    splits: Mapping[tuple[int, int], "Split"],
    *,
    progress: Callable[[str], None] = lambda message: None,
) -> tuple["pd.DataFrame", dict[str, NDArray[Any]]]:
    """Run every cell of a job, taking finished ones from the cache."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    held = dict(job.held)
    for train_size, repeat in sorted(splits):
        if repeat not in job.plan.repeats:
            continue
        split = splits[train_size, repeat]
        loaded = fitted_inputs(load_data(repeat), split.train)
        # The digest is that of the data set, whatever the unit of its targets.
        digest, data = loaded.digest(), fitted_targets(loaded, split.train)
        for n_tasks in job.entry.n_tasks or (data.n_tasks,):
            cell = _Cell(
                job,
                data,
                digest,
                split,
                train_size,
                repeat,
                n_tasks,
                held,
                own_units=data is not loaded,
            )
            document, kept = cell.run()
            rows.extend(document)
            arrays |= kept
            progress(f"{job.plan.stem}: repeat {repeat}, {n_tasks} tasks")
        chosen = _chosen_params(rows, repeat)
        held |= {
            name: chosen[name] for name, at in job.entry.hold.items() if at == repeat
        }
    rows = [job.columns | row for row in rows]
    return pd.DataFrame(rows, columns=list(COLUMNS)), arrays


def _chosen_params(scores: Iterable[dict[str, Any]], repeat: int) -> dict[str, Any]:
    texts = [r["params"] for r in scores if r["repeat"] == repeat and r["task"] == ALL]
    return json.loads(texts[-1]) if texts and texts[-1] else {}


def held_params(entry: "MethodEntry", scores: "pd.DataFrame") -> dict[str, Any]:
    """Return what a method holds from the scores of the job that chose it."""
    held = {}
    for name, repeat in entry.hold.items():
        rows = scores[(scores["repeat"] == repeat) & (scores["task"] == ALL)]
        if rows.empty:
            raise ValueError(f"method {entry.method!r}: no scores of repeat {repeat}")
        held[name] = json.loads(rows["params"].iloc[0])[name]
    return held


@dataclass(frozen=True)
class _Cell:
    job: Job
    data: "MultiTaskData"
    digest: str
    split: "Split"
    train_size: int
    repeat: int
    n_tasks: int
    held: Mapping[str, Any]
    own_units: bool
    """True if targets are in units of their task."""

    def run(self) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
        n_available = len(self.split.task_order)
        if self.n_tasks > n_available:
            raise ValueError(
                f"{self.data.name} has {n_available} tasks: "
                f"n_tasks cannot be {self.n_tasks}"
            )
        compute = naming(self._name)(self._scores)
        return get_or_compute(self.job.cache, self._key("cell"), compute)

    @property
    def _name(self) -> str:
        size = f"{self.train_size} {self.job.train_unit}".strip()
        size = f"train size {size}, " if self.train_size else ""
        return (
            f"method {self.job.plan.method!r} on {self.job.plan.dataset} "
            f"(repeat {self.repeat}, {size}{self.n_tasks} tasks)"
        )

    def _key(self, purpose: str, **more: Any) -> str:
        method = self.job.method
        return content_key(
            purpose=purpose,
            data=self.digest,
            own_units=self.own_units,
            task_names=self.data.task_names,
            method=method.class_name,
            params=method.params,
            grid=self.job.grid,
            selection=method.selection,
            held=self.held,
            mode=self.job.experiment.mode,
            metrics=list(self.job.metrics),
            record_tasks=self.job.experiment.record_tasks,
            arrays=self.job.keeps_arrays(self.repeat, self.n_tasks),
            split=vars(self.split),
            along=self.job.entry.along,
            select_by=self.job.experiment.select_by,
            record_path=self.job.experiment.record_path,
            cell=[self.train_size, self.repeat, self.n_tasks],
            seed=self.job.seed,
            code=self.job.code_version,
            **more,
        )

    def _scores(self) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
        rows: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        order, size = self.split.task_order, self.n_tasks
        for subset in range(len(order) // size):
            part = self._part(np.sort(order[subset * size : (subset + 1) * size]))
            on_validation: list[dict[str, Any]] = []
            on_test: list[dict[str, Any]] = []
            for fitted in self.job.selector.select(part):
                if fitted.on_validation is not None:
                    scores = self._measured(fitted.on_validation, _VALIDATION)
                    on_validation.extend(self._table(fitted, scores, subset))
                if fitted.measured is not None:
                    scores = ((name, ALL, v) for name, v in fitted.measured.items())
                else:
                    outcome = outcome_of(fitted.estimator, part.test)
                    scores = self._measured(outcome)
                on_test.extend(self._table(fitted, scores, subset))
                if self.job.experiment.mode != "select":
                    continue
                for name in self.job.keeps_arrays(self.repeat, self.n_tasks):
                    if hasattr(fitted.estimator, name):
                        cell = (self.train_size, self.repeat, self.n_tasks, subset)
                        key = "|".join(map(str, (name, *cell)))
                        arrays[key] = np.asarray(getattr(fitted.estimator, name))
            rows += on_validation + on_test
        if not rows:
            raise ValueError(
                f"none of the metrics {', '.join(self.job.metrics)} applies to "
                f"{self.job.method.class_name}"
            )
        return rows, arrays

    def _part(self, tasks: IntArray) -> Part:
        job, train = self.job, self._rows(self.split.train, tasks)

        def cached(compute: Callable[[], NDArray[Any]], **key: Any) -> NDArray[Any]:
            # Kernels of matrices go into it by name; the matrices are in the digest.
            name = self._key("errors", tasks=tasks, **key)
            _, kept = get_or_compute(
                job.cache, name, lambda: (None, {"errors": compute()})
            )
            return kept["errors"]

        chosen_by = job.experiment.select_by or next(iter(job.metrics))
        return Part(
            experiment=job.experiment,
            method=job.method,
            along=job.entry.along,
            criterion=job.metrics[chosen_by],
            data=self.data,
            split=self.split,
            repeat=self.repeat,
            n_tasks=len(tasks),
            grid=with_matrices(_with_held(job.grid, self.held), train),
            train=train,
            fold=self.split.fold[np.isin(self.data.task[self.split.train], tasks)],
            test=self._rows(self.split.test, tasks),
            validation=lambda: self._rows(self.split.validation, tasks),
            estimator=partial(self._estimator, train),
            cached=cached,
        )

    def _rows(self, rows: IntArray, tasks: IntArray) -> "MultiTaskData":
        part = self.data.subset(rows[np.isin(self.data.task[rows], tasks)])
        return part.select_tasks(tasks) if len(tasks) < self.data.n_tasks else part

    def _estimator(self, data: "MultiTaskData") -> Any:
        method = self.job.method
        try:
            estimator = self.job.method_class(**with_matrices(method.params, data))
        except TypeError as error:
            raise TypeError(
                f"{error}; give it under 'params' of the method, or a default"
            ) from error
        if not hasattr(estimator, "get_params"):
            raise TypeError(
                f"{method.class_name} has no get_params: derive it from "
                "sklearn.base.BaseEstimator"
            )
        if "random_state" in estimator.get_params():
            seed = derived_seed(
                self.job.seed, "method", self.job.plan.method, self.repeat
            )
            estimator.set_params(random_state=seed)
        tell_tasks(estimator, data)
        return estimator

    def _measured(
        self, outcome: Outcome, prefix: str = ""
    ) -> Iterator[tuple[str, str, float]]:
        for measure in self.job.metrics.values():
            for metric, task, value in measure(outcome):
                yield prefix + metric, task, value

    def _table(
        self, fitted: Fitted, scores: Iterable[tuple[str, str, float]], subset: int
    ) -> Iterator[dict[str, Any]]:
        whole = {
            "params": as_json(fitted.params) if fitted.params else "",
            "at_grid_edge": fitted.at_grid_edge,
            "fit_seconds": fitted.seconds,
            "n_iter": getattr(fitted.estimator, "n_iter_", None),
            "gap": getattr(fitted.estimator, "duality_gap_", None),
        }
        where = {
            "n_tasks": self.n_tasks,
            "subset": subset,
            "train_size": self.train_size,
            "repeat": self.repeat,
            "fold": 0,
            "setting": fitted.setting,
            "data_digest": self.digest,
        }
        for metric, task, value in scores:
            row = {**where, "task": task, "metric": metric, "value": value}
            if task == ALL:
                yield row | whole
            elif self.job.experiment.record_tasks:
                yield row


def content_key(**parts: Any) -> str:
    """Return the hash of JSON-able parts; equal parts give equal keys."""
    return hashlib.sha256(as_json(parts).encode()).hexdigest()[:32]


def get_or_compute(
    folder: Path, key: str, compute: Callable[[], tuple[Any, Mapping[str, Any]]]
) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the entry of a key, computed and stored if it is not there, or damaged."""
    path = folder / key[:2] / f"{key}.npz"
    content = _intact_content(path)
    if content is None:
        document, arrays = compute()
        text = np.array(as_json(document))
        content = npz_bytes({**arrays, "document": text})
        # Without fsync, of which there would be thousands: the digest tells.
        write_bytes(path, content + hashlib.sha256(content).digest(), sync=False)
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    return json.loads(str(arrays.pop("document"))), arrays


def _intact_content(path: Path) -> bytes | None:
    """Return what is stored in an entry; None if there is none, or no longer."""
    try:
        stored = path.read_bytes()
        content, digest = stored[:-_DIGEST_BYTES], stored[-_DIGEST_BYTES:]
        if hashlib.sha256(content).digest() == digest:
            return content
        problem = "its digest is another"
    except FileNotFoundError:
        return None
    except OSError as error:
        problem = str(error)
    _log.warning("%s is damaged (%s): computed again", path, problem)
    path.unlink(missing_ok=True)
    return None
