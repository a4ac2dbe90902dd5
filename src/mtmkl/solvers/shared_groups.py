r"""Groups of tasks that share features: squared loss, a squared trace norm a group.

With assignments q_gt ∈ {0, 1}, Σ_g q_gt = 1, and Q_g = diag(q_g1, …, q_gT) minimises
over W (d × T) and the assignment to at most G groups

    Σ_t ||y_t − X_t w_t||² + γ Σ_g ||W Q_g||_tr².

For a given assignment each group is the convex problem of
:mod:`mtmkl.solvers.squared_norm`; for a given W tasks are moved one at a time to the
group where the penalty is least, until no move lowers it. The two alternate, and the
objective never rises. It is not convex: the method is started from several random
assignments, whose first moves are by the tasks' own ridge regressions.

A relaxation to q_gt ∈ [0, 1] gains nothing: ||W √Q_g||_tr² is the least of functions
that are linear in q, so concave in it, and a vertex is optimal.

References
----------
Z. Kang, K. Grauman and F. Sha, Learning with whom to share in multi-task feature
learning, International Conference on Machine Learning, 2011.
"""

import numba
import numpy as np
from numpy.typing import NDArray

from mtmkl.solvers import squared_norm
from mtmkl.solvers.ridge import solve_ridge
from mtmkl.solvers.solution import Certificate, Solution
from mtmkl.solvers.task_decomposition import TaskDecomposition

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def solve(
    tasks: TaskDecomposition,
    gamma: float,
    n_groups: int,
    *,
    rng: np.random.Generator,
    tol: float = 1e-6,
    max_iter: int = 100,
    max_inner_iter: int = 10_000,
) -> Solution:
    """Find a local minimum of the problem of this module from one random assignment.

    Parameters
    ----------
    tasks : TaskDecomposition
    gamma : float
        γ > 0.
    n_groups : int
        G, from 1 to T; groups may become empty.
    rng : Generator
        Draws the first assignment.
    tol : float
        Relative duality gap to which each group is solved.
    max_iter : int
        Alternations at which to stop in any case.
    max_inner_iter : int
        Iterations at which to stop a group in any case.

    Returns
    -------
    Solution
        ``coef`` of shape (d, T); ``extra["groups"]`` of shape (T,), numbered from 0 in
        the order in which they appear; ``dual`` of shape (n,), a dual point of the
        problem with the assignment held. There is no bound on the minimum. The history
        holds the objective after each solve of the groups.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """
    n_tasks = tasks.n_tasks
    if not 1 <= n_groups <= n_tasks:
        raise ValueError(f"n_groups must be from 1 to {n_tasks}, got {n_groups}")
    # The problem of a group of one; raises for a γ out of range.
    W = np.ascontiguousarray(solve_ridge(tasks, gamma).coef.T)
    groups = rng.integers(n_groups, size=n_tasks)
    groups = move_tasks(W @ W.T, groups, n_groups)
    solved: dict[tuple[int, ...], Solution] = {}
    history: list[float] = []
    converged = False
    while len(history) < max_iter and not converged:
        members = _members(groups)
        for group in members:
            if group not in solved:
                index = np.array(group)
                solved[group] = squared_norm.solve(
                    tasks.subset(index),
                    gamma,
                    tol=tol,
                    max_iter=max_inner_iter,
                )
            W[list(group)] = solved[group].coef.T
        history.append(sum(solved[each].certificate.objective for each in members))
        moved = move_tasks(W @ W.T, groups, n_groups)
        converged = bool(np.array_equal(moved, groups))
        groups = moved
    members = _members(groups) if converged else members
    labels = np.empty(n_tasks, dtype=np.intp)
    for number, group in enumerate(members):
        labels[list(group)] = number
    duals = [solved[each].dual for each in members]
    return Solution(
        coef=W.T,
        certificate=Certificate(
            objective=history[-1],
            dual_objective=np.nan,
            n_iter=len(history),
            status="converged" if converged else "stopped",
            history=np.array(history),
        ),
        dual=np.sum([each for each in duals if each is not None], axis=0),
        extra={"groups": labels},
    )


def _members(groups: IntArray) -> list[tuple[int, ...]]:
    """Return the tasks of each group that has any, in the order of their first."""
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    return [
        tuple(np.flatnonzero(number == each).tolist()) for each in np.argsort(first)
    ]


@numba.njit(cache=True, nogil=True)
def move_tasks(gram: FloatArray, groups: IntArray, n_groups: int) -> IntArray:
    """Return an assignment from which no move of one task lowers Σ_g ||W_g||_tr².

    Parameters
    ----------
    gram : ndarray of shape (T, T)
        W'W.
    groups : ndarray of shape (T,)
        The assignment to start from, 0 … G − 1.
    n_groups : int
        G.
    """
    n_tasks = gram.shape[0]
    groups = groups.copy()
    costs = np.empty(n_groups)
    for g in range(n_groups):
        costs[g] = squared_trace_norm(gram, groups == g)
    # Less is rounding, and might go round in circles.
    least = 1e-9 * np.trace(gram)
    unmoved = 0
    t = 0
    while unmoved < n_tasks:
        own = groups[t]
        inside = groups == own
        inside[t] = False
        without = squared_trace_norm(gram, inside)
        saved = costs[own] - without
        best, best_with, best_rise = own, costs[own], saved - least
        for g in range(n_groups):
            if g != own:
                inside = groups == g
                inside[t] = True
                with_t = squared_trace_norm(gram, inside)
                if with_t - costs[g] < best_rise:
                    best, best_with, best_rise = g, with_t, with_t - costs[g]
        if best != own:
            costs[own] = without
            costs[best] = best_with
            groups[t] = best
            unmoved = 0
        else:
            unmoved += 1
        t = (t + 1) % n_tasks
    return groups


@numba.njit(cache=True, nogil=True)
def squared_trace_norm(gram: FloatArray, inside: NDArray[np.bool_]) -> float:
    """Return ||W_g||_tr² of the columns inside, given W'W."""
    index = np.flatnonzero(inside)
    size = index.size
    if size == 0:
        return 0.0
    if size == 1:
        return gram[index[0], index[0]]
    part = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            part[i, j] = gram[index[i], index[j]]
    total = 0.0
    for value in np.linalg.eigvalsh(part):
        total += np.sqrt(max(value, 0.0))
    return total * total
