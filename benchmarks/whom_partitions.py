"""Share of problems in which Whom finds the best partition of a few tasks.

    python benchmarks/whom_partitions.py [--problems 100] [--tasks 3 4 5 6 7 8]

Prints, for random problems of each number of tasks, how many fits with default starts
end within 0.1 % of the best of all partitions, the largest and the mean excess over it,
and the median time of a fit. Up to six tasks Whom tries every partition; the rows of
more tasks show its search by moves and swaps.
"""

import argparse
from itertools import combinations
from statistics import mean, median
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from mtmkl.methods import WhomClassifier
from mtmkl.methods._base.linear_classifier import PreparedTasks
from mtmkl.solvers.linear import squared_norm
from mtmkl.typing import FloatArray, IntArray

# Each group is solved to this relative gap, here and by Whom.
TOL = 1e-5
FOUND = 1e-3

Problem = tuple[FloatArray, FloatArray, IntArray, float, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=100, help="for each row")
    parser.add_argument("--tasks", type=int, nargs="+", default=[3, 4, 5, 6, 7, 8])
    arguments = parser.parse_args()
    with threadpool_limits(1):
        excess(*random_problem(0, 7))  # compiles
        print("tasks  found  largest excess  mean excess  seconds")
        for n_tasks in arguments.tasks:
            results = [
                excess(*random_problem(seed, n_tasks))
                for seed in range(arguments.problems)
            ]
            over = [value for value, _ in results]
            found = sum(value <= FOUND for value in over)
            print(
                f"{n_tasks:5d}  {found / len(over):4.0%}  {max(over):13.2%}  "
                f"{mean(over):11.3%}  {median(time for _, time in results):7.4f}"
            )


def random_problem(seed: int, n_tasks: int) -> Problem:
    """Return X, y, task, λ and G of tasks along a few random directions."""
    rng = np.random.default_rng([seed, n_tasks])
    n_features, n_samples = int(rng.integers(3, 9)), int(rng.integers(8, 25))
    task = np.repeat(np.arange(n_tasks), n_samples)
    X = rng.standard_normal((task.size, n_features))
    n_directions = int(rng.integers(1, n_features + 1))
    W = rng.standard_normal((n_features, n_directions))
    W = W @ rng.standard_normal((n_directions, n_tasks))
    scores = np.einsum("ij,ji->i", X, W[:, task])
    y = np.sign(scores + scores.std() * rng.uniform() * rng.standard_normal(task.size))
    n_groups = int(rng.integers(2, max(n_tasks // 2, 2) + 1))
    return X, y, task, float(2.0 ** rng.uniform(-4, 6)), n_groups


def excess(
    X: FloatArray,
    y: FloatArray,
    task: IntArray,
    lam: float,
    n_groups: int,
) -> tuple[float, float]:
    """Return Whom's relative excess over the best partition, and its seconds."""
    start = perf_counter()
    fitted = WhomClassifier(lam=lam, n_groups=n_groups, tol=TOL).fit(X, y, task)
    seconds = perf_counter() - start
    best = best_of_all_partitions(X, y, task, lam, n_groups)
    return fitted.objective_ / best - 1, seconds


def best_of_all_partitions(
    X: FloatArray,
    y: FloatArray,
    task: IntArray,
    lam: float,
    n_groups: int,
) -> float:
    """Return the least objective over the partitions into at most so many groups."""
    tasks = PreparedTasks.of(X, y, task, rotate=True).decomposition
    assert tasks is not None
    everyone = frozenset(range(tasks.n_tasks))
    values = {
        frozenset(members): squared_norm.solve_group(
            tasks, np.array(members), lam, tol=TOL
        ).certificate.objective
        for size in range(1, tasks.n_tasks + 1)
        for members in combinations(range(tasks.n_tasks), size)
    }
    # The best of k groups holds the first task's group and the best of the rest.
    best = dict(values)
    for _ in range(n_groups - 1):
        best = {
            whole: min(
                [best[whole]]
                + [
                    values[part] + best[whole - part]
                    for part in values
                    if part < whole and min(whole) in part
                ]
            )
            for whole in values
        }
    return best[everyone]


if __name__ == "__main__":
    main()
