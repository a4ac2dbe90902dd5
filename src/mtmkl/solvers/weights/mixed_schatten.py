r"""Multiple kernel learning with trace norms over the tasks and a q-norm over kernels.

The problem MK-MTSFL of Jawanpuria and Nath (2011), for 1 ≤ q ≤ 2, over matrices W_j of
the models of T tasks (columns) in kernel j and intercepts b,

    min  ½ (Σ_j ‖W_j‖_tr^q)^{2/q} + C Σ loss,

the trace norm being the least Σ_l ‖w_·jl‖ over rotations of the features. A dual is

    max_β  ℓ(β) − ½ ‖(σ_max(B_j))_j‖²_{q/(q−1)},      B_j = [Φ_1j'β_1 … Φ_Tj'β_T],

and for matrices Q_j ⪰ 0 with Σ_j (tr Q_j)^q̄ ≤ 1, q̄ = q/(2 − q), machines of single
tasks on the kernel Σ_j φ_j'Q_jφ_j have models W_j = Q_jB_j and an objective V(Q) that
is an upper bound of the minimum. The minimum of V is that of the problem.

Features are coordinates z_j of the span of the training samples, cut where their
spectrum is negligible: what is beyond is no part of the problem. The method of
multipliers (ADMM) splits W = Z. In W the tasks are machines on Σ_j K_j/ρ, the same in
every iteration; Z is a proximal point, singular values less a threshold for each
kernel. Every few iterations β of the machines gives a lower bound, and Q of the
singular vectors of Z an upper one, by machines on few features. A small ρ is quick at
the lower bound and slow at the upper, a large one the other way round: so it balances
the residuals, and mixing the last iterates makes both quick.

Models of many tasks lie in few directions of the coordinates. They are sought in the
span of some, where iterations are quick. The lower bound is that of all coordinates;
where it is too low, leading right singular vectors of the B_j join the directions.

References
----------
P. Jawanpuria, J. S. Nath, Multi-task multiple kernel learning, SIAM International
Conference on Data Mining, 2011. S. Boyd et al., Distributed optimization and
statistical learning via the alternating direction method of multipliers, 2011.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from mtmkl.kernels.gram import GramBlocks
from mtmkl.solvers.anderson import AndersonExtrapolation
from mtmkl.solvers.descent import (
    FINEST_TOLERANCE,
    Inner,
    first_tolerance,
    next_tolerance,
)
from mtmkl.solvers.solution import (
    Solution,
    Status,
    certified,
    relative_gap,
    warn_if_stopped,
)
from mtmkl.solvers.svm.task_duals import (
    DualProblem,
    TaskDuals,
    feature_weights,
    remedy_of,
)
from mtmkl.solvers.weights.norm_weights import dual_norm
from mtmkl.solvers.weights.schatten_steps import (
    Spectra,
    add_own_sums,
    decompose,
    largest_values,
    own_outputs,
    shrink,
    spans_of,
    thresholds_of,
)
from mtmkl.typing import FloatArray, IntArray

_RELAXATION = 1.6
_CHECK_EVERY, _ADAPT_EVERY, _LAST_BALANCE = 5, 10, 200
_NEAR = 3e-3  # relative gap from which on ρ stays
_MEMORY = 5  # iterates that are mixed
_ACCURACY = 0.02  # of machines, by the gap
_IDLE, _IDLE_CHECKS = 0.99, 4  # what is left of a gap that stands still, and how long
_SHARE = 0.05  # of the gap that is left to the machines on Q
_ROUNDING = 1e-14  # of C
_MANY_TASKS = 32  # from which on directions are worth their while
# Directions that join: singular values by the largest, and how many.
_LEADING, _FEWEST, _MOST = 0.95, 5, 40
_IN_USE, _LARGEST_ORDER = 1e-6, 100.0  # kernels by their share of the dual norm
_NEW = 1e-6  # length of a direction apart from the others
_WIDE = 0.7  # of the coordinates of a kernel, from where on all are taken
_MOST_ROUNDS = 30
# Gap in some directions: by that in all, by the tolerance, and at most.
_OF_GAP, _OF_TOLERANCE, _MOST_GAP = 0.2, 0.3, 0.03


@dataclass(frozen=True)
class SchattenProblem:
    """Tasks on the coordinates of several kernels."""

    #: Coordinates of the samples (N, D), tasks one after the other; kernel j has the
    #: columns ``ends[j]:ends[j + 1]``.
    factors: FloatArray
    ends: IntArray
    #: From which to which column a sample has coordinates other than 0 in a kernel,
    #: (N, k, 2): Cholesky factors are triangular, those of narrow kernels diagonal.
    spans: IntArray
    #: The tasks on the sum of the kernels, one term.
    tasks: DualProblem
    #: From 1 to 2.
    q: float

    @classmethod
    def of(
        cls,
        factors: Sequence[FloatArray],
        c: FloatArray,
        sizes: IntArray,
        q: float,
        *,
        epsilon: float | None = None,
    ) -> "SchattenProblem":
        """Return a problem of the coordinates (N, d_j) in each of k kernels.

        ``sizes`` (T,) are the numbers of samples of the tasks; the other arguments are
        those of a :class:`DualProblem`.
        """
        stacked = np.ascontiguousarray(np.concatenate(factors, axis=1))
        ends = np.cumsum([0, *(each.shape[1] for each in factors)]).astype(np.intp)
        tasks = DualProblem.of(c, one_gram(stacked, sizes), epsilon=epsilon)
        return cls(stacked, ends, spans_of(stacked, ends), tasks, float(q))

    def duals_in_features(self, beta: FloatArray) -> FloatArray:
        """Return B', shape (T, D)."""
        out = np.zeros((self.tasks.n_tasks, self.factors.shape[1]))
        self.add_own_sums(beta, out)
        return out

    def add_own_sums(self, beta: FloatArray, W: FloatArray) -> None:
        """Add B' to W, shape (T, D)."""
        add_own_sums(self.tasks.offsets, self.factors, self.spans, beta, W)

    def dual_value(self, beta: FloatArray, largest: FloatArray) -> tuple[float, float]:
        """Return the dual's value at the best multiple of a feasible β, and that.

        ``largest`` are the σ_max(B_j), (k,).
        """
        norm = dual_norm(largest, self.q)
        size = self.tasks.epsilon * float(np.abs(beta).sum())
        linear = float(self.tasks.c @ beta) - size
        share = 1.0
        if norm > 0.0:
            share = min(max(linear / norm**2, 0.0), 1.0)
        return share * linear - 0.5 * (share * norm) ** 2, share

    def machines(self, blocks: GramBlocks, C: float, beta: FloatArray) -> TaskDuals:
        """Return machines of the tasks on other kernels, begun at β."""
        weight = np.tile(np.arange(blocks.n_terms), (self.tasks.n_tasks, 1))
        problem = replace(
            self.tasks, blocks=blocks, weight=weight, n_weights=blocks.n_terms
        )
        return _begun(problem, C, beta)

    def norm(self, W: FloatArray) -> tuple[float, FloatArray]:
        """Return N and the trace norms n_j of W', shape (T, D)."""
        blocks = [W[:, first:last] for first, last in pairwise(self.ends)]
        norms = np.array(
            [np.linalg.norm(each, "nuc") if each.size else 0.0 for each in blocks]
        )
        return float(np.linalg.norm(norms, self.q)), norms


