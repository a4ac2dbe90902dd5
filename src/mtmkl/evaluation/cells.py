"""The loop over the cells of a fit job: (repeat, train size, number of tasks)."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.evaluation.cache import content_key, get_or_compute
from mtmkl.evaluation.failures import naming
from mtmkl.evaluation.metrics.outcome import Outcome
from mtmkl.evaluation.predictions import predictions
from mtmkl.evaluation.seeds import derived_seed
from mtmkl.evaluation.selection import (
    choose,
    cross_validation_errors,
    fit_path,
    held_out_fits,
)

if TYPE_CHECKING:
    import pandas as pd

    from mtmkl.datasets.container import MultiTaskData
    from mtmkl.datasets.splits import Split
    from mtmkl.evaluation.metrics.outcome import Metric
    from mtmkl.evaluation.plan import FitJob, MethodSpec

COLUMNS = (
    "paper", "experiment", "dataset", "method", "n_tasks", "subset", "train_size",
    "repeat", "fold", "setting", "task", "metric", "value", "params", "at_grid_edge",
    "fit_seconds", "n_iter", "gap", "data_digest", "code_version", "train_unit",
)  # fmt: skip
"""Columns of a scores table, one row a metric value."""

ALL = "all"

_SPLIT_ARRAYS = ("train", "validation", "test", "fold", "task_order")
_VALIDATION = "validation_"  # before the name of a metric on validation rows


@dataclass(frozen=True)
class Job:
    """Everything that a fit job needs besides its data.

    Attributes
    ----------
    paper : str
    plan : FitJob
    spec : MethodSpec
    method_class : type
        The estimator's class.
    experiment : mapping
        The experiment's configuration.
    metrics : mapping of str to Metric
        What to measure, by name.
    seed : int
        The root seed.
    code_version : str
        Fingerprint of the code behind the scores.
    cache : Path
        Folder of finished cells.
    held : mapping
        Hyper-parameters that an earlier repeat has chosen for this one.
    train_unit : str
        What the train sizes count, from :func:`mtmkl.datasets.splits.train_unit`.
    """

    paper: str
    plan: "FitJob"
    spec: "MethodSpec"
    method_class: type
    experiment: Mapping[str, Any]
    metrics: Mapping[str, "Metric"]
    seed: int
    code_version: str
    cache: Path
    held: Mapping[str, Any]
    train_unit: str = ""

    def keeps_arrays(self, repeat: int, n_tasks: int) -> list[str]:
        """Return the names of the fitted attributes to keep for a cell."""
        arrays = self.experiment.get("arrays", {})
        if repeat not in arrays.get("repeats", []):
            return []
        if n_tasks not in arrays.get("n_tasks", [n_tasks]):
            return []
        return list(arrays["names"])


def run_job(
    job: Job,
    load_data: Callable[[int], "MultiTaskData"],
    splits: Mapping[tuple[int, int], "Split"],
    *,
    progress: Callable[[str], None] = lambda message: None,
) -> tuple["pd.DataFrame", dict[str, NDArray[Any]]]:
    """Run every cell of a job, taking finished ones from the cache.

    Parameters
    ----------
    job : Job
    load_data : callable
        Repeat -> data; a real set is the same in every repeat.
    splits : mapping of (train size, repeat) to Split
    progress : callable
        Told a line after each cell.

    Returns
    -------
    scores : DataFrame
        With :data:`COLUMNS`.
    arrays : dict of str to ndarray
        Kept attributes, by ``name|train size|repeat|n_tasks|subset``.

    Raises
    ------
    mtmkl.evaluation.failures.MethodFailedError
        If the method raises, or its predictions cannot be scored; cells finished
        before stay in the cache, the failed one is not kept.
    ValueError
        If a cell has more tasks than the data.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    held = dict(job.held)
    for train_size, repeat in sorted(splits):
        if repeat not in job.plan.repeats:
            continue
        data = load_data(repeat)
        split = splits[train_size, repeat]
        digest = data.digest()
        for n_tasks in job.spec.n_tasks or (data.n_tasks,):
            cell = _Cell(job, data, digest, split, train_size, repeat, n_tasks, held)
            document, kept = cell.run()
            rows.extend(document)
            arrays |= kept
            progress(f"{job.plan.stem}: repeat {repeat}, {n_tasks} tasks")
        chosen = _chosen_params(rows, repeat)
        held |= {
            name: chosen[name] for name, at in job.spec.hold.items() if at == repeat
        }
    common = {
        "paper": job.paper,
        "experiment": job.plan.experiment,
        "dataset": job.plan.dataset,
        "method": job.plan.method,
        "code_version": job.code_version,
        "train_unit": job.train_unit,
    }
    frame = pd.DataFrame([common | row for row in rows], columns=list(COLUMNS))
    return frame, arrays


