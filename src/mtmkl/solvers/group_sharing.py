r"""Multiple kernel learning of many tasks whose kernel weights are drawn together.

Task t has a support vector machine on the kernel Σ_m θ_tm K_m, with signed duals
β_i = y_i α_i. The problem (2) of Yousefi et al. (2015), minimised over its models w, b,
is the convex function of the weights

    F(θ) = λ Σ_{t<s} ‖θ_t − θ_s‖₂ + Σ_t V_t(θ_t),      θ_t ≥ 0, 1'θ_t ≤ 1,
    V_t(θ_t) = max over feasible β_t of  y_t'β_t − Σ_m θ_tm q_tm,   q_tm = ½ β_t'K_mβ_t,

whose gradient is −q. It has a minimum with 1'θ_t = 1 throughout: adding
(1 − 1'θ_t)/M to each weight raises no V_t and lengthens no difference. A dual is, over
feasible β and pair forces π_ts = −π_st with ‖π_ts‖₂ ≤ λ,

    Σ_t [y_t'β_t + min(0, min_m (Σ_s π_tsm − q_tm))].

The alternation of the paper (its Algorithm 1) keeps β while it minimises over θ; that
is linear in θ, and cycles. :class:`GroupSharingPath` takes proximal Newton steps on F:
V_t'' follows from the free variables of the support vector duals, the model is solved
by :func:`~mtmkl.solvers.group_sharing_weights.minimise_weights`, whose pair forces give
the certificate. Where V_t bends more than its second derivative says, a damping of the
task makes the model agree with what was seen.

Tasks may also be tied: blocks of tasks with one θ. One block is the shared kernel (the
limit λ → ∞); λ = 0 is one problem a task.

References
----------
N. Yousefi, M. Georgiopoulos, G. C. Anagnostopoulos, Multi-task learning with
group-specific feature space sharing, ECML PKDD 2015.
J. D. Lee, Y. Sun, M. A. Saunders, Proximal Newton-type methods for minimizing composite
functions, SIAM Journal on Optimization 24(3), 2014.
"""

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mtmkl.solvers.group_sharing_weights import (
    group_labels,
    minimise_weights,
    pair_penalty,
    total_forces,
)
from mtmkl.solvers.med import _LINEAR, _QUADRATIC, BlockTasks, _State
from mtmkl.solvers.solution import Certificate, Solution
from mtmkl.solvers.switches import Inner

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

_SUFFICIENT_DECREASE = 1e-2
_COARSEST_ACCURACY, _FINEST_ACCURACY = 1e-4, 1e-13
_LEAST_GROWTH, _DECAY = 4.0, 0.1
_ROUNDING = 1e-13
_MAX_REJECTED = 40


@dataclass
class _Visited:
    C: float
    lam: float
    beta: FloatArray
    theta: FloatArray
    forces: FloatArray
    damping: FloatArray
    rho: float | None


