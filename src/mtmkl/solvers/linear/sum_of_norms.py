r"""Squared loss with two norms, each of its own part of the coefficients.

Solves, for T tasks with coefficients W = P + Q (d × T, a row per feature),

    min over P, Q of  Σ_t ||y_t − X_t (p_t + q_t)||² + λ·Ω(P) + μ·Ψ(Q)

for two norms of :mod:`mtmkl.solvers.linear.penalties`: row maxima with entries is the
dirty model of Jalali et al. (2010), rows with tasks the robust multi-task feature
learning of Gong et al. (2012).

Where a part's norm is at most the other's on every matrix, its weight counted, the
other part is zero at an optimum, and is left out: entries where μ ≥ λ, row maxima where
λ ≥ Tμ; tasks where μ ≥ √d·λ, rows where λ ≥ √T·μ. The rest alternates, as
:mod:`mtmkl.solvers.linear.task_admm`, a joint step in copies of both parts, which moves
them alike and is diagonal in the singular vectors of each X_t, with the proximal points
of the two norms. What is not solved soon goes on by augmented Lagrangians of the dual
problem: with σ > 0 and the last parts Z_k,

    min_a  ¼||a||² − Σ_t y_t'a_t + Σ_k ||prox_σk(Z_k + σ[X_1'a_1 … X_T'a_T])||² / 2σ,

prox_σk of σ times the norm of a part and its weight, has the parts after it, whose
zeros are exact, as these proximal points. Its gradient is ½a less the residuals of
these parts. It is piecewise smooth: Newton's method with one of the derivatives at the
point settles in some steps. Derivatives couple a task's samples, and by one vector for
each row of P in use all tasks; these vectors are eliminated last. For any a,
s·a is dual feasible if M = s[X_1'a_1 … X_T'a_T] has Ω°(M) ≤ λ and Ψ°(M) ≤ μ, and with
the best such scalar s

    Σ_t (y_t'a_t − ¼||a_t||²)

is a lower bound on the minimum.

References
----------
A. Jalali, P. Ravikumar, S. Sanghavi and C. Ruan, A dirty model for multi-task learning,
Advances in Neural Information Processing Systems 23, 2010. P. Gong, J. Ye and C. Zhang,
Robust multi-task feature learning, ACM SIGKDD International Conference on Knowledge
Discovery and Data Mining, 2012. X. Li, D. Sun and K.-C. Toh, A highly efficient
semismooth Newton augmented Lagrangian method for solving lasso problems, SIAM Journal
on Optimization 28(1), 2018.
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
from mtmkl.solvers.linear.task_admm import RELAXATION, BestPair, loss_step
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution
from mtmkl.typing import FloatArray, IntArray

ModelName = Literal["dirty", "robust"]

#: Norms of P and Q, as the compiled functions know them.
MODELS = {"dirty": (ROW_MAXIMA, ENTRIES), "robust": (ROWS, TASKS)}

# Iterations before Newton steps, those from one check to the next, points mixed.
_ALTERNATIONS, _CHECK_EVERY, _MEMORY = 100, 5, 10
# A ratio of residuals at which ρ changes, and its largest change.
_FAR, _FARTHEST = 2.0, 10.0
# A Lagrangian's gradient that is small enough, by the parts' move, both relative.
_CLOSE = 3.0
# What σ grows by after so few Newton steps, and is divided by after thrice as many.
_GROWTH, _FEW_STEPS = 3.0, 5
# Share by which the pull of an alternating step may put a dual point out of bounds.
_PULLED = 1e-12
# Share of the slope that a step must gain, rounding, what a step is shortened by, and
# where that ends.
_GAIN, _ROUNDING, _SHORTER, _SHORTEST = 1e-4, 1e-14, 0.3, 1e-12


def solve(
    tasks: TaskDecomposition,
    lam: float,
    mu: float,
    *,
    model: ModelName,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    start: tuple[FloatArray, FloatArray] | None = None,
) -> Solution:
    """Minimise Σ_t ||y_t − X_t (p_t + q_t)||² + λ·Ω(P) + μ·Ψ(Q) to a relative gap.

    Parameters
    ----------
    tasks, tol
        As for :func:`mtmkl.solvers.linear.task_admm.solve`.
    lam, mu : float
        λ, μ > 0.
    model : {"dirty", "robust"}
        Ω and Ψ: row maxima and entries, or rows and tasks.
    max_iter : int
        Maximum number of steps of both kinds.
    start : tuple of ndarray, optional
        ``extra["warm_start"]`` of a solution for the same tasks.

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
    steps = _Steps(tasks, (float(lam), float(mu)), model)
    best, n_iter = BestPair(tol), 1
    steps.begin(np.zeros((2, *steps.shape)), 2.0 * steps.target)
    best.offer(*steps.check())
    if not best.is_close and start is not None:
        steps.begin(*start)
        best.offer(*steps.check())
    while not best.is_close and n_iter < max_iter:
        n = min(_CHECK_EVERY, max_iter - n_iter) if n_iter < _ALTERNATIONS else 1
        if n_iter < _ALTERNATIONS:
            steps.alternate(n)
        else:
            steps.advance()
        best.offer(*steps.check())
        n_iter += n
    problem, parts = f"{model} model, weights {lam:g} and {mu:g}", best.point
    return Solution(
        coef=parts.sum(axis=0).T,
        certificate=best.certificate(n_iter, problem),
        dual=tasks.expand(best.dual[steps.is_row]),
        extra={
            "parts": parts.transpose(0, 2, 1),
            "warm_start": (steps.both(steps.parts), steps.a),
        },
    )


