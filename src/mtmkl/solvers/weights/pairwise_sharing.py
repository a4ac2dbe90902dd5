r"""Multiple kernel learning of many tasks whose kernel weights are coupled.

Task t has a support vector machine on the kernel Σ_m θ_tm K_m, with signed duals
β_i = y_i α_i. The problem (2) of Yousefi et al. (2015), minimised over its models w, b,
is the convex function of the weights

    F(θ) = λ Σ_{t<s} ‖θ_t − θ_s‖₂ + Σ_t V_t(θ_t),      θ_t ≥ 0, 1'θ_t ≤ 1,
    V_t(θ_t) = max over feasible β_t of  y_t'β_t − Σ_m θ_tm q_tm,   q_tm = ½ β_t'K_mβ_t,

whose gradient is −q. It has a minimum with 1'θ_t = 1 throughout: adding
(1 − 1'θ_t)/M to each weight raises no V_t and lengthens no difference. A dual is, over
feasible β and edge duals π_ts = −π_st with ‖π_ts‖₂ ≤ λ,

    Σ_t [y_t'β_t + min(0, min_m (Σ_s π_tsm − q_tm))].

The alternation of the paper (its Algorithm 1) keeps β while it minimises over θ; that
is linear in θ, and cycles (``test_group_sharing_as_printed.py`` has it line by line).
:class:`PairwiseSharingPath` takes proximal Newton steps on F: V_t'' follows from the
free variables of the support vector duals, and the model is solved by
:func:`~mtmkl.solvers.weights.pairwise_weights.minimise_weights`, whose edge duals
give the certificate. Where V_t bends more than that, a damping of the task makes the
model agree with what was seen. Where V_t has a kink (weights at 0, kernels of low rank,
duals that are not unique), the affine functions of earlier duals below V_t cut the
model.

Tasks may also be tied: blocks of tasks with one θ. One block is the shared kernel (the
limit λ → ∞); λ = 0 is one problem per task.

References
----------
N. Yousefi et al., Multi-task learning with group-specific feature space sharing, 2015.
J. D. Lee et al., Proximal Newton-type methods for minimizing composite functions, 2014.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mtmkl.solvers.descent import FINEST_TOLERANCE, Descent, Inner
from mtmkl.solvers.linear.penalties import pairwise_norms
from mtmkl.solvers.solution import Solution, Status, warn_if_stopped
from mtmkl.solvers.svm.task_duals import (
    DualProblem,
    TaskDuals,
    kernels_apart,
    remedy_of,
)
from mtmkl.solvers.weights.pairwise_weights import (
    Cuts,
    Weights,
    edge_sums,
    group_labels,
    minimise_weights,
    within,
)
from mtmkl.typing import FloatArray

_SUFFICIENT_DECREASE = 1e-2
_DECAY = 0.1
_N_CUTS = 8
_MISSED = 0.1
_FLAT, _REFINEMENT, _SETTLED, _FLATTENING = 1e-3, 0.1, 1e-5, 0.1
_ROUNDING, _NOISE = 1e-13, 1e-10
_MAX_REJECTED = 40
_MAX_IDLE, _PROGRESS = 30, 0.99  # visited weights, and what is left of a gap by then


@dataclass
class _Visited:
    C: float
    lam: float
    beta: FloatArray
    theta: FloatArray
    edge_duals: FloatArray
    damping: FloatArray
    rho: float | None


@dataclass(frozen=True)
class _Support:
    """Planes of duals β below V_t: linear_t − q_t'θ, for each block."""

    linear: FloatArray
    q: FloatArray
    beta: FloatArray

    def at(self, theta: FloatArray) -> FloatArray:
        """Return the values at θ, shape (blocks,)."""
        return self.linear - np.einsum("tm,tm->t", self.q, theta)


@dataclass(frozen=True)
class _Bound:
    """A lower bound on the minimum, and the duals and edge duals behind it."""

    value: float
    beta: FloatArray
    edge_duals: FloatArray


