r"""Selecting switches by maximum entropy discrimination, whatever they switch.

Every problem of Jebara (2011) with expected switches s ∈ (0, 1)^S is

    min over s of  F(s) = Σ_d KL(Bern(s_d) ‖ Bern(1/(1 + α))) + V(s),
    V(s) = max over feasible β of  ℓ(β) − Σ_d s_d q_d(β),

where V(s) is an ordinary (quadratic) support vector dual on the kernel Σ_d s_d K_d and
q_d = ½ β'K_dβ. Exchanging the order gives the paper's dual,

    J(β) = ℓ(β) − Σ_d log((α + exp q_d(β)) / (1 + α)),      s_d = expit(q_d − log α),

so that for any s and any feasible β, with ŝ the switches that belong to β,

    F(s) − J(β) = Σ_d KL(Bern(s_d) ‖ Bern(ŝ_d)) + [V(s) − ℓ(β) + Σ_d s_d q_d(β)],

a sum of nonnegative terms: the duality gap. F is convex with the gradient
u − (q − log α), where u = logit(s) are the log-odds and q belongs to the maximiser of
V(s), and with the Hessian diag(1/(s(1 − s))) + V''(s), where V'' follows from the free
variables of the support vector dual. :func:`minimise_over_switches` is Newton's method
on F in the log-odds, with a line search. Nothing is ever exponentiated that could
overflow.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from mtmkl.solvers.descent import (
    FINEST_TOLERANCE,
    Descent,
    InnerProblem,
    first_tolerance,
)
from mtmkl.solvers.solution import Solution, warn_if_stopped
from mtmkl.typing import FloatArray

_SUFFICIENT_DECREASE = 1e-4
_SMALLEST_STEP = 2.0**-40
_LARGEST_START = 3.0  # log-odds of a start that is known from s = 1 alone
_ROUNDING = 1e-13
_MORE_ACCURATE = 0.1
# Where all switches are off, machines are solved for larger ones: what these add to V,
# by the gap allowed, how large they are at most, and the tolerance, by that of the gap.
_VISIBLE, _MOST_VISIBLE, _FINE = 0.1, 1e-3, 1e-3


def minimise_over_switches(
    problem: InnerProblem,
    log_alpha: float,
    *,
    n_switches: int,
    start: FloatArray | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    floor: float = 0.0,
    only_switched: bool = False,
) -> Solution:
    """Minimise F over the switches to a relative duality gap.

    Parameters
    ----------
    problem : InnerProblem
    log_alpha : float
        log α; −inf leaves every switch at 1.
    n_switches : int
        S.
    start : ndarray of shape (S,), optional
        Log-odds to start from. Those of another α are good ones, since switches move
        little where log α moves much; without, what s = 1 leads to is taken.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on Newton steps.
    floor : float
        As for :func:`~mtmkl.solvers.solution.relative_gap`.
    only_switched : bool
        Whether the problem within is linear in β but for terms with switches, so that
        the smallest ones choose among many β, by their ratios.

    Returns
    -------
    Solution
        ``coef``: s (S,); ``extra``: "log_odds", u (S,), infinite for α = 0, "q" (S,),
        and "limit", where stalled why and the remedy, as far as the inner solver knows.
        The certificate is that of F(s), by its upper bound, and J(β); iterations are
        switches visited, one more than Newton steps.
    """
    if log_alpha == -np.inf:
        u = np.full(n_switches, np.inf)
    elif start is None:
        q = problem.solve(np.ones(n_switches), first_tolerance(tol)).q
        u = np.clip(q - log_alpha, -_LARGEST_START, _LARGEST_START)
    else:
        u = start
    search = _Search(problem, u, log_alpha, tol, max_iter, floor, only_switched)
    certificate = search.run()
    extra = {"log_odds": search.u, "q": search.inner.q, "limit": search.limit}
    return Solution(search.weights, certificate, extra=extra)


class _Search(Descent):
    """Newton's method in the log-odds u."""

    def __init__(
        self,
        problem: InnerProblem,
        u: FloatArray,
        log_alpha: float,
        tol: float,
        max_iter: int,
        floor: float,
        only_switched: bool,
    ) -> None:
        super().__init__(problem, tol, max_iter, floor)
        self.u, self.log_alpha = u, log_alpha
        self.only_switched, self.visible = only_switched, 0.0
        self.solve()

    @property
    def weights(self) -> FloatArray:
        """The switches."""
        return expit(self.u)

    def solve(self) -> None:
        top = float(self.u.max(initial=-np.inf))  # a graph of one node has none
        if expit(top) >= self.visible:
            super().solve()
            return
        # No tolerance tells which β such switches choose, but larger ones choose alike.
        larger = self.visible * np.exp(self.u - top)
        tolerance = max(_FINE * self.tol, FINEST_TOLERANCE)
        limit = self.state.solve(larger, tolerance).limit
        self.take(self.state.solve(self.weights, np.inf))
        self.limit = limit

    def values(self) -> tuple[float, float]:
        if self.only_switched:
            largest = float(self.inner.q.max(initial=1e-300))
            visible = _VISIBLE * self.tol * self.inner.primal / largest
            self.visible = min(visible, _MOST_VISIBLE)
        cost = switch_cost(self.inner.q, self.log_alpha)
        prior = prior_cost(self.u, self.log_alpha)
        return prior + self.inner.primal, self.inner.linear - cost

    def step(self) -> None:
        """Take a step of sufficient decrease along the direction of Newton."""
        residual = self.inner.q - self.log_alpha - self.u
        direction, reach = _newton_direction(self.state, self.u, residual, self.visible)
        slope = -float(residual @ reach)
        if not np.isfinite(slope):
            self.is_limited = True
            return
        ceiling = self.objective + _ROUNDING * abs(self.objective)
        u, length = self.u, 1.0
        while True:
            self.u = _between(u, u + direction, length)
            self.solve()
            value = prior_cost(self.u, self.log_alpha) + self.inner.dual
            is_lower = value <= ceiling + _SUFFICIENT_DECREASE * length * slope
            if is_lower or length < _SMALLEST_STEP:
                break
            # Not by the secant of the slopes: V grows like 1/s where switches go off,
            # so that a secant from there cuts the step to almost nothing.
            length *= 0.5
        self.n_iter += 1
        if not is_lower:  # for lack of accuracy, if anything
            self.tolerance *= _MORE_ACCURATE
            self.is_limited = self.tolerance < FINEST_TOLERANCE


