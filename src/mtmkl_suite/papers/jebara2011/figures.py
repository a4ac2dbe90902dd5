"""Figures of Jebara 2011, and of ours; 5 and 6 are from the paper's equations."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize.elementwise import find_root

from mtmkl.typing import FloatArray
from mtmkl_suite.judge.sample import average, dataset_options
from mtmkl_suite.papers.jebara2011.steps import C_GRID_EXPERIMENT, C_GRID_METHODS
from mtmkl_suite.papers.jebara2011.theory import (
    bounds_along,
    implicit_penalty,
    primal_penalty,
    scaled,
)
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import (
    SINGLE,
    WIDE,
    FigureAndNumbers,
    by_level,
    curve_over,
    draw_band,
    draw_curve,
    half_width,
    interval_text,
    legend_below,
    levels,
    line_of,
    no_data_figure,
    shades,
    spread_text,
)
from mtmkl_suite.report.figures.panels import (
    Curve,
    Panel,
    paired_test,
    panels_figure,
)
from mtmkl_suite.report.figures.readings import compared_figure
from mtmkl_suite.statistics.pairs import MIN_UNITS

_CHOSEN = {"setting": ""}  # chosen on validation rows, not a point of a path
_ONE_ALPHA = "best on validation data of all repeats"
_OWN_ALPHA = "best on validation data of each repeat"
_BLUE, _RED, _GREEN = "#0072b2", "#d55e00", "#009e73"
_QUOTED_ALPHAS = {"α = e⁵": math.exp(5), "α = 10⁵": 1e5}

_METHODS = ("med_graph", "l1_and", "l1_or")


def figure_1(context: Context) -> FigureAndNumbers:
    """Draw AUC against training samples, Dermatology: feature selection."""
    panel = _auc_of_two("dermatology_features", "med_features", "independent_features")
    return panels_figure(context, [panel], SINGLE, legend="corner")


def figure_2(context: Context) -> FigureAndNumbers:
    """Draw AUC against training samples, Landmine: kernel selection."""
    panels = [
        _auc_of_two(f"landmine_{count}", f"med_{count}", f"independent_{count}")
        for count in (18, 22)
    ]
    return panels_figure(context, panels, (7.4, 3.8), legend="corner")


def _auc_of_two(experiment: str, method: str, baseline: str) -> Panel:
    return Panel(
        experiment,
        [experiment],
        "auc",
        "train_size",
        [Curve(method, where=_CHOSEN), Curve(baseline, where=_CHOSEN)],
        label="training samples per task",
        metric_label="test AUC, mean over tasks",
        paired=True,
    )


def figure_2_switches(context: Context) -> FigureAndNumbers:
    """Draw figure 2 with switches of each task as well."""
    panels = [_with_own_switches(f"landmine_{count}", count) for count in (18, 22)]
    return compared_figure(context, panels)


def figure_2_switches_20(context: Context) -> FigureAndNumbers:
    """Draw the same with more repeats."""
    panels = [_with_own_switches("landmine_20_repeats", 18)]
    return compared_figure(context, panels)


def _with_own_switches(experiment: str, kernels: int) -> Panel:
    med, own = f"med_{kernels}", {"experiment": f"{experiment}@sharing=own"}
    return replace(
        _auc_of_two(experiment, med, f"independent_{kernels}"),
        id=f"{kernels} kernels",
        title=f"{kernels} kernels: {{spread}}",
        paired=False,
        curves=[
            Curve(med, "MED", where=_CHOSEN),
            Curve(med, "MED, own switches", line="--", where=_CHOSEN | own),
            Curve(f"independent_{kernels}", "SVM", where=_CHOSEN),
        ],
    )


def figure_3(context: Context) -> FigureAndNumbers:
    """Draw AUC against α, Heart, whole and zoomed in.

    The axis is log(1 + α), which shows α = 0 and is log α elsewhere. The α with the
    best mean validation AUC is marked, and so are the paper's; the best on test data is
    marked as what it is. Each is compared with both baselines by a paired t-test, and
    so is the α that each repeat chooses by itself: one α for all repeats has seen test
    rows, as rows for validation in one repeat are for testing in others.
    """
    experiment, method = "heart_pooling", "adaptive_pooling"
    tables = {
        metric: by_level(context, experiment, method, metric, "alpha")
        for metric in ("auc", "validation_auc")
    }
    test = tables["auc"]
    if test.empty:
        return no_data_figure(context.missing_reason(experiment, method), WIDE)
    baselines = {
        name: context.by_repeat(experiment, "auc", {"method": name, **_CHOSEN})
        for name in ("pooled_cubic", "independent_cubic")
    }
    validated = tables["validation_auc"]
    own = validated.idxmax(axis=1)
    of_own = pd.Series(
        {repeat: test.at[repeat, alpha] for repeat, alpha in own.items()}
    )
    marked: dict[str, Any] = {_ONE_ALPHA: validated.mean().idxmax()}
    marked |= {
        label: alpha
        for label, alpha in _QUOTED_ALPHAS.items()
        if np.isclose(test.columns, alpha).any()
    }
    marked["best on test data (optimistic)"] = test.mean().idxmax()
    line = line_of(context, method)
    curve = curve_over(test)
    curve["x"] = np.log1p(curve["x"])
    figure = Figure(figsize=(WIDE[0], 4.3))
    whole, zoomed = figure.subplots(1, 2)
    draw_curve(whole, curve, line)
    zoomed.plot(curve["x"], curve["mean"], **line)
    half = np.array([half_width(test[level].dropna()) for level in test.columns])
    draw_band(zoomed, curve["x"], curve["mean"], half, line["color"])
    for name, values in baselines.items():
        if len(values):
            colour, label = line_of(context, name)["color"], context.label(name)
            for axis in (whole, zoomed):
                axis.axhline(values.mean(), color=colour, linestyle="--", label=label)
    for (label, alpha), marker in zip(marked.items(), "*^vx", strict=False):
        at = _nearest(test.columns, alpha)
        point = math.log1p(at), test[at].mean()
        zoomed.plot(*point, marker, color="black", zorder=4, label=label)
    best = curve["mean"].max()
    levels = [v.mean() for v in baselines.values() if len(v)]
    spread = max(best - min([curve["mean"].median(), *levels[:1]]), 0.005)
    zoomed.set_ylim(best - 1.6 * spread, best + 0.4 * spread)
    for axis in (whole, zoomed):
        axis.set_xlabel("log(1 + α)")
    whole.set(ylabel="test AUC, mean over tasks", title=spread_text(curve))
    zoomed.set_title(f"zoomed in: {interval_text(int(curve['n'].min()))}")
    legend_below(figure, zoomed, 2)
    numbers = [curve.assign(panel="curve", series=line["label"])]
    for name, values in baselines.items():
        numbers.append(_level(values, context.label(name)))
        for label, alpha in marked.items():
            at = _nearest(test.columns, alpha)
            place = {"panel": f"against {context.label(name)}", "series": label}
            row = place | {"x": math.log1p(at), **paired_test(test[at], values)}
            numbers.append(pd.DataFrame([row]))
        place = {"panel": f"against {context.label(name)}", "series": _OWN_ALPHA}
        numbers.append(pd.DataFrame([place | paired_test(of_own, values)]))
    return figure, pd.concat(numbers, ignore_index=True)


def figure_5(context: Context) -> FigureAndNumbers:
    """Draw the objective along one λ, and the bounds L and U that touch it at λ_i."""
    position, grid = 1.5, np.linspace(0.0, 4.0, 201)

    def bounds(multiplier: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        # One sample with k(x, x) = 1: q = ½λ².
        return bounds_along(
            multiplier - position, q=[0.5 * position**2], r=[position], w=[0.5],
            linear=position, slope=1.0, log_alpha=math.log(10.0),
        )  # fmt: skip

    lower, objective, upper = bounds(grid)
    numbers = pd.DataFrame({"lambda": grid, "J": objective, "L": lower, "U": upper})
    figure = Figure(figsize=SINGLE)
    axis = figure.subplots()
    for name, colour, line in (
        ("U", _RED, "--"), ("J", "black", "-"), ("L", _BLUE, "-."),
    ):  # fmt: skip
        label = "J(λ)" if name == "J" else f"{name}ᵢ(λ)"
        axis.plot(grid, numbers[name], color=colour, linestyle=line, label=label)
    touch = float(bounds(np.array([position]))[1][0])
    axis.plot([position], [touch], marker="o", color="black", linestyle="none")
    axis.annotate("λᵢ", (position, touch), xytext=(4, -14), textcoords="offset points")
    axis.set(ylim=(-2.0, 3.0), xlabel="λ", ylabel="objective")
    axis.set_title("one sample, k(x, x) = 1, α = 10")
    # Beside the axes: no corner is free of curves.
    figure.legend(loc="outside right center")
    return figure, numbers


def figure_6(context: Context) -> FigureAndNumbers:
    """Draw the penalty h(w) for several α, scaled to h(1) = 1, and contours at α = 2.

    The dashed lines are the penalty that the primal has, min_s KL + w²/2s, scaled
    likewise; with α = 0 the two agree.
    """
    figure = Figure(figsize=WIDE)
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
    weight = np.linspace(-1.5, 1.5, 121)
    # α up to e^500: the limit |w| is approached like 1/√(log α).
    curves = {"0": -math.inf, "2": math.log(2), "100": math.log(100), "e⁵⁰⁰": 500.0}
    numbers = []
    for (name, log_alpha), colour in zip(
        curves.items(), shades(_BLUE, len(curves)), strict=True
    ):
        h = scaled(implicit_penalty, weight, log_alpha)
        primal = scaled(primal_penalty, weight, log_alpha)
        left.plot(weight, h, color=colour, label=f"α = {name}")
        left.plot(weight, primal, color=colour, linestyle="--", linewidth=0.8)
        columns = {"panel": f"α = {name}", "x": weight, "h": h, "primal": primal}
        numbers.append(pd.DataFrame(columns))
    left.plot(weight, np.abs(weight), color="black", linestyle=":", label="|w|")
    left.set(xlabel="weight w", ylabel="penalty, scaled to 1 at w = 1", ylim=(0, 2.9))
    left.legend(loc="upper center", ncols=3)
    left.set_title("h(w); dashed: the primal's penalty")
    angle = np.linspace(0.0, 2 * math.pi, 361)
    directions = np.column_stack([np.cos(angle), np.sin(angle)])
    contours = {
        "ℓ₁": (np.abs, "--", "black"),
        "ℓ₂": (np.square, ":", "black"),
        "MED, α = 2": (lambda w: scaled(implicit_penalty, w, math.log(2)), "-", _BLUE),
    }
    for name, (function, line, colour) in contours.items():
        x, y = (directions * _radius(function, directions)[:, None]).T
        right.plot(x, y, color=colour, linestyle=line, label=name)
        numbers.append(pd.DataFrame({"panel": f"contour {name}", "x": x, "y": y}))
    right.set_box_aspect(1)
    right.set(xlabel="w(1)", ylabel="w(2)", title="penalty 1")
    right.legend(loc="center")
    return figure, pd.concat(numbers, ignore_index=True)


def figure_c_grid(context: Context) -> FigureAndNumbers:
    """Draw the advantage of kernel selection against the smallest C, Landmine."""
    table = context.steps["smallest_c"]
    methods = C_GRID_METHODS
    if table.empty:
        return no_data_figure(context.missing_reason(C_GRID_EXPERIMENT, methods[0]))
    figure = Figure(figsize=WIDE)
    left, right = figure.subplots(1, 2)
    left.axhline(0, color="black", linewidth=0.8)
    band = table["smallest C"], table["low"], table["high"]
    left.fill_between(*band, color=_GREEN, alpha=0.2, linewidth=0)
    left.plot(table["smallest C"], table["advantage"], color=_GREEN, marker="o")
    left.set_ylabel("advantage in test AUC")
    n_repeats = int(table["n"].min())
    left.set_title(f"{interval_text(n_repeats)}, {n_repeats} repeats")
    for column, method in zip(("med", "independent"), methods, strict=True):
        right.plot(table["smallest C"], table[column], **line_of(context, method))
    right.set_ylabel("test AUC")
    right.legend(loc="best")
    for axis in (left, right):
        axis.set(xscale="log", xlabel="smallest C allowed")
    return figure, table


def _radius(function: Any, directions: FloatArray) -> FloatArray:
    """Return how far along each direction a penalty of both weights comes to 1."""

    def excess(radius: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
        return sum(function(radius * each) for each in (x, y)) - 1.0

    radius: FloatArray = find_root(excess, (0.0, 2.0), args=tuple(directions.T)).x
    return radius


def _level(values: pd.Series, label: str) -> pd.DataFrame:
    row = {"panel": "level", "series": label, "mean": values.mean()}
    return pd.DataFrame([row | {"sd": values.std(ddof=1), "n": len(values)}])


def _nearest(levels: pd.Index, value: float) -> float:
    numbers = levels.to_numpy(dtype=float)
    return float(numbers[np.argmin(np.abs(np.log1p(numbers) - math.log1p(value)))])


def figure_4(context: Context) -> FigureAndNumbers:
    """Draw the AUC of edges over the settings of each method, Ising graphs.

    The first half of the repeats are the graphs shown. The others serve to choose the
    setting of "chosen on other graphs"; the best setting on the graphs shown is
    optimistic, and called so.
    """
    experiment = "ising_5"
    tables = _by_setting(context, experiment)
    if not tables:
        return no_data_figure(context.missing_reason(experiment), WIDE)
    n_shown = max(len(next(iter(tables.values()))) // 2, 1)
    figure = Figure(figsize=(9.4, 3.9))
    left, middle, right = figure.subplots(1, 3, sharey=True)
    numbers = []
    for method, table in tables.items():
        shown = table.iloc[:n_shown]
        frame = pd.DataFrame([json.loads(text) for text in table.columns])
        frame = frame.assign(mean=shown.mean().to_numpy())
        if "relative_alpha" in frame:
            axis, name, panel = left, "relative_alpha", "over relative_alpha"
        else:
            # The weight ν of the L1 norm, whatever the scores at hand call it.
            axis, name, panel = middle, frame.columns[0], "over nu"
        groups: list[tuple[Any, pd.DataFrame]] = (
            list(frame.groupby("C")) if "C" in frame else [(None, frame)]
        )
        line = line_of(context, method)
        for (C, part), colour in zip(
            groups, levels(line["color"], len(groups)), strict=True
        ):
            label = line["label"] if C is None else f"C = {C:g}"
            ordered = part.sort_values(name)
            x, mean = ordered[name], ordered["mean"]
            axis.plot(x, mean, **line | {"color": colour, "label": label})
            named = f"{line['label']}, {label}" if C else label
            points = {"panel": panel, "series": named, "x": x, "mean": mean}
            numbers.append(pd.DataFrame(points | {"n": n_shown}))
    left.set(xlabel="log(1 + α) / largest q at α = 0", ylabel="AUC of the edges")
    left.set_title(f"MED; mean over {n_shown} graphs")
    middle.set(xscale="log", xlabel="ν", title="L1-logistic")
    numbers.append(_summaries(context, right, tables, n_shown))
    least = min(float(frame["mean"].min()) for frame in numbers)
    left.set_ylim(max(least - 0.15, 0.0), 1.02)  # intervals may go beyond
    for axis in (left, middle):
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.28))
    return figure, pd.concat(numbers, ignore_index=True)


def figure_ising_sizes(context: Context) -> FigureAndNumbers:
    """Draw the right part of :func:`figure_4` for graphs of several sizes."""
    experiment = "ising_sizes"
    found = {}
    for dataset in context.rows(experiment, "edge_auc", {})["dataset"].unique():
        if tables := _by_setting(context, experiment, dataset=dataset):
            found[int(dataset_options(dataset)["n_nodes"])] = tables
    if not found:
        return no_data_figure(context.missing_reason(experiment), WIDE)
    figure = Figure(figsize=(9.4, 3.6))
    panels = np.atleast_1d(figure.subplots(1, len(found), sharey=True))
    numbers = []
    for axis, (n_nodes, tables) in zip(panels, sorted(found.items()), strict=True):
        n_shown = max(len(next(iter(tables.values()))) // 2, 1)
        summary = _summaries(context, axis, tables, n_shown)
        axis.set_title(f"{n_nodes} nodes, {n_shown} graphs")
        numbers.append(summary.assign(panel=f"{n_nodes} nodes"))
    n_graphs = min(int(summary["n"].min()) for summary in numbers)
    interval = ", 95 % interval" * (n_graphs >= MIN_UNITS)
    panels[0].set_ylabel(f"AUC of the edges{interval}")
    legend_below(figure, panels[0])
    return figure, pd.concat(numbers, ignore_index=True)


def _by_setting(
    context: Context, experiment: str, **where: str
) -> dict[str, pd.DataFrame]:
    """Return the AUC of edges of each method, by repeat (rows) and setting."""
    found = {}
    for method in filter(context.config.methods.__contains__, _METHODS):
        rows = context.rows(experiment, "edge_auc", {"method": method, **where})
        if len(rows):
            table = average(rows, ["repeat", "setting"]).unstack("setting")
            found[method] = table.dropna()
    return {method: table for method, table in found.items() if len(table)}


def _summaries(
    context: Context, axis: Axes, tables: Mapping[str, pd.DataFrame], n_shown: int
) -> pd.DataFrame:
    """Draw each method's mean over its grid, at a setting chosen, and at its best."""
    kinds: Sequence[str] = ("mean over the grid", "chosen on other graphs", "best")
    values: dict[tuple[str, str], pd.Series] = {}
    for method, table in tables.items():
        shown, others = table.iloc[:n_shown], table.iloc[n_shown:]
        values[method, kinds[0]] = shown.mean(axis=1)
        if len(others):
            values[method, kinds[1]] = shown[others.mean().idxmax()]
        values[method, kinds[2]] = shown[shown.mean().idxmax()]
    rows = []
    for place, method in enumerate(tables):
        line = line_of(context, method) | {"linestyle": "none", "capsize": 3}
        for position, kind in enumerate(kinds):
            if (method, kind) not in values:
                continue
            mine = values[method, kind]
            row = {
                "panel": "summary", "series": f"{context.label(method)}, {kind}",
                "mean": mine.mean(), "sd": mine.std(ddof=1), "n": len(mine),
            }  # fmt: skip
            if method != "med_graph" and ("med_graph", kind) in values:
                row["p"] = paired_test(values["med_graph", kind], mine)["p"]
            rows.append(row)
            x = position + 0.2 * (place - 1)
            axis.errorbar(x, mine.mean(), yerr=half_width(mine), **line)
            line["label"] = None  # once in the legend
    names = ["mean over\nthe grid", "chosen on\nother graphs", "best\n(optimistic)"]
    axis.set_xticks(range(len(kinds)), names)
    axis.set(title=interval_text(n_shown), xlabel="setting")
    return pd.DataFrame(rows)
