"""Time the feature-space solver of multi-task kernel learning beside LIBLINEAR.

Data are those of :mod:`mtmkl.papers.widmer2015.strings`. One thread; what is timed is
its processor time, so that other work on the machine hardly counts.

scaling    seconds to a relative gap of 1e-3, three task kernels on one map, against n,
           with the slope of log time against log n, and the peak memory beyond the data
one task   beside ``LinearSVC(loss="hinge")`` at several tolerances: the time to reach
           its primal objective, after the fewest epochs that do, over its own
expanded   ``LinearSVC`` on the map of all terms written out (the Kronecker product with
           Cholesky factors of the task kernels) at the weights we found, with its
           loosest tolerance that reaches our objective, over our time to a gap of 1e-3;
           without and with the time to write the map out

    python benchmarks/mt_mkl_features.py [--sizes 1000 10000 100000] [--C 1]
"""

import argparse
import time
import tracemalloc
import warnings
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from mtmkl.papers.widmer2015.strings import (
    N_FEATURES,
    N_TASKS,
    TASK_KERNELS,
    draw_strings,
    expanded,
)
from mtmkl.solvers import mt_mkl_features
from mtmkl.solvers.solution import Solution

TOLERANCES = 0.5 ** np.arange(0, 22)
MOST_COMPARED = 10_000


def clock(function: Callable[..., Any], *args: Any, **options: Any) -> tuple:
    """Return the processor time of a call, and its result."""
    begin = time.thread_time()
    result = function(*args, **options)
    return time.thread_time() - begin, result


def ours(
    X: csr_matrix,
    y: np.ndarray,
    task: np.ndarray,
    kernels: tuple,
    C: float,
    tol: float,
    max_iter: int = 1000,
) -> Solution:
    return mt_mkl_features.solve(
        [X],
        y,
        task,
        [(0, kernel) for kernel in kernels],
        C=C,
        p=2.0,
        rng=np.random.default_rng(0),
        tol=tol,
        max_iter=max_iter,
    )


def liblinear(X: csr_matrix, y: np.ndarray, C: float, tol: float) -> LinearSVC:
    machine = LinearSVC(
        dual=True, loss="hinge", fit_intercept=False, C=C, tol=tol, max_iter=1000
    )
    return machine.fit(X, y)


def objective(X: csr_matrix, y: np.ndarray, w: np.ndarray, C: float) -> float:
    return float(0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w)).sum())


def peak_memory(*problem: Any) -> int:
    """Return the most bytes that two epochs have at a time beyond the data."""
    tracemalloc.start()
    ours(*problem, tol=1e-3, max_iter=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The compiled code's own vector of one number per feature is not seen.
    return peak + N_FEATURES * 8


def scaling(sizes: list[int], C: float) -> None:
    bound = 2 * N_TASKS * len(TASK_KERNELS) * N_FEATURES * 8
    print(f"scaling, C={C:g}; 2·T·M·d·8 bytes are {bound / 2**20:.1f} MB")
    print(
        f"{'n':>8} {'data MB':>8} | {'seconds':>8} {'epochs':>6} {'gap':>8} | "
        f"{'beyond the data MB':>18} {'but for bytes per row':>21}"
    )
    seconds = []
    for n in sizes:
        X, y, task = draw_strings(n)
        data = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        times = []
        for _ in range(5 if n <= 10_000 else 1):
            took, solution = clock(ours, X, y, task, TASK_KERNELS, C, 1e-3)
            times.append(took)
        seconds.append(np.median(times))
        certificate = solution.certificate
        beyond = peak_memory(X, y, task, TASK_KERNELS, C)
        print(
            f"{n:>8} {data / 2**20:8.0f} | {seconds[-1]:8.3f} {certificate.n_iter:>6} "
            f"{certificate.duality_gap:8.1e} | {beyond / 2**20:18.1f} "
            f"{max(beyond - bound, 0) / n:21.0f}",
            flush=True,
        )
    if len(sizes) > 1:
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        print(f"slope of log time against log n: {slope:.2f}\n", flush=True)


def one_task(sizes: list[int], rounds: int) -> None:
    print("one task, one kernel")
    print(f"{'n':>8} {'C':>5} {'tol':>7} | {'LIBLINEAR':>15} | {'ours':>14} | ratio")
    kernels = (np.ones((1, 1)),)
    for n in sizes:
        X, y, task = draw_strings(n)
        task = np.zeros_like(task)
        for C in (0.1, 1.0, 10.0):
            for tol in (1e-1, 1e-2, 1e-3):
                theirs = liblinear(X, y, C, tol)
                goal = objective(X, y, theirs.coef_[0], C)
                problem = (X, y, task, kernels, C)
                epochs = fewest_epochs(goal, *problem)
                table = [
                    (
                        clock(liblinear, X, y, C, tol)[0],
                        clock(ours, *problem, tol=1e-12, max_iter=epochs)[0],
                    )
                    for _ in range(rounds)
                ]
                lib, our = np.median(table, axis=0)
                print(
                    f"{n:>8} {C:>5g} {tol:>7g} | {theirs.n_iter_:>5} {lib:9.3f} | "
                    f"{epochs:>5} {our:8.3f} | {our / lib:5.2f}",
                    flush=True,
                )
    print()


def fewest_epochs(goal: float, *problem: Any) -> int:
    """Return after how many epochs our primal objective is first at most the goal."""

    def reached(epochs: int) -> bool:
        solution = ours(*problem, tol=1e-12, max_iter=epochs)
        return solution.certificate.objective <= goal * (1 + 1e-12)

    most = 1
    while not reached(most):
        most *= 2
    return bisect_left(range(most), True, lo=max(most // 2, 1), key=reached)


def beside_expanded(sizes: list[int], C: float) -> None:
    print(f"three task kernels, C={C:g}, beside LinearSVC on the expanded map")
    print(
        f"{'n':>8} | {'ours':>8} {'objective':>10} | {'tol':>6} {'LIBLINEAR':>9} "
        f"{'objective':>10} | {'ratio':>5} | {'expanding':>9} {'with it':>7}"
    )
    for n in sizes:
        X, y, task = draw_strings(n)
        took, solution = clock(ours, X, y, task, TASK_KERNELS, C, 1e-3)
        goal = solution.certificate.objective
        expanding, Z = clock(expanded, X, task, solution.extra["theta"])
        for tol in TOLERANCES:
            theirs, machine = clock(liblinear, Z, y, C, tol)
            reached = objective(Z, y, machine.coef_[0], C)
            if reached <= goal:
                break
        print(
            f"{n:>8} | {took:8.3f} {goal:10.3f} | {tol:6.2g} {theirs:9.3f} "
            f"{reached:10.3f} | {theirs / took:5.1f} | {expanding:9.3f} "
            f"{(theirs + expanding) / took:7.1f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10000, 100000])
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("scaling", "one task", "expanded"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y, task = draw_strings(100)
    ours(X, y, task, TASK_KERNELS, 1.0, 1e-3)  # compiles
    with threadpool_limits(1):
        if options.only in (None, "scaling"):
            scaling(options.sizes, options.C)
        compared = [n for n in options.sizes if n <= MOST_COMPARED]
        if options.only in (None, "one task"):
            one_task(compared, options.rounds)
        if options.only in (None, "expanded"):
            beside_expanded(compared, options.C)


if __name__ == "__main__":
    main()
