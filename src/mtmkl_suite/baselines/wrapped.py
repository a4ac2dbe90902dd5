"""Estimators of other packages as methods: ``PerTask(...)`` and ``Pooled(...)``."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from mtmkl.wrappers import PerTask, Pooled
from mtmkl_suite.baselines._packages import not_installed

if TYPE_CHECKING:
    from mtmkl.datasets.container import MultiTaskData


def light_gbm(kind: str) -> Callable[..., Any]:
    """Return a maker of LightGBM's ``LGBMClassifier`` or ``LGBMRegressor``."""

    def make(
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        min_child_samples: int = 20,
    ) -> Any:
        import lightgbm

        return getattr(lightgbm, kind)(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            num_leaves=num_leaves,
            min_child_samples=min_child_samples,
            # Made for large data, where a rare category or value is noise.
            min_data_per_group=min_child_samples,
            min_data_in_bin=1,
            deterministic=True,
            force_col_wise=True,
            n_jobs=1,
            verbose=-1,
        )

    return make


def wrapped(wrapper: str, name: str, make: Callable[..., Any]) -> type:
    """Return the class of a wrapper whose parameters are those of the estimator."""
    base: type = {"PerTask": _PerTask, "Pooled": _Pooled}[wrapper]
    of_estimator, of_wrapper = (
        [p for p in inspect.signature(each).parameters.values() if p.name not in given]
        for each, given in ((make, ()), (base, ("estimator", "unseen")))
    )
    own = [p for p in of_estimator if p.kind is not p.VAR_KEYWORD]
    parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in [*own, *of_wrapper]]
    signature = inspect.Signature(parameters)

    def init(self: Any, **params: Any) -> None:
        bound = signature.bind(**params)
        bound.apply_defaults()
        vars(self).update(bound.arguments)

    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    vars(init)["__signature__"] = inspect.Signature([self, *parameters])

    def estimator(self: Any) -> Any:
        return make(**{p.name: getattr(self, p.name) for p in own})

    members = {
        "__init__": init,
        "__doc__": f"{str(base.__doc__).rstrip('.')}: {name}.",
        "estimator": property(estimator),
        "unseen": "error",
        "_make": staticmethod(make),
    }
    return type(f"{wrapper}({name})", (base,), members)


class _Method:
    """Attributes that a run asks of a method, beyond the wrappers of the library."""

    _make: Callable[..., Any]
    estimator: Any
    _values: Callable[..., Any]
    classes_: Any

    @classmethod
    def unsupported(cls, data: "MultiTaskData") -> str | None:
        """Return that the estimator's package is missing, if it is."""
        if not isinstance(cls._make, type):
            return not_installed("lightgbm")
        return None

    def _check_params(self) -> None:
        """Raise ValueError if scikit-learn finds a parameter out of range."""
        if isinstance(self._make, type):
            self.estimator._validate_params()

    @available_if(lambda self: is_classifier(self.estimator))
    def decision_function(self: Any, X: Any, task: ArrayLike | None = None) -> Any:
        """Return scores, or by how much the share of label +1 is above one half."""
        if self.classes_.size == 1:
            return self.predict(X, task)
        if hasattr(self.estimator, "decision_function"):
            return self._values("decision_function", X, task)
        return self.predict_proba(X, task) @ (self.classes_ > 0) - 0.5


class _PerTask(_Method, PerTask):
    """An estimator for each task, which learns nothing of the others."""


class _Pooled(_Method, Pooled):
    """One estimator for all tasks, with the task as a feature."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse &= self.task_feature != "category"
        return tags

    def _with_task(self, X: Any, task: Any) -> Any:
        # Trees find categories in data frames, histogram boosting as many as bins.
        most = getattr(self.estimator, "max_bins", np.inf)
        if self.task_feature == "category" and self.tasks_.size <= most:
            X = pd.DataFrame(X, columns=[f"input {j}" for j in range(X.shape[1])])
        return super()._with_task(X, task)
