r"""The logistic dual of all samples, for given weights of their kernels.

Without intercept, and with β = yα,

    max_{0≤α≤C}  h(α) − Σ_m θ_m q_m,    q_m = ½ β'K_mβ,
    h(α) = −Σ_i [α_i log(α_i/C) + (C − α_i) log(1 − α_i/C)],

by coordinate ascent on the matrix Σ_m θ_m K_m, in random order; a step solves for one
α_i exactly.
"""

from copy import copy
from dataclasses import replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import xlogy

from mtmkl.compiled import add_scaled, compiled
from mtmkl.kernels.gram import GramBlocks
from mtmkl.solvers.descent import Inner
from mtmkl.typing import FloatArray, IntArray

_MAX_EPOCHS = 20_000  # for one set of weights
_MOST_WORK = 1e11  # multiplications for one solution
_STILL = 1e-15  # of the dual: an epoch that gains less has only rounding to gain


class LogisticDuals:
    """The logistic dual, continued from weights to weights.

    An :class:`~mtmkl.solvers.descent.InnerProblem` with the interface of
    :class:`~mtmkl.solvers.svm.task_duals.TaskDuals`; an accuracy is a relative duality
    gap for the given weights. The blocks are one of all samples, of matrices alone;
    ``rng`` draws the order of the samples; ``beta`` has y_i α_i of the last solution.
    """

    def __init__(
        self, blocks: GramBlocks, y: FloatArray, C: float, rng: np.random.Generator
    ) -> None:
        self.C = C
        self.beta = np.zeros(y.size)
        self._y = y
        self._grams = blocks.grams
        self._rng = rng
        self._theta: FloatArray | None = None
        self.renew()

    @property
    def intercept(self) -> FloatArray:
        """There is none: 0, shape (1,)."""
        return np.zeros(1)

    def renew(self) -> None:
        """Grant the work of one solution."""
        self._work_left = _MOST_WORK

    def rescale(self, C: float) -> None:
        """Change C, and go on from the shares α/C of the last solution."""
        self.start(self.beta * (C / self.C))
        self.set_box(C)

    def set_box(self, C: float) -> None:
        """Change C, and keep β, which must be feasible."""
        self.C = C

    def start(self, beta: FloatArray) -> None:
        """Continue from a feasible β."""
        self.beta = beta.copy()
        self.refresh()

    def at(self, beta: FloatArray) -> "LogisticDuals":
        """Return the duals at a feasible β, in a state of their own."""
        other = copy(self)
        other.start(beta)
        return other

    def refresh(self) -> None:
        """Go on from outputs computed anew."""
        self._theta = None

    @property
    def linear(self) -> FloatArray:
        """h(α) of the last solution, shape (1,)."""
        return np.array([entropy(self._y * self.beta, self.C)])

    def solve(self, weights: FloatArray, tolerance: float) -> Inner:
        """Solve to a relative duality gap for weights (M,).

        It is infinite for the values at the present β.
        """
        n = self._y.size
        if self._theta is None or not np.array_equal(weights, self._theta):
            self._theta = weights.copy()
            self._K = (self._grams @ weights).reshape(n, n)
            self._outputs = self._K @ self.beta
        inner, cause, epoch = self._values(weights), "", 0
        while inner.primal - inner.dual > tolerance * inner.primal:
            before = inner.dual
            order = self._rng.permutation(n)
            logistic_epoch(self._K, self._y, self.C, order, self.beta, self._outputs)
            epoch += 1
            self._work_left -= float(n * n)
            inner = self._values(weights)
            if inner.dual - before <= _STILL * abs(inner.dual):
                cause = "rounding is all that is left of the logistic dual"
            elif epoch == _MAX_EPOCHS or self._work_left <= 0.0:
                cause = "the logistic dual used up its work"
            if cause:
                break
        remedy = f"C={self.C:g}: lower C, normalise the kernels, or raise tol"
        limit = f"{cause}, {remedy}" if cause else ""
        q = np.maximum(0.5 * (self.beta @ self._outputs_by_term()), 0.0)
        return replace(inner, q=q, limit=limit)

    def evaluate(self, weights: FloatArray) -> Inner:
        """Return what β is worth for given weights, with all sums anew."""
        self.refresh()
        return self.solve(weights, np.inf)

    def curvature(self, weights: FloatArray) -> FloatArray:
        """Return V''(w), shape (M, M), at the last solution.

        With H = diag(C / (α_i (C − α_i))), the negative of h'', it is
        (K_dβ)'(H + K)^{-1}(K_eβ).
        """
        n = self._y.size
        share = np.clip(self._y * self.beta / self.C, 0.0, 1.0)
        # With S the root of H^{-1}, (H + K)^{-1} = S (I + SKS)^{-1} S.
        S = np.sqrt(self.C * share * (1.0 - share))
        K = (self._grams @ weights).reshape(n, n)
        right = S[:, None] * self._outputs_by_term()
        inner = np.eye(n) + S[:, None] * K * S
        out: FloatArray = right.T @ cho_solve(cho_factor(inner), right)
        return 0.5 * (out + out.T)

    def _outputs_by_term(self) -> FloatArray:
        """Return K_mβ, shape (n, M)."""
        n = self._y.size
        outputs: FloatArray = self.beta @ self._grams.reshape(n, -1)
        return outputs.reshape(n, -1)

    def _values(self, weights: FloatArray) -> Inner:
        """Return the values at β, but for q."""
        margins = self._y * self._outputs
        quadratic = float(self.beta @ self._outputs)
        loss = float(np.logaddexp(0.0, -margins).sum())
        linear = entropy(self._y * self.beta, self.C)
        return Inner(
            q=np.zeros(weights.size),
            linear=linear,
            primal=0.5 * quadratic + self.C * loss,
            dual=linear - 0.5 * quadratic,
        )


