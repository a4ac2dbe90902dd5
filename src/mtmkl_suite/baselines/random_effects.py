"""Random effects of tasks, by GPBoost: beside a linear model, or beside trees."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import is_classifier
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mtmkl.checks import check_count, check_positive, checks, count_from
from mtmkl.methods._base.estimator import (
    MultiTaskClassifier,
    MultiTaskEstimator,
    MultiTaskRegressor,
)
from mtmkl.methods._base.linear import task_outputs
from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.baselines._packages import not_installed

if TYPE_CHECKING:
    from mtmkl.datasets.container import MultiTaskData


class _RandomEffects(MultiTaskEstimator):
    @classmethod
    def unsupported(cls, data: "MultiTaskData") -> str | None:
        """Return that GPBoost is missing, if it is."""
        return not_installed("gpboost")

    @property
    def _likelihood(self) -> str:
        return "bernoulli_logit" if is_classifier(self) else "gaussian"

    def _responses(self, y: FloatArray) -> FloatArray:
        """Return 0 and 1, or numbers of mean 0 and variance 1."""
        if is_classifier(self):
            return (y > 0).astype(float)
        self._mean, self._scale = y.mean(), y.std() or 1.0
        return (y - self._mean) / self._scale

    def _fit(self, X: FloatArray, y: FloatArray, task: IntArray) -> None:
        self._constant = float(y[0]) if np.ptp(y) == 0 else None
        if self._constant is None:
            self._estimate(X, self._responses(y), task)

    def _estimate(self, X: FloatArray, y: FloatArray, task: IntArray) -> None:
        raise NotImplementedError

    def _predicted(self, X: FloatArray, task: IntArray) -> FloatArray:
        raise NotImplementedError

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        if self._constant is not None:
            return np.full(task.size, self._constant)
        values = self._predicted(X, task)
        return values if is_classifier(self) else self._mean + self._scale * values


@dataclass(eq=False, repr=False)
class _LinearMixedModel(_RandomEffects):
    _checks = checks(n_components=check_count)

    n_components: int = 10

    def _estimate(self, X: FloatArray, y: FloatArray, task: IntArray) -> None:
        import gpboost

        rank = int(np.linalg.matrix_rank(X - X.mean(axis=0)))
        kept = min(self.n_components, max(rank, 1))
        # Of equal variance, so that no slope is on another scale than the rest.
        self._inputs = make_pipeline(
            StandardScaler(), PCA(kept, whiten=True, svd_solver="full")
        ).fit(X)
        Z = self._inputs.transform(X)
        model = gpboost.GPModel(
            group_data=task,
            group_rand_coef_data=Z,
            ind_effect_group_rand_coef=[1] * Z.shape[1],
            likelihood=self._likelihood,
            num_parallel_threads=1,
        )
        model.fit(y=y, X=_with_offset(Z), params={"maxit": 100})
        # A fitted model cannot be pickled. What it predicts is linear in each task: at
        # zero its intercepts, at unit vectors its slopes.
        n_tasks, d = self.tasks_.size, Z.shape[1]
        points = np.tile(np.vstack([np.zeros(d), np.eye(d)]), (n_tasks, 1))
        values = model.predict(
            group_data_pred=np.repeat(np.arange(n_tasks), d + 1),
            group_rand_coef_data_pred=points,
            X_pred=_with_offset(points),
            predict_response=False,
        )["mu"].reshape(n_tasks, d + 1)
        self.intercept_ = values[:, 0]
        self.coef_ = (values[:, 1:] - values[:, :1]).T

    def _predicted(self, X: FloatArray, task: IntArray) -> FloatArray:
        outputs = task_outputs(self._inputs.transform(X), self.coef_, task)
        return outputs + self.intercept_[task]


class LinearMixedRegressor(_LinearMixedModel, MultiTaskRegressor):
    """Linear model with a random intercept and random slopes of each task.

    The features are the first principal components of the standardised features,
    whitened. Each has a fixed slope, and one of each task that is normal around it; the
    variances (one per component, no covariances) maximise the likelihood.

    Parameters
    ----------
    n_components : int
        Principal components at most, ≥ 1: each adds a variance to estimate.

    Attributes
    ----------
    coef_ : ndarray of shape (k, T)
        Slopes of the k components, fixed and random ones together; of targets in
        standard deviations.
    intercept_ : ndarray of shape (T,)

    Notes
    -----
    Needs ``pip install '.[baselines]'``. By GPBoost, because a fit of statsmodels'
    ``MixedLM`` with a variance per slope takes minutes where this takes seconds.
    """


class LinearMixedClassifier(_LinearMixedModel, MultiTaskClassifier):
    """The linear mixed model, of the logit: integrals by Laplace's approximation.

    Parameters
    ----------
    n_components : int
        As for :class:`LinearMixedRegressor`.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        As for :class:`LinearMixedRegressor`, of the logit.
    """


def _with_offset(Z: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(Z)), Z])


@dataclass(eq=False, repr=False)
class _BoostedMixedModel(_RandomEffects):
    _checks = checks(
        n_rounds=check_count,
        learning_rate=check_positive,
        max_leaves=count_from(2),
        min_in_leaf=check_count,
    )

    n_rounds: int = 50
    learning_rate: float = 0.1
    max_leaves: int = 31
    min_in_leaf: int = 20

    def _estimate(self, X: FloatArray, y: FloatArray, task: IntArray) -> None:
        import gpboost

        effects = gpboost.GPModel(
            group_data=task, likelihood=self._likelihood, num_parallel_threads=1
        )
        self.model_ = gpboost.train(
            {
                "learning_rate": self.learning_rate,
                "num_leaves": self.max_leaves,
                "min_data_in_leaf": self.min_in_leaf,
                "min_data_in_bin": 1,
                "deterministic": True,
                "force_col_wise": True,
                "num_threads": 1,
                "verbose": -1,
            },
            gpboost.Dataset(X, y),
            num_boost_round=self.n_rounds,
            gp_model=effects,
        )

    def _predicted(self, X: FloatArray, task: IntArray) -> FloatArray:
        found = self.model_.predict(
            X, group_data_pred=task, pred_latent=True, num_threads=1
        )
        values: FloatArray = found["fixed_effect"] + found["random_effect_mean"]
        return values


class GPBoostRegressor(_BoostedMixedModel, MultiTaskRegressor):
    """Boosted trees of the features, and a random intercept of each task (GPBoost).

    Trees and the variance of the intercepts are fitted in turn.

    Parameters
    ----------
    n_rounds : int
        Number of trees, ≥ 1.
    learning_rate : float
        Share of each tree's values that is added, > 0.
    max_leaves : int
        Leaves of a tree at most, ≥ 2.
    min_in_leaf : int
        Samples in a leaf at least, ≥ 1. Values of features are not merged into larger
        bins.

    Attributes
    ----------
    model_ : gpboost.Booster

    Notes
    -----
    Needs ``pip install '.[baselines]'``.
    """


class GPBoostClassifier(_BoostedMixedModel, MultiTaskClassifier):
    """Boosted trees and random intercepts, of the logit.

    Parameters
    ----------
    n_rounds, learning_rate, max_leaves, min_in_leaf
        As for :class:`GPBoostRegressor`.

    Attributes
    ----------
    model_ : gpboost.Booster
    """
