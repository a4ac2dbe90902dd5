"""Anybody's scores, long or wide, as one number per data set and method.

What would make a test over data sets void is refused: tasks, repeats or variants of one
data set taken for several, scores that are missing or there twice, text where numbers
should be. What a reader ought to know, and no more, is a remark.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from mtmkl.statistics.score_checks import (
    ALL,
    GAPS,
    Numbered,
    ScoresError,
    SelectionError,
    check_size,
    complete,
    group_numbered,
    higher_is_better,
    is_number,
    means,
    oddities,
    refuse_duplicates,
    refuse_parts,
    some,
)

NAMES = {
    "method": ("method", "algorithm", "classifier", "estimator", "learner", "model"),
    "dataset": ("dataset", "data_set", "data", "problem"),
    "score": ("score", "value", "performance", "result"),
    "repeat": (
        "repeat", "repetition", "run", "fold", "split", "seed", "subset", "task",
    ),
}  # fmt: skip
"""Names of columns that are known, by what they hold."""

_ROLES = ("method", "dataset", "score", "line")

_DIRECTIONS = {
    "acc": True, "f1": True, "r2": True, "roc_auc": True,
    "error": False, "error_rate": False, "loss": False, "log_loss": False, "mae": False,
}  # fmt: skip
"""Scores whose better direction is known beside those of our own metrics."""


@dataclass(frozen=True)
class ScoreMatrix:
    """One number per data set and method, without gaps.

    Attributes
    ----------
    values : DataFrame of shape (data sets, methods)
    score : str
        What the numbers are.
    higher_better : bool
        Direction of the score.
    remarks : list of str
        Sentences on what was averaged or left out, and on what looks odd.
    """

    values: pd.DataFrame
    score: str
    higher_better: bool
    remarks: list[str] = field(default_factory=list)


def read_matrix(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    nested: Sequence[str] = (),
    where: Mapping[str, Sequence[str]] | None = None,
    higher_better: bool | None = None,
    numbered: Numbered | None = None,
    drop_incomplete: Literal["datasets", "methods"] | None = None,
) -> ScoreMatrix:
    """Read a table of scores.

    A long table has a column for the method, one for the data set and one for the
    score. A wide table has a row per data set and a column per method.

    Parameters
    ----------
    path : Path
        ``.csv``, ``.tsv`` (also compressed), or ``.parquet``.
    columns : mapping or None
        Names of the columns of "method", "dataset" and "score" where they are none of
        :data:`NAMES`.
    nested : sequence of str
        Columns that number repeats, folds or tasks within a data set, beside the known
        ones. Scores are averaged over them.
    where : mapping of str to sequence of str, or None
        Columns and the values of rows that are kept.
    higher_better : bool or None
        Direction of the score; None infers it from a name that is known.
    numbered : {"nested", "independent"} or None
        What data sets are whose names differ by a number at the end: parts of one,
        which are averaged, or each a data set of its own. None refuses them.
    drop_incomplete : {"datasets", "methods"} or None
        What to leave out where scores are missing. None refuses them.

    Raises
    ------
    ScoresError
        Names the column, the row or the value, and the remedy.
    """
    given = {kind: name for kind, name in (columns or {}).items() if name}
    table = _read(path)
    _require(table, [*given.values(), *nested, *(where or {})])
    table = _filtered(table, where or {})
    remarks: list[str] = []
    long, score = _long(table, given, nested, numbered, path.stem)
    better = _direction(score, table, higher_better)
    inner = [c for c in _names(long) if c not in _ROLES]
    long = _over_all_tasks(_numbers(long, score), inner, remarks)
    refuse_duplicates(long, inner, table)
    long, inner = group_numbered(long, inner, numbered, remarks)
    values = means(long.dropna(subset=["score"]), inner, remarks)
    methods = [m for m in dict.fromkeys(long["method"]) if m in values]
    order = [d for d in dict.fromkeys(long["dataset"]) if d in values.index]
    values = complete(values.loc[order, methods], drop_incomplete, remarks)
    check_size(values)
    return ScoreMatrix(values, score, better, [*remarks, *oddities(values)])


def _read(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise ScoresError(f"{path} does not exist")
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
        return table.astype(object).where(table.notna(), "").astype(str)
    separator = "\t" if ".tsv" in path.suffixes else ","
    try:
        table = _as_text(path, separator)
        if table.shape[1] == 1:
            for other in (";", "\t"):
                if other in str(table.columns[0]):
                    table = _as_text(path, other)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as e:
        raise ScoresError(
            f"{path} is not a table of comma-separated values: {e}"
        ) from e
    if table.empty:
        raise ScoresError(f"{path} has no rows")
    first = str(table.columns[0])
    if first.startswith("Unnamed") and list(table[first]) == [
        str(k) for k in range(len(table))
    ]:
        table = table.drop(columns=first)  # the row numbers that pandas writes
    return table


def _as_text(path: Path, separator: str) -> pd.DataFrame:
    table: pd.DataFrame = pd.read_csv(
        path, sep=separator, dtype=str, keep_default_na=False, skipinitialspace=True
    )
    return table.apply(lambda column: column.str.strip())


def _require(table: pd.DataFrame, names: Sequence[str]) -> None:
    for name in names:
        if name not in table:
            raise ScoresError(
                f"there is no column {name!r}; there are {', '.join(table.columns)}"
            )


def _filtered(table: pd.DataFrame, where: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    for column, wanted in where.items():
        for value in wanted:
            if value not in set(table[column]):
                known = list(dict.fromkeys(table[column]))
                raise ScoresError(
                    f"column {column!r} has no value {value!r}; it has {some(known)}"
                )
        table = table[table[column].isin(list(wanted))]
    if table.empty:
        raise ScoresError("no row is left: every row fails one of the conditions")
    return table


def _long(
    table: pd.DataFrame,
    given: Mapping[str, str],
    nested: Sequence[str],
    numbered: Numbered | None,
    stem: str,
) -> tuple[pd.DataFrame, str]:
    """Return method, dataset, score, line and nested columns, and the score's name."""
    # The header is line 1 of the file.
    table = table.assign(**{"line ": table.index + 2})
    method = given.get("method") or _known(table, "method")
    dataset = given.get("dataset") or _known(table, "dataset")
    inner = [*nested, *(c for c in _names(table) if _plain(c) in NAMES["repeat"])]
    inner = [c for c in dict.fromkeys(inner) if c not in (method, dataset)]
    if dataset is not None and _plain(dataset) in NAMES["repeat"]:
        refuse_parts(f"column {dataset!r} numbers parts of a data set", numbered)
    if method is None:
        score = given.get("score") or "score"
        return _from_wide(table, dataset, inner, numbered), score
    score = given.get("score") or _score_column(table, (method, dataset, *inner))
    if dataset is None:
        raise ScoresError(
            f"no column is known to name the data sets; there are {_columns(table)}. "
            "Name it by --dataset-column"
        )
    renamed = {method: "method", dataset: "dataset", score: "score", "line ": "line"}
    long = table[[*renamed, *inner]].rename(columns=renamed)
    name = score
    if "metric" in table and table["metric"].nunique() == 1:
        name = str(table["metric"].iloc[0])
    elif _plain(score) in NAMES["score"]:
        name = "score"
    return long, name


