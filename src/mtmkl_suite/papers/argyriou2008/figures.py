"""Figures of Argyriou, Evgeniou and Pontil 2008."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.papers.argyriou2008.theory import (
    largest_norm,
    mean_norm,
    smallest_norm,
)
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import (
    CURVE_COLUMNS,
    SINGLE,
    WIDE,
    FigureAndNumbers,
    by_level,
    curve_over,
    draw_curve,
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
from mtmkl_suite.report.figures.readings import compared_figure, with_main
from mtmkl_suite.report.tables.cells import published_numbers

_ONES = 20
_SCHOOL_ROWS = 15
_QUOTED_NORMS = 5
_BLUE = "#0072b2"
_TWO_PANELS = (7.4, 3.9)

MATRIX_COLOURS = "Blues"
"""From near white (0) to dark blue: what is learned stands out, and not the zeros."""

_ALL_ROWS_NUMBERED = 15


def figure_1(context: Context) -> FigureAndNumbers:
    """Draw the (2,1)-norm of a matrix with T ones against its number of nonzero rows.

    Each of T columns holds one entry 1, in exactly r rows. The curve is the mean over
    all such matrices (exact), the band goes from the smallest norm to the largest.
    """
    rows = list(range(1, _ONES + 1))
    numbers = pd.DataFrame(
        {
            "rows": rows,
            "smallest": [smallest_norm(_ONES, r) for r in rows],
            "mean": [mean_norm(_ONES, r) for r in rows],
            "largest": [largest_norm(_ONES, r) for r in rows],
        }
    )
    figure = Figure(figsize=WIDE)
    grid = figure.add_gridspec(1, 4, width_ratios=(1, 1, 1, 2.4))
    for position, nonzero in enumerate((1, _ONES // 4, _ONES)):
        axis = figure.add_subplot(grid[position])
        pattern = np.zeros((_ONES, _ONES))
        pattern[np.arange(_ONES) * nonzero // _ONES, np.arange(_ONES)] = 1
        heatmap(axis, pattern)
        axis.set_box_aspect(1)
        norm = np.linalg.norm(pattern, axis=1).sum()
        title = f"{nonzero} row{'s' * (nonzero > 1)}\nnorm {norm:.2f}"
        axis.set(title=title, xticks=[], yticks=[], xlabel="task")
        if position == 0:
            axis.set_ylabel("row of A")
    axis = figure.add_subplot(grid[3])
    axis.fill_between(
        numbers["rows"], numbers["smallest"], numbers["largest"], color=_BLUE,
        alpha=0.18, linewidth=0, label="smallest to largest",
    )  # fmt: skip
    axis.plot(numbers["rows"], numbers["mean"], color=_BLUE, label="mean")
    for value, text in ((math.sqrt(_ONES), "√T"), (float(_ONES), "T")):
        axis.axhline(value, color="#555555", linewidth=0.8, linestyle=":", label=text)
    axis.set(xlabel=f"rows that hold the T = {_ONES} ones", ylabel="(2,1)-norm of A")
    axis.set_ylim(bottom=0)
    handles, texts = axis.get_legend_handles_labels()
    axis.legend(handles[:2], texts[:2], loc="lower right")
    axis.set_yticks([0, math.sqrt(_ONES), 10, 15, _ONES], ["0", "√T", "10", "15", "T"])
    return figure, numbers


def figure_2(context: Context) -> FigureAndNumbers:
    """Draw test error and distance of D against irrelevant variables, linear data."""
    together = Curve("mtl_feat_linear", each="n_tasks", label="T = {level}")
    errors = Panel(
        "left: mse",
        ["linear_synthetic"],
        "mse",
        "n_irrelevant",
        [
            together,
            Curve("independent_per_task"),
            Curve("independent_common", line="--"),
        ],
        label="irrelevant variables",
        metric_label="test error (mean squared error)",
        from_zero=True,
    )
    distances = replace(
        errors,
        id="right: covariance_distance",
        metric="covariance_distance",
        metric_label="distance of D from Cov (Frobenius)",
        curves=[together],
    )
    return panels_figure(
        context, [errors, distances], _TWO_PANELS, legend="panel", columns=2
    )


def _features_against_gamma(experiment: str) -> Panel:
    return Panel(
        "n_features",
        [experiment],
        "n_features",
        "gamma",
        [Curve("mtl_feat_linear")],
        label="regularisation parameter γ",
        metric_label="number of features learned",
        scale="log",
        ticks=False,
        from_zero=True,
    )


def _dataset_with(context: Context, experiment: str, **options: int) -> str:
    """Return the id of the first data set with these options, "" if none has."""
    variants = context.config.experiments[experiment].variants
    fitting = [v.id for v in variants if options.items() <= v.options.items()]
    return next(iter(fitting), "")


def figure_3(context: Context) -> FigureAndNumbers:
    """Draw the number of features against γ and the learned |A|, linear data."""
    experiment, method = "linear_synthetic", "mtl_feat_linear"
    dataset = _dataset_with(context, experiment, n_irrelevant=6)
    figure = Figure(figsize=WIDE)
    left, middle, right = figure.subplots(1, 3, width_ratios=(1, 0.95, 0.95))
    path = draw_panel(context, left, _features_against_gamma("linear_synthetic_path"))
    right.axis("off")
    matrix = context.array(experiment, dataset, method, "A_")
    if matrix is None:
        say_no_data(middle, context.missing_reason(experiment, method))
        return figure, path
    entries = matrix_panel(figure, middle, matrix)
    printed = context.published["figure_3.csv"].set_index("row")["value"]
    where = {"dataset": dataset, "method": method, "n_tasks": matrix.shape[1]}
    norms = []
    for row in range(1, _QUOTED_NORMS + 1):
        ours = context.by_repeat(experiment, f"row_norm_{row}", where)
        norms.append({
            "panel": "row norms", "row": row,
            "mean": ours.mean(), "sd": ours.std(ddof=1), "n": len(ours),
            "published_learned": printed[f"learned {row}"],
            "published_true": printed[f"true {row}"],
        })  # fmt: skip
    _print_row_norms(right, norms)
    return figure, pd.concat([path, entries, pd.DataFrame(norms)], ignore_index=True)


def figure_4(context: Context) -> FigureAndNumbers:
    """Draw the test error against the number of variables, nonlinear data."""
    alone, full = "independent_quadratic_linear", "mtl_feat_quadratic_linear"
    by_tasks = Panel(
        "left: mse",
        ["nonlinear_synthetic"],
        "mse",
        "n_variables",
        [
            Curve(full, each="n_tasks", label="T = {level}"),
            Curve(alone, label="Independent"),
        ],
        label="variables",
        metric_label="test error (mean squared error)",
        from_zero=True,
    )
    by_kernel = replace(
        by_tasks,
        id="right: mse",
        curves=[
            Curve(full, label="quadratic + linear", where={"n_tasks": 200}),
            Curve("mtl_feat_quadratic", label="quadratic"),
            Curve("mtl_feat_linear_constant", label="linear"),
        ],
    )
    return panels_figure(
        context, [by_tasks, by_kernel], _TWO_PANELS, legend="panel", columns=2
    )


def figure_4_oracle(context: Context) -> FigureAndNumbers:
    """Draw the test error with γ of each task by its test rows, nonlinear data."""
    alone, experiment = "independent_quadratic_linear", "nonlinear_synthetic"
    chosen, oracle = {"setting": ""}, {"experiment": f"{experiment}@penalties=oracle"}
    panel = Panel(
        "200 tasks",
        [experiment],
        "mse",
        "n_variables",
        [
            Curve(alone, "independent, by test rows", line="--", where=chosen | oracle),
            Curve(alone, "independent", where=chosen),
            Curve(
                "mtl_feat_quadratic_linear",
                "MTL-FEAT",
                where=chosen | {"n_tasks": 200},
            ),
        ],
        label="variables",
        metric_label="test error (mean squared error)",
        title="200 tasks: {spread}",
    )
    return compared_figure(context, [panel])


def prior_scale(context: Context) -> FigureAndNumbers:
    """Draw the RMSE of hierarchical Bayes against the scale of its prior, survey."""
    scales = {"survey": 1.0} | {
        f"survey@prior=scale_{name}": float(name.replace("_", "."))
        for name in ("0_01", "0_1", "10", "100")
    }
    context = with_main(context)
    scale = context.scores["experiment"].map(scales)
    panel = Panel(
        "Table 1",
        list(scales),
        "rmse",
        "scale",
        [Curve("hierarchical_bayes", where={"setting": ""})],
        label="scale of the prior",
        metric_label="RMSE (rating points)",
        title="Table 1: {spread}",
        scale="log",
    )
    scores = context.scores.assign(scale=scale)
    figure, numbers = panels_figure(replace(context, scores=scores), [panel], SINGLE)
    printed = published_numbers(context, "table_1.csv")["Hierarchical Bayes", "RMSE"]
    if printed.value is None or "no data" in numbers:
        return figure, numbers
    (axis,) = figure.axes
    axis.axhline(printed.value, color="black", linestyle="--", label="printed")
    axis.legend()
    row = {"panel": panel.id, "series": "printed", "mean": printed.value}
    return figure, pd.concat([numbers, pd.DataFrame([row])], ignore_index=True)


def figure_5(context: Context) -> FigureAndNumbers:
    """Draw the learned |A| of the nonlinear data without irrelevant variables."""
    experiment, method = "nonlinear_synthetic", "mtl_feat_quadratic_linear"
    dataset = _dataset_with(context, experiment, n_variables=5)
    matrix = context.array(experiment, dataset, method, "A_")
    if matrix is None:
        return no_data_figure(context.missing_reason(experiment, method))
    figure = Figure(figsize=SINGLE)
    return figure, matrix_panel(figure, figure.subplots(), matrix)


def figure_6(context: Context) -> FigureAndNumbers:
    """Draw RMSE against the number of persons, and the errors that the paper quotes."""
    experiment, method = "survey", "mtl_feat_linear"
    curves = {
        name: curve_over(by_level(context, experiment, name, "rmse", "n_tasks"))
        for name in (method, "independent_common", "independent_per_task")
    }
    if curves[method].empty:
        return no_data_figure(context.missing_reason(experiment, method))
    found = [(line_of(context, k), curve) for k, curve in curves.items() if len(curve)]
    (together, curve), *levels = found
    printed = context.published["table_1.csv"].set_index("row")["value"]
    joint, single = printed["MTL-FEAT (linear kernel)"], printed["Independent"]
    figure = Figure(figsize=(6.4, 3.6))
    highest = max(curve["mean"].max(), joint)
    lowest = min([single, *(level["mean"].min() for _, level in levels)])
    if lowest > highest:
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.8))
        break_axis(top, bottom)
        top.margins(y=0.4)
    else:
        top = bottom = figure.subplots()
    draw_curve(bottom, curve, together)
    for line, level in levels:
        height = float(level["mean"].iloc[-1])
        top.axhline(height, color=line["color"], linestyle="--", label=line["label"])
    last = float(curve["x"].max())
    printed_points = [
        (bottom, "published, linear kernel", joint, "x"),
        (top, "published, independent", single, "P"),
    ]
    for axis, label, value, marker in printed_points:
        axis.plot(
            [last], [value], marker=marker, color="black", linestyle="none",
            markersize=7, zorder=4, clip_on=False, label=label,
        )  # fmt: skip
    top.set_title(spread_text(curve))
    bottom.set_xlabel("number of tasks (persons)")
    figure.supylabel("RMSE (rating points)", fontsize=9)
    for axis in dict.fromkeys((top, bottom)):
        axis.legend(loc="center left", bbox_to_anchor=(1.03, 0.5))
    lines = [data.assign(series=line["label"]) for line, data in found]
    lines += [
        pd.DataFrame({"series": [label], "x": [last], "mean": [value]})
        for _, label, value, _ in printed_points
    ]
    numbers = pd.concat(lines, ignore_index=True).assign(panel="rmse")
    return figure, numbers[list(CURVE_COLUMNS)]


def figure_7(context: Context) -> FigureAndNumbers:
    """Draw the number of features against γ, computer survey."""
    return panels_figure(context, [_features_against_gamma("survey_path")], SINGLE)


def figure_8(context: Context) -> FigureAndNumbers:
    """Draw the learned |A| and the most important feature, computer survey."""
    return _matrix_and_feature(context, "survey")


def figure_9(context: Context) -> FigureAndNumbers:
    """Draw the 15 most important rows of |A| and the most important feature, School."""
    return _matrix_and_feature(context, "school", rows=_SCHOOL_ROWS)


def figure_10(context: Context) -> FigureAndNumbers:
    """Draw the learned |A| by disease, Dermatology."""
    experiment, method = "dermatology", "mtl_feat_linear"
    matrix = context.array(experiment, "dermatology", method, "A_")
    if matrix is None:
        return no_data_figure(context.missing_reason(experiment, method))
    figure = Figure(figsize=(SINGLE[0], 4.2))
    axis = figure.subplots()
    numbers = matrix_panel(figure, axis, matrix)
    tasks = context.data_info["dermatology"]["task_names"]
    diseases = [name.removesuffix(" vs rest") for name in tasks]
    axis.set_xticks(range(1, len(diseases) + 1), diseases, rotation=30, ha="right")
    axis.set_xlabel("")
    return figure, numbers


def _matrix_and_feature(
    context: Context, experiment: str, *, rows: int | None = None
) -> FigureAndNumbers:
    method = "mtl_feat_linear"
    dataset = next(iter(context.datasets(experiment)), "")
    matrix, features = (
        context.array(experiment, dataset, method, name) for name in ("A_", "features_")
    )
    if matrix is None or features is None:
        return no_data_figure(context.missing_reason(experiment, method), WIDE)
    first = importance(matrix)[0]
    # A feature's sign is arbitrary: take the one that acts positively on average.
    weights = features[:, first] * (-1.0 if matrix[first].mean() < 0 else 1.0)
    names = list(context.data_info[dataset]["feature_names"])
    figure = Figure(figsize=(WIDE[0], max(WIDE[1], 0.16 * len(names) + 0.8)))
    left, right = figure.subplots(1, 2)
    entries = matrix_panel(figure, left, matrix, rows=rows)
    colour = line_of(context, method)["color"]
    right.barh(range(len(names)), weights, color=colour, height=0.7)
    right.axvline(0, color="black", linewidth=0.8)
    right.set_yticks(range(len(names)), names)
    right.invert_yaxis()
    right.grid(False, axis="y")
    right.set_xlabel("weight in the most important feature")
    bars = pd.DataFrame({"panel": "feature", "attribute": names, "weight": weights})
    return figure, pd.concat([entries, bars], ignore_index=True)


def _print_row_norms(axis: Axes, norms: Sequence[dict[str, float]]) -> None:
    """Print the row norms next to the matrix: reproduced, published, true."""
    columns = ("mean", "published_learned", "published_true")
    lines: list[tuple[str, ...]] = [("row", "reproduced", "published", "true")]
    for norm in norms:
        lines.append((f"{norm['row']}", *(f"{norm[name]:.2f}" for name in columns)))
    axis.set_title("row norms (sum 1)")
    for line, texts in enumerate(lines):
        for place, text in zip((0.04, 0.44, 0.82, 1.0), texts, strict=True):
            axis.text(
                place, 0.95 - 0.09 * line, text, ha="right", va="center", fontsize=7,
                fontweight="normal" if line else "bold", transform=axis.transAxes,
            )  # fmt: skip


def matrix_panel(
    figure: Figure, axis: Axes, matrix: FloatArray, *, rows: int | None = None
) -> pd.DataFrame:
    """Draw the sizes of a matrix's entries, rows of large norm first."""
    order = importance(matrix)[:rows]
    shown = np.abs(matrix[order])
    figure.colorbar(heatmap(axis, shown), ax=axis, label="|A|", pad=0.02)
    axis.set(xlabel="task", ylabel="learned feature (row of A)")
    step = 1 if len(order) <= _ALL_ROWS_NUMBERED else 5
    axis.set_yticks(range(step, len(order) + 1, step))
    if len(order) < len(matrix):
        axis.set_title(f"{len(order)} largest of {len(matrix)} rows")
    row, task = np.indices(shown.shape)
    places = {"row": row.ravel() + 1, "task": task.ravel() + 1}
    return pd.DataFrame({"panel": "|A|", **places, "value": shown.ravel()})


def heatmap(axis: Axes, values: FloatArray) -> AxesImage:
    """Draw values >= 0, the largest in dark blue; axes count from 1."""
    axis.grid(False)
    n_rows, n_columns = values.shape
    extent = (0.5, n_columns + 0.5, n_rows + 0.5, 0.5)
    return axis.imshow(values, cmap=MATRIX_COLOURS, vmin=0, extent=extent)


def importance(matrix: FloatArray) -> IntArray:
    """Return row numbers by falling norm; equal norms keep their order."""
    return np.argsort(-np.linalg.norm(matrix, axis=1), kind="stable")


def break_axis(top: Axes, bottom: Axes) -> None:
    """Mark that two axes, one above the other, show parts of one scale."""
    top.spines["bottom"].set_visible(False)
    top.tick_params(axis="x", length=0, labelbottom=False)
    for axis, height in ((top, 0.0), (bottom, 1.0)):
        axis.plot(
            [0], [height], transform=axis.transAxes, marker=((-1.0, -0.6), (1.0, 0.6)),
            markersize=8, linestyle="none", color="black", clip_on=False,
        )  # fmt: skip
