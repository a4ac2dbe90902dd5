import math
from dataclasses import replace

import numpy as np
import pytest

from mtmkl_suite.report.artefacts import drawn
from mtmkl_suite.report.context import load_context

PANELS = {f"figure_{k}": n for k, n in enumerate([4, 2, 4, 2, 2, 1, 1, 3, 3, 2], 1)}
WHERE = {"method": "mtl_feat_linear", "dataset": "linear_synthetic[n_irrelevant=6]"}


@pytest.fixture(scope="module")
def context(paper, results):
    return load_context(paper, results)


@pytest.mark.parametrize("name", PANELS)
def test_every_figure_is_drawn_with_labels_and_numbers(name, context):
    figure, numbers = drawn(name, context)
    assert len(figure.axes) == PANELS[name]  # colour bars and printed norms count
    assert not numbers.empty
    curves = [axis for axis in figure.axes if axis.lines]
    assert all(axis.get_xlabel() for axis in curves)


def test_ends_of_the_norm_are_those_of_the_paper(context):
    numbers = drawn("figure_1", context)[1].set_index("rows")
    tasks = numbers.index.max()
    assert (numbers.loc[1] == math.sqrt(tasks)).all()
    np.testing.assert_allclose(numbers.loc[tasks], tasks)


def test_numbers_are_means_over_repeats(context):
    numbers = drawn("figure_2", context)[1]
    line = numbers.query("panel == 'left: mse' and series == 'T = 25' and x == 6")
    values = context.by_repeat("linear_synthetic", "mse", {"n_tasks": 25, **WHERE})
    assert line["mean"].item() == pytest.approx(values.mean())
    assert line["sd"].item() == pytest.approx(values.std(ddof=1))
    assert line["n"].item() == len(values) == 2


def test_published_errors_come_from_the_file(context):
    table = context.published["table_1.csv"].copy()
    table.loc[table["row"] == "Independent", "value"] = 5.25
    changed = {**context.published, "table_1.csv": table}
    other = replace(context, published=changed)
    numbers = drawn("figure_6", other)[1].set_index("series")["mean"]
    assert numbers["published, independent"] == 5.25
    assert numbers["published, linear kernel"] == 1.93


def test_axis_is_broken_only_where_the_errors_are_apart(context):
    joint = context.scores["method"] == "mtl_feat_linear"
    alone = context.scores["method"].str.startswith("independent")
    apart = context.scores.assign(
        value=context.scores["value"] + 1.0 * joint + 2.0 * alone
    )
    figure, _ = drawn("figure_6", replace(context, scores=apart))
    top, bottom = figure.axes
    assert top.get_ylim()[0] > bottom.get_ylim()[1]
    assert len(drawn("figure_6", context)[0].axes) == 1


def test_rows_fall_in_norm_and_are_absolute(context):
    numbers = drawn("figure_8", context)[1].query("panel == '|A|'")
    matrix = numbers.pivot(index="row", columns="task", values="value").to_numpy()
    assert matrix.shape == (14, 180)
    assert (matrix >= 0).all()
    norms = np.linalg.norm(matrix, axis=1)
    assert (np.diff(norms) <= 0).all()
    stored = context.array("survey", "computer_survey", "mtl_feat_linear", "A_")
    np.testing.assert_allclose(norms, np.sort(np.linalg.norm(stored, axis=1))[::-1])


# The made-up A is negative everywhere: the feature is shown turned round.
def test_feature_acts_positively_on_average(context):
    matrix, features = (
        context.array("school", "school", "mtl_feat_linear", name)
        for name in ("A_", "features_")
    )
    assert matrix[0].mean() < 0
    bars = drawn("figure_9", context)[1].query("panel == 'feature'")
    np.testing.assert_allclose(bars["weight"], -features[:, 0])


def test_row_norms_are_ours_beside_the_papers(context):
    norms = drawn("figure_3", context)[1].query("panel == 'row norms'")
    assert norms["published_learned"].tolist() == [0.31, 0.21, 0.12, 0.10, 0.09]
    at = {"n_tasks": 200, **WHERE}
    ours = context.by_repeat("linear_synthetic", "row_norm_1", at)
    assert norms["mean"].iloc[0] == pytest.approx(ours.mean())
