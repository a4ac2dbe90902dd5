"""Chosen hyper-parameters: how often each, and how many at ends of grids."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Paper
from mtmkl_suite.judge.sample import fits

CHOICE_COLUMNS = (
    "dataset", "train_size", "method", "parameter", "n", "chosen", "at_low_end",
    "at_high_end",
)  # fmt: skip
"""Columns of :func:`chosen_parameters`."""


def grids_of(config: Paper, experiment: str) -> dict[str, dict[str, list[Any]]]:
    """Return the values that the methods of an experiment choose from, by parameter."""
    return {
        entry.method: config.method_of(entry).grid
        for entry in config.experiments[experiment].methods
    }


def chosen_parameters(
    scores: pd.DataFrame,
    experiment: str,
    grids: Mapping[str, Mapping[str, Sequence[Any]]],
) -> pd.DataFrame:
    """Count the values that methods of an experiment have chosen.

    Returns :data:`CHOICE_COLUMNS`, one row per data set, train size, method and
    parameter. ``n`` counts fits, or tasks where each has a value of its own; ``chosen``
    maps values, most frequent first, to counts; ``at_low_end`` and ``at_high_end`` are
    shares of n, ``nan`` for a grid of one value or of no numbers.
    """
    mine = fits(scores[scores["experiment"] == experiment])
    mine = mine[(mine["params"] != "") & mine["method"].isin(list(grids))]
    rows = []
    keys = ["dataset", "train_size", "method"]
    for place, group in mine.groupby(keys, sort=False):
        found = [json.loads(text) for text in group["params"]]
        for parameter, grid in grids[str(place[2])].items():
            counts = Counter(
                _text(value)
                for params in found
                if parameter in params
                for value in _values(params[parameter], grid)
            )
            if not counts:
                continue
            n = counts.total()
            shares = [math.nan, math.nan]
            if len(grid) > 1 and all(map(_is_number, grid)):
                shares = [counts[_text(end)] / n for end in (min(grid), max(grid))]
            chosen = dict(counts.most_common())
            rows.append((*place, parameter, n, chosen, *shares))
    return pd.DataFrame(rows, columns=list(CHOICE_COLUMNS))


def _values(value: Any, grid: Sequence[Any]) -> list[Any]:
    """Return a value, or those of the tasks: a list that is no value of the grid."""
    return value if isinstance(value, list) and value not in grid else [value]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    return f"{value:g}" if _is_number(value) else json.dumps(value, sort_keys=True)
