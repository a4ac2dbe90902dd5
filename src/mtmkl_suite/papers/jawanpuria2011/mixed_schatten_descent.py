r"""Mirror descent over matrices, MK-MTSFL of Jawanpuria and Nath (2011), section 4.

Also alternate minimisation, with which the paper compares it. Both solve the problem of
:mod:`mtmkl.solvers.weights.mixed_schatten` and visit matrices Q_j of the size of the
coordinates, with machines of single tasks on Σ_j φ_j'Q_jφ_j at each, whose objective
V(Q) is convex with the gradient −½ B_jB_j'.

Mirror descent in the entropy geometry takes the Q⁺ that minimises, over
Σ_j (tr Q_j)^q̄ ≤ 1,

    −½ Σ_j tr(Q_jB_jB_j') + D(Q ‖ Q_old)/s,    D the relative entropy,

that is Q_j⁺ = ρ_j exp(M_j)/tr exp(M_j) with M_j = log Q_j + ½s B_jB_j' and ρ the
minimum of Σ_j ρ_j (log ρ_j − log tr exp M_j − 1) over Σ_j ρ_j^q̄ ≤ 1, problem (4.5) of
the paper. At q = 1, ρ_j ∝ tr exp(M_j); at q = 2, ρ = 1.

Alternate minimisation takes the best Q for the models, after Argyriou, Evgeniou and
Pontil (2008): Q_j ∝ (W_jW_j')^{1/2}. A perturbation keeps it invertible, without which
no direction that is lost comes back. It leaves a gap, by which it makes Σ_j tr Q_j
larger, and is halved whenever the gap is down to that: never while directions that are
missing still grow.
"""

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, wrightomega

from mtmkl.methods.mkmtsfl import MKMTSFLRegressor
from mtmkl.solvers.descent import Inner, first_tolerance, next_tolerance
from mtmkl.solvers.solution import (
    Solution,
    Status,
    certified,
    relative_gap,
    warn_if_stopped,
)
from mtmkl.solvers.svm.task_duals import TaskDuals, remedy_of
from mtmkl.solvers.weights.mixed_schatten import SchattenProblem, one_gram
from mtmkl.typing import FloatArray
from mtmkl_suite.papers.jawanpuria2011.mixed_norm_descent import CUT, GROWTH, ROUNDING

_PERTURBATION = 1e-3
_NEAR = 1.0  # times the gap that a perturbation leaves
_FINEST = 1e-10  # accuracy of machines beyond which nothing is gained


class _Timed(MKMTSFLRegressor):
    """MK-MTSFL for regression, with ``seconds_`` at the entries of its history."""

    def _keep(self, prepared: Any, solution: Solution) -> None:
        super()._keep(prepared, solution)
        self.seconds_ = solution.extra["seconds"]


class MirrorDescentMKMTSFL(_Timed):
    """MK-MTSFL for regression by mirror descent."""

    def _path(self, problem: SchattenProblem) -> Callable[[float], Solution]:
        return SchattenDescent(problem, tol=self.tol, max_iter=self.max_iter).solve


class AlternatingMKMTSFL(_Timed):
    """MK-MTSFL for regression by alternate minimisation."""

    def _path(self, problem: SchattenProblem) -> Callable[[float], Solution]:
        return SchattenAlternation(problem, tol=self.tol, max_iter=self.max_iter).solve


@dataclass(frozen=True)
class Matrices:
    """Roots R_j with R_jR_j' = Q_j, and log Q_j."""

    roots: list[FloatArray]
    logs: list[FloatArray]

    @classmethod
    def of(cls, vectors: list[FloatArray], logs: list[FloatArray]) -> "Matrices":
        """Return the matrices of eigenvectors and logarithms of eigenvalues."""
        pairs = list(zip(vectors, logs, strict=True))
        return cls(
            [V * np.exp(0.5 * values) for V, values in pairs],
            [(V * values) @ V.T for V, values in pairs],
        )


@dataclass(frozen=True)
class _Visited:
    """Machines at some matrices, and their B'."""

    Q: Matrices
    state: TaskDuals
    inner: Inner
    B: FloatArray


