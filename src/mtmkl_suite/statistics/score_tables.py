"""Scores from any source, long or wide, as one number per data set and method.

A table that would make a test over data sets void is refused: parts of one data set
taken for several, scores that are missing or there twice, text where numbers should be.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from mtmkl.errors import some, unknown
from mtmkl_suite.metrics import HIGHER_IS_BETTER
from mtmkl_suite.statistics.pairs import MIN_UNITS
from mtmkl_suite.statistics.score_checks import (
    ScoresError,
    check_names,
    check_values,
    higher_by_words,
    metrics_of,
    refuse_summaries,
)
from mtmkl_suite.tables import (
    GAPS,
    GAPS_OF_NUMBERS,
    are_numbers,
    clean,
    no_number,
    read_table,
)

_HIGHER_IS_BETTER = HIGHER_IS_BETTER | {
    "acc": True, "error_rate": False, "f1": True, "log_loss": False, "mae": False,
    "r2": True, "roc_auc": True,
}  # fmt: skip
"""Scores by name, of other programs too, and whether larger values are better."""

_GAPS = (*GAPS, *GAPS_OF_NUMBERS)
_NUMBER_AT_THE_END = re.compile(r"[\s_\-./:#(]*\d+([.,]\d+)?\s*%?\)?$|\[[^\]]*\]$")


@dataclass(frozen=True)
class ScoreMatrix:
    """One number per data set and method, without gaps."""

    values: pd.DataFrame
    score: str
    higher_better: bool
    remarks: list[str] = field(default_factory=list)
    """Sentences on what was averaged or left out, and on what looks odd."""
    repeats: dict[str, pd.DataFrame] = field(default_factory=dict)
    """By data set, (repeats, methods), what was averaged, and what was not because some
    method has none there: NaN. Empty if the table numbers no repeats."""
    seconds: pd.DataFrame | None = None
    """Seconds of each method on each data set, where the table has them."""
    read: str = ""
    """Sentence on what was read."""


def read_matrix(
    path: Path,
    *,
    method: str = "method",
    dataset: str = "dataset",
    score: str = "score",
    repeats: Sequence[str] = ("repeat",),
    seconds: str = "seconds",
    where: Mapping[str, Sequence[str]] | None = None,
    higher_better: bool | None = None,
    independent: bool = False,
    drop_incomplete: Literal["datasets", "methods"] | None = None,
) -> ScoreMatrix:
    """Read a table of scores.

    A long table has a column for the method, one for the data set and one for the
    score. A wide table, which has no column ``method``, has a row per data set, a
    column that names it, and a column per method.

    Scores are averaged over ``repeats``, columns that number repeats, folds or tasks
    within a data set, where the table has them. ``where`` has the values of the rows
    that are kept. The direction is that of the name of the score, in its column or in
    one that names a metric, unless it is given. Data sets whose names differ by a
    number alone are refused unless they are ``independent``, and missing scores unless
    rows or columns with gaps are dropped. Errors name the column, the row or the value,
    and the remedy.
    """
    method, dataset, score, seconds = map(clean, (method, dataset, score, seconds))
    repeats = list(map(clean, repeats))
    where = {clean(c): list(map(clean, each)) for c, each in (where or {}).items()}
    groups, remarks = [dataset, method, *repeats], list[str]()
    table = _filtered(_read(path, groups, {score, seconds, *where}, remarks), where)
    for name in {*repeats, seconds} - {"repeat", "seconds"} - {*table}:
        raise ScoresError(unknown("column", name, list(map(str, table))))
    for name in filter(table.__contains__, groups[:2]):
        if (empty := table[name] == "").any():
            raise ScoresError(
                f"line {table.index[empty][0]} has no {name}: fill in what the score "
                "belongs to, or delete the row"
            )
    inner = [c for c in repeats if c in table and c not in (method, dataset)]
    metrics = metrics_of(table, score, (method, dataset, seconds))
    if method not in table:  # in a wide table all other columns are methods
        table = table.drop(columns=list(metrics))
        inner = [column for column in inner if column not in metrics]
    long = _long(table, method, dataset, score, inner)
    name = next(iter(metrics.values()), score)
    better = _direction(name, higher_better)
    methods = list(dict.fromkeys(long["method"]))
    if higher_better is not None and higher_by_words(name) is (not better):
        larger, other = ("Larger", "smaller") if better else ("Smaller", "larger")
        remarks.append(
            f"{larger} values are taken as better, as asked for, but {name!r} names a "
            f"score of which {other} values are."
        )
    if method in table and seconds in table:
        took = pd.to_numeric(table[seconds], errors="coerce")
    else:
        took = None
    long = long.assign(score=_numbers(long, name))
    remarks += check_values(long, name)
    refuse_summaries(long, inner)
    given = long.dropna(subset=["score"])
    check_names(given["dataset"].unique(), given["method"].unique())
    others = table.drop(columns=[score, *methods], errors="ignore")
    _refuse_duplicates(long, inner, others)
    if not independent:
        _refuse_numbered(list(dict.fromkeys(long["dataset"])))
    parts = _parts(given, inner)
    values = _means(parts, long, inner, remarks)
    values = _complete(
        values[[m for m in methods if m in values]], drop_incomplete, remarks
    )
    _check_size(values)
    n_repeats = max(map(len, parts.values()))
    read = (
        f"Read {path.name}: {len(table)} rows, {len(values.columns)} methods "
        f"({some(values)}), {len(values)} data sets ({some(values.index)}), "
        f"{f'{n_repeats} repeats, ' * (n_repeats > 1)}{name}: "
        f"{'higher' if better else 'lower'} is better."
    )
    return ScoreMatrix(
        values,
        name,
        better,
        [*remarks, *_oddities(values)],
        {d: parts[d].reindex(columns=values.columns) for d in values.index if inner},
        None if took is None else _seconds(long.assign(score=took), values),
        read,
    )


def _read(
    path: Path, groups: Sequence[str], others: Iterable[str], remarks: list[str]
) -> pd.DataFrame:
    """Return a table as text; its index has the number of each line."""
    found = read_table(path, {*groups, *others})
    table, (dataset, method, *_) = found.cells, groups
    if found.row_names is not None and not {dataset, method} & set(table):
        found.remarks[-1] = f"The first column, without a name, is taken for {dataset}."
        table.insert(0, dataset, found.row_names)
    for name in filter(table.__contains__, groups):
        table[name] = found.labels(name)
    remarks += found.remarks
    return table.astype(object).where(table.notna(), "").astype(str)


def _filtered(table: pd.DataFrame, where: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    for column, wanted in where.items():
        if column not in table:
            raise ScoresError(f"there is no column {column!r}; {_columns(table)}")
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
    table: pd.DataFrame, method: str, dataset: str, score: str, inner: Sequence[str]
) -> pd.DataFrame:
    """Return the columns method, dataset, score, and the inner ones, by line."""
    is_long = method in table
    for kind, name in (("dataset", dataset), ("score", score))[: 1 + is_long]:
        if name not in table:
            hint = "" if is_long else f" (or the methods' by --method-column: {method})"
            raise ScoresError(
                f"there is no column {name!r}; {_columns(table)}. Name the one of the "
                f"{kind}s by --{kind}-column{hint}"
            )
    names = {method: "method", dataset: "dataset", score: "score"}
    if is_long:
        return table[[*names, *inner]].rename(columns=names)
    for name in table.columns.drop([dataset, *inner]):
        if not any(map(_is_score, table[name])):
            raise ScoresError(
                f"column {name!r} has no number: if it names the methods, add "
                f"--method-column {name}; if not, delete it"
            )
    # A column may be called so without the space.
    long = table.melt(
        [dataset, *inner], var_name="method ", value_name="score ", ignore_index=False
    )
    return long.rename(columns={dataset: "dataset"}).rename(columns=str.strip)


def _direction(score: str, given: bool | None) -> bool:
    name = re.sub(r"[\s\-]+", "_", score.lower())
    better = _HIGHER_IS_BETTER.get(name) if given is None else given
    if better is None:
        raise ScoresError(
            f"whether larger values of {score} are better is not known: add "
            "--higher-is-better or --lower-is-better"
        )
    return better


def _numbers(long: pd.DataFrame, score: str) -> list[float]:
    numbers = []
    for text, line, method in zip(
        long["score"], long.index, long["method"], strict=True
    ):
        is_gap = text.lower() in _GAPS
        numbers.append(float(text) if are_numbers([text]) else np.nan)
        if not (is_gap or np.isfinite(numbers[-1])):
            raise ScoresError(
                f"line {line}: the {score} of {method} is {text!r}, wanted a finite "
                f"number (leave the cell empty if there is none){no_number(text)}"
            )
    return numbers


def _seconds(took: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame | None:
    """Return mean seconds at the places of the values, None unless all are known."""
    means = took.pivot_table(index="dataset", columns="method", values="score")
    means = means.reindex(index=values.index, columns=values.columns)
    return means if bool((means > 0).all(axis=None)) else None


def _is_score(text: str) -> bool:
    """Tell whether a text is a number, none, or meant for one."""
    return text.lower() in _GAPS or are_numbers([text]) or bool(no_number(text))


def _refuse_duplicates(
    long: pd.DataFrame, inner: Sequence[str], table: pd.DataFrame
) -> None:
    """Refuse two scores of one method at one place, naming columns that differ."""
    keys = ["method", "dataset", *inner]
    again = long[long.duplicated(keys, keep=False)]
    for values, same in again.groupby(keys, sort=False):
        method, dataset, *more = map(str, values)
        place = ", ".join([dataset, *map(" ".join, zip(inner, more, strict=True))])
        mine = table.loc[same.index]
        differing = [column for column in mine if mine[column].nunique() > 1]
        text = f"{len(same)} scores of {method} on {place}: lines {some(same.index)}"
        if differing:
            raise ScoresError(
                f"{text}. They differ in {some(differing)}: choose by --where "
                f"{differing[0]}=VALUE, or average over it by --repeat-column "
                f"{differing[0]}"
            )
        raise ScoresError(
            f"{text}. Delete those that are there twice; repeats need a column that "
            "numbers them, named by --repeat-column"
        )


def _refuse_numbered(names: Sequence[str]) -> None:
    """Refuse names that differ by a number, spaces, hyphens or case alone."""
    groups: dict[str, list[str]] = {}
    for name in names:
        stem = _NUMBER_AT_THE_END.sub("", name.strip())
        stem = re.sub(r"[\s_\-]+", "", stem).casefold()
        groups.setdefault(stem, []).append(name)
    listed = "; ".join(some(each, 3) for each in groups.values() if len(each) > 1)
    if listed:
        raise ScoresError(
            f"names of data sets differ by a number or spelling alone ({listed}): "
            "parts of one data set (tasks, repeats, folds, sizes) are not independent, "
            "and every test over them would be void. Give the parts one name and "
            "number them in a column named by --repeat-column; if each is a data set "
            "of its own, add --independent"
        )


def _parts(long: pd.DataFrame, inner: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the scores of each data set, its parts by its methods."""
    return {
        str(dataset): rows.pivot(
            index=list(inner) or "dataset", columns="method", values="score"
        )
        for dataset, rows in long.groupby("dataset", sort=False)
    }


