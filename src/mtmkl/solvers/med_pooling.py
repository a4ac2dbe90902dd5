r"""Adaptive pooling by maximum entropy discrimination.

Task t classifies by s_t⟨θ_t, φ_t(x)⟩ + ⟨θ, φ(x)⟩ + b_t, with a communal kernel k and a
kernel k_t of its own. With q_t = ½ β_t'K_tβ_t the dual is

    max_β  c'β − ½ β'Kβ − Σ_t log((α + exp q_t) / (1 + α))
    s.t.   β_i between 0 and C y_i,  1'β_t = 0 for each task t,

K the communal Gram matrix of all examples, and the primal

    min  Σ_t KL(Bern(s_t) ‖ Bern(1/(1 + α))) + ½ ||θ||² + ½ Σ_t ||θ_t||²/s_t
         + C Σ hinge.

For fixed s it is one support vector machine with the kernel k + δ_tu s_t k_t and one
bias per task, that is with T equality constraints, which :func:`_minimise_grouped`
solves by pairs within tasks.

References
----------
T. Jebara, Multitask sparsity via maximum entropy discrimination, Journal of Machine
Learning Research 12, 2011, section 8.
"""

from collections.abc import Sequence
from dataclasses import replace

import numba
import numpy as np
from numpy.typing import ArrayLike

from mtmkl.solvers.inner import Inner
from mtmkl.solvers.smo import (
    FAR,
    FIRST_SHARE,
    LAST_SHARE,
    SLICE,
    factorise,
    intercept_at,
    rounding_error,
)
from mtmkl.solvers.solution import Solution
from mtmkl.solvers.switches import (
    SwitchedPath,
    minimise_over_switches,
    switched_solution,
)
from mtmkl.solvers.task_duals import limit_of_accuracy
from mtmkl.typing import FloatArray, IntArray

_PAIR_STEPS_PER_EXAMPLE = 10
_MAX_STEPS_PER_EXAMPLE = 10_000
_STEP_COST = 8.0  # multiplications of a pair step for each example
_FACE_STEPS = 20
_RIDGE = 1e-12


