"""Support vector machines, one per task."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mtmkl.kernels.terms import KernelList, Normalization, check_kernels
from mtmkl.methods._base.classifier import MultiTaskClassifier
from mtmkl.methods._base.estimator import (
    CHECK_KERNELS,
    check_choice,
    check_flag,
    check_positive,
)
from mtmkl.methods._base.kernel_machine import KernelMachine, TubeRegression
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from mtmkl.kernels.gram import TrainingSet
    from mtmkl.solvers.svm.sum_kernel import SumKernelPath


class IndependentMachine(KernelMachine):
    """Base of support vector machines of single tasks on a sum of kernels.

    A subclass has the parameter ``fit_intercept``, too.
    """

    fit_intercept: bool

    @classmethod
    def check_settings(cls) -> dict[str, dict[str, Any]]:
        """Return small settings for the checks that every method passes."""
        return {"": {"kernels": CHECK_KERNELS}}

    def _tube(self) -> float | None:
        """Return the ε of regression, None for classification."""
        return None

    def _check_params(self) -> None:
        check_positive("C", self.C)
        check_kernels(self.kernels)
        check_choice("normalize", self.normalize, ("trace", None))
        check_flag("standardize", self.standardize)
        check_flag("fit_intercept", self.fit_intercept)
        check_positive("tol", self.tol)

    def _position(self) -> float:
        return self.C

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray, *, n_points: int
    ) -> "tuple[TrainingSet, SumKernelPath]":
        from mtmkl.solvers.svm.sum_kernel import SumKernelPath
        from mtmkl.solvers.svm.task_duals import DualProblem

        training = self._training_set(X, task, n_points=n_points)
        problem = DualProblem.of(
            y[training.order],
            training.blocks(),
            epsilon=self._tube(),
            fit_intercept=self.fit_intercept,
        )
        return training, SumKernelPath(problem, tol=self.tol)

    def _follow(
        self, prepared: "tuple[TrainingSet, SumKernelPath]", previous: None
    ) -> None:
        training, path = prepared
        ones = np.ones(training.terms.n_terms)
        self._keep_machine(training, ones, path.solve(self._cost()))

    def _predict(self, X: FloatArray, task: IntArray) -> FloatArray:
        return self._scores(X, task)


class IndependentSVM(MultiTaskClassifier, IndependentMachine):
    r"""Fit a support vector machine to each task on its own, on a sum of kernels.

    Minimises for every task ½ Σ_d ||θ_d||² + C Σ hinge over the models θ_d of the
    kernels and an offset.

    Parameters
    ----------
    C : float
        Cost of slack, positive; the same in every task.
    kernels : list of kernels, mappings or "features"
        Kernels of :mod:`mtmkl.kernels.base` or their specifications; the entry
        "features" stands for one kernel per feature, that is for the linear kernel.
    normalize : {"trace", None}
        "trace" divides each kernel by the mean of k(x, x) over the training examples.
    standardize : bool
        Whether inputs are brought to mean 0 and standard deviation 1 over the training
        examples of all tasks together, before the kernels.
    fit_intercept : bool
        Whether there are offsets.
    tol : float
        Relative duality gap to reach.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        α_i y_i of the training examples.
    coef_ : ndarray of shape (d, T)
        Weights of the inputs, if ``kernels`` is "features".
    intercept_ : ndarray of shape (T,)
        The offsets; zeros without ``fit_intercept``, but for what standardisation
        moves into them.
    objective_, dual_objective_, duality_gap_ : float
        Summed over the tasks.
    n_iter_ : int
        1: one pass over the tasks.

    Notes
    -----
    With offsets, a task with examples of one class gets the constant decision ±1.
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernels: KernelList = "features",
        normalize: Normalization = None,
        standardize: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-6,
    ) -> None:
        self.C = C
        self.kernels = kernels
        self.normalize = normalize
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.tol = tol

    def _decide(self, X: FloatArray, task: IntArray) -> FloatArray:
        return self._scores(X, task)


class IndependentSVR(TubeRegression, IndependentMachine):
    r"""Fit support vector regression to each task on its own, on a sum of kernels.

    Minimises for every task ½ Σ_d ||θ_d||² + C Σ max(|r| − ε, 0) over the models θ_d of
    the kernels and an offset.

    Parameters
    ----------
    C : float
        Weight of the losses, positive; the same in every task.
    epsilon : float
        Half the width of the tube, at least 0, in units of the target.
    standardize_target : bool
        Whether C and ε are for targets of standard deviation 1 over the training
        examples of all tasks together.
    kernels : list of kernels, mappings or "features"
    normalize : {"trace", None}
    standardize : bool
    fit_intercept : bool
    tol : float
        As for :class:`IndependentSVM`.

    Attributes
    ----------
    target_scale_ : float
        Standard deviation of the targets if they count as standardised, else 1.
    dual_coef_ : ndarray of shape (n,)
        α_i − α*_i of the training examples.
    coef_ : ndarray of shape (d, T)
        Weights of the inputs, if ``kernels`` is "features".
    intercept_ : ndarray of shape (T,)
        The offsets; zeros without ``fit_intercept``, but for what standardisation
        moves into them.
    objective_, dual_objective_, duality_gap_ : float
        Summed over the tasks.
    n_iter_ : int
        1: one pass over the tasks.
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        standardize_target: bool = False,
        kernels: KernelList = "features",
        normalize: Normalization = None,
        standardize: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-6,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.standardize_target = standardize_target
        self.kernels = kernels
        self.normalize = normalize
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.tol = tol