def _begun(problem: DualProblem, C: float, beta: FloatArray) -> TaskDuals:
    """Return machines begun at β."""
    state = TaskDuals(problem, C)
    state.start(beta)
    return state


def one_gram(factors: FloatArray, sizes: IntArray) -> GramBlocks:
    """Return the blocks of the kernel zz' of each task."""
    parts = np.split(factors, np.cumsum(sizes)[:-1])
    return GramBlocks.of(
        sizes, grams=np.concatenate([(Z @ Z.T).reshape(-1, 1) for Z in parts])
    )


def _in_coordinates(W: FloatArray, bases: Sequence[FloatArray]) -> FloatArray:
    """Return W', (T, K) by bases (d_j, K_j) of the kernels, in coordinates, (T, D)."""
    ends = np.cumsum([0, *(each.shape[1] for each in bases)])
    parts = [W[:, first:last] for first, last in pairwise(ends)]
    pairs = zip(parts, bases, strict=True)
    return np.concatenate([part @ basis.T for part, basis in pairs], axis=1)


@dataclass
class _Model:
    """Machines on Q: directions of the coordinates with weights, and duals."""

    directions: list[FloatArray]
    weights: FloatArray
    state: TaskDuals
    inner: Inner


class MixedSchattenPath:
    """Solutions for many C by the method of multipliers, each started from the last.

    Parameters
    ----------
    problem : SchattenProblem
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on iterations.
    """

    def __init__(
        self, problem: SchattenProblem, *, tol: float = 1e-4, max_iter: int = 5000
    ) -> None:
        self.problem = problem
        self.tol = tol
        self.max_iter = max_iter
        self._S = np.zeros((problem.tasks.n_tasks, problem.factors.shape[1]))
        self._rho = 1.0
        self._duals: TaskDuals | None = None
        is_large = problem.tasks.n_tasks >= _MANY_TASKS
        self._directions = _Directions(problem) if is_large else None

    def solve(self, C: float) -> Solution:
        """Solve for one C > 0.

        Returns ``coef``: W', shape (T, D), of low rank; ``dual``: β (N,), scaled, of
        the lower bound; ``intercept``: (T,); ``extra``: "norms" (k,), the trace norms,
        and "ranks" (k,).
        """
        if self._duals is None:
            self._duals = TaskDuals(self.problem.tasks, C)
        elif C != self._duals.C:
            # Rounding leaves some 1e-16 C of a β that is 0 for the intercept of the
            # last iteration: no multiple of it is best, and its quadratic term may be
            # 0.
            beta = self._duals.beta
            beta[np.abs(beta) <= _ROUNDING * self._duals.C] = 0.0
            self._duals.rescale(C)
            self._duals.refresh()
        solution, limit, n_iter = None, "", 0
        if self._directions is not None:
            solution, limit, n_iter = self._solve_in_directions(C, self._directions)
        if solution is None:
            search = _Search(self.problem, self._duals, self._S, self._rho, self.tol)
            solution, limit = search.run(max(self.max_iter - n_iter, 1))
            self._S, self._rho = search.S, search.rho
            found = solution.certificate
            found = replace(found, n_iter=found.n_iter + n_iter)
            solution = replace(solution, certificate=found)
        certificate = solution.certificate
        is_stopped = certificate.status == "stopped"
        warn_if_stopped(
            certificate,
            f"mixed Schatten norms, C={C:g}, q={self.problem.q:g}",
            self.tol,
            remedy=remedy_of(self.problem.tasks) if is_stopped else "",
            limit=limit,
        )
        return solution

    def _solve_in_directions(
        self, C: float, directions: "_Directions"
    ) -> tuple[Solution | None, str, int]:
        """Solve in more and more directions.

        Without a solution where these are too many: all coordinates are next, from
        where the directions led.
        """
        assert self._duals is not None
        problem, best, limit = self.problem, None, ""
        bound, n_iter, floor = -np.inf, 0, problem.tasks.floor(C)
        history: list[float] = []
        within = directions.within
        if within is None:
            self._duals.solve(np.array([1.0 / self._rho]), first_tolerance(self.tol))
        for n_round in range(_MOST_ROUNDS):
            gap, beta = np.inf, self._duals.beta
            if n_round > 0 or within is None:
                B = problem.duals_in_features(beta)
                decompose(B, directions.spectra)
                largest = directions.spectra.values[:, 0].copy()
                value, share = problem.dual_value(beta, largest)
                if value > bound:
                    bound, dual = value, share * beta
                if best is not None:
                    gap = relative_gap(history[-1], bound, floor)
                    if gap <= self.tol or n_iter >= self.max_iter:
                        status: Status = "converged" if gap <= self.tol else "stopped"
                        found = certified(history, bound, n_iter, status, floor)
                        solution = replace(best, certificate=found, dual=dual)
                        return solution, limit, n_iter
                within = directions.widen(B, self._rho)
                if within is None:
                    break
                self._duals = _begun(within.tasks, C, beta)
            tol = min(max(_OF_GAP * gap, _OF_TOLERANCE * self.tol), _MOST_GAP)
            search = _Search(within, self._duals, directions.S, self._rho, tol)
            solution, limit = search.run(max(self.max_iter - n_iter, 1))
            directions.S, self._rho = search.S, search.rho
            n_iter += solution.certificate.n_iter
            if best is None or solution.certificate.objective < history[-1]:
                coef = _in_coordinates(solution.coef, directions.bases)
                best = replace(solution, coef=coef)
            history.append(best.certificate.objective)
            if solution.certificate.status == "stalled":
                break
        self._S = _in_coordinates(directions.S, directions.bases)
        self._duals = _begun(problem.tasks, C, self._duals.beta)
        self._directions = None
        return None, "", n_iter


