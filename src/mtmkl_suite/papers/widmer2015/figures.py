"""Figures of Widmer et al. 2015, and of ours."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl.datasets.toy_tree import bayes_auc, standard_deviation, toy_tree
from mtmkl_suite.config.models import DataSets
from mtmkl_suite.judge.sample import ALL
from mtmkl_suite.metrics import FALSE_POSITIVE_RATES
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import (
    SINGLE,
    WIDE,
    FigureAndNumbers,
    Line,
    by_level,
    curve_over,
    draw_band,
    draw_curve,
    half_width,
    interval_text,
    legend_below,
    line_of,
    no_data_figure,
    say_no_data,
    spread_text,
)
from mtmkl_suite.report.figures.panels import (
    Curve,
    Panel,
    draw_panel,
    panels_figure,
)
from mtmkl_suite.report.text import repeats_text

TSS = "tss"
FIXED = ("tss_individual", "tss_union", "tss_mtl")
LEARNED = "tss_p2"
_STAND_IN = "stand-in data: 13 bacteria, 81 nucleotides"

READINGS = {"toy_sd": "standard deviation 20", "toy_variance": "variance 20"}

NORMS = {"vanilla": "Vanilla", "p1": "p = 1", "p2": "p = 2", "p3": "p = 3"}

NODES = {
    "": "as printed", "_unit": "unit diagonal", "_pooled": "pooled, unit diagonal",
}  # fmt: skip

ALONE = ("individual", "union", "mtl")

_NODE_STYLES = {"": ("#0072b2", "o"), "_unit": ("#d55e00", "s"),
                "_pooled": ("#009e73", "^")}  # fmt: skip

_ROC = ("individual", "union", *NORMS)


def figure_2(context: Context) -> FigureAndNumbers:
    """Draw Figure 2's comparison on the stand-in, with a tenth of it for training."""
    figure = Figure(figsize=(7.4, 3.6))
    numbers = _by_organism(context, figure.subplots(), FIXED, 10)
    if "no data" in numbers:
        return no_data_figure(numbers["no data"].iloc[0], SINGLE)
    return figure, numbers


def figure_4(context: Context) -> FigureAndNumbers:
    """Draw the AUC by organism with most samples, and its mean by their number."""
    panel = _aucs(TSS, "samples for training, %", "mean over organisms", "MTL")
    figure = Figure(figsize=(7.4, 7.2))
    upper, lower = figure.subplots(2, 1)
    sizes = context.rows(TSS, "auc", {})["train_size"]
    if sizes.empty:
        return no_data_figure(context.missing_reason(TSS), SINGLE)
    numbers = [
        _by_organism(context, upper, (*FIXED, LEARNED), int(sizes.max())),
        draw_panel(context, lower, panel),
    ]
    lower.legend(loc="lower right")
    return figure, pd.concat(numbers, ignore_index=True)


def _aucs(experiment: str, label: str, title: str, mtl: str) -> Panel:
    """Return the AUC of all methods against the number of training samples."""
    data = experiment.partition("_")[0]
    labels = {"individual": "Individual", "union": "Union", "mtl": mtl}
    labels |= {k: v if k == "vanilla" else f"MT-MKL {v}" for k, v in NORMS.items()}
    return Panel(
        experiment,
        [experiment],
        "auc",
        "train_size",
        [Curve(f"{data}_{k}", like=k, label=v) for k, v in labels.items()],
        label=label,
        metric_label="test AUC, mean over tasks",
        title=f"{title}, {{spread}}",
        scale="log",
    )


def figure_structure(context: Context) -> FigureAndNumbers:
    """Draw AUC against training samples, Landmine and Robot with their structure."""
    mtl = "MTL, structure alone"
    panels = [
        _aucs("landmine_terrain", "training samples per task", "Landmine", mtl),
        _aucs("robot_pairs", "samples for training, %", "Robot", mtl),
    ]
    return panels_figure(context, panels, (7.4, 4.6), legend="figure", columns=4)


