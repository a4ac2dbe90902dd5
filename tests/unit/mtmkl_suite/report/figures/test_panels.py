"""Panels of curves; those of the papers are tested with them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mtmkl_suite.report.context import load_context
from mtmkl_suite.report.figures.drawing import method_styles
from mtmkl_suite.report.figures.panels import (
    Curve,
    Panel,
    paired_test,
    panels_figure,
)

PANEL = Panel(
    "errors",
    ["linear_synthetic"],
    "mse",
    "n_irrelevant",
    [
        Curve("mtl_feat_linear", each="n_tasks", label="{level} tasks"),
        Curve("independent_common", like="mtl_feat_linear", line="--"),
    ],
    label="variables",
    metric_label="error",
)


def drawn(context, *panels):
    return panels_figure(context, panels, (6, 3))


@pytest.fixture(scope="module")
def context(paper, results):
    return load_context(paper, results)


def test_each_level_of_a_column_has_a_curve_and_like_lends_its_style(context):
    figure, numbers = drawn(context, PANEL)
    (axis,) = figure.axes
    assert [line.get_label() for line in axis.lines] == [
        "10 tasks", "25 tasks", "100 tasks", "200 tasks", "Independent (one γ)",
    ]  # fmt: skip
    style = method_styles(context.config.methods)["mtl_feat_linear"]
    strongest, other = axis.lines[-2:]
    assert strongest.get_color() == other.get_color() == style["color"]
    assert (strongest.get_linestyle(), other.get_linestyle()) == ("-", "--")
    assert set(numbers["panel"]) == {"errors"}
    assert numbers["series"].nunique() == 5
    few = {"method": "mtl_feat_linear", "n_tasks": 10}
    own = context.rows("linear_synthetic", "mse", few)["value"].mean()
    means = numbers.loc[numbers["series"] == "10 tasks", "mean"]
    assert means.mean() == pytest.approx(own)
    assert [float(text.get_text()) for text in axis.get_xticklabels()] == sorted(
        numbers["x"].unique()
    )


def test_a_panel_without_scores_says_so_beside_the_others(context):
    curves = [Curve("aggregate", where={"n_tasks": 1})]
    empty = replace(PANEL, id="none", experiments=["survey"], curves=curves)
    figure, numbers = drawn(context, PANEL, empty)
    filled, blank = figure.axes
    assert filled.lines
    assert not blank.lines
    assert "no data" in blank.texts[0].get_text()
    assert numbers["no data"].notna().sum() == 1
    assert len(numbers.dropna(subset=["mean"])) > 1


def test_a_paired_panel_needs_both_curves(context):
    one, other = Curve("independent_per_task"), Curve("independent_common")
    paired = replace(PANEL, paired=True, curves=[one, Curve("nobody")])
    _, numbers = drawn(context, paired)
    assert list(numbers) == ["no data"]
    paired = replace(paired, curves=[one, other])
    few = context.scores["repeat"] < 1
    once = replace(context, scores=context.scores[few])
    _, numbers = drawn(once, paired)
    tests = numbers[numbers["panel"] == "errors: difference"]
    assert len(tests) == numbers["x"].nunique()
    assert tests["p"].isna().all()  # one repeat is no test


def test_differences_are_paired_by_repeat():
    one, two = np.random.default_rng(0).normal(size=(2, 6))
    found = paired_test(pd.Series(one), pd.Series(two[:5]))
    difference = one[:5] - two[:5]
    expected = {
        "mean": difference.mean(),
        "sd": difference.std(ddof=1),
        "n": 5,
        "p": stats.ttest_rel(one[:5], two[:5]).pvalue,
    }
    assert found == pytest.approx(expected)
