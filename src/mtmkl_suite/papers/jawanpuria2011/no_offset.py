"""The kernel machines of Jawanpuria and Nath (2011) without offsets: a reading."""

from collections.abc import Callable
from dataclasses import replace

from mtmkl.methods import MKMTFLRegressor, MKMTSFLRegressor, SingleTaskMKLRegressor
from mtmkl.solvers.solution import Solution
from mtmkl.solvers.weights.mixed_schatten import SchattenProblem


class MKLWithoutOffset(SingleTaskMKLRegressor):
    """Multiple kernel learning, one task at a time, of models without offsets."""

    fit_intercept = False


class MKMTFLWithoutOffset(MKMTFLRegressor):
    """MK-MTFL of models without offsets."""

    fit_intercept = False


class MKMTSFLWithoutOffset(MKMTSFLRegressor):
    """MK-MTSFL of models without offsets."""

    def _path(self, problem: SchattenProblem) -> Callable[[float], Solution]:
        tasks = replace(problem.tasks, fit_intercept=False)
        return super()._path(replace(problem, tasks=tasks))
