"""Time mixed norms over School's tasks against three other ways to the same gap.

MK-MTFL (p = 6) and MK-MTSFL (q = 1.5), ε-insensitive loss, all tasks with 15 examples
each, in processor time of this thread, each after a first run that compiles, to a
relative duality gap of 1e-3:

ours          the default solvers, Newton's method and the method of multipliers
mirror        mirror descent with steps that adapt
fixed s       mirror descent with one step for all iterations: s over the largest
              partial derivative at the optimum, since the paper states none
alternating   alternate minimisation, after Argyriou et al. (2008), of MK-MTSFL
clarabel      the problem by cvxpy and Clarabel, as long as Clarabel says it took

on seven kernels (linear, and Gaussians of widths 0.01 to 1000), on the seven kernels of
each feature, and on the linear kernel. A search that stops at its limit of iterations
gives a lower bound of the ratio, with the gap that it reached. Then the growth of ours
with the number of tasks and of kernels.

Without School, which ``MTMKL_DATA_MIRROR`` has, nothing is timed.

    python benchmarks/mixed_norms.py [--C 0.5] [--iterations 300] [--no-referee]
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from mtmkl.datasets.errors import DataNotAvailableError
from mtmkl.datasets.registry import load
from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelTerms
from mtmkl.methods.mkmtfl import SEVEN_KERNELS
from mtmkl.methods.mkmtsfl import Coordinates
from mtmkl.solvers.mixed_norm import MixedNormPath
from mtmkl.solvers.mixed_schatten import MixedSchattenPath, SchattenProblem
from mtmkl.solvers.mixed_schatten_descent import MixedSchattenDescent
from mtmkl.solvers.solution import Solution
from mtmkl.solvers.task_duals import DualProblem
from mtmkl.typing import FloatArray

TOL, EPSILON, EXAMPLES = 1e-3, 0.1, 15
P, Q = 6.0, 1.5
STEPS = (0.01, 0.1, 1.0, 10.0)
KERNELS: dict[str, list[Any]] = {
    "7 kernels": list(SEVEN_KERNELS),
    "7 per feature": [{**each, "feature": "each"} for each in SEVEN_KERNELS],
    "linear": ["linear"],
}


class School:
    """Standardised examples of School, as many of each task."""

    def __init__(self, seed: int) -> None:
        data = load("school", download=False)
        rng = np.random.default_rng(seed)
        rows = np.concatenate(
            [
                rng.choice(np.flatnonzero(data.task == t), EXAMPLES, replace=False)
                for t in range(data.n_tasks)
            ]
        )
        self.X: FloatArray = StandardScaler().fit_transform(data.X[rows])
        y = data.y[rows]
        self.y = (y - y.mean()) / y.std()
        self.n_tasks = data.n_tasks

    def mixed_norm(self, kernels: list[Any], n_tasks: int) -> DualProblem:
        """Return MK-MTFL of the first tasks."""
        n = n_tasks * EXAMPLES
        terms = KernelTerms.of(self.X[:n], kernels, normalize="trace")
        task = np.repeat(np.arange(n_tasks), EXAMPLES)
        training = TrainingSet(terms, self.X[:n], task, n_tasks)
        return DualProblem.of(self.y[:n], training.blocks(), epsilon=EPSILON)

    def mixed_schatten(self, kernels: list[Any], n_tasks: int) -> SchattenProblem:
        """Return MK-MTSFL of the first tasks."""
        n = n_tasks * EXAMPLES
        _, factors = Coordinates.of(
            self.X[:n], kernels, normalize="trace", standardize=False, basis_tol=1e-6
        )
        sizes = np.full(n_tasks, EXAMPLES)
        return SchattenProblem.of(factors, self.y[:n], sizes, Q, epsilon=EPSILON)


def seconds(action: Callable[[], Solution]) -> tuple[float, Solution]:
    """Return the processor time of an action, and what it returns."""
    start = time.thread_time()
    result = action()
    return time.thread_time() - start, result


def row(name: str, spent: float, ours: float, gap: float, n_iter: int) -> None:
    """Print a line of a table."""
    bound = "" if gap <= TOL else "> "
    ratio = f"{bound}{spent / ours:.0f}"
    print(
        f"  {name:13s} {1e3 * spent:12.1f} ms {n_iter:7d} iterations, gap {gap:7.1e}, "
        f"ratio {ratio:>8s}"
    )


def compare(ours: Callable[[], Any], others: dict[str, Any], C: float) -> float:
    """Time searches, and return the seconds of ours."""
    ours().solve(C)
    path = ours()
    spent, solution = seconds(lambda: path.solve(C))
    certificate = solution.certificate
    row("ours", spent, spent, certificate.duality_gap, certificate.n_iter)
    for name, other in others.items():
        took, solution = seconds(lambda other=other: other.solve(C))
        certificate = solution.certificate
        row(name, took, spent, certificate.duality_gap, certificate.n_iter)
    return spent


def referee_mixed_norm(problem: DualProblem, C: float) -> tuple[float, float]:
    """Return the minimum and Clarabel's seconds, of the dual of MK-MTFL."""
    import cvxpy as cp

    linear, norms = 0.0, []
    constraints = []
    for t in range(problem.n_tasks):
        own = problem.task(t)
        n = own.c.size
        beta = cp.Variable(n)
        constraints += [cp.abs(beta) <= C, cp.sum(beta) == 0]
        linear += own.c @ beta - EPSILON * cp.norm1(beta)
        grams = np.moveaxis(own.blocks.grams.reshape(n, n, -1), -1, 0)
        norms.append(cp.hstack([cp.norm(root(K).T @ beta) for K in grams]))
    table = cp.vstack(norms)
    order = P / (P - 1.0)
    by_kernel = [cp.norm(table[:, j], order) for j in range(problem.n_weights)]
    value = linear - 0.5 * cp.square(cp.max(cp.hstack(by_kernel)))
    dual = cp.Problem(cp.Maximize(value), constraints)
    dual.solve(solver="CLARABEL", tol_gap_rel=TOL, tol_gap_abs=TOL)
    return float(dual.value), float(dual.solver_stats.solve_time)


