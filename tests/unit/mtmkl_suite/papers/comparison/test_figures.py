import itertools
from dataclasses import replace

import pandas as pd
import pytest
from compared_methods import COMPARISON, MEANS, context

from mtmkl_suite.papers.comparison.figures import (
    cost,
    paired_differences,
    pareto_front,
    ranks,
)

FEATURES = [name for name in MEANS if name != "Images"]


def test_ranks_and_critical_difference():
    _, numbers = ranks(context(FEATURES), COMPARISON)
    assert list(numbers["method"]) == ["Ours", "Alone", "Linear"]
    # Demšar 2006, table 5: q = 2.343 for three methods.
    expected = 2.343 * (3 * 4 / (6 * 6)) ** 0.5
    assert numbers["critical_difference"].iloc[0] == pytest.approx(expected, abs=1e-3)


def test_differences_are_of_the_tested_methods_and_of_both_signs():
    _, numbers = paired_differences(context(FEATURES), COMPARISON)
    table = numbers.set_index(["method", "than"])["difference"]
    assert set(table.index) == {("Ours", "Alone"), ("Alone", "Ours")}
    assert table["Ours", "Alone"] == -table["Alone", "Ours"] > 0


def test_cost_is_that_of_all_sizes():
    figure, numbers = cost(context(FEATURES), COMPARISON)
    table = numbers.set_index("method")
    assert dict(table["seconds"]) == {"Alone": 2.0, "Ours": 8.0, "Linear": 0.5}
    assert table["on_front"].all()
    assert figure.axes[0].get_xscale() == "log"


def test_outliers_crush_nothing_and_no_number_hides_another():
    found = context(FEATURES)
    scores = found.scores.copy()
    # One method far behind, the two others close to each other.
    ours, alone, linear = (
        scores["method"] == name for name in ("ours", "alone", "linear")
    )
    scores.loc[ours, "value"] = scores.loc[alone, "value"].to_numpy() + 0.0001
    scores.loc[ours, "fit_seconds"] = 2.001
    scores.loc[linear, "value"] -= 3
    figure, _ = cost(replace(found, scores=scores), COMPARISON)
    (axis,) = figure.axes
    figure.canvas.draw()
    boxes = [each.get_window_extent() for each in axis.texts if each.get_text()]
    assert len(boxes) == 3
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    # The half point that counts as none is still seen beside 300 points.
    ends = axis.transData.transform([[1, 0], [1, -0.5]])
    best, half = axis.transAxes.inverted().transform(ends)[:, 1]
    assert best - half > 0.05


def test_pareto_front_leaves_out_what_costs_more_and_is_no_better():
    seconds = pd.Series({"dear": 9.0, "cheap": 1.0, "equal": 2.0, "good": 3.0})
    score = pd.Series({"dear": 80.0, "cheap": 70.0, "equal": 70.0, "good": 80.0})
    assert pareto_front(seconds, score) == ["cheap", "good"]
