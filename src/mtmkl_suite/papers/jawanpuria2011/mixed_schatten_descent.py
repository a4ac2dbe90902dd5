r"""Mirror descent and alternate minimisation for mixed Schatten norms.

The two algorithms of Jawanpuria and Nath (2011), section 4, and of its comparison, on
the problem of :mod:`mtmkl.solvers.weights.mixed_schatten`: both visit matrices Q_j of
the size of the coordinates, with machines of single tasks on Σ_j φ_j'Q_jφ_j at each,
whose objective V(Q) is convex with the gradient −½ B_jB_j'.

Mirror descent in the entropy geometry takes the Q⁺ that minimises, over
Σ_j (tr Q_j)^q̄ ≤ 1,

    −½ Σ_j tr(Q_jB_jB_j') + D(Q ‖ Q_old)/s,    D the relative entropy,

that is Q_j⁺ = ρ_j exp(M_j)/tr exp(M_j) with M_j = log Q_j + ½s B_jB_j' and ρ the
minimum of Σ_j ρ_j (log ρ_j − log tr exp M_j − 1) over Σ_j ρ_j^q̄ ≤ 1, problem (4.5) of
the paper. At q = 1, ρ_j ∝ tr exp(M_j); at q = 2, ρ = 1.

Alternate minimisation takes the best Q for the models, after Argyriou, Evgeniou and
Pontil (2008): Q_j ∝ (W_jW_j')^{1/2}. A perturbation keeps it invertible, without which
no direction that is lost comes back; it is halved whenever V has settled.

References
----------
P. Jawanpuria, J. S. Nath, Multi-task multiple kernel learning, SIAM International
Conference on Data Mining, 2011.
"""

import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from mtmkl.solvers.solution import (
    Certificate,
    Solution,
    Status,
    relative_gap,
    warn_if_stopped,
)
from mtmkl.solvers.svm.inner import (
    FINEST_ACCURACY,
    Inner,
    first_accuracy,
    next_accuracy,
)
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals, remedy_of
from mtmkl.solvers.weights.mixed_schatten import SchattenProblem, one_gram
from mtmkl.typing import FloatArray

_GROWTH, _CUT = 2.0, 0.5
_ROUNDING = 1e-13
_PERTURBATION, _LEAST_PERTURBATION = 1e-3, 1e-12
_FINEST = 1e-10  # accuracy of machines beyond which nothing is gained


@dataclass
class _Visited:
    """Machines at some Q: roots with R_jR_j' = Q_j, traces ρ, and what they are worth.

    ``logs`` are the log Q_j of mirror descent, and ``B`` is B', shape (T, D).
    """

    roots: list[FloatArray]
    traces: FloatArray
    logs: list[FloatArray]
    state: TaskDuals
    inner: Inner
    B: FloatArray


