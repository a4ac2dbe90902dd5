"""Checks of features and targets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import FLOAT_DTYPES, validate_data

from mtmkl.sparse import canonical_csr, is_sparse

NO_ZEROS = (
    "standardize=True subtracts the means of the features, so that no zero stays zero"
)
"""Reason why features that are standardised must be dense."""


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
