"""The container of multi-task data."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtmkl.sparse import Inputs, canonical_csr, is_sparse
from mtmkl.typing import FloatArray, IntArray

Origin = Literal["original", "own kernels", "stand-in", "synthetic"]
ORIGINS: tuple[Origin, ...] = ("original", "own kernels", "stand-in", "synthetic")


@dataclass(frozen=True, eq=False, kw_only=True)
class MultiTaskData:
    """Immutable data of T supervised tasks over one feature space.

    Rows need not be sorted by task, and tasks may differ in size. A task may have no
    row at all: ``subset`` keeps the names and numbers of every task.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Inputs, all finite. Sparse ones of any format become a CSR array, whose stored
        zeros are dropped and repeated entries summed.
    y : array-like of shape (n,)
        Targets, or labels -1 and +1, all finite.
    task : array-like of int of shape (n,)
        Task of each row, in 0..T-1.
    sample : array-like of int of shape (n,), optional
        Identity of the example behind each row. Rows of different tasks that are the
        same sample (one-vs-rest, one-vs-one) share it, so that a split can give the
        example one role everywhere. By default every row is its own sample.
    name : str
        Registered name of the data set, without its options.
    task_names, feature_names : sequence of str, optional
        T and d distinct names; by default "task 1".. and "x1"... Sparse features, of
        which there may be millions, have no names by default.
    origin : {"original", "own kernels", "stand-in", "synthetic"}
        Whether these are the data of the papers; kernels computed here from the
        original data, because the paper's are not published; other data in their place;
        or drawn.
    truth : mapping of str to array, optional
        What is known beside the data. A boolean array marks rows: it has n entries
        and follows its rows into subsets. "coef" has one column per task and follows
        the tasks. Everything else ("covariance", "relevant", …) stays as it is.
    task_relations : mapping of str to array or str, optional
        What is known of how the tasks are related, by name: matrices of shape (T, T),
        such as distances or similarities, and trees as Newick text whose leaves have
        the names of the tasks. Methods that take task kernels find them by these names.
        Matrices follow the tasks.
    matrices : mapping of str to ndarray of shape (m, m), optional
        Kernels or distances between all m samples of the set, by name, where these are
        what is known of the samples: X then has one column, the row of each sample in
        the matrices, as the kernels of :mod:`mtmkl.kernels.precomputed` take it. They
        are not copied, and rows that are left out keep their place in them.
    remarks : sequence of str, optional
        Sentences on how the data were read.

    Attributes
    ----------
    X, y, task, sample : ndarray
        As above; float64 and intp, C-ordered, read-only. Sparse features are a
        ``scipy.sparse.csr_array`` in the form of :func:`mtmkl.sparse.canonical_csr`;
        one that is given with read-only arrays in this form is not copied.

    Raises
    ------
    ValueError
        If lengths disagree, a value is not finite, or a task number is out of range;
        the message names the first offending value.
    """

    X: Inputs
    y: FloatArray
    task: IntArray
    sample: IntArray = None  # type: ignore[assignment]
    name: str
    task_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    origin: Origin = "original"
    truth: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    task_relations: Mapping[str, FloatArray | str] = field(default_factory=dict)
    matrices: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        X = _frozen_inputs(self.X)
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got shape {X.shape}")
        n, d = X.shape
        if n == 0 or d == 0:
            raise ValueError(f"X must have rows and columns, got shape {X.shape}")
        y = _frozen_array(self.y, np.float64)
        task = _frozen_labels("task", self.task)
        if self.sample is None:
            sample = _frozen_array(np.arange(n), np.intp)
        else:
            sample = _frozen_labels("sample", self.sample)
        for label, values in (("y", y), ("task", task), ("sample", sample)):
            if values.shape != (n,):
                raise ValueError(
                    f"{label} must have shape ({n},) like the rows of X, "
                    f"got {values.shape}"
                )
        _check_finite("X", X)
        _check_finite("y", y)
        n_tasks = len(self.task_names) or int(task.max()) + 1
        outside = np.flatnonzero((task < 0) | (task >= n_tasks))
        if outside.size:
            row = int(outside[0])
            raise ValueError(f"task[{row}] is {task[row]}, not in 0..{n_tasks - 1}")
        if not self.task_names:
            missing = np.flatnonzero(np.bincount(task, minlength=n_tasks) == 0)
            if missing.size:
                raise ValueError(
                    f"task {missing[0]} has no row: number the tasks 0..T-1 without "
                    "gaps, or give task_names"
                )
        if self.origin not in ORIGINS:
            raise ValueError(f"origin is {self.origin!r}, not one of {ORIGINS}")

        checked: dict[str, Any] = {"X": X, "y": y, "task": task, "sample": sample}
        checked["task_names"] = _names("task", self.task_names, n_tasks)
        if self.feature_names or not is_sparse(X):
            checked["feature_names"] = _names("feature", self.feature_names, d)
        checked["truth"] = self._checked_truth(n, n_tasks)
        checked["task_relations"] = {
            name: _checked_relation(name, value, n_tasks)
            for name, value in self.task_relations.items()
        }
        for field_name, value in checked.items():
            object.__setattr__(self, field_name, value)  # the dataclass is frozen
        if self.matrices and d != 1:
            raise ValueError(
                "data with matrices have one feature, the row of each sample in "
                f"them, got {d} features"
            )
        for name, matrix in self.matrices.items():
            if matrix.ndim != 2 or not X.max() < matrix.shape[0] == matrix.shape[1]:
                raise ValueError(
                    f"matrices[{name!r}] must be square, with a row for each "
                    f"of the {int(X.max()) + 1} samples, got shape {matrix.shape}"
                )

    def _checked_truth(self, n: int, n_tasks: int) -> dict[str, NDArray[Any]]:
        truth = {}
        for key, value in self.truth.items():
            array = _frozen_array(value)
            if array.dtype == bool and array.shape != (n,):
                raise ValueError(
                    f"truth[{key!r}] is boolean, so it marks rows and must have shape "
                    f"({n},), got {array.shape}"
                )
            if key == "coef" and (array.ndim != 2 or array.shape[1] != n_tasks):
                raise ValueError(
                    f"truth['coef'] must have {n_tasks} columns, one per task, "
                    f"got shape {array.shape}"
                )
            truth[key] = array
        return truth

    def __repr__(self) -> str:
        n, d = self.X.shape
        kind = "sparse features" if is_sparse(self.X) else "features"
        return (
            f"MultiTaskData({self.name!r}, {n} rows, {d} {kind}, "
            f"{self.n_tasks} tasks, {self.origin})"
        )

    @property
    def n_tasks(self) -> int:
        """Number of tasks T, those without rows included."""
        return len(self.task_names)

    @property
    def task_sizes(self) -> IntArray:
        """Number of rows of each task, shape (T,)."""
        return np.bincount(self.task, minlength=self.n_tasks).astype(np.intp)

    def rows_of(self, task: int) -> IntArray:
        """Return the rows of a task, in order.

        Raises
        ------
        ValueError
            If there is no such task.
        """
        return np.flatnonzero(self.task == self._known_task(task))

    def subset(self, index: ArrayLike) -> "MultiTaskData":
        """Return the rows at ``index``, in that order, with every task's name kept.

        Parameters
        ----------
        index : array-like of int, or of bool with n entries
            Rows; negative numbers count from the end.

        Raises
        ------
        ValueError
            If the selection is empty, or a mask of another length.
        IndexError
            If a row does not exist.
        """
        rows = np.asarray(index)
        if rows.dtype == bool:
            if rows.shape != self.y.shape:
                raise ValueError(
                    f"a mask of rows must have shape {self.y.shape}, got {rows.shape}"
                )
            rows = np.flatnonzero(rows)
        if rows.size == 0:
            raise ValueError("an empty selection of rows")
        return self._of_rows(rows)

    def select_tasks(self, tasks: ArrayLike) -> "MultiTaskData":
        """Return the rows of some tasks, renumbered 0.. in the order given.

        Rows keep their order; ``tasks[k]`` of this data is task ``k`` of the result.

        Raises
        ------
        ValueError
            If a task is unknown or named twice, or none is left with a row.
        """
        chosen = [self._known_task(task) for task in np.atleast_1d(np.asarray(tasks))]
        if len(set(chosen)) != len(chosen):
            twice = next(task for task in chosen if chosen.count(task) > 1)
            raise ValueError(f"task {twice} is selected twice")
        number = np.full(self.n_tasks, -1, dtype=np.intp)
        number[chosen] = np.arange(len(chosen))
        rows = np.flatnonzero(number[self.task] >= 0)
        if rows.size == 0:
            raise ValueError(f"tasks {chosen} have no rows")
        coef = {key: C[:, chosen] for key, C in self.truth.items() if key == "coef"}
        return self._of_rows(
            rows,
            task=number[self.task[rows]],
            task_names=tuple(self.task_names[task] for task in chosen),
            truth={**self.truth, **coef},
            task_relations={
                name: value if isinstance(value, str) else value[np.ix_(chosen, chosen)]
                for name, value in self.task_relations.items()
            },
        )

    def digest(self) -> str:
        """Return 16 hexadecimal digits that identify the content.

        The digest covers shape, features, targets, task and sample numbers, and what is
        known of how the tasks are related, and matrices; no remarks, and none of the
        names of tasks and features. It is the same on every platform. Of sparse
        features it covers the canonical form, so how they were stored does not matter;
        the same features, dense, have another digest.
        """
        content = hashlib.sha256(np.asarray(self.X.shape, dtype="<i8").tobytes())
        X = self.X
        inputs: list[tuple[Any, str]] = [(X, "<f8")]
        if is_sparse(X):
            content.update(b"csr")
            indices = (X.indices, f"<i{X.indices.itemsize}")
            inputs = [(X.indptr, "<i8"), indices, (X.data, "<f8")]
        for values, dtype in (
            *inputs,
            (self.y, "<f8"),
            (self.task, "<i8"),
            (self.sample, "<i8"),
        ):
            content.update(np.ascontiguousarray(values, dtype=dtype).data)
        for name, relation in sorted(self.task_relations.items()):
            content.update(f"relation {name}\0".encode())
            content.update(
                relation.encode()
                if isinstance(relation, str)
                else np.ascontiguousarray(relation, dtype="<f8").data
            )
        for name, matrix in sorted(self.matrices.items()):
            content.update(f"matrix {name} {matrix.dtype.str}\0".encode())
            content.update(np.ascontiguousarray(matrix).data)
        return content.hexdigest()[:16]

    def _known_task(self, task: int | np.integer) -> int:
        if int(task) != task or not 0 <= task < self.n_tasks:
            raise ValueError(
                f"no task {task} in {self.name!r}: tasks are 0..{self.n_tasks - 1}"
            )
        return int(task)

    def _of_rows(self, rows: IntArray, **changes: Any) -> "MultiTaskData":
        """Return some rows, with other fields than these where ``changes`` has them."""
        X = self.X[rows]
        truth = changes.pop("truth", self.truth)
        return replace(
            self,
            # Sparse rows are read-only here, so that they are not copied once more.
            X=_read_only(X) if is_sparse(X) else X,
            y=self.y[rows],
            task=changes.pop("task", self.task[rows]),
            sample=self.sample[rows],
            truth={
                key: value[rows] if value.dtype == bool else value
                for key, value in truth.items()
            },
            **changes,
        )


def _frozen_inputs(X: Any) -> Inputs:
    """Return read-only float64 features, dense or CSR, that no caller can change."""
    if not is_sparse(X):
        return _frozen_array(X, np.float64)
    is_frozen = X.format == "csr" and not any(
        part.flags.writeable for part in (X.data, X.indices, X.indptr)
    )
    return _read_only(canonical_csr(X, copy=not is_frozen))


def _read_only(X: Any) -> Any:
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    return X


def _check_finite(what: str, values: Any) -> None:
    """Raise ValueError, which names the first one, if values are not finite."""
    entries = values.data if is_sparse(values) else values
    if np.isfinite(entries).all():
        return
    place = np.argwhere(~np.isfinite(entries))[0]
    if is_sparse(values):
        place = np.array([axis[place[0]] for axis in values.tocoo().coords])
    index = tuple(place.tolist())
    where = ", ".join(map(str, index))
    raise ValueError(f"{what}[{where}] is {values[index]}, not finite")


def _frozen_array(values: ArrayLike, dtype: Any = None) -> NDArray[Any]:
    """Return a read-only C-ordered copy, so that no caller can change the data."""
    array = np.array(values, dtype=dtype, order="C", copy=True)
    array.setflags(write=False)
    return array


def _checked_relation(name: str, value: Any, n_tasks: int) -> FloatArray | str:
    what = f"task_relations[{name!r}]"
    if isinstance(value, str):
        return value
    matrix: FloatArray = _frozen_array(value, np.float64)
    if matrix.shape != (n_tasks, n_tasks):
        raise ValueError(
            f"{what} must be Newick text or have shape ({n_tasks}, {n_tasks}), one row "
            f"and one column per task, got {matrix.shape}"
        )
    _check_finite(what, matrix)
    return matrix


def _frozen_labels(what: str, values: ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{what} must hold integers, got {array.dtype}")
    return _frozen_array(array, np.intp)


def _names(what: str, names: Sequence[str], count: int) -> tuple[str, ...]:
    if not names:
        prefix = "x" if what == "feature" else f"{what} "
        return tuple(f"{prefix}{k + 1}" for k in range(count))
    if len(names) != count:
        raise ValueError(f"{len(names)} {what} names for {count} {what}s")
    if len(set(names)) != count:
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ValueError(f"{what} name {twice!r} is given twice")
    return tuple(names)