class MixedSchattenDescent:
    """Solutions for many C, each started from the last Q."""

    def __init__(
        self,
        problem: SchattenProblem,
        *,
        solver: str = "mirror_descent",
        step: float | None = None,
        tol: float = 1e-4,
        max_iter: int = 5000,
    ) -> None:
        self.problem = problem
        self.solver = solver
        self.step = step
        self.tol = tol
        self.max_iter = max_iter
        dims = np.diff(problem.ends)
        self.used = np.flatnonzero(dims)
        share = self._normalised(np.ones(self.used.size))
        self._start = (
            [np.sqrt(r / dims[j]) * np.eye(dims[j]) for r, j in self._pairs(share)],
            share,
            [np.log(r / dims[j]) * np.eye(dims[j]) for r, j in self._pairs(share)],
        )
        self._beta = np.zeros(problem.tasks.c.size)
        self._C: float | None = None

    def _pairs(self, values: FloatArray) -> "zip[tuple[float, int]]":
        return zip(values.tolist(), self.used.tolist(), strict=True)

    def _blocks(self, S: FloatArray) -> list[FloatArray]:
        """Return the blocks of the kernels that have coordinates."""
        ends = self.problem.ends
        return [S[:, ends[j] : ends[j + 1]] for j in self.used]

    def _normalised(self, traces: FloatArray) -> FloatArray:
        """Return positive traces with Σ_j ρ_j^q̄ = 1."""
        q = self.problem.q
        if q == 2.0:
            return np.ones_like(traces)
        order = q / (2.0 - q)
        top = float(traces.max(initial=0.0))
        if top == 0.0:
            return np.full_like(traces, max(traces.size, 1) ** (-1.0 / order))
        scaled = traces / top
        out: FloatArray = scaled / np.sum(scaled**order) ** (1.0 / order)
        return out

    def solve(self, C: float) -> Solution:
        """Solve for one C; returns what :meth:`MixedSchattenPath.solve` does."""
        begin = time.process_time()
        problem = self.problem
        if self._C is not None and C < self._C:
            self._beta = self._beta * (C / self._C)
        self._C = C
        accuracy = first_accuracy(self.tol)
        floor = problem.tasks.floor(C)
        here = self._visit(*self._start, C, self._beta, accuracy)
        length, perturbation, n_iter = self.step, _PERTURBATION, 0
        bound, best_beta = -np.inf, here.state.beta
        history: list[float] = []
        seconds: list[float] = []
        status: Status | None = None
        while status is None:
            value, share = self._bound(here)
            if value > bound:
                bound, best_beta = value, share * here.state.beta
            gap = relative_gap(here.inner.primal, bound, floor)
            history.append(here.inner.primal)
            seconds.append(time.process_time() - begin)
            inner_gap = relative_gap(here.inner.primal, here.inner.dual, floor)
            if gap <= self.tol:
                status = "converged"
            elif here.inner.limit and inner_gap > 0.5 * gap:
                status = "stalled"
            elif n_iter >= self.max_iter:
                status = "stopped"
            elif inner_gap > max(0.1 * gap, 0.3 * self.tol) and accuracy > _FINEST:
                accuracy = max(0.1 * accuracy, FINEST_ACCURACY)
                inner = here.state.solve(np.ones(1), accuracy)
                here.inner = inner
                here.B = problem.duals_in_features(here.state.beta)
                history.pop()
                seconds.pop()
            elif self.solver == "alternating":
                if n_iter and history[-2] - history[-1] < self.tol * abs(history[-1]):
                    perturbation = max(0.5 * perturbation, _LEAST_PERTURBATION)
                moved = self._best(here, perturbation)
                here = self._visit(*moved, C, here.state.beta, accuracy)
                n_iter += 1
            else:
                here, length = self._mirror_step(here, length, C, accuracy)
                n_iter += 1
        self._start = (here.roots, here.traces, here.logs)
        self._beta = here.state.beta
        return self._result(
            here, bound, best_beta, n_iter, status, history, seconds, floor
        )

    def _visit(
        self,
        roots: list[FloatArray],
        traces: FloatArray,
        logs: list[FloatArray],
        C: float,
        beta: FloatArray,
        accuracy: float,
    ) -> _Visited:
        """Solve the machines at Q_j = R_jR_j', from β."""
        problem = self.problem
        features = np.concatenate(
            [Z @ R for Z, R in zip(self._blocks(problem.factors), roots, strict=True)],
            axis=1,
        )
        sizes = problem.tasks.blocks.sizes
        tasks = DualProblem.of(
            problem.tasks.c,
            one_gram(features, sizes),
            epsilon=None if problem.tasks.is_classification else problem.tasks.epsilon,
        )
        state = TaskDuals(tasks, C)
        state.start(beta)
        inner = state.solve(np.ones(1), accuracy)
        while not inner.limit and accuracy > _FINEST:
            allowed = 0.3 * self.tol * max(abs(inner.primal), tasks.floor(C))
            if inner.primal - inner.dual <= allowed:
                break
            accuracy = next_accuracy(accuracy, inner, 0.5 * allowed)
            inner = state.solve(np.ones(1), accuracy)
        B = problem.duals_in_features(state.beta)
        return _Visited(roots, traces, logs, state, inner, B)

    def _bound(self, here: _Visited) -> tuple[float, float]:
        """Return the dual's value at the best multiple of β, and the multiple."""
        largest = np.array([np.linalg.norm(B, 2) for B in self._blocks(here.B)])
        return self.problem.dual_value(here.state.beta, largest)

    def _mirror_step(
        self, here: _Visited, length: float | None, C: float, accuracy: float
    ) -> tuple[_Visited, float]:
        """Return the next point, and the step to try there."""
        squares = [B.T @ B for B in self._blocks(here.B)]
        if length is None:
            largest = max((float(np.trace(each)) for each in squares), default=0.0)
            length = 2.0 / max(largest, 1e-300)
        while True:
            moved = self._moved(here, squares, length)
            there = self._visit(*moved, C, here.state.beta, accuracy)
            if self.step is not None:
                return there, length
            slope = divergence = 0.0
            old = zip(here.roots, here.logs, squares, strict=True)
            new = zip(there.roots, there.logs, strict=True)
            for (R, log, square), (R_new, log_new) in zip(old, new, strict=True):
                slope -= 0.5 * float(np.sum((square @ R_new) * R_new))
                slope += 0.5 * float(np.sum((square @ R) * R))
                divergence += float(np.sum(((log_new - log) @ R_new) * R_new))
            divergence += float(here.traces.sum() - there.traces.sum())
            noise = here.inner.primal - here.inner.dual
            ceiling = here.inner.dual + slope + divergence / length + noise
            if there.inner.dual <= ceiling + _ROUNDING * abs(ceiling):
                return there, length * _GROWTH
            length *= _CUT

    def _moved(
        self, here: _Visited, squares: list[FloatArray], length: float
    ) -> tuple[list[FloatArray], FloatArray, list[FloatArray]]:
        """Return roots, traces and logarithms of the mirror step's Q."""
        spectra = [
            np.linalg.eigh(log + 0.5 * length * square)
            for log, square in zip(here.logs, squares, strict=True)
        ]
        totals = np.array([logsumexp(values) for values, _ in spectra])
        traces = traces_of(totals, self.problem.q)
        roots, logs = [], []
        for (values, V), total, rho in zip(spectra, totals, traces, strict=True):
            shifted = values + np.log(rho) - total
            roots.append(V * np.exp(0.5 * shifted))
            logs.append((V * shifted) @ V.T)
        return roots, traces, logs

    def _best(
        self, here: _Visited, perturbation: float
    ) -> tuple[list[FloatArray], FloatArray, list[FloatArray]]:
        """Return roots, traces and logarithms of the Q that is best for the models.

        It is taken from (W_jW_j' + ε²‖W_j‖²_tr I)^{1/2}, ε the perturbation.
        """
        values, vectors, norms = [], [], []
        for R, B in zip(here.roots, self._blocks(here.B), strict=True):
            W = R @ (R.T @ B.T)
            V, s, _ = np.linalg.svd(W, full_matrices=W.shape[0] > W.shape[1])
            padded = np.zeros(W.shape[0])
            padded[: s.size] = s
            values.append(padded)
            vectors.append(V)
            norms.append(float(s.sum()))
        n = np.array(norms)
        top = float(n.max(initial=0.0))
        if top == 0.0:
            return here.roots, here.traces, here.logs
        scaled = (n / top) ** (2.0 - self.problem.q)
        least = perturbation ** (2.0 - self.problem.q)
        traces = self._normalised(np.maximum(scaled, least))
        roots, logs = [], []
        for s, V, norm, rho in zip(values, vectors, n, traces, strict=True):
            ridge = perturbation * (norm if norm > 0.0 else 1.0)
            weights = np.sqrt(s**2 + ridge**2)
            weights *= rho / weights.sum()
            roots.append(V * np.sqrt(weights))
            logs.append((V * np.log(weights)) @ V.T)
        return roots, traces, logs

    def _result(
        self,
        here: _Visited,
        bound: float,
        beta: FloatArray,
        n_iter: int,
        status: Status,
        history: list[float],
        seconds: list[float],
        floor: float,
    ) -> Solution:
        problem = self.problem
        inner = here.state.evaluate(np.ones(1))
        history[-1] = inner.primal
        W = np.zeros_like(here.B)
        ends = problem.ends
        blocks = zip(self.used, here.roots, self._blocks(here.B), strict=True)
        for j, R, B in blocks:
            W[:, ends[j] : ends[j + 1]] = (B @ R) @ R.T
        _, norms = problem.norm(W)
        certificate = Certificate(
            objective=inner.primal,
            dual_objective=bound,
            n_iter=n_iter,
            status=status,
            history=np.array(history),
            floor=floor,
        )
        warn_if_stopped(
            certificate,
            f"{self.solver.replace('_', ' ')}, C={here.state.C:g}, q={problem.q:g}",
            self.tol,
            remedy=remedy_of(problem.tasks),
            limit=inner.limit,
            stacklevel=5,
        )
        return Solution(
            coef=W,
            certificate=certificate,
            dual=beta,
            intercept=here.state.intercept,
            extra={
                "norms": norms,
                "ranks": np.array(
                    [
                        int(np.linalg.matrix_rank(W[:, a:b])) if b > a else 0
                        for a, b in pairwise(ends)
                    ]
                ),
                "seconds": np.array(seconds),
            },
        )


