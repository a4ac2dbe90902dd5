"""Time the support vector duals of the methods against scikit-learn and LIBSVM.

Kernels of synthetic classifications, eleven C from 2^-10 to 2^10, one thread, tolerance
1e-3 for all. Every competitor solves all tasks at every C; what is timed is the
processor time of this thread, so that other work on the machine hardly counts: only the
ratios mean something, and only those of one run.

SVC     ``sklearn.svm.SVC(kernel="precomputed").fit`` per task and C
LIBSVM  ``sklearn.svm._libsvm.fit``, its C routine with nothing around it
cold    `mtmkl.solvers.task_duals.TaskDuals` of all tasks at once, from zero at each C
warm    the same, each C from the last

The first two are given the sum of the kernels, which ours take from its terms. Times
are means over tasks and C, of which medians over rounds and seeds. "apart" is the
largest relative distance of our dual optima from those of LIBSVM at tolerances of 1e-6.

    python benchmarks/svm_heart.py [--sizes 40 80 200] [--tasks 1 29] [--kernels 1 10]
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC, _libsvm
from threadpoolctl import threadpool_limits

from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelTerms
from mtmkl.solvers.task_duals import DualProblem, TaskDuals

TOL = 1e-3
C_GRID = 2.0 ** np.arange(-10, 11, 2)
KERNELS = [
    {"name": "gaussian", "median_factor": 1.0},
    {"name": "linear"},
    {"name": "polynomial", "degree": 2},
    {"name": "polynomial", "degree": 3},
    *({"name": "gaussian", "median_factor": 2.0**p} for p in (-3, -2, -1, 1, 2, 3)),
]


def problem(n: int, n_tasks: int, n_kernels: int, seed: int) -> DualProblem:
    """Return tasks of n examples each, with kernels whose sum has a diagonal of 1."""
    parts = [
        make_classification(
            n,
            10,
            n_informative=4,
            n_redundant=2,
            flip_y=0.1,
            class_sep=0.8,
            random_state=seed * 1000 + t,
        )
        for t in range(n_tasks)
    ]
    X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
    terms = KernelTerms.of(X, KERNELS[:n_kernels], normalize="cosine")
    training = TrainingSet(terms, X, np.repeat(np.arange(n_tasks), n), n_tasks)
    return DualProblem.of(2.0 * y - 1.0, training.blocks())


def sums(problem: DualProblem) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the mean kernel and the labels of each task."""
    entries, offsets = problem.blocks.entries, problem.offsets
    out = []
    for t in range(problem.n_tasks):
        grams = problem.blocks.grams[entries[t] : entries[t + 1]]
        n = offsets[t + 1] - offsets[t]
        K = grams.mean(axis=1).reshape(n, n)
        out.append((np.ascontiguousarray(K), problem.c[offsets[t] : offsets[t + 1]]))
    return out


def support_vector_classifier(K: np.ndarray, y: np.ndarray, C: float) -> None:
    SVC(kernel="precomputed", C=C, tol=TOL).fit(K, y)


def libsvm(K: np.ndarray, y: np.ndarray, C: float, tol: float = TOL) -> tuple:
    return _libsvm.fit(
        K, y, svm_type=0, kernel="precomputed", C=C, tol=tol, cache_size=100
    )


def each(solve: Callable[..., Any], tasks: list[tuple[np.ndarray, np.ndarray]]) -> None:
    for C in C_GRID:
        for K, y in tasks:
            solve(K, y, C)


def cold(problem: DualProblem, weights: np.ndarray) -> None:
    for C in C_GRID:
        TaskDuals(problem, C).solve(weights, TOL)


def warm(problem: DualProblem, weights: np.ndarray) -> None:
    duals = TaskDuals(problem, C_GRID[0])
    duals.solve(weights, TOL)
    for C in C_GRID[1:]:
        duals.enter(C)
        duals.solve(weights, TOL)


def seconds(function: Callable[..., Any], *args: Any) -> float:
    """Return the processor time of a call, in seconds."""
    begin = time.thread_time()
    function(*args)
    return time.thread_time() - begin


def measure(problem: DualProblem, rounds: int) -> np.ndarray:
    """Return microseconds per task and C of all competitors, medians over rounds."""
    tasks = sums(problem)
    weights = np.full(problem.n_weights, 1.0 / problem.n_weights)
    times = [
        [
            seconds(each, support_vector_classifier, tasks),
            seconds(each, libsvm, tasks),
            seconds(cold, problem, weights),
            seconds(warm, problem, weights),
        ]
        for _ in range(rounds)
    ]
    return 1e6 * np.median(times, axis=0) / (len(tasks) * len(C_GRID))


def distance(problem: DualProblem) -> float:
    """Return how far the optima are apart, relatively, at a tolerance of 1e-6."""
    weights = np.full(problem.n_weights, 1.0 / problem.n_weights)
    apart = 0.0
    for C in C_GRID[::3]:
        theirs = 0.0
        for K, y in sums(problem):
            fit = libsvm(K, y, C, 1e-6)
            support, beta = fit[0], fit[3][0]
            quadratic = beta @ K[np.ix_(support, support)] @ beta
            theirs += float(np.abs(beta).sum() - 0.5 * quadratic)
        ours = TaskDuals(problem, C).solve(weights, 1e-6).dual
        apart = max(apart, abs(theirs / ours - 1.0))
    return apart


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[40, 80, 200])
    parser.add_argument("--tasks", type=int, nargs="+", default=[1, 29])
    parser.add_argument("--kernels", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    _libsvm.set_verbosity_wrap(0)
    print(
        f"{'':>15} | {'microseconds per task and C':^35} | {'SVC over':^13} | "
        f"{'LIBSVM over':^13} |\n{'tasks':>5} {'kern':>4} {'n':>4} | {'SVC':>8} "
        f"{'LIBSVM':>8} {'cold':>8} {'warm':>8} | {'cold':>6} {'warm':>6} | "
        f"{'cold':>6} {'warm':>6} | apart"
    )
    with threadpool_limits(1):
        measure(problem(16, 2, 2, 0), 1)  # compiles
        for n_tasks in options.tasks:
            for n_kernels in options.kernels:
                for n in options.sizes:
                    rows, apart = [], 0.0
                    for seed in range(options.seeds):
                        tasks = problem(n, n_tasks, n_kernels, seed)
                        rows.append(measure(tasks, options.rounds))
                        apart = max(apart, distance(tasks))
                    svm, lib, first, last = np.median(rows, axis=0)
                    print(
                        f"{n_tasks:5d} {n_kernels:4d} {n:4d} | {svm:8.0f} {lib:8.1f} "
                        f"{first:8.1f} {last:8.1f} | {svm / first:6.1f} "
                        f"{svm / last:6.1f} | {lib / first:6.2f} {lib / last:6.2f} | "
                        f"{apart:.0e}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
