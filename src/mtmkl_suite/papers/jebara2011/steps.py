"""Choices made again from paths, for a figure on Jebara 2011."""

import json

import pandas as pd

from mtmkl_suite.evaluation.cross_validation import choose
from mtmkl_suite.judge.sample import average
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import half_width

C_GRID_EXPERIMENT = "landmine_18"
C_GRID_METHODS = ("med_18", "independent_18")


def smallest_c(context: Context) -> pd.DataFrame:
    """Return the advantage of kernel selection by the smallest C allowed, Landmine.

    For each smallest C both methods choose again from what the recorded paths scored on
    validation rows. A repeat's advantage is its mean over training sizes.

    Returns ``smallest C``, ``advantage`` in test AUC with its 95 % interval ``low`` to
    ``high`` over ``n`` repeats, and the mean test AUC of either method.
    """
    paths = [
        _recorded_path(context, C_GRID_EXPERIMENT, name) for name in C_GRID_METHODS
    ]
    numbers = []
    values = [set() if path.empty else set(path["C"]) for path in paths]
    for least in sorted(set.intersection(*values)):
        first, second = (_chosen_again(path[path["C"] >= least]) for path in paths)
        advantage = (first - second).groupby("repeat").mean()
        half = half_width(advantage)
        mean = advantage.mean()
        ends = mean - half, mean + half
        of_methods = first.mean(), second.mean()
        numbers.append((least, mean, *ends, len(advantage), *of_methods))
    columns = ["smallest C", "advantage", "low", "high", "n", "med", "independent"]
    return pd.DataFrame(numbers, columns=columns)


def _recorded_path(context: Context, experiment: str, method: str) -> pd.DataFrame:
    """Return the AUC on validation and test rows of every point of the paths."""
    keys = ["train_size", "repeat", "setting"]
    parts = {}
    for metric in ("validation_auc", "auc"):
        rows = context.rows(experiment, metric, {"method": method})
        rows = rows[rows["setting"] != ""]
        if rows.empty:
            return pd.DataFrame()
        parts[metric] = average(rows, keys)
    path = pd.DataFrame(parts).reset_index()
    settings = {text: json.loads(text) for text in path["setting"].unique()}
    return path.assign(C=[settings[text]["C"] for text in path["setting"]])


def _chosen_again(path: pd.DataFrame) -> pd.Series:
    """Return the test AUC of what validation rows choose, by train size and repeat."""
    chosen = {}
    for key, part in path.groupby(["train_size", "repeat"]):
        points = [json.loads(text) for text in part["setting"]]
        errors = 1.0 - part["validation_auc"].to_numpy(dtype=float)[:, None]
        params = choose(errors, points, per_task=False).params
        chosen[key] = part["auc"].iloc[points.index(dict(params))]
    return pd.Series(chosen).rename_axis(["train_size", "repeat"])