def figure_recovery(context: Context) -> FigureAndNumbers:
    """Draw learned against true similarity, and AUC, by samples per class."""
    similarity = Panel(
        "similarity_correlation",
        ["toy_recovery", "toy_recovery_large"],
        "similarity_correlation",
        "n_train",
        [
            *(Curve(norm) for norm in NORMS),
            *(Curve(f"{norm}_unit", line="--") for norm in NORMS),
        ],
        label="training samples per class and task",
        metric_label="correlation with the true similarity",
        title="mean ± sd over at most {most} draws",
        scale="log",
    )
    auc = replace(
        similarity,
        id="auc",
        metric="auc",
        metric_label="test AUC, mean over tasks",
        title="",
    )
    panels = [similarity, auc]
    return panels_figure(context, panels, (7.4, 4.2), legend="figure", columns=4)


def _line(context: Context, method: str) -> Line:
    """Return a method's line in the colour of its kind, named without the data."""
    label = context.label(method).partition(" (")[0]
    return line_of(context, method.partition("_")[2]) | {"label": label}


def _by_organism(
    context: Context, axis: Axes, methods: Sequence[str], train_size: int
) -> pd.DataFrame:
    of_size = context.scores[context.scores["train_size"] == train_size]
    rows = of_size[
        (of_size["experiment"] == TSS)
        & (of_size["metric"] == "auc")
        & of_size["method"].isin(methods)
    ]
    if rows.empty:
        return pd.DataFrame({"no data": [context.missing_reason(TSS)]})
    summary = rows.groupby(["method", "task"])["value"].agg(["mean", "std", "size"])
    names = [name for name in rows["task"].unique() if name != ALL]
    places = [*names, ALL]
    present = [method for method in methods if method in summary.index]
    width = 0.8 / len(present)
    numbers = []
    for k, method in enumerate(present):
        table = summary.loc[method].loc[places]
        line = _line(context, method)
        x = np.arange(len(places)) + width * (k - (len(present) - 1) / 2)
        axis.bar(
            x, table["mean"], width, yerr=table["std"].fillna(0.0),
            label=line["label"], color=line["color"], error_kw={"linewidth": 0.8},
        )  # fmt: skip
        numbers.append(pd.DataFrame({
            "panel": f"by organism, {train_size} %", "series": line["label"],
            "organism": [*names, "mean"], "mean": table["mean"].to_numpy(),
            "sd": table["std"].to_numpy(), "n": table["size"].to_numpy(),
        }))  # fmt: skip
    found = pd.concat(numbers, ignore_index=True)
    found["best"] = found["mean"] == found.groupby("organism")["mean"].transform("max")
    by_name = found[found["organism"] != "mean"]
    leader = str(numbers[-1]["series"].iloc[0])
    n_best = int(by_name.loc[by_name["series"] == leader, "best"].sum())
    axis.set_xticks(
        range(len(places)), [*names, "mean"], rotation=40, ha="right",
        rotation_mode="anchor",
    )  # fmt: skip
    axis.set_ylim(max(0.0, float(found["mean"].min()) - 0.1), 1.08)
    axis.set_ylabel("test AUC")
    axis.set_title(
        f"{_STAND_IN}; {train_size} % for training; mean ± sd over "
        f"{int(found['n'].min())} splits\n{leader} is highest in {n_best} of "
        f"{len(names)} organisms"
    )
    axis.legend(loc="upper left", ncols=len(present))
    return found


def figure_3a(context: Context) -> FigureAndNumbers:
    """Draw the true similarity of the tasks of one draw, and its mean over draws."""
    table = true_similarity()
    figure = Figure(figsize=(7.4, 3.4))
    panels = figure.subplots(1, 2)
    titles = {"similarity": "one draw", "expected": "mean over draws"}
    for axis, (column, title) in zip(panels, titles.items(), strict=True):
        matrix = table.pivot(index="task", columns="other", values=column)
        least = table["similarity"].min()
        image = axis.imshow(matrix, cmap="viridis", vmin=least, vmax=100)
        axis.set(xlabel="task", ylabel="task", title=title)
        axis.set_xticks([0, 15, 31], ["1", "16", "32"])
        axis.set_yticks([0, 15, 31], ["1", "16", "32"])
        axis.grid(visible=False)
    figure.colorbar(image, ax=list(panels), label="scalar product of the tasks' μ")
    return figure, table


