"""What would make a test over data sets void, looked for in anybody's scores."""

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from mtmkl.statistics.pairs import MIN_UNITS

Numbered = Literal["nested", "independent"]

GAPS = ("", "-", "–", "?", "na", "n/a", "nan", "none", "null")
"""What stands in a cell without a score."""

_NUMBER_AT_THE_END = re.compile(r"[\s_\-./:#(]*\d+([.,]\d+)?\s*%?\)?$|\[[^\]]*\]$")
_PART = "part of the name"
_SHOWN = 5


class ScoresError(ValueError):
    """A table of scores from which no valid test can be made; says what to do."""


def oddities(values: pd.DataFrame) -> list[str]:
    """Return sentences on scores that look odd: constant, equal, or too few.

    Parameters
    ----------
    values : DataFrame of shape (data sets, methods)
    """
    remarks = []
    n = len(values)
    if n < MIN_UNITS:
        remarks.append(
            f"{n} data sets are too few: below {MIN_UNITS} pairs are described and not "
            "tested. Add data sets; more repeats of the same do not help."
        )
    constant = [str(m) for m in values if values[m].nunique() == 1]
    if constant and n > 1:
        verb = "have" if len(constant) > 1 else "has"
        remarks.append(
            f"{some(constant)} {verb} the same score on every data set: is it a "
            "default, or a failed run?"
        )
    names = list(values.columns)
    for position, first in enumerate(names):
        for second in names[position + 1 :]:
            if values[first].equals(values[second]):
                remarks.append(
                    f"{first} and {second} have equal scores on every data set: are "
                    "they the same run?"
                )
    tied = [str(d) for d, row in values.iterrows() if row.nunique() == 1]
    if tied:
        remarks.append(
            f"All methods are equal on {some(tied)}: what ties decides nothing."
        )
    return remarks


def refuse_duplicates(
    long: pd.DataFrame, inner: Sequence[str], table: pd.DataFrame
) -> None:
    """Refuse two scores of one method at one place.

    Parameters
    ----------
    long : DataFrame
        Columns method, dataset, score, line and ``inner``.
    inner : sequence of str
        Columns that number parts of a data set.
    table : DataFrame
        As read, its index two below the line, to find out what the two differ in.

    Raises
    ------
    ScoresError
        Names the lines, and the column in which they differ.
    """
    keys = ["method", "dataset", *inner]
    again = long[long.duplicated(keys, keep=False)]
    if again.empty:
        return
    row = again.iloc[0]
    same = again[(again[keys] == row[keys]).all(axis=1)]
    place = ", ".join([str(row["dataset"]), *(f"{c} {row[c]}" for c in inner)])
    text = (
        f"{len(same)} scores of {row['method']} on {place}: lines "
        f"{some([str(line) for line in same['line']])}"
    )
    mine = table.loc[same["line"] - 2]
    differing = [c for c in table if mine[c].nunique() > 1 and table[c].nunique() < 50]
    differing = [
        c for c in differing if c not in inner and not _looks_measured(mine[c])
    ]
    if differing:
        column = differing[0]
        values = some(list(dict.fromkeys(mine[column])))
        raise ScoresError(
            f"{text}. They differ in column {column!r} ({values}): choose by --where "
            f"{column}=VALUE, or average over it by --repeat-column {column}"
        )
    raise ScoresError(
        f"{text}. Delete those that are there twice; repeats need a column that "
        "numbers them, named by --repeat-column"
    )


def _looks_measured(values: pd.Series) -> bool:
    """Tell decimal fractions, as scores and times are, from sizes and names."""
    return all(is_number(v) and "." in v for v in values)


def group_numbered(
    long: pd.DataFrame,
    inner: Sequence[str],
    numbered: Numbered | None,
    remarks: list[str],
) -> tuple[pd.DataFrame, list[str]]:
    """Refuse names that differ by a number, or make them parts of one data set.

    Parameters
    ----------
    long : DataFrame
        Columns method, dataset, score and ``inner``.
    inner : sequence of str
        Columns that number parts of a data set.
    numbered : {"nested", "independent"} or None
        What the user says of such names.
    remarks : list of str
        Gets a sentence on what was done.

    Returns
    -------
    long : DataFrame
        With the name that parts have in common in place of theirs.
    inner : list of str
        With the column of the parts, if there are any.

    Raises
    ------
    ScoresError
        If there are such names and nothing was said of them.
    """
    names = list(dict.fromkeys(long["dataset"]))
    bases: dict[str, list[str]] = {}
    for name in names:
        bases.setdefault(_base(name), []).append(name)
    groups = {base: each for base, each in bases.items() if len(each) > 1}
    if not groups:
        return long, list(inner)
    listed = "; ".join(some(each, 3) for each in list(groups.values())[:3])
    if numbered is None:
        refuse_parts(f"names of data sets differ by a number alone ({listed}): they",
                      None)  # fmt: skip
    if numbered == "independent":
        remarks.append(
            f"Names that differ by a number alone ({listed}) are taken as independent "
            "data sets, as said."
        )
        return long, list(inner)
    if "" in groups:
        raise ScoresError(
            f"the names {some(groups[''])} are numbers and nothing else, so they "
            "cannot be parts of a named data set: add a column of names"
        )
    remarks.append(
        f"{sum(map(len, groups.values()))} names that differ by a number alone are "
        f"parts of {len(groups)} data set{'s' * (len(groups) > 1)} "
        f"({some(list(groups))}), and averaged within it."
    )
    base = {name: _base(name) if _base(name) in groups else name for name in names}
    renamed = {_PART: long["dataset"], "dataset": long["dataset"].map(base)}
    return long.assign(**renamed), [*inner, _PART]


