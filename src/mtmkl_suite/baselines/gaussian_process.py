"""Gaussian process of all tasks, by an intrinsic model of coregionalisation."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    ConstantKernel,
    Hyperparameter,
    Kernel,
    WhiteKernel,
)
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from mtmkl.methods._base.estimator import (
    MultiTaskClassifier,
    MultiTaskEstimator,
    MultiTaskRegressor,
)
from mtmkl.typing import FloatArray, IntArray


class TaskGaussian(Kernel):
    """k(x, x')·(ρ + (1 − ρ)·[same task]), k(x, x') = exp(−||x − x'||² / 2ℓ²).

    A row is the features, followed by the number of its task.

    Parameters
    ----------
    length_scale : float
        ℓ > 0.
    correlation : float
        ρ in (0, 1], the correlation of two tasks at the same samples.
    """

    def __init__(self, length_scale: float = 1.0, correlation: float = 0.5) -> None:
        self.length_scale = length_scale
        self.correlation = correlation

    @property
    def hyperparameter_correlation(self) -> Hyperparameter:
        """ρ and its bounds."""
        return Hyperparameter("correlation", "numeric", (1e-3, 1.0))

    @property
    def hyperparameter_length_scale(self) -> Hyperparameter:
        """ℓ and its bounds, for standardised features."""
        return Hyperparameter("length_scale", "numeric", (1e-1, 1e3))

    def __call__(
        self, X: Any, Y: Any = None, eval_gradient: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return the kernel, and its derivatives by log ρ and log ℓ if asked for."""
        Y = X if Y is None else Y
        scaled = euclidean_distances(X[:, :-1], Y[:, :-1], squared=True)
        scaled /= self.length_scale**2
        inputs = np.exp(-scaled / 2)
        others = X[:, -1][:, None] != Y[:, -1][None, :]
        K: FloatArray = np.where(others, self.correlation * inputs, inputs)
        if not eval_gradient:
            return K
        return K, np.stack([np.where(others, K, 0.0), K * scaled], axis=-1)

    def diag(self, X: Any) -> FloatArray:
        """Return k(x, x) = 1."""
        return np.ones(len(X))

    def is_stationary(self) -> bool:
        """Return that it depends on differences alone, of features."""
        return False


@dataclass(eq=False, repr=False)
class _TaskGaussianProcess(MultiTaskEstimator):
    """Base of Gaussian processes; what is predicted is the posterior mean."""

    def _fit(self, X: FloatArray, y: FloatArray, task: IntArray) -> None:
        self._scaler = StandardScaler().fit(X)
        kernel = ConstantKernel() * TaskGaussian(np.sqrt(X.shape[1])) + WhiteKernel(0.5)
        self.process_ = GaussianProcessRegressor(kernel, normalize_y=True)
        with warnings.catch_warnings():
            # A hyper-parameter at its bound is an answer: independent or equal tasks.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.process_.fit(self._rows(X, task), y)
        self.correlation_ = self.process_.kernel_.k1.k2.correlation

    def _rows(self, X: FloatArray, task: IntArray) -> FloatArray:
        return np.column_stack([self._scaler.transform(X), task])

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        means: FloatArray = self.process_.predict(self._rows(X, task))
        return means


class TaskGaussianProcessRegressor(_TaskGaussianProcess, MultiTaskRegressor):
    """Gaussian process with the covariance a·k(x, x')·(ρ + (1 − ρ)·[same task]).

    k is Gaussian, of standardised features. Its width, a, ρ and the variance of the
    noise maximise the marginal likelihood; there is nothing else to choose. This is the
    intrinsic model of coregionalisation with equally related tasks. Time grows with the
    cube of the number of samples of all tasks, memory with the square.

    Attributes
    ----------
    process_ : sklearn.gaussian_process.GaussianProcessRegressor
    correlation_ : float
        ρ, from 0.001 (tasks apart) to 1 (one model).
    """


class TaskGaussianProcessClassifier(_TaskGaussianProcess, MultiTaskClassifier):
    """The Gaussian process of the regression, fitted to labels −1 and +1 as numbers.

    A score is the posterior mean of the label: least squares, and no likelihood of
    classes.

    Attributes
    ----------
    process_, correlation_
        As for :class:`TaskGaussianProcessRegressor`.
    """
