"""Problems of many tasks from plain arrays, for the tests of their solvers."""

import numpy as np

from mtmkl.kernels.gram import GramBlocks
from mtmkl.solvers.med.med import MedPath
from mtmkl.solvers.svm.task_duals import DualProblem


def dual_problem(c, sizes, *, features=None, grams=None, entries=None, **options):
    blocks = GramBlocks.of(sizes, features=features, grams=grams, entries=entries)
    return DualProblem.of(c, blocks, **options)


def solve_med(problem, C, log_alpha, **options):
    return MedPath(problem, **options).solve(C, log_alpha)


def stacked(grams):
    """Bring lists of matrices, one list per task, to the layout of the solvers."""
    return np.concatenate([np.stack(g, axis=-1).reshape(-1, len(g)) for g in grams])


class Toy:
    """Ragged tasks with a few features and four Gaussian kernels."""

    def __init__(self, sizes=(8, 11, 6), n_features=3, seed=0):
        rng = np.random.default_rng(seed)
        self.sizes = list(sizes)
        self.X = [rng.normal(size=(n, n_features)) for n in sizes]
        weights = rng.normal(size=n_features)
        self.y = []
        for X in self.X:
            y = np.sign(X @ weights + 0.7 * rng.normal(size=len(X)))
            y[:2] = 1.0, -1.0
            self.y.append(y)
        self.targets = [
            3 * np.sin(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=len(X))
            for X in self.X
        ]

    @property
    def gaussians(self):
        out = []
        for X in self.X:
            square = np.sum((X[:, None] - X[None]) ** 2, axis=2)
            out.append([np.exp(-square / (2 * w**2)) for w in np.geomspace(0.5, 4, 4)])
        return out

    @property
    def rank_ones(self):
        return [[np.outer(X[:, d], X[:, d]) for d in range(X.shape[1])] for X in self.X]

    def tasks(self, **kwargs):
        return dual_problem(np.concatenate(self.y), self.sizes, **kwargs)


def unscaled(scale, n=60, n_tasks=2, **options):
    """Return tasks with one feature on another scale."""
    X = np.random.default_rng(0).normal(size=(n * n_tasks, 5))
    y = np.where(X.sum(axis=1) + X[:, 0] ** 2 > 1.0, 1.0, -1.0)
    X[:, 0] *= scale
    return dual_problem(y, [n] * n_tasks, features=X, **options)
