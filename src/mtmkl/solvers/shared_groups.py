r"""Groups of tasks that share features: squared loss, a squared trace norm a group.

With assignments q_gt ∈ {0, 1}, Σ_g q_gt = 1, and Q_g = diag(q_g1, …, q_gT) minimises
over W (d × T) and the assignment to at most G groups

    Σ_t ||y_t − X_t w_t||² + γ Σ_g ||W Q_g||_tr².

For a given assignment each group is the convex problem of
:mod:`mtmkl.solvers.squared_norm`; for a given W tasks are moved one at a time to the
group where the penalty is least, until no move lowers it. The two alternate, and the
objective never rises. Where they end, the coefficients have settled in their groups and
make every move look dear: the moves that look least so are tried in earnest, both
groups solved anew, until several in a row do not help. It is not convex: the method is
started from several random assignments, whose first moves are by the tasks' own ridge
regressions.

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
from mtmkl.solvers.squared_norm import WarmStart
from mtmkl.solvers.task_decomposition import TaskDecomposition

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def solve(
    tasks: TaskDecomposition,
    gamma: float,
    n_groups: int,
    *,
    rng: np.random.Generator,
    n_trials: int = 8,
    tol: float = 1e-6,
    max_iter: int = 10_000,
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
    n_trials : int
        Moves tried in a row without success before the search ends.
    tol : float
        Relative duality gap to which each group is solved, and the least share of the
        objective by which a trial has to lower it.
    max_iter : int
        Iterations at which to stop a group in any case.

    Returns
    -------
    Solution
        ``coef`` of shape (d, T); ``extra["groups"]`` of shape (T,), numbered from 0 in
        the order in which they appear; ``dual`` of shape (n,), a dual point of the
        problem with the assignment held. There is no bound on the minimum. The history
        holds the objective of each assignment that was better than the last.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """
    n_tasks = tasks.n_tasks
    if not 1 <= n_groups <= n_tasks:
        raise ValueError(f"n_groups must be from 1 to {n_tasks}, got {n_groups}")
    # The problem of a group of one; raises for a γ out of range.
    alone = solve_ridge(tasks, gamma).coef
    best = rng.integers(n_groups, size=n_tasks)
    groups = move_tasks(alone.T @ alone, best, n_groups)
    solver = _GroupSolver(tasks, gamma, tol, max_iter)
    history: list[float] = []
    W = alone
    failures = 0
    candidates: list[tuple[int, int]] = []
    while True:
        value = solver.objective(groups)
        if not history or value < history[-1] * (1.0 - tol):
            history.append(value)
            best, failures, candidates = groups, 0, []
            W = solver.coefficients(best)
            groups = move_tasks(W.T @ W, best, n_groups)
            if not np.array_equal(groups, best):
                continue
            candidates = _likely_moves(W.T @ W, best, n_groups)
        else:
            failures += 1
        if failures >= min(n_trials, len(candidates)):
            break
        task, group = candidates[failures]
        groups = best.copy()
        groups[task] = group
    members = _members(best)
    labels = np.empty(n_tasks, dtype=np.intp)
    dual = np.zeros_like(tasks.orthogonal)
    for number, each in enumerate(members):
        labels[list(each)] = number
        part = solver.solution(each).dual
        assert part is not None
        dual += part
    return Solution(
        coef=W,
        certificate=Certificate(
            objective=history[-1],
            dual_objective=np.nan,
            n_iter=len(history),
            status="converged",
            history=np.array(history),
        ),
        dual=dual,
        extra={"groups": labels},
    )


class _GroupSolver:
    """Solves groups of tasks, each only once, from where their tasks were left."""

    def __init__(
        self, tasks: TaskDecomposition, gamma: float, tol: float, max_iter: int
    ) -> None:
        self.tasks = tasks
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.solved: dict[tuple[int, ...], Solution] = {}
        self.states: list[tuple[FloatArray, FloatArray, float] | None]
        self.states = [None] * tasks.n_tasks

    def solution(self, group: tuple[int, ...]) -> Solution:
        if group not in self.solved:
            solution = squared_norm.solve(
                self.tasks.subset(np.array(group)),
                self.gamma,
                tol=self.tol,
                max_iter=self.max_iter,
                start=self._start(group),
            )
            self.solved[group] = solution
            end = solution.extra["warm_start"]
            for t, primal, multiplier in zip(
                group, end.primal, end.multiplier, strict=True
            ):
                self.states[t] = primal, multiplier, end.step_over_gamma
        return self.solved[group]

    def _start(self, group: tuple[int, ...]) -> WarmStart | None:
        states = [self.states[t] for t in group]
        known = [state for state in states if state is not None]
        if len(known) < len(states):
            return None
        primal, multiplier, steps = zip(*known, strict=True)
        return WarmStart(
            np.array(primal), np.array(multiplier), float(np.median(steps))
        )

    def objective(self, groups: IntArray) -> float:
        return sum(
            self.solution(each).certificate.objective for each in _members(groups)
        )

    def coefficients(self, groups: IntArray) -> FloatArray:
        W = np.empty((self.tasks.n_features, self.tasks.n_tasks))
        for each in _members(groups):
            W[:, list(each)] = self.solution(each).coef
        return W


def _likely_moves(
    gram: FloatArray, groups: IntArray, n_groups: int
) -> list[tuple[int, int]]:
    """Return moves (task, group), those first that raise the penalty least at this W.

    Empty groups are alike: only the first of them is among the moves.
    """
    costs = np.array([squared_trace_norm(gram, groups == g) for g in range(n_groups)])
    sizes = np.bincount(groups, minlength=n_groups)
    targets = [*np.flatnonzero(sizes), *np.flatnonzero(sizes == 0)[:1]]
    moves = []
    for t, own in enumerate(groups):
        inside = groups == own
        inside[t] = False
        saved = costs[own] - squared_trace_norm(gram, inside)
        for g in targets:
            if g != own and not (sizes[g] == 0 and sizes[own] == 1):
                inside = groups == g
                inside[t] = True
                rise = squared_trace_norm(gram, inside) - costs[g] - saved
                moves.append((rise, t, int(g)))
    return [(t, g) for _, t, g in sorted(moves)]


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
