"""Trees: the task is one more input, or each task has trees of its own."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from mtmkl.methods._base.checks import check_count, check_flag, check_positive, checks
from mtmkl.methods._base.estimator import (
    MultiTaskClassifier,
    MultiTaskEstimator,
    MultiTaskRegressor,
)
from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.baselines._packages import not_installed

if TYPE_CHECKING:
    from mtmkl.datasets.container import MultiTaskData


class _Trees(MultiTaskEstimator):
    """Base of trees; ``models_`` has one for all tasks, or one for each."""

    alone: bool
    models_: list[Any]

    def _with_task(self, X: FloatArray, task: IntArray) -> FloatArray:
        """Return the inputs with the task as a further one."""
        return np.column_stack([X, task])

    def _grow(self, inputs: Any, y: FloatArray, n_rounds: int) -> Any:
        raise NotImplementedError

    def _values(self, model: Any, inputs: Any) -> FloatArray:
        raise NotImplementedError

    def _fit_group(
        self, group: Sequence[Self], X: FloatArray, y: FloatArray, task: IntArray
    ) -> None:
        # Fewer rounds are the first ones of more.
        n_rounds = max(getattr(each, "n_rounds", 1) for each in group)
        inputs = X if self.alone else self._with_task(X, task)
        models = []
        for t in range(self.tasks_.size if self.alone else 1):
            rows = np.flatnonzero(task == t) if self.alone else slice(None)
            constant = np.ptp(y[rows]) == 0
            grown = (
                y[rows][0] if constant else self._grow(inputs[rows], y[rows], n_rounds)
            )
            models.append(grown)
        for each in group:
            each.models_ = models

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        inputs = X if self.alone else self._with_task(X, task)
        part = task if self.alone else np.zeros_like(task)
        outputs = np.empty(task.size)
        for t in np.unique(part):
            rows, model = np.flatnonzero(part == t), self.models_[t]
            constant = isinstance(model, float)
            outputs[rows] = model if constant else self._values(model, inputs[rows])
        return outputs


@dataclass(eq=False, repr=False)
class _Boosted(_Trees):
    along: ClassVar[tuple[str, ...]] = ("n_rounds",)
    _checks = checks(
        n_rounds=check_count,
        learning_rate=check_positive,
        max_leaves=lambda name, value: check_count(name, value, least=2),
        min_in_leaf=check_count,
        alone=check_flag,
    )

    n_rounds: int = 100
    _: KW_ONLY
    learning_rate: float = 0.1
    max_leaves: int = 31
    min_in_leaf: int = 20
    alone: bool = False


class _LightGBM(_Boosted):
    @classmethod
    def unsupported(cls, data: "MultiTaskData") -> str | None:
        """Return that LightGBM is missing, if it is."""
        return not_installed("lightgbm")

    def _grow(self, inputs: Any, y: FloatArray, n_rounds: int) -> Any:
        import lightgbm

        is_category = [] if self.alone else [inputs.shape[1] - 1]
        return lightgbm.train(
            {
                "objective": "binary" if is_classifier(self) else "regression",
                "learning_rate": self.learning_rate,
                "num_leaves": self.max_leaves,
                "min_data_in_leaf": self.min_in_leaf,
                # Made for large data, where a rare category or value is noise.
                "min_data_per_group": self.min_in_leaf,
                "min_data_in_bin": 1,
                "deterministic": True,
                "force_col_wise": True,
                "num_threads": 1,
                "verbose": -1,
            },
            lightgbm.Dataset(
                inputs,
                (y > 0).astype(float) if is_classifier(self) else y,
                categorical_feature=is_category,
            ),
            num_boost_round=n_rounds,
        )

    def _values(self, model: Any, inputs: Any) -> FloatArray:
        values: FloatArray = model.predict(
            inputs, num_iteration=self.n_rounds, raw_score=True, num_threads=1
        )
        return values


class LightGBMClassifier(_LightGBM, MultiTaskClassifier):
    """LightGBM with the task as a category, or for each task alone.

    Parameters
    ----------
    n_rounds : int
        Number of trees, ≥ 1. Points that differ in it alone are stages of one fit.
    learning_rate : float
        Share of each tree's values that is added, > 0.
    max_leaves : int
        Leaves of a tree at most, ≥ 2.
    min_in_leaf : int
        Examples in a leaf at least, ≥ 1; also examples of a group of tasks that a
        tree tells from others. Values of inputs are not merged into larger bins.
    alone : bool
        Whether each task has trees of its own. A task whose examples are all of one
        class is predicted to be of it.

    Attributes
    ----------
    models_ : list
        What was grown: one model, or one for each task.

    Notes
    -----
    Needs ``pip install '.[baselines]'``. Growing is deterministic, on one thread.
    """


class LightGBMRegressor(_LightGBM, MultiTaskRegressor):
    """LightGBM with the task as a category, or for each task alone: squared error.

    Parameters
    ----------
    n_rounds, learning_rate, max_leaves, min_in_leaf, alone
        As for :class:`LightGBMClassifier`.

    Attributes
    ----------
    models_ : list
        As for :class:`LightGBMClassifier`.
    """


class _HistGradientBoosting(_Boosted):
    def _grow(self, inputs: Any, y: FloatArray, n_rounds: int) -> Any:
        cls = (
            HistGradientBoostingClassifier
            if is_classifier(self)
            else HistGradientBoostingRegressor
        )
        return cls(
            max_iter=n_rounds,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaves,
            min_samples_leaf=self.min_in_leaf,
            # It takes at most 255 categories; more tasks are an ordered input.
            categorical_features=(
                [inputs.shape[1] - 1]
                if not self.alone and self.tasks_.size <= 255
                else None
            ),
            early_stopping=False,
            random_state=0,  # draws nothing without early stopping
        ).fit(inputs, y)

    def _values(self, model: Any, inputs: Any) -> FloatArray:
        staged = (
            model.staged_decision_function
            if is_classifier(self)
            else model.staged_predict
        )
        values: FloatArray = next(islice(staged(inputs), self.n_rounds - 1, None))
        return values.ravel()


class HistGradientBoostingTaskClassifier(_HistGradientBoosting, MultiTaskClassifier):
    """Histogram boosting of scikit-learn with the task as a category.

    Parameters
    ----------
    n_rounds, learning_rate, max_leaves, min_in_leaf, alone
        As for :class:`~mtmkl_suite.baselines.trees.LightGBMClassifier`. More than 255
        tasks are numbers in the order of their labels, and no category.

    Attributes
    ----------
    models_ : list
        As for :class:`~mtmkl_suite.baselines.trees.LightGBMClassifier`.
    """


class HistGradientBoostingTaskRegressor(_HistGradientBoosting, MultiTaskRegressor):
    """Histogram boosting of scikit-learn with the task as a category: squared error.

    Parameters
    ----------
    n_rounds, learning_rate, max_leaves, min_in_leaf, alone
        As for :class:`HistGradientBoostingTaskClassifier`.

    Attributes
    ----------
    models_ : list
        As for :class:`~mtmkl_suite.baselines.trees.LightGBMClassifier`.
    """


@dataclass(eq=False, repr=False)
class _Forest(_Trees):
    _checks = checks(
        max_features=check_positive,
        min_in_leaf=check_count,
        n_trees=check_count,
        alone=check_flag,
    )

    max_features: float = 0.3
    _: KW_ONLY
    min_in_leaf: int = 1
    n_trees: int = 100
    alone: bool = False
    random_state: int | None = None

    def _check_params(self) -> None:
        super()._check_params()
        if self.max_features > 1:
            raise ValueError(
                f"max_features must be at most 1, got {self.max_features!r}"
            )

    def _with_task(self, X: FloatArray, task: IntArray) -> FloatArray:
        return np.hstack([X, np.eye(self.tasks_.size)[task]])

    def _grow(self, inputs: Any, y: FloatArray, n_rounds: int) -> Any:
        cls = RandomForestClassifier if is_classifier(self) else RandomForestRegressor
        return cls(
            self.n_trees,
            max_features=self.max_features,
            min_samples_leaf=self.min_in_leaf,
            random_state=self.random_state,
        ).fit(inputs, y)

    def _values(self, model: Any, inputs: Any) -> FloatArray:
        if is_classifier(self):
            shares: FloatArray = model.predict_proba(inputs)[:, 1] - 0.5
            return shares
        values: FloatArray = model.predict(inputs)
        return values


class RandomForestTaskClassifier(_Forest, MultiTaskClassifier):
    """Random forest with task dummies as further inputs, or for each task alone.

    Parameters
    ----------
    max_features : float
        Share of the inputs that a split chooses from, in (0, 1].
    min_in_leaf : int
        Examples in a leaf at least, ≥ 1.
    n_trees : int
        Number of trees, ≥ 1.
    alone : bool
        Whether each task has a forest of its own.
    random_state : int, optional
        Seed of the draws.

    Attributes
    ----------
    models_ : list
        What was grown: one forest, or one for each task.

    Notes
    -----
    A score is the mean share of the second class in the leaves, less one half.
    """


class RandomForestTaskRegressor(_Forest, MultiTaskRegressor):
    """Random forest with task dummies as further inputs, or for each task alone.

    Parameters
    ----------
    max_features, min_in_leaf, n_trees, alone, random_state
        As for :class:`RandomForestTaskClassifier`.

    Attributes
    ----------
    models_ : list
        As for :class:`RandomForestTaskClassifier`.
    """
