r"""Algorithm 1 of Jebara (2011): sequential quadratic programming, task by task.

By Theorem 1 of the paper, with q̃, s̃ and g̃_d = K_dβ̃ at the present point,

    log(α + exp q_d(β)) ≤ log(α + exp q̃_d) + s̃_d g̃_d'(β − β̃)
        + ½ (β − β̃)'(𝒢_d g̃_d g̃_d' + K_d)(β − β̃),
    𝒢_d = tanh(½ log g)/(2 log g),   g = α exp(−q̃_d),   ¼ at g = 1,

so that maximising the resulting lower bound of J over the block β_t of one task is the
quadratic program of step 3b. The bound couples the tasks by 𝒢_d g̃_d g̃_d': it holds for
a step in one block, which is why step 3a stands inside the loop over the tasks. J then
never decreases. Steps of all tasks at once from one set of values (``simultaneous``)
are not covered by the bound and may lower J.

Here log g = log α − q̃_d is never exponentiated. The method of
:mod:`mtmkl.solvers.med.med` is faster; this one is there for the paper's own counts of
iterations.

References
----------
T. Jebara, Multitask sparsity via maximum entropy discrimination, Journal of Machine
Learning Research 12, 2011, section 10 and appendices A and B.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mtmkl.solvers.med.switches import SwitchedPath, switch_cost
from mtmkl.solvers.solution import Certificate, Solution, Status, warn_if_stopped
from mtmkl.solvers.svm.smo import DIAGONAL, intercept_at, pair_steps, workspace
from mtmkl.solvers.svm.task_duals import DualProblem, remedy_of
from mtmkl.typing import FloatArray, IntArray

_MAX_PAIR_STEPS = 10_000_000
_FINEST_ACCURACY, _REFINEMENT = 1e-14, 0.1


def solve_sqp(
    tasks: DualProblem,
    C: float,
    log_alpha: float,
    *,
    tol: float = 1e-6,
    change_tol: float = 0.0,
    max_iter: int = 10_000,
    start: FloatArray | None = None,
    accuracy: float = 1e-6,
    simultaneous: bool = False,
) -> Solution:
    """Run Algorithm 1 to a relative duality gap, or to its own stopping rule.

    ``accuracy``: Largest violation of the conditions of a quadratic program, in units
    of c. It gets finer whenever a sweep changes nothing before the gap is reached.

    Returns ``coef``: the switches (S,), those of β; ``dual``: β (N,); ``intercept``:
    (T,); ``extra``: "log_odds" (S,), "q" (S,), "dual_history" and "change_history": J
    and ‖β − β̃‖/‖β‖ after each sweep, and "stopped_by": "gap", "change", "limit" or
    "rounding". ``certificate.n_iter`` counts sweeps (step 3).

    Warns
    -----
    ConvergenceWarning
        If the gap is not reached, whatever stopped the search.
    """
    _check_switches(tasks)
    lo, hi = tasks.box(C)
    beta = np.zeros(tasks.c.size) if start is None else np.array(start, dtype=float)
    n_terms = tasks.weight.shape[1]
    outputs = np.zeros((tasks.c.size, n_terms))
    blocks = tasks.blocks
    of_blocks = blocks.offsets, blocks.entries, blocks.features, blocks.grams
    _outputs(*of_blocks, beta, outputs)
    total = _sum_of_kernels(*of_blocks)
    unit = float(np.abs(tasks.c).max(initial=1e-300))
    floor = tasks.floor(C)
    history, dual_history, changes = [], [], []
    stopped_by = "limit"
    for _ in range(max_iter):
        before = beta.copy()
        _sweep(
            *of_blocks,
            tasks.weight,
            tasks.n_weights,
            tasks.c,
            lo,
            hi,
            tasks.epsilon,
            log_alpha,
            total,
            accuracy * unit,
            simultaneous,
            beta,
            outputs,
        )
        q = _quadratics(tasks.offsets, tasks.weight, tasks.n_weights, beta, outputs)
        s = np.ones(tasks.n_weights) if log_alpha == -np.inf else expit(q - log_alpha)
        dual_objective = float(
            tasks.c @ beta - tasks.epsilon * np.abs(beta).sum()
        ) - switch_cost(q, log_alpha)
        gap, intercept = _inner_gap(
            tasks.offsets,
            tasks.weight,
            tasks.c,
            lo,
            hi,
            tasks.epsilon,
            s,
            beta,
            outputs,
        )
        objective = dual_objective + gap
        change = float(np.linalg.norm(beta - before))
        size = float(np.linalg.norm(beta))
        history.append(objective)
        dual_history.append(dual_objective)
        changes.append(change / size if size > 0 else 0.0)
        if gap <= tol * max(abs(objective), floor):
            stopped_by = "gap"
            break
        if change_tol > 0.0 and change <= change_tol * size:
            stopped_by = "change"
            break
        if change == 0.0:
            if accuracy < _FINEST_ACCURACY:
                stopped_by = "rounding"
                break
            accuracy *= _REFINEMENT
    status: Status = "converged"
    if stopped_by in ("limit", "rounding"):
        status = "stopped" if stopped_by == "limit" else "stalled"
    certificate = Certificate(
        objective=objective,
        dual_objective=dual_objective,
        n_iter=len(history),
        status=status,
        history=np.array(history),
        floor=floor,
    )
    remedy = "lower change_tol or raise tol"
    if stopped_by == "limit":
        remedy = remedy_of(tasks)
    warn_if_stopped(certificate, "Algorithm 1", tol, steps="sweeps", remedy=remedy)
    return Solution(
        coef=s,
        certificate=certificate,
        dual=beta,
        intercept=intercept,
        extra={
            "log_odds": q - log_alpha,
            "q": q,
            "dual_history": np.array(dual_history),
            "change_history": np.array(changes),
            "stopped_by": stopped_by,
        },
    )


class SqpPath(SwitchedPath):
    """Solutions for many (C, α) by Algorithm 1, each started from the last."""

    def __init__(
        self,
        tasks: DualProblem,
        *,
        tol: float = 1e-6,
        change_tol: float = 0.0,
        max_iter: int = 10_000,
    ) -> None:
        super().__init__()
        self.tasks = tasks
        self.tol = tol
        self.change_tol = change_tol
        self.max_iter = max_iter
        self._last: tuple[float, FloatArray] | None = None

    def solve(self, C: float, log_alpha: float) -> Solution:
        """Solve for one (C, α) as :func:`solve_sqp` does."""
        start = None
        if self._last is not None:
            last_C, beta = self._last
            start = beta * min(C / last_C, 1.0)
        solution = solve_sqp(
            self.tasks,
            C,
            log_alpha,
            tol=self.tol,
            change_tol=self.change_tol,
            max_iter=self.max_iter,
            start=start,
        )
        assert solution.dual is not None
        self._last = (C, solution.dual)
        return solution


def _check_switches(tasks: DualProblem) -> None:
    for t, row in enumerate(tasks.weight):
        if np.unique(row).size < row.size:
            raise ValueError(f"two terms of task {t} share a switch")


@numba.njit(cache=True, nogil=True)
def bound_curvature(log_g: float) -> float:
    """Return 𝒢 = tanh(½ log g)/(2 log g), ¼ at g = 1 and 0 at g = 0."""
    if abs(log_g) < 1e-4:
        return 0.25
    if abs(log_g) > 1e300:
        return 0.0
    return 0.5 * np.tanh(0.5 * log_g) / log_g


@numba.njit(cache=True, nogil=True)
def _outputs(
    offsets: IntArray,
    entries: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
    beta: FloatArray,
    outputs: FloatArray,
) -> None:
    """Write K_tf β_t of all terms to `outputs` (N, F + G)."""
    for t in range(offsets.size - 1):
        first = offsets[t]
        n = offsets[t + 1] - first
        _task_outputs(
            features[first : first + n],
            grams[entries[t] : entries[t] + n * n],
            beta[first : first + n],
            outputs[first : first + n],
        )


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _task_outputs(
    x: FloatArray,
    gram: NDArray[Any],
    beta: FloatArray,
    out: FloatArray,
) -> None:
    n, n_features = x.shape
    out[:] = 0.0
    for f in range(n_features):
        weight = 0.0
        for j in range(n):
            weight += beta[j] * x[j, f]
        for i in range(n):
            out[i, f] = weight * x[i, f]
    for j in range(n):
        if beta[j] != 0.0:
            for i in range(n):
                for g in range(gram.shape[1]):
                    out[i, n_features + g] += beta[j] * gram[j * n + i, g]


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _sum_of_kernels(
    offsets: IntArray,
    entries: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
) -> FloatArray:
    """Return Σ_f K_tf of all tasks, where the pairs stand in the Gram matrices."""
    out = np.empty(grams.shape[0])
    for t in range(offsets.size - 1):
        first = offsets[t]
        n = offsets[t + 1] - first
        for i in range(n):
            for j in range(n):
                entry = entries[t] + i * n + j
                value = 0.0
                for f in range(features.shape[1]):
                    value += features[first + i, f] * features[first + j, f]
                for g in range(grams.shape[1]):
                    value += grams[entry, g]
                out[entry] = value
    return out


@numba.njit(cache=True, nogil=True)
def _quadratics(
    offsets: IntArray,
    switch: IntArray,
    n_switches: int,
    beta: FloatArray,
    outputs: FloatArray,
) -> FloatArray:
    """Return q_d = ½ β'K_dβ for all switches."""
    q = np.zeros(n_switches)
    for t in range(offsets.size - 1):
        for i in range(offsets[t], offsets[t + 1]):
            if beta[i] != 0.0:
                for f in range(outputs.shape[1]):
                    q[switch[t, f]] += 0.5 * beta[i] * outputs[i, f]
    return q


