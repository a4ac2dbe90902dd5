"""Packages that a user would take instead: group lasso solvers, LIBLINEAR, MKLpy.

Shared samples: the (2,1) norm as in
:class:`mtmkl.methods.MultiTaskVariableSelectionRegressor`, whose square is penalised;
others penalise the norm itself, by 2γ times the norm at the optimum, which has the same
solution. Objectives are all of the squared one.

Strings: `MultiTaskMKLClassifier` on sparse features, against ``LinearSVC`` on the map
of all terms written out, at the weights that we found, an easier problem (writing it
out is not counted); and one task against ``LinearSVC``.

MKLpy has algorithms for other problems (average kernels, the margin of EasyMKL), and
none for this one: it is timed on them beside single-task weights, and its objective is
not compared.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from measuring import Outcome, Series, Solver, processor_seconds
from sklearn.linear_model import MultiTaskLasso
from strings import TASK_KERNELS, draw_strings, expanded

from mtmkl.solvers.linear.working_sets import RowProblem, solve
from mtmkl.solvers.weights import mt_mkl_features
from mtmkl.typing import FloatArray, IntArray

TITLE = "What else a user would take"
N_TASKS, N_EXAMPLES, COST = 20, 100, 1.0


Stacked = tuple[FloatArray, FloatArray, IntArray]


@dataclass(frozen=True)
class Shared:
    """Inputs that all tasks share, targets (n, T), γ, and α of the other solvers.

    ``stacked`` is the same as our methods take it: one task after the other.
    """

    X: FloatArray
    Y: FloatArray
    gamma: float
    alpha: float
    stacked: Stacked

    def objective(self, W: FloatArray) -> float:
        norm = np.linalg.norm(W, axis=1).sum()
        return float(np.sum((self.Y - self.X @ W) ** 2) + self.gamma * norm**2)


@cache
def shared(d: int, divisor: float | None = None) -> Shared:
    """Return a problem with γ = 5, or with the solution at λ_max over a divisor."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_EXAMPLES, d))
    W = np.zeros((d, N_TASKS))
    W[:8] = rng.standard_normal((8, N_TASKS))
    Y = X @ W + rng.standard_normal((N_EXAMPLES, N_TASKS))
    task = np.repeat(np.arange(N_TASKS), N_EXAMPLES)
    stacked = np.tile(X, (N_TASKS, 1)), Y.T.ravel(), task
    # Others have ||Y − XW||²/2n + α ||W||, whose solution ours has at γ = αn/||W||.
    if divisor is None:
        gamma = 5.0
        norm = float(_variable_selection(stacked, gamma, 1e-9).extra["norm"])
        return Shared(X, Y, gamma, gamma * norm / N_EXAMPLES, stacked)
    alpha = np.linalg.norm(X.T @ Y, axis=1).max() / N_EXAMPLES / divisor
    model = MultiTaskLasso(alpha, fit_intercept=False, tol=1e-8, max_iter=100_000)
    norm = np.linalg.norm(model.fit(X, Y).coef_, axis=0).sum()
    return Shared(X, Y, alpha * N_EXAMPLES / norm, alpha, stacked)


def shared_at(divisor: int) -> Shared:
    return shared(200, divisor)


def _variable_selection(stacked: Stacked, gamma: float, tol: float) -> Any:
    return solve(RowProblem.of(*stacked, n_tasks=N_TASKS), gamma, tol=tol)


def ours_shared(p: Shared, accuracy: float) -> Outcome:
    found = _variable_selection(p.stacked, p.gamma, accuracy).certificate
    return Outcome(found.objective, found.dual_objective)


def by_scikit_learn(p: Shared, tol: float) -> Outcome:
    model = MultiTaskLasso(
        alpha=p.alpha, fit_intercept=False, tol=tol, max_iter=100_000
    )
    seconds, _ = processor_seconds(lambda: model.fit(p.X, p.Y))
    return Outcome(p.objective(model.coef_.T), seconds=seconds)


def by_skglm(p: Shared, tol: float) -> Outcome:
    from skglm import MultiTaskLasso

    model = MultiTaskLasso(alpha=p.alpha, fit_intercept=False, tol=tol)
    seconds, _ = processor_seconds(lambda: model.fit(p.X, p.Y))
    return Outcome(p.objective(model.coef_.T), seconds=seconds)


@dataclass(frozen=True)
class Strings:
    """Sparse features of some tasks, and the map of all terms written out."""

    X: Any
    y: FloatArray
    task: Any
    kernels: tuple[Any, ...]
    Z: Any = None


