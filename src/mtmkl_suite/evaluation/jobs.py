"""Fit jobs: a configured method on a data set, for some repeats."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mtmkl_suite.evaluation.seeds import derived_seed

if TYPE_CHECKING:
    from mtmkl_suite.config.models import Experiment
    from mtmkl_suite.metrics import Metric


@dataclass(frozen=True)
class MethodSpec:
    """One configured method of an experiment."""

    id: str
    """Key in the configuration."""
    class_name: str
    """Registered name or ``package.module:Class``."""
    params: Mapping[str, Any]
    """Fixed parameters of the estimator."""
    grid: Mapping[str, list[Any]] | Sequence[Mapping[str, Any]]
    """Values to choose from, or to walk along in path mode: those of each parameter,
    whose full product is meant, or the points themselves."""
    selection: str
    """How hyper-parameters are chosen: "none", "common", "per_task", "validation" or
    ``package.module:name``, see :mod:`mtmkl_suite.evaluation.selectors`."""
    n_tasks: tuple[int, ...] = ()
    """Numbers of tasks learned together; empty means all."""
    hold: Mapping[str, int] = field(default_factory=dict)
    """Parameters that are chosen once in the given repeat and then held."""
    along: tuple[str, ...] = ()
    """With selection "validation": parameters that are walked along, the others being
    chosen for each of their values."""
    search: int | None = None
    """Points of the grid that are tried at most; see :meth:`with_design`."""

    def grid_points(
        self, fixed: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return the points of the grid, with some parameters held at one value."""
        held = fixed or {}
        if not isinstance(self.grid, Mapping):
            points = []
            for point in self.grid:
                changed = {k: held.get(k, v) for k, v in point.items()}
                if changed not in points:
                    points.append(changed)
            return points
        axes = {k: [held[k]] if k in held else v for k, v in self.grid.items()}
        return [
            dict(zip(axes, values, strict=True))
            for values in itertools.product(*axes.values())
        ]

    def with_design(self, seed: int) -> "MethodSpec":
        """Return the method with the points of its search in place of the grid.

        Where the grid has more than ``search`` points, so many are drawn from it
        without replacement, by the root seed and the method's id alone, and kept in
        the order of the grid; of two searches the smaller is part of the larger.
        """
        points = self.grid_points()
        if self.search is None or len(points) <= self.search:
            return self
        rng = np.random.default_rng(derived_seed(seed, "search", self.id))
        drawn = rng.permutation(len(points))[: self.search]
        return replace(self, grid=tuple(points[k] for k in sorted(drawn)))


@dataclass(frozen=True)
class FitJob:
    """One unit of the workflow: a method on a data set for some repeats."""

    experiment: str
    dataset: str
    method: str
    chunk: int
    repeats: tuple[int, ...]

    @property
    def stem(self) -> str:
        """Path of its results below ``fits/``, without an ending."""
        return f"{self.experiment}/{self.dataset}/{self.method}.{self.chunk}"


@dataclass(frozen=True)
class Job:
    """Everything that a fit job needs besides its data."""

    paper: str
    plan: FitJob
    spec: MethodSpec
    method_class: type
    """The estimator's class."""
    experiment: "Experiment"
    metrics: Mapping[str, "Metric"]
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

    def keeps_arrays(self, repeat: int, n_tasks: int) -> list[str]:
        """Return the names of the fitted attributes to keep for a cell.

        Of several numbers of tasks, those of the largest are kept.
        """
        arrays = self.experiment.arrays
        if arrays is None or repeat not in arrays.repeats:
            return []
        is_largest = n_tasks == max(self.spec.n_tasks, default=n_tasks)
        return arrays.names if is_largest else []
