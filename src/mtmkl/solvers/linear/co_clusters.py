r"""Task-feature co-clusters: squared loss with a truncated spectral penalty.

With W = P + Q (d × T), Π = I − 11'/T and k co-clusters, minimises, as Xu et al. (2015),

    Σ_t ||y_t − X_t w_t||² + λ₁||PΠ||_F² + λ₂ Σ_{i>k} σ_i(Q)² + ε||P + Q||_F²,

ε = 1e-6 for what the penalties leave free: the mean in P and the k leading singular
values of Q.

For a given W the best P and Q are known. Taking the mean of the tasks out of Q lowers
its singular values and costs P nothing, so QΠ = Q; the leading part of WΠ is free in Q;
along the others λ₁p² + λ₂q² with p + q = σ is least at cσ², c = λ₁λ₂/(λ₁ + λ₂). So the
problem is one in W alone, with the penalty c Σ_{i>k} σ_i(WΠ)² + ε||W||_F².

That is the least of c||W(Π − R)||_F² over projections R of rank k, and the method
alternates: R from the leading singular vectors of WΠ, which is exact, and W for that R.
With Γ (T × (k + 1)) an orthonormal basis of the range of R and the vector 1, W is
ΘΓ' + D; the deviations D have one ridge and are eliminated task by task, which leaves a
linear least-squares problem in Θ for a few steps of conjugate gradients. The objective
never increases. It is not convex: there may be other local minima.

Several starts take their steps side by side, since reading the rows of all tasks is
most of a step: a search yields the points whose products it needs, and is sent these.
"""

import warnings
from collections.abc import Generator, Sequence
from typing import TypeVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from mtmkl.solvers.linear.clustered_tasks import spectrum
from mtmkl.solvers.linear.task_admm import loss_step, pull_back, residuals
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution, Status, certified
from mtmkl.typing import FloatArray

#: Weight of ||P + Q||_F².
RIDGE = 1e-6

# A search yields points (T, d) and a (n_rows,) and gets V_t'(a_t − b_t∘V_t w_t).
_Found = TypeVar("_Found")
_Search = Generator[tuple[FloatArray, FloatArray], FloatArray, _Found]

# Conjugate gradients between two updates of R: at most so many, and no more once the
# squared gradient is this share of the first.
_GRADIENT_STEPS = 10
_GRADIENT_SHARE = 1e-4
# Where k directions can interpolate, the objective is all but 0 and a share of it is
# nothing: below this share of Σ_t ||y_t||² it is taken of that.
_FLOOR = 1e-2


def solve(
    tasks: TaskDecomposition,
    lam_1: float,
    lam_2: float,
    n_clusters: int,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    rngs: Sequence[np.random.Generator | None] = (None,),
) -> list[Solution]:
    """Find local minima of the problem of this module, one from each start.

    Parameters
    ----------
    tasks : TaskDecomposition
    lam_1, lam_2 : float
        λ₁, λ₂ > 0.
    n_clusters : int
        k, from 1 to T.
    tol : float
        Stop when an alternation lowers the objective by at most this share of it (of
        1 % of Σ_t ||y_t||² where the objective is less).
    max_iter : int
        Maximum number of alternations.
    rngs : sequence of Generator or None
        One for each start: from a random projection, or with None from that of ridge
        regressions.

    Returns
    -------
    list of Solution
        One for each start. ``coef`` = P + Q of shape (d, T); ``extra["clustered"]`` is
        Q of shape (d, T). There is no bound on the minimum. The history holds the
        objective after each alternation.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` is reached before ``tol``.
    """
    # The same for every start, and as expensive as many alternations.
    steps = _Alternation(tasks, lam_1, lam_2, n_clusters)
    searches = [_alternate(steps, rng, tol, max_iter) for rng in rngs]
    wanted = {k: next(search) for k, search in enumerate(searches)}
    found: dict[int, Solution] = {}
    while wanted:
        points, aims = map(np.array, zip(*wanted.values(), strict=True))
        pulls, _ = pull_back(tasks.arrays, points, aims, steps.weights)
        for k, pull in zip(list(wanted), pulls, strict=True):
            try:
                wanted[k] = searches[k].send(pull)
            except StopIteration as end:
                found[k] = end.value
                del wanted[k]
    return [found[k] for k in range(len(searches))]


def _alternate(
    steps: "_Alternation", rng: np.random.Generator | None, tol: float, max_iter: int
) -> "_Search[Solution]":
    """Return the local minimum to which a start leads."""
    tasks = steps.tasks
    vectors, theta = steps.start(rng)
    null = tasks.constant + float(tasks.target @ tasks.target)
    history: list[float] = []
    converged = False
    while len(history) < max_iter and not converged:
        W = yield from steps.coefficients(vectors, theta)
        vectors, theta, deviations = steps.projection(W)
        rest = residuals(tasks.arrays, W)
        value = tasks.constant + rest @ rest + RIDGE * np.sum(W * W)
        history.append(float(value + steps.weight * np.sum(deviations * deviations)))
        floor = max(history[-1], _FLOOR * null)
        converged = len(history) > 1 and history[-2] - history[-1] <= tol * floor
    if not converged:
        warnings.warn(
            f"co-clusters: stopped after {len(history)} alternations that had not "
            f"settled to tol={tol:g}; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=3,
        )
    status: Status = "converged" if converged else "stopped"
    clustered = W - W.mean(axis=0) - deviations * steps.share_of_q
    return Solution(
        coef=W.T,
        certificate=certified(history, np.nan, len(history), status),
        extra={"clustered": clustered.T},
    )


