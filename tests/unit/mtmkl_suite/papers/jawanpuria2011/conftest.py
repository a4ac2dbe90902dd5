"""Steps on small made data in place of School."""

import numpy as np
import pytest
from made_scores import made_context

from mtmkl.datasets import MultiTaskData
from mtmkl_suite.config.load import load_paper
from mtmkl_suite.papers.jawanpuria2011 import steps


@pytest.fixture(scope="session")
def small_data():
    """Thirty samples of each of six tasks, whose models share two directions."""
    rng = np.random.default_rng(0)
    n_tasks, n, d = 6, 30, 5
    X = rng.normal(size=(n_tasks * n, d))
    task = np.repeat(np.arange(n_tasks), n)
    W = rng.normal(size=(d, 2)) @ rng.normal(size=(2, n_tasks))
    y = 20 + 5 * (np.sum(X * W.T[task], axis=1) + rng.normal(size=task.size))
    return MultiTaskData(X=X, y=y, task=task, name="school", origin="synthetic")


@pytest.fixture
def small_steps(monkeypatch, small_data):
    """Let the steps take few tasks, kernels and iterations of the made data."""
    monkeypatch.setattr(steps, "load", lambda name, **options: small_data)
    monkeypatch.setattr(steps, "N_TASKS", {"paper": (2, 6)})
    monkeypatch.setattr(steps, "N_KERNELS", {"paper": (3, 9)})
    monkeypatch.setattr(steps, "KERNEL_TASKS", 4)
    monkeypatch.setattr(steps, "N_SPLITS", {"paper": 2})
    monkeypatch.setattr(steps, "CONVERGENCE_TASKS", (3, 6))
    monkeypatch.setattr(steps, "SPEED_C", {"paper": (0.5, 5.0)})
    monkeypatch.setattr(steps, "LIMIT", {"paper": 40})
    return steps


@pytest.fixture(scope="session")
def context():
    return made_context(load_paper("jawanpuria2011", "paper"))
