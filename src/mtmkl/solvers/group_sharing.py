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
task makes the model agree with what was seen. Where V_t has a kink (weights at 0 that
leave a kernel of low rank, whose duals are not unique), the affine functions that
earlier duals put below V_t cut the model, and their mean is a dual in its own right.

Tasks may also be tied: blocks of tasks with one θ. One block is the shared kernel (the
limit λ → ∞); λ = 0 is one problem a task.

References
----------
N. Yousefi, M. Georgiopoulos, G. C. Anagnostopoulos, Multi-task learning with
group-specific feature space sharing, ECML PKDD 2015.
J. D. Lee, Y. Sun, M. A. Saunders, Proximal Newton-type methods for minimizing composite
functions, SIAM Journal on Optimization 24(3), 2014.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtmkl.solvers.group_sharing_weights import (
    Cuts,
    group_labels,
    minimise_weights,
    pair_penalty,
    total_forces,
)
from mtmkl.solvers.med import BlockTasks, TaskDuals, kernels_apart, remedy_of
from mtmkl.solvers.solution import Certificate, Solution, Status, warn_if_stopped
from mtmkl.solvers.switches import Inner

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

_SUFFICIENT_DECREASE = 1e-2
_COARSEST_ACCURACY, _FINEST_ACCURACY = 1e-4, 1e-13
_DECAY = 0.1
_N_CUTS = 8
_MISSED = 0.1
_FLAT, _REFINEMENT = 1e-3, 0.1
_ROUNDING, _NOISE = 1e-13, 1e-10
_MAX_REJECTED = 40
_MAX_IDLE, _PROGRESS = 30, 0.99  # visited weights, and what is left of a gap by then


@dataclass
class _Visited:
    C: float
    lam: float
    beta: FloatArray
    theta: FloatArray
    forces: FloatArray
    damping: FloatArray
    rho: float | None


@dataclass(frozen=True)
class _Support:
    """What duals β put below V_t: linear_t − q_t'θ, for each block."""

    linear: FloatArray
    q: FloatArray
    beta: FloatArray

    def at(self, theta: FloatArray) -> FloatArray:
        """Return the values at θ, shape (blocks,)."""
        return self.linear - np.einsum("tm,tm->t", self.q, theta)

    def bounds(self, pulled: FloatArray) -> FloatArray:
        """Return the dual's terms of each block under summed forces, (blocks,)."""
        # The forces have the sum zero, so that no minimum is above 0.
        values: FloatArray = self.linear + (pulled - self.q).min(axis=1)
        return values


