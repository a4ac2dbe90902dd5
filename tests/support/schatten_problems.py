"""Problems of mixed Schatten norms, for the tests of their solvers."""

import numpy as np
from dual_problems import Toy

from mtmkl.certify.kernel_problems import square_root
from mtmkl.solvers.weights.mixed_schatten import SchattenProblem

SIZES = (6, 8, 4, 7)
TASK = np.repeat(np.arange(4), SIZES)


def toy(q, epsilon=None, seed=0, n_kernels=3):
    """Return targets, Gram matrices of all samples and the problem."""
    data = Toy(sizes=SIZES, seed=seed)
    X = np.concatenate(data.X)
    square = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    grams = [X @ X.T, np.exp(-square / 18), np.exp(-square / 2)][:n_kernels]
    targets = np.concatenate(data.y if epsilon is None else data.targets)
    factors = [square_root(K) for K in grams]
    problem = SchattenProblem.of(factors, targets, SIZES, q, epsilon=epsilon)
    return targets, grams, problem


def primal(problem, solution, C, task=TASK):
    """Return the printed problem's value at W, from its definition."""
    W = solution.coef
    scores = np.einsum("if,if->i", problem.factors, W[task]) + solution.intercept[task]
    c, epsilon = problem.tasks.c, problem.tasks.epsilon
    if problem.tasks.is_classification:
        excess = 1 - c * scores
    else:
        excess = np.abs(c - scores) - epsilon
    norms = [
        np.linalg.norm(W[:, a:b], "nuc")
        for a, b in zip(problem.ends[:-1], problem.ends[1:], strict=True)
    ]
    value = 0.5 * np.linalg.norm(norms, problem.q) ** 2
    return value + C * np.maximum(excess, 0.0).sum()


def dual(problem, beta, task=TASK):
    """Return the dual's value at β, from its definition."""
    B = np.zeros((problem.tasks.n_tasks, problem.factors.shape[1]))
    np.add.at(B, task, beta[:, None] * problem.factors)
    largest = [
        np.linalg.norm(B[:, a:b], 2)
        for a, b in zip(problem.ends[:-1], problem.ends[1:], strict=True)
    ]
    q = problem.q
    order = np.inf if q == 1 else q / (q - 1)
    linear = problem.tasks.c @ beta - problem.tasks.epsilon * np.abs(beta).sum()
    return linear - 0.5 * np.linalg.norm(largest, order) ** 2