def _means(
    parts: Mapping[str, pd.DataFrame],
    long: pd.DataFrame,
    inner: Sequence[str],
    remarks: list[str],
) -> pd.DataFrame:
    """Average within data sets, over the parts for which all methods have a score."""
    if not inner:
        return pd.concat(list(parts.values()))
    shared = {dataset: wide.dropna() for dataset, wide in parts.items()}
    for dataset, wide in shared.items():
        if wide.empty:
            raise ScoresError(
                f"on {dataset} no {' and '.join(inner)} has a score of every method: "
                "their means would be over different parts"
            )
    counts = list(map(len, shared.values()))
    few, many = min(counts), max(counts)
    if many > 1:
        number = str(many) if few == many else f"{few} to {many}"
        varying = [column for column in inner if long[column].nunique() > 1]
        remarks.append(
            f"Each number is a mean over {number} scores within a data set "
            f"({', '.join(varying)}). These are not units of the tests: parts of "
            "one data set are not independent; the posterior from all repeats takes "
            "them as correlated."
        )
    sizes = {d: (len(wide), len(wide) - len(shared[d])) for d, wide in parts.items()}
    dropped = [f"{d}: {lost} of {n}" for d, (n, lost) in sizes.items() if lost]
    if dropped:
        remarks.append(
            "Parts that some method has no score for were left out of all methods' "
            f"means ({some(dropped)})."
        )
    return pd.DataFrame({dataset: wide.mean() for dataset, wide in shared.items()}).T


