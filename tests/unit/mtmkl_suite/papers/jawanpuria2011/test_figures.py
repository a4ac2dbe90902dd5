from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.papers.jawanpuria2011 import steps
from mtmkl_suite.report.artefacts import drawn

SOLVERS = ["mirror_descent", "alternating"]


def history(n_tasks, solver, rate, limit):
    """Halve or less the distance from the least objective at every iteration."""
    iteration = np.arange(30)
    excess = np.maximum(0.3 * rate**iteration, limit)
    return pd.DataFrame(
        {
            "n_tasks": n_tasks, "solver": solver, "iteration": iteration,
            "objective": 1e4 * n_tasks * (1 + excess), "seconds": 1e-3 * iteration,
            "excess": excess,
        }
    )  # fmt: skip


def crossed(**levels):
    """Return a table of all combinations."""
    product = pd.MultiIndex.from_product(levels.values(), names=levels)
    return product.to_frame(index=False)


@pytest.fixture(scope="module")
def tables():
    counts = {"tasks": (10, 60), "kernels": (10, 600)}
    solvers = {"solver": steps.SCALING_SOLVERS, "repeat": range(3)}
    both = (crossed(axis=[k], count=n, **solvers) for k, n in counts.items())
    times = pd.concat(both)
    times["seconds"] = times["count"] * (1 + times["repeat"]) / 100
    curves = [
        history(n_tasks, solver, rate, limit)
        for n_tasks in (20, 139)
        for solver, rate, limit in zip(SOLVERS, (0.4, 0.7), (0.0, 5e-3), strict=True)
    ]
    each = {"repeat": range(3), "solver": SOLVERS, "level": steps.LEVELS}
    speed = crossed(n_tasks=[20, 139], **each)
    speed["seconds"] = 0.01 * (1 + speed["repeat"])
    return {
        "scaling": times,
        "convergence": pd.concat(curves, ignore_index=True),
        "convergence_speed": speed,
    }


@pytest.fixture
def draw(context, tables):
    return lambda name: drawn(name, replace(context, steps=tables))


@pytest.mark.parametrize(("name", "last"), [("figure_1a", 60), ("figure_1b", 600)])
def test_times_are_means_over_splits(draw, name, last):
    figure, numbers = draw(name)
    assert set(numbers["solver"]) == set(steps.SCALING_SOLVERS)
    at = numbers[numbers["count"] == last]
    np.testing.assert_allclose(at["mean"], last * 2 / 100)
    assert (at["n"] == 3).all()
    assert "3 splits" in figure.axes[0].get_title()


@pytest.mark.parametrize(
    ("name", "n_tasks", "last"), [("figure_1c", 20, 14), ("figure_1d", 139, 25)]
)
def test_objectives_are_those_of_the_papers_iterations(draw, name, n_tasks, last):
    figure, numbers = draw(name)
    assert set(numbers["n_tasks"]) == {n_tasks}
    assert (numbers["iteration"].min(), numbers["iteration"].max()) == (1, last)
    lines = figure.axes[0].get_lines()
    assert len(lines) == 2
    by_solver = numbers.groupby("solver", sort=False)
    for line, (_, part) in zip(lines, by_solver, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), part["objective"])
    title = figure.axes[0].get_title()
    assert f"C = {steps.CONVERGENCE_C:g}" in title
    assert "the paper shows" in title


def test_time_has_a_panel_for_each_size_and_medians_over_splits(draw):
    figure, numbers = draw("figure_time")
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["20 tasks, C = 5", "139 tasks, C = 5"]
    medians = numbers["median_seconds"].dropna()
    assert len(medians) == 2 * 2 * len(steps.LEVELS)
    np.testing.assert_allclose(medians, 0.02)
