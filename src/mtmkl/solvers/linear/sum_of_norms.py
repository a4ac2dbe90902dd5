r"""Squared loss with two norms, each of its own part of the coefficients.

Solves, for T tasks with coefficients W = P + Q (d × T, a row per feature),

    min over P, Q of  Σ_t ||y_t − X_t (p_t + q_t)||² + λ·Ω(P) + μ·Ψ(Q)

for two norms of

- "row maxima", Σ_i max_t |p_it|, the (1,∞)-norm; its dual norm is max_i Σ_t |m_it|;
- "rows", Σ_i ||p^i||, the (2,1)-norm; its dual norm is the largest norm of a row;
- "entries", Σ_it |q_it|; its dual norm is the largest absolute value;
- "tasks", Σ_t ||q_t||; its dual norm is the largest norm of a column.

Row maxima with entries is the dirty model of Jalali et al. (2010), rows with tasks the
robust multi-task feature learning of Gong et al. (2012).

Where a part's norm is at most the other's on every matrix, its weight counted, the
other part is zero at an optimum, and is left out: entries where μ ≥ λ, row maxima where
λ ≥ Tμ; tasks where μ ≥ √d·λ, rows where λ ≥ √T·μ. The rest alternates, as
:mod:`mtmkl.solvers.linear.task_admm`, a joint step in copies of both parts, which moves
them alike and is diagonal in the singular vectors of each X_t, with the proximal points
of the two norms, whose zeros are exact. For residuals r_t of the joint step,
a_t = s·2r_t (and 2y_t outside the range of X_t) is dual feasible if
M = [X_1'a_1 … X_T'a_T] has Ω°(M) ≤ λ and Ψ°(M) ≤ μ, and with the best such scalar s

    Σ_t (y_t'a_t − ¼||a_t||²)

is a lower bound on the minimum.

References
----------
A. Jalali, P. Ravikumar, S. Sanghavi and C. Ruan, A dirty model for multi-task learning,
Advances in Neural Information Processing Systems 23, 2010. P. Gong, J. Ye and C. Zhang,
Robust multi-task feature learning, ACM SIGKDD International Conference on Knowledge
Discovery and Data Mining, 2012. H. F. Walker and P. Ni, Anderson acceleration for
fixed-point iterations, SIAM Journal on Numerical Analysis 49(4), 2011.
"""

from typing import Literal

import numpy as np

from mtmkl.solvers.anderson import AndersonExtrapolation
from mtmkl.solvers.linear.penalties import (
    ENTRIES,
    ROW_MAXIMA,
    ROWS,
    TASKS,
    dual_norm,
    norm,
    prox,
)
from mtmkl.solvers.linear.task_admm import (
    RELAXATION,
    BestPair,
    Splitting,
    WarmStart,
    alternate,
    loss_step,
    residuals,
)
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution, warn_if_stopped
from mtmkl.typing import FloatArray

ModelName = Literal["dirty", "robust"]

# Points that acceleration mixes: some 700 kB each for 45 tasks of 784 features.
_MEMORY = 10

#: Norms of P and Q, as the compiled functions know them.
MODELS = {"dirty": (ROW_MAXIMA, ENTRIES), "robust": (ROWS, TASKS)}


def solve(
    tasks: TaskDecomposition,
    lam: float,
    mu: float,
    *,
    model: ModelName,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    start: WarmStart | None = None,
) -> Solution:
    """Minimise Σ_t ||y_t − X_t (p_t + q_t)||² + λ·Ω(P) + μ·Ψ(Q) to a relative gap.

    Parameters
    ----------
    tasks : TaskDecomposition
        The data, shared between all weights and both models.
    lam, mu : float
        λ, μ > 0.
    model : {"dirty", "robust"}
        Ω and Ψ: row maxima and entries, or rows and tasks.
    tol, max_iter, start
        As for :func:`mtmkl.solvers.linear.task_admm.solve`.

    Returns
    -------
    Solution
        ``coef`` = P + Q of shape (d, T); ``dual`` of shape (n,), a dual feasible point
        in the order of the samples; ``extra["parts"]``, P and Q, of shape (2, d, T);
        ``extra["warm_start"]``. The first iteration is W = 0, which ends the search
        where it is the optimum.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` is reached before ``tol``; the message states the gap.
    """
    steps = _PartSteps(tasks, (float(lam), float(mu)), model, start)
    best = BestPair(tol)
    best.offer(*steps.nothing())
    n_iter = alternate(steps, best, max_iter=max_iter, n_iter=1)
    certificate = best.certificate(n_iter)
    problem = f"{model} model, weights {lam:g} and {mu:g}"
    warn_if_stopped(certificate, problem, tol)
    parts = best.point
    return Solution(
        coef=parts.sum(axis=0).T,
        certificate=certificate,
        dual=tasks.expand(best.dual),
        extra={"parts": parts.transpose(0, 2, 1), "warm_start": steps.end()},
    )


