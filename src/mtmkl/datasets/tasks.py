"""Cut one table of samples into tasks."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtmkl.datasets.container import MultiTaskData, Origin
from mtmkl.sparse import is_sparse
from mtmkl.typing import IntArray


def draw_per_class(
    label: ArrayLike, n_per_class: int | None, seed: int, *, equal: bool = True
) -> IntArray:
    """Return rows of some samples of each class (m,), drawn at random.

    Class follows class in sorted order, rows rise within a class, so that the labels
    are the same for every seed. ``n_per_class`` is at least 1; None stands for the size
    of the smallest class. A class of fewer samples limits all to its size if ``equal``,
    else itself alone.
    """
    classes, code, sizes = np.unique(label, return_inverse=True, return_counts=True)
    smallest = int(sizes.min())
    count = smallest if n_per_class is None else n_per_class
    if count < 1:
        raise ValueError(f"n_per_class is {n_per_class}, wanted at least 1")
    if equal:
        count = min(count, smallest)
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [
            np.sort(rng.permutation(np.flatnonzero(code.ravel() == c))[:count])
            for c in range(len(classes))
        ]
    )


def one_vs_rest(
    X: ArrayLike,
    label: ArrayLike,
    *,
    name: str,
    class_names: Sequence[str] = (),
    feature_names: Sequence[str] = (),
    origin: Origin = "original",
    truth: Mapping[str, NDArray[Any]] | None = None,
    matrices: Mapping[str, NDArray[Any]] | None = None,
) -> MultiTaskData:
    """Return one task per class: samples of this class (+1) against all others (-1).

    Every task holds every sample, in the order of ``X``; the tasks follow each other
    in the order of the sorted classes. ``sample`` is the row of ``X``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, d)
        One row per sample.
    label : array-like of shape (m,)
        Classes, numbers or strings, at least two different ones.
    name : str
        Name of the data set.
    class_names : sequence of str, optional
        Names of the sorted classes; by default the labels themselves.
    feature_names : sequence of str, optional
    origin : {"original", "own kernels", "stand-in", "synthetic"}
    truth, matrices : mapping, optional
        As in ``MultiTaskData``; boolean arrays of the truth mark rows of the result.

    Returns
    -------
    MultiTaskData
        With as many tasks as classes, and m rows per task.

    Raises
    ------
    ValueError
        If the lengths disagree or there is only one class.
    """
    table, code, names = _labelled(X, label, class_names)
    m, n_classes = table.shape[0], len(names)
    sample = np.tile(np.arange(m), n_classes)
    return MultiTaskData(
        X=table[sample],
        y=np.concatenate([np.where(code == c, 1.0, -1.0) for c in range(n_classes)]),
        task=np.repeat(np.arange(n_classes), m),
        sample=sample,
        name=name,
        task_names=tuple(f"{each} vs rest" for each in names),
        feature_names=tuple(feature_names),
        origin=origin,
        truth=truth or {},
        matrices=matrices or {},
    )


def one_vs_one(
    X: ArrayLike,
    label: ArrayLike,
    *,
    name: str,
    pairs: Sequence[tuple[str, str]] = (),
    class_names: Sequence[str] = (),
    feature_names: Sequence[str] = (),
    origin: Origin = "original",
) -> MultiTaskData:
    """Return one task per pair of classes: the first (+1) against the second (-1).

    A task holds the samples of its two classes, in the order of ``X``. ``sample`` is
    the row of ``X``.

    Parameters
    ----------
    X, label, name, class_names, feature_names, origin
        As for ``one_vs_rest``.
    pairs : sequence of (str, str), optional
        Names of the classes of each task, in the order of the tasks; samples of other
        classes are left out. By default all pairs (a, b), a before b, in lexicographic
        order of the sorted classes.

    Returns
    -------
    MultiTaskData
        With as many tasks as pairs, C (C - 1) / 2 by default for C classes.

    Raises
    ------
    ValueError
        If the lengths disagree, there is only one class, or a pair does not name two
        different classes.
    """
    table, code, names = _labelled(X, label, class_names)
    numbered = _numbered_pairs(pairs, names)
    rows = [np.flatnonzero((code == a) | (code == b)) for a, b in numbered]
    sample = np.concatenate(rows)
    first = np.concatenate(
        [code[r] == a for r, (a, _) in zip(rows, numbered, strict=True)]
    )
    return MultiTaskData(
        X=table[sample],
        y=np.where(first, 1.0, -1.0),
        task=np.repeat(np.arange(len(rows)), [len(r) for r in rows]),
        sample=sample,
        name=name,
        task_names=tuple(f"{names[a]} vs {names[b]}" for a, b in numbered),
        feature_names=tuple(feature_names),
        origin=origin,
    )


def by_group(
    X: ArrayLike,
    y: ArrayLike,
    group: ArrayLike,
    *,
    name: str,
    group_names: Sequence[str] = (),
    feature_names: Sequence[str] = (),
    origin: Origin = "original",
) -> MultiTaskData:
    """Return one task per value of ``group``, in sorted order of the values.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Targets.
    group : array-like of shape (n,)
        Task of each row (person, school, place …), numbers or strings.
    name : str
        Name of the data set.
    group_names : sequence of str, optional
        Names of the sorted values; by default the values themselves.
    feature_names, origin
        As for ``one_vs_rest``.

    Returns
    -------
    MultiTaskData
        Rows in the order of ``X``; every row is its own sample.

    Raises
    ------
    ValueError
        If the lengths disagree.
    """
    table = _table(X)
    code, names = _coded(group, group_names, table.shape[0], "group")
    return MultiTaskData(
        X=table,
        y=np.asarray(y),
        task=code,
        name=name,
        task_names=names,
        feature_names=tuple(feature_names),
        origin=origin,
    )


def _table(X: Any) -> Any:
    """Return features whose rows can be taken by index."""
    return X.tocsr() if is_sparse(X) else np.asarray(X)


def _labelled(
    X: Any, label: ArrayLike, class_names: Sequence[str]
) -> tuple[Any, IntArray, tuple[str, ...]]:
    table = _table(X)
    code, names = _coded(label, class_names, table.shape[0], "label")
    if len(names) < 2:
        raise ValueError(f"label has one class only: {names[0]}")
    return table, code, names


def _numbered_pairs(
    pairs: Sequence[tuple[str, str]], names: tuple[str, ...]
) -> list[tuple[int, int]]:
    if not pairs:
        return list(combinations(range(len(names)), 2))
    for first, second in pairs:
        for each in (first, second):
            if each not in names:
                raise ValueError(
                    f"pair ({first!r}, {second!r}): {each!r} is not a class; classes: "
                    f"{', '.join(names)}"
                )
        if first == second:
            raise ValueError(f"pair ({first!r}, {second!r}) is one class twice")
    return [(names.index(first), names.index(second)) for first, second in pairs]


def _coded(
    values: ArrayLike, names: Sequence[str], n: int, what: str
) -> tuple[IntArray, tuple[str, ...]]:
    """Return the rank of each value among the distinct ones, and their names."""
    array = np.asarray(values)
    if array.shape != (n,):
        raise ValueError(
            f"{what} must have shape ({n},) like the rows of X, got {array.shape}"
        )
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"{what}[{np.flatnonzero(np.isnan(array))[0]}] is nan")
    distinct, code = np.unique(array, return_inverse=True)
    if names and len(names) != len(distinct):
        raise ValueError(f"{len(names)} names for {len(distinct)} values of {what}")
    return code.astype(np.intp), tuple(names) or tuple(str(v) for v in distinct)
