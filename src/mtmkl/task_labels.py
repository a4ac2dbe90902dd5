"""Labels of tasks, one per sample, as methods and splitters take them."""

import math
import warnings
from collections.abc import Hashable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.errors import some
from mtmkl.typing import IntArray

#: For errors of a search that does not pass tasks on.
SEARCH_REMEDY = (
    "take mtmkl.model_selection.PathSearchCV, whose fit and predict take task; or "
    "sklearn.set_config(enable_metadata_routing=True) and a search over "
    "mtmkl.model_selection.route_tasks(estimator) with the estimator's own score or a "
    "TaskScorer; or TaskColumn, which takes tasks from a column of X"
)

#: Truth values of NumPy are no numbers to Python, and its own are.
NUMBERS = (Real, np.bool_)


def task_labels(task: Any, n: int, *, stacklevel: int = 3) -> NDArray[Any]:
    """Return the task labels of n samples, integers or strings.

    None means one task, zeros, with a warning: it may have been forgotten. Integers of
    any size stay what they are. Raises ValueError unless each sample has a label, or
    where a floating-point number may stand for several integers.
    """
    if task is None:
        warnings.warn(
            f"task is not given: all {n} samples are taken as one task. Pass task=..., "
            "one label per sample (np.zeros(len(X)) if there is one task); to a step "
            "of a Pipeline, name__task=...; in a search, PathSearchCV or TaskColumn",
            UserWarning,
            stacklevel=stacklevel,
        )
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
            f"task must have one label for each of the {n} samples, "
            f"got shape {labels.shape}"
        )
    if labels.dtype.kind == "f":
        odd = ~np.isfinite(labels) | (labels != np.floor(labels))
        if odd.any():
            raise ValueError(
                f"task labels must be integers or strings, got {labels[odd][0]} "
                "(task comes after y; no method has weights of samples)"
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


def task_numbers(
    task: Any, n: int, known: NDArray[Any], *, unseen: str | None = None
) -> IntArray:
    """Return the numbers of n samples' tasks among the known ones.

    Others are −1 if ``unseen`` is "mean", else an error; None has no such choice.
    """
    if task is None and known.size > 1:
        raise ValueError(
            f"task is needed: the estimator was fitted on {known.size} tasks (score "
            f"takes it by name, task=...). In a search: {SEARCH_REMEDY}"
        )
    if task is None:
        return np.zeros(n, dtype=np.intp)
    numbers = {label: number for number, label in enumerate(known.tolist())}
    distinct, inverse = np.unique(task_labels(task, n), return_inverse=True)
    found = np.array([numbers.get(x, -1) for x in distinct.tolist()], dtype=np.intp)
    if unseen != "mean" and (found < 0).any():
        raise ValueError(
            f"task not seen by fit: {some(map(repr, distinct[found < 0].tolist()))}; "
            f"known: {some(map(repr, numbers), 20)}"
            + ("; unseen='mean' predicts for it" if unseen else "")
        )
    return found[inverse.ravel()]


def refuse_rounded(labels: NDArray[np.floating[Any]]) -> None:
    """Raise ValueError if a float may stand for several integers, rounded to it."""
    merged = np.abs(labels) >= min(2.0 ** (np.finfo(labels.dtype).nmant + 1), 2.0**63)
    if merged.any():
        raise ValueError(
            f"task label {labels[merged][0]:.0f} has the type {labels.dtype}, in which "
            "several integers of this size are one number: give labels as integers or "
            "strings from the start"
        )


def checked_labels(values: Any, where: str) -> list[Any]:
    """Return the labels of tasks, each of which must name one."""
    labels = list(values)
    for row, label in enumerate(labels):
        if not _is_label(label):
            raise ValueError(
                f"{where} must hold a task for every example, not NaN, inf or None: "
                f"row {row}, from 0, has {label}"
            )
    refuse_rounded(np.array([x for x in labels if isinstance(x, float | np.floating)]))
    return labels


def distinct_labels(labels: list[Any], where: str) -> list[Any]:
    """Return the distinct labels, all strings or none."""
    distinct = list(dict.fromkeys(labels))
    if 0 < sum(isinstance(label, str) for label in distinct) < len(distinct):
        raise ValueError(
            f"{where} holds strings and other labels: make all labels of tasks strings"
        )
    return distinct


def _is_label(label: Any) -> bool:
    """Return whether a value can name a task; missing ones cannot."""
    if not isinstance(label, Hashable):
        raise TypeError(
            "a task's label as argument must be hashable, as a string or number is; "
            f"got {label!r}"
        )
    if isinstance(label, NUMBERS):
        return math.isfinite(label)
    # Other missing values differ from themselves, or do not know (pandas.NA).
    same = label == label
    return label is not None and isinstance(same, bool | np.bool_) and bool(same)
