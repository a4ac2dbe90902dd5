"""Curves under readings beside those of the main protocol."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl_suite.judge.claims import numbers_of, result_of
from mtmkl_suite.judge.observations import NoDataError
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import SINGLE, WIDE, FigureAndNumbers
from mtmkl_suite.report.figures.panels import Panel, draw_panel, rows_of
from mtmkl_suite.report.tables.reach import main_context, unmeasured_main
from mtmkl_suite.statistics.pairs import MIN_UNITS

_TEST_COLUMNS = ("interval_low", "interval_high", "p", "p_corrected", "verdict", "n")


def with_main(context: Context) -> Context:
    """Return the results of readings and, of a full run, the published main ones."""
    main = main_context(context) if context.is_judged else unmeasured_main(context)
    return replace(
        main,
        scores=pd.concat([main.scores, context.scores], ignore_index=True),
        overlaps={**(main.overlaps or {}), **(context.overlaps or {})},
    )


def compared_figure(context: Context, panels: Sequence[Panel]) -> FigureAndNumbers:
    """Return a figure of panels, and its numbers.

    The first curve of a panel is compared with each of the others, at every place and
    over all (x is empty), by the tests of a claim that it is higher.
    """
    context = with_main(context)
    figure = Figure(figsize=WIDE if len(panels) > 1 else SINGLE)
    axes = np.atleast_1d(figure.subplots(1, len(panels)))
    drawn = [_panel(context, *each) for each in zip(axes, panels, strict=True)]
    return figure, pd.concat(drawn, ignore_index=True)


def _panel(context: Context, axis: Axes, panel: Panel) -> pd.DataFrame:
    numbers = draw_panel(context, axis, panel)
    if "no data" in numbers:
        return numbers
    axis.legend(fontsize=6)
    tests = _tests(context, panel) if context.is_judged else pd.DataFrame()
    if tests.empty:
        return numbers
    lines = [axis.get_title()]
    for test in tests[tests["x"].isna()].to_dict("records"):
        p = test["p"] if pd.isna(test["p_corrected"]) else test["p_corrected"]
        shown = "" if pd.isna(p) or test["n"] < MIN_UNITS else f", p = {p:.2g}"
        lines.append(f"{test['series']}: {test['mean']:+.3g}{shown}")
    axis.set_title("\n".join(lines), fontsize=7)
    return pd.concat([numbers, tests], ignore_index=True)


def _tests(context: Context, panel: Panel) -> pd.DataFrame:
    """Test at every place, and over all, that the first curve is above each other."""
    found = [(curve, rows_of(context, panel, curve)) for curve in panel.curves]
    (first, higher), *others = [(c, rows) for c, rows in found if len(rows)]
    args: dict[str, Any] = {"experiment": panel.experiments[0], "metric": panel.metric}
    args["higher"] = {"method": first.method, **first.where}
    made = []
    for curve, lower in others:
        args["lower"] = {"method": curve.method, **curve.where}
        both = pd.concat([higher, lower])
        for x in (*sorted(set(higher["x"]) & set(lower["x"])), None):
            scores = both if x is None else both[both["x"] == x]
            try:
                result = result_of("paired_difference", args, scores, context.overlaps)
            except NoDataError:
                continue
            row = numbers_of(result)
            made.append(
                {
                    "panel": f"{panel.id}: difference",
                    "series": f"{first.label} − {curve.label}",
                    "x": x,
                    "mean": row["estimate"],
                    **{column: row.get(column) for column in _TEST_COLUMNS},
                }
            )
    return pd.DataFrame(made)