def _from_wide(
    table: pd.DataFrame,
    dataset: str | None,
    inner: Sequence[str],
    numbered: Numbered | None,
) -> pd.DataFrame:
    others = [c for c in _names(table) if c not in (*inner, "line ")]
    if dataset is None:
        first = others[0] if others else None
        if first is None or all(is_number(value) for value in table[first]):
            refuse_parts(
                "neither a column for methods nor one with names of data sets was "
                f"found among {_columns(table)}. If its rows are repeats of one data "
                "set they",
                numbered,
                " For a long table give --method-column, --dataset-column and "
                "--score-column; for a wide one --dataset-column",
            )
            dataset = "row"
            table = table.assign(row=[f"row {line - 1}" for line in table["line "]])
        else:
            dataset = first
    methods = [c for c in others if c != dataset]
    long = table.melt(
        [dataset, "line ", *inner], methods, var_name="method ", value_name="score "
    )
    return long.rename(
        columns={
            dataset: "dataset", "method ": "method", "score ": "score", "line ": "line",
        }
    )  # fmt: skip


def _known(table: pd.DataFrame, kind: str) -> str | None:
    for name in NAMES[kind]:
        for column in _names(table):
            if _plain(column) == name:
                return str(column)
    return None


def _score_column(table: pd.DataFrame, taken: Sequence[str | None]) -> str:
    found = _known(table, "score")
    if found is not None:
        return found
    known = [
        c for c in _names(table) if c not in taken and _known_direction(c) is not None
    ]
    if len(known) == 1:
        return str(known[0])
    raise ScoresError(
        f"no column is known to hold the scores; there are {_columns(table)}. Name it "
        "by --score-column. (A wide table has a row per data set and a column per "
        "method, and no column of methods.)"
    )


def _direction(score: str, table: pd.DataFrame, given: bool | None) -> bool:
    names = [score]
    if "metric" in table:
        names = list(dict.fromkeys(table["metric"]))
    found = {_known_direction(name) for name in names}
    if given is not None:
        if found == {not given}:
            better = "lower" if given else "higher"
            raise ScoresError(
                f"{some(names)}: {better} is better, and not as given. If the column "
                "holds something else, rename it"
            )
        return given
    if len(found) == 1 and None not in found:
        return bool(found.pop())
    raise ScoresError(
        f"whether larger values of {some(names)} are better is not known: add "
        "--higher-is-better or --lower-is-better"
    )


def _known_direction(name: str) -> bool | None:
    plain = _plain(name)
    if plain in _DIRECTIONS:
        return _DIRECTIONS[plain]
    try:
        return higher_is_better(plain)
    except SelectionError:
        return None


def _numbers(long: pd.DataFrame, score: str) -> pd.DataFrame:
    numbers = []
    for text, line, method in zip(
        long["score"], long["line"], long["method"], strict=True
    ):
        if text.lower() in GAPS:
            numbers.append(np.nan)
        elif not is_number(text) or not np.isfinite(float(text)):
            raise ScoresError(
                f"line {line}: the {score} of {method} is {text!r}, wanted a finite "
                "number (leave the cell empty if there is none)"
            )
        else:
            numbers.append(float(text))
    return long.assign(score=numbers)


def _over_all_tasks(
    long: pd.DataFrame, inner: Sequence[str], remarks: list[str]
) -> pd.DataFrame:
    """Take the rows over all tasks where a table has them beside those of tasks."""
    for column in inner:
        values = set(long[column])
        if ALL in values and len(values) > 1:
            long = long[long[column] == ALL]
            remarks.append(
                f"Of column {column!r} the rows {ALL!r} are compared, and those of "
                "single ones left out."
            )
    return long


def _names(table: pd.DataFrame) -> list[str]:
    return [str(column) for column in table.columns]


def _plain(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", str(name).strip().lower())


def _columns(table: pd.DataFrame) -> str:
    return ", ".join(c for c in _names(table) if c != "line ")
