r"""Multiple kernel learning with a p-norm over the tasks and a sum over the kernels.

The problem of MK-MTFL in Jawanpuria and Nath (2011), section 3, over models w_tj of T
tasks in k kernels, for p ≥ 2,

    min  ½ (Σ_j (Σ_t ‖w_tj‖^p)^{1/p})² + C Σ loss
      =  min over γ ≥ 0, 1'γ ≤ 1 of f(γ),
    f(γ) = min  ½ Σ_j (Σ_t ‖w_tj‖^p)^{2/p} / γ_j + C Σ loss,

whose dual is max_β  ℓ(β) − max_j Q_j(β), with Q below. f is convex with the gradient
−Q, and Newton's method over γ is that of
:mod:`mtmkl.solvers.weights.pairwise_sharing` for tasks that are tied.

For p = 2 f is the value of machines on Σ_j γ_j K_tj: all tasks have one weight per
kernel. Otherwise, with λ_j ≥ 0 and Σ_t λ_jt^p̄ ≤ 1, p̄ = p/(p − 2), eq. (3.3) of the
paper is

    f(γ) = max_λ V(η),   η_tj = γ_j/λ_jt,   V(η) = max_β ℓ(β) − Σ_tj η_tj q_tj(β_t),

q_tj = ½ β_t'K_tjβ_t, or, by its Lemma 3.1, f(γ) = max_β ℓ(β) − Σ_j γ_j Q_j(β) with

    Q_j = min_λ Σ_t q_tj/λ_jt = (Σ_t q_tj^{p̄/(p̄+1)})^{(p̄+1)/p̄},   λ_jt ∝ q_tj^{1/(p̄+1)}:

a problem of the kind of :mod:`mtmkl.solvers.descent`. The paper alternates between λ
and β. That converges at the rate (p − 2)/(p − 1) where the machines interpolate, which
is slow. V is concave in λ = γ/η; here λ takes Newton steps, and where V would fall that
of the paper. With M_t = ηV_t''η and r = ηq the Newton matrix in relative changes of λ
is diag(2r + (p̄ − 1)μλ^p̄) − M_t of each task, μ_j = Σ_t r_tj, and the tasks are
coupled by the constraints alone. M_t has the rank of the free variables of its task, so
that no matrix of all pairs of kernels is inverted. The same matrix gives f''.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.solvers.descent import Inner
from mtmkl.solvers.solution import Solution
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals
from mtmkl.solvers.weights.pairwise_sharing import PairwiseSharingPath
from mtmkl.typing import FloatArray, IntArray

_FLOOR = 0.1  # of λ, by its share of the accuracy
_LONGEST_STEP = 2.0  # of log λ
_MAX_STEPS = 100
_ROUNDING = 1e-13


class MixedNormDuals(TaskDuals):
    """The duals of all tasks for weights γ of the kernels: machines at η, and λ.

    All tasks of the problem have the same weights; p is above 2, and there are two
    tasks at least: otherwise there is no λ to find. ``lam`` (T, k) is that of the last
    solution, by numbers of weights.
    """

    def __init__(self, problem: DualProblem, C: float, p: float) -> None:
        self.p = p
        self.order = p / (p - 2.0)  # p̄
        shape = (problem.n_tasks, problem.n_weights)
        own = problem.n_weights * np.arange(problem.n_tasks)[:, None] + problem.weight
        super().__init__(replace(problem, weight=own, n_weights=shape[0] * shape[1]), C)
        self._weight = problem.weight
        self._equal = problem.n_tasks ** (-1.0 / self.order)
        self.lam = np.full(shape, self._equal)

    def solve(self, weights: FloatArray, tolerance: float) -> Inner:
        """Solve until neither machines nor λ are further from the optimum.

        Parameters
        ----------
        weights : ndarray of shape (k,)
            γ.
        tolerance : float
            Of the machines, as for :meth:`TaskDuals.solve`, and of λ, relative to the
            objective; infinite for the values at the present β.
        """
        point = self._solve_at(self.lam, weights, tolerance)
        if tolerance == np.inf:
            return point
        floor = self.problem.floor(self.C)
        for _ in range(_MAX_STEPS):
            allowed = tolerance * max(abs(point.primal), floor)
            if point.excess <= allowed or point.limit:
                break
            before = point
            least = before.dual - _ROUNDING * abs(before.dual)
            lam = self._newton(before, weights, tolerance)
            point = self._solve_at(lam, weights, tolerance)
            if not point.dual >= least:
                # By the paper's step neither λ nor β makes it less.
                lam = self._best(before.by_task, tolerance)
                point = self._solve_at(lam, weights, tolerance)
            self.lam = point.lam
            if point.dual < least:
                break  # Rounding, or the machines' accuracy, is all that is left.
        best = self._best(point.by_task, tolerance)
        self.lam = np.where(weights > 0.0, point.lam, best)
        self._q = point.by_task
        return point

    def evaluate(self, weights: FloatArray) -> Inner:
        """Return the value of β for given weights, with all sums from scratch."""
        inner = super().evaluate((weights / self.lam).ravel())
        return self._point(self.lam, weights, inner)

    def curvature(self, weights: FloatArray) -> FloatArray:
        """Return f''(γ), shape (k, k), at the last solution."""
        system = self._system(self.lam, self._q, weights)
        active, D = system.active, (self._q / self.lam)[:, system.active]
        # V'' by γ is bent'bent. By γ and the relative changes of λ it is
        # diag(D) − inner'bent, whose product with the root of the inverse follows.
        bent = system.roots / self.lam[:, None]
        X = system.scaled * D[:, None]
        Y = -system.scaled @ (system.inner.swapaxes(1, 2) @ bent)
        out: FloatArray = _summed(bent, bent - Y)
        Y[..., active] += X
        corner = np.zeros_like(out)
        corner[:, active] = _summed(bent, X)
        out -= corner + corner.T
        out[active, active] += np.sum(D**2 / system.diagonal, axis=0)
        Z = np.linalg.solve(system.small, Y)
        out += _summed(Y, Z)
        R = _summed(system.scaled * system.normal[:, None], Z - bent)
        own = np.arange(active.size)
        R[own, active] += np.sum(system.normal * D / system.diagonal, axis=0)
        out -= R.T @ np.linalg.solve(system.coupling, R)
        return 0.5 * (out + out.T)

    def _newton(
        self, point: "_Point", weights: FloatArray, tolerance: float
    ) -> FloatArray:
        """Return λ after a step of Newton's method."""
        system = self._system(point.lam, point.by_task, weights)
        if system.active.size == 0:
            return point.lam
        A = system.normal
        residual = system.energy - system.multipliers * A
        step = system.inverse(residual)
        nu = np.linalg.solve(system.coupling, np.sum(A * step, axis=0))
        step = step - system.inverse(A * nu)
        lam = self._best(point.by_task, tolerance)
        chosen = point.lam[:, system.active]
        # The paper's step does not overshoot; a long one of Newton's might.
        is_far = np.abs(np.log(lam[:, system.active] / chosen)) > _LONGEST_STEP
        near = chosen * np.exp(np.clip(step, -_LONGEST_STEP, _LONGEST_STEP))
        lam[:, system.active] = np.where(is_far, lam[:, system.active], near)
        return self._normalised(lam, tolerance)

    def _best(self, q: FloatArray, tolerance: float) -> FloatArray:
        """Return the λ of Lemma 3.1, (T, k)."""
        largest = q.max(axis=0)
        scaled = np.where(largest > 0.0, q / np.where(largest > 0.0, largest, 1.0), 1.0)
        return self._normalised(scaled ** (1.0 / (self.order + 1.0)), tolerance)

    def _normalised(self, lam: FloatArray, tolerance: float) -> FloatArray:
        """Return λ on the sphere of the p̄-norm, none so small that rounding has it.

        What the least λ adds to the p̄-norm is below the accuracy.
        """
        lam = lam / lam.max(axis=0)
        lam = lam / np.sum(lam**self.order, axis=0) ** (1.0 / self.order)
        least = (_FLOOR * tolerance) ** (1.0 / self.order) * self._equal
        floored: FloatArray = np.maximum(lam, least)
        return floored

    def _solve_at(
        self, lam: FloatArray, weights: FloatArray, tolerance: float
    ) -> "_Point":
        """Solve the machines for given λ and γ."""
        inner = super().solve((weights / lam).ravel(), tolerance)
        return self._point(lam, weights, inner)

    def _point(self, lam: FloatArray, weights: FloatArray, inner: Inner) -> "_Point":
        q = np.maximum(inner.q.reshape(lam.shape), 0.0)
        eta = weights / lam
        share = self.order / (self.order + 1.0)
        Q = _norm(q, share)
        used = weights > 0.0
        norms = np.zeros(weights.size)
        norms[used] = _norm((eta**2 * q)[:, used], 0.5 * self.p) / weights[used]
        penalty, dual = float(norms.sum()), float(weights @ Q)
        loss = inner.primal - float(np.sum(eta * q))
        return _Point(
            q=Q,
            linear=inner.linear,
            primal=penalty + loss,
            dual=inner.linear - dual,
            limit=inner.limit,
            lam=lam,
            by_task=q,
            excess=penalty - dual,
        )

    def _system(self, lam: FloatArray, q: FloatArray, weights: FloatArray) -> "_System":
        """Return the matrices of Newton's method at the present β."""
        eta = weights / lam
        energy = eta * q
        multipliers = energy.sum(axis=0)
        active = np.flatnonzero((weights > 0.0) & (multipliers > 0.0))
        factors, counts = self.curvature_factors(eta.ravel())
        rows = np.arange(max(int(counts.max()), 1))
        taken = np.minimum(self.problem.offsets[:-1, None] + rows, len(factors) - 1)
        is_one = (rows < counts[:, None])[..., None]
        roots = np.zeros((counts.size, rows.size, weights.size))
        np.put_along_axis(roots, self._weight[:, None], is_one * factors[taken], axis=2)
        normal = lam[:, active] ** self.order
        diagonal = 2.0 * energy[:, active]
        diagonal += (self.order - 1.0) * multipliers[active] * normal
        diagonal = np.maximum(diagonal, 1e-30 * diagonal.max(initial=1e-270))
        return _System(
            active=active,
            roots=roots,
            inner=roots[..., active] * eta[:, None, active],
            energy=energy[:, active],
            multipliers=multipliers[active],
            diagonal=diagonal,
            normal=normal,
        )


