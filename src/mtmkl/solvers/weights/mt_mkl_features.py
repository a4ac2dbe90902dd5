r"""Multi-task multiple kernel learning on explicit, sparse features.

A term m is a pair of a feature map φ_b(m) and a task kernel R_m = Q_m^{-1}, a positive
semi-definite matrix over the T tasks. With τ(i) the task of sample i, minimises over
weights θ ≥ 0, ||θ||_p ≤ 1, and W

    ½ Σ_m ||W_m||²_{Q_m} / θ_m + C Σ_i l(y_i f_i),   f_i = Σ_m ⟨w_{m,τ(i)}, φ_b(m)(x_i)⟩

for the hinge loss l(a) = max(0, 1 − a) or the logistic loss l(a) = log(1 + exp(−a));
there is no intercept. Where R_m is singular, Q_m is its pseudo-inverse and W_m lies in
its range. With β = yα and u_{b,t} = Σ_{τ(i)=t} β_i φ_b(x_i) the dual is

    max_{0≤α≤C} h(α) − ½ ||q||_{p*},   q_m = Σ_st R_m[s,t] ⟨u_{b(m),s}, u_{b(m),t}⟩,

1/p + 1/p* = 1, with h(α) = Σ_i α_i for the hinge loss, and the entropy
h(α) = −Σ_i [α_i log(α_i/C) + (C − α_i) log(1 − α_i/C)] for the logistic loss.

For given θ and α the primal point is w_{m,t} = θ_m Σ_s R_m[t,s] u_{b(m),s}. All terms
on one map share its features: their sum has the task kernel G_b = Σ θ_m R_m, and only
u is stored. An epoch goes through the tasks, in random order, and in each through its
samples, in random order. On entering task t it computes
v_{b,t} = Σ_s G_b[t,s] u_{b,s}; from there on a step in α_i costs no more than the
features of sample i. That is the exact coordinate ascent of the paper's algorithm 2
[1]_ at the cost of one linear SVM. After it the weights follow the paper's (22), in
which ||W_m||²_{Q_m} = θ_m² q_m.

The paper's (24) has one θ_m too many in its numerator, as w_{m,t} holds it already, and
its denominator needs R_m[τ(i),τ(i)] k_m(x_i, x_i).

Samples of the hinge loss that have settled at 0 or C are left out of the epochs, as
in [2]_, until the gap over the others is closed.

References
----------
.. [1] C. Widmer, M. Kloft, V. T. Sreedharan and G. Rätsch, Framework for multi-task
   multiple kernel learning and applications in genome analysis, arXiv:1506.09153, 2015.
.. [2] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, A dual
   coordinate descent method for large-scale linear SVM, International Conference on
   Machine Learning, 2008.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from mtmkl.solvers.solution import Certificate, Solution, warn_if_stopped
from mtmkl.solvers.svm.logistic_duals import entropy
from mtmkl.solvers.weights import mt_mkl_steps as steps
from mtmkl.solvers.weights.mt_mkl_steps import BoolArray, Problem
from mtmkl.solvers.weights.norm_weights import dual_norm, equal_weights, next_weights
from mtmkl.sparse import canonical_csr
from mtmkl.typing import FloatArray, IntArray

LossName = Literal["hinge", "logistic"]

_DEDUCIBLE = 1e-6  # least share of the largest G_ss at which G_tt lets u be read off v
_FIRST_RATIO = 0.5  # of the gap to its estimate before any was computed
_LEAST_SHARE = 1e-3  # of equal weights: what a weight has at least at a warm start
_NO_BOUNDS = (np.inf, -np.inf)


def solve(
    maps: Sequence[Any],
    y: FloatArray,
    task: IntArray,
    terms: Sequence[tuple[int, FloatArray]],
    *,
    C: float,
    p: float,
    rng: np.random.Generator,
    loss: LossName = "hinge",
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: Solution | None = None,
) -> Solution:
    """Solve the problem of this module to a relative duality gap.

    Beside the data it needs 2·T·D numbers, with D the sum of the numbers of features
    d_b, and six per sample. Canonical CSR input of float64 is not copied.

    Parameters
    ----------
    maps : sequence of B sparse or dense matrices of shapes (n, d_b)
        φ_b(x_i), row by row.
    y, task : ndarray of shape (n,)
        ±1, and τ(i) in 0..T-1; tasks may be without samples.
    terms : sequence of (int, ndarray of shape (T, T))
        For each term the number of its feature map and its task kernel R_m, symmetric
        and positive semi-definite.
    C, p, loss, tol, max_iter
        As for :class:`mtmkl.methods.MultiTaskMKLClassifier`.
    rng : Generator
        Draws the order of tasks and samples.
    start : Solution, optional
        Solution for the same data and number of terms, for instance at another C: its α
        are scaled to the new C, and its weights kept away from 0.

    Returns
    -------
    Solution
        ``coef`` of shape (T, D): an example of task t with the features φ_1, …, φ_B in
        a row has the decision ``φ @ coef[t]``; ``dual`` is α, of shape (n,);
        ``extra["theta"]``, of shape (M,); ``extra["C"]``. Iterations are epochs. Warns
        if ``max_iter`` comes before ``tol``.
    """
    problem = _problem(maps, y, task, terms, C, p, loss)
    alpha, theta = _starting_point(problem, start)
    U = np.zeros((problem.n_tasks, problem.offsets[-1]))
    if start is not None:
        steps.accumulate(problem, problem.y * alpha, U)
    theta, certificate = _descend(problem, alpha, theta, U, rng, tol, max_iter)
    warn_if_stopped(
        certificate,
        f"multi-task kernel learning, {loss} loss, C={C:g}, p={p:g}",
        tol,
        steps="epochs",
        remedy='raise max_iter or tol, or take Gram matrices (solver="gram")',
    )
    G = _combined(problem, theta)
    coef = np.empty_like(U)
    for b, (begin, end) in enumerate(pairwise(problem.offsets)):
        np.matmul(G[b], U[:, begin:end], out=coef[:, begin:end])
    return Solution(
        coef=coef,
        certificate=certificate,
        dual=alpha,
        extra={"theta": theta, "C": float(C)},
    )


def _problem(
    maps: Sequence[Any],
    y: FloatArray,
    task: IntArray,
    terms: Sequence[tuple[int, FloatArray]],
    C: float,
    p: float,
    loss: str,
) -> Problem:
    rows = _rows(maps)
    return Problem(
        maps=rows,
        offsets=np.cumsum([0, *(X.shape[1] for X in maps)]),
        norms=np.stack([steps.squared_norms(*each) for each in rows]),
        y=y,
        task=task,
        kernels=np.stack([kernel for _, kernel in terms]),
        map_of=np.array([b for b, _ in terms]),
        C=float(C),
        p=float(p),
        logistic=loss == "logistic",
    )


def _rows(maps: Sequence[Any]) -> tuple[steps.Rows, ...]:
    """Return the maps with one type for all, so that they make a uniform tuple."""
    matrices = [canonical_csr(X) for X in maps]
    width = max(matrix.indices.itemsize for matrix in matrices)
    rows = []
    for matrix in matrices:
        # Unsigned, for which the compiler need not allow for negative numbers.
        indices = matrix.indices.astype(f"i{width}", copy=False).view(f"u{width}")
        data = matrix.data.view()
        data.flags.writeable = indices.flags.writeable = False
        rows.append((data, indices, matrix.indptr.astype(np.int64)))
    return tuple(rows)


def _starting_point(
    problem: Problem, start: Solution | None
) -> tuple[FloatArray, FloatArray]:
    equal = equal_weights(problem.map_of.size, problem.p)
    if start is None:
        return np.zeros(problem.y.size), equal
    assert start.dual is not None
    alpha = np.clip(start.dual * (problem.C / start.extra["C"]), 0.0, problem.C)
    theta = np.maximum(start.extra["theta"], _LEAST_SHARE * equal)
    return alpha, theta / np.linalg.norm(theta, problem.p)


def _descend(
    problem: Problem,
    alpha: FloatArray,
    theta: FloatArray,
    U: FloatArray,
    rng: np.random.Generator,
    tol: float,
    max_iter: int,
) -> tuple[FloatArray, Certificate]:
    """Take epochs until the gap is closed; update alpha and U, return the weights.

    An epoch yields an estimate of the gap at no cost: each sample adds its share when
    it is visited, before its step. The gap itself takes a pass over the data, and is
    computed when the estimate, corrected by the ratio of the two the last time, falls
    to the tolerance.
    """
    order = np.argsort(problem.task, kind="stable")
    first = np.searchsorted(problem.task[order], np.arange(problem.n_tasks + 1))
    # Samples that take part in an epoch: order[first[t] : last[t]] for task t.
    last, bounds = first[1:].copy(), _NO_BOUNDS
    ratio, previous = _FIRST_RATIO, np.inf
    history = []
    for epoch in range(1, max_iter + 1):
        G = _combined(problem, theta)
        for t in range(problem.n_tasks):
            rng.shuffle(order[first[t] : last[t]])
        losses, above, below = steps.epoch(
            problem,
            G,
            _deducible(G),
            rng.permutation(problem.n_tasks),
            order,
            first,
            last,
            *bounds,
            alpha,
            U,
        )
        bounds = above, below
        q = _quadratic_forms(problem, U)
        norm = dual_norm(q, problem.p)
        dual = _gain(problem, alpha) - 0.5 * norm
        weights = max(0.5 * (norm - float(theta @ q)), 0.0)
        estimate = losses + weights
        if ratio * estimate <= tol * (dual + estimate) or epoch == max_iter:
            loss = steps.total_loss(problem, G, U, order, first)
            objective = float(0.5 * theta @ q + problem.C * loss)
            history.append(objective)
            converged = objective - dual <= tol * objective
            if converged or epoch == max_iter:
                break
            if estimate > 0.0:
                ratio = min(1.0, float(objective - dual) / estimate)
            last, bounds = first[1:].copy(), _NO_BOUNDS
        # The paper takes the step if the primal objective has fallen, against cycles.
        # Its estimate stands for it here; and a gap that is mostly the weights' will
        # not close without.
        if dual + estimate < previous or losses <= weights:
            theta = next_weights(theta, q, problem.p)
        previous = dual + estimate
    return theta, Certificate(
        objective=objective,
        dual_objective=float(dual),
        n_iter=epoch,
        status="converged" if converged else "stopped",
        history=np.array(history),
    )


def _combined(problem: Problem, theta: FloatArray) -> FloatArray:
    """Return G_b = Σ_m θ_m R_m over the terms of each map, shape (B, T, T)."""
    G = np.zeros((len(problem.maps), problem.n_tasks, problem.n_tasks))
    np.add.at(G, problem.map_of, theta[:, None, None] * problem.kernels)
    return G


def _deducible(G: FloatArray) -> BoolArray:
    """Return where u can be read off v, with at most three digits lost, shape (B, T).

    What is in v of other tasks is at most of the order √(G_ss / G_tt) of its own.
    """
    diagonal: FloatArray = np.einsum("btt->bt", G)
    return diagonal > _DEDUCIBLE * diagonal.max(axis=1, keepdims=True)


def _quadratic_forms(problem: Problem, U: FloatArray) -> FloatArray:
    """Return q, shape (M,)."""
    grams = np.stack(
        [U[:, lo:hi] @ U[:, lo:hi].T for lo, hi in pairwise(problem.offsets)]
    )
    q = np.einsum("mst,mst->m", problem.kernels, grams[problem.map_of])
    return np.maximum(q, 0.0)


def _gain(problem: Problem, alpha: FloatArray) -> float:
    """Return h(α)."""
    if not problem.logistic:
        return float(alpha.sum())
    return entropy(alpha, problem.C)
