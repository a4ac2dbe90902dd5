"""Time to a certified gap on the School data: the default solver and its peers.

    python benchmarks/school_solvers.py [--splits 3] [--skip-kernel]

Prints, for training sets of the published splits and one thread, medians over the
splits of

1. the whole path γ = 10^3 … 10^-6 of each penalty to a relative gap of 1e-6;
2. a single γ: the default solver to 1e-6 against Algorithm 1 as printed, with ε reduced
   whenever W has stabilised, to 1e-3 and to 1e-6, and the gap at which it stalls;
3. the default solver against cvxpy (Clarabel, SCS) on the first tasks, as many as a
   generic solver can do;
4. the kernel version against its size δ (Gaussian kernels of several widths).

The data come from ``MTMKL_DATA_MIRROR``, the cache, or a download.
"""

import argparse
import warnings
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from mtmkl.datasets import MultiTaskData, load, make_splits
from mtmkl.kernels.base import Gaussian
from mtmkl.kernels.basis import kernel_basis
from mtmkl.solvers.alternating import solve_alternating
from mtmkl.solvers.penalties import PENALTIES
from mtmkl.solvers.solution import Solution
from mtmkl.solvers.squared_norm import PenaltyName, solve
from mtmkl.solvers.task_decomposition import TaskDecomposition, decompose

GAMMAS = 10.0 ** np.arange(3, -7, -1)
SINGLE_GAMMAS = (1e-2, 1.0, 1e2)
Value = TypeVar("Value")