@dataclass(frozen=True, kw_only=True)
class _Point(Inner):
    """The machines at some λ: q_tj (T, k), and the excess of λ over the best."""

    lam: FloatArray
    by_task: FloatArray
    excess: float


@dataclass
class _System:
    """Newton's matrices diag(S_t) − inner_t'inner_t of the active kernels.

    Tasks of fewer rows than others have rows of 0.
    """

    active: IntArray
    roots: FloatArray  # (T, rows, k), U_t with V_t'' = U_t'U_t
    inner: FloatArray  # (T, rows, a), U_tη
    energy: FloatArray  # (T, a), r
    multipliers: FloatArray  # (a,), μ
    diagonal: FloatArray  # (T, a), S
    normal: FloatArray  # (T, a), λ^p̄, the gradient of the constraints

    def __post_init__(self) -> None:
        self.scaled = self.inner / self.diagonal[:, None]
        # I − inner S⁻¹ inner', by which the inverse differs from S⁻¹
        self.small = -self.scaled @ self.inner.swapaxes(1, 2)
        self.small += np.eye(self.small.shape[1])
        # Sum over the tasks of normal'(matrix)⁻¹normal, (a, a)
        F = self.scaled * self.normal[:, None]
        self.coupling = _summed(F, np.linalg.solve(self.small, F))
        own = np.arange(self.active.size)
        self.coupling[own, own] += np.sum(self.normal**2 / self.diagonal, axis=0)

    def inverse(self, right: FloatArray) -> FloatArray:
        """Return (matrix)⁻¹ right of each task, (T, a)."""
        F = self.scaled @ right[..., None]
        G = np.linalg.solve(self.small, F)
        change: FloatArray = (self.scaled.swapaxes(1, 2) @ G)[..., 0]
        return right / self.diagonal + change


