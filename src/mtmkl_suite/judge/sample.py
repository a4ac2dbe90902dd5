"""From a scores table to samples: which numbers are averaged, which are the sample."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mtmkl_suite.config.names import COLUMN_METRICS
from mtmkl_suite.files import read_table
from mtmkl_suite.metrics import HIGHER_IS_BETTER

ALL = "all"
"""In place of a task: the rows over all tasks."""

_FIT = (
    "experiment", "dataset", "method", "n_tasks", "subset", "train_size", "repeat",
    "fold", "setting",
)  # fmt: skip

_CELL = [
    "experiment", "method", "dataset", "n_tasks", "subset", "train_size", "repeat",
]  # fmt: skip


class SelectionError(ValueError):
    """A selector names a column, axis, unit or metric that scores cannot have."""


def higher_is_better(metric: str) -> bool:
    """Tell the direction of a metric; an error if it has none."""
    if metric not in HIGHER_IS_BETTER:
        known = ", ".join(HIGHER_IS_BETTER)
        raise SelectionError(
            f"metric {metric!r} has no better direction; known: {known}"
        )
    return HIGHER_IS_BETTER[metric]


def read_scores(path: Path) -> pd.DataFrame:
    """Read a scores table."""
    text = ("setting", "params", "task", "data_digest", "code_version", "train_unit")
    scores = read_table(path, dtype=dict.fromkeys(text, "str"))
    return scores.fillna(dict.fromkeys(text, ""))


def fits(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row per fit (all its metrics share time, iterations, parameters)."""
    whole = scores[scores["task"] == ALL]
    return whole.drop_duplicates(list(_FIT)).reset_index(drop=True)


def seconds_of_cells(scores: pd.DataFrame) -> pd.Series:
    """Return the seconds of each cell, all points tried and the choice among them."""
    fits = scores.drop_duplicates([*_CELL, "fold", "setting"])
    # A cell that chooses gives the seconds of its whole path with each of its choices.
    chooses = fits["params"].fillna("").ne("").groupby([fits[c] for c in _CELL]).any()
    seconds = fits.groupby(_CELL)["fit_seconds"].agg(["sum", "max"])
    return seconds["max"].where(chooses, seconds["sum"])


def select(
    scores: pd.DataFrame, where: Mapping[str, Any], *, unit: str = "repeat"
) -> pd.DataFrame:
    """Return the rows that match, with their values as floats."""
    if unit not in ("repeat", "task", "train_size"):
        raise SelectionError(
            f"unit {unit!r} is unknown: choose repeat, task or train_size"
        )
    wanted = dict(where)
    if wanted.get("metric") in COLUMN_METRICS:
        column = wanted.pop("metric")
        scores = fits(scores).assign(metric=column, value=lambda f: f[column])
    for column in wanted:
        if column not in scores.columns:
            raise SelectionError(
                f"{column!r} is not a column of scores: {', '.join(scores.columns)}"
            )
    # Rows are taken once, at the end: a report calls this thousands of times.
    at = np.arange(len(scores))
    for column, value in wanted.items():
        values = value if isinstance(value, list | tuple) else [value]
        at = at[scores[column].take(at).isin(list(values)).to_numpy()]
    is_whole = scores["task"].take(at).eq(ALL).to_numpy()
    at = at[~is_whole if unit == "task" else is_whole]
    numbers = scores["value"].take(at).astype(float)
    has_value = numbers.notna().to_numpy()
    return scores.take(at[has_value]).assign(value=numbers[has_value])


def average(rows: pd.DataFrame, keys: Sequence[str]) -> pd.Series:
    """Return the mean value at each level of the keys, subsets of tasks first."""
    others = [k for k in (*_FIT, "task") if k != "subset" and k not in keys]
    # Of what is the same in all rows nothing is to be grouped: that takes most time.
    inner = [*keys, *(k for k in others if _varies(rows[k]))]
    by_fit = rows.groupby(inner, sort=True, dropna=False)["value"].mean()
    return by_fit.groupby(level=list(keys), sort=True).mean()


def _varies(column: pd.Series) -> bool:
    values = column.to_numpy()
    return bool((values != values[:1]).any())


def is_mean_of_tasks(scores: pd.DataFrame) -> pd.Series:
    """Tell by experiment, data set and metric if a value is the mean of the tasks'.

    Only those of which single tasks are known are told.
    """
    keys = [*_FIT, "metric"]
    is_whole = scores["task"].eq(ALL)
    means = scores[~is_whole].groupby(keys)["value"].mean()
    whole = scores[is_whole].drop_duplicates(keys).set_index(keys)["value"]
    is_mean = np.isclose(whole.reindex(means.index), means, rtol=1e-9, atol=1e-12)
    places = ["experiment", "dataset", "metric"]
    return pd.Series(is_mean, index=means.index).groupby(level=places).all()


def axis_values(rows: pd.DataFrame, axis: str) -> pd.Series:
    """Return the value of an axis in each row, as floats.

    ``axis``: A column (``n_tasks``), a key of ``setting`` (``gamma``), or an option of
    the data set (``n_irrelevant`` of ``linear_synthetic[n_irrelevant=6]``).
    """
    if axis in rows.columns:
        values = rows[axis]
    else:
        settings = {s: json.loads(s or "{}") for s in rows["setting"].unique()}
        options = {text: dataset_options(text) for text in rows["dataset"].unique()}
        values = pd.Series(
            [
                settings[s].get(axis, options[d].get(axis))
                for s, d in zip(rows["setting"], rows["dataset"], strict=True)
            ],
            index=rows.index,
            dtype=object,
        )
        if values.isna().any():
            where = rows[values.isna()].iloc[0]
            raise SelectionError(
                f"axis {axis!r} is neither a column of scores, nor in the setting "
                f"{where['setting']!r}, nor an option of {where['dataset']!r}"
            )
    try:
        return values.astype(float)
    except (TypeError, ValueError) as error:
        raise SelectionError(f"axis {axis!r} is not a number: {error}") from error


def dataset_options(dataset: str) -> dict[str, str]:
    """Return the options in a data set's id, ``name[key=value,…]``, as text."""
    _, bracket, inner = dataset.partition("[")
    if not bracket:
        return {}
    pairs = (item.partition("=") for item in inner.removesuffix("]").split(","))
    return {key: value for key, _, value in pairs}
