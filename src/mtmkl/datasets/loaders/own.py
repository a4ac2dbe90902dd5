"""Data of one's own: a file with columns for task and target, or a function.

Such data are in no registry. A file is named by its path, a function by
``package.module:function``; both stand where a registered name stands.
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.tasks import by_group

DATA_FILES = (".csv", ".csv.gz", ".tsv", ".parquet", ".npz")
"""Endings of a file of one's own that stands for a data set."""

MIN_EXAMPLES = 6
"""Fewer examples of a task cannot be divided for training, validation and testing."""

MIN_OF_CLASS = 3
"""Fewer examples of a class cannot be in each of these roles."""

Outputs = Literal["labels", "numbers"]

_SHOWN = 5
_GAPS = ("", "na", "n/a", "nan", "none", "null", "?")


class DataFileError(ValueError):
    """A file cannot be read as tasks; says what to change."""


def is_own(name: str) -> bool:
    """Tell whether a name of a data set is a file or a function of one's own."""
    return is_file(name) or ":" in name


def is_file(name: str) -> bool:
    """Tell whether a name of a data set is that of a file, by its ending."""
    return name.endswith(DATA_FILES)


def load_file(
    path: Path,
    *,
    task: str,
    target: str,
    ignore: Sequence[str] = (),
    outputs: Outputs | None = None,
    min_examples: int | None = None,
    bias: bool = True,
) -> MultiTaskData:
    """Read a table, one row per example, as tasks.

    Parameters
    ----------
    path : Path
        Ends with one of :data:`mtmkl.datasets.loaders.own.DATA_FILES`. An ``.npz`` file
        has arrays in place of columns: those of task and target, and the inputs as the
        only other array of two dimensions, or as ``X``.
    task, target : str
        Columns. All others are inputs.
    ignore : sequence of str
        Columns that are no inputs.
    outputs : {"labels", "numbers"} or None
        Labels are two values, of which the second in order becomes +1, the first −1.
        Numbers are divided by their standard deviation, after subtracting the mean,
        both over all examples. None: labels, if there are two values.
    min_examples : int or None
        Tasks with fewer examples are left out. None refuses tasks with fewer than
        :data:`MIN_EXAMPLES`.
    bias : bool
        Add an input that is 1 everywhere, for methods without an intercept.

    Returns
    -------
    MultiTaskData
        Tasks in sorted order; named after the file.

    Raises
    ------
    DataFileError
        If the file or a column is missing, a value is missing or no number, or a task
        has too few examples or one class only; names it and the remedy.
    """
    table = _table_of(path)
    ignored = [("ignored", name) for name in ignore]
    for role, name in [("task", task), ("target", target), *ignored]:
        if name not in table:
            raise DataFileError(
                f"{path.name} has no column {name!r} ({role}); it has "
                f"{_some(list(table), 30)}"
            )
    if task == target:
        raise DataFileError(f"column {task!r} is both task and target")
    names = [name for name in table if name not in (task, target, *ignore)]
    if not names:
        raise DataFileError(f"{path.name} has no inputs beside task and target")
    _refuse_gaps(path, table[[task, target, *names]])
    inputs = np.column_stack([_numbers(path, name, table[name]) for name in names])
    group = np.asarray(table[task]).astype(str)
    y = _targets(path, target, table[target], outputs)
    is_labels = set(np.unique(y)) <= {-1.0, 1.0} and outputs != "numbers"
    kept = _kept_tasks(path, group, min_examples)
    inputs, group, y = inputs[kept], group[kept], y[kept]
    if is_labels:
        _check_classes(path, group, y)
    else:
        if y.std() == 0:
            raise DataFileError(
                f"{path.name}: column {target!r} has one value: {y[0]:g}"
            )
        y = (y - y.mean()) / y.std()
    if bias:
        inputs = np.column_stack([inputs, np.ones(len(inputs))])
        names = [*names, "bias"]
    return by_group(inputs, y, group, name=path.name, feature_names=names)


def _table_of(path: Path) -> Any:
    """Read a data frame: of texts from a csv file, else of what is stored."""
    import pandas as pd

    if not path.is_file():
        raise DataFileError(f"{path} does not exist")
    separator = "\t" if path.suffix == ".tsv" else ","
    try:
        if path.suffix == ".npz":
            table = pd.DataFrame(_arrays_of(path))
        elif path.suffix == ".parquet":
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    except DataFileError:
        raise
    except ValueError as error:  # as all errors of parsers are
        raise DataFileError(f"{path.name} is not a table: {error}") from error
    if table.empty:
        raise DataFileError(f"{path.name} has no rows")
    return table.rename(columns=str)


