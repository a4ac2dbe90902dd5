r"""Kernel selection by maximum entropy discrimination, over tasks that share switches.

Task t has examples with signed duals β (β_i = y_i λ_i in classification, λ_i − λ'_i in
regression), terms f = 1 … F with kernels k_f and, for each, a switch d = σ(t, f). With
q_d = ½ Σ_{t,f: σ(t,f)=d} β_t'K_tf β_t the dual is

    max_β  Σ_t (c_t'β_t − ε‖β_t‖₁) − Σ_d log((α + exp q_d) / (1 + α))
    s.t.   lo ≤ β ≤ hi,  1'β_t = 0 for each task t,

which is the paper's problem for classification (c = y, β_i between 0 and C y_i, ε = 0)
and for ε-insensitive regression (−C ≤ β_i ≤ C). Which switch a term has makes the
difference between kernel selection (σ(t, f) = f), independent kernel selection (one
task at a time) and graph structure (one switch an edge).

A term is either one feature, of rank one (k(x, z) = x_f z_f: nothing is built), or a
Gram matrix. With outputs g_tf = K_tf β_t kept at hand, the support vector dual of a
task for new switches starts with a gradient in O(n) a term, and only the Gram entries
between its support vectors and the examples that violate the margin are summed.

References
----------
T. Jebara, Multitask sparsity via maximum entropy discrimination, Journal of Machine
Learning Research 12, 2011, sections 6, 7, 9 and 12.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtmkl.solvers.smo import (
    DIAGONAL,
    FIRST_SHARE,
    LAST_SHARE,
    SLICE,
    _factorise,
    intercept_at,
    pair_steps,
    rounding_error,
    step_cost,
    workspace,
)
from mtmkl.solvers.solution import (
    LEAST_SHARE,
    Certificate,
    Solution,
    warn_if_stopped,
)
from mtmkl.solvers.switches import Inner, Switched, minimise_over_switches

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

FAR = 1e300
_NEAR_ALPHA = 1e-3
_LEAST_WORK = 1e9
_WORK_PER_EXAMPLE = 1000  # pair steps, and rows of kernel sums
_LEAST_STEPS = 16
_UPDATES = 100.0  # rounding errors that outputs gather, in those of one sum
_NEGLIGIBLE = 1e-8  # relative error of an objective
_APART = 1e6  # ratio of the sizes of kernels worth mentioning
# Columns of a task's statistics.
_INTERCEPT, _LINEAR, _QUADRATIC, _LOSS, _SOLVES, _VIOLATION = range(6)
_N_STATISTICS = 6
# Where the solves of all tasks have come to, and the work that is left.
_TASK, _CREDIT, _SHARE, _WORK = range(4)


@dataclass(frozen=True)
class BlockTasks:
    """Examples of T tasks, one task after the other, and the kernels of each.

    Attributes
    ----------
    offsets : ndarray of shape (T + 1,)
        Task t has the rows ``offsets[t]:offsets[t + 1]``.
    c : ndarray of shape (N,)
        Targets: −1 and +1, or real numbers.
    features : ndarray of shape (N, F)
        Terms of rank one.
    grams : ndarray of shape (sum of n_t², G)
        The other terms: entry (i, j) of a task's Gram matrices, in row-major order of
        (i, j), one task after the other. float64 or float32.
    switch : ndarray of shape (T, F + G)
        The switch of each term.
    n_switches : int
    kink : float
        ε of regression, 0 in classification.
    is_classification : bool
    """

    offsets: IntArray
    c: FloatArray
    features: FloatArray
    grams: NDArray[Any]
    switch: IntArray
    n_switches: int
    kink: float
    is_classification: bool

    @property
    def n_tasks(self) -> int:
        """Number of tasks T."""
        return self.offsets.size - 1

    def box(self, C: float) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds of β."""
        if self.is_classification:
            return np.minimum(C * self.c, 0.0), np.maximum(C * self.c, 0.0)
        return np.full(self.c.size, -C), np.full(self.c.size, C)

    def floor(self, C: float) -> float:
        """Return the least that an objective counts for in a relative gap.

        The optimum of regression may be zero; that of classification is so only where
        every task is of one class, and then without rounding.
        """
        if self.is_classification:
            return 0.0
        outside = np.maximum(np.abs(self.c) - self.kink, 0.0)
        return LEAST_SHARE * C * float(outside.sum())

    @cached_property
    def diagonal(self) -> FloatArray:
        """Σ_f k_f(x_i, x_i) of all examples, shape (N,)."""
        out = np.empty(self.c.size)
        ones = np.ones(self.switch.shape[1])
        split = self.features.shape[1]
        _diagonal(
            self.offsets, self.features, self.grams, ones[:split], ones[split:], out
        )
        return out

    @cached_property
    def work(self) -> float:
        """Multiplications that a solution may cost, about."""
        sizes = np.diff(self.offsets)
        steps = sizes * np.array([step_cost(n) for n in sizes])
        sums = 0.5 * sizes**2 * self.switch.shape[1]
        return max(_LEAST_WORK, _WORK_PER_EXAMPLE * float(np.sum(steps + sums)))

    def task(self, t: int) -> "BlockTasks":
        """Return task t by itself, its terms with the same switches."""
        first, last = self.offsets[t], self.offsets[t + 1]
        entries = np.concatenate([[0], np.cumsum(np.diff(self.offsets) ** 2)])
        return replace(
            self,
            offsets=np.array([0, last - first], dtype=np.intp),
            c=self.c[first:last],
            features=self.features[first:last],
            grams=self.grams[entries[t] : entries[t + 1]],
            switch=self.switch[t : t + 1],
        )