def _chosen_params(rows: Sequence[Mapping[str, Any]], repeat: int) -> dict[str, Any]:
    texts = [r["params"] for r in rows if r["repeat"] == repeat and r["task"] == ALL]
    return json.loads(texts[-1]) if texts and texts[-1] else {}


def held_params(spec: "MethodSpec", scores: "pd.DataFrame") -> dict[str, Any]:
    """Return what a method holds from the scores of the job that chose it.

    Raises
    ------
    ValueError
        If the scores lack the repeat that chooses.
    """
    held = {}
    for name, repeat in spec.hold.items():
        rows = scores[(scores["repeat"] == repeat) & (scores["task"] == ALL)]
        if rows.empty:
            raise ValueError(f"method {spec.id!r}: no scores of repeat {repeat}")
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

    def run(self) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
        n_available = len(self.split.task_order)
        if self.n_tasks > n_available:
            raise ValueError(
                f"{self.data.name} has {n_available} tasks: "
                f"n_tasks cannot be {self.n_tasks}"
            )
        return get_or_compute(self.job.cache, self._key("cell"), self._compute)

    @property
    def _name(self) -> str:
        size = f"{self.train_size} {self.job.train_unit}".strip()
        size = f"train size {size}, " if self.train_size else ""
        return (
            f"method {self.job.spec.id!r} on {self.job.plan.dataset} "
            f"(repeat {self.repeat}, {size}{self.n_tasks} tasks)"
        )

    def _key(self, purpose: str, **more: Any) -> str:
        spec, split = self.job.spec, self.split
        return content_key(
            purpose=purpose,
            data=self.digest,
            method=spec.class_name,
            params=spec.params,
            grid=spec.grid,
            selection=spec.selection,
            held=self.held,
            mode=self._mode,
            metrics=list(self.job.metrics),
            record_tasks=self._record_tasks,
            arrays=self.job.keeps_arrays(self.repeat, self.n_tasks),
            split=[getattr(split, name) for name in _SPLIT_ARRAYS],
            along=spec.along,
            select_by=self.job.experiment.get("select_by"),
            record_path=self._record_path,
            cell=[self.train_size, self.repeat, self.n_tasks],
            seed=self.job.seed,
            code=self.job.code_version,
            **more,
        )

    @property
    def _mode(self) -> str:
        return self.job.experiment.get("mode", "select")

    @property
    def _record_tasks(self) -> bool:
        return bool(self.job.experiment.get("record_tasks", False))

    @property
    def _criterion(self) -> "Metric":
        """What a choice on validation rows, or by ``select_by``, goes by."""
        first = next(iter(self.job.metrics))
        return self.job.metrics[self.job.experiment.get("select_by", first)]

    @property
    def _record_path(self) -> bool:
        return bool(self.job.experiment.get("record_path", False))

    def _compute(self) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
        with naming(self._name):
            return self._scores()

    def _scores(self) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
        rows: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        for subset, tasks in enumerate(self._task_subsets()):
            train, fold = self._rows(self.split.train, tasks, self.split.fold)
            test, _ = self._rows(self.split.test, tasks)
            fits: Iterable[_Fitted]
            if getattr(self.job.method_class, "fits_on_test", False):
                fits = self._path(test)
            elif self._mode == "path":
                fits = self._path(train)
            elif self.job.spec.selection == "validation":
                validation, _ = self._rows(self.split.validation, tasks)
                fits = self._select_on_validation(train, validation)
                # All on validation, then all on test: a path keeps the kernel values
                # of the last inputs.
                fits = list(fits)
                for fitted in fits:
                    outcome = fitted.on_validation
                    rows.extend(self._score(fitted, outcome, subset, _VALIDATION))
            else:
                fits = self._select(train, fold, tasks)
            for fitted in fits:
                outcome = _outcome(fitted.estimator, test)
                rows.extend(self._score(fitted, outcome, subset))
                for name in self.job.keeps_arrays(self.repeat, self.n_tasks):
                    if self._mode == "select" and hasattr(fitted.estimator, name):
                        cell = (self.train_size, self.repeat, self.n_tasks, subset)
                        key = "|".join(map(str, (name, *cell)))
                        arrays[key] = np.asarray(getattr(fitted.estimator, name))
        if not rows:
            raise ValueError(
                f"none of the metrics {', '.join(self.job.metrics)} applies to "
                f"{self.job.spec.class_name}"
            )
        return rows, arrays

    def _task_subsets(self) -> list[NDArray[np.intp]]:
        order = self.split.task_order
        count = len(order) // self.n_tasks
        return [
            np.sort(order[k * self.n_tasks : (k + 1) * self.n_tasks])
            for k in range(count)
        ]

    def _rows(
        self,
        index: NDArray[np.intp],
        tasks: NDArray[np.intp],
        along: NDArray[np.intp] | None = None,
    ) -> tuple["MultiTaskData", NDArray[np.intp]]:
        keep = np.isin(self.data.task[index], tasks)
        part = self.data.subset(index[keep])
        if len(tasks) < self.data.n_tasks:
            part = part.select_tasks(tasks)
        return part, (index if along is None else along)[keep]

    def _estimator(self) -> Any:
        spec = self.job.spec
        try:
            estimator = self.job.method_class(**spec.params)
        except TypeError as error:
            raise TypeError(
                f"{error}; give it under 'params' of the method, or a default"
            ) from error
        if not hasattr(estimator, "get_params"):
            raise TypeError(
                f"{spec.class_name} has no get_params: derive it from "
                "sklearn.base.BaseEstimator"
            )
        if "random_state" in estimator.get_params():
            seed = derived_seed(self.job.seed, "method", spec.id, self.repeat)
            estimator.set_params(random_state=seed)
        return estimator

    def _path(self, train: "MultiTaskData") -> Iterator["_Fitted"]:
        grid = self.job.spec.grid_points(self.held) or [{}]
        start = time.perf_counter()
        path = fit_path(self._estimator(), train.X, train.y, train.task, grid)
        for point, estimator in zip(grid, path, strict=True):
            seconds = time.perf_counter() - start
            setting = json.dumps(point, sort_keys=True) if point else ""
            yield _Fitted(estimator, {}, None, setting, seconds)
            start = time.perf_counter()

    def _select(
        self, train: "MultiTaskData", fold: NDArray[np.intp], tasks: NDArray[np.intp]
    ) -> Iterator["_Fitted"]:
        spec = self.job.spec
        start = time.perf_counter()
        estimator = self._estimator()
        choice = None
        if spec.selection != "none":
            groups = _groups(spec.grid_points(self.held))
            errors = np.vstack(
                [
                    self._errors(estimator, train, fold, tasks, group, len(groups) == 1)
                    for group in groups
                ]
            )
            grid = [point for group in groups for point in group]
            choice = choose(errors, grid, per_task=spec.selection == "per_task")
            estimator.set_params(**choice.params)
        estimator.fit(train.X, train.y, task=train.task)
        seconds = time.perf_counter() - start
        params = choice.params if choice else {}
        yield _Fitted(
            estimator, params, choice.at_grid_edge if choice else None, "", seconds
        )

    def _select_on_validation(
        self, train: "MultiTaskData", validation: "MultiTaskData"
    ) -> Iterator["_Fitted"]:
        """Yield the points of the path if they are recorded, then what is chosen."""
        along = self.job.spec.along
        grid = self.job.spec.grid_points(self.held) or [{}]
        path = [
            replace(fitted, on_validation=_outcome(fitted.estimator, validation))
            for fitted in self._path(train)
        ]
        losses = [self._criterion.loss(fitted.on_validation) for fitted in path]
        if not np.isfinite(losses).all():
            raise ValueError(
                f"metric {self._criterion.name!r} has no value on the validation rows"
                "; choose by another with select_by"
            )
        errors = np.array(losses)[:, np.newaxis]
        if self._record_path:
            yield from path
        seconds = sum(fitted.seconds for fitted in path)
        groups: dict[str, list[int]] = {}
        for k, point in enumerate(grid):
            fixed = {name: point[name] for name in along}
            setting = json.dumps(fixed, sort_keys=True) if fixed else ""
            groups.setdefault(setting, []).append(k)
        for setting, members in groups.items():
            rest = [
                {name: v for name, v in grid[k].items() if name not in along}
                for k in members
            ]
            choice = choose(errors[members], rest, per_task=False)
            yield replace(
                path[members[rest.index(choice.params)]],
                params=choice.params,
                at_grid_edge=choice.at_grid_edge,
                setting=setting,
                seconds=seconds,
            )

    def _errors(
        self,
        estimator: Any,
        train: "MultiTaskData",
        fold: NDArray[np.intp],
        tasks: NDArray[np.intp],
        group: list[dict[str, Any]],
        is_whole: bool,
    ) -> NDArray[np.float64]:
        def compute() -> tuple[Any, dict[str, NDArray[np.float64]]]:
            if "select_by" in self.job.experiment:
                errors = self._held_out_losses(estimator, train, fold, group)
            else:
                errors = cross_validation_errors(
                    estimator, train.X, train.y, train.task, fold, group, len(tasks)
                )
            return None, {"errors": errors}

        if is_whole:
            return compute()[1]["errors"]
        key = self._key("errors", group=group, tasks=tasks)
        return get_or_compute(self.job.cache, key, compute)[1]["errors"]

    def _held_out_losses(
        self,
        estimator: Any,
        train: "MultiTaskData",
        fold: NDArray[np.intp],
        group: list[dict[str, Any]],
    ) -> NDArray[np.float64]:
        """Return the mean over folds of the criterion's loss, shape (n_points, 1).

        A fold in which the criterion has no value (an area under a curve where all
        labels are the same) has none for any point, and is left out.
        """
        by_fold: list[list[float]] = [[] for _ in group]
        fits = held_out_fits(estimator, train.X, train.y, train.task, fold, group)
        for point, held, fitted in fits:
            if not held.any():
                continue
            rows = train.subset(held)
            present = np.unique(rows.task)
            outcome = _outcome(fitted, rows)
            outcome = replace(
                outcome,
                task=np.searchsorted(present, rows.task),
                task_names=tuple(rows.task_names[t] for t in present),
            )
            by_fold[point].append(self._criterion.loss(outcome))
        losses = np.array(by_fold)
        losses = losses[:, np.isfinite(losses).all(axis=0)]
        if not losses.size:
            raise ValueError(
                f"metric {self._criterion.name!r} has no value on the held-out rows of "
                "any fold; choose by another with select_by, or take fewer folds"
            )
        mean: NDArray[np.float64] = losses.mean(axis=1, keepdims=True)
        return mean

    def _score(
        self,
        fitted: "_Fitted",
        outcome: Outcome,
        subset: int,
        prefix: str = "",
    ) -> Iterator[dict[str, Any]]:
        whole = {
            "params": _dump(fitted.params),
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
        for measure in self.job.metrics.values():
            for metric, task, value in measure(outcome):
                row = {
                    **where,
                    "task": task,
                    "metric": prefix + metric,
                    "value": value,
                }
                if task == ALL:
                    yield row | whole
                elif self._record_tasks:
                    yield row


@dataclass(frozen=True)
class _Fitted:
    estimator: Any
    params: Mapping[str, Any]
    at_grid_edge: float | None
    setting: str
    seconds: float
    on_validation: Any = None


def _outcome(estimator: Any, data: "MultiTaskData") -> Outcome:
    score = None
    if hasattr(estimator, "decision_function"):
        score = predictions(estimator, data.X, data.task, "decision_function")
        prediction = np.where(score > 0, 1.0, -1.0)
    else:
        prediction = predictions(estimator, data.X, data.task)
    return Outcome(
        y=data.y,
        prediction=prediction,
        task=data.task,
        task_names=data.task_names,
        estimator=estimator,
        truth=data.truth,
        score=score,
    )


def _groups(grid: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Gather the points that share their structured parameters (kernels): a path."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for point in grid:
        fixed = {k: v for k, v in point.items() if isinstance(v, Mapping | list | str)}
        groups.setdefault(json.dumps(fixed, sort_keys=True), []).append(point)
    return list(groups.values())


def _dump(params: Mapping[str, Any]) -> str:
    plain = {
        k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in params.items()
    }
    return json.dumps(plain, sort_keys=True) if plain else ""