ALTERNATIONS = (10, 20, 40, 80, 160, 320, 640, 1280, 2560)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3, help="published splits used")
    parser.add_argument("--skip-kernel", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = load("school")
    protocol = {
        "id": "school_published",
        "kind": "published",
        "repeats": arguments.splits,
        "folds": 5,
    }
    splits = make_splits(data, protocol, seed=0).values()
    training = [data.subset(split.train) for split in splits]
    _warm_up(training[0])
    paths(training)
    alternating(training)
    generic(training)
    if not arguments.skip_kernel:
        kernels(training[0])


def paths(training: list[MultiTaskData]) -> None:
    """Print the time of the whole path for each penalty."""
    print(f"\n1. Path of {GAMMAS.size} γ to a relative gap of 1e-6, seconds")
    times = [_timed(lambda t=t: _decompose(t))[0] for t in training]
    print(f"   {'decompositions':<16}{median(times):8.4f}")
    for penalty in PENALTIES:
        warm, cold, gaps = [], [], []
        for each in training:
            tasks = _decompose(each)
            seconds, solutions = _timed(
                lambda tasks=tasks, penalty=penalty: _path(tasks, penalty)
            )
            warm.append(seconds)
            gaps += [solution.certificate.duality_gap for solution in solutions]
            cold.append(
                _timed(
                    lambda tasks=tasks, penalty=penalty: [
                        solve(tasks, gamma, penalty=penalty) for gamma in GAMMAS
                    ]
                )[0]
            )
        print(
            f"   {penalty:<16}{median(warm):8.4f}   without warm starts "
            f"{median(cold):.4f} (×{median(cold) / median(warm):.2f}), "
            f"worst gap {max(gaps):.1e}"
        )


def alternating(training: list[MultiTaskData]) -> None:
    """Print times of the default solver and of Algorithm 1 as printed."""
    print("\n2. One γ, trace norm: default to 1e-6 | Algorithm 1 to 1e-3, to 1e-6")
    for gamma in SINGLE_GAMMAS:
        default, coarse, fine, stalls = [], [], [], []
        for each in training:
            tasks = _decompose(each)
            default.append(_timed(lambda tasks=tasks, g=gamma: solve(tasks, g))[0])
            reached = {1e-3: np.inf, 1e-6: np.inf}
            for max_iter in ALTERNATIONS:
                seconds, solution = _timed(
                    lambda tasks=tasks, g=gamma, m=max_iter: solve_alternating(
                        tasks, g, tol=1e-9, epsilon_decay=0.5, max_iter=m
                    )
                )
                gap = solution.certificate.duality_gap
                for target in reached:
                    if gap <= target:
                        reached[target] = min(reached[target], seconds)
            stalls.append(gap)
            coarse.append(reached[1e-3])
            fine.append(reached[1e-6])
        base = median(default)
        print(
            f"   γ={gamma:<7g} {base:.4f} s | {_versus(median(coarse), base)} | "
            f"{_versus(median(fine), base)}; "
            f"gap after {ALTERNATIONS[-1]} iterations {median(stalls):.1e}"
        )


def generic(training: list[MultiTaskData]) -> None:
    """Print times of the default solver and of cvxpy on the first tasks."""
    print("\n3. γ = 1, trace norm, first T tasks: default to 1e-6 against cvxpy")
    for n_tasks in (5, 10, 20, 40):
        ours, theirs = [], {"CLARABEL": [], "SCS": []}
        excess = dict.fromkeys(theirs, 0.0)
        for each in training:
            part = each.select_tasks(np.arange(n_tasks))
            tasks = _decompose(part)
            seconds, solution = _timed(lambda tasks=tasks: solve(tasks, 1.0))
            ours.append(seconds)
            bound = solution.certificate.dual_objective
            for solver in theirs:
                if solver == "CLARABEL" and n_tasks > 20:
                    theirs[solver].append(np.inf)
                    continue
                seconds, value = _timed(
                    lambda tasks=tasks, solver=solver: _by_cvxpy(tasks, 1.0, solver)
                )
                theirs[solver].append(seconds)
                excess[solver] = max(excess[solver], abs(value / bound - 1))
        base = median(ours)
        rest = ", ".join(
            f"{solver} {_versus(median(times), base)} (off by {excess[solver]:.0e})"
            for solver, times in theirs.items()
            if np.isfinite(median(times))
        )
        print(f"   T={n_tasks:<4} {base:.4f} s | {rest}")


def kernels(data: MultiTaskData) -> None:
    """Print how the kernel version grows with its size."""
    print("\n4. Gaussian kernel, split 1: seconds of each part")
    X = StandardScaler().fit_transform(data.X)
    first = None
    for factor in (4.0, 2.0, 1.0, 0.5):
        basis_seconds, (basis, Z) = _timed(
            lambda f=factor: kernel_basis(Gaussian(median_factor=f), X)
        )
        split_seconds, tasks = _timed(
            lambda Z=Z: decompose(Z, data.y, data.task, n_tasks=data.n_tasks)
        )
        path_seconds, solutions = _timed(lambda tasks=tasks: _path(tasks))
        worst = max(solution.certificate.duality_gap for solution in solutions)
        first = first or (basis.dimension, path_seconds)
        print(
            f"   {factor:g} × median: δ={basis.dimension:<5} basis {basis_seconds:6.2f}"
            f"  decompositions {split_seconds:5.2f}  path {path_seconds:6.2f} "
            f"(δ ×{basis.dimension / first[0]:.1f}, time ×"
            f"{path_seconds / first[1]:.1f}), worst gap {worst:.1e}"
        )


def _path(tasks: TaskDecomposition, penalty: PenaltyName = "trace") -> list[Solution]:
    solutions: list[Solution] = []
    for gamma in GAMMAS:
        start = solutions[-1].extra["warm_start"] if solutions else None
        solutions.append(solve(tasks, gamma, penalty=penalty, start=start))
    return solutions


def _by_cvxpy(tasks: TaskDecomposition, gamma: float, solver: str) -> float:
    import cvxpy as cp

    W = cp.Variable((tasks.n_features, tasks.n_tasks))
    scaled = tasks.right * tasks.singular[:, None]
    loss = 0
    for t in range(tasks.n_tasks):
        rows = slice(tasks.offsets[t], tasks.offsets[t + 1])
        loss += cp.sum_squares(tasks.target[rows] - scaled[rows] @ W[:, t])
    problem = cp.Problem(cp.Minimize(loss + gamma * cp.square(cp.normNuc(W))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=solver)
    return float(problem.value) + tasks.constant


def _decompose(data: MultiTaskData) -> TaskDecomposition:
    return decompose(data.X, data.y, data.task, n_tasks=data.n_tasks)


def _timed(function: Callable[[], Value]) -> tuple[float, Value]:
    start = perf_counter()
    value = function()
    return perf_counter() - start, value


def _versus(seconds: float, base: float) -> str:
    if not np.isfinite(seconds):
        return "not reached"
    return f"{seconds:.3f} s (×{seconds / base:.0f})"


def _warm_up(data: MultiTaskData) -> None:
    """Compile everything outside the measurements."""
    tasks = _decompose(data.select_tasks(np.arange(3)))
    for penalty in PENALTIES:
        solve(tasks, 1.0, penalty=penalty)
    solve_alternating(tasks, 1.0, max_iter=5)


if __name__ == "__main__":
    # One thread, so that times compare algorithms.
    with threadpool_limits(1):
        main()
