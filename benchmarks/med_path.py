"""Time regularisation paths of multi-task kernel selection against independent SVMs.

The paper says that a sweep over α, started from an SVM solution, never took more than
50 times the run time of that solution, and that Algorithm 1 took 2 to 40 iterations.
For each number of samples a task and each C, in processor time of this thread, so that
other work on the machine hardly counts:

SVC     scikit-learn's ``SVC(kernel="precomputed").fit`` of every task on the sum kernel
ours    the same by our solver: α = 0 from scratch, to the tolerance of the path
newton  the whole path over α (eleven values, log(1 + α) = 0.05 … 2.5 times max q)
sqp     the same by Algorithm 1, started along the path as in the paper

Ratios are to "ours" and, in brackets, to SVC. Iterations of Algorithm 1 are sweeps over
the tasks until λ changes by at most 1 % (step 4, ϖ = 0.01): from the last α, and from
zero. Data: Landmine where ``MTMKL_DATA_MIRROR`` has it, else digits; nine features or
principal components as kernels of rank one, and nine Gaussians.

    python benchmarks/med_path.py [--sizes 20 60 100 200] [--sqp-up-to 60]
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from mtmkl.datasets.container import MultiTaskData
from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelTerms
from mtmkl.solvers.med.med import MedPath
from mtmkl.solvers.svm.task_duals import DualProblem
from mtmkl_suite.data.errors import DataNotAvailableError
from mtmkl_suite.data.registry import load
from mtmkl_suite.data.splits import make_splits
from mtmkl_suite.papers.jebara2011.med_sqp import SqpPath, solve_sqp

TOL = 1e-4
C_GRID = (0.01, 0.1, 1.0, 10.0)
SHARES = np.geomspace(0.05, 2.5, 11)
KERNELS = [
    "features",
    *({"name": "gaussian", "median_factor": 2.0**power} for power in range(-4, 5)),
]


def samples(seed: int) -> MultiTaskData:
    """Return Landmine, or digits by their first nine principal components."""
    try:
        return load("landmine", download=False)
    except DataNotAvailableError:
        digits = load("digits")
        return MultiTaskData(
            X=PCA(9, random_state=seed).fit_transform(digits.X),
            y=digits.y,
            task=digits.task,
            sample=digits.sample,
            name="digits",
            origin="stand-in",
        )


def problem(data: MultiTaskData, size: int, seed: int) -> DualProblem:
    """Return the tasks of a training part with their kernels."""
    protocol = {"id": "bench", "kind": "halves", "repeats": 1, "train_sizes": [size]}
    rows = make_splits(data, protocol, seed)[size, 0].train
    X, task = data.X[rows], data.task[rows]
    terms = KernelTerms.of(X, KERNELS, normalize="trace", standardize=True)
    training = TrainingSet(terms, X, task, data.n_tasks)
    return DualProblem.of(
        data.y[rows][training.order],
        training.blocks(),
        weight=np.tile(terms.order, (data.n_tasks, 1)),
    )


def seconds(run: Callable[[], object]) -> float:
    """Return the processor time of a call, in seconds."""
    start = time.thread_time()
    run()
    return time.thread_time() - start


def sum_kernels(tasks: DualProblem) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the sum kernel and the labels of each task."""
    out, blocks = [], tasks.blocks
    for t in range(tasks.n_tasks):
        rows = slice(tasks.offsets[t], tasks.offsets[t + 1])
        n = rows.stop - rows.start
        grams = blocks.grams[blocks.entries[t] : blocks.entries[t + 1]]
        K = grams.sum(axis=1).reshape(n, n)
        x = blocks.features[rows]
        out.append((K + x @ x.T, tasks.c[rows]))
    return out


def fit_svc(kernels: list[tuple[np.ndarray, np.ndarray]], C: float) -> None:
    """Fit every task by scikit-learn."""
    for K, y in kernels:
        SVC(C=C, kernel="precomputed").fit(K, y)


def sweeps(tasks: DualProblem, C: float, alphas: list[float]) -> tuple[list, list]:
    """Return sweeps of Algorithm 1 until λ settles: along the path, and from zero."""
    path = SqpPath(tasks, tol=0.0, change_tol=0.01)
    path.solve(C, -np.inf)
    along = [path.solve(C, a).certificate.n_iter for a in alphas]
    cold = [
        solve_sqp(tasks, C, a, tol=0.0, change_tol=0.01).certificate.n_iter
        for a in alphas
    ]
    return along, cold


def report(tasks: DualProblem, size: int, C: float, with_sqp: bool) -> None:
    """Print one line of the table."""
    ours = np.median(
        [seconds(lambda: MedPath(tasks, tol=TOL).solve(C, -np.inf)) for _ in range(5)]
    )
    kernels = sum_kernels(tasks)
    svc = np.median([seconds(lambda: fit_svc(kernels, C)) for _ in range(3)])
    path = MedPath(tasks, tol=TOL)
    largest = path.largest_q(C)
    growth = SHARES * largest
    alphas = [float(g + np.log(-np.expm1(-g))) for g in growth]
    solutions = []
    newton = seconds(lambda: solutions.extend(path.solve(C, a) for a in alphas))
    steps = [solution.certificate.n_iter for solution in solutions]
    line = (
        f"{size:4d} {C:6.2g} {largest:8.3g} {1e3 * svc:8.1f} {1e3 * ours:7.2f} "
        f"{1e3 * newton:8.1f} {newton / ours:6.1f} ({newton / svc:5.1f}) "
        f"{min(steps):2d}–{max(steps):<2d}"
    )
    if with_sqp:
        sqp = SqpPath(tasks, tol=TOL)
        sqp.solve(C, -np.inf)
        spent = seconds(lambda: [sqp.solve(C, a) for a in alphas])
        along, cold = sweeps(tasks, C, alphas)
        line += (
            f" {1e3 * spent:9.0f} {spent / ours:7.0f} ({spent / svc:5.0f})"
            f"  {min(along)}–{max(along)}, {min(cold)}–{max(cold)}"
        )
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 60, 100, 200])
    parser.add_argument("--sqp-up-to", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    data = samples(options.seed)
    print(f"{data!r}, {len(KERNELS) - 1 + data.X.shape[1]} kernels, gap {TOL:g}")
    print(
        "   n      C    max q   SVC ms ours ms   path ms  ratio (to SVC) steps  "
        "  sqp ms   ratio (to SVC) sweeps, from zero"
    )
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warm = problem(data, 20, options.seed)
        MedPath(warm, tol=TOL).solve(1.0, 0.0)
        SqpPath(warm, tol=TOL).solve(1.0, 0.0)
        for size in options.sizes:
            tasks = problem(data, size, options.seed)
            for C in C_GRID:
                report(tasks, size, C, size <= options.sqp_up_to)


if __name__ == "__main__":
    main()