@dataclass(frozen=True)
class _Bound:
    """A lower bound on the minimum, and the duals and pair forces behind it."""

    value: float
    beta: FloatArray
    forces: FloatArray


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
        self._state: TaskDuals | None = None
        self._visited: list[_Visited] = []
        self._supports: list[_Support] = []
        self._n_solves = 0

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
            solver). The certificate's lower bound is the best of those met; it and the
            objective are computed from their duals anew at the end.
        """
        start = self._start(C, lam)
        solution, visited = self._minimise(start)
        self._visited.append(visited)
        return solution

    def _start(self, C: float, lam: float) -> _Visited:
        """Bring the duals near to the solution, and return weights to start from."""
        n_pairs = self.n_blocks * (self.n_blocks - 1) // 2
        if self._state is None:
            self._state = TaskDuals(self.tasks, C)
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
        if C < state.C:
            # What is below V holds for the larger boxes alone.
            self._supports = []
        if C != state.C:
            self._visited = [point for point in self._visited if point.C == state.C]
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

    def _support(self) -> _Support:
        """Return the affine functions that the last duals put below V."""
        assert self._state is not None
        return self._support_of(self._state, self._inner)

    def _support_of(self, state: TaskDuals, inner: Inner) -> _Support:
        return _Support(
            np.bincount(self._block, state.linear, self.n_blocks).astype(np.float64),
            inner.q.reshape(self.n_blocks, self.n_kernels),
            state.beta.copy(),
        )

    def _bound(self, forces: FloatArray, *supports: _Support) -> _Bound:
        """Return the dual's value, of the best support in each block."""
        pulled = total_forces(forces, self.n_blocks)
        values = np.stack([each.bounds(pulled) for each in supports])
        best = values.argmax(axis=0)[self._block]
        rows = np.repeat(best, np.diff(self.tasks.offsets))
        beta = np.stack([each.beta for each in supports])[rows, np.arange(rows.size)]
        return _Bound(float(values.max(axis=0).sum()), beta, forces)

    def _anew(self, bound: _Bound) -> _Bound:
        """Return a bound with weights and outputs computed from its duals."""
        assert self._state is not None
        state = TaskDuals(self.tasks, self._state.C)
        state.start(bound.beta)
        inner = state.solve(np.zeros(self.tasks.n_switches), np.inf)
        return self._bound(bound.forces, self._support_of(state, inner))

    def _remember(self, support: _Support) -> None:
        self._supports = [support, *self._supports[: _N_CUTS - 1]]

    def _cuts(self, support: _Support, theta: FloatArray) -> Cuts:
        """Return what is known below V, from the support at θ on."""
        return Cuts(
            np.stack([each.at(theta) for each in self._supports], axis=1)
            - support.at(theta)[:, None],
            support.q[:, None] - np.stack([each.q for each in self._supports], axis=1),
        )

    def _mixture(self, support: _Support, shares: FloatArray) -> _Support:
        """Return the mean of supports, a support below that of the mean duals."""
        rest = 1.0 - shares.sum(axis=1)
        linear, q = rest * support.linear, rest[:, None] * support.q
        row_block = np.repeat(self._block, np.diff(self.tasks.offsets))
        beta = rest[row_block] * support.beta
        for j, each in enumerate(self._supports):
            linear = linear + shares[:, j] * each.linear
            q = q + shares[:, [j]] * each.q
            beta = beta + shares[row_block, j] * each.beta
        return _Support(linear, q, beta)

    def _solve(self, theta: FloatArray, accuracy: float) -> Inner:
        assert self._state is not None
        self._n_solves += 1
        self._inner = self._state.solve(theta.ravel(), accuracy)
        return self._inner

    def _curvature(self, theta: FloatArray) -> FloatArray:
        """Return V'' of each block, shape (blocks, M, M)."""
        assert self._state is not None
        full = self._state.curvature(theta.ravel())
        shape = (self.n_blocks, self.n_kernels, self.n_blocks, self.n_kernels)
        return np.einsum("tmtn->tmn", full.reshape(shape)).copy()

    def _minimise(self, start: _Visited) -> tuple[Solution, _Visited]:
        state = self._state
        assert state is not None
        state.renew()
        lam, theta, forces = start.lam, start.theta, start.forces
        damping, rho = start.damping.copy(), start.rho
        has_pairs = lam > 0.0 and self.n_blocks > 1
        n_iter, n_weight_steps, n_rejected = 1, 0, 0
        self._n_solves = 0
        accuracy = float(
            np.clip(0.1 * self.tol, 1e-2 * _COARSEST_ACCURACY, _COARSEST_ACCURACY)
        )
        diagonal = np.arange(self.n_kernels)

        def coupling(theta: FloatArray) -> float:
            return lam * pair_penalty(theta) if has_pairs else 0.0

        inner, penalty = self._solve(theta, accuracy), coupling(theta)
        support = self._support()
        bound = self._bound(forces, support)
        history: list[float] = []
        is_evaluated, is_limited, limit = False, False, inner.limit
        least_gap, last_progress = np.inf, n_iter
        status: Status
        curvature: FloatArray | None = None
        while True:
            objective = inner.primal + penalty
            history.append(objective)
            gap, allowed = objective - bound.value, self.tol * abs(objective)
            # Weights from another λ may be good enough and yet not be fused as here.
            is_settled = n_iter > 1 or not has_pairs or not penalty
            is_reached = gap <= allowed and is_settled
            if gap < _PROGRESS * least_gap:
                least_gap, last_progress = gap, n_iter
            is_idle = n_iter > last_progress + _MAX_IDLE
            is_stalled = is_limited or is_idle or n_rejected > _MAX_REJECTED
            if is_reached or is_stalled or n_iter > self.max_iter:
                if is_evaluated:
                    status = "stalled" if is_stalled else "stopped"
                    if is_reached:
                        status = "converged"
                    break
                if n_rejected:
                    # The duals at hand belong to weights that were not taken.
                    self._solve(theta, accuracy)
                inner = self._inner = state.evaluate(theta.ravel())
                support, bound = self._support(), self._anew(bound)
                is_evaluated = True
                history.pop()
                continue
            if is_evaluated:
                state.refresh()
                curvature, is_evaluated = None, False
            inner_gap = inner.primal - inner.dual
            if (
                inner_gap > max(0.1 * gap, 0.3 * allowed)
                and accuracy > _FINEST_ACCURACY
            ):
                if limit:
                    is_limited = True
                    continue
                wanted = max(0.05 * gap, 0.15 * allowed)
                accuracy *= float(np.clip(wanted / inner_gap, 0.01, 0.3))
                inner = self._solve(theta, accuracy)
                limit = inner.limit
                support = self._support()
                bound = _better(bound, self._bound(forces, support))
                curvature = None
                continue

            if curvature is None:
                curvature = self._curvature(theta)
            damped = curvature.copy()
            damped[:, diagonal, diagonal] += damping[:, None]
            cuts, model_tol = None, max(0.05 * gap, 0.02 * allowed)
            while True:
                model = minimise_weights(
                    -support.q,
                    damped,
                    theta,
                    lam,
                    start=theta,
                    cuts=cuts,
                    forces=forces,
                    rho=rho,
                    tol=model_tol,
                )
                n_weight_steps += model.n_iter
                rho = model.rho
                predicted = model.objective - penalty
                change = model.theta - theta
                if predicted > -model.gap and model_tol > _FLAT * gap:
                    model_tol *= _REFINEMENT
                    continue
                if cuts is not None or not self._supports:
                    break
                known = self._cuts(support, theta)
                missed = known.offsets + np.einsum("tjm,tm->tj", known.slopes, change)
                if missed.max(axis=1).clip(0.0).sum() <= _MISSED * abs(predicted):
                    break
                cuts = known
            new_penalty = coupling(model.theta)
            trial = self._solve(model.theta, accuracy)
            seen_support = self._support()
            candidates = [support, seen_support]
            if model.shares.any():
                candidates.append(self._mixture(support, model.shares))
            bound = _better(bound, self._bound(model.forces, *candidates))
            decrease = inner.dual + penalty - trial.dual - new_penalty
            is_accepted = (
                decrease >= -_SUFFICIENT_DECREASE * predicted - _ROUNDING * objective
            )
            squares = np.einsum("tm,tm->t", change, change)
            bend = np.einsum("tm,tmn,tn->t", change, curvature, change)
            excess = seen_support.at(model.theta) - support.at(theta)
            excess += np.einsum("tm,tm->t", support.q, change)
            seen = np.divide(
                2.0 * excess - bend,
                squares,
                out=np.zeros(self.n_blocks),
                where=2.0 * excess > bend + _NOISE * objective,
            )
            if is_accepted:
                self._remember(support)
                theta, inner, penalty = model.theta, trial, new_penalty
                limit = inner.limit
                support, forces = seen_support, model.forces
                damping = np.maximum(np.maximum(seen, 0.0), _DECAY * damping)
                curvature = None
                n_iter += 1
                n_rejected = 0
            else:
                self._remember(seen_support)
                n_rejected += 1
            if -predicted < _FLAT * gap and accuracy > _FINEST_ACCURACY:
                # The gap is one of q, which is known less well than V.
                accuracy *= _REFINEMENT
                inner = self._solve(theta, accuracy)
                limit = inner.limit
                support = self._support()
                curvature = None
                n_rejected = 0
        certificate = Certificate(
            objective=objective,
            dual_objective=bound.value,
            n_iter=n_iter,
            status=status,
            history=np.array(history),
        )
        problem = f"group sharing, C={start.C:g}, lam={lam:g}"
        if status == "converged":
            remedy = limit = ""
        else:
            remedy = remedy_of(self.tasks)
            limit = limit if is_limited else kernels_apart(self.tasks)
        warn_if_stopped(
            certificate,
            problem,
            self.tol,
            steps="visited weights",
            remedy=remedy,
            limit=limit,
            stacklevel=4,
        )
        solution = Solution(
            coef=theta,
            certificate=certificate,
            dual=state.beta.copy(),
            intercept=state.intercept,
            extra={
                "groups": group_labels(theta),
                "q": support.q,
                "forces": forces,
                "n_solves": self._n_solves,
                "n_weight_steps": n_weight_steps,
            },
        )
        visited = _Visited(start.C, lam, state.beta.copy(), theta, forces, damping, rho)
        return solution, visited


def _better(first: _Bound, second: _Bound) -> _Bound:
    """Return the higher of two bounds."""
    return second if second.value > first.value else first


def _within(forces: FloatArray, lam: float) -> FloatArray:
    """Return pair forces shortened to norms of at most λ."""
    norms = np.sqrt(np.einsum("ij,ij->i", forces, forces))
    scale: FloatArray = np.minimum(1.0, lam / np.maximum(norms, 1e-300))
    return forces * scale[:, None]