class PairwiseSharingPath:
    """Solutions for many (C, λ), each started from the nearest so far.

    Parameters
    ----------
    tasks : DualProblem
        Term m of a task in block b has the weight b·M + m, with b = t if no tasks are
        tied.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on Newton steps of one solution, which visits a point more.
    duals : callable, optional
        Returns the duals for a C, in place of those of the support vector machines.
    label : str
        Names the problem in warnings; ``{C:g}`` and ``{lam:g}`` stand for its place.

    Attributes
    ----------
    state : TaskDuals, what ``duals`` returned, or None before the first solution
        The duals at the last solution.
    """

    def __init__(
        self,
        tasks: DualProblem,
        *,
        tol: float = 1e-4,
        max_iter: int = 200,
        duals: Callable[[float], Any] | None = None,
        label: str = "group sharing, C={C:g}, lam={lam:g}",
    ) -> None:
        self.tasks = tasks
        self.label = label
        self.tol = tol
        self.max_iter = max_iter
        self.n_kernels = tasks.weight.shape[1]
        self.n_blocks = tasks.n_weights // self.n_kernels
        self._block = tasks.weight.min(axis=1) // self.n_kernels
        self._duals = duals or partial(TaskDuals, tasks)
        self.state: Any = None
        self._visited: list[_Visited] = []
        self._supports: list[_Support] = []

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
            ``coef``: θ (blocks, M); ``dual``: β (N,); ``intercept``: (T,);
            ``extra["groups"]`` (blocks,), labels of equal weights in order of
            appearance. The certificate's lower bound is the best of those met; it and
            the objective are recomputed from their duals at the end.
        """
        if self.state is None:
            self.state = self._duals(C)
        search = _Search(self, self._start(self.state, C, lam))
        solution = search.solution()
        self._visited.append(search.visited())
        return solution

    def _start(self, state: TaskDuals, C: float, lam: float) -> _Visited:
        """Bring the duals near to the solution, and return weights to start from."""
        n_pairs = self.n_blocks * (self.n_blocks - 1) // 2
        nearest = _Visited(
            C=C,
            lam=lam,
            beta=state.beta,
            theta=np.full((self.n_blocks, self.n_kernels), 1.0 / self.n_kernels),
            edge_duals=np.zeros((n_pairs, self.n_kernels)),
            damping=np.zeros(self.n_blocks),
            rho=None,
        )

        def distance(point: _Visited) -> float:
            of_lam = abs(np.log1p(lam) - np.log1p(point.lam))
            return float(10.0 * abs(np.log(C) - np.log(point.C)) + of_lam)

        if self._visited:
            nearest = min(self._visited, key=distance)
        if C < state.C:
            # What is below V holds for the larger boxes alone.
            self._supports = []
        if C != state.C:
            self._visited = [point for point in self._visited if point.C == state.C]
            if C >= nearest.C and np.abs(nearest.beta).max(initial=0.0) < nearest.C:
                # No bound holds it, so it is a solution for every larger box.
                state.set_box(C)
                state.start(nearest.beta)
            else:
                state.rescale(C)
        edge_duals = within(nearest.edge_duals, lam)
        return replace(nearest, C=C, lam=lam, beta=state.beta, edge_duals=edge_duals)

    def support(self, state: TaskDuals, inner: Inner) -> _Support:
        """Return the affine functions that duals put below V."""
        return _Support(
            np.bincount(self._block, state.linear, self.n_blocks).astype(np.float64),
            inner.q.reshape(self.n_blocks, self.n_kernels),
            state.beta.copy(),
        )

    def block_curvature(self, state: TaskDuals, theta: FloatArray) -> FloatArray:
        """Return V'' of each block, shape (blocks, M, M)."""
        if self.n_blocks == 1:
            return state.curvature(theta.ravel())[None]
        return state.block_curvature(
            theta.ravel(), self._block, self.tasks.weight % self.n_kernels
        )

    def bound(self, edge_duals: FloatArray, *supports: _Support) -> _Bound:
        """Return the dual's value, of the best support in each block."""
        pulled = edge_sums(edge_duals, self.n_blocks)
        # The edge duals have the sum zero, so that no minimum is above 0.
        values = np.stack(
            [each.linear + (pulled - each.q).min(axis=1) for each in supports]
        )
        best = values.argmax(axis=0)[self._block]
        rows = np.repeat(best, np.diff(self.tasks.offsets))
        beta = np.stack([each.beta for each in supports])[rows, np.arange(rows.size)]
        return _Bound(float(values.max(axis=0).sum()), beta, edge_duals)

    def remember(self, support: _Support) -> None:
        """Keep what is known below V, the latest first."""
        self._supports = [support, *self._supports[: _N_CUTS - 1]]

    def cuts(self, support: _Support, theta: FloatArray) -> Cuts | None:
        """Return what is known below V, from the support at θ on, if anything is."""
        if not self._supports:
            return None
        return Cuts(
            np.stack([each.at(theta) for each in self._supports], axis=1)
            - support.at(theta)[:, None],
            support.q[:, None] - np.stack([each.q for each in self._supports], axis=1),
        )

    def mixture(self, support: _Support, shares: FloatArray) -> _Support:
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