@dataclass(eq=False)
class SchattenDescent:
    """Solutions for many C by mirror descent, each started from the last Q."""

    problem: SchattenProblem
    _: KW_ONLY
    tol: float = 1e-4
    max_iter: int = 5000
    label: ClassVar[str] = "mirror descent"

    def __post_init__(self) -> None:
        dims = np.diff(self.problem.ends)
        traces = normalised(np.ones(dims.size), self.problem.q)
        pairs = zip(traces, dims, strict=True)
        self._Q = Matrices.of(
            [np.eye(d) for d in dims],
            [np.full(d, np.log(rho / max(d, 1))) for rho, d in pairs],
        )
        self._beta, self._C = np.zeros(self.problem.tasks.c.size), 1.0

    def solve(self, C: float) -> Solution:
        """Solve for one C; returns what :meth:`MixedSchattenPath.solve` does.

        ``extra["seconds"]`` are since the start, at the entries of the history.
        """
        begin = time.process_time()
        floor = self.problem.tasks.floor(C)
        self.length: float | None = None
        here = self._visit(self._Q, C, self._beta * min(C / self._C, 1.0))
        bound, best = -np.inf, here.state.beta
        history, seconds = list[float](), list[float]()
        status: Status | None = None
        while True:
            largest = [np.linalg.norm(B, 2) for B in self._blocks(here.B)]
            value, share = self.problem.dual_value(here.state.beta, np.array(largest))
            if value > bound:
                bound, best = value, share * here.state.beta
            history.append(here.inner.primal)
            seconds.append(time.process_time() - begin)
            gap, inner_gap = (
                relative_gap(here.inner.primal, lower, floor)
                for lower in (bound, here.inner.dual)
            )
            self.gap = gap
            if gap <= self.tol:
                status = "converged"
            elif here.inner.limit and inner_gap > 0.5 * gap:
                status = "stalled"
            elif len(history) > self.max_iter:
                status = "stopped"
            if status:
                break
            here = self._next(here)
        self._Q, self._beta, self._C = here.Q, here.state.beta, C
        certificate = certified(history, bound, len(history) - 1, status, floor)
        warn_if_stopped(
            certificate,
            f"{self.label}, C={C:g}, q={self.problem.q:g}",
            self.tol,
            remedy=remedy_of(self.problem.tasks),
            limit=here.inner.limit,
            stacklevel=4,
        )
        pairs = zip(self._blocks(here.B), here.Q.roots, strict=True)
        models = [B @ R @ R.T for B, R in pairs]
        return Solution(
            coef=np.concatenate(models, axis=1),
            certificate=certificate,
            dual=best,
            intercept=here.state.intercept,
            extra={
                "norms": np.array([np.linalg.norm(W, "nuc") for W in models]),
                "ranks": np.array([np.linalg.matrix_rank(W) for W in models]),
                "seconds": np.array(seconds),
            },
        )

    def _blocks(self, stacked: FloatArray) -> list[FloatArray]:
        return np.split(stacked, self.problem.ends[1:-1], axis=1)

    def _visit(self, Q: Matrices, C: float, beta: FloatArray) -> _Visited:
        """Solve the machines at Q, from β, to a share of the tolerance."""
        problem = self.problem
        pairs = zip(self._blocks(problem.factors), Q.roots, strict=True)
        features = np.concatenate([Z @ R for Z, R in pairs], axis=1)
        gram = one_gram(features, problem.tasks.blocks.sizes)
        state = problem.machines(gram, C, beta)
        accuracy = first_tolerance(self.tol)
        while True:
            inner = state.solve(np.ones(1), accuracy)
            size = max(abs(inner.primal), problem.tasks.floor(C))
            allowed = 0.3 * self.tol * size
            is_finest = bool(inner.limit) or accuracy <= _FINEST
            if inner.primal - inner.dual <= allowed or is_finest:
                return _Visited(Q, state, inner, problem.duals_in_features(state.beta))
            accuracy = next_tolerance(accuracy, inner, 0.5 * allowed)

    def _next(self, here: _Visited) -> _Visited:
        squares = [B.T @ B for B in self._blocks(here.B)]
        if self.length is None:
            largest = max(float(np.trace(each)) for each in squares)
            self.length = 2.0 / max(largest, 1e-300)
        while True:
            there = self._visit(
                self._moved(here.Q, squares, self.length), here.state.C, here.state.beta
            )
            slope = divergence = 0.0
            old = zip(here.Q.roots, here.Q.logs, strict=True)
            new = zip(there.Q.roots, there.Q.logs, strict=True)
            for square, (R, log), (R_new, log_new) in zip(
                squares, old, new, strict=True
            ):
                slope += 0.5 * _trace(square, R) - 0.5 * _trace(square, R_new)
                divergence += _trace(log_new - log, R_new)
                divergence += float(np.sum(R**2) - np.sum(R_new**2))
            noise = here.inner.primal - here.inner.dual
            ceiling = here.inner.dual + slope + divergence / self.length + noise
            if there.inner.dual <= ceiling + ROUNDING * abs(ceiling):
                self.length *= GROWTH
                return there
            self.length *= CUT

    def _moved(self, Q: Matrices, squares: list[FloatArray], length: float) -> Matrices:
        """Return the mirror step's Q."""
        spectra = [
            np.linalg.eigh(log + 0.5 * length * square)
            for log, square in zip(Q.logs, squares, strict=True)
        ]
        totals = np.array([logsumexp(values) for values, _ in spectra])
        shifts = np.log(traces_of(totals, self.problem.q)) - totals
        return Matrices.of(
            [V for _, V in spectra],
            [
                values + shift
                for (values, _), shift in zip(spectra, shifts, strict=True)
            ],
        )