@numba.njit(cache=True, nogil=True)
def _sweep(
    offsets: IntArray,
    entries: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
    switch: IntArray,
    n_switches: int,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    epsilon: float,
    log_alpha: float,
    total: FloatArray,
    tol: float,
    simultaneous: bool,
    beta: FloatArray,
    outputs: FloatArray,
) -> None:
    """Do step 3 of the algorithm in place."""
    q = _quadratics(offsets, switch, n_switches, beta, outputs)
    n_terms = switch.shape[1]
    curvature, s = np.empty(n_terms), np.empty(n_terms)
    for t in range(offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        n = last - first
        out, b = outputs[first:last], beta[first:last]
        for f in range(n_terms):
            log_g = log_alpha - q[switch[t, f]]
            curvature[f] = bound_curvature(log_g)
            s[f] = 1.0 / (1.0 + np.exp(min(log_g, 700.0)))
        Q = total[entries[t] : entries[t] + n * n].copy().reshape(n, n)
        for i in range(n):
            for f in range(n_terms):
                along = curvature[f] * out[i, f]
                for j in range(n):
                    Q[i, j] += along * out[j, f]
        share = np.empty(n_terms)
        for f in range(n_terms):
            share[f] = 0.5 * np.dot(b, out[:, f])
        # The gradient of the bound at β̃ is that of J.
        v = c[first:last].copy()
        for i in range(n):
            for f in range(n_terms):
                v[i] -= s[f] * out[i, f]
        linear = v + np.dot(Q, b)
        work, index = workspace(n)
        for i in range(n):
            work[DIAGONAL, i] = Q[i, i]
        pair_steps(
            Q,
            linear,
            lo[first:last],
            hi[first:last],
            epsilon,
            b,
            v,
            work,
            index,
            tol,
            _MAX_PAIR_STEPS,
            0.0,
        )
        gram = grams[entries[t] : entries[t] + n * n]
        _task_outputs(features[first:last], gram, b, out)
        if not simultaneous:
            # Step 3a again: the tasks share q.
            for f in range(n_terms):
                q[switch[t, f]] += 0.5 * np.dot(b, out[:, f]) - share[f]


@numba.njit(cache=True, nogil=True)
def _inner_gap(
    offsets: IntArray,
    switch: IntArray,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    epsilon: float,
    s: FloatArray,
    beta: FloatArray,
    outputs: FloatArray,
) -> tuple[float, FloatArray]:
    """Return the gap of the support vector duals for switches s, and intercepts."""
    intercept = np.empty(offsets.size - 1)
    gap = 0.0
    for t in range(offsets.size - 1):
        part = slice(offsets[t], offsets[t + 1])
        b, v = beta[part], c[part].copy()
        for i in range(v.size):
            for f in range(switch.shape[1]):
                v[i] -= s[switch[t, f]] * outputs[offsets[t] + i, f]
        intercept[t] = intercept_at(v, b, lo[part], hi[part], epsilon)
        for i in range(v.size):
            residual = v[i] - intercept[t]
            gap -= v[i] * b[i] - epsilon * abs(b[i])
            gap += max(
                max(
                    hi[part][i] * (residual - epsilon),
                    lo[part][i] * (residual + epsilon),
                ),
                0.0,
            )
    return gap, intercept