class PoolingPath(SwitchedPath):
    """Solutions for many (C, α), each started from the last.

    Parameters
    ----------
    communal : array-like of shape (N, N)
        Gram matrix of k over all examples, sorted by task.
    specialised : sequence of ndarray of shape (n_t, n_t)
        Gram matrices of the k_t.
    c : array-like of shape (N,)
        Labels −1 and +1.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on Newton steps of one solution.
    """

    def __init__(
        self,
        communal: ArrayLike,
        specialised: Sequence[FloatArray],
        c: ArrayLike,
        *,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        super().__init__()
        self._problem = _Pooling(
            np.ascontiguousarray(communal, dtype=np.float64),
            [np.ascontiguousarray(K, dtype=np.float64) for K in specialised],
            np.asarray(c, dtype=np.float64),
        )
        self.tol = tol
        self.max_iter = max_iter
        self._log_odds: FloatArray | None = None

    def solve(self, C: float, log_alpha: float) -> Solution:
        """Solve for one (C, α).

        Returns
        -------
        Solution
            ``coef``: the switches (T,); ``dual``: β (N,); ``intercept``: (T,);
            ``extra``: "log_odds" (T,), "q" (T,), "n_solves".
        """
        problem = self._problem
        problem.set_box(C)
        problem.renew()
        result = minimise_over_switches(
            problem,
            log_alpha,
            n_switches=len(problem.specialised),
            start=self._log_odds,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        # Those of α = 0 are infinite.
        self._log_odds = result.log_odds if log_alpha > -np.inf else None
        return switched_solution(
            result,
            dual=problem.beta.copy(),
            intercept=problem.intercept.copy(),
            n_svm_solves=result.n_solves,
            tol=self.tol,
        )


class _Pooling:
    """The joint support vector dual, an ``InnerProblem``."""

    def __init__(
        self, communal: FloatArray, specialised: list[FloatArray], c: FloatArray
    ) -> None:
        self.communal = communal
        self.specialised = specialised
        self.c = c
        sizes = [len(K) for K in specialised]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.beta = np.zeros(c.size)
        self.intercept = np.zeros(len(sizes))
        self.C = 0.0
        self.renew()

    def renew(self) -> None:
        """Grant the pair steps of one solution."""
        self.steps_left = _MAX_STEPS_PER_EXAMPLE * self.c.size

    def set_box(self, C: float) -> None:
        """Change C, with β scaled into the new box."""
        if self.C > C:
            self.beta *= C / self.C
        self.C = C
        self._lo, self._hi = np.minimum(C * self.c, 0.0), np.maximum(C * self.c, 0.0)

    def _kernel(self, s: FloatArray) -> FloatArray:
        K = self.communal.copy()
        for t, own in enumerate(self.specialised):
            part = slice(self.offsets[t], self.offsets[t + 1])
            K[part, part] += s[t] * own
        return K

    def solve(self, s: FloatArray, accuracy: float) -> Inner:
        """Solve for switches s until no optimality condition is violated by more.

        Or by no more than rounding errors make, as far as the pair steps last.
        """
        n = self.c.size
        K = self._kernel(s)
        diagonal = K.diagonal().copy()
        v = self.c - K @ self.beta
        # Compiled code does not see an interrupt: return to Python in between.
        most_at_once = max(int(SLICE / (_STEP_COST * n)), _PAIR_STEPS_PER_EXAMPLE)
        budget = min(_PAIR_STEPS_PER_EXAMPLE * n, most_at_once)
        tol, share, is_done = accuracy, FIRST_SHARE, False
        while self.steps_left > 0:
            n_steps = _minimise_grouped(
                K, self._lo, self._hi, self.offsets, self.beta, v, tol, budget
            )
            self.steps_left -= n_steps
            is_done = n_steps < budget
            if is_done:
                break
            # Pair steps find the active set soon and then converge slowly.
            is_lower = self._face_steps(K, v)
            v[:] = self.c - K @ self.beta
            if not is_lower:
                budget = min(2 * budget, most_at_once)
            error = share * rounding_error(diagonal, self.c, self.beta)
            tol, share = max(accuracy, error), min(2.0 * share, LAST_SHARE)
        limit = ""
        if tol > accuracy or not is_done:
            limit = limit_of_accuracy(
                tol, float(diagonal.max()), self.C, self.steps_left
            )
        return replace(self._values(s, v), limit=limit)

    def _values(self, s: FloatArray, v: FloatArray) -> Inner:
        """Return the values at β for ``v = c − Kβ``, and keep the intercepts."""
        q = np.empty(len(self.specialised))
        loss = 0.0
        for t, own in enumerate(self.specialised):
            part = slice(self.offsets[t], self.offsets[t + 1])
            lo, hi, beta = self._lo[part], self._hi[part], self.beta[part]
            q[t] = 0.5 * beta @ own @ beta
            self.intercept[t] = intercept_at(v[part], beta, lo, hi, 0.0)
            residual = v[part] - self.intercept[t]
            loss += np.maximum(lo * residual, hi * residual).sum()
        quadratic = float((self.c - v) @ self.beta)
        linear = float(self.c @ self.beta)
        common = 0.5 * quadratic - float(s @ q)
        return Inner(
            q=q,
            linear=linear - common,
            primal=0.5 * quadratic + float(loss),
            dual=linear - 0.5 * quadratic,
        )

    def evaluate(self, s: FloatArray) -> Inner:
        """Return what β is worth for switches s."""
        inner = self._values(s, self.c - self._kernel(s) @ self.beta)
        sizes = np.abs(self.c) + np.repeat(
            np.abs(self.intercept), np.diff(self.offsets)
        )
        rounding = np.finfo(float).eps * self.C * float(sizes[self.beta != 0.0].sum())
        return replace(inner, primal=inner.primal + rounding)

    def refresh(self) -> None:
        """Do nothing: every solve computes its outputs from β."""

    def _face_steps(self, K: FloatArray, v: FloatArray) -> bool:
        """Minimise over the free multipliers, cut at the first bound, a few times.

        Returns whether the objective went down. The sums within tasks are kept; v is
        ``c − Kβ`` before, and is left alone.
        """
        start = self.beta.copy()
        v = v.copy()
        for _ in range(_FACE_STEPS):
            free = np.flatnonzero((self._lo < self.beta) & (self.beta < self._hi))
            task = np.searchsorted(self.offsets, free, side="right") - 1
            free = free[np.bincount(task, minlength=self.offsets.size)[task] > 1]
            if free.size == 0:
                break
            task = np.searchsorted(self.offsets, free, side="right") - 1
            ones = (task[:, None] == np.unique(task)).astype(float)
            block = K[np.ix_(free, free)]
            top = float(block.diagonal().max())
            # Where sums are kept, adding 11' of a task changes the conditioning alone.
            block = block + top * (ones @ ones.T)
            block.flat[:: free.size + 1] += _RIDGE * top
            solved = np.linalg.solve(block, np.column_stack([v[free], ones]))
            multiplier = np.linalg.solve(ones.T @ solved[:, 1:], ones.T @ solved[:, 0])
            direction = solved[:, 0] - solved[:, 1:] @ multiplier
            direction -= ones @ (ones.T @ direction / ones.sum(axis=0))
            bound = np.where(direction > 0, self._hi[free], self._lo[free])
            room = np.abs(bound - self.beta[free])
            step = np.min(room / np.maximum(np.abs(direction), 1e-300), initial=1.0)
            blocked = room <= step * np.abs(direction) * (1 + 1e-12)
            moved = self.beta[free] + step * direction
            self.beta[free] = np.where(blocked, bound, moved)
            v = self.c - K @ self.beta
            if step == 1.0:
                break
        # The mean of the gradients at both ends decides, as for every quadratic.
        before = self.c - K @ start
        if float((self.beta - start) @ (before + v)) > 0.0:
            return True
        self.beta[:] = start
        return False

    def curvature(self, s: FloatArray) -> FloatArray:
        """Return V''(s), shape (T, T), at the last solution."""
        free = np.flatnonzero((self._lo < self.beta) & (self.beta < self._hi))
        n_tasks = len(self.specialised)
        task = np.searchsorted(self.offsets, free, side="right") - 1
        m = free.size
        ones = np.zeros((m, n_tasks))
        ones[np.arange(m), task] = 1.0
        B = np.zeros((m, n_tasks))
        for t, own in enumerate(self.specialised):
            first, last = self.offsets[t], self.offsets[t + 1]
            mine = task == t
            B[mine, t] = (own @ self.beta[first:last])[free[mine] - first]
        # A free multiplier alone in its task cannot move.
        keep = ones.sum(axis=0)[task] > 1
        free, ones, B = free[keep], ones[keep], B[keep]
        if free.size == 0:
            return np.zeros((n_tasks, n_tasks))
        K = self._kernel(s)[np.ix_(free, free)]
        U = np.hstack([K, ones, B])
        width = U.shape[1]
        factorise(U, free.size, width, max(1e-11 * K.diagonal().max(), 1e-300))
        ones = U[:, free.size : free.size + n_tasks]
        B = U[:, free.size + n_tasks :]
        basis, _ = np.linalg.qr(ones[:, np.any(ones != 0, axis=0)])
        B = B - basis @ (basis.T @ B)
        out: FloatArray = B.T @ B
        return out


@numba.njit(cache=True, nogil=True)
def _minimise_grouped(
    K: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    offsets: IntArray,
    beta: FloatArray,
    v: FloatArray,
    tol: float,
    max_iter: int,
) -> int:
    """Minimise ½ β'Kβ − c'β in the box, each group's sum of β kept, in place.

    Sequential minimal optimisation: the group with the largest violation, in it the
    variable of the steepest rise, and its partner by second-order information.

    Parameters
    ----------
    K : ndarray of shape (N, N)
    lo, hi : ndarray of shape (N,)
    offsets : ndarray of shape (n_groups + 1,)
    beta, v : ndarray of shape (N,)
        A feasible point and ``c − Kβ``; updated.
    tol : float
        Largest max(v, rising) − min(v, sinking) within a group.
    max_iter : int
        Pair steps.

    Returns
    -------
    int
        Pair steps done.
    """
    n = beta.size
    n_groups = offsets.size - 1
    for n_iter in range(max_iter):
        i, group, worst = -1, -1, tol
        for g in range(n_groups):
            highest, lowest, top = -FAR, FAR, -1
            for k in range(offsets[g], offsets[g + 1]):
                if beta[k] < hi[k] and v[k] > highest:
                    highest, top = v[k], k
                if beta[k] > lo[k] and v[k] < lowest:
                    lowest = v[k]
            if highest - lowest > worst:
                worst, i, group = highest - lowest, top, g
        if i < 0:
            return n_iter
        j, best = -1, 0.0
        for k in range(offsets[group], offsets[group + 1]):
            difference = v[i] - v[k]
            if beta[k] > lo[k] and difference > 0.0:
                curvature = max(K[i, i] + K[k, k] - 2.0 * K[i, k], 1e-12 * K[i, i])
                gain = difference * difference / max(curvature, 1e-300)
                if gain > best:
                    best, j = gain, k
        curvature = max(K[i, i] + K[j, j] - 2.0 * K[i, j], 1e-12 * K[i, i])
        step = (v[i] - v[j]) / max(curvature, 1e-300)
        room = min(hi[i] - beta[i], beta[j] - lo[j])
        if step >= room:
            # Stops are exact, so that bounds are recognised.
            if hi[i] - beta[i] <= beta[j] - lo[j]:
                step = hi[i] - beta[i]
                beta[j] = max(beta[j] - step, lo[j])
                beta[i] = hi[i]
            else:
                step = beta[j] - lo[j]
                beta[i] = min(beta[i] + step, hi[i])
                beta[j] = lo[j]
        else:
            beta[i] += step
            beta[j] -= step
        for k in range(n):
            v[k] -= step * (K[i, k] - K[j, k])
    return max_iter