class _Alternation:
    """The two steps: W for a projection R, and R for a W.

    R is given by Γ = ``vectors``, and the start of the search for W by Θ. The search is
    one by conjugate gradients in Θ, with D at its best, preconditioned by the tasks'
    mean curvature, which would be exact if the tasks had the same samples.
    """

    def __init__(
        self, tasks: TaskDecomposition, lam_1: float, lam_2: float, n_clusters: int
    ) -> None:
        self.tasks = tasks
        # At most T − 1 directions have no mean.
        self.n_free = min(n_clusters, tasks.n_tasks - 1)
        self.weight = lam_1 * lam_2 / (lam_1 + lam_2)
        self.share_of_q = lam_2 / (lam_1 + lam_2)
        self.deviation_ridge = self.weight + RIDGE
        # A ridge on Θ by which free directions cost ε once Θ and D share them at best.
        self.shared_ridge = RIDGE * self.deviation_ridge / self.weight
        self.share = self.deviation_ridge / (self.deviation_ridge + self.shared_ridge)
        squares = tasks.singular**2
        # Loss left once the deviations have taken their part.
        self.weights = squares * self.deviation_ridge / (squares + self.deviation_ridge)
        self.aims = self.weights * tasks.target / tasks.singular
        rows = np.sqrt(self.weights)[:, None] * tasks.right
        curvature = rows.T @ rows / tasks.n_tasks
        # Enough for rounding where the tasks leave directions free.
        least = 1e-12 * np.trace(curvature)
        curvature[np.diag_indices_from(curvature)] += self.shared_ridge + least
        self.factor = cho_factor(curvature)

    def start(self, rng: np.random.Generator | None) -> tuple[FloatArray, FloatArray]:
        """Return Γ, random or of ridge regressions, and Θ."""
        n_tasks = self.tasks.n_tasks
        W = self._with_deviations(np.zeros((n_tasks, self.tasks.n_features)))
        if rng is None:
            vectors = self._free_directions(W)
        else:
            draws = rng.standard_normal((n_tasks, self.n_free))
            vectors = np.linalg.qr(np.column_stack([np.ones(n_tasks), draws]))[0]
        return vectors, self.share * (vectors.T @ W)

    def coefficients(
        self, vectors: FloatArray, theta: FloatArray
    ) -> "_Search[FloatArray]":
        """Return W of no larger objective for Γ, shape (T, d)."""
        pull = yield vectors @ theta, self.aims
        residual = vectors.T @ pull
        residual -= self.shared_ridge * theta
        no_aims = np.zeros_like(self.aims)
        towards = cho_solve(self.factor, residual.T, check_finite=False).T
        size = first = np.sum(residual * towards)
        direction = towards
        for _ in range(_GRADIENT_STEPS):
            if size <= _GRADIENT_SHARE * first:
                break
            pull = yield vectors @ direction, no_aims
            image = -vectors.T @ pull
            image += self.shared_ridge * direction
            length = size / np.sum(direction * image)
            theta = theta + length * direction
            residual = residual - length * image
            towards = cho_solve(self.factor, residual.T, check_finite=False).T
            previous, size = size, np.sum(residual * towards)
            direction = towards + (size / previous) * direction
        return self._with_deviations(self._shared(vectors, theta))

    def projection(self, W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the best Γ for W, the Θ to continue from, and W(Π − R)."""
        vectors = self._free_directions(W)
        theta = vectors.T @ W
        return vectors, theta * self.share, W - vectors @ theta

    def _free_directions(self, W: FloatArray) -> FloatArray:
        """Return 1/√T and the leading left singular vectors of W's centred rows."""
        vectors = spectrum(W - W.mean(axis=0))[1]
        return vectors[:, np.r_[0, vectors.shape[1] - self.n_free : vectors.shape[1]]]

    def _shared(self, vectors: FloatArray, theta: FloatArray) -> FloatArray:
        """Return ΓΘ, transposed, with all of Γ but 1 at its best for this Θ."""
        tasks = self.tasks
        mean, factors = vectors[0, 0] * theta[0], theta[1:]
        shared = np.empty((vectors.shape[0], theta.shape[1]))
        penalty = self.shared_ridge * (factors @ factors.T)
        left_all = tasks.target / tasks.singular
        for t in range(tasks.n_tasks):
            rows = slice(tasks.offsets[t], tasks.offsets[t + 1])
            # A product of few columns is slow unless the rows fit a cache.
            along = (theta @ tasks.right[rows].T).T
            left = left_all[rows] - vectors[0, 0] * along[:, 0]
            along = along[:, 1:]
            weighted = self.weights[rows, None] * along
            H = weighted.T @ along + penalty
            g = weighted.T @ left - self.shared_ridge * (factors @ mean)
            shared[t] = mean + np.linalg.lstsq(H, g, rcond=None)[0] @ factors
        return shared

    def _with_deviations(self, B: FloatArray) -> FloatArray:
        """Return B + D, D minimising the loss of B + D and its ridge."""
        return loss_step(self.tasks.arrays, B, 2.0 * self.deviation_ridge)[0]
