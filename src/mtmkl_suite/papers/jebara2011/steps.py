"""Computations of figures, tables and claims on Jebara 2011 from its scores."""

import json
import math

import pandas as pd

from mtmkl_suite.evaluation.cross_validation import best_points
from mtmkl_suite.judge.sample import average
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import half_width
from mtmkl_suite.statistics.t_test import t_test
from mtmkl_suite.statistics.ties import scale_of

C_GRID_EXPERIMENT = "landmine_18"
C_GRID_METHODS = ("med_18", "independent_18")

MOST_ITERATIONS = 40
"""Of a solution by Algorithm 1, as the paper has it."""

WITHIN = f"relative α, all up to which take at most {MOST_ITERATIONS}"

_TIMED = {
    "Dermatology": ("run_time", "features"),
    "Landmine": ("run_time_landmine", "18"),
}
"""Data of the sweeps of Algorithm 1: the experiment, and the kernels of its methods."""


def smallest_c(context: Context) -> pd.DataFrame:
    """Return the advantage of kernel selection by the smallest C allowed, Landmine.

    For each smallest C both methods choose again from what the recorded paths scored on
    validation rows. A repeat's advantage is its mean over training sizes.
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


def heart_aucs(context: Context) -> pd.DataFrame:
    """Return both readings of "the test AUC" of Heart, by method and α.

    Each is a mean over repeats, with the p of its difference from the pooled SVM's.
    """
    methods = ["independent_cubic", "pooled_cubic", "adaptive_pooling"]
    metrics = {"mean AUC of the tasks": "auc", "AUC of all patients": "auc_pooled"}
    values: dict[tuple[float, str], dict[str, pd.Series]] = {}
    for column, metric in metrics.items():
        rows = context.rows("heart_pooling", metric, {"method": methods})
        for (method, setting), part in rows.groupby(["method", "setting"]):
            # Baselines come first.
            along = math.log1p(json.loads(str(setting))["alpha"]) if setting else -1.0
            place = along, context.label(str(method))
            values.setdefault(place, {})[column] = average(part, ["repeat"])
    pooled = values.get((-1.0, context.label("pooled_cubic")), {})
    found = []
    for (along, label), of_method in sorted(values.items()):
        name = label if along < 0 else f"{label}, log(1 + α) = {along:.1f}"
        row: dict[str, object] = {"method": name}
        for column, test in of_method.items():
            row[column] = test.mean()
            both = pd.concat([test, pooled.get(column, test)], axis=1).dropna()
            one, two = both.to_numpy().T
            row[f"p, {column}"] = t_test(one - two, scale=scale_of(one, two)).p
            row["n"] = len(test)
        found.append(row)
    columns = ["method", *(c for m in metrics for c in (m, f"p, {m}")), "n"]
    return pd.DataFrame(found, columns=columns)


def sweeps_over_alpha(context: Context) -> pd.DataFrame:
    """Return what Algorithm 1 costs along α, by data, ϖ of its stopping rule and C.

    Times are those of a sweep in units of independent SVMs with the same C; sweeps of
    the smallest train size are not timed.
    """
    cell = ["train_size", "repeat"]
    found = []
    for name, (experiment, kernels) in _TIMED.items():
        stem = f"algorithm_1_{kernels}_"
        methods = [m for m in context.config.methods if m.startswith(stem)]
        for method in methods:
            rows = context.rows(experiment, "auc", {"method": method})
            cost = method.removeprefix(stem).removesuffix("_loose")
            baseline = f"independent_{kernels}_{cost}"
            svm = context.rows(experiment, "auc", {"method": baseline})
            if rows.empty or svm.empty:
                continue
            alpha = [json.loads(text)["relative_alpha"] for text in rows["setting"]]
            rows = rows.assign(alpha=alpha)
            n_iter = rows.loc[rows["alpha"] > 0, "n_iter"]
            too_many = rows.loc[rows["n_iter"] > MOST_ITERATIONS, "alpha"].min()
            few = rows.loc[~(rows["alpha"] >= too_many), "alpha"].max()
            # A path is solved as a whole: only the sum of its times has a meaning.
            ratio = (
                rows.groupby(cell)["fit_seconds"].sum()
                / svm.groupby(cell)["fit_seconds"].sum()
            )
            sizes = ratio.index.get_level_values("train_size")
            timed = ratio[sizes > sizes.min()].dropna()
            params = context.config.methods[method].params
            times = timed.median(), timed.max(), len(ratio)
            limits = n_iter.min(), n_iter.max(), few
            found.append((name, params["change_tol"], params["C"], *limits, *times))
    columns = [
        "data", "ϖ", "C", "iterations, fewest", "iterations, most", WITHIN,
        "times the SVMs, median", "times the SVMs, most", "n",
    ]  # fmt: skip
    table = pd.DataFrame(found, columns=columns)
    return table.sort_values(["data", "ϖ", "C"], ignore_index=True)


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
        (pick,), _ = best_points(errors, points)
        chosen[key] = part["auc"].iloc[pick]
    return pd.Series(chosen).rename_axis(["train_size", "repeat"])