class _Steps:
    """Alternating and Newton steps; all of the tasks' arrays are padded."""

    #: σ; the arguments of the proximal points and these, P and Q as far as in use, and
    #: the residuals.
    sigma: float
    V: FloatArray
    parts: FloatArray
    residual: FloatArray

    def __init__(
        self, tasks: TaskDecomposition, weights: tuple[float, float], model: ModelName
    ) -> None:
        self.tasks = tasks
        self.X, self.target, self.is_row = tasks.padded
        self.constant, self.weights, self.codes = tasks.constant, weights, MODELS[model]
        self.shape = tasks.n_tasks, tasks.n_features
        self.used = _used(weights, model, *self.shape)

    def begin(self, parts: FloatArray, a: FloatArray) -> None:
        """Go on from P and Q, and a dual point, which is scaled where these are 0."""
        whole = parts.sum(axis=0, keepdims=True)
        self.Z = parts if len(self.used) == 2 else whole
        self.pull = self._pull(a)
        scale = 1.0 if whole.any() else min(self._room(self.pull), 1.0)
        self.a, self.pull = scale * a, scale * self.pull
        self._balance()
        self.n_steps = 0
        self.extrapolation = AndersonExtrapolation(self.Z.shape, _MEMORY)
        self._arrive()

    def check(self) -> tuple[float, FloatArray, float, FloatArray]:
        """Return the objective, P and Q, and the lower bound with its dual point."""
        value = self.constant + float(np.vdot(self.residual, self.residual))
        for part, Z in zip(self.used, self.parts, strict=True):
            value += self.weights[part] * norm(Z, self.codes[part])
        linear = float(np.vdot(self.target, self.a))
        quadratic = 0.25 * float(np.vdot(self.a, self.a))
        best = 0.5 * linear / quadratic if quadratic > 0.0 else 0.0
        room, exact = self._room(self.pull), self._room(self._pull(self.a))
        if exact < (1.0 - _PULLED) * room:
            # The pull of an alternating step is that of a only up to its own rounding,
            # in which features of another scale may drown what binds.
            room = exact
        scale = max(min(best, room), 0.0)
        lower = self.constant + scale * (linear - scale * quadratic)
        return value, self.both(self.parts), lower, scale * self.a

    def alternate(self, n: int) -> None:
        """Take some steps of the alternating direction method, with ρ = 1/σ."""
        for _ in range(n):
            last, move = self.parts, self.parts - self.V
            base, share = (last + move).sum(axis=0), len(move) * self.sigma
            _, self.pull, residual = loss_step(self.tasks.arrays, base, 1.0 / share)
            # By the step's optimality the pull is ρ times the move of each copy.
            move += self.sigma * self.pull
            self.V = self.extrapolation.following(self.V, RELAXATION * move)
            self.parts = self._proximal(self.V)
        self.a = np.zeros(self.target.shape)
        self.a[self.is_row] = 2.0 * residual
        self.Z, copies = self.parts, last + move
        scaled = self.V - self.parts
        pairs = (copies - self.parts, copies), (scaled, self.parts - last)
        sizes = np.array([[np.linalg.norm(part) for part in pair] for pair in pairs])
        ratio = 1.0
        if sizes.all():
            # The ratio of the relative residuals.
            ratio = np.sqrt(np.prod(sizes[:, 0] / sizes[:, 1]))
        elif not self.parts.any():
            ratio = _FARTHEST  # zeros that are not the optimum: levels are too large
        if not 1.0 / _FAR < ratio < _FAR:
            ratio = min(max(ratio, 1.0 / _FARTHEST), _FARTHEST)
            self.sigma /= ratio
            self.V = self.parts + scaled / ratio
            self.extrapolation.clear()
        self._fit()

    def advance(self) -> None:
        """Take a Newton step, of the next Lagrangian if this one is close enough."""
        gradient = 0.5 * self.a - self.residual
        size = np.linalg.norm(gradient) * np.linalg.norm(self.pull)
        move = np.linalg.norm(self.parts - self.Z) * np.linalg.norm(0.5 * self.a)
        if self.n_steps and size * self.sigma <= _CLOSE * move:
            self._next(self.n_steps)
        if self.n_steps == 0:
            self._arrive()
            gradient = 0.5 * self.a - self.residual
        step = self._direction(gradient)
        pull = self._pull(step)
        slope = float(np.vdot(gradient, step))
        line = 0.5 * np.vdot(self.a, step) - np.vdot(self.target, step)
        curve, before = 0.25 * np.vdot(step, step), np.vdot(self.parts, self.parts)
        length = 1.0
        while True:
            parts = self._proximal(self.V + length * self.sigma * pull)
            after = np.vdot(parts, parts)
            change = length * (line + length * curve)
            change += (after - before) / (2.0 * self.sigma)
            rounding = _ROUNDING * (after + before) / self.sigma
            if change <= _GAIN * length * slope + rounding or length < _SHORTEST:
                break
            length *= _SHORTER
        self.n_steps += 1
        self.a = self.a + length * step
        self.pull = self._pull(self.a)
        self._arrive()
        if length < _SHORTEST:
            self._next(4 * _FEW_STEPS)

    def both(self, parts: FloatArray) -> FloatArray:
        """Return P and Q, of which only those in use are given."""
        out = np.zeros((2, *self.shape))
        out[self.used] = parts
        return out

    def _balance(self) -> None:
        """Set σ by the sizes of the parts and the pull, or of the features."""
        parts, pull = map(np.linalg.norm, (self.Z, self.pull))
        if min(parts, pull) > 0.0:
            self.sigma = float(parts / pull)
        else:
            self.sigma = self.is_row.size / max(float(np.sum(self.X**2)), 1e-300)

    def _next(self, n_steps: int) -> None:
        """Go on to the next Lagrangian, after so many steps of this one."""
        self.Z, self.n_steps = self.parts, 0
        if n_steps <= _FEW_STEPS:
            self.sigma *= _GROWTH
        elif n_steps > 3 * _FEW_STEPS:
            self.sigma /= _GROWTH

    def _arrive(self) -> None:
        """Set what follows from a: the arguments of proximal points, these, and r."""
        self.V = self.Z + self.sigma * self.pull
        self.parts = self._proximal(self.V)
        self._fit()

    def _fit(self) -> None:
        """Set the residuals of the parts."""
        W = self.parts.sum(axis=0)
        rows = _in_use(W)
        fit = self.X[:, :, rows] @ W[:, rows, None]
        self.residual = self.target - fit[:, :, 0]

    def _proximal(self, V: FloatArray) -> FloatArray:
        parts = np.empty_like(V)
        for k, part in enumerate(self.used):
            level = self.weights[part] * self.sigma
            prox(V[k], level, self.codes[part], parts[k])
        return parts

    def _pull(self, a: FloatArray) -> FloatArray:
        """Return X_t'a_t of each task, shape (T, d)."""
        out: FloatArray = (a[:, None, :] @ self.X)[:, 0]
        return out

    def _room(self, pull: FloatArray) -> float:
        """Return the largest s such that s·a is dual feasible; 1 for zeros."""
        sizes = [float(dual_norm(pull, code)) for code in self.codes]
        pairs = zip(self.weights, sizes, strict=True)
        return min((weight / size for weight, size in pairs if size > 0.0), default=1.0)

    def _direction(self, gradient: FloatArray) -> FloatArray:
        """Return the Newton step."""
        n_rows = gradient.shape[1]
        factors, shared = np.zeros((2, *self.shape))
        own, shares = np.zeros(1), np.ones(self.shape[1])
        for k, part in enumerate(self.used):
            level, code = self.weights[part] * self.sigma, self.codes[part]
            more, vectors, weights = _derivative(self.V[k], self.parts[k], level, code)
            factors += more
            if code == TASKS:
                along = self.X @ vectors[:, :, None]
                own = weights[:, :, None] * along * along.transpose(0, 2, 1)
            elif code != ENTRIES:
                shared, shares = vectors, weights[0]
        rows = _in_use(factors)
        some = self.X[:, :, rows]
        H = (some * factors[:, None, rows]) @ some.transpose(0, 2, 1)
        H = self.sigma * (H + own) + 0.5 * np.eye(n_rows)
        rows = _in_use(shared)
        E = self.X[:, :, rows] * shared[:, None, rows]
        found = np.linalg.solve(H, np.concatenate([gradient[:, :, None], E], axis=2))
        E = E.reshape(gradient.size, E.shape[2])
        alone, moved = found[:, :, 0].ravel(), found[:, :, 1:].reshape(E.shape)
        G = E.T @ moved + np.diag(1.0 / (self.sigma * shares[rows]))
        out: FloatArray = moved @ np.linalg.solve(G, E.T @ alone) - alone
        return out.reshape(gradient.shape)