def true_similarity() -> pd.DataFrame:
    """Return the scalar products of the tasks of one draw of the tree.

    Beside it is its mean over draws of the flips, d (1 − 2 m/d)^path with m flips of d
    entries along each of the edges between the two.
    """
    dims, flips = 100, 5
    data = toy_tree(dims=dims, flips=flips, n_train=1, n_validation=1, n_test=1, seed=0)
    S = data.truth["similarity"]
    t, s = (index.ravel() for index in np.indices(S.shape))
    # Up from a leaf to where the binary digits of both agree, and down again.
    path = 2 * np.frexp(t ^ s)[1]
    expected = dims * (1 - 2 * flips / dims) ** path
    places = {"task": t + 1, "other": s + 1}
    return pd.DataFrame({**places, "similarity": S.ravel(), "expected": expected})


def figure_3b(context: Context) -> FigureAndNumbers:
    """Draw ROC curves and areas under them for either reading of the spread.

    Left the curves, means over tasks and repeats with bands of one standard deviation
    over repeats, for task kernels as printed. Right the areas, with the other ways to
    normalise task kernels beside them.
    """
    figure = Figure(figsize=(7.4, 6.8))
    rows = figure.subplots(2, 2, width_ratios=(1, 1.25))
    numbers = []
    for panels, (experiment, reading) in zip(rows, READINGS.items(), strict=True):
        numbers.append(_roc_curves(context, panels[0], experiment, reading))
        numbers.append(_areas(context, panels[1], experiment, reading))
    if all("no data" in table for table in numbers):
        return no_data_figure(context.missing_reason("toy_sd"), SINGLE)
    return figure, pd.concat(numbers, ignore_index=True)


def _roc_curves(
    context: Context, axis: Axes, experiment: str, reading: str
) -> pd.DataFrame:
    """Draw ROC curves as differences from their mean: in themselves they coincide."""
    metrics = {rate: f"true_positive_rate_{rate:g}" for rate in FALSE_POSITIVE_RATES}
    found = {}
    for method in _ROC:
        where = {"method": method}
        rates = pd.DataFrame(
            {k: context.by_repeat(experiment, m, where) for k, m in metrics.items()}
        )
        if not rates.empty:
            found[method] = rates
    if not found:
        return say_no_data(axis, context.missing_reason(experiment))
    numbers = []
    centre = sum(found.values()) / len(found)
    for method, rates in found.items():
        line = line_of(context, method) | {"marker": ""}
        above = rates - centre
        x = np.array([0.0, *FALSE_POSITIVE_RATES, 1.0])
        y = np.array([0.0, *above.mean(), 0.0])
        half = np.array([0.0, *np.nan_to_num(above.std(ddof=1)), 0.0])
        draw_band(axis, x, y, half, line["color"])
        axis.plot(x, y, **line)
        numbers.append(pd.DataFrame({
            "panel": f"{reading}, ROC", "series": line["label"],
            "x": FALSE_POSITIVE_RATES, "mean": rates.mean().to_numpy(),
            "sd": rates.std(ddof=1).to_numpy(), "n": len(rates),
        }))  # fmt: skip
    axis.set_xlabel("false positive rate")
    axis.set_ylabel("true positive rate, above the mean\nof these methods, over tasks")
    axis.set_title(f"{reading}; mean ± sd, {repeats_text(numbers[0]['n'])}")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
    return pd.concat(numbers, ignore_index=True)


