"""Data of one's own: a file with columns for task and target, or a function.

Such data are in no registry. A file is named by its path, a function by
``package.module:function``; both stand where a registered name stands.
"""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.scaling import CATEGORIES, GAPS
from mtmkl.datasets.tasks import by_group
from mtmkl.errors import unknown

DATA_FILES = (".csv", ".csv.gz", ".tsv", ".parquet", ".npz")
"""Endings of a file of one's own that stands for a data set."""

MIN_EXAMPLES = 6
"""Fewer examples of a task cannot be divided for training, validation and testing."""

MIN_OF_CLASS = 3
"""Fewer examples of a class cannot be in each of these roles."""

Outputs = Literal["labels", "numbers"]

_SHOWN = 5
_HUGE = 1e100
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
    impute: bool = False,
    one_hot: bool = False,
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
    impute, one_hot : bool
        Accept missing inputs, and inputs that are text. They are filled and encoded by
        :func:`mtmkl.datasets.scaling.fitted_inputs`, from training rows alone.
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
        has too few examples or one class only; names all of these, and the remedies.
    """
    table, where = _table_of(path)
    ignored = [("ignored", name) for name in ignore]
    problems = [
        unknown(f"column ({role})", name, list(table))
        for role, name in [("task", task), ("target", target), *ignored]
        if name not in table
    ]
    if task == target:
        problems.append(f"column {task!r} is both task and target")
    names = [name for name in table if name not in (task, target, *ignore)]
    if not names:
        problems.append("there are no inputs beside task and target")
    _refuse(path, problems)
    gaps = _gaps(table)
    outer = gaps[[task, target]].any(axis=1).to_numpy()
    if outer.any():
        problems.append(f"{_lacking(gaps[[task, target]], where)}. Delete these rows")
    if gaps[names].any(axis=None) and not impute:
        problems.append(
            f"{_lacking(gaps[names], where)}. Fill or delete them, fill them in by "
            "--impute, or leave out such columns by --ignore"
        )
    inputs, categories = np.empty((len(table), len(names))), []
    for k, name in enumerate(names):
        with _noted(problems):
            inputs[:, k], is_text = _input(table[name], gaps[name], where, one_hot)
            categories += [k] * is_text
    # Gaps stay within the range of the others until they are filled.
    missing = gaps[names].to_numpy()
    inputs = np.where(missing, np.where(missing, np.inf, inputs).min(axis=0), inputs)
    inputs[~np.isfinite(inputs)] = 0.0
    group = table[task].astype(str).to_numpy()
    kept = ~outer
    with _noted(problems):
        kept &= _kept_tasks(group, kept, min_examples)
    inputs, group, missing = inputs[kept], group[kept], missing[kept]
    y = np.zeros(len(group))
    with _noted(problems):
        y = _targets(target, table[target][kept], where, outputs)
        if set(np.unique(y)) <= {-1.0, 1.0} and outputs != "numbers":
            _check_classes(group, y)
        elif y.std() == 0:
            raise DataFileError(f"column {target!r} has one value: {y[0]:g}")
        else:
            y = (y - y.mean()) / y.std()
    _refuse(path, problems)
    if bias:
        inputs = np.column_stack([inputs, np.ones(len(inputs))])
        missing = np.column_stack([missing, np.zeros(len(inputs), bool)])
        names = [*names, "bias"]
    data = by_group(inputs, y, group, name=path.name, feature_names=names)
    if categories or missing.any():
        truth = {GAPS: missing.astype(np.int8), CATEGORIES: np.array(categories, int)}
        data = replace(data, truth={**data.truth, **truth})
    return data


def remarks_on(data: MultiTaskData) -> list[str]:
    """Return sentences on what looks odd: one task, columns that say nothing."""
    found = []
    if data.n_tasks == 1:
        found.append("There is one task only: nothing can be shared between tasks.")
    inputs, names = data.X[:, :-1], data.feature_names[:-1]  # the last is constant
    constant = [name for name, x in zip(names, inputs.T, strict=True) if np.ptp(x) == 0]
    if constant:
        found.append(f"Columns with one value say nothing: {_some(constant)}.")
    first: dict[bytes, str] = {}
    twice = [
        f"{name} as {first[key]}"
        for name, x in zip(names, inputs.T, strict=True)
        if name not in constant and first.setdefault(key := x.tobytes(), name) != name
    ]
    if twice:
        found.append(f"Columns are there twice: {_some(twice)}.")
    huge = [x for x, v in zip(names, inputs.T, strict=True) if abs(v).max() > _HUGE]
    if huge:
        found.append(f"Values above {_HUGE:g} in {_some(huge)}: do they mark gaps?")
    return found


def _refuse(path: Path, problems: Sequence[str]) -> None:
    if len(problems) == 1:
        raise DataFileError(f"{path.name}: {problems[0]}")
    if problems:
        listed = "".join(f"\n  {k}. {text}" for k, text in enumerate(problems, 1))
        raise DataFileError(f"{path.name} has {len(problems)} problems:{listed}")


@contextmanager
def _noted(problems: list[str]) -> Iterator[None]:
    """Add a problem to those that are told together."""
    try:
        yield
    except DataFileError as error:
        problems.append(str(error))


def _table_of(path: Path) -> tuple[Any, str]:
    """Read a data frame, and what its index counts: the lines of a text, or rows."""
    import pandas as pd

    if not path.is_file():
        raise DataFileError(f"{path} does not exist")
    where = "row"
    try:
        if path.suffix == ".npz":
            table = pd.DataFrame(_arrays_of(path))
        elif path.suffix == ".parquet":
            table = pd.read_parquet(path)
        else:
            where, table = "line", _text_table(path)
    except DataFileError:
        raise
    except UnicodeDecodeError:
        raise DataFileError(f"{path.name} is no UTF-8 text: save it as such") from None
    except ValueError as error:  # as all errors of parsers are
        raise DataFileError(f"{path.name} is not a table: {error}") from error
    if table.empty:
        raise DataFileError(f"{path.name} has no rows")
    # Editors show the header as line 1.
    table.index = np.arange(1, len(table) + 1) if where == "row" else table.index + 2
    return table.rename(columns=str), where


def _text_table(path: Path) -> Any:
    """Read texts, without empty lines; with semicolons, decimal commas are points."""
    import pandas as pd

    def read(separator: str) -> Any:
        return pd.read_csv(
            path, sep=separator, dtype=str, keep_default_na=False,
            skip_blank_lines=False, encoding="utf-8-sig",
        ).fillna("")  # fmt: skip

    table = read("\t" if path.suffix == ".tsv" else ",")
    if ";" in str(table.columns[0]):
        table = read(";")
        for name, texts in table.items():
            points = texts.str.replace(",", ".")
            if all(map(_is_number, points[~texts.str.lower().isin(_GAPS)])):
                table[name] = points
    return table[(table != "").any(axis=1)]


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


def _gaps(table: Any) -> Any:
    gaps = table.isna()
    texts = table.select_dtypes(exclude="number").astype(str)
    texts = texts.apply(lambda column: column.str.strip().str.lower())
    gaps[texts.columns] |= texts.isin(_GAPS)
    return gaps


def _lacking(gaps: Any, where: str) -> str:
    rows = gaps.any(axis=1)
    listed = _some([f"{name} ({n})" for name, n in gaps.sum().items() if n])
    return (
        f"{rows.sum()} of {rows.size} rows lack a value, in {listed}; the first is "
        f"{where} {rows.idxmax()}"
    )


def _input(
    values: Any, gaps: Any, where: str, one_hot: bool
) -> tuple[np.ndarray, bool]:
    """Return the numbers of an input, or of its categories, and whether it has those.

    What is missing is 0.
    """
    name, found = values.name, np.zeros(len(values))
    present = ~gaps.to_numpy()
    given = values[present]
    texts = given.astype(str).str.strip().str.lower()
    if texts.isin(["true", "false"]).all():
        found[present] = texts == "true"
        return found, False
    if all(map(_is_number, given)):
        found[present] = given.astype(float)
        if not np.isfinite(found).all():
            line = values.index[~np.isfinite(found)][0]
            raise DataFileError(f"column {name!r}, {where} {line}: infinite")
        return found, False
    if one_hot:
        found[present] = np.unique(given.astype(str), return_inverse=True)[1]
        return found, True
    line, wrong = next((k, v) for k, v in given.items() if not _is_number(v))
    comma = "; decimal commas need semicolons between columns"
    raise DataFileError(
        f"column {name!r} has {str(wrong)!r} in {where} {line}, and inputs are "
        f"numbers: encode it by --one-hot, or leave it out by --ignore {name}"
        f"{comma if _is_number(str(wrong).replace(',', '.')) else ''}"
    )


def _targets(name: str, values: Any, where: str, outputs: Outputs | None) -> np.ndarray:
    """Return −1 and +1 for labels, else the numbers."""
    classes, code = np.unique(np.asarray(values).astype(str), return_inverse=True)
    are_numbers = all(map(_is_number, classes))
    if outputs == "labels" or (outputs is None and len(classes) == 2):
        if len(classes) != 2:
            raise DataFileError(
                f"column {name!r} has {len(classes)} values "
                f"({_some(list(classes))}), and labels are two"
            )
        if are_numbers and float(classes[0]) > float(classes[1]):
            code = 1 - code  # "-1" and "1", "10" and "9": in order of the numbers
        return np.where(code == 1, 1.0, -1.0)
    if not are_numbers:
        raise DataFileError(
            f"column {name!r} has {len(classes)} values that are no "
            f"numbers ({_some(list(classes))}): a target is a number or one of two "
            "labels. Make a column per class, or a file per pair of classes"
        )
    return _input(values, values.isna(), where, one_hot=False)[0]


def _kept_tasks(
    group: np.ndarray, known: np.ndarray, min_examples: int | None
) -> np.ndarray:
    """Return a mask of the rows whose tasks have enough examples."""
    names, code = np.unique(group, return_inverse=True)
    sizes = np.bincount(code[known], minlength=len(names))
    least = MIN_EXAMPLES if min_examples is None else min_examples
    if least < MIN_EXAMPLES:
        raise DataFileError(
            f"--min-examples is {least}, wanted at least {MIN_EXAMPLES}: each task is "
            "divided for training, validation and testing"
        )
    small = [f"{n} ({s})" for n, s in zip(names, sizes, strict=True) if s < least]
    if small and min_examples is None:
        raise DataFileError(
            f"{len(small)} of {len(names)} tasks have fewer than {least} "
            f"examples: {_some(small)}. Leave them out by --min-examples {least}, or "
            "join them"
        )
    if len(names) - len(small) < 1:
        raise DataFileError(f"no task has {least} examples")
    return np.asarray((sizes >= least)[code])


def _check_classes(group: np.ndarray, y: np.ndarray) -> None:
    few = []
    for name in np.unique(group):
        labels = y[group == name]
        rarer = int(min((labels > 0).sum(), (labels < 0).sum()))
        if rarer < MIN_OF_CLASS:
            what = "one class only" if rarer == 0 else f"{rarer} of one class"
            few.append(f"task {str(name)!r} has {what} among {labels.size} examples")
    if few:
        raise DataFileError(
            f"{_some(few)}: each task needs at least {MIN_OF_CLASS} of each class. "
            "Delete or join them"
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
