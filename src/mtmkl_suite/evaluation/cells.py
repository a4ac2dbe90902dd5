"""The loop over the cells of a fit job: (repeat, train size, number of tasks)."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.typing import IntArray
from mtmkl_suite.data.scaling import fitted_inputs, fitted_targets
from mtmkl_suite.evaluation.cache import content_key, get_or_compute
from mtmkl_suite.evaluation.seeds import derived_seed
from mtmkl_suite.evaluation.selectors import Fitted, Part, outcome_of, selector_of
from mtmkl_suite.evaluation.supplied import as_json, tell_tasks, with_matrices
from mtmkl_suite.metrics import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from mtmkl.datasets.container import MultiTaskData
    from mtmkl_suite.data.splits import Split
    from mtmkl_suite.evaluation.jobs import Job, MethodSpec

COLUMNS = (
    "paper", "experiment", "dataset", "method", "n_tasks", "subset", "train_size",
    "repeat", "fold", "setting", "task", "metric", "value", "params", "at_grid_edge",
    "fit_seconds", "n_iter", "gap", "data_digest", "code_version", "train_unit",
)  # fmt: skip
"""Columns of a scores table, one row a metric value."""

ALL = "all"

_SPLIT_ARRAYS = ("train", "validation", "test", "fold", "task_order")
_VALIDATION = "validation_"  # before the name of a metric on validation rows


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
    job: "Job",
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
        for n_tasks in job.spec.n_tasks or (data.n_tasks,):
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


def _chosen_params(scores: Iterable[dict[str, Any]], repeat: int) -> dict[str, Any]:
    texts = [r["params"] for r in scores if r["repeat"] == repeat and r["task"] == ALL]
    return json.loads(texts[-1]) if texts and texts[-1] else {}


def held_params(spec: "MethodSpec", scores: "pd.DataFrame") -> dict[str, Any]:
    """Return what a method holds from the scores of the job that chose it."""
    held = {}
    for name, repeat in spec.hold.items():
        rows = scores[(scores["repeat"] == repeat) & (scores["task"] == ALL)]
        if rows.empty:
            raise ValueError(f"method {spec.id!r}: no scores of repeat {repeat}")
        held[name] = json.loads(rows["params"].iloc[0])[name]
    return held


@dataclass(frozen=True)
class _Cell:
    job: "Job"
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
            own_units=self.own_units,
            task_names=self.data.task_names,
            method=spec.class_name,
            params=spec.params,
            grid=spec.grid,
            selection=spec.selection,
            held=self.held,
            mode=self.job.experiment.mode,
            metrics=list(self.job.metrics),
            record_tasks=self.job.experiment.record_tasks,
            arrays=self.job.keeps_arrays(self.repeat, self.n_tasks),
            split=[getattr(split, name) for name in _SPLIT_ARRAYS],
            along=spec.along,
            select_by=self.job.experiment.select_by,
            record_path=self.job.experiment.record_path,
            cell=[self.train_size, self.repeat, self.n_tasks],
            seed=self.job.seed,
            code=self.job.code_version,
            **more,
        )

    def _compute(self) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
        with naming(self._name):
            return self._scores()

    def _scores(self) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
        rows: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        selector = selector_of(self.job)
        for subset, tasks in enumerate(self._task_subsets()):
            part = self._part(tasks)
            on_validation: list[dict[str, Any]] = []
            on_test: list[dict[str, Any]] = []
            for fitted in selector.select(part):
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
                f"{self.job.spec.class_name}"
            )
        return rows, arrays

    def _part(self, tasks: IntArray) -> Part:
        train, fold = self._rows(self.split.train, tasks, self.split.fold)

        def cached(compute: Callable[[], NDArray[Any]], **key: Any) -> NDArray[Any]:
            # Kernels of matrices go into it by name; the matrices are in the digest.
            name = self._key("errors", tasks=tasks, **json.loads(as_json(key)))
            return get_or_compute(
                self.job.cache, name, lambda: (None, {"errors": compute()})
            )[1]["errors"]

        return Part(
            job=self.job,
            data=self.data,
            split=self.split,
            repeat=self.repeat,
            n_tasks=len(tasks),
            grid=with_matrices(self.job.spec.grid_points(self.held) or [{}], train),
            train=train,
            fold=fold,
            test=self._rows(self.split.test, tasks)[0],
            validation=lambda: self._rows(self.split.validation, tasks)[0],
            estimator=partial(self._estimator, train),
            cached=cached,
        )

    def _task_subsets(self) -> list[IntArray]:
        order = self.split.task_order
        count = len(order) // self.n_tasks
        return [
            np.sort(order[k * self.n_tasks : (k + 1) * self.n_tasks])
            for k in range(count)
        ]

    def _rows(
        self,
        index: IntArray,
        tasks: IntArray,
        along: IntArray | None = None,
    ) -> tuple["MultiTaskData", IntArray]:
        keep = np.isin(self.data.task[index], tasks)
        part = self.data.subset(index[keep])
        if len(tasks) < self.data.n_tasks:
            part = part.select_tasks(tasks)
        return part, (index if along is None else along)[keep]

    def _estimator(self, data: "MultiTaskData") -> Any:
        spec = self.job.spec
        try:
            estimator = self.job.method_class(**with_matrices(spec.params, data))
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
        for metric, task, value in scores:
            row = {**where, "task": task, "metric": metric, "value": value}
            if task == ALL:
                yield row | whole
            elif self.job.experiment.record_tasks:
                yield row


def _dump(params: Mapping[str, Any]) -> str:
    plain = {
        k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in params.items()
    }
    return as_json(plain) if plain else ""
