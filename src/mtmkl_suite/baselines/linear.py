"""One linear model of all tasks: features, task dummies, and task × input products."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from mtmkl.checks import check_positive, checks
from mtmkl.methods._base.estimator import (
    MultiTaskClassifier,
    MultiTaskEstimator,
    MultiTaskRegressor,
)
from mtmkl.methods._base.linear import span_of, task_outputs
from mtmkl.typing import FloatArray, IntArray


@dataclass(eq=False, repr=False)
class _TaskInteractions(MultiTaskEstimator):
    """Base of the models v'x + b + u_t'x + c_t of standardised features x."""

    along: ClassVar[tuple[str, ...]] = ("lam",)
    _checks = checks(lam=check_positive, ratio=check_positive)

    lam: float = 1.0
    ratio: float = 1.0

    def _fit_group(
        self, group: Sequence[Self], X: FloatArray, y: FloatArray, task: IntArray
    ) -> None:
        scaler = StandardScaler().fit(X)
        Z = scaler.transform(X)
        # The penalties are the same in all orthonormal coordinates.
        span = span_of(Z)
        Z = Z if span is None else Z @ span
        path = sorted(group, key=lambda each: -each.lam)
        for each, (common, own) in zip(
            path, self._solutions([e.lam for e in path], Z, y, task), strict=True
        ):
            total = common[:, None] + own
            coef = total[:-1] if span is None else span @ total[:-1]
            each.coef_ = coef / np.asarray(scaler.scale_)[:, None]
            each.intercept_ = total[-1] - np.asarray(scaler.mean_) @ each.coef_

    def _solutions(
        self, lams: Sequence[float], Z: FloatArray, y: FloatArray, task: IntArray
    ) -> Any:
        """Yield for each λ (v, b), of shape (d + 1,), and (u_t, c_t), (d + 1, T)."""
        raise NotImplementedError

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        outputs: FloatArray = task_outputs(X, self.coef_, task) + self.intercept_[task]
        return outputs


class TaskInteractionRegressor(_TaskInteractions, MultiTaskRegressor):
    r"""Ridge regression on features, task dummies and task × input products.

    Minimises :math:`\sum_i (y_i - v'x_i - b - u_t'x_i - c_t)^2 + \lambda (\|v\|^2 +
    \rho \sum_t (\|u_t\|^2 + c_t^2))`, where t is the task of sample i and features are
    standardised. It is :class:`sklearn.linear_model.Ridge` on the design [x, (e_t,
    e_t ⊗ x)/√ρ], with what the tasks add eliminated by task.

    Parameters
    ----------
    lam : float
        λ > 0, penalty of the common part.
    ratio : float
        ρ > 0, ratio of the penalty of what a task adds. As ρ → ∞ all tasks have one
        model, and as ρ → 0 the tasks are learned alone, with no penalty.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
        Of features in their own units: (v + u_t) / standard deviation.
    intercept_ : ndarray of shape (T,)
    """

    def _solutions(
        self, lams: Sequence[float], Z: FloatArray, y: FloatArray, task: IntArray
    ) -> Any:
        Z = np.column_stack([Z, np.ones(len(Z))])
        n_tasks = int(task.max()) + 1
        parts = []
        for t in range(n_tasks):
            U, s, Vt = np.linalg.svd(Z[task == t], full_matrices=False)
            parts.append((Vt, s, U.T @ y[task == t]))
        rows = np.concatenate([Vt for Vt, _, _ in parts])
        s = np.concatenate([s for _, s, _ in parts])
        targets = np.concatenate([a for _, _, a in parts])
        free = np.append(np.ones(Z.shape[1] - 1), 0.0)
        ends = np.cumsum([len(Vt) for Vt, _, _ in parts])[:-1]
        for lam in lams:
            own_penalty = lam * self.ratio
            # What the tasks' own parts leave of each direction to the common part.
            left = own_penalty / (s**2 + own_penalty)
            A = rows.T @ (rows * (s**2 * left)[:, None]) + lam * np.diag(free)
            common = np.linalg.lstsq(A, rows.T @ (s * left * targets), rcond=None)[0]
            rest = s / (s**2 + own_penalty) * (targets - s * (rows @ common))
            of_tasks = zip(parts, np.split(rest, ends), strict=True)
            own = [Vt.T @ values for (Vt, _, _), values in of_tasks]
            yield common, np.stack(own, axis=1)


class TaskInteractionClassifier(_TaskInteractions, MultiTaskClassifier):
    r"""Logistic regression on features, task dummies and task × input products.

    Minimises :math:`\sum_i \log(1 + \exp(-y_i (v'x_i + b + u_t'x_i + c_t))) +
    \frac{\lambda}{2} (\|v\|^2 + \rho \sum_t (\|u_t\|^2 + c_t^2))` on standardised
    features, by :class:`sklearn.linear_model.LogisticRegression`.

    Parameters
    ----------
    lam, ratio : float
        As for :class:`TaskInteractionRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
    intercept_ : ndarray of shape (T,)
        As for :class:`TaskInteractionRegressor`.
    """

    def _solutions(
        self, lams: Sequence[float], Z: FloatArray, y: FloatArray, task: IntArray
    ) -> Any:
        n, d = Z.shape
        n_tasks = int(task.max()) + 1
        if np.ptp(y) == 0:  # nothing to learn
            constant = np.append(np.zeros(d), y[0]), np.zeros((d + 1, n_tasks))
            yield from [constant] * len(lams)
            return
        own = np.column_stack([Z, np.ones(n)]) / np.sqrt(self.ratio)
        columns = task[:, None] * (d + 1) + np.arange(d + 1)
        starts = np.arange(n + 1) * (d + 1)
        products = sparse.csr_array(
            (own.ravel(), columns.ravel(), starts), shape=(n, n_tasks * (d + 1))
        )
        design = sparse.hstack([sparse.csr_array(Z), products], format="csr")
        model = LogisticRegression(warm_start=True, max_iter=10_000)
        for lam in lams:
            model.set_params(C=1 / lam).fit(design, y)
            coef = model.coef_[0]
            added = coef[d:].reshape(n_tasks, d + 1).T / np.sqrt(self.ratio)
            yield np.append(coef[:d], model.intercept_[0]), added
