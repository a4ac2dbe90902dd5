from dataclasses import replace

import numpy as np
import pytest

from mtmkl_suite.config.runs import with_repeats
from mtmkl_suite.papers.jawanpuria2011 import steps


def test_scaling_counts_tasks_and_kernels_and_meets_the_gap(small_steps, context):
    table = small_steps.scaling(context)
    counts = table.groupby("axis")["count"].unique()
    assert sorted(counts["tasks"]) == [2, 6]
    assert sorted(counts["kernels"]) == [3, 9]
    assert set(table["repeat"]) == {0, 1}
    assert set(table["solver"]) == set(steps.SCALING_SOLVERS)
    assert len(table) == 2 * 2 * (2 + 2)
    assert (table["gap"] <= steps.SCALING_TOL).all()
    assert (table["seconds"] > 0).all()


def test_convergence_falls_from_one_start_towards_the_least(small_steps, context):
    table = small_steps.convergence(context)
    for _, part in table.groupby("n_tasks"):
        starts = part.loc[part["iteration"] == 0, "objective"]
        assert starts.size == 2
        assert np.ptp(starts) <= 1e-3 * starts.max()
        ends = part.groupby("solver").tail(1)
        assert (ends["excess"] > -1e-4).all()
        assert (ends["excess"] < 0.1).all()
        descent = part[part["solver"] == "mirror_descent"]
        assert descent["excess"].iloc[-1] < 2e-3
        assert (np.diff(descent["seconds"]) > 0).all()


@pytest.mark.nightly
def test_speed_is_where_the_history_comes_near(small_steps, context):
    table = small_steps.convergence_speed(context)
    by = ["n_tasks", "C", "repeat", "solver", "level"]
    assert not table.duplicated(by).any()
    assert len(table) == 2 * 2 * 2 * 2 * 2
    history = small_steps.convergence(context)
    history = history[(history["n_tasks"] == 6)]
    for solver, part in history.groupby("solver"):
        at = (table["n_tasks"] == 6) & (table["C"] == steps.CONVERGENCE_C)
        at &= (table["repeat"] == 0) & (table["solver"] == solver)
        for row in table[at].to_dict("records"):
            near = part.loc[part["excess"] <= row["level"], "iteration"]
            assert row["reached"] == bool(near.size)
            last = part["iteration"].max()
            assert row["iterations"] == (near.min() if near.size else last)


def test_alternation_comes_near_and_takes_longer_to_come_nearer(small_steps, context):
    table = small_steps.alternation(context)
    assert set(table.loc[table["of"] == "printed", "iterations"]) == {5}
    found = table[table["of"] == "alternation"]
    assert found["iterations"].between(1, 50).all()
    by = found.set_index(["p", "C", "repeat", "gamma", "level"])["iterations"]
    far, near = by.unstack("level")[0.01], by.unstack("level")[0.001]
    assert (far <= near).all()


def test_a_run_of_fewer_repeats_has_no_more_splits(small_steps, context):
    config = with_repeats(context.config, 1)
    table = small_steps.scaling(replace(context, config=config))
    assert set(table["repeat"]) == {0}