def _complete(
    values: pd.DataFrame,
    drop: Literal["datasets", "methods"] | None,
    remarks: list[str],
) -> pd.DataFrame:
    gaps = [
        f"{values.columns[column]} on {values.index[row]}"
        for row, column in np.argwhere(values.isna().to_numpy())
    ]
    if not gaps:
        return values
    whole = {"datasets": values.dropna(axis=0), "methods": values.dropna(axis=1)}
    if drop is None:
        raise ScoresError(
            f"{len(gaps)} of {values.size} scores are missing: {some(gaps)}. Add them, "
            f"or --drop-incomplete datasets (leaves {len(whole['datasets'])} of "
            f"{len(values)} data sets) or --drop-incomplete methods (leaves "
            f"{whole['methods'].shape[1]} of {values.shape[1]} methods)"
        )
    left = whole[drop]
    lost = [*values.index.difference(left.index, sort=False)]
    lost.extend(values.columns.difference(left.columns, sort=False))
    remarks.append(f"Left out for missing scores: {some(lost, 20)}.")
    return left


def _check_size(values: pd.DataFrame) -> None:
    n, k = values.shape
    if k < 2:
        raise ScoresError(
            f"{k} method{'s' * (k != 1)} ({some(values.columns)}): a comparison "
            "needs at least 2"
        )
    if n < 2:
        raise ScoresError(
            f"{n} data set{'s' * (n != 1)} ({some(values.index)}): a comparison "
            "over data sets needs at least 2, and 5 for a test. Repeats or tasks of "
            "one data set cannot stand for several"
        )


def _oddities(values: pd.DataFrame) -> list[str]:
    """Return sentences on scores that look odd: constant, equal, or too few."""
    remarks = []
    n = len(values)
    if n < MIN_UNITS:
        remarks.append(
            f"{n} data sets are too few: below {MIN_UNITS} pairs are described and not "
            "tested. Add data sets; more repeats of the same do not help."
        )
    remarks += [
        f"{name} has the same score on every data set: is it a default, or a failed "
        "run?"
        for name in values.columns[values.nunique() == 1]
    ]
    remarks += [
        f"{first} and {second} have equal scores on every data set: are they the same "
        "run?"
        for first, second in combinations(values, 2)
        if values[first].equals(values[second])
    ]
    remarks += [
        f"{name[:-2]} and {name} are ranked as different methods: are they the same?"
        for name in map(str, values)
        if name[-2:] == ".1" and name[:-2] in values  # as pandas calls the second
    ]
    tied = values.index[values.nunique(axis=1) == 1]
    if len(tied):
        remarks.append(f"All methods are equal on {some(tied)}: a tie decides nothing.")
    return remarks


def _columns(table: pd.DataFrame) -> str:
    return f"there are {', '.join(map(str, table))}"
