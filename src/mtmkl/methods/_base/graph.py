"""Graphs over binary variables, each predicted from all others."""

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from mtmkl.methods._base.checks import check_inputs
from mtmkl.methods._base.estimator import MultiTaskEstimator
from mtmkl.task_labels import task_labels
from mtmkl.typing import FloatArray, IntArray, Samples

if TYPE_CHECKING:
    from mtmkl.datasets.container import MultiTaskData


@dataclass(eq=False, repr=False)
class GraphEstimator(MultiTaskEstimator):
    """Base of estimators of the edges of a graphical model.

    Called with samples alone, ``fit(X)`` has one column per node. With multi-task
    data, one task per node in the order of the columns, every task must hold the same
    samples with all columns as features, and its own node as label, as ``X`` has it.

    ``_prepare`` returns the samples as 0 and 1. A subclass implements ``_follow``,
    which sets ``coef_``, ``intercept_`` and ``edge_scores_``.
    """

    _: KW_ONLY
    binarize: float = 0.0

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, task: ArrayLike | None = None
    ) -> Self:
        """Estimate the graph.

        Parameters
        ----------
        X : array-like of shape (n, D)
            One column per node; values above ``binarize`` count as 1, others as 0.
        y : array-like of shape (n,), optional
            With ``task``, the node of each row, positive for 1; else ignored.
        task : array-like of shape (n,), optional
            The node of each row, if X repeats its samples for every node: the sorted
            labels are in the order of the columns.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the tasks are not the nodes, do not hold the same samples, or ``y`` says
            that a task is another column.
        """
        return super().fit(X, () if y is None else y, task)

    def decision_function(
        self, X: ArrayLike, task: ArrayLike | None = None
    ) -> FloatArray:
        """Return the score of every node being 1 given the others, (n, D).

        With ``task``, return the score of each row's own node, (n,).
        """
        check_is_fitted(self)
        samples = check_inputs(self, X, reset=False)
        samples = (samples > self.binarize_).astype(np.float64)
        scores: FloatArray = samples @ self.coef_.T + self.intercept_
        if task is None:
            return scores
        node = self._encode(task, samples.shape[0])
        own: FloatArray = scores[np.arange(node.size), node]
        return own

    def predict(self, X: ArrayLike, task: ArrayLike | None = None) -> NDArray[Any]:
        """Return −1 or +1 for every node given the others, (n, D).

        With ``task``, return the label of each row's own node, (n,).
        """
        return np.where(self.decision_function(X, task) > 0, 1.0, -1.0)

    @classmethod
    def unsupported(cls, data: "MultiTaskData") -> str | None:
        """Return why the method cannot run on the data, or None if it can."""
        if data.n_tasks != data.X.shape[1]:
            return (
                f"graph structure needs one task per node: {data.name} has "
                f"{data.n_tasks} tasks and {data.X.shape[1]} columns"
            )
        return None

    def _prepare(self, X: FloatArray, y: FloatArray, task: IntArray) -> Any:
        is_one = np.greater(X, self.binarize_)
        if y.size and (wrong := ((y > 0) != is_one.T).any(axis=1)).any():
            node = int(wrong.argmax())
            raise ValueError(
                f"y of the task {self.tasks_.tolist()[node]!r} is not column {node} of "
                "X, its place among the sorted labels: number the tasks from 0 in the "
                "order of the columns"
            )
        return is_one.astype(np.float64)

    def _validate_fit(self, X: Any, y: Any, task: Any) -> Samples:
        """Return the samples once, y (D, n) if it is given, and the nodes' numbers."""
        rows: FloatArray = check_inputs(
            self, X, ensure_min_samples=2, ensure_min_features=2
        )
        n_nodes = rows.shape[1]
        self.binarize_ = self.binarize
        self.tasks_ = nodes = np.arange(n_nodes)
        if task is None:
            return rows, np.empty(0), nodes
        labels = task_labels(task, rows.shape[0])
        targets = np.asarray(() if y is None else y, dtype=np.float64).ravel()
        if targets.size:
            check_consistent_length(rows, targets)
        self.tasks_ = np.unique(labels)
        if self.tasks_.size != n_nodes:
            raise ValueError(
                f"one task per node is needed: got {self.tasks_.size} tasks for "
                f"{n_nodes} columns"
            )
        groups = [rows[labels == each] for each in self.tasks_]
        for each, group in zip(self.tasks_, groups, strict=True):
            if not np.array_equal(group, groups[0]):
                raise ValueError(
                    f"the tasks must hold the same samples: {each!r} differs from "
                    f"{self.tasks_[0]!r}"
                )
        own = [targets[labels == each] for each in self.tasks_ if targets.size]
        return groups[0], np.array(own), nodes


def symmetric(pairs: FloatArray, n_nodes: int) -> FloatArray:
    """Return the symmetric matrix with the given upper triangle, row by row."""
    out = np.zeros((n_nodes, n_nodes))
    out[np.triu_indices(n_nodes, 1)] = pairs
    return out + out.T
