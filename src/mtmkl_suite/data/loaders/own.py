"""Data of one's own: a file with columns for task and target, or a function.

Such data are in no registry. A file is named by its path, a function by
``package.module:function``; both stand where a registered name stands.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.tasks import by_group
from mtmkl.errors import some, unknown
from mtmkl_suite.data.scaling import CATEGORIES, GAPS, NUMBERS, STANDARDISED
from mtmkl_suite.errors import TableError
from mtmkl_suite.tables import (
    Table,
    are_numbers,
    clean,
    is_numeric,
    no_number,
    read_table,
)

DATA_FILES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".npz")
"""Endings of a file of one's own that stands for a data set, in any case."""

MIN_SAMPLES = 6
"""Fewer samples of a task cannot be divided for training, validation and testing."""

MIN_OF_CLASS = 3
"""Fewer samples of a class cannot be in each of these roles."""

MIN_WITH_SPREAD = 9
"""Fewer samples of a task leave but one for testing, a fifth, and no variance."""

Outputs = Literal["labels", "numbers"]

_HUGE = 1e100
_SAME = 1 - 1e-12


def is_own(name: str) -> bool:
    """Tell whether a name of a data set is a file or a function of one's own."""
    return is_file(name) or ":" in name


def is_file(name: str) -> bool:
    """Tell whether a name of a data set is that of a file, by its ending."""
    return name.lower().endswith(DATA_FILES)


def load_file(
    path: Path,
    *,
    task: str,
    target: str,
    ignore: Sequence[str] = (),
    outputs: Outputs | None = None,
    min_samples: int | None = None,
    impute: bool = False,
    one_hot: bool = False,
    unit_range: bool = False,
    bias: bool = True,
) -> MultiTaskData:
    """Read a table, one row per sample, as tasks in sorted order.

    All columns but ``task``, ``target`` and the ignored ones are features. An ``.npz``
    file has arrays in place of columns, and the features as its only other array of two
    dimensions, or as ``X``.

    Labels are two values, of which the second in order becomes +1, the first −1; by
    default two values are labels. Numbers get the mean 0 and the standard deviation 1,
    ``unit_range`` scales features from 0 to 1, ``impute`` and ``one_hot`` accept
    missing features and text: all by training rows alone, see
    :mod:`mtmkl_suite.data.scaling`.

    Tasks with fewer than ``min_samples`` are left out; None refuses those with fewer
    than :data:`MIN_SAMPLES`. ``bias`` adds a feature that is 1, for methods without an
    intercept.
    """
    task, target, ignore = clean(task), clean(target), list(map(clean, ignore))
    table = read_table(path, [task, target], ignore)
    cells, known = table.cells, table.names
    ignored = [("ignored", name) for name in ignore]
    problems = [
        unknown(f"column ({role})", name, known)
        for role, name in [("task", task), ("target", target), *ignored]
        if name not in known
    ]
    if task == target:
        problems.append(f"column {task!r} is both task and target")
    names = [name for name in known if name not in (task, target, *ignore)]
    if not names:
        problems.append("there are no features beside task and target")
    renamed = re.compile(rf"{re.escape(target)}(\.\d+)?", re.IGNORECASE)
    problems += [
        _copy(name, target, "is named like")
        for name in names
        if renamed.fullmatch(name)
    ]
    _refuse(path, problems)
    gaps = cells[[task, target, *names]].apply(lambda column: table.gaps(column.name))
    outer = gaps[[task, target]].any(axis=1).to_numpy()
    if outer.any():
        lacking, but = _lacking(table, gaps[[task, target]])
        problems.append(f"{lacking}. Delete these rows{but}")
    missing = gaps[names].to_numpy()
    if missing.any() and not impute:
        lacking, but = _lacking(table, gaps[names])
        problems.append(
            f"{lacking}. Fill or delete them, fill them in by --impute, or leave out "
            f"such columns by --ignore{but}"
        )
    inputs, categories = np.empty((len(cells), len(names))), []
    for k, name in enumerate(names):
        with _noted(problems):
            inputs[:, k], is_text = _input(table, name, ~missing[:, k], one_hot)
            categories += [k] * is_text
    # Gaps stay within the range of the others until they are filled.
    inputs = np.where(missing, np.where(missing, np.inf, inputs).min(axis=0), inputs)
    inputs[~np.isfinite(inputs)] = 0.0
    group = np.asarray(table.labels(task), dtype=str)
    kept = ~outer
    with _noted(problems):
        kept &= _kept_tasks(group, kept, min_samples)
    small = sorted(set(group[~outer]) - set(group[kept]))
    inputs, group, missing = inputs[kept], group[kept], missing[kept]
    y, kind = np.zeros(len(group)), ""
    with _noted(problems):
        y, kind = _targets(table, target, kept, outputs)
        if np.ptp(y) == 0:
            raise TableError(f"column {target!r} has one value: {y[0]:g}")
        if outputs_of(y, outputs) == "labels":
            _check_classes(group, y)
        else:
            _check_spread(group)
        problems += [
            _copy(name, target, "says the same in each row as")
            for name, x, gap in zip(names, inputs.T, missing.T, strict=True)
            if _is_copy(x[~gap], y[~gap])
        ]
    _refuse(path, problems)
    read = (
        f"Read {path.name}: {len(y)} rows, tasks in {task} ({some(np.unique(group))}), "
        f"{len(names)} features ({some(names)}), target {target} ({kind})."
    )
    listed = {
        "Inputs as categories": [
            f"{names[k]} ({np.unique(inputs[~missing[:, k], k]).size} values)"
            for k in categories
        ],
        "Columns that are ignored": ignore,
        "Small tasks that are left out": small,
    }
    remarks = [f"{what}: {some(each)}." for what, each in listed.items() if each]
    if missing.any():
        lacking, _ = _lacking(table, gaps[names])
        remarks.append(f"To be filled in: {lacking}.")
    if bias:
        inputs = np.column_stack([inputs, np.ones(len(inputs))])
        missing = np.column_stack([missing, np.zeros(len(inputs), bool)])
        ours = "bias"
        while ours in names:
            ours += "_"
        names = [*names, ours]
    data = by_group(inputs, y, group, name=path.name, feature_names=names)
    data = replace(data, remarks=(read, *remarks, *table.remarks))
    truth: dict[str, np.ndarray] = {}
    if outputs_of(y, outputs) == "numbers":
        truth[STANDARDISED] = np.ones(1, dtype=np.int8)
    if categories or missing.any() or unit_range:
        truth[GAPS] = missing.astype(np.int8)
        truth[CATEGORIES] = np.array(categories, int)
    if unit_range:
        given = range(missing.shape[1] - bias)
        truth[NUMBERS] = np.array([k for k in given if k not in categories], int)
    return replace(data, truth={**data.truth, **truth})


