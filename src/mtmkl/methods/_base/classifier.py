"""What every multi-task classifier shares: two classes, scores, decisions."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from mtmkl.kernels.base import refuse_overflow
from mtmkl.methods._base.estimator import MultiTaskEstimator, check_inputs, task_labels
from mtmkl.typing import FloatArray, IntArray


class MultiTaskClassifier(ClassifierMixin, MultiTaskEstimator):
    """Base class of classifiers of two classes, the same two in every task.

    A subclass implements ``_fit(X, y, task)`` with labels −1 and +1, and
    ``_decide(X, task)``, whose positive values stand for the second class.

    A task may hold examples of one class only; what becomes of it is the method's to
    say.

    Attributes
    ----------
    classes_ : ndarray of shape (2,) or (1,)
        The labels, sorted.
    tasks_ : ndarray of shape (T,)
        The labels of the tasks, sorted; task-wise attributes are in this order.
    n_features_in_ : int
        Number of inputs d.
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.regressor_tags = None
        return tags

    def decision_function(
        self, X: ArrayLike, task: ArrayLike | None = None
    ) -> FloatArray:
        """Return the scores of examples; a positive one stands for ``classes_[1]``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inputs.
        task : array-like of shape (n,), optional
            Task of each example; may be left out after a fit of a single task.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            If a task was not seen by ``fit``; the message names it.
        """
        check_is_fitted(self)
        X_array = check_inputs(self, X, reset=False)
        return self._decide(X_array, self._encode(task, X_array.shape[0]))

    def predict(self, X: ArrayLike, task: ArrayLike | None = None) -> NDArray[Any]:
        """Predict the classes.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inputs.
        task : array-like of shape (n,), optional
            Task of each example; may be left out after a fit of a single task.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            If a task was not seen by ``fit``; the message names it.
        """
        scores = self.decision_function(X, task)
        if self.classes_.size == 1:
            return np.repeat(self.classes_, scores.size)
        labels: NDArray[Any] = self.classes_[(scores > 0).astype(np.intp)]
        return labels

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        task: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the share of examples classified correctly."""
        return float(
            accuracy_score(y, self.predict(X, task), sample_weight=sample_weight)
        )

    def _decide(self, X: FloatArray, task: IntArray) -> FloatArray:
        raise NotImplementedError

    def _validate_fit(
        self, X: ArrayLike, y: ArrayLike, task: ArrayLike | None
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        X_array, y_array = check_inputs(self, X, y)
        check_classification_targets(y_array)
        refuse_overflow(X_array, "X", "bring the inputs to a smaller scale")
        self.classes_, code = np.unique(y_array, return_inverse=True)
        if self.classes_.size > 2:
            shown = ", ".join(str(label) for label in self.classes_[:5])
            shown += ", …" if self.classes_.size > 5 else ""
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y_array)}, its classes are {shown}: make tasks of "
                "two classes, as mtmkl.datasets.tasks.one_vs_one does."
            )
        signed = np.where(code.ravel() == self.classes_.size - 1, 1.0, -1.0)
        n = X_array.shape[0]
        labels = np.zeros(n, dtype=np.intp) if task is None else task_labels(task, n)
        self.tasks_, index = np.unique(labels, return_inverse=True)
        return X_array, signed, index.astype(np.intp).ravel()
