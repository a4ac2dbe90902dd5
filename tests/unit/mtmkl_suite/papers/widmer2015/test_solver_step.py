"""The time and memory of solvers: the data, a trial, the step and its figure."""

import numpy as np
import pytest
from configured import paper_of
from made_scores import made_context

from mtmkl_suite.papers.widmer2015 import solver_trial, steps
from mtmkl_suite.papers.widmer2015.figures import figure_solvers
from mtmkl_suite.papers.widmer2015.strings import (
    N_FEATURES,
    N_TASKS,
    TASK_KERNELS,
    draw_strings,
    expanded,
)


def test_strings_are_counts_of_norm_one():
    X, y, task = draw_strings(1203)
    assert X.shape == (1203, N_FEATURES)
    assert X.has_canonical_format
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1.0)
    assert 430 < np.diff(X.indptr).mean() < 480
    # Of 500 draws the least count is 1: all entries are whole multiples of the least.
    row = X[0].data / X[0].data.min()
    np.testing.assert_allclose(row, np.round(row))
    assert set(np.unique(y)) == {-1.0, 1.0}
    assert set(np.unique(task)) == set(range(N_TASKS))
    again = draw_strings(1203)[0]
    np.testing.assert_array_equal(again.data, X.data)


def test_expanded_map_has_the_sum_kernel():
    X, _, task = draw_strings(60)
    theta = np.array([0.2, 0.5, 1.3])
    Z = expanded(X, task, theta)
    similarity = np.tensordot(theta, np.array(TASK_KERNELS), axes=1)
    wanted = (X @ X.T).toarray() * similarity[np.ix_(task, task)]
    np.testing.assert_allclose((Z @ Z.T).toarray(), wanted, atol=1e-12)


def test_solvers_of_a_trial_agree():
    found = solver_trial.run({"solver": "features", "n": 200})
    gram = solver_trial.run({"solver": "gram", "n": 200})
    assert found["objective"] == pytest.approx(gram["objective"], rel=2e-3)
    given = {"theta": found["theta"], "goal": found["objective"]}
    baseline = solver_trial.run({"solver": "liblinear", "n": 200, **given})
    assert baseline["objective"] <= found["objective"]
    # With the same weights it can be better by the gap at most.
    assert baseline["objective"] >= (1 - 1e-3) * found["objective"]
    for each in (found, gram, baseline):
        assert each["seconds"] > 0
        assert each["data"] == pytest.approx(200 * 462 * 12 / 2**20, rel=0.05)


def test_figure_has_slopes_from_a_thousand_examples_on(monkeypatch):
    asked = []

    def trial(given):
        asked.append(given)
        power = {"features": 1, "gram": 2, "liblinear": 1}[given["solver"]]
        return {
            "seconds": 1e-6 * given["n"] ** power, "expanding": 0.0, "n_iter": 3,
            "objective": 2.0, "data": 1.0, "peak": 2.0, "theta": [0.5],
        }  # fmt: skip

    monkeypatch.setattr(steps, "_trial", trial)
    table = steps.solver_seconds(made_context(paper_of({"tier": "paper"})))
    assert len(table) == sum(map(len, steps.SIZES["paper"].values()))
    baselines = [each for each in asked if each["solver"] == "liblinear"]
    assert all(each["theta"] == [0.5] and each["goal"] == 2.0 for each in baselines)
    found = made_context(paper_of({}), table, steps={"solver_seconds": table})
    figure, numbers = figure_solvers(found)
    assert len(figure.axes) == 2
    slopes = numbers.groupby("solver")["slope"].first()
    assert slopes["features"] == pytest.approx(1.0)
    assert slopes["gram"] == pytest.approx(2.0)