class _PartSteps(Splitting):
    """The splitting of copies of P and Q from P and Q themselves."""

    check_every = 5
    bound_lags = False

    def __init__(
        self,
        tasks: TaskDecomposition,
        weights: tuple[float, float],
        model: ModelName,
        start: WarmStart | None,
    ) -> None:
        self.tasks, self.weights, self.codes = tasks, weights, MODELS[model]
        self.used = _used(weights, model, tasks.n_tasks, tasks.n_features)
        self.pull = tasks.adjoint(2.0 * tasks.target)
        if start is None:
            nothing = np.zeros((2, *self.pull.shape))
            step = 2.0 * float(np.sum(tasks.singular**2)) / max(tasks.singular.size, 1)
            start = WarmStart(nothing, -self.pull, step)
        # At an optimum the multiplier is on the boundary of what is dual feasible.
        scale = self._room(start.multiplier)
        self.Z = start.primal[self.used]
        self.step = self.balanced = scale * start.step
        #: L = ρ(Z − V), each Z being the proximal point of a V.
        self.V = self.Z - scale * start.multiplier / (self.step or 1.0)
        self.extrapolation = AndersonExtrapolation(self.Z.shape, _MEMORY)

    def nothing(self) -> tuple[float, FloatArray, float, FloatArray]:
        """Return what a check finds at W = 0."""
        target = self.tasks.target
        value = self.tasks.constant + float(target @ target)
        return value, np.zeros((2, *self.pull.shape)), *self._bound(target, self.pull)

    def advance(self) -> None:
        Z, V, step = self.Z, self.V, self.step
        scaled = Z - V
        base, share = (Z + scaled).sum(axis=0), step / len(Z)
        _, self.pull, self.residual = loss_step(*self.tasks.arrays, base, share)
        # By the step's optimality the pull is ρ times the move of each copy.
        scaled += self.pull / step
        scaled *= RELAXATION
        self.before = Z, V
        self.V = V = self.extrapolation.following(V, scaled)
        self.Z = np.empty_like(Z)
        for k, part in enumerate(self.used):
            prox(V[k], self.weights[part] / step, self.codes[part], self.Z[k])

    def check(self) -> tuple[float, FloatArray, float, FloatArray]:
        rest = residuals(*self.tasks.arrays, self.Z.sum(axis=0))
        value = self.tasks.constant + float(rest @ rest)
        for k, part in enumerate(self.used):
            value += self.weights[part] * norm(self.Z[k], self.codes[part])
        return value, self._both(self.Z), *self._bound(self.residual, self.pull)

    def balance(self) -> float:
        if not self.Z.any():
            return 10.0  # where W = 0 is not the optimum the thresholds are too large
        Z, V = self.before
        self.previous, self.L = (Z, self.step * (Z - V)), self.step * (self.Z - self.V)
        return super().balance()

    def scale_step(self, factor: float) -> None:
        self.step *= factor
        self.V = self.Z - (self.Z - self.V) / factor
        self.extrapolation.clear()

    def end(self) -> WarmStart:
        """Return where the next solve may start."""
        multiplier = self.step * (self.Z - self.V).mean(axis=0)
        return WarmStart(self._both(self.Z), multiplier, self.balanced)

    def _both(self, Z: FloatArray) -> FloatArray:
        parts = np.zeros((2, *Z.shape[1:]))
        parts[self.used] = Z
        return parts

    def _room(self, M: FloatArray) -> float:
        """Return the largest s such that s·M is dual feasible; 1 for zeros."""
        sizes = [float(dual_norm(M, code)) for code in self.codes]
        pairs = zip(self.weights, sizes, strict=True)
        return min((weight / size for weight, size in pairs if size > 0.0), default=1.0)

    def _bound(
        self, residual: FloatArray, pull: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the lower bound of the best multiple of 2r, and this, reduced."""
        linear = 2.0 * float(self.tasks.target @ residual)
        quadratic = float(residual @ residual)
        best = 0.5 * linear / quadratic if quadratic > 0.0 else 0.0
        scale = max(min(best, self._room(pull)), 0.0)
        lower = self.tasks.constant + scale * (linear - scale * quadratic)
        return lower, 2.0 * scale * residual


def _used(
    weights: tuple[float, float], model: ModelName, n_tasks: int, d: int
) -> list[int]:
    """Return the parts that are not zero for their weights alone; see the module."""
    lam, mu = weights
    most = (n_tasks, 1.0) if model == "dirty" else (np.sqrt(n_tasks), np.sqrt(d))
    if mu >= most[1] * lam:
        return [0]
    return [1] if lam >= most[0] * mu else [0, 1]