def _in_use(M: FloatArray) -> slice | IntArray:
    """Return the columns that are not zero, by a slice if that is none of them."""
    is_used = M.any(axis=0)
    return slice(None) if is_used.all() else np.flatnonzero(is_used)


def _derivative(
    V: FloatArray, Z: FloatArray, level: float, code: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return F, U and f of a derivative M → F∘M + U∘f(U∘M summed) at V of a ``prox``.

    The sum is along the rows or columns that f, with an axis of 1, has one number for.
    """
    if code == ENTRIES:
        return (Z != 0.0).astype(float), np.zeros_like(V), np.zeros((1, 1))
    if code == ROW_MAXIMA:
        in_use = Z.any(axis=0)
        is_clipped = (Z != V) & in_use
        n_clipped = np.maximum(is_clipped.sum(axis=0, keepdims=True), 1)
        return (Z == V) * in_use * 1.0, np.sign(V) * is_clipped, 1.0 / n_clipped
    sizes = np.linalg.norm(V, axis=0 if code == ROWS else 1, keepdims=True)
    sizes = np.maximum(sizes, max(level, 1e-300))
    f = level / sizes
    return np.broadcast_to(1.0 - f, V.shape), np.where(f < 1.0, V / sizes, 0.0), f


def _used(
    weights: tuple[float, float], model: ModelName, n_tasks: int, d: int
) -> list[int]:
    """Return the parts that are not zero for their weights alone; see the module."""
    lam, mu = weights
    most = (n_tasks, 1.0) if model == "dirty" else (np.sqrt(n_tasks), np.sqrt(d))
    if mu >= most[1] * lam:
        return [0]
    return [1] if lam >= most[0] * mu else [0, 1]
