"""Checks of features, labels of tasks and parameters."""

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import FLOAT_DTYPES, validate_data

from mtmkl.kernels.base import is_number
from mtmkl.kernels.terms import check_kernel, check_kernels
from mtmkl.sparse import canonical_csr, is_sparse

#: Takes the name of a parameter and its value, and raises ValueError.
Check = Callable[[str, Any], None]


def check_inputs(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return features and targets as ``validate_data`` does, in float64.

    Given kernel values keep their floating type, which tells how they were rounded.
    Raises TypeError for sparse features that the estimator's tags do not allow.
    """
    if is_sparse(X):
        reason = refusal_of_sparse(estimator, X)
        if reason is not None:
            raise TypeError(reason)
        X = canonical_csr(X)
    elif _is_plain(estimator, options, X, *y):
        # What validate_data would return, in a tenth of the time of a small fit.
        if options.get("reset", True):
            estimator.n_features_in_ = X.shape[1]
        if X.shape[1] == estimator.n_features_in_:
            return (X, *y) if y else X
    is_gram = get_tags(estimator).input_tags.pairwise
    dtype = FLOAT_DTYPES if is_gram else np.float64
    return validate_data(estimator, X, *y, dtype=dtype, accept_sparse="csr", **options)


def _is_plain(estimator: Any, options: Mapping[str, Any], X: Any, *y: Any) -> bool:
    """Tell whether arrays are as they should be, and no columns have had names."""
    arrays, n_dim = (X, *y), 1 + options.get("multi_output", False)
    if hasattr(estimator, "feature_names_in_") or any(
        type(each) is not np.ndarray or each.shape[:1] != X.shape[:1] for each in arrays
    ):
        return False
    return (
        X.dtype == np.float64
        and X.ndim == 2
        and X.shape[0] >= options.get("ensure_min_samples", 1)
        and X.shape[1] >= options.get("ensure_min_features", 1)
        and all(each.ndim == n_dim and each.dtype.kind in "biufUS" for each in y)
        and all(
            bool(np.isfinite(each).all()) for each in arrays if each.dtype.kind == "f"
        )
    )


def refusal_of_sparse(estimator: Any, X: Any) -> str | None:
    """Return why an estimator does not take sparse features, or None if it does.

    An estimator without scikit-learn's tags is trusted to handle them.
    """
    has_tags = hasattr(estimator, "__sklearn_tags__")
    if not has_tags or get_tags(estimator).input_tags.sparse:
        return None
    own_reason = getattr(estimator, "_dense_only", lambda: None)()
    return (
        f"X is sparse, and {type(estimator).__name__} takes dense features only: "
        f"{own_reason or 'its tag input_tags.sparse is not set'}; "
        f"X.toarray() would need {8e-6 * X.shape[0] * X.shape[1]:,.3g} MB"
    )


def _check(demand: str, is_valid: Callable[[Any], bool]) -> Check:
    """Return the check that a value is as demanded."""

    def check(name: str, value: Any) -> None:
        if not is_valid(value):
            raise ValueError(f"{name} must be {demand}, got {value!r}")

    return check


def _is_number(value: Any) -> bool:
    """Tell whether the value is a finite number; True and False are none."""
    return is_number(value) and bool(np.isfinite(float(value)))


def _is_group(value: Any) -> bool:
    """Tell whether the value is a number of groups, or a share of the tasks."""
    is_share = not isinstance(value, Integral) and _is_number(value)
    return (is_share and 0 < value <= 0.5) or _is_count(value, 1)


def _is_count(value: Any, least: int) -> bool:
    return is_number(value) and isinstance(value, Integral) and int(value) >= least


def count_from(least: int) -> Check:
    """Return the check that a value is a whole number of at least ``least``."""
    demand = f"a whole number of at least {least}"
    return _check(demand, lambda value: _is_count(value, least))


def one_of(*choices: str | None) -> Check:
    """Return the check that a value is one of the choices."""
    demand = f"one of {', '.join(map(repr, choices))}"
    return _check(demand, lambda v: isinstance(v, str | None) and v in choices)


check_flag = _check("True or False", lambda v: isinstance(v, bool | np.bool_))
check_count = count_from(1)
check_number = _check("a finite number", _is_number)
check_positive = _check("positive and finite", lambda v: _is_number(v) and v > 0)
check_share = _check("positive and less than 1", lambda v: _is_number(v) and 0 < v < 1)
check_not_negative = _check("at least 0 and finite", lambda v: _is_number(v) and v >= 0)
check_groups = _check(
    "a whole number of at least 1, or a share of the tasks in (0, 0.5]", _is_group
)


def optional(check: Check) -> Check:
    """Return the check that a value is None, or passes another check."""
    return lambda name, value: None if value is None else check(name, value)


def checks(**own: Check) -> Mapping[str, Check]:
    """Return checks by parameter: those of a method, and the common ones."""
    return {**_COMMON, **own}


# Of the parameters that mean the same in every method.
_COMMON: Mapping[str, Check] = {
    "C": check_positive,
    "alpha": check_not_negative,
    "basis_tol": check_share,
    "epsilon": check_not_negative,
    "fit_intercept": check_flag,
    "kernel": check_kernel,
    "kernels": lambda name, value: check_kernels(value),
    "max_iter": check_count,
    "n_restarts": check_count,
    "random_state": optional(count_from(0)),
    "relative_alpha": optional(check_not_negative),
    "standardize": check_flag,
    "standardize_target": check_flag,
    "tol": check_positive,
}