def outputs_of(y: np.ndarray, asked: Outputs | None = None) -> Outputs:
    """Return what targets are: as asked, or labels if all are −1 or +1."""
    return asked or ("labels" if set(np.unique(y)) <= {-1.0, 1.0} else "numbers")


def remarks_on(data: MultiTaskData) -> list[str]:
    """Return sentences on what looks odd: one task, names alike, huge values."""
    found = []
    if data.n_tasks == 1:
        found.append("There is one task only: nothing can be shared between tasks.")
    alike: dict[str, list[str]] = {}
    for name in data.task_names:
        alike.setdefault(name.casefold(), []).append(name)
    groups = [" and ".join(group) for group in alike.values() if len(group) > 1]
    if groups:
        found.append(f"Tasks differ by case alone: {some(groups)}.")
    inputs, names = data.X[:, :-1], data.feature_names[:-1]  # the last is constant
    huge = [x for x, v in zip(names, inputs.T, strict=True) if abs(v).max() > _HUGE]
    if huge:
        found.append(f"Values above {_HUGE:g} in {some(huge)}: do they mark gaps?")
    return found


def _refuse(path: Path, problems: Sequence[str]) -> None:
    if len(problems) == 1:
        raise TableError(f"{path.name}: {problems[0]}")
    if problems:
        listed = "".join(f"\n  {k}. {text}" for k, text in enumerate(problems, 1))
        raise TableError(f"{path.name} has {len(problems)} problems:{listed}")


@contextmanager
def _noted(problems: list[str]) -> Iterator[None]:
    """Add a problem to those that are told together."""
    try:
        yield
    except TableError as error:
        problems.append(str(error))


def _copy(name: str, target: str, how: str) -> str:
    return (
        f"column {name!r} {how} the target {target!r}: leave it out by --ignore "
        f"{name}, or rename it if it is another quantity"
    )


def _is_copy(x: np.ndarray, y: np.ndarray) -> bool:
    """Tell whether a feature is the target, in whatever unit."""
    if not x.size or np.ptp(x) == 0 or np.ptp(y) == 0:
        return False
    scaled = x / np.abs(x).max()
    return abs(np.corrcoef(scaled, y)[0, 1]) > _SAME


def _lacking(table: Table, gaps: Any) -> tuple[str, str]:
    """Return how many rows lack a value, and what to do with a name that looks so."""
    rows, listed, spelled = gaps.any(axis=1), [], set()
    for name in gaps.columns[gaps.any()]:
        values = table.cells[name]
        found = set() if is_numeric(values) else set(values[gaps[name]]) - {""}
        if not are_numbers(values[~gaps[name]].astype(str)):
            spelled |= found
        as_text = f", as {some(map(repr, sorted(found)))}" if found else ""
        listed.append(f"{name} ({gaps[name].sum()}{as_text})")
    return (
        f"{rows.sum()} of {rows.size} rows lack a value, in {some(listed)}; the first "
        f"is {table.where} {rows.idxmax()}",
        f". If {some(map(repr, sorted(spelled)))} is a value and no gap, rename it"
        if spelled
        else "",
    )