class SchattenAlternation(SchattenDescent):
    """Solutions for many C by alternate minimisation, each started from the last Q."""

    label = "alternating"

    def solve(self, C: float) -> Solution:
        """Solve for one C; returns what :meth:`MixedSchattenPath.solve` does."""
        self.perturbation, self.cost = _PERTURBATION, 0.0
        return super().solve(C)

    def _next(self, here: _Visited) -> _Visited:
        if self.gap < _NEAR * self.cost:
            self.perturbation *= 0.5
        return self._visit(self._best(here), here.state.C, here.state.beta)

    def _best(self, here: _Visited) -> Matrices:
        """Return the Q that is best for the models.

        It is taken from (W_jW_j' + ε²‖W_j‖²_tr I)^{1/2}, ε the perturbation.
        """
        spectra, norms = [], []
        for R, B in zip(here.Q.roots, self._blocks(here.B), strict=True):
            W = R @ (R.T @ B.T)
            V, s, _ = np.linalg.svd(W, full_matrices=W.shape[0] > W.shape[1])
            spectra.append((V, np.pad(s, (0, W.shape[0] - s.size))))
            norms.append(float(s.sum()))
        if max(norms) == 0.0:
            return here.Q
        order, epsilon = 2.0 - self.problem.q, self.perturbation
        shares = (np.array(norms) / max(norms)) ** order
        traces = normalised(np.maximum(shares, epsilon**order), self.problem.q)
        logs, total = [], 0.0
        for (_, s), norm, rho in zip(spectra, norms, traces, strict=True):
            weights = np.hypot(s, epsilon * (norm or 1.0))
            total += weights.sum()
            logs.append(np.log(weights * (rho / weights.sum())))
        self.cost = (total / sum(norms)) ** 2 - 1.0
        return Matrices.of([V for V, _ in spectra], logs)


def _trace(M: FloatArray, R: FloatArray) -> float:
    """Return tr(M RR')."""
    return float(np.sum((M @ R) * R))


def normalised(traces: FloatArray, q: float) -> FloatArray:
    """Return positive traces, the largest 1, scaled to Σ_j ρ_j^q̄ = 1."""
    if q == 2.0:
        return np.ones_like(traces)
    order = q / (2.0 - q)
    scaled: FloatArray = traces / np.sum(traces**order) ** (1.0 / order)
    return scaled


def traces_of(totals: FloatArray, q: float) -> FloatArray:
    """Return the ρ that minimises Σ_j ρ_j (log ρ_j − L_j − 1) over Σ_j ρ_j^q̄ ≤ 1.

    For a given multiplier μ, log ρ_j solves x + μ e^{ax} = L_j with a = q̄ − 1, so that
    x = L_j − ω(log aμ + aL_j)/a with Wright's ω; μ is the root of Σ_j ρ_j^q̄ = 1.
    """
    if q == 1.0:
        return np.exp(totals - logsumexp(totals))
    if q == 2.0:
        return np.exp(np.minimum(totals, 0.0))
    order = q / (2.0 - q)
    a = order - 1.0

    def logs(log_mu: float) -> FloatArray:
        x: FloatArray = totals - wrightomega(np.log(a) + log_mu + a * totals) / a
        return x

    def excess(log_mu: float) -> float:
        return float(logsumexp(order * logs(log_mu)))

    low, high = -700.0, 0.0
    if excess(low) <= 0.0:
        return np.exp(totals)
    while excess(high) > 0.0:
        high += 10.0 + abs(high)
    x = logs(brentq(excess, low, high, xtol=1e-14, rtol=1e-15))
    return np.exp(x - logsumexp(order * x) / order)
