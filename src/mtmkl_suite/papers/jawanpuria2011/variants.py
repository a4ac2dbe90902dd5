"""The kernel machines of Jawanpuria and Nath (2011) as other readings have them.

Without intercepts, with kernels as they are, or both: null in a reading leaves a
parameter out, and these have another default.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from mtmkl.kernels.terms import Normalization
from mtmkl.methods import MKMTFLRegressor, MKMTSFLRegressor, SingleTaskMKLRegressor
from mtmkl.solvers.solution import Solution
from mtmkl.solvers.weights.mixed_schatten import SchattenProblem


class MKLWithoutOffset(SingleTaskMKLRegressor):
    """Multiple kernel learning, one task at a time, of models without intercepts."""

    fit_intercept = False


class MKMTFLWithoutOffset(MKMTFLRegressor):
    """MK-MTFL of models without intercepts."""

    fit_intercept = False


class MKMTSFLWithoutOffset(MKMTSFLRegressor):
    """MK-MTSFL of models without intercepts."""

    def _path(self, problem: SchattenProblem) -> Callable[[float], Solution]:
        tasks = replace(problem.tasks, fit_intercept=False)
        return super()._path(replace(problem, tasks=tasks))


@dataclass(eq=False, repr=False)
class MKLUnscaled(SingleTaskMKLRegressor):
    """Multiple kernel learning, one task at a time, of kernels as they are."""

    normalize: Normalization = None


@dataclass(eq=False, repr=False)
class MKMTFLUnscaled(MKMTFLRegressor):
    """MK-MTFL of kernels as they are."""

    normalize: Normalization = None


@dataclass(eq=False, repr=False)
class MKMTSFLUnscaled(MKMTSFLRegressor):
    """MK-MTSFL of kernels as they are."""

    normalize: Normalization = None


class MKLPlain(MKLWithoutOffset, MKLUnscaled):
    """Multiple kernel learning without intercepts, of kernels as they are."""


class MKMTFLPlain(MKMTFLWithoutOffset, MKMTFLUnscaled):
    """MK-MTFL without intercepts, of kernels as they are."""


class MKMTSFLPlain(MKMTSFLWithoutOffset, MKMTSFLUnscaled):
    """MK-MTSFL without intercepts, of kernels as they are."""
