r"""Groups of tasks that share features: squared loss, one squared trace norm per group.

With assignments q_gt ∈ {0, 1}, Σ_g q_gt = 1, and Q_g = diag(q_g1, …, q_gT) minimises,
as Kang et al. (2011), over W (d × T) and the assignment to at most G groups

    Σ_t ||y_t − X_t w_t||² + γ Σ_g ||W Q_g||_tr².

For a given assignment each group is the convex problem of
:mod:`mtmkl.solvers.linear.squared_norm`. The value of a group is at least the sum of
the values of its parts: ||W||_tr² is the least of Σ_t w_t'D⁺w_t over D ⪰ 0 with tr D ≤
1, and the D of the group serves each part. So G groups are never worse than fewer, and
of up to six tasks every partition into G groups is tried.

Of more tasks there are too many partitions, and local minima are sought from several
random assignments, whose first moves are by the tasks' own ridge regressions. For a
given W tasks are moved one at a time to the group where the penalty is least, until no
move lowers it; this and the convex problems alternate, and the objective never rises.
Where they end, the coefficients have settled in their groups and make every change look
expensive. So the moves of one task, and then the swaps of two, that look cheapest are
tried by solving their groups again, until none of them helps. Most do not, which lower
bounds show before the groups are solved: of a group with more tasks the value of its
parts, and of one with fewer the dual point without the tasks that it lacks.

A relaxation to q_gt ∈ [0, 1] gains nothing: ||W √Q_g||_tr² is the least of functions
that are linear in q, so concave in it, and a vertex is optimal.
"""

from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from mtmkl.compiled import compiled, routine
from mtmkl.solvers.linear.ridge import solve_ridge
from mtmkl.solvers.linear.squared_norm import solve_group
from mtmkl.solvers.linear.task_admm import WarmStart
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution, certified
from mtmkl.typing import FloatArray, IntArray

Partition = tuple[tuple[int, ...], ...]

# Up to so many tasks there are no more groups to solve than a search would solve.
_FEW_TASKS = 6
# Moves, and swaps, that are tried in a row without success before a search ends, and
# swaps that are rated exactly for them.
_TRIALS, _RATED = 8, 32