def block_tasks(
    c: ArrayLike,
    sizes: ArrayLike,
    *,
    features: ArrayLike | None = None,
    grams: NDArray[Any] | None = None,
    switch: ArrayLike | None = None,
    n_switches: int | None = None,
    epsilon: float | None = None,
) -> BlockTasks:
    """Return the tasks of a problem, with switches shared by all unless stated.

    Parameters
    ----------
    c : array-like of shape (N,)
        Labels −1 and +1, or the targets of regression, sorted by task.
    sizes : array-like of int of shape (T,)
        Examples of each task.
    features : array-like of shape (N, F), optional
    grams : ndarray of shape (sum of n_t², G), optional
        As :class:`BlockTasks` says.
    switch : array-like of int of shape (T, F + G), optional
        By default term f has switch f in every task.
    n_switches : int, optional
        S; by default one more than the largest in ``switch``.
    epsilon : float, optional
        The tube of regression; by default the tasks are classifications.
    """
    target = np.ascontiguousarray(c, dtype=np.float64)
    counts = np.asarray(sizes, dtype=np.intp)
    n = target.size
    x = np.empty((n, 0)) if features is None else np.asarray(features, np.float64)
    k = np.empty((int((counts**2).sum()), 0)) if grams is None else grams
    n_terms = x.shape[1] + k.shape[1]
    if switch is None:
        switch = np.tile(np.arange(n_terms), (counts.size, 1))
    table = np.ascontiguousarray(switch, dtype=np.intp)
    return BlockTasks(
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.intp),
        c=target,
        features=np.ascontiguousarray(x),
        grams=np.ascontiguousarray(k),
        switch=table,
        n_switches=int(table.max()) + 1 if n_switches is None else n_switches,
        kink=0.0 if epsilon is None else float(epsilon),
        is_classification=epsilon is None,
    )


