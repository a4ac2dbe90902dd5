"""Checks of features, labels of tasks and parameters."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from mtmkl.kernels.terms import check_kernel, check_kernels
from mtmkl.sparse import canonical_csr, is_sparse

#: Takes the name of a parameter and its value, and raises ValueError.
Check = Callable[[str, Any], None]


def check_inputs(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return features and targets as ``validate_data`` does, in float64.

    Raises TypeError for sparse features that the estimator's tags do not allow.
    """
    if is_sparse(X):
        reason = refusal_of_sparse(estimator, X)
        if reason is not None:
            raise TypeError(reason)
        X = canonical_csr(X)
    elif _is_plain(estimator, 1 + options.get("multi_output", False), X, *y):
        # What validate_data would return, in a tenth of the time of a small fit.
        if options.get("reset", True):
            estimator.n_features_in_ = X.shape[1]
        if X.shape[1] == estimator.n_features_in_:
            return (X, *y) if y else X
    return validate_data(
        estimator, X, *y, dtype=np.float64, accept_sparse="csr", **options
    )


def _is_plain(estimator: Any, n_dim: int, X: Any, *y: Any) -> bool:
    """Tell whether arrays are as they should be, and no columns have had names."""
    arrays = (X, *y)
    if hasattr(estimator, "feature_names_in_") or any(
        type(each) is not np.ndarray or each.shape[:1] != X.shape[:1] for each in arrays
    ):
        return False
    return (
        X.dtype == np.float64
        and X.ndim == 2
        and X.size > 0
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


def check_flag(name: str, value: object) -> None:
    """Raise ValueError unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raise ValueError unless the value is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(
            f"{name} must be a whole number of at least {least}, got {_shown(value)}"
        )


def check_number(name: str, value: object) -> None:
    """Raise ValueError unless the value is a finite number."""
    if not _is_number(value):
        raise ValueError(f"{name} must be a finite number, got {_shown(value)}")


def check_positive(name: str, value: object) -> None:
    """Raise ValueError unless the value is a positive finite number."""
    if not _is_number(value) or value <= 0:
        raise ValueError(f"{name} must be positive and finite, got {_shown(value)}")


def check_not_negative(name: str, value: object) -> None:
    """Raise ValueError unless the value is a finite number of at least 0."""
    if not _is_number(value) or value < 0:
        raise ValueError(f"{name} must be at least 0 and finite, got {_shown(value)}")


def check_groups(name: str, value: object) -> None:
    """Raise ValueError unless the value is a number of groups, or a share of tasks."""
    check_number(name, value)
    if isinstance(value, Integral):
        check_count(name, value)
    elif not (isinstance(value, Real) and 0 < float(value) <= 0.5):
        raise ValueError(
            f"{name} must be a whole number, or a share of the tasks in (0, 0.5], "
            f"got {value!r}"
        )


def one_of(*choices: str | None) -> Check:
    """Return the check that a value is one of the choices."""

    def check(name: str, value: object) -> None:
        if not isinstance(value, str | None) or value not in choices:
            shown = ", ".join(repr(choice) for choice in choices)
            raise ValueError(f"{name} must be one of {shown}, got {value!r}")

    return check


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
    "basis_tol": check_positive,
    "epsilon": check_not_negative,
    "fit_intercept": check_flag,
    "kernel": check_kernel,
    "kernels": lambda name, value: check_kernels(value),
    "max_iter": check_count,
    "n_restarts": check_count,
    "random_state": optional(lambda name, value: check_count(name, value, least=0)),
    "relative_alpha": optional(check_not_negative),
    "standardize": check_flag,
    "standardize_target": check_flag,
    "tol": check_positive,
}


def _is_number(value: object) -> TypeGuard[float]:
    """Tell whether the value is a finite number; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return bool(np.isfinite(float(value)))


def _shown(value: object) -> str:
    """Return the value, with its type unless it is a number."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return repr(value)
    return f"{value!r} ({type(value).__name__}, not a number)"
