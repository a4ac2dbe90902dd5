"""Support vector machines, one a task."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mtmkl.kernels.terms import KernelList, Normalization
from mtmkl.methods._switched import Path, SwitchedMachine
from mtmkl.methods.base_classifier import MultiTaskClassifier

if TYPE_CHECKING:
    from mtmkl.solvers.med import BlockTasks

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class IndependentSVM(MultiTaskClassifier, SwitchedMachine):
    r"""Fit a support vector machine to each task by itself, on a sum of kernels.

    Minimises for every task ½ Σ_d ||θ_d||² + C Σ hinge over the models θ_d of the
    kernels and an offset: :class:`MEDKernelSelection` with α = 0.

    Parameters
    ----------
    C : float
        Cost of slack, positive; the same in every task.
    kernels : list of kernels, mappings or "features"
        Kernels of :mod:`mtmkl.kernels.base` or their specifications; the entry
        "features" stands for one kernel a feature, that is for the linear kernel.
    normalize : {"trace", None}
        "trace" divides each kernel by the mean of k(x, x) over the training examples.
    standardize : bool
        Whether inputs are brought to mean 0 and standard deviation 1 over the training
        examples of all tasks together, before the kernels.
    tol : float
        Relative duality gap to reach.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        λ_i y_i of the training examples.
    coef_ : ndarray of shape (d, T)
        Weights of the inputs, if ``kernels`` is "features".
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_, duality_gap_ : float
        Summed over the tasks.
    n_iter_ : int
        1: a pass over the tasks.

    Notes
    -----
    A task with examples of one class gets the constant decision ±1.
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernels: KernelList = "features",
        normalize: Normalization = None,
        standardize: bool = False,
        tol: float = 1e-6,
    ) -> None:
        self.C = C
        self.kernels = kernels
        self.normalize = normalize
        self.standardize = standardize
        self.tol = tol

    def _path(self, tasks: "BlockTasks") -> Path:
        from mtmkl.solvers.med import MedPath

        return MedPath(tasks, tol=self.tol)

    def _log_alpha(self, path: Path) -> float:
        return -np.inf

    def _decide(self, X: FloatArray, task: IntArray) -> FloatArray:
        return self._scores(X, task)