class _Search(Descent):
    """Proximal Newton steps for one (C, λ), from duals brought near to the solution."""

    state: Any

    def __init__(self, path: PairwiseSharingPath, start: _Visited):
        floor = path.tasks.floor(start.C)
        super().__init__(path.state, path.tol, path.max_iter, floor)
        self.path, self.start = path, start
        self.theta, self.edge_duals = start.theta, start.edge_duals
        self.damping, self.rho = start.damping.copy(), start.rho
        self.has_pairs = start.lam > 0.0 and path.n_blocks > 1
        self.n_rejected, self.n_flat = 0, 0
        self.least_gap, self.last_progress = np.inf, 1
        self.state.renew()
        self.penalty = self.coupling(self.theta)
        self.solve()
        self.best = path.bound(self.edge_duals, self.support)

    @property
    def weights(self) -> FloatArray:
        """The weights θ of all blocks, one after the other."""
        return self.theta.ravel()

    def coupling(self, theta: FloatArray) -> float:
        return self.start.lam * pairwise_norms(theta) if self.has_pairs else 0.0

    def take(self, inner: Inner) -> None:
        super().take(inner)
        self.support = self.path.support(self.state, inner)
        self.curvature: FloatArray | None = None

    def values(self) -> tuple[float, float]:
        return self.inner.primal + self.penalty, self.best.value

    def status(self) -> Status | None:
        # Weights from another λ may be good enough and yet not be fused as here.
        is_settled = self.n_iter > 1 or not self.has_pairs or not self.penalty
        if self.gap <= self.allowed and not is_settled:
            return None
        if self.gap < _PROGRESS * self.least_gap:
            self.least_gap, self.last_progress = self.gap, self.n_iter
        is_idle = self.n_iter > self.last_progress + _MAX_IDLE
        if self.gap > self.allowed and (is_idle or self.n_rejected > _MAX_REJECTED):
            return "stalled"
        return super().status()

    def evaluate(self) -> None:
        if self.n_rejected:
            # The present duals belong to weights that were not taken.
            self.state.solve(self.weights, self.tolerance)
        super().evaluate()
        fresh = self.state.at(self.best.beta)
        inner = fresh.solve(np.zeros(self.path.tasks.n_weights), np.inf)
        support = self.path.support(fresh, inner)
        self.best = self.path.bound(self.best.edge_duals, support)

    def refine(self) -> None:
        super().refine()
        self.improve(self.path.bound(self.edge_duals, self.support))

    def improve(self, bound: _Bound) -> None:
        """Take a bound if it is higher."""
        if bound.value > self.best.value:
            self.best = bound

    def step(self) -> None:
        self.try_model(self.model())

    def model(self) -> Weights:
        """Minimise the quadratic model, cut where what is known is above it."""
        path, theta = self.path, self.theta
        if self.curvature is None:
            self.curvature = path.block_curvature(self.state, theta)
        # Where V has kinks its curvature holds for less than the way to a better bound.
        damped = self.curvature * _FLATTENING**self.n_flat
        diagonal = np.arange(path.n_kernels)
        damped[:, diagonal, diagonal] += self.damping[:, None]
        cuts, tol = None, max(0.05 * self.gap, 0.02 * self.allowed)
        while True:
            model = minimise_weights(
                -self.support.q,
                damped,
                theta,
                self.start.lam,
                cuts=cuts,
                edge_duals=self.edge_duals,
                rho=self.rho,
                tol=tol,
            )
            self.rho = model.rho
            predicted = model.objective - self.penalty
            if predicted > -model.gap and tol > _FLAT * self.gap:
                tol *= _REFINEMENT
                continue
            known = None if cuts is not None else path.cuts(self.support, theta)
            if known is None:
                return model
            change = model.theta - theta
            missed = known.offsets + np.einsum("tjm,tm->tj", known.slopes, change)
            if missed.max(axis=1).clip(0.0).sum() <= _MISSED * abs(predicted):
                return model
            cuts = known

    def try_model(self, model: Weights) -> None:
        """Take the weights of the model if the problem agrees, else learn from it."""
        path, support = self.path, self.support
        predicted = model.objective - self.penalty
        new_penalty = self.coupling(model.theta)
        trial = self.state.solve(model.theta.ravel(), self.tolerance)
        seen = path.support(self.state, trial)
        candidates = [support, seen]
        if model.shares.any():
            candidates.append(path.mixture(support, model.shares))
        self.improve(path.bound(model.edge_duals, *candidates))
        decrease = self.inner.dual + self.penalty - trial.dual - new_penalty
        enough = -_SUFFICIENT_DECREASE * predicted - _ROUNDING * self.objective
        if decrease >= enough:
            damping = self.seen_damping(model.theta, seen)
            path.remember(support)
            self.theta, self.inner, self.penalty = model.theta, trial, new_penalty
            self.limit = trial.limit
            self.support, self.edge_duals = seen, model.edge_duals
            self.damping = np.maximum(damping, _DECAY * self.damping)
            self.curvature = None
            self.n_iter += 1
            self.n_rejected = 0
        else:
            path.remember(seen)
            self.n_rejected += 1
        if -predicted >= _FLAT * self.gap:
            self.n_flat = 0
            return
        inner_gap = self.inner.primal - self.inner.dual
        if self.tolerance > FINEST_TOLERANCE and inner_gap > _SETTLED * self.gap:
            # The gap is one of q, which is known less well than V.
            self.tolerance *= _REFINEMENT
            self.solve()
            self.n_rejected = 0
        else:
            # What holds the weights is not q, but damping from less accurate values, or
            # curvature across a kink.
            self.damping[:] = 0.0
            self.n_flat += 1

    def seen_damping(self, theta: FloatArray, seen: _Support) -> FloatArray:
        """Return what makes the model agree with the values seen at other weights."""
        assert self.curvature is not None
        change = theta - self.theta
        squares = np.einsum("tm,tm->t", change, change)
        bend = np.einsum("tm,tmn,tn->t", change, self.curvature, change)
        excess = seen.at(theta) - self.support.at(self.theta)
        excess += np.einsum("tm,tm->t", self.support.q, change)
        damping = np.divide(
            2.0 * excess - bend,
            squares,
            out=np.zeros(squares.size),
            where=(squares > 0.0) & (2.0 * excess > bend + _NOISE * self.objective),
        )
        return np.maximum(damping, 0.0)

    def solution(self) -> Solution:
        """Return the solution with its certificate, and a warning if it is short."""
        path = self.path
        certificate = self.run()
        remedy = limit = ""
        if certificate.status == "stopped":
            remedy = remedy_of(path.tasks)
        if certificate.status == "stalled":
            limit = self.limit if self.is_limited else kernels_apart(path.tasks)
        warn_if_stopped(
            certificate,
            path.label.format(C=self.start.C, lam=self.start.lam),
            path.tol,
            steps="visited weights",
            remedy=remedy,
            limit=limit,
            stacklevel=5,
        )
        return Solution(
            coef=self.theta,
            certificate=certificate,
            dual=self.state.beta.copy(),
            intercept=self.state.intercept,
            extra={"groups": group_labels(self.theta)},
        )

    def visited(self) -> _Visited:
        """Return what the next search may start from."""
        return replace(
            self.start,
            beta=self.state.beta.copy(),
            theta=self.theta,
            edge_duals=self.edge_duals,
            damping=self.damping,
            rho=self.rho,
        )