class _Directions:
    """Orthonormal directions of the coordinates of each kernel, K in all.

    ``within`` is the problem in these directions, None before there are any, and S
    (T, K) is that of its search.
    """

    def __init__(self, problem: SchattenProblem) -> None:
        self.problem = problem
        self.spectra = Spectra.of(problem.ends, problem.tasks.n_tasks)
        self.factors = np.split(problem.factors, problem.ends[1:-1], axis=1)
        self.bases = [np.zeros((each.shape[1], 0)) for each in self.factors]
        self.parts = [each[:, :0] for each in self.factors]
        self.within: SchattenProblem | None = None
        self.S = np.zeros((problem.tasks.n_tasks, 0))

    def widen(self, B: FloatArray, rho: float) -> SchattenProblem | None:
        """Add leading directions of B' as decomposed; None if none is new."""
        problem = self.problem
        values, largest = self.spectra.values, self.spectra.values[:, 0]
        norm = max(dual_norm(largest, problem.q), 1e-300)
        order = _LARGEST_ORDER
        if problem.q > 1.0:
            order = min(problem.q / (problem.q - 1.0), order)
        leading = np.sum(values > _LEADING * largest[:, None], axis=1)
        leading = np.clip(leading, _FEWEST, _MOST)
        leading[(largest / norm) ** order <= _IN_USE] = 1
        leading = np.minimum(leading, np.sum(values > _NEW * norm, axis=1))
        vectors = self.spectra.right(B, leading)
        pieces = zip(
            np.split(self.S, np.cumsum([each.shape[1] for each in self.bases])[:-1], 1),
            np.split(B / rho, problem.ends[1:-1], axis=1),
            strict=True,
        )
        S, is_wider = [], False
        for j, (inside, whole) in enumerate(pieces):
            basis, new = self.bases[j], vectors[j]
            for _ in range(2):
                new = new - basis @ (basis.T @ new)
            new, lengths, _ = np.linalg.svd(new, full_matrices=False)
            new = new[:, lengths > _NEW]
            d, width = basis.shape[0], basis.shape[1] + new.shape[1]
            is_wider |= new.shape[1] > 0
            if new.shape[1] and width > _WIDE * d:
                # What is outside the directions comes from the multipliers alone.
                inside = (inside - whole @ basis) @ basis.T + whole
                self.bases[j], self.parts[j] = np.eye(d), self.factors[j]
            elif new.shape[1]:
                inside = np.concatenate([inside, whole @ new], axis=1)
                self.bases[j] = np.concatenate([basis, new], axis=1)
                part = self.factors[j] @ new
                self.parts[j] = np.concatenate([self.parts[j], part], axis=1)
            S.append(inside)
        if not is_wider:
            return None
        self.S = np.concatenate(S, axis=1)
        tasks = problem.tasks
        within = SchattenProblem.of(self.parts, tasks.c, tasks.blocks.sizes, problem.q)
        tasks = replace(tasks, blocks=within.tasks.blocks)
        self.within = replace(within, tasks=tasks)
        return self.within