def _base(name: str) -> str:
    return _NUMBER_AT_THE_END.sub("", name.strip()).strip()


def refuse_parts(what: str, numbered: Numbered | None, remedy: str = "") -> None:
    """Refuse parts of a data set in place of data sets, unless said otherwise.

    Parameters
    ----------
    what : str
        Begins the message.
    numbered : {"nested", "independent"} or None
        What the user says of them.
    remedy : str
        Ends the message.

    Raises
    ------
    ScoresError
        Unless they are said to be independent.
    """
    if numbered == "independent":
        return
    raise ScoresError(
        f"{what} are not independent, and every test over them would be void. Parts of "
        "one data set (tasks, repeats, folds, sizes) are averaged: --numbered nested "
        "for such names, --repeat-column for such a column. If each is a data set of "
        f"its own, add --numbered independent.{remedy}"
    )


def means(long: pd.DataFrame, inner: Sequence[str], remarks: list[str]) -> pd.DataFrame:
    """Average within data sets, over what all methods have there.

    Parameters
    ----------
    long : DataFrame
        Columns method, dataset, score and ``inner``, none of them twice.
    inner : sequence of str
        Columns that number parts of a data set.
    remarks : list of str
        Gets a sentence on what was averaged, and on what was left out.

    Returns
    -------
    DataFrame of shape (data sets, methods)

    Raises
    ------
    ScoresError
        If there is a data set of which no part has a score of every method.
    """
    if not inner:
        return long.pivot(index="dataset", columns="method", values="score")
    cells = {}
    counts, dropped = [], []
    for dataset, rows in long.groupby("dataset", sort=False):
        wide = rows.pivot(index=list(inner), columns="method", values="score")
        shared = wide.dropna()
        if shared.empty:
            raise ScoresError(
                f"on {dataset} no {' and '.join(inner)} has a score of every method: "
                "their means would be over different parts"
            )
        if len(shared) < len(wide):
            dropped.append(f"{dataset}: {len(wide) - len(shared)} of {len(wide)}")
        counts.append(len(shared))
        cells[dataset] = shared.mean()
    if max(counts) > 1:
        few, many = min(counts), max(counts)
        number = str(many) if few == many else f"{few} to {many}"
        varying = [column for column in inner if long[column].nunique() > 1]
        remarks.append(
            f"Each number is a mean over {number} scores within a data set "
            f"({', '.join(varying)}). They are no units of the tests, because parts of "
            "one data set are not independent."
        )
    if dropped:
        remarks.append(
            "Parts that some method has no score for were left out of all methods' "
            f"means ({some(dropped)})."
        )
    return pd.DataFrame(cells).T


def complete(
    values: pd.DataFrame,
    drop: Literal["datasets", "methods"] | None,
    remarks: list[str],
) -> pd.DataFrame:
    """Return scores without gaps.

    Parameters
    ----------
    values : DataFrame of shape (data sets, methods)
    drop : {"datasets", "methods"} or None
        What is left out where a score is missing.
    remarks : list of str
        Gets a sentence on what was left out.

    Raises
    ------
    ScoresError
        If scores are missing and nothing is to be left out; names them.
    """
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
    lost = [str(d) for d in values.index if d not in left.index]
    lost += [str(m) for m in values if m not in left]
    remarks.append(f"Left out for missing scores: {some(lost, 20)}.")
    return left


def check_size(values: pd.DataFrame) -> None:
    """Refuse fewer than two methods or two data sets.

    Raises
    ------
    ScoresError
        Says what is there.
    """
    n, k = values.shape
    if k < 2:
        raise ScoresError(
            f"{k} method{'s' * (k != 1)} ({some(list(values.columns))}): a comparison "
            "needs at least 2"
        )
    if n < 2:
        raise ScoresError(
            f"{n} data set{'s' * (n != 1)} ({some(list(values.index))}): a comparison "
            "over data sets needs at least 2, and 5 for a test. Repeats or tasks of "
            "one data set cannot stand for several"
        )


def is_number(text: str) -> bool:
    """Tell whether a cell is a number or a gap."""
    try:
        float(text)
    except ValueError:
        return text.lower() in GAPS
    return True


def some(names: Sequence[object], count: int = _SHOWN) -> str:
    """List a few names, and say how many more there are."""
    shown = ", ".join(map(str, names[:count]))
    more = len(names) - count
    return f"{shown} and {more} more" if more > 0 else shown


ALL = "all"


_HIGHER_IS_BETTER = {
    "mse": False,
    "rmse": False,
    "misclassified": False,
    "accuracy": True,
    "balanced_accuracy": True,
    "one_of_all_accuracy": True,
    "covariance_distance": False,
    "explained_variance": True,
    "explained_variance_weighted": True,
    "explained_variance_task_mean": True,
    "auc": True,
    "auc_pooled": True,
    "average_precision": True,
    "edge_auc": True,
    "similarity_correlation": True,
}


class SelectionError(ValueError):
    """A selector names a column, axis, unit or metric that scores cannot have."""


def higher_is_better(metric: str) -> bool:
    """Tell the direction of a metric.

    Raises
    ------
    SelectionError
        If the metric has none, such as a number of features.
    """
    if metric not in _HIGHER_IS_BETTER:
        known = ", ".join(_HIGHER_IS_BETTER)
        raise SelectionError(
            f"metric {metric!r} has no better direction; known: {known}"
        )
    return _HIGHER_IS_BETTER[metric]