class GroupSharingPath:
    """Solutions for many (C, λ), each started from the nearest so far.

    Parameters
    ----------
    tasks : BlockTasks
        Of classification; term m of a task in block b has the switch b·M + m, with
        b = t if no tasks are tied.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on Newton steps of one solution.
    """

    def __init__(
        self, tasks: BlockTasks, *, tol: float = 1e-4, max_iter: int = 200
    ) -> None:
        self.tasks = tasks
        self.tol = tol
        self.max_iter = max_iter
        self.n_kernels = tasks.switch.shape[1]
        self.n_blocks = tasks.n_switches // self.n_kernels
        self._block = tasks.switch.min(axis=1) // self.n_kernels
        self._state: _State | None = None
        self._visited: list[_Visited] = []

    def solve(self, C: float, lam: float) -> Solution:
        """Solve for one (C, λ).

        Parameters
        ----------
        C : float
            Cost of slack, positive.
        lam : float
            λ, at least 0.

        Returns
        -------
        Solution
            ``coef``: θ (blocks, M); ``dual``: β (N,); ``intercept``: (T,); ``extra``:
            "groups" (blocks,), labels of equal weights in order of appearance, "q"
            (blocks, M), "forces" (pairs of blocks, M), "n_solves" (calls of the support
            vector solver for all tasks) and "n_weight_steps" (iterations of the model's
            solver). The certificate's lower bound is the best of those met.
        """
        start = self._start(C, lam)
        solution, visited = self._minimise(start)
        self._visited.append(visited)
        return solution

    def _start(self, C: float, lam: float) -> _Visited:
        """Bring the duals near to the solution, and return weights to start from."""
        n_pairs = self.n_blocks * (self.n_blocks - 1) // 2
        if self._state is None:
            self._state = _State(self.tasks, C)
        state = self._state
        if not self._visited:
            return _Visited(
                C=C,
                lam=lam,
                beta=state.beta,
                theta=np.full((self.n_blocks, self.n_kernels), 1.0 / self.n_kernels),
                forces=np.zeros((n_pairs, self.n_kernels)),
                damping=np.zeros(self.n_blocks),
                rho=None,
            )
        here = np.array([np.log(C), np.log1p(lam)])
        distances = [
            10.0 * abs(here[0] - np.log(point.C)) + abs(here[1] - np.log1p(point.lam))
            for point in self._visited
        ]
        nearest = self._visited[int(np.argmin(distances))]
        if C != state.C:
            is_inside = (
                C >= nearest.C and np.abs(nearest.beta).max(initial=0.0) < nearest.C
            )
            if is_inside:
                # No bound holds it, so it is a solution for every larger box.
                state.set_box(C)
                state.start(nearest.beta)
            else:
                state.rescale(C)
        return _Visited(
            C=C,
            lam=lam,
            beta=state.beta,
            theta=nearest.theta,
            forces=_within(nearest.forces, lam),
            damping=nearest.damping,
            rho=nearest.rho,
        )

    def _values(self) -> FloatArray:
        """Return V of each block at the last duals, shape (blocks,)."""
        assert self._state is not None
        statistics = self._state._statistics
        values = statistics[:, _LINEAR] - 0.5 * statistics[:, _QUADRATIC]
        return np.bincount(self._block, values, minlength=self.n_blocks)

    def _curvature(self, theta: FloatArray) -> FloatArray:
        """Return V'' of each block, shape (blocks, M, M)."""
        assert self._state is not None
        full = self._state.curvature(theta.ravel())
        shape = (self.n_blocks, self.n_kernels, self.n_blocks, self.n_kernels)
        return np.einsum("tmtn->tmn", full.reshape(shape)).copy()

    def _minimise(self, start: _Visited) -> tuple[Solution, _Visited]:
        state = self._state
        assert state is not None
        lam, theta, forces = start.lam, start.theta, start.forces
        damping, rho = start.damping.copy(), start.rho
        has_pairs = lam > 0.0 and self.n_blocks > 1
        n_solves, n_iter, n_weight_steps, n_rejected = 0, 1, 0, 0
        accuracy = float(
            np.clip(0.1 * self.tol, 1e-2 * _COARSEST_ACCURACY, _COARSEST_ACCURACY)
        )
        diagonal = np.arange(self.n_kernels)

        def inner_at(theta: FloatArray) -> Inner:
            nonlocal n_solves
            n_solves += 1
            return state.solve(theta.ravel(), accuracy)

        def coupling(theta: FloatArray) -> float:
            return lam * pair_penalty(theta) if has_pairs else 0.0

        def bound(inner: Inner, forces: FloatArray) -> float:
            pulled = -inner.q.reshape(theta.shape)
            if has_pairs:
                pulled = pulled + total_forces(forces, self.n_blocks)
            return inner.linear + float(np.minimum(pulled.min(axis=1), 0.0).sum())

        inner, penalty = inner_at(theta), coupling(theta)
        dual_objective = bound(inner, forces)
        history: list[float] = []
        status: Literal["converged", "stopped"] = "stopped"
        curvature: FloatArray | None = None
        while True:
            objective = inner.primal + penalty
            dual_objective = max(dual_objective, bound(inner, forces))
            history.append(objective)
            gap, allowed = objective - dual_objective, self.tol * abs(objective)
            # Weights from another λ may be good enough and yet not be fused as here.
            is_settled = n_iter > 1 or not has_pairs or not penalty
            if gap <= allowed and is_settled:
                status = "converged"
                break
            if (
                n_iter > self.max_iter
                or n_rejected > _MAX_REJECTED
                or accuracy < _FINEST_ACCURACY
            ):
                break
            inner_gap = inner.primal - inner.dual
            if inner_gap > max(0.1 * gap, 0.3 * allowed):
                wanted = max(0.05 * gap, 0.15 * allowed)
                accuracy *= float(np.clip(wanted / inner_gap, 0.01, 0.3))
                inner = inner_at(theta)
                curvature = None
                continue

            q = inner.q.reshape(theta.shape)
            values = self._values()
            beta = state.beta.copy()
            if curvature is None:
                curvature = self._curvature(theta)
            damped = curvature.copy()
            damped[:, diagonal, diagonal] += damping[:, None]
            model = minimise_weights(
                -q,
                damped,
                theta,
                lam,
                start=theta,
                forces=forces,
                rho=rho,
                tol=max(0.05 * gap, 0.02 * allowed),
            )
            n_weight_steps += model.n_iter
            rho = model.rho
            change = model.theta - theta
            new_penalty = coupling(model.theta)
            bend = np.einsum("tm,tmn,tn->t", change, curvature, change)
            slope = -np.einsum("tm,tm->t", q, change)
            predicted = float(
                np.sum(slope + 0.5 * bend)
                + 0.5 * damping @ np.einsum("tm,tm->t", change, change)
                + new_penalty
                - penalty
            )
            trial = inner_at(model.theta)
            dual_objective = max(dual_objective, bound(trial, model.forces))
            decrease = inner.dual + penalty - trial.dual - new_penalty
            squares = np.einsum("tm,tm->t", change, change)
            seen = np.divide(
                2.0 * (self._values() - values - slope) - bend,
                squares,
                out=np.zeros(self.n_blocks),
                where=squares > 1e-24,
            )
            if decrease >= -_SUFFICIENT_DECREASE * predicted - _ROUNDING * objective:
                theta, inner, penalty, forces = (
                    model.theta,
                    trial,
                    new_penalty,
                    model.forces,
                )
                damping = np.maximum(np.maximum(seen, 0.0), _DECAY * damping)
                curvature = None
                n_iter += 1
                n_rejected = 0
            else:
                n_rejected += 1
                grown = np.maximum(_LEAST_GROWTH * damping, seen)
                damping = np.where(seen > damping, grown, damping)
                state.start(beta)
        certificate = Certificate(
            objective=objective,
            dual_objective=dual_objective,
            n_iter=n_iter,
            status=status,
            history=np.array(history),
        )
        if status == "stopped":
            warnings.warn(
                f"stopped at Newton step {n_iter} at a relative duality gap of "
                f"{certificate.duality_gap:.1e}",
                ConvergenceWarning,
                stacklevel=4,
            )
        solution = Solution(
            coef=theta,
            certificate=certificate,
            dual=state.beta.copy(),
            intercept=state.intercept,
            extra={
                "groups": group_labels(theta),
                "q": inner.q.reshape(theta.shape),
                "forces": forces,
                "n_solves": n_solves,
                "n_weight_steps": n_weight_steps,
            },
        )
        visited = _Visited(start.C, lam, state.beta.copy(), theta, forces, damping, rho)
        return solution, visited


def _within(forces: FloatArray, lam: float) -> FloatArray:
    """Return pair forces shortened to norms of at most λ."""
    norms = np.sqrt(np.einsum("ij,ij->i", forces, forces))
    scale: FloatArray = np.minimum(1.0, lam / np.maximum(norms, 1e-300))
    return forces * scale[:, None]
