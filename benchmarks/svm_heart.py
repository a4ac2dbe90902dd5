"""Time the support vector solver beside scikit-learn's and LIBSVM's own routine.

Ten cosine-normalised kernels of a data set, eleven C from 2^-10 to 2^10, one thread,
tolerance 1e-3 for all. The competitors take turns, each solving all 110 problems in a
row as a study would, and what is timed is the processor time of this thread, so that
other work on the machine hardly counts: only the ratios mean something, and only those
of one run.

SVC       ``sklearn.svm.SVC(kernel="precomputed").fit`` in a loop
LIBSVM    ``sklearn.svm._libsvm.fit``, its C routine with nothing around it
single    `mtmkl.solvers.svm.svc`, one Python call a problem
batch     `mtmkl.solvers.svm.svc_batch`, one call for the ten kernels at one C
path      the same, one call for the ten kernels along all C, each C from the last

Times are means over kernels and C; of them, medians over rounds and seeds. "At its
worst C" is the least ratio to LIBSVM at any one C.

    python benchmarks/svm_heart.py [--sizes 20 40 80 200 500] [--seeds 3]
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.svm import SVC, _libsvm
from threadpoolctl import threadpool_limits

from mtmkl.kernels.base import Gaussian, Linear, Polynomial
from mtmkl.kernels.gram import GramStack
from mtmkl.kernels.normalize import CosineNormalized
from mtmkl.solvers.solution import Solution
from mtmkl.solvers.svm import svc, svc_batch

TOL = 1e-3
C_GRID = 2.0 ** np.arange(-10, 11, 2)
KERNELS = [
    CosineNormalized(kernel)
    for kernel in (
        Linear(),
        Polynomial(2),
        Polynomial(3),
        *(Gaussian(median_factor=2.0**power) for power in range(-3, 4)),
    )
]
COMPETITORS = ("SVC", "LIBSVM", "single", "batch", "path")


def cancer(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(seed).permutation(len(y))[:n]
    X = (X[rows] - X[rows].mean(0)) / X[rows].std(0)
    return X, 2.0 * y[rows] - 1.0


def synthetic(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n,
        10,
        n_informative=4,
        n_redundant=2,
        flip_y=0.1,
        class_sep=0.8,
        random_state=seed,
    )
    return X, 2.0 * y - 1.0


def clock(function: Callable[..., Any], *args: Any, **options: Any) -> tuple:
    """Return the processor time of a call, and its result."""
    begin = time.thread_time()
    result = function(*args, **options)
    return time.thread_time() - begin, result


def libsvm(K: np.ndarray, y: np.ndarray, C: float, tol: float = TOL) -> tuple:
    return _libsvm.fit(
        K, y, svm_type=0, kernel="precomputed", C=C, tol=tol, cache_size=100
    )


def support_vector_classifier(K: np.ndarray, y: np.ndarray, C: float) -> SVC:
    return SVC(kernel="precomputed", C=C, tol=TOL).fit(K, y)


def single(K: np.ndarray, y: np.ndarray, C: float) -> Solution:
    return svc(K, y, C=C, tol=TOL)


def each(solve: Callable[..., Any], grams: np.ndarray, y: np.ndarray, C: float) -> None:
    for K in grams:
        solve(K, y, C)


def dual_objective(K: np.ndarray, fit: tuple) -> float:
    support, coef = fit[0], fit[3][0]
    return float(np.abs(coef).sum() - 0.5 * coef @ K[np.ix_(support, support)] @ coef)


def measure(grams: np.ndarray, y: np.ndarray, rounds: int) -> np.ndarray:
    """Return seconds a solve, shape (n_competitors, n_C), medians over rounds."""
    times = np.empty((rounds, len(COMPETITORS), len(C_GRID)))
    one_by_one = (support_vector_classifier, libsvm, single)
    for turn in range(rounds):
        for row, solve in enumerate(one_by_one):
            for p, C in enumerate(C_GRID):
                times[turn, row, p] = clock(each, solve, grams, y, C)[0]
        for p, C in enumerate(C_GRID):
            times[turn, 3, p], batch = clock(svc_batch, grams, y, C=C, tol=TOL)
            assert batch.converged.all()
        seconds, path = clock(svc_batch, grams, y, C=C_GRID, tol=TOL)
        times[turn, 4] = seconds / len(C_GRID)
        assert path.converged.all()
    return np.median(times, axis=0) / len(grams)


def distance(grams: np.ndarray, y: np.ndarray) -> float:
    """Return how far LIBSVM's optima and ours are apart, relatively, some of them.

    At tolerances of 1e-5 and 1e-6, at which they should agree. At 1e-3 neither may pass
    the other's primal objective.
    """
    ours = svc_batch(grams, y, C=C_GRID, tol=1e-6)
    rough = svc_batch(grams, y, C=C_GRID, tol=TOL)
    apart = 0.0
    for p in range(0, len(C_GRID), 3):
        for m in range(0, len(grams), 3):
            theirs = dual_objective(grams[m], libsvm(grams[m], y, C_GRID[p], 1e-5))
            apart = max(apart, abs(theirs / ours.dual_objective[p, m] - 1.0))
            theirs = dual_objective(grams[m], libsvm(grams[m], y, C_GRID[p]))
            assert theirs <= rough.objective[p, m] * (1 + 1e-6)
    return apart


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 40, 80, 200, 500])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    _libsvm.set_verbosity_wrap(0)
    with threadpool_limits(1):
        compare(options.sizes, options.seeds, options.rounds)


def compare(sizes: list[int], seeds: int, rounds: int) -> None:
    print(
        f"{'':14} | {'microseconds a solve':^41} | {'SVC over':^20} | "
        f"{'LIBSVM over':^20} | {'at its worst C':^15} | {'batch':>5} | optima"
    )
    print(
        f"{'data':>9} {'n':>4} | {'SVC':>8} {'LIBSVM':>8} "
        f"{'single':>7} {'batch':>7} {'path':>7} | {'single':>6} {'batch':>6} "
        f"{'path':>6} | {'single':>6} {'batch':>6} {'path':>6} | "
        f"{'single':>7} {'batch':>7} | {'/path':>5} | apart"
    )
    X, y = synthetic(16, 0)
    measure(GramStack.compute(KERNELS, X).values, y, 1)  # compiles
    for name, data in (("cancer", cancer), ("synthetic", synthetic)):
        for n in sizes:
            table, apart = [], 0.0
            for seed in range(seeds):
                X, y = data(n, seed)
                grams = GramStack.compute(KERNELS, X).values
                table.append(measure(grams, y, rounds) * 1e6)
                apart = max(apart, distance(grams, y))
            svm, lib, one, batch, path = np.median(np.mean(table, axis=2), axis=0)
            by_C = np.median(table, axis=0)
            worst = (by_C[1] / by_C[2:4]).min(axis=1)
            print(
                f"{name:>9} {n:>4} | {svm:8.0f} {lib:8.1f} {one:7.1f} {batch:7.1f} "
                f"{path:7.1f} | {svm / one:6.1f} {svm / batch:6.1f} "
                f"{svm / path:6.1f} | {lib / one:6.2f} {lib / batch:6.2f} "
                f"{lib / path:6.2f} | {worst[0]:7.2f} {worst[1]:7.2f} | "
                f"{batch / path:5.2f} | {apart:.0e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