def _arrays_of(path: Path) -> dict[str, Any]:
    """Return vectors by name, and the columns of the inputs by number."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise DataFileError(f"{path.name} cannot be read: {error}") from error
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    chosen = "X" if "X" in tables else tables[0] if len(tables) == 1 else None
    if chosen is None:
        raise DataFileError(
            f"{path.name} needs inputs as one array of two dimensions, or as 'X'; it "
            f"has {', '.join(f'{n} {a.shape}' for n, a in arrays.items())}"
        )
    X = arrays[chosen]
    vectors = {name: a for name, a in arrays.items() if a.shape == (len(X),)}
    inputs = {f"x{k + 1}": X[:, k] for k in range(X.shape[1])}
    if clash := [name for name in vectors if name in inputs]:
        raise DataFileError(f"{path.name}: rename array {clash[0]!r}: inputs are so")
    return vectors | inputs


def _refuse_gaps(path: Path, table: Any) -> None:
    gaps = table.isna()
    texts = table.select_dtypes(exclude="number").astype(str)
    texts = texts.apply(lambda column: column.str.strip().str.lower())
    gaps[texts.columns] |= texts.isin(_GAPS)
    rows = gaps.any(axis=1).to_numpy()
    if not rows.any():
        return
    listed = _some([f"{name} ({n})" for name, n in gaps.sum().items() if n])
    raise DataFileError(
        f"{path.name}: {rows.sum()} of {rows.size} rows lack a value, in {listed}; the "
        f"first is row {np.flatnonzero(rows)[0] + 1}. Fill or delete them, or leave "
        "out such columns by --ignore"
    )


def _numbers(path: Path, name: str, values: Any) -> np.ndarray:
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        wrong = next(value for value in values if not _is_number(value))
        raise DataFileError(
            f"{path.name}: column {name!r} has {str(wrong)!r}, and inputs are numbers: "
            f"encode it, or leave it out by --ignore {name}"
        ) from None
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise DataFileError(f"{path.name}: column {name!r}, row {row + 1}: infinite")
    return numbers


def _targets(path: Path, name: str, values: Any, outputs: Outputs | None) -> np.ndarray:
    """Return −1 and +1 for labels, else the numbers."""
    classes, code = np.unique(np.asarray(values).astype(str), return_inverse=True)
    are_numbers = all(map(_is_number, classes))
    if outputs == "labels" or (outputs is None and len(classes) == 2):
        if len(classes) != 2:
            raise DataFileError(
                f"{path.name}: column {name!r} has {len(classes)} values "
                f"({_some(list(classes))}), and labels are two"
            )
        if are_numbers and float(classes[0]) > float(classes[1]):
            code = 1 - code  # "-1" and "1", "10" and "9": in order of the numbers
        return np.where(code == 1, 1.0, -1.0)
    if not are_numbers:
        raise DataFileError(
            f"{path.name}: column {name!r} has {len(classes)} values that are no "
            f"numbers ({_some(list(classes))}): a target is a number or one of two "
            "labels. Make a column per class, or a file per pair of classes"
        )
    return _numbers(path, name, values)


def _kept_tasks(path: Path, group: np.ndarray, min_examples: int | None) -> np.ndarray:
    """Return a mask of the rows whose tasks have enough examples."""
    names, code, sizes = np.unique(group, return_inverse=True, return_counts=True)
    least = MIN_EXAMPLES if min_examples is None else min_examples
    if least < MIN_EXAMPLES:
        raise DataFileError(
            f"--min-examples is {least}, wanted at least {MIN_EXAMPLES}: each task is "
            "divided for training, validation and testing"
        )
    small = [f"{n} ({s})" for n, s in zip(names, sizes, strict=True) if s < least]
    if small and min_examples is None:
        raise DataFileError(
            f"{path.name}: {len(small)} of {len(names)} tasks have fewer than {least} "
            f"examples: {_some(small)}. Leave them out by --min-examples {least}, or "
            "join them"
        )
    if len(names) - len(small) < 1:
        raise DataFileError(f"{path.name}: no task has {least} examples")
    return np.asarray((sizes >= least)[code])


def _check_classes(path: Path, group: np.ndarray, y: np.ndarray) -> None:
    for name in np.unique(group):
        labels = y[group == name]
        rarer = int(min((labels > 0).sum(), (labels < 0).sum()))
        if rarer < MIN_OF_CLASS:
            what = "one class only" if rarer == 0 else f"{rarer} of one class"
            raise DataFileError(
                f"{path.name}: task {str(name)!r} has {what} among {labels.size} "
                f"examples: it needs at least {MIN_OF_CLASS} of each. Delete or join it"
            )


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _some(names: Sequence[object], count: int = _SHOWN) -> str:
    shown = ", ".join(map(str, names[:count]))
    more = len(names) - count
    return f"{shown} and {more} more" if more > 0 else shown
