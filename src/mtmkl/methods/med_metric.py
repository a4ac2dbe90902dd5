"""A metric learned by maximum entropy discrimination."""

from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mtmkl.kernels.terms import KernelList, Normalization
from mtmkl.methods._base.bases import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from mtmkl.methods.med_kernel_selection import MEDKernelSelectionClassifier
from mtmkl.task_labels import task_labels
from mtmkl.typing import FloatArray


@dataclass(eq=False, repr=False)
class MEDMetric(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Distances of the kernel that maximum entropy discrimination selects.

    .. math::

        \Delta(x, z)^2 = \sum_d s_d \bigl(k_d(x, x) - 2 k_d(x, z) + k_d(z, z)\bigr)

    with the switches s of :class:`MEDKernelSelectionClassifier` on many tasks
    (Jebara 2011, section 7.2). The distance does not depend on the task.

    ``transform`` returns the distances to the training samples, as
    ``NearestNeighbors(metric="precomputed")`` takes them; :meth:`pairwise` those
    between any two sets; :meth:`distance` is a callable ``metric`` for two samples.

    Parameters
    ----------
    C, alpha, relative_alpha, kernels, normalize, standardize, tol, max_iter
        As for :class:`MEDKernelSelectionClassifier`, but for ``kernels="precomputed"``,
        which ``fit`` refuses with a ValueError.

    Attributes
    ----------
    selection_ : MEDKernelSelectionClassifier
        The fitted method behind the metric.
    switches_ : ndarray of shape (D,)
    n_iter_ : int
        Switches visited by Newton's method.
    """

    C: float = 1.0
    alpha: float = 1.0
    _: KW_ONLY
    relative_alpha: float | None = None
    kernels: KernelList = "features"
    normalize: Normalization = None
    standardize: bool = False
    tol: float = 1e-6
    max_iter: int = 1000

    @property
    def _n_features_out(self) -> int:
        return self._X.shape[0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, task: ArrayLike | None = None) -> Self:
        """Learn the switches.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features of all tasks.
        y : array-like of shape (n,)
            Classes; with more than two, each class against all others is a task of its
            own.
        task : array-like of shape (n,), optional
            Task of each sample; without it, all samples are one task, with a warning.

        Returns
        -------
        self
        """
        X_array, y_array = validate_data(self, X, y, dtype=np.float64, copy=True)
        check_classification_targets(y_array)
        if isinstance(self.kernels, str) and self.kernels == "precomputed":
            raise ValueError(
                'kernels="precomputed" gives no distances, as k(x, x) of new samples '
                "is not known: take Precomputed(matrix), with row numbers as X"
            )
        n = X_array.shape[0]
        labels = task_labels(task, n)
        number = np.unique(labels, return_inverse=True)[1].ravel()
        classes, code = np.unique(y_array, return_inverse=True)
        if classes.size > 2:
            # One against all others, a task for each class of each task.
            rows = np.tile(np.arange(n), classes.size)
            against = np.repeat(np.arange(classes.size), n)
            signed = np.where(code.ravel()[rows] == against, 1, -1)
            tasks = number[rows] * classes.size + against
        else:
            rows, signed, tasks = np.arange(n), code.ravel(), number
        self.selection_ = MEDKernelSelectionClassifier(**self.get_params()).fit(
            X_array[rows], signed, tasks
        )
        self.switches_ = self.selection_.switches_
        self.n_iter_ = self.selection_.n_iter_
        self._terms = self.selection_._training.terms
        self._X = X_array
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the distances from samples to the training samples, (m, n)."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return self._distances(rows, self._X)

    def pairwise(self, X: ArrayLike, Z: ArrayLike | None = None) -> FloatArray:
        """Return the distances between two sets of samples, or within one, (m, k)."""
        check_is_fitted(self)
        left = validate_data(self, X, dtype=np.float64, reset=False)
        if Z is None:
            return self._distances(left, left)
        right = validate_data(self, Z, dtype=np.float64, reset=False)
        return self._distances(left, right)

    def distance(self, x: ArrayLike, z: ArrayLike) -> float:
        """Return the distance of two samples, each of shape (d,)."""
        check_is_fitted(self)
        left, right = (np.asarray(a, dtype=np.float64)[None, :] for a in (x, z))
        d = self._X.shape[1]
        if not left.shape == right.shape == (1, d):
            raise ValueError(
                f"x and z must have shape ({d},), got {left.shape[1:]} and "
                f"{right.shape[1:]}"
            )
        return float(self._distances(left, right)[0, 0])

    def _distances(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        distances: FloatArray = np.sqrt(
            self._terms.squared_distances(X, Z, self.switches_)
        )
        return distances