@cache
def strings(n: int, is_one_task: bool) -> Strings:
    X, y, task = draw_strings(n)
    if is_one_task:
        return Strings(X, y, np.zeros_like(task), (np.ones((1, 1)),), X)
    problem = Strings(X, y, task, tuple(TASK_KERNELS))
    theta = _features(problem, 1e-4).extra["theta"]
    return Strings(X, y, task, problem.kernels, expanded(X, task, theta))


def _features(p: Strings, tol: float) -> Any:
    return mt_mkl_features.solve(
        [p.X],
        p.y,
        p.task,
        [(0, kernel) for kernel in p.kernels],
        C=COST,
        p=2.0,
        rng=np.random.default_rng(0),
        tol=tol,
    )


def ours_strings(p: Strings, accuracy: float) -> Outcome:
    found = _features(p, accuracy).certificate
    return Outcome(found.objective, found.dual_objective)


def by_liblinear(p: Strings, tol: float) -> Outcome:
    from sklearn.svm import LinearSVC

    machine = LinearSVC(
        dual=True, loss="hinge", fit_intercept=False, C=COST, tol=tol, max_iter=2000
    )
    seconds, _ = processor_seconds(lambda: machine.fit(p.Z, p.y))
    w = machine.coef_[0]
    losses = np.maximum(0.0, 1.0 - p.y * (p.Z @ w)).sum()
    return Outcome(float(0.5 * w @ w + COST * losses), seconds=seconds)


@dataclass(frozen=True)
class OneTask:
    """Labels and Gram matrices of one task."""

    y: FloatArray
    grams: list[FloatArray]


@cache
def one_task(n: int) -> OneTask:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.4 * rng.standard_normal(n), 1.0, -1.0)
    square = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    return OneTask(y, [np.exp(-square / (2 * w**2)) for w in (0.5, 1, 2, 4, 8)])


def ours_one_task(p: OneTask, accuracy: float) -> Outcome:
    from mtmkl.kernels.gram import GramBlocks
    from mtmkl.solvers.svm.task_duals import DualProblem
    from mtmkl.solvers.weights.pairwise_sharing import PairwiseSharingPath

    grams = np.stack(p.grams, axis=-1).reshape(-1, len(p.grams))
    blocks = GramBlocks.of([p.y.size], grams=grams)
    path = PairwiseSharingPath(DualProblem.of(p.y, blocks), tol=accuracy)
    found = path.solve(COST, 0.0).certificate
    return Outcome(found.objective, found.dual_objective)


def by_mklpy(p: OneTask, _: float) -> Outcome:
    import torch
    from MKLpy.algorithms import EasyMKL

    grams = [torch.tensor(K) for K in p.grams]
    model = EasyMKL(lam=0.1)
    seconds, _fitted = processor_seconds(lambda: model.fit(grams, p.y))
    return Outcome(np.nan, seconds=seconds)


TOLERANCES = tuple(10.0**-k for k in range(1, 9))
SERIES = [
    *(
        Series(
            name=name,
            axis=axis,
            sizes=sizes,
            make=make,
            ours=Solver("ours", ours_shared, (1.0,)),
            baselines=[
                Solver("skglm", by_skglm, TOLERANCES, is_share=False, package="skglm"),
                Solver("scikit-learn", by_scikit_learn, TOLERANCES, is_share=False),
            ],
        )
        for name, axis, sizes, make in (
            (
                "(2,1) norm, shared samples",
                "features",
                (25, 50, 100, 200, 400, 784),
                shared,
            ),
            (
                "(2,1) norm, 200 shared, along λ",
                "λ_max/λ",
                (2, 10, 30, 100, 300, 1000),
                shared_at,
            ),
        )
    ),
    Series(
        name="Strings, three task kernels",
        axis="samples",
        sizes=(1000, 3000, 9000, 27_000),
        make=lambda n: strings(n, False),
        ours=Solver("ours", ours_strings, (1.0,)),
        baselines=[
            Solver("LinearSVC, expanded", by_liblinear, 0.5 ** np.arange(1, 20), False)
        ],
        accuracy=1e-3,
        reference=1e-5,
    ),
    Series(
        name="Strings, one task",
        axis="samples",
        sizes=(1000, 3000, 9000, 27_000),
        make=lambda n: strings(n, True),
        ours=Solver("ours", ours_strings, (1.0,)),
        baselines=[Solver("LinearSVC", by_liblinear, 0.5 ** np.arange(1, 20), False)],
        accuracy=1e-3,
        reference=1e-5,
    ),
    Series(
        name="Kernel weights of one task",
        axis="samples",
        sizes=(50, 100, 200, 400),
        make=one_task,
        ours=Solver("ours", ours_one_task, (1.0,)),
        baselines=[
            Solver(
                "MKLpy, EasyMKL",
                by_mklpy,
                (1.0,),
                package="MKLpy torch",
                remark="another problem: its objective is not compared",
            )
        ],
    ),
]
