"""Predictions of a fitted method, checked once before anything is made of them."""

from typing import Any

import numpy as np

from mtmkl.sparse import Inputs
from mtmkl.typing import FloatArray, IntArray


def predictions(
    estimator: Any,
    X: Inputs,
    task: IntArray,
    function: str = "predict",
) -> FloatArray:
    """Return what a fitted method predicts, if it can be scored."""
    values = np.asarray(getattr(estimator, function)(X, task=task))
    n = X.shape[0]
    if values.shape != (n,):
        raise ValueError(
            f"{function} returned shape {values.shape} for {n} samples: "
            f"return one number for each, shape ({n},)"
        )
    if values.dtype.kind not in "iuf":
        kind = values.dtype.name.rstrip("0123456789")
        raise TypeError(
            f"{function} returned values of type {kind}, such as "
            f"{values[:1].tolist()}: return numbers, for classes the labels -1 and +1 "
            "given to fit"
        )
    numbers = values.astype(np.float64, copy=False)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        raise ValueError(
            f"{function} returned values that are not finite for {wrong.size} of "
            f"{n} samples (first: {numbers[wrong[0]]} at position {wrong[0]})"
        )
    return numbers