def _areas(context: Context, axis: Axes, experiment: str, reading: str) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    places = [*ALONE, *NORMS]
    for place, norm in enumerate(places):
        for k, node in enumerate(NODES if norm in NORMS else [""]):
            values = context.by_repeat(experiment, "auc", {"method": f"{norm}{node}"})
            if values.empty:
                continue
            shift = 0.2 * (k - 1) if norm in NORMS else 0.0
            colour, marker = _NODE_STYLES[node] if norm in NORMS else ("black", "D")
            axis.errorbar(
                [values.mean()], [place + shift], linestyle="none", capsize=2,
                xerr=[np.nan_to_num(half_width(values))], color=colour, marker=marker,
                label=NODES[node] if norm == "vanilla" else None,
            )  # fmt: skip
            rows.append({
                "panel": f"{reading}, AUC", "series": context.label(f"{norm}{node}"),
                "mean": values.mean(), "sd": values.std(ddof=1), "n": len(values),
            })  # fmt: skip
    if not rows:
        return say_no_data(axis, context.missing_reason(experiment))
    ceiling = largest_auc(context.config.experiments[experiment].datasets)
    axis.axvline(ceiling, color="black", linestyle="--", label="largest possible")
    rows.append(
        {"panel": f"{reading}, AUC", "series": "largest possible", "mean": ceiling}
    )
    labels = [NORMS.get(place) or context.label(place) for place in places]
    axis.set_yticks(range(len(places)), labels)
    axis.invert_yaxis()
    axis.set_xlabel("test AUC, mean over tasks")
    n = int(rows[0]["n"])
    axis.set_title(f"{interval_text(n)}, {repeats_text(pd.Series([n]))}")
    axis.legend(loc="upper center", bbox_to_anchor=(0.35, -0.2), ncols=2)
    return pd.DataFrame(rows)


def figure_spread(context: Context) -> FigureAndNumbers:
    """Draw the AUC, and that above Vanilla, against the standard deviation."""
    experiment = "toy_sweep"
    configured = context.config.experiments.get(experiment)
    values = {
        entry.method: by_level(context, experiment, entry.method, "auc", "spread")
        for entry in (configured.methods if configured else ())
    }
    values = {method: table for method, table in values.items() if not table.empty}
    if not values:
        return no_data_figure(context.missing_reason(experiment), WIDE)
    figure = Figure(figsize=(7.4, 4.4))
    left, right = figure.subplots(1, 2)
    numbers = []
    datasets = context.config.experiments[experiment].datasets
    levels = next(iter(values.values())).columns.astype(float)
    spreads = np.geomspace(levels.min(), levels.max(), 60)
    ceiling = [largest_auc(datasets, spread=spread) for spread in spreads]
    left.plot(spreads, ceiling, color="black", linestyle="--", label="largest possible")
    for method, table in values.items():
        line = line_of(context, method)
        curve = curve_over(table)
        draw_curve(left, curve, line)
        numbers.append(curve.assign(panel="AUC", series=line["label"]))
        if method in ("vanilla", "individual") or "vanilla" not in values:
            continue
        difference = curve_over(table - values["vanilla"])
        half = (table - values["vanilla"]).apply(half_width).to_numpy()
        line |= {"yerr": np.nan_to_num(half), "capsize": 2}
        right.errorbar(difference["x"], difference["mean"], **line)
        panel = {"panel": "difference to Vanilla", "series": line["label"]}
        numbers.append(difference.assign(**panel, half=half))
    largest = {"panel": "AUC", "series": "largest possible", "x": spreads}
    numbers.append(pd.DataFrame({**largest, "mean": ceiling}))
    right.axhline(0.0, color="black", linewidth=0.8)
    for axis in (left, right):
        axis.set(xscale="log", xlabel="standard deviation")
        axis.set_xticks([4.47, 20.0, 2.0, 10.0], ["√20", "20", "2", "10"])
        axis.minorticks_off()
    left.set(ylabel="test AUC, mean over tasks", title=spread_text(numbers[0]))
    right.set_ylabel("difference in AUC to Vanilla")
    right.set_title(interval_text(int(numbers[0]["n"].min())))
    legend_below(figure, left, 3)
    return figure, pd.concat(numbers, ignore_index=True)


def largest_auc(datasets: DataSets, **options: Any) -> float:
    """Return the Bayes AUC of a configured tree of tasks, the same for all tasks."""
    known: dict[str, Any] = {"spread": 20, "reading": "standard_deviation", "dims": 100}
    known |= {k: v for k, v in datasets.options.items() if k in known}
    known |= options
    sd = standard_deviation(float(known["spread"]), known["reading"])
    return float(bayes_auc(np.ones(int(known["dims"])), sd))