def traces_of(totals: FloatArray, q: float) -> FloatArray:
    """Return the ρ that minimises Σ_j ρ_j (log ρ_j − L_j − 1) over Σ_j ρ_j^q̄ ≤ 1.

    For given multiplier μ, log ρ_j solves x + μ e^{(q̄−1)x} = L_j, a rising function;
    μ is the root of Σ_j ρ_j^q̄ = 1.
    """
    if q == 1.0 or totals.size == 0:
        return np.exp(totals - logsumexp(totals)) if totals.size else totals
    if q == 2.0:
        return np.minimum(np.exp(np.minimum(totals, 0.0)), 1.0)
    order = q / (2.0 - q)

    def excess(log_mu: float) -> float:
        return float(logsumexp(order * _log_traces(totals, log_mu, order)))

    low = high = float(totals.max())
    while excess(low) < 0.0 and low > -1e3:
        low -= 10.0
    while excess(high) > 0.0:
        high += 10.0 + abs(high)
    if excess(low) <= 0.0:
        return np.exp(totals)
    log_mu = brentq(excess, low, high, xtol=1e-14, rtol=1e-15)
    logs = _log_traces(totals, log_mu, order)
    return np.exp(logs - logsumexp(order * logs) / order)


def _log_traces(totals: FloatArray, log_mu: float, order: float) -> FloatArray:
    """Return the x with x + e^{log μ + (q̄ − 1)x} = L, by Newton's method."""
    # From the right of the root of a convex rising function it falls to it.
    x = totals.copy()
    with np.errstate(over="ignore"):
        big = log_mu + (order - 1.0) * x > 0.0
        x[big] = np.minimum(
            x[big],
            (np.log(np.maximum(np.abs(totals[big]), 1.0) + 1e3) - log_mu)
            / (order - 1.0),
        )
    for _ in range(200):
        weight = np.exp(np.minimum(log_mu + (order - 1.0) * x, 700.0))
        step = (x + weight - totals) / (1.0 + (order - 1.0) * weight)
        x = x - step
        if np.abs(step).max() <= 1e-15 * max(float(np.abs(x).max()), 1.0):
            break
    return x