def entropy(alpha: FloatArray, C: float) -> float:
    """Return h(α) for α between 0 and C."""
    share = np.clip(alpha / C, 0.0, 1.0)
    return float(-C * (xlogy(share, share) + xlogy(1.0 - share, 1.0 - share)).sum())


@compiled
def logistic_epoch(
    K: FloatArray,
    y: FloatArray,
    C: float,
    order: IntArray,
    beta: FloatArray,
    outputs: FloatArray,
) -> None:
    """Take an exact step in each coordinate, and update beta and the outputs Kβ."""
    for i in order:
        old = y[i] * beta[i]
        new = logistic_step(old, y[i] * outputs[i], K[i, i], C)
        if new != old:
            step = y[i] * (new - old)
            beta[i] = y[i] * new
            add_scaled(outputs, step, K[i])


@compiled
def logistic_step(old: float, margin: float, curvature: float, C: float) -> float:
    """Return the maximiser over α of the logistic dual along one coordinate.

    ``margin`` is y_i f_i at the old α, ``curvature`` k(x_i, x_i). With
    α = C/(1 + exp(−s)) it is the root of the increasing function
    s + curvature·α(s) − c, c = curvature·old − margin, whose slope is at least 1. It
    lies between c − curvature·C and c. In s no digits cancel near 0 and C.

    Newton's steps may go back and forth between the two flat ends of α(s): where one is
    longer than half of that before the last, the interval is halved instead.
    """
    c = curvature * old - margin
    lower = c - curvature * C
    upper = c
    s = min(max(-margin, lower), upper)
    moved = moved_before = upper - lower
    for _ in range(100):
        tail = np.exp(-abs(s))
        share = 1.0 / (1.0 + tail) if s >= 0.0 else tail / (1.0 + tail)
        value = s + curvature * C * share - c
        if value > 0.0:
            upper = s
        else:
            lower = s
        step = value / (1.0 + curvature * C * tail / (1.0 + tail) ** 2)
        trial = s - step
        if not lower <= trial <= upper or abs(step) > 0.5 * moved_before:
            trial = 0.5 * (lower + upper)
        moved_before = moved
        moved = abs(trial - s)
        s = trial
        # Newton's error after such a step is of the order of its square.
        if moved <= 1e-9 * (1.0 + abs(s)):
            break
    tail = np.exp(-abs(s))
    return C / (1.0 + tail) if s >= 0.0 else C * tail / (1.0 + tail)
