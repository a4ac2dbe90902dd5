"""Labels of tasks, one per sample, as methods and splitters take them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def task_labels(task: Any, n: int) -> NDArray[Any]:
    """Return the task labels of n examples, integers or strings; zeros for None.

    Integers of any size stay what they are. Raises ValueError unless each example has
    a label, or where a floating-point number may stand for several integers.
    """
    if task is None:
        return np.zeros(n, dtype=np.intp)
    labels = np.asarray(task)
    if not hasattr(task, "dtype") and (
        labels.dtype.kind in "US"
        or (
            labels.dtype.kind == "f"
            and labels.ndim == 1
            and not any(isinstance(label, float) for label in task)
        )
    ):
        # NumPy has made strings of numbers among strings, or rounded large integers.
        labels = np.array(task, dtype=object)
    if labels.ndim != 1 or labels.shape[0] != n:
        raise ValueError(
            f"task must have one label for each of the {n} examples, "
            f"got shape {labels.shape}"
        )
    if labels.dtype.kind == "f":
        odd = ~np.isfinite(labels) | (labels != np.floor(labels))
        if odd.any():
            raise ValueError(
                f"task labels must be integers or strings, got {labels[odd][0]} "
                "(task comes after y; no method has weights of examples)"
            )
        refuse_rounded(labels)
        labels = labels.astype(np.intp)
    elif labels.dtype.kind in "OT":
        # Among strings NumPy would turn a missing label into the string "nan".
        for label in labels:
            if not isinstance(label, str | int | np.integer):
                raise ValueError(
                    f"task labels must be integers or strings, got {label!r}"
                )
        values = labels.tolist()
        if len({isinstance(label, str) for label in values}) > 1:
            raise ValueError("task labels must be all integers or all strings")
        labels = np.asarray(values)
        if labels.dtype.kind not in "iubU":  # no type of NumPy's holds all
            labels = np.array([int(label) for label in values], dtype=object)
        return labels
    if labels.dtype.kind not in "iubUS":
        raise ValueError(f"task labels must be integers or strings, got {labels.dtype}")
    return labels


def refuse_rounded(labels: NDArray[np.floating[Any]]) -> None:
    """Raise ValueError if a float may stand for several integers, rounded to it."""
    merged = np.abs(labels) >= min(2.0 ** (np.finfo(labels.dtype).nmant + 1), 2.0**63)
    if merged.any():
        raise ValueError(
            f"task label {labels[merged][0]:.0f} has the type {labels.dtype}, in which "
            "several integers of this size are one number: give labels as integers or "
            "strings from the start"
        )