def _input(
    table: Table, name: str, present: np.ndarray, one_hot: bool
) -> tuple[np.ndarray, bool]:
    """Return the numbers of a feature, or of its categories, and whether it has those.

    What is missing is 0.
    """
    found = np.zeros(len(table.cells))
    given = table.cells[name][present]
    if is_numeric(given) or are_numbers(given):
        found[present] = given.astype(float)
        if not np.isfinite(found).all():
            line = table.cells.index[~np.isfinite(found)][0]
            raise TableError(f"column {name!r}, {table.where} {line}: infinite")
        return found, False
    if given.str.lower().isin(["true", "false"]).all():
        found[present] = given.str.lower() == "true"
        return found, False
    if one_hot:
        labels = np.asarray(table.labels(name, present), dtype=str)
        found[present] = np.unique(labels, return_inverse=True)[1]
        return found, True
    wrong = given[[not are_numbers([text]) for text in given]]
    # A number with a comma is shown if there is nothing worse.
    worse = wrong[[not are_numbers([text.replace(",", ".")]) for text in wrong]]
    line, text = next((worse if len(worse) else wrong).items())
    raise TableError(
        f"column {name!r} has {text!r} in {table.where} {line}, and features are "
        f"numbers: encode it by --one-hot, or leave it out by --ignore {name}"
        f"{no_number(text)}"
    )


def _targets(
    table: Table, name: str, rows: np.ndarray, outputs: Outputs | None
) -> tuple[np.ndarray, str]:
    """Return −1 and +1 for labels, else the numbers; and these in words."""
    remarks = list(table.remarks)
    classes, code = np.unique(
        np.asarray(table.labels(name, rows), dtype=str), return_inverse=True
    )
    if outputs == "labels" or (outputs is None and len(classes) == 2):
        if len(classes) != 2:
            raise TableError(
                f"column {name!r} has {len(classes)} values "
                f"({some(classes)}), and labels are two"
            )
        if are_numbers(classes) and float(classes[0]) > float(classes[1]):
            # "-1" and "1", "10" and "9": in order of the numbers
            classes, code = classes[::-1], 1 - code
        return np.where(code == 1, 1.0, -1.0), f"labels {' and '.join(classes)}"
    table.remarks[:] = remarks  # several spellings of a number are no news
    if wrong := [each for each in classes if not are_numbers([each])]:
        line = table.cells.index[rows][np.isin(classes[code], wrong)][0]
        raise TableError(
            f"column {name!r} has {len(wrong)} value{'s' * (len(wrong) > 1)} that are "
            f"no numbers ({some(wrong)}; first in {table.where} {line}): a target is a "
            "number or one of two labels. Make a column per class, or a file per pair "
            f"of classes{no_number(wrong[0])}"
        )
    found = _input(table, name, rows, one_hot=False)[0][rows]
    return found, f"numbers from {found.min():g} to {found.max():g}"


def _kept_tasks(
    group: np.ndarray, known: np.ndarray, min_samples: int | None
) -> np.ndarray:
    """Return a mask of the rows whose tasks have enough samples."""
    names, sizes = np.unique(group[known], return_counts=True)
    least = MIN_SAMPLES if min_samples is None else min_samples
    if least < MIN_SAMPLES:
        raise TableError(
            f"--min-samples is {least}, wanted at least {MIN_SAMPLES}: each task is "
            "divided for training, validation and testing"
        )
    small = [f"{n} ({s})" for n, s in zip(names, sizes, strict=True) if s < least]
    if small and min_samples is None:
        raise TableError(
            f"{len(small)} of {len(names)} tasks have fewer than {least} "
            f"samples: {some(small)}. Leave them out by --min-samples {least}, or "
            "join them"
        )
    if len(names) - len(small) < 1:
        raise TableError(f"no task has {least} samples")
    return np.isin(group, names[sizes >= least])


def _check_spread(group: np.ndarray) -> None:
    largest = np.unique(group, return_counts=True)[1].max()
    if largest < MIN_WITH_SPREAD:
        raise TableError(
            f"the largest task has {largest} samples, of which one is for testing, and "
            f"explained variance needs two: one task must have {MIN_WITH_SPREAD} or "
            "more. Join tasks"
        )


def _check_classes(group: np.ndarray, y: np.ndarray) -> None:
    few = []
    for name in np.unique(group):
        labels = y[group == name]
        rarer = int(min((labels > 0).sum(), (labels < 0).sum()))
        if rarer < MIN_OF_CLASS:
            what = "one class only" if rarer == 0 else f"{rarer} of one class"
            few.append(f"task {str(name)!r} has {what} among {labels.size} samples")
    if few:
        raise TableError(
            f"{some(few)}: each task needs at least {MIN_OF_CLASS} of each class. "
            "Delete or join them"
        )