def referee_mixed_schatten(problem: SchattenProblem, C: float) -> tuple[float, float]:
    """Return the minimum and Clarabel's seconds, of MK-MTSFL."""
    import cvxpy as cp

    n_tasks = problem.tasks.n_tasks
    W = cp.Variable((problem.factors.shape[1], n_tasks))
    norms = cp.hstack(
        [
            cp.normNuc(W[a:b])
            for a, b in zip(problem.ends[:-1], problem.ends[1:], strict=True)
        ]
    )
    losses = 0.0
    for t in range(n_tasks):
        rows = slice(problem.tasks.offsets[t], problem.tasks.offsets[t + 1])
        outputs = problem.factors[rows] @ W[:, t] + cp.Variable()
        excess = cp.abs(problem.tasks.c[rows] - outputs) - EPSILON
        losses += C * cp.sum(cp.pos(excess))
    value = 0.5 * cp.square(cp.norm(norms, problem.q)) + losses
    primal = cp.Problem(cp.Minimize(value))
    primal.solve(solver="CLARABEL", tol_gap_rel=TOL, tol_gap_abs=TOL)
    return float(primal.value), float(primal.solver_stats.solve_time)


def root(K: FloatArray) -> FloatArray:
    """Return R with RR' = K."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-10 * values[-1]
    out: FloatArray = vectors[:, kept] * np.sqrt(values[kept])
    return out


def time_mixed_norm(school: School, options: argparse.Namespace) -> None:
    """Print the tables of MK-MTFL."""
    C = options.C
    for name in ("7 kernels", "7 per feature"):
        problem = school.mixed_norm(KERNELS[name], school.n_tasks)
        print(f"MK-MTFL, {name}: {problem.n_tasks} tasks, {problem.n_weights} kernels")

        def path(problem: DualProblem = problem, **kwargs: Any) -> MixedNormPath:
            return MixedNormPath(
                problem, P, tol=TOL, max_iter=options.iterations, **kwargs
            )

        largest = float(path().solve(C).extra["q"].max())
        others = {"mirror": path(solver="mirror_descent")}
        for s in STEPS:
            others[f"fixed {s:g}"] = path(solver="mirror_descent", step=s / largest)
        ours = compare(path, others, C)
        if options.referee and name == "7 kernels":
            optimum, spent = referee_mixed_norm(problem, C)
            difference = path().solve(C).certificate.objective / optimum - 1.0
            print(
                f"  clarabel      {1e3 * spent:12.1f} ms, ratio {spent / ours:.0f}; "
                f"our objective/its − 1: {difference:.1e}"
            )


def time_mixed_schatten(school: School, options: argparse.Namespace) -> None:
    """Print the tables of MK-MTSFL."""
    C = options.C
    cases = [
        ("linear", 20, options.iterations),
        ("linear", school.n_tasks, options.iterations),
        ("7 per feature", school.n_tasks, max(options.iterations // 10, 1)),
        ("7 kernels", school.n_tasks, 3),
    ]
    for name, n_tasks, limit in cases:
        problem = school.mixed_schatten(KERNELS[name], n_tasks)
        dims = np.diff(problem.ends)
        print(
            f"MK-MTSFL, {name}: {n_tasks} tasks, {dims.size} kernels of up to "
            f"{dims.max()} coordinates"
        )

        def path(problem: SchattenProblem = problem) -> MixedSchattenPath:
            return MixedSchattenPath(problem, tol=TOL)

        def other(
            problem: SchattenProblem = problem, limit: int = limit, **kwargs: Any
        ) -> MixedSchattenDescent:
            return MixedSchattenDescent(problem, tol=TOL, max_iter=limit, **kwargs)

        norms = path().solve(C).extra["norms"]
        largest = max(0.5 * float(np.linalg.norm(norms, Q)) ** 2, 1e-300)
        others = {
            "alternating": other(solver="alternating"),
            "mirror": other(solver="mirror_descent"),
        }
        for s in STEPS if limit > 3 else ():
            others[f"fixed {s:g}"] = other(solver="mirror_descent", step=s / largest)
        ours = compare(path, others, C)
        if options.referee and n_tasks == 20:
            optimum, spent = referee_mixed_schatten(problem, C)
            difference = path().solve(C).certificate.objective / optimum - 1.0
            print(
                f"  clarabel      {1e3 * spent:12.1f} ms, ratio {spent / ours:.0f}; "
                f"our objective/its − 1: {difference:.1e}"
            )


def growth(school: School, C: float) -> None:
    """Print the seconds of ours by tasks and by kernels, over a decade each."""
    print("growth of ours")
    for n_tasks in (14, 28, 56, school.n_tasks):
        report(school, list(SEVEN_KERNELS), n_tasks, C)
    features = range(school.X.shape[1])
    for n_features in (3, 9, len(features)):
        kernels = [
            {**each, "feature": f}
            for f in features[:n_features]
            for each in SEVEN_KERNELS
        ]
        report(school, kernels, school.n_tasks, C)


def report(school: School, kernels: list[Any], n_tasks: int, C: float) -> None:
    """Print the seconds of both problems."""
    problem = school.mixed_norm(kernels, n_tasks)
    norm, _ = seconds(lambda: MixedNormPath(problem, P, tol=TOL).solve(C))
    tasks = school.mixed_schatten(kernels, n_tasks)
    schatten, _ = seconds(lambda: MixedSchattenPath(tasks, tol=TOL).solve(C))
    print(
        f"  {n_tasks:4d} tasks {problem.n_weights:4d} kernels: MK-MTFL "
        f"{1e3 * norm:8.1f} ms, MK-MTSFL {1e3 * schatten:8.1f} ms"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--C", type=float, default=0.5)
    parser.add_argument("--iterations", type=int, default=300, help="limit of others")
    parser.add_argument("--no-referee", dest="referee", action="store_false")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    try:
        school = School(options.seed)
    except DataNotAvailableError as error:
        print(f"School is not there, so that nothing is timed: {error}")
        return
    time_mixed_norm(school, options)
    time_mixed_schatten(school, options)
    growth(school, options.C)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