def _summed(left: FloatArray, right: NDArray[Any]) -> FloatArray:
    """Return Σ_t left_t' right_t of matrices of as many rows."""
    rows = left.shape[0] * left.shape[1]
    sums: FloatArray = left.reshape(rows, -1).T @ right.reshape(rows, -1)
    return sums


def _norm(values: FloatArray, order: float) -> FloatArray:
    """Return (Σ_t v_tj^order)^{1/order} of values ≥ 0 of any size."""
    largest = values.max(axis=0)
    unit = np.where(largest > 0.0, largest, 1.0)
    sums: FloatArray = np.sum((values / unit) ** order, axis=0) ** (1.0 / order)
    return largest * sums


class MixedNormPath:
    """Solutions for many C, each started from the last.

    Parameters
    ----------
    problem : DualProblem
        All tasks with the same weights.
    p : float
        At least 2.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on visited weights.
    """

    def __init__(
        self, problem: DualProblem, p: float, *, tol: float = 1e-4, max_iter: int = 500
    ) -> None:
        self._newton = PairwiseSharingPath(
            problem,
            tol=tol,
            max_iter=max_iter,
            duals=partial(duals_of, problem, p),
            label=f"mixed norms, C={{C:g}}, p={p:g}",
        )

    def solve(self, C: float) -> Solution:
        """Solve for one C > 0.

        Returns ``coef``: η (T, k), the weights of the kernels in each task; ``dual``: β
        (N,); ``intercept``: (T,); ``extra``: "gamma" (k,) and "lam" (T, k).
        """
        solution = self._newton.solve(C, 0.0)
        return with_own_weights(solution, solution.coef[0], self._newton.state)


def duals_of(problem: DualProblem, p: float, C: float) -> TaskDuals:
    """Return the duals at γ; with p = 2 or one task there is no λ to find."""
    if p == 2.0 or problem.n_tasks == 1:
        return TaskDuals(problem, C)
    return MixedNormDuals(problem, C, p)


def with_own_weights(
    solution: Solution, gamma: FloatArray, state: TaskDuals
) -> Solution:
    """Return a solution in γ with the weights γ/λ of each task."""
    lam = np.ones((state.problem.n_tasks, gamma.size))
    if isinstance(state, MixedNormDuals):
        lam = state.lam
    extra = {**solution.extra, "gamma": gamma, "lam": lam}
    return replace(solution, coef=gamma / lam, extra=extra)
