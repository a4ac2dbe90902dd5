"""Whom against the best of all partitions."""

from itertools import combinations

import numpy as np
import pytest
from method_cases import WEIGHTS, Case
from model_objectives import standardised

from mtmkl.methods import Whom
from mtmkl.methods._base.linear_classifier import PreparedTasks
from mtmkl.solvers.linear import squared_norm


def _problem(seed, n_tasks):
    rng = np.random.default_rng([2, seed])
    task = np.repeat(np.arange(n_tasks), 12)
    X = rng.standard_normal((task.size, 5))
    W = rng.standard_normal((5, 2)) @ rng.standard_normal((2, n_tasks))
    y = np.sign(np.einsum("ij,ji->i", X, W[:, task]) + rng.standard_normal(task.size))
    return X, y, task


def _best_pair_of_groups(X, y, task, lam):
    tasks = PreparedTasks.of(X, y, task, rotate=True).decomposition
    everyone = range(tasks.n_tasks)

    def cost(members):
        group = np.array(sorted(members))
        return squared_norm.solve_group(tasks, group, lam, tol=1e-6).objective

    return min(
        cost(part) + cost(set(everyone) - set(part))
        for size in range(1, tasks.n_tasks // 2 + 1)
        for part in combinations(everyone, size)
    )


@pytest.mark.parametrize("seed", range(3))
def test_four_tasks_in_two_groups_are_split_as_well_as_can_be(seed):
    X, y, task = _problem(seed, 4)
    lam = [0.1, 1.0, 10.0][seed]
    best = _best_pair_of_groups(X, y, task, lam)
    fitted = Whom(lam, n_groups=2, tol=1e-6).fit(X, y, task)
    assert fitted.objective_ == pytest.approx(best, rel=1e-5)
    assert len(fitted.restart_histories_) == 1


def test_more_tasks_are_searched_from_every_start():
    fitted = Whom(1.0, n_groups=2, n_restarts=4).fit(*_problem(0, 8))
    ends = [history[-1] for history in fitted.restart_histories_]
    assert len(ends) == 4
    assert fitted.objective_ == min(ends)
    assert fitted.n_iter_ == fitted.history_.size


def test_names_the_groups(pairs_of_classes):
    X, y, task = pairs_of_classes
    labels = np.where(task == 4, 1.0, y)
    estimator = Whom(n_groups=3, tol=1e-9).fit(X, labels, task)
    assert estimator.groups_[4] == -1
    assert set(np.delete(estimator.groups_, 4)) <= {0, 1, 2}


def penalty(model, X, task):
    W, groups = standardised(model, X, model.coef_), model.groups_[model.groups_ >= 0]
    norms = [np.linalg.norm(W[:, groups == g], "nuc") for g in np.unique(groups)]
    return model.lam * np.sum(np.square(norms))


CASES = {
    "Whom": Case(
        settings={"": {"n_restarts": 2}},
        path=[
            {"lam": 1.0, "n_groups": 1},
            {"lam": 20.0, "n_groups": 0.5},
            {"lam": 0.1, "n_groups": 2},
        ],
        penalty=penalty,
        variants=[{"n_restarts": 1}],
        grid=[{"lam": lam, "n_groups": 2} for lam in WEIGHTS],
    )
}