def _newton_direction(
    problem: InnerProblem, u: FloatArray, residual: FloatArray, visible: float
) -> tuple[FloatArray, FloatArray]:
    """Return a direction of descent in the log-odds, and the change of s at its end.

    The residual is −∇F. F is convex in s, and may be flat in u for switches that are
    off: what is searched is the segment of s that ends at the step in u.
    """
    s = expit(u)
    root = np.sqrt(s * (1.0 - s))
    curvature = problem.curvature(s)
    system = root[:, None] * curvature * root
    system.flat[:: u.size + 1] += 1.0
    change = root * np.linalg.solve(system, root * residual)
    direction = residual - curvature @ change
    # No switch rises by more than to first order, with all the others or alone, unless
    # it remains below what V sees.
    with np.errstate(divide="ignore", invalid="ignore"):
        most = s + np.fmax(change, residual / curvature.diagonal())
        most = np.fmax(most, visible)
        rise = np.log(most) - np.log1p(-np.minimum(most, 1.0)) - u
    direction = np.minimum(direction, np.fmax(rise, 0.0))
    reach = expit(u + direction) - s
    # Ends at 0, unless a value is not finite.
    while residual @ reach < 0.0 and np.isfinite(direction).all():
        direction *= 0.5
        reach = expit(u + direction) - s
    return direction, reach


def _between(u: FloatArray, v: FloatArray, step: float) -> FloatArray:
    """Return the log-odds of (1 − step)·expit(u) + step·expit(v)."""
    if step == 1.0:
        return v
    here, there = np.log1p(-step), np.log(step)
    on = np.logaddexp(here - softplus(-u), there - softplus(-v))
    off = np.logaddexp(here - softplus(u), there - softplus(v))
    return on - off


def prior_cost(u: FloatArray, log_alpha: float) -> float:
    """Return how far switches are from those without samples, of odds 1/α."""
    return 0.0 if log_alpha == -np.inf else divergence(u, np.full(u.size, -log_alpha))


def divergence(u: FloatArray, v: FloatArray) -> float:
    """Return Σ_d KL(Bern(expit u_d) ‖ Bern(expit v_d)) for finite log-odds."""
    terms = softplus(v) - softplus(u) - expit(u) * (v - u)
    return float(np.maximum(terms, 0.0).sum())


def switch_cost(q: FloatArray, log_alpha: float) -> float:
    """Return Σ_d log((α + exp q_d) / (1 + α))."""
    return float(switch_costs(q, log_alpha).sum())


def switch_costs(q: FloatArray, log_alpha: float) -> FloatArray:
    """Return log((α + exp q) / (1 + α)) without overflow or cancellation."""
    if log_alpha == -np.inf:
        return q
    if log_alpha > 0.0:
        return softplus(q - log_alpha) - softplus(-log_alpha)
    return q + softplus(log_alpha - q) - softplus(log_alpha)


def softplus(x: ArrayLike) -> FloatArray:
    """Return log(1 + exp x)."""
    value: FloatArray = np.logaddexp(0.0, x)
    return value


class SwitchedPath:
    """Base of solutions for many (C, α), each started from one before it.

    Parameters
    ----------
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on Newton steps of one solution.
    """

    def __init__(self, tol: float = 1e-6, max_iter: int = 100) -> None:
        self.tol, self.max_iter = tol, max_iter
        self._log_odds: FloatArray | None = None
        self._largest_q: dict[float, float] = {}

    def solve(self, C: float, log_alpha: float) -> Solution:
        """Solve for one (C, α).

        Parameters
        ----------
        C : float
            Positive.
        log_alpha : float
            log α; −inf for α = 0.

        Returns
        -------
        Solution
            ``coef``: the switches (S,); ``dual``: β (N,); ``intercept``: (T,);
            ``extra``: "log_odds" (S,) of the switches and "q" (S,).
        """
        raise NotImplementedError

    def _certified(
        self,
        found: Solution,
        dual: FloatArray,
        intercept: FloatArray,
        remedy: str = "raise max_iter or tol",
    ) -> Solution:
        """Return a solution with its duals; warn if it ended short of the tolerance."""
        end, limit = found.certificate, found.extra["limit"]
        log_odds = found.extra["log_odds"]
        # Those of α = 0 are infinite, and no start.
        self._log_odds = None if np.isinf(log_odds).any() else log_odds
        warn_if_stopped(
            end, "switches", self.tol, remedy=remedy, limit=limit, stacklevel=5
        )
        return replace(found, dual=dual, intercept=intercept)

    def largest_q(self, C: float) -> float:
        """Return max_d q_d at α = 0, the scale on which log α acts."""
        if C not in self._largest_q:
            self._largest_q[C] = float(self.solve(C, -np.inf).extra["q"].max())
        return self._largest_q[C]