def solve(
    tasks: TaskDecomposition,
    gamma: float,
    n_groups: int,
    *,
    rngs: Sequence[np.random.Generator],
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> list[Solution]:
    """Find the best partition of few tasks, or local minima for many.

    Parameters
    ----------
    tasks : TaskDecomposition
    gamma : float
        γ > 0.
    n_groups : int
        G, from 1 to T.
    rngs : sequence of Generator
        One for each search; it draws the first assignment. Not used where every
        partition is tried: with at most six tasks, one group, or T groups.
    tol : float
        Relative duality gap to which each group is solved, and the least share of the
        objective by which a search has to lower it.
    max_iter : int
        Maximum number of iterations per group.

    Returns
    -------
    list of Solution
        One for each search, or the best of all partitions alone. ``coef`` of shape
        (d, T); ``extra["groups"]`` of shape (T,), numbered from 0 in the order in which
        they appear; ``dual`` of shape (n,), a dual point of the problem with the
        assignment held. There is no bound on the minimum. The history holds the
        objective of each assignment that was better than the last.
    """
    n_tasks = tasks.n_tasks
    # The problem of a group of one.
    alone = solve_ridge(tasks, gamma).coef
    solver = _GroupSolver(tasks, gamma, tol, max_iter)
    if n_tasks <= _FEW_TASKS or n_groups in (1, n_tasks):
        return [_best_partition(solver, n_groups)]
    gram = alone.T @ alone
    return [_search(solver, gram, n_groups, rng) for rng in rngs]


def _best_partition(solver: "_GroupSolver", n_groups: int) -> Solution:
    """Return the best of all partitions into so many groups."""
    history: list[float] = []
    best: Partition = ()
    for partition in partitions(solver.tasks.n_tasks, n_groups):
        value = solver.objective(partition, history[-1] if history else np.inf)
        if value < np.inf:
            history.append(value)
            best = partition
    return solver.answer(best, history)


def partitions(n_tasks: int, n_groups: int) -> Iterator[Partition]:
    """Yield the partitions of tasks 0 … n_tasks − 1 into exactly ``n_groups`` groups.

    Groups stand in the order of their first tasks.
    """
    if n_tasks == n_groups == 0:
        yield ()
    if not 1 <= n_groups <= n_tasks:
        return
    last = n_tasks - 1
    for rest in partitions(last, n_groups):
        for g, group in enumerate(rest):
            yield (*rest[:g], (*group, last), *rest[g + 1 :])
    for rest in partitions(last, n_groups - 1):
        yield (*rest, (last,))


def _search(
    solver: "_GroupSolver", gram: FloatArray, n_groups: int, rng: np.random.Generator
) -> Solution:
    """Return a local minimum; ``gram`` is W'W of the tasks' own ridge regressions."""
    best = rng.integers(n_groups, size=solver.tasks.n_tasks)
    costs, changed = np.empty(n_groups), np.empty((best.size, n_groups))
    _renew_costs(gram, best, np.ones(n_groups, dtype=np.bool_), costs, changed)
    groups: IntArray | None = move_tasks(gram, best, costs, changed)
    history: list[float] = []
    trials: Iterator[IntArray] = iter(())
    while groups is not None:
        limit = history[-1] * (1.0 - solver.tol) if history else np.inf
        value = solver.objective(_members(groups), limit)
        if value < np.inf:
            history.append(value)
            is_new = np.zeros(n_groups, dtype=np.bool_)
            moved = np.flatnonzero(groups != best)
            # At first all coefficients are new.
            is_new[np.r_[groups[moved], best[moved]]] = True
            is_new |= len(history) == 1
            best = groups
            solver.use_bounds_of(_members(best))
            W = solver.coefficients(_members(best))
            gram = W.T @ W
            _renew_costs(gram, best, is_new, costs, changed)
            trials = _trials(gram, best, costs, changed)
            groups = move_tasks(gram, best, costs, changed)
            if not np.array_equal(groups, best):
                continue
        groups = next(trials, None)
    return solver.answer(_members(best), history)


class _GroupSolver:
    """Solves each group of tasks once, starting from the last state of its tasks."""

    def __init__(
        self, tasks: TaskDecomposition, gamma: float, tol: float, max_iter: int
    ) -> None:
        self.tasks, self.gamma, self.tol, self.max_iter = tasks, gamma, tol, max_iter
        self.solved: dict[tuple[int, ...], Solution] = {}
        self.bounds: dict[tuple[int, ...], float] = {}
        # Where the last solve of each task left off; ρ is 0 before the first.
        self.primal, self.multiplier = np.empty((2, tasks.n_tasks, tasks.n_features))
        self.steps = np.zeros(tasks.n_tasks)
        # Values of the tasks alone, and the groups of a partition whose dual points
        # give bounds, by task, with the part that each task has in them.
        left = gamma / (tasks.singular**2 + gamma)
        self.alone = self._by_task(left * tasks.target**2)
        self.parents: list[tuple[int, ...]] = [()] * tasks.n_tasks
        self.parts = [0.0] * tasks.n_tasks

    def _by_task(self, values: FloatArray) -> list[float]:
        """Return the sums over each task's rows, with what no coefficients remove."""
        sums = np.bincount(self.tasks.owner, values, minlength=self.tasks.n_tasks)
        return (sums + self.tasks.constants).tolist()

    def _solve(self, group: tuple[int, ...], cutoff: float) -> bool:
        """Solve a group, and return True, unless its value is at least the cutoff."""
        members, start = np.array(group), None
        if self.steps[members].all():
            step = median(self.steps[members].tolist())
            start = WarmStart(self.primal[members], self.multiplier[members], step)
        solution = solve_group(
            self.tasks,
            members,
            self.gamma,
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
            cutoff=cutoff,
        )
        certificate = solution.certificate
        if certificate.dual_objective >= cutoff:
            self.bounds[group] = certificate.dual_objective
            return False
        self.solved[group], end = solution, solution.extra["warm_start"]
        self.primal[members], self.multiplier[members] = end.primal, end.multiplier
        self.steps[members] = end.step
        return certificate.objective < cutoff

    def use_bounds_of(self, partition: Partition) -> None:
        """Take lower bounds of other groups from the dual points of these."""
        reduced = self._reduced(partition)
        products = reduced * (self.tasks.target - 0.25 * reduced)
        self.parts = self._by_task(products)
        for group in partition:
            for t in group:
                self.parents[t] = group

    def _bound(self, group: tuple[int, ...]) -> float:
        """Return a lower bound of a group's value."""
        parents = [self.parents[t] for t in group]
        parent = max(parents, key=parents.count)
        bound = sum([self.alone[t] for t in group])
        if parent:
            value = self.solved[parent].certificate.dual_objective
            value -= sum([self.parts[t] for t in parent if t not in group])
            value += sum([self.alone[t] for t in group if t not in parent])
            bound = max(bound, value)
        return max(bound, self.bounds.get(group, 0.0))

    def objective(self, partition: Partition, limit: float) -> float:
        """Return the value of a partition, infinity if it is at least the limit."""
        unknown = [each for each in partition if each not in self.solved]
        bounds = {each: self._bound(each) for each in unknown}
        value = sum(bounds.values())
        known = [self.solved[each] for each in partition if each not in bounds]
        value += sum(each.certificate.objective for each in known)
        # Large groups are those to which tasks have come, which costs.
        for each in sorted(unknown, key=len, reverse=True):
            value -= bounds[each]
            if value + bounds[each] >= limit or not self._solve(each, limit - value):
                return np.inf
            value += self.solved[each].certificate.objective
        return value if value < limit else np.inf

    def coefficients(self, partition: Partition) -> FloatArray:
        W = np.empty((self.tasks.n_features, self.tasks.n_tasks))
        for each in partition:
            W[:, list(each)] = self.solved[each].coef
        return W

    def _reduced(self, partition: Partition) -> FloatArray:
        """Return the U_t'a_t of the groups' dual points, stacked."""
        reduced = np.empty_like(self.tasks.target)
        owner = self._labels(partition)[self.tasks.owner]
        for number, each in enumerate(partition):
            reduced[owner == number] = self.solved[each].dual
        return reduced

    def answer(self, partition: Partition, history: list[float]) -> Solution:
        return Solution(
            coef=self.coefficients(partition),
            certificate=certified(history, np.nan, len(history), "converged"),
            dual=self.tasks.expand(self._reduced(partition)),
            extra={"groups": self._labels(partition)},
        )

    def _labels(self, partition: Partition) -> IntArray:
        """Return the number of each task's group."""
        labels = np.empty(self.tasks.n_tasks, dtype=np.intp)
        for number, each in enumerate(partition):
            labels[list(each)] = number
        return labels


def _trials(
    gram: FloatArray, groups: IntArray, costs: FloatArray, changed: FloatArray
) -> Iterator[IntArray]:
    """Yield assignments near this one: moves of one task, then swaps of two.

    Of each kind those first that raise the penalty least at this W; ``costs`` and
    ``changed`` are those of :func:`_renew_costs`.
    """
    rises = _rises(groups, costs, changed)
    for t, g in _smallest(rises, _TRIALS):
        moved = groups.copy()
        moved[t] = g
        yield moved
    # The sum of two moves overrates a swap, but is good enough to choose some.
    both = rises[:, groups]
    both = np.triu(both + both.T) + np.where(np.tri(groups.size, k=0), np.inf, 0.0)
    pairs = _smallest(both, _RATED)
    rated = [(_swap_rise(gram, groups, costs, s, t), s, t) for s, t in pairs]
    for _, s, t in sorted(rated)[:_TRIALS]:
        swapped = groups.copy()
        swapped[[s, t]] = groups[[t, s]]
        yield swapped


@compiled
def _renew_costs(
    gram: FloatArray,
    groups: IntArray,
    is_new: NDArray[np.bool_],
    costs: FloatArray,
    changed: FloatArray,
) -> None:
    """Write costs where new groups, or their tasks, enter.

    They are ||W_g||_tr² of each group (G,), and what each becomes if one task changes,
    (T, G): with the task where it is not a member, without it where it is.
    """
    for g in range(costs.size):
        inside = groups == g
        if is_new[g]:
            costs[g] = squared_trace_norm(gram, inside)
        for t in range(groups.size):
            if is_new[g] or is_new[groups[t]]:
                changed[t, g] = _changed_cost(gram, inside, t)


@routine
def _changed_cost(gram: FloatArray, inside: NDArray[np.bool_], t: int) -> float:
    """Return ||W_g||_tr² with task t taken in, or out if it is inside."""
    inside[t] = not inside[t]
    cost = squared_trace_norm(gram, inside)
    inside[t] = not inside[t]
    return cost


def _rises(groups: IntArray, costs: FloatArray, changed: FloatArray) -> FloatArray:
    """Return by how much a move of a task (row) to a group (column) raises the penalty.

    Infinite for moves that change nothing; of empty groups, which are alike, all but
    the first are left out.
    """
    sizes = np.bincount(groups, minlength=costs.size)
    everyone = np.arange(groups.size)
    saved = costs[groups] - changed[everyone, groups]
    rises = changed - costs - saved[:, None]
    rises[everyone, groups] = np.inf
    empty = np.flatnonzero(sizes == 0)
    rises[:, empty[1:]] = np.inf
    rises[np.ix_(sizes[groups] == 1, empty)] = np.inf
    return rises


@compiled
def _swap_rise(
    gram: FloatArray, groups: IntArray, costs: FloatArray, s: int, t: int
) -> float:
    """Return by how much the penalty rises as two tasks of two groups change places."""
    g, h, swapped = groups[s], groups[t], groups.copy()
    swapped[s], swapped[t] = h, g
    rise = -costs[g] - costs[h] + squared_trace_norm(gram, swapped == g)
    return rise + squared_trace_norm(gram, swapped == h)


def _smallest(values: FloatArray, count: int) -> list[list[int]]:
    """Return where the smallest finite entries of a matrix are, in their order."""
    order = np.argsort(values, axis=None, kind="stable")[:count]
    order = order[np.isfinite(values.flat[order])]
    return np.transpose(np.unravel_index(order, values.shape)).tolist()


def _members(groups: IntArray) -> Partition:
    """Return the tasks of each group that has any, in the order of their first."""
    members: dict[int, list[int]] = {}
    for t, g in enumerate(groups.tolist()):
        members.setdefault(g, []).append(t)
    return tuple(map(tuple, members.values()))


@compiled
def move_tasks(
    gram: FloatArray, groups: IntArray, costs: FloatArray, changed: FloatArray
) -> IntArray:
    """Return an assignment from which no move of one task lowers Σ_g ||W_g||_tr².

    ``gram`` is W'W; ``costs`` and ``changed`` are those of :func:`_renew_costs`.
    """
    n_tasks, n_groups = changed.shape
    groups = groups.copy()
    costs = costs.copy()
    changed = changed.copy()
    # Values are computed anew where a group has changed, once they are asked for.
    is_known = np.ones((n_tasks, n_groups), dtype=np.bool_)
    # A smaller gain is rounding, and might lead in circles.
    least = 0.0
    for t in range(n_tasks):
        least += 1e-9 * gram[t, t]
    unmoved = 0
    t = 0
    while unmoved < n_tasks:
        for g in range(n_groups):
            if not is_known[t, g]:
                changed[t, g] = _changed_cost(gram, groups == g, t)
                is_known[t, g] = True
        own = groups[t]
        saved = costs[own] - changed[t, own]
        best, best_rise = own, saved - least
        for g in range(n_groups):
            if g != own and changed[t, g] - costs[g] < best_rise:
                best, best_rise = g, changed[t, g] - costs[g]
        if best != own:
            for g in (own, best):
                costs[g] = changed[t, g]
                is_known[:, g] = False
            groups[t] = best
            unmoved = 0
        else:
            unmoved += 1
        t = (t + 1) % n_tasks
    return groups


@compiled
def squared_trace_norm(gram: FloatArray, inside: NDArray[np.bool_]) -> float:
    """Return ||W_g||_tr² of the columns inside, given W'W."""
    index = np.flatnonzero(inside)
    if index.size == 0:
        return 0.0
    if index.size == 1:
        return gram[index[0], index[0]]
    total = 0.0
    for value in np.linalg.eigvalsh(gram[index][:, index]):
        total += np.sqrt(max(value, 0.0))
    return total * total