def solve_med(
    tasks: BlockTasks,
    C: float,
    log_alpha: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> Solution:
    """Solve one problem from scratch; see :class:`MedPath` for many.

    Parameters
    ----------
    tasks : BlockTasks
    C : float
        Positive.
    log_alpha : float
        log α; −inf for α = 0.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on Newton steps over the switches.

    Returns
    -------
    Solution
        As :meth:`MedPath.solve` says.
    """
    return MedPath(tasks, tol=tol, max_iter=max_iter).solve(C, log_alpha)


def regularization_path(
    tasks: BlockTasks,
    C: Sequence[float],
    log_alpha: Sequence[float],
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> Iterator[tuple[float, float, Solution]]:
    """Yield (C, log α, solution) for all pairs, α innermost, each from its neighbour.

    Quickest when both rise; the solutions do not depend on the order.
    """
    path = MedPath(tasks, tol=tol, max_iter=max_iter)
    for each_C in C:
        for each_alpha in log_alpha:
            yield each_C, each_alpha, path.solve(each_C, each_alpha)


@dataclass(frozen=True)
class _Visited:
    log_alpha: float
    beta: FloatArray
    log_odds: FloatArray


class MedPath:
    """Solutions for many (C, α), each started from the nearest so far.

    Parameters
    ----------
    tasks : BlockTasks
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on Newton steps of one solution.
    """

    def __init__(
        self, tasks: BlockTasks, *, tol: float = 1e-6, max_iter: int = 100
    ) -> None:
        self.tasks = tasks
        self.tol = tol
        self.max_iter = max_iter
        self._state: TaskDuals | None = None
        self._visited: list[_Visited] = []
        self._previous: list[_Visited] = []
        self._interior = 0.0
        self._log_odds: FloatArray | None = None
        self._largest_q: dict[float, float] = {}

    def largest_q(self, C: float) -> float:
        """Return max_d q_d at α = 0, the scale on which log α acts."""
        if C not in self._largest_q:
            self._largest_q[C] = float(self.solve(C, -np.inf).extra["q"].max())
        return self._largest_q[C]

    def solve(self, C: float, log_alpha: float) -> Solution:
        """Solve for one (C, α).

        Returns
        -------
        Solution
            ``coef``: the switches (S,); ``dual``: β (N,); ``intercept``: (T,);
            ``extra``: "log_odds" (S,) of the switches, "q" (S,), "n_solves" (calls of
            the support vector solver for all tasks) and "n_svm_solves" (single support
            vector problems, those on a few examples included).
        """
        start = self._start(C, log_alpha)
        state = self._state
        assert state is not None
        state.renew()
        before = state.n_svm_solves
        floor = self.tasks.floor(C)
        result = minimise_over_switches(
            state,
            log_alpha,
            n_switches=self.tasks.n_switches,
            start=start,
            tol=self.tol,
            max_iter=self.max_iter,
            floor=floor,
        )
        self._log_odds = result.log_odds
        beta = state.beta.copy()
        self._visited.append(_Visited(log_alpha, beta, result.log_odds))
        return solution_of(
            result,
            dual=beta,
            intercept=state.intercept,
            n_svm_solves=state.n_svm_solves - before,
            tol=self.tol,
            floor=floor,
            remedy=remedy_of(self.tasks) if result.status == "stopped" else "",
        )

    def _start(self, C: float, log_alpha: float) -> FloatArray | None:
        """Bring the state near to the solution and return log-odds for a start."""
        if self._state is None:
            self._state = TaskDuals(self.tasks, C)
        state = self._state
        if C != state.C:
            self._previous, self._visited = self._visited, []
            self._interior = min(C, state.C)
            state.rescale(C)
        for point in self._previous:
            # A solution that no bound holds is one for every box around it; an α that
            # was given as a share of q differs in its last digits.
            if point.log_alpha == log_alpha or np.isclose(
                point.log_alpha, log_alpha, rtol=_NEAR_ALPHA, atol=_NEAR_ALPHA
            ):
                if np.abs(point.beta).max() < self._interior:
                    state.start(point.beta)
                    self._log_odds = point.log_odds
                break
        if self._log_odds is None or self._log_odds[0] == np.inf:
            return None
        return self._log_odds


def feature_weights(
    offsets: IntArray, features: FloatArray, beta: FloatArray
) -> FloatArray:
    """Return X_t'β_t, shape (T, F), to the last bit as certificates have it.

    Parameters
    ----------
    offsets, features : ndarray
        As :class:`BlockTasks` has them.
    beta : ndarray of shape (N,)
    """
    weights = np.zeros((offsets.size - 1, features.shape[1]))
    n = int(np.sum(np.diff(offsets) ** 2))
    nothing, outputs = np.empty((n, 0)), np.empty((beta.size, 0))
    _accumulate(offsets, features, nothing, beta, weights, outputs)
    return weights


def solution_of(
    result: Switched,
    *,
    dual: FloatArray,
    intercept: FloatArray,
    n_svm_solves: int,
    tol: float,
    floor: float = 0.0,
    remedy: str = "raise max_iter or tol",
) -> Solution:
    """Return a solution, with a warning if it ended short of its tolerance."""
    certificate = Certificate(
        objective=result.objective,
        dual_objective=result.dual_objective,
        n_iter=result.n_iter,
        status=result.status,
        history=result.history,
        floor=floor,
    )
    warn_if_stopped(
        certificate, "switches", tol, remedy=remedy, limit=result.limit, stacklevel=5
    )
    return Solution(
        coef=result.s,
        certificate=certificate,
        dual=dual,
        intercept=intercept,
        extra={
            "log_odds": result.log_odds,
            "q": result.q,
            "n_solves": result.n_solves,
            "n_svm_solves": n_svm_solves,
        },
    )


class TaskDuals:
    """The support vector duals of all tasks, continued from switches to switches.

    An :class:`~mtmkl.solvers.switches.InnerProblem`.

    No accuracy can be had that is far below the rounding errors of the outputs, which
    grow with the kernels and with C: a solve ends there, and says so. All solves of one
    solution share a bound on their work (`renew`); when it is used up, they return the
    point at hand.

    Parameters
    ----------
    tasks : BlockTasks
    C : float
        Positive.

    Attributes
    ----------
    beta : ndarray of shape (N,)
        The last solution.
    work_left : float
        Multiplications left to the solution in progress.
    """

    def __init__(self, tasks: BlockTasks, C: float) -> None:
        self.tasks = tasks
        self.beta = np.zeros(tasks.c.size)
        self._weights = np.zeros((tasks.n_tasks, tasks.features.shape[1]))
        self._outputs = np.zeros((tasks.c.size, tasks.grams.shape[1]))
        self._statistics = np.zeros((tasks.n_tasks, _N_STATISTICS))
        self._unit = float(np.abs(tasks.c).max(initial=1e-300))
        self.renew()
        self.set_box(C)

    def renew(self) -> None:
        """Grant the work of one solution."""
        self.work_left = self.tasks.work

    def set_box(self, C: float) -> None:
        """Change C and with it the box."""
        self.C = C
        self._lo, self._hi = self.tasks.box(C)

    def start(self, beta: FloatArray) -> None:
        """Continue from a feasible β."""
        self.beta[:] = beta
        tasks = self.tasks
        self._weights[:] = 0.0
        self._outputs[:] = 0.0
        _accumulate(
            tasks.offsets,
            tasks.features,
            tasks.grams,
            self.beta,
            self._weights,
            self._outputs,
        )

    def refresh(self) -> None:
        """Compute weights and outputs from β anew."""
        self.start(self.beta)

    def evaluate(self, s: FloatArray) -> Inner:
        """Return what β is worth for switches s, with weights and outputs anew.

        The intercepts are those that belong to them; otherwise the state is left alone,
        so that what is solved next does not depend on it. The primal is an upper bound
        for the support vectors' outputs as rounded. Outputs of Gram matrices, which are
        expensive, are kept where the rounding that they may have gathered is too small
        to show.
        """
        tasks = self.tasks
        fresh = TaskDuals(tasks, self.C)
        drift = (
            _UPDATES
            * self.C
            * _rounding(tasks.offsets, tasks.c, tasks.diagonal, self.beta)
        )
        if drift > _NEGLIGIBLE * float(self._statistics[:, _LOSS].sum()):
            fresh.start(self.beta)
        else:
            fresh.beta = self.beta
            fresh._weights = feature_weights(tasks.offsets, tasks.features, self.beta)
            fresh._outputs = self._outputs
        inner = fresh.solve(s, np.inf)
        self._statistics[:, _INTERCEPT] = fresh.intercept
        sizes = np.abs(self.tasks.c)
        sizes += np.repeat(np.abs(fresh.intercept), np.diff(self.tasks.offsets))
        rounding = np.finfo(float).eps * self.C * float(sizes[self.beta != 0.0].sum())
        return replace(inner, primal=inner.primal + rounding)

    def rescale(self, C: float) -> None:
        """Change C, and each task's β by the best multiple of it in the new box."""
        self.set_box(C)
        beta = self.beta.copy()
        _rescale(self.tasks.offsets, self._lo, self._hi, self._statistics, beta)
        self.start(beta)

    @property
    def intercept(self) -> FloatArray:
        """Intercepts of the last solution, shape (T,)."""
        return self._statistics[:, _INTERCEPT].copy()

    @property
    def linear(self) -> FloatArray:
        """c_t'β_t − ε‖β_t‖₁ of the last solution, shape (T,)."""
        return self._statistics[:, _LINEAR].copy()

    @property
    def n_svm_solves(self) -> int:
        """Support vector problems solved so far."""
        return int(self._statistics[:, _SOLVES].sum())

    def solve(self, s: FloatArray, accuracy: float) -> Inner:
        """Solve for switches s until no optimality condition is violated by more.

        Switches are at most 1.
        """
        tasks = self.tasks
        tol = accuracy * self._unit
        q = np.zeros(tasks.n_switches)
        progress = np.array([0.0, 0.0, FIRST_SHARE, self.work_left])
        finished = False
        while not finished:  # back in Python, an interrupt is seen
            finished = _solve_tasks(
                tasks.offsets,
                tasks.features,
                tasks.grams,
                tasks.switch,
                tasks.c,
                self._lo,
                self._hi,
                tasks.kink,
                s,
                tol,
                tasks.diagonal,
                self.beta,
                self._weights,
                self._outputs,
                q,
                self._statistics,
                progress,
            )
        self.work_left = float(progress[_WORK])
        linear, quadratic, loss = (
            float(self._statistics[:, column].sum())
            for column in (_LINEAR, _QUADRATIC, _LOSS)
        )
        violation = float(self._statistics[:, _VIOLATION].max())
        limit = ""
        if violation > tol:
            limit = limit_of_accuracy(
                violation, float(tasks.diagonal.max()), self.C, self.work_left
            )
        return Inner(
            q=q,
            linear=linear,
            primal=0.5 * quadratic + loss,
            dual=linear - 0.5 * quadratic,
            limit=limit,
        )

    def curvature(self, s: FloatArray) -> FloatArray:
        """Return V''(s), shape (S, S), at the last solution."""
        tasks = self.tasks
        out = np.zeros((tasks.n_switches, tasks.n_switches))
        _curvature(
            tasks.offsets,
            tasks.features,
            tasks.grams,
            tasks.switch,
            self._lo,
            self._hi,
            tasks.kink,
            s,
            self.beta,
            self._weights,
            self._outputs,
            out,
        )
        return out


def kernels_apart(tasks: BlockTasks) -> str:
    """Say so where the kernels are of very different sizes, which makes searches slow.

    Empty if they are not.
    """
    sizes = np.square(tasks.features).max(axis=0, initial=0.0)
    if tasks.grams.shape[1]:
        sizes = np.append(sizes, tasks.grams.max(axis=0, initial=0.0))
    sizes = sizes[sizes > 0.0]
    if sizes.size == 0 or sizes.max() < _APART * sizes.min():
        return ""
    return (
        f"kernel values reach {sizes.max():.1g} for one kernel and {sizes.min():.1g} "
        "for another: bring the inputs to one scale (standardize=True) or normalise "
        "the kernels"
    )


def remedy_of(tasks: BlockTasks) -> str:
    """Return what to do about a search that its limit on steps stopped."""
    said = kernels_apart(tasks)
    return f"{said}, or raise max_iter or tol" if said else "raise max_iter or tol"


def limit_of_accuracy(error: float, largest: float, C: float, work_left: float) -> str:
    """Return why support vector machines end with an error of their outputs.

    Parameters
    ----------
    error : float
        Violation of the conditions that is left.
    largest : float
        Largest kernel value.
    C : float
    work_left : float
        Not positive where it was the bound on work that ended them.
    """
    cause = "rounding" if work_left > 0.0 else "the bound on their work"
    return (
        f"{cause} leaves the outputs of the support vector machines an error of "
        f"{error:.1g}, with kernel values up to {largest:.1g} and C={C:g}: bring the "
        "inputs to one scale (standardize=True), normalise the kernels or lower C"
    )


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _accumulate(
    offsets: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
    beta: FloatArray,
    weights: FloatArray,
    outputs: FloatArray,
) -> None:
    """Add K_tf β_t to the outputs, and X_t'β_t to the weights of the features."""
    n_features, n_grams = features.shape[1], grams.shape[1]
    first_entry = 0
    for t in range(offsets.size - 1):
        first = offsets[t]
        n = offsets[t + 1] - first
        for j in range(n):
            b = beta[first + j]
            if b != 0.0:
                for f in range(n_features):
                    weights[t, f] += b * features[first + j, f]
                if n_grams:
                    _add_row(
                        grams[first_entry + j * n : first_entry + (j + 1) * n],
                        b,
                        outputs[first : first + n],
                    )
        first_entry += n * n


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _add_row(
    row: NDArray[Any],
    b: float,
    outputs: FloatArray,
) -> None:
    flat_row, flat = row.reshape(row.size), outputs.reshape(outputs.size)
    for k in range(flat.size):
        flat[k] += b * flat_row[k]


@numba.njit(cache=True, nogil=True)
def _rescale(
    offsets: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    statistics: FloatArray,
    beta: FloatArray,
) -> None:
    for t in range(offsets.size - 1):
        linear, quadratic = statistics[t, _LINEAR], statistics[t, _QUADRATIC]
        factor = FAR
        for i in range(offsets[t], offsets[t + 1]):
            if beta[i] > 0.0:
                factor = min(factor, hi[i] / beta[i])
            elif beta[i] < 0.0:
                factor = min(factor, lo[i] / beta[i])
        if factor == FAR:
            continue
        if linear < factor * quadratic:
            factor = max(linear, 0.0) / quadratic
        for i in range(offsets[t], offsets[t + 1]):
            b = factor * beta[i]
            if abs(b - hi[i]) <= 1e-14 * abs(hi[i]):
                b = hi[i]
            elif abs(b - lo[i]) <= 1e-14 * abs(lo[i]):
                b = lo[i]
            beta[i] = b


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _negative_gradient(
    c: FloatArray,
    features: FloatArray,
    outputs: FloatArray,
    s_features: FloatArray,
    s_grams: FloatArray,
    weights: FloatArray,
    v: FloatArray,
) -> None:
    """Write ``c − Σ_f s_f K_f β`` to v."""
    n_features, n_grams = s_features.size, s_grams.size
    for i in range(v.size):
        value = c[i]
        for f in range(n_features):
            value -= s_features[f] * weights[f] * features[i, f]
        for g in range(n_grams):
            value -= s_grams[g] * outputs[i, g]
        v[i] = value


@numba.njit(cache=True, nogil=True)
def extremes(
    v: FloatArray,
    beta: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    kink: float,
) -> tuple[float, float, float]:
    """Return max(v + up), min(v + low), and an intercept that tells what violates.

    The mean over the free variables, or the middle of the interval if none is free, or
    its finite end: that of a solution is `intercept_at`.
    """
    highest, lowest = -FAR, FAR
    n_free, mean = 0, 0.0
    for i in range(v.size):
        b = beta[i]
        if b < hi[i]:
            rising = v[i] + (-kink if b >= 0.0 else kink)
            highest = max(highest, rising)
            if b > lo[i] and (kink == 0.0 or b != 0.0):
                n_free += 1
                mean += rising
        if b > lo[i]:
            lowest = min(lowest, v[i] + (-kink if b > 0.0 else kink))
    intercept = 0.0
    if n_free > 0:
        intercept = mean / n_free
    elif highest > -0.5 * FAR and lowest < 0.5 * FAR:
        intercept = 0.5 * (highest + lowest)
    elif highest > -0.5 * FAR:
        intercept = highest
    elif lowest < 0.5 * FAR:
        intercept = lowest
    return highest, lowest, intercept


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _sub_gram(
    features: FloatArray,
    gram: NDArray[Any],
    n: int,
    s_features: FloatArray,
    s_grams: FloatArray,
    rows: IntArray,
    K: FloatArray,
    scaled: FloatArray,
) -> None:
    """Write ``Σ_f s_f K_f`` between some rows to K."""
    n_features, n_grams = s_features.size, s_grams.size
    for a in range(rows.size):
        i = rows[a]
        for f in range(n_features):
            scaled[f] = s_features[f] * features[i, f]
        for b in range(a + 1):
            j = rows[b]
            value = 0.0
            for f in range(n_features):
                value += scaled[f] * features[j, f]
            if n_grams:
                entry = gram[i * n + j]
                for g in range(n_grams):
                    value += s_grams[g] * entry[g]
            K[a, b] = value
            K[b, a] = value


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _switched_diagonal(
    features: FloatArray,
    gram: NDArray[Any],
    s_features: FloatArray,
    s_grams: FloatArray,
    out: FloatArray,
) -> None:
    """Write Σ_f s_f k_f(x_i, x_i) to out."""
    n = out.size
    for i in range(n):
        value = 0.0
        for f in range(s_features.size):
            value += s_features[f] * features[i, f] * features[i, f]
        for g in range(s_grams.size):
            value += s_grams[g] * gram[i * (n + 1), g]
        out[i] = value


@numba.njit(cache=True, nogil=True)
def _rounding(
    offsets: IntArray, c: FloatArray, diagonal: FloatArray, beta: FloatArray
) -> float:
    """Return the sum of the rounding errors of all outputs."""
    total = 0.0
    for t in range(offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        total += (last - first) * rounding_error(
            diagonal[first:last], c[first:last], beta[first:last]
        )
    return total


@numba.njit(cache=True, nogil=True)
def _diagonal(
    offsets: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
    s_features: FloatArray,
    s_grams: FloatArray,
    out: FloatArray,
) -> None:
    first_entry = 0
    for t in range(offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        n = last - first
        _switched_diagonal(
            features[first:last],
            grams[first_entry : first_entry + n * n],
            s_features,
            s_grams,
            out[first:last],
        )
        first_entry += n * n


@numba.njit(cache=True, nogil=True)
def _solve_tasks(
    offsets: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
    switch: IntArray,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    kink: float,
    s: FloatArray,
    tol: float,
    diagonal: FloatArray,
    beta: FloatArray,
    weights: FloatArray,
    outputs: FloatArray,
    q: FloatArray,
    statistics: FloatArray,
    progress: FloatArray,
) -> bool:
    """Solve every task's support vector dual for switches s, from the present β.

    Each is solved on the examples that have a multiplier or violate their condition,
    until no other violates, the rest is rounding, or no work is left.

    Returns False after a slice of work: call again with the same arrays.
    """
    slice_left = SLICE
    n_features, n_grams = features.shape[1], grams.shape[1]
    largest = 0
    for t in range(offsets.size - 1):
        largest = max(largest, offsets[t + 1] - offsets[t])
    v_space = np.empty(largest)
    rows_space = np.empty(largest, np.int64)
    scaled = np.empty(n_features)
    s_features, s_grams = np.empty(n_features), np.empty(n_grams)
    first_entry = 0
    for t in range(offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        n = last - first
        if t < progress[_TASK]:
            first_entry += n * n
            continue
        for f in range(n_features):
            s_features[f] = s[switch[t, f]]
        for g in range(n_grams):
            s_grams[g] = s[switch[t, n_features + g]]
        x, c_t, lo_t, hi_t = (
            features[first:last],
            c[first:last],
            lo[first:last],
            hi[first:last],
        )
        beta_t, out_t, w_t = beta[first:last], outputs[first:last], weights[t]
        gram = grams[first_entry : first_entry + n * n]
        v = v_space[:n]
        _negative_gradient(c_t, x, out_t, s_features, s_grams, w_t, v)
        allowed = tol
        while True:
            highest, lowest, intercept = extremes(v, beta_t, lo_t, hi_t, kink)
            if highest - lowest <= tol:
                break
            share = progress[_SHARE]
            if share * rounding_error(diagonal[first:last], c_t, beta_t) > tol:
                # Switches make it smaller.
                here = np.empty(n)
                _switched_diagonal(x, gram, s_features, s_grams, here)
                allowed = max(tol, share * rounding_error(here, c_t, beta_t))
            if highest - lowest <= allowed or progress[_WORK] <= 0.0:
                break
            progress[_SHARE] = min(2.0 * share, LAST_SHARE)
            m = 0
            for i in range(n):
                b = beta_t[i]
                if (
                    b != 0.0
                    or (b < hi_t[i] and v[i] - kink > intercept)
                    or (b > lo_t[i] and v[i] + kink < intercept)
                ):
                    rows_space[m] = i
                    m += 1
            rows = rows_space[:m]
            K = np.empty((m, m))
            _sub_gram(x, gram, n, s_features, s_grams, rows, K, scaled)
            vectors = np.empty((5, m))
            for a in range(m):
                i = rows[a]
                vectors[0, a] = c_t[i]
                vectors[1, a] = lo_t[i]
                vectors[2, a] = hi_t[i]
                vectors[3, a] = beta_t[i]
                vectors[4, a] = v[i]
            work, index = workspace(m)
            for a in range(m):
                work[DIAGONAL, a] = K[a, a]
            affordable = min(slice_left, progress[_WORK]) / step_cost(m)
            most = max(int(affordable), _LEAST_STEPS)
            done, _, credit = pair_steps(
                K,
                vectors[0],
                vectors[1],
                vectors[2],
                kink,
                vectors[3],
                vectors[4],
                work,
                index,
                0.5 * allowed,
                most,
                progress[_CREDIT],
            )
            statistics[t, _SOLVES] += 1.0
            progress[_CREDIT] = credit if done == most else 0.0
            spent = done * step_cost(m) + 0.5 * m * m * (n_features + n_grams)
            slice_left -= spent
            progress[_WORK] -= spent
            moved = False
            for a in range(m):
                i = rows[a]
                change = vectors[3, a] - beta_t[i]
                if change != 0.0:
                    moved = True
                    beta_t[i] = vectors[3, a]
                    for f in range(n_features):
                        w_t[f] += change * x[i, f]
                    if n_grams:
                        _add_row(gram[i * n : (i + 1) * n], change, out_t)
            _negative_gradient(c_t, x, out_t, s_features, s_grams, w_t, v)
            if not moved:
                # Rounding is all that is left.
                break
            if slice_left <= 0.0:
                progress[_TASK] = t
                return False
        progress[_CREDIT] = 0.0
        progress[_SHARE] = FIRST_SHARE
        intercept = intercept_at(v, beta_t, lo_t, hi_t, kink)
        linear, loss, quadratic = 0.0, 0.0, 0.0
        for i in range(n):
            b = beta_t[i]
            linear += c_t[i] * b - kink * abs(b)
            quadratic += (c_t[i] - v[i]) * b
            residual = v[i] - intercept
            loss += max(
                max(hi_t[i] * (residual - kink), lo_t[i] * (residual + kink)), 0.0
            )
        for f in range(n_features):
            q[switch[t, f]] += 0.5 * w_t[f] * w_t[f]
        for g in range(n_grams):
            total = 0.0
            for i in range(n):
                total += beta_t[i] * out_t[i, g]
            q[switch[t, n_features + g]] += 0.5 * total
        statistics[t, _INTERCEPT] = intercept
        statistics[t, _LINEAR] = linear
        statistics[t, _QUADRATIC] = quadratic
        statistics[t, _LOSS] = loss
        statistics[t, _VIOLATION] = highest - lowest
        first_entry += n * n
    return True


@numba.njit(cache=True, nogil=True)
def _curvature(
    offsets: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
    switch: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    kink: float,
    s: FloatArray,
    beta: FloatArray,
    weights: FloatArray,
    outputs: FloatArray,
    out: FloatArray,
) -> None:
    """Add Σ_t B_t'P_tB_t to out.

    B_t holds the outputs g_tf of the free variables, and P_t is the inverse of their
    kernel on the vectors of sum zero.
    """
    n_features, n_grams = features.shape[1], grams.shape[1]
    n_terms = n_features + n_grams
    scaled = np.empty(n_features)
    s_features, s_grams = np.empty(n_features), np.empty(n_grams)
    first_entry = 0
    for t in range(offsets.size - 1):
        first = offsets[t]
        n = offsets[t + 1] - first
        rows = np.empty(n, np.int64)
        m = 0
        for i in range(n):
            b = beta[first + i]
            if lo[first + i] < b < hi[first + i] and (kink == 0.0 or b != 0.0):
                rows[m] = i
                m += 1
        if m > 1:
            for f in range(n_features):
                s_features[f] = s[switch[t, f]]
            for g in range(n_grams):
                s_grams[g] = s[switch[t, n_features + g]]
            U = np.empty((m, m + 1 + n_terms))
            _sub_gram(
                features[first : first + n],
                grams[first_entry : first_entry + n * n],
                n,
                s_features,
                s_grams,
                rows[:m],
                U[:, :m],
                scaled,
            )
            largest = 0.0
            for a in range(m):
                i = first + rows[a]
                largest = max(largest, U[a, a])
                U[a, m] = 1.0
                for f in range(n_features):
                    U[a, m + 1 + f] = weights[t, f] * features[i, f]
                for g in range(n_grams):
                    U[a, m + 1 + n_features + g] = outputs[i, g]
            _factorise(U, m, m + 1 + n_terms, max(1e-11 * largest, 1e-300))
            B = U[:, m + 1 :].copy()
            ones = U[:, m]
            norm = 0.0
            for a in range(m):
                norm += ones[a] * ones[a]
            for f in range(n_terms):
                along = 0.0
                for a in range(m):
                    along += ones[a] * B[a, f]
                along /= norm
                for a in range(m):
                    B[a, f] -= along * ones[a]
            block = np.dot(B.T, B)
            for f in range(n_terms):
                for g in range(n_terms):
                    out[switch[t, f], switch[t, g]] += block[f, g]
        first_entry += n * n