class _Search:
    """Iterations for one C: S = Z + U, the multipliers ρU being B in the limit."""

    def __init__(
        self,
        problem: SchattenProblem,
        duals: TaskDuals,
        S: FloatArray,
        rho: float,
        tol: float,
    ) -> None:
        self.problem, self.duals, self.tol = problem, duals, tol
        self.S, self.rho = S, rho
        self.extrapolation = AndersonExtrapolation(S.shape, _MEMORY)
        self.spectra = Spectra.of(problem.ends, problem.tasks.n_tasks)
        k = problem.ends.size - 1
        self.thresholds, self.norms, self.norm = np.zeros(k), np.zeros(k), 0.0
        self.Z = np.zeros_like(S)
        self.tolerance = first_tolerance(tol)
        self.bound, self.best_beta = -np.inf, duals.beta.copy()
        self.best: _Model | None = None
        self.floor = problem.tasks.floor(duals.C)
        self.gap = np.inf
        self.history: list[float] = []

    def run(self, max_iter: int) -> tuple[Solution, str]:
        """Iterate until the gap is closed; return what limits a stalled one, too."""
        n_iter = idle = 0
        status: Status | None = None
        while status is None:
            n_iter += 1
            before = self.Z
            self.proximal_point()
            W, inner = self.machines()
            if n_iter == 1 or n_iter % _CHECK_EVERY == 0 or n_iter >= max_iter:
                last = self.gap
                self.check()
                idle = idle + 1 if self.gap > _IDLE * last else 0
                if self.gap <= self.tol:
                    status = "converged"
                elif self.tolerance < FINEST_TOLERANCE:
                    status = "stalled"
                elif n_iter >= max_iter:
                    status = "stopped"
                wanted = max(_ACCURACY * self.gap, 0.1 * FINEST_TOLERANCE)
                if idle == _IDLE_CHECKS:
                    # Of a large C outputs are worth more than the gap says.
                    wanted = min(wanted, max(0.1 * self.tolerance, FINEST_TOLERANCE))
                    idle = 0
                self.tolerance = min(self.tolerance, wanted)
            factor = 1.0
            is_far = self.gap > _NEAR and n_iter <= _LAST_BALANCE
            if is_far and n_iter % _ADAPT_EVERY == 0:
                factor = self.change_of_rho(W, before)
            if factor == 1.0:
                W -= self.Z
                W *= _RELAXATION
                self.S = self.extrapolation.following(self.S, W)
            else:
                self.S = self.Z + (self.S - self.Z) / factor
                self.rho *= factor
                self.extrapolation.clear()
        return self.result(n_iter, status), inner.limit

    def proximal_point(self) -> None:
        """Renew Z."""
        decompose(self.S, self.spectra)
        self.norm = thresholds_of(
            self.spectra.values,
            self.problem.q,
            1.0 / self.rho,
            self.thresholds,
            self.norms,
        )
        self.Z = shrink(self.S, self.spectra, self.thresholds)

    def machines(self) -> tuple[FloatArray, Inner]:
        """Return W, by the machines of single tasks with 2Z − S for an intercept."""
        problem, duals = self.problem, self.duals
        W = self.Z - self.S
        W += self.Z
        offsets = problem.tasks.offsets
        duals.shift(own_outputs(offsets, problem.factors, problem.spans, W))
        duals.renew()
        inner = duals.solve(np.array([1.0 / self.rho]), self.tolerance)
        problem.add_own_sums(duals.beta / self.rho, W)
        return W, inner

    def check(self) -> None:
        """Renew the bounds and the gap."""
        problem, beta = self.problem, self.duals.beta
        largest = largest_values(problem.duals_in_features(beta), problem.ends)
        bound, share = problem.dual_value(beta, largest)
        if bound > self.bound:
            self.bound, self.best_beta = bound, share * beta
        model = self.model(beta)
        if self.best is None or model.inner.primal < self.best.inner.primal:
            self.best = model
        value = self.best.inner.primal
        self.history.append(value)
        self.gap = relative_gap(value, self.bound, self.floor)

    def model(self, beta: FloatArray) -> _Model:
        """Return machines on the Q that belongs to Z, and their upper bound."""
        values = self.spectra.values - self.thresholds[:, None]
        ranks = np.sum(values > 0.0, axis=1)
        directions = self.spectra.right(self.S, ranks)
        weights, parts = [], []
        for j, rank in enumerate(ranks):
            if rank:
                # λ_j = (n_j/N)^{2−q}, and z_l/n_j of it in each direction.
                ratio = (self.norms[j] / self.norm) ** (2.0 - self.problem.q)
                weights.append(ratio * values[j, :rank] / self.norms[j])
                block = slice(self.problem.ends[j], self.problem.ends[j + 1])
                parts.append(self.problem.factors[:, block] @ directions[j])
        w = np.concatenate(weights) if weights else np.zeros(1)
        features = np.concatenate(parts, axis=1) if parts else np.zeros((beta.size, 1))
        blocks = GramBlocks.of(self.problem.tasks.blocks.sizes, features=features)
        state = self.problem.machines(blocks, self.duals.C, beta)
        tolerance = first_tolerance(self.tol)
        inner = state.solve(w, tolerance)
        while not inner.limit and tolerance > FINEST_TOLERANCE:
            gap = max(inner.primal - self.bound, self.tol * abs(inner.primal))
            if inner.primal - inner.dual <= _SHARE * gap:
                break
            tolerance = next_tolerance(tolerance, inner, 0.5 * _SHARE * gap)
            inner = state.solve(w, tolerance)
        return _Model(directions, w, state, inner)

    def change_of_rho(self, W: FloatArray, before: FloatArray) -> float:
        """Return by what to multiply ρ to balance residuals."""
        primal = float(np.linalg.norm(W - self.Z) * np.linalg.norm(self.S - self.Z))
        dual = float(np.linalg.norm(self.Z - before) * np.linalg.norm(self.Z))
        factor = float(np.clip(np.sqrt(primal / max(dual, 1e-300)), 0.2, 5.0))
        return 1.0 if 2.0 / 3.0 < factor < 1.5 else factor

    def result(self, n_iter: int, status: Status) -> Solution:
        """Return the solution with its certificate."""
        problem, best = self.problem, self.best
        assert best is not None
        inner = best.state.evaluate(best.weights)
        features = feature_weights(best.state.problem.blocks, best.state.beta)
        W = _in_coordinates(features * best.weights, best.directions)
        norm, norms = problem.norm(W)
        # What the machines pay for Q is at least ½N².
        quadratic = float(best.weights @ inner.q)
        self.history[-1] = inner.primal - max(quadratic - 0.5 * norm**2, 0.0)
        certificate = certified(self.history, self.bound, n_iter, status, self.floor)
        return Solution(
            coef=W,
            certificate=certificate,
            dual=self.best_beta,
            intercept=best.state.intercept,
            extra={
                "norms": norms,
                "ranks": np.array([V.shape[1] for V in best.directions]),
            },
        )
