"""Time a λ × C path of group-specific feature sharing against two ways without a path.

In processor time of this thread, so that other work on the machine hardly counts, each
after a first run that compiles or imports:

ours      all points of the path, to a relative duality gap of 1e-4; Gram matrices
          before
clarabel  the dual of single points by cvxpy and Clarabel, as long as Clarabel says it
          took (the rest apart); all points by extrapolation from those
SVC       the alternation of the paper's Algorithm 1 (scikit-learn's ``SVC`` of every
          task, then the exact θ step), which does not converge: 20 rounds a point

Data: the eight pairs of letters, 200 a letter, half for training, where
``MTMKL_DATA_MIRROR`` has them, else pairs of digits; ten kernels of the paper.

    python benchmarks/group_sharing.py [--points 9] [--referee 2]
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import DataNotAvailableError
from mtmkl.datasets.registry import load
from mtmkl.datasets.splits import make_split
from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelTerms
from mtmkl.methods._group_sharing import TEN_KERNELS
from mtmkl.solvers.group_sharing import GroupSharingPath
from mtmkl.solvers.group_sharing_admm import pair_penalty
from mtmkl.solvers.group_sharing_weights import minimise_weights
from mtmkl.solvers.task_duals import DualProblem
from mtmkl.typing import FloatArray, IntArray

TOL = 1e-4
ROUNDS = 20


def examples(seed: int) -> tuple[MultiTaskData, IntArray]:
    """Return the letters, or digits, and the rows for training."""
    try:
        data = load("ocr_letters", download=False, n_per_class=200, seed=seed)
    except DataNotAvailableError:
        data = load("digits_pairs", n_classes=5, n_per_class=150, seed=seed)
    protocol = {"id": "half", "kind": "fractions", "train_percent": 50, "repeats": 1}
    return data, make_split(data, protocol, seed, train_size=50, repeat=0).train


def problem(data: MultiTaskData, rows: IntArray) -> DualProblem:
    """Return the tasks with their Gram matrices."""
    X, task = data.X[rows], data.task[rows]
    terms = KernelTerms.of(X, TEN_KERNELS, normalize="cosine", standardize=True)
    training = TrainingSet(terms, X, task, data.n_tasks)
    n_tasks, n_kernels = data.n_tasks, terms.n_terms
    return DualProblem.of(
        data.y[rows][training.order],
        training.blocks(),
        weight=np.arange(n_tasks * n_kernels).reshape(n_tasks, n_kernels),
    )


def separate(tasks: DualProblem) -> list[tuple[FloatArray, FloatArray]]:
    """Return labels and Gram matrices (M, n, n) of each task."""
    parts = []
    for t in range(tasks.n_tasks):
        one = tasks.task(t)
        n = one.c.size
        grams = np.moveaxis(one.blocks.grams.reshape(n, n, -1), -1, 0)
        parts.append((one.c, np.ascontiguousarray(grams)))
    return parts


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of an action, and what it returns."""
    start = time.thread_time()
    result = action()
    return time.thread_time() - start, result


def referee(
    parts: list[tuple[FloatArray, FloatArray]], C: float, lam: float
) -> tuple[float, float]:
    """Return the minimum and the seconds of the solver, ``nan`` if it gives up."""
    n_tasks, n_kernels = len(parts), len(parts[0][1])
    value, constraints = 0.0, []
    pulls: list[Any] = [np.zeros(n_kernels)] * n_tasks
    for t in range(n_tasks):
        for s in range(t + 1, n_tasks):
            force = cp.Variable(n_kernels)
            constraints.append(cp.norm(force) <= lam)
            pulls[t] = pulls[t] + force
            pulls[s] = pulls[s] - force
    for t, (y, grams) in enumerate(parts):
        alpha, least = cp.Variable(y.size), cp.Variable()
        constraints += [alpha >= 0, alpha <= C, y @ alpha == 0, least <= 0]
        for m, K in enumerate(grams):
            sizes, vectors = np.linalg.eigh(K)
            kept = sizes > 1e-10 * sizes[-1]
            root = (vectors[:, kept] * np.sqrt(sizes[kept])).T * y
            q = 0.5 * cp.sum_squares(root @ alpha)
            constraints.append(q <= pulls[t][m] - least)
        value += cp.sum(alpha) + least
    dual = cp.Problem(cp.Maximize(value), constraints)
    try:
        dual.solve(solver="CLARABEL")
    except cp.error.SolverError:
        return np.nan, np.nan
    return float(dual.value), float(dual.solver_stats.solve_time)


def alternation(
    parts: list[tuple[FloatArray, FloatArray]], C: float, lam: float
) -> float:
    """Return the smallest objective of the rounds of Algorithm 1."""
    n_tasks, n_kernels = len(parts), len(parts[0][1])
    theta = np.full((n_tasks, n_kernels), 1.0 / n_kernels)
    none = np.zeros((n_tasks, n_kernels, n_kernels))
    best = np.inf
    for _ in range(ROUNDS):
        q, value = np.empty_like(theta), lam * pair_penalty(theta)
        for t, (y, grams) in enumerate(parts):
            K = np.tensordot(theta[t], grams, axes=1)
            machine = SVC(C=C, kernel="precomputed", tol=1e-4).fit(K, y)
            beta = np.zeros(y.size)
            beta[machine.support_] = machine.dual_coef_[0]
            q[t] = -0.5 * (grams @ beta) @ beta
            scores = K @ beta + machine.intercept_[0]
            value += -theta[t] @ q[t] + C * np.maximum(1.0 - y * scores, 0.0).sum()
        best = min(best, value)
        theta = minimise_weights(
            q, none, np.zeros_like(theta), lam, start=theta, tol=1e-6 * abs(value)
        ).theta
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=9, help="values of C and of λ")
    parser.add_argument("--referee", type=int, default=2, help="points solved apart")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    data, rows = examples(options.seed)
    tasks = problem(data, rows)
    parts = separate(tasks)
    powers = 2.0 ** np.linspace(-10, 10, options.points)
    grid = [(float(C), float(lam)) for C in powers for lam in powers]

    def path() -> list[Any]:
        solver = GroupSharingPath(tasks, tol=TOL)
        return [solver.solve(C, lam) for C, lam in grid]

    path()
    ours, solutions = seconds(path)
    gaps = [solution.certificate.duality_gap for solution in solutions]
    n = np.diff(tasks.offsets)
    print(
        f"{data.name}: {tasks.n_tasks} tasks of {n.min()} to {n.max()} examples, "
        f"{tasks.n_switches // tasks.n_tasks} kernels, {len(grid)} points"
    )
    print(
        f"ours      {ours:8.2f} s, {1e3 * ours / len(grid):7.1f} ms a point, "
        f"largest gap {max(gaps):.1e}"
    )
    # Where points differ: C past the smallest, λ from small to large.
    chosen = [
        i for i, (C, lam) in enumerate(grid) if 0.25 <= C <= 32 and 0.01 <= lam <= 4
    ]
    chosen = [
        chosen[i] for i in np.linspace(0, len(chosen) - 1, options.referee, dtype=int)
    ]
    solving, alternating = [], []
    for i in chosen:
        C, lam = grid[i]
        value, solve_seconds = referee(parts, C, lam)
        spent, best = seconds(lambda C=C, lam=lam: alternation(parts, C, lam))
        solving.append(solve_seconds)
        alternating.append(spent)
        objective = solutions[i].certificate.objective
        if np.isnan(value):
            print(f"  C = {C:<8.4g} λ = {lam:<8.4g} clarabel fails; SVC {spent:.2f} s")
            continue
        print(
            f"  C = {C:<8.4g} λ = {lam:<8.4g} objective/optimum − 1: "
            f"ours {objective / value - 1:9.1e}, SVC {best / value - 1:9.1e}; "
            f"clarabel {solve_seconds:.2f} s, SVC {spent:.2f} s"
        )
    for name, times in (("clarabel", solving), ("SVC", alternating)):
        total = float(np.nanmean(times)) * len(grid)
        print(
            f"{name:9s} {total:8.1f} s (from {np.isfinite(times).sum()} points), "
            f"ratio to ours {total / ours:7.0f}"
        )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
