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
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtmkl.compiled import add_scaled, compiled, routine
from mtmkl.solvers.solution import (
    Certificate,
    Solution,
    Status,
    certified,
    warn_if_stopped,
)
from mtmkl.solvers.svm.logistic_duals import entropy, logistic_step
from mtmkl.solvers.weights.norm_weights import dual_norm, equal_weights, next_weights
from mtmkl.sparse import canonical_csr
from mtmkl.typing import FloatArray, IntArray

LossName = Literal["hinge", "logistic"]
BoolArray = NDArray[np.bool_]
# A feature map: its values, their columns, and where each row begins, as in CSR.
Rows = tuple[FloatArray, NDArray[Any], NDArray[np.int64]]

_DEDUCIBLE = 1e-6  # least share of the largest G_ss at which G_tt lets u be read off v
_FIRST_RATIO = 0.5  # of the gap to its estimate before any was computed
_LEAST_SHARE = 1e-3  # of equal weights: what a weight has at least at a warm start
_NO_BOUNDS = (np.inf, -np.inf)
_BLOCK = 2048  # columns combined at a time, which the first cache holds


class Problem(NamedTuple):
    """The data, M terms on B feature maps, and the parameters."""

    maps: tuple[Rows, ...]
    offsets: IntArray  # (B + 1,), where the columns of each map begin
    norms: FloatArray  # (B, n), k_b(x_i, x_i)
    y: FloatArray
    task: IntArray
    kernels: FloatArray  # (M, T, T)
    map_of: IntArray  # (M,)
    C: float
    p: float
    logistic: bool

    @property
    def n_tasks(self) -> int:
        """Number of tasks T."""
        return int(self.kernels.shape[1])


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
    rows = _rows(maps)
    problem = Problem(
        maps=rows,
        offsets=np.cumsum([0, *(X.shape[1] for X in maps)]),
        norms=np.stack([_squared_norms(each) for each in rows]),
        y=y,
        task=task,
        kernels=np.stack([kernel for _, kernel in terms]),
        map_of=np.array([b for b, _ in terms]),
        C=float(C),
        p=float(p),
        logistic=loss == "logistic",
    )
    alpha, theta = _starting_point(problem, start)
    U = np.zeros((problem.n_tasks, problem.offsets[-1]))
    if start is not None:
        _accumulate(problem, problem.y * alpha, U)
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


def _rows(maps: Sequence[Any]) -> tuple[Rows, ...]:
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
        losses, above, below = _epoch(
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
        gain = entropy(alpha, problem.C) if problem.logistic else float(alpha.sum())
        dual = gain - 0.5 * norm
        weights = max(0.5 * (norm - float(theta @ q)), 0.0)
        estimate = losses + weights
        if ratio * estimate <= tol * (dual + estimate) or epoch == max_iter:
            loss = _total_loss(problem, G, U, order, first)
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
    status: Status = "converged" if converged else "stopped"
    return theta, certified(history, float(dual), epoch, status)


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


@routine
def _row(rows: Rows, i: int) -> tuple[FloatArray, NDArray[Any]]:
    """Return the values of a row of a map, and their columns."""
    data, indices, indptr = rows
    return data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]


@compiled
def _squared_norms(rows: Rows) -> FloatArray:
    """Return the squared norms of the rows of a map."""
    norms = np.empty(rows[2].size - 1)
    for i in range(norms.size):
        values, _ = _row(rows, i)
        norms[i] = np.sum(values * values)
    return norms


@routine
def _dot(rows: Rows, i: int, v: FloatArray) -> float:
    values, columns = _row(rows, i)
    # Four sums, so that an addition need not wait for the one before.
    whole = values.size - values.size % 4
    first = second = third = fourth = 0.0
    for k in range(0, whole, 4):
        first += values[k] * v[columns[k]]
        second += values[k + 1] * v[columns[k + 1]]
        third += values[k + 2] * v[columns[k + 2]]
        fourth += values[k + 3] * v[columns[k + 3]]
    for k in range(whole, values.size):
        first += values[k] * v[columns[k]]
    return (first + second) + (third + fourth)


@routine
def _add(rows: Rows, i: int, step: float, v: FloatArray) -> None:
    values, columns = _row(rows, i)
    for k in range(values.size):
        v[columns[k]] += step * values[k]


@compiled
def _accumulate(problem: Problem, beta: FloatArray, U: FloatArray) -> None:
    """Add β_i φ_b(x_i) to u_{b,τ(i)}."""
    maps, offsets, task = problem.maps, problem.offsets, problem.task
    for i in range(beta.size):
        if beta[i] != 0.0:
            for b in range(len(maps)):
                _add(maps[b], i, beta[i], U[task[i], offsets[b] : offsets[b + 1]])


@routine
def _enter(
    offsets: IntArray, G: FloatArray, t: int, U: FloatArray, v: FloatArray
) -> None:
    """Write v_{b,t} = Σ_s G_b[t,s] u_{b,s} for all maps."""
    for b in range(G.shape[0]):
        for begin in range(offsets[b], offsets[b + 1], _BLOCK):
            end = min(begin + _BLOCK, offsets[b + 1])
            v[begin:end] = 0.0
            for s in range(G.shape[1]):
                if G[b, t, s] != 0.0:
                    add_scaled(v[begin:end], G[b, t, s], U[s, begin:end])


@routine
def _margin(problem: Problem, G: FloatArray, t: int, i: int, v: FloatArray) -> float:
    maps, offsets = problem.maps, problem.offsets
    total = 0.0
    for b in range(len(maps)):
        # With a zero on its diagonal the row of G is zero, and so is v.
        if G[b, t, t] > 0.0:
            total += _dot(maps[b], i, v[offsets[b] : offsets[b + 1]])
    return total


@compiled
def _loss(margin: float, logistic: bool) -> float:
    if not logistic:
        return max(1.0 - margin, 0.0)
    return np.log1p(np.exp(-abs(margin))) + max(-margin, 0.0)


@routine
def _logistic_share(old: float, C: float) -> float:
    """Return C·l*(−α/C), the negative entropy."""
    if old <= 0.0 or old >= C:
        return 0.0
    return old * np.log(old / C) + (C - old) * np.log1p(-old / C)


@compiled
def _epoch(
    problem: Problem,
    G: FloatArray,
    deducible: BoolArray,
    tasks: IntArray,
    order: IntArray,
    first: IntArray,
    last: IntArray,
    upper_bound: float,
    lower_bound: float,
    alpha: FloatArray,
    U: FloatArray,
) -> tuple[float, float, float]:
    """Go once through the samples that take part, and update alpha, U, order, last.

    Returns the estimated share of the losses in the gap, and the largest and least
    violation, by which the next epoch leaves out samples of the hinge loss: one at 0
    whose gradient 1 − y_i f_i is below the least violation (or at C and above the
    largest) has moved further into its bound than anything else has yet to move.
    """
    maps, offsets, y, C = problem.maps, problem.offsets, problem.y, problem.C
    n_maps = len(maps)
    v = np.empty(U.shape[1])
    gap = 0.0
    largest = -np.inf
    least = np.inf
    for t in tasks:
        if first[t] == last[t]:
            continue
        _enter(offsets, G, t, U, v)
        # Within the task v changes by G_b[t,t] times u: put the rest aside.
        for b in range(n_maps):
            if deducible[b, t]:
                own = slice(offsets[b], offsets[b + 1])
                add_scaled(U[t, own], -1.0 / G[b, t, t], v[own])
        position = first[t]
        while position < last[t]:
            i = order[position]
            old = alpha[i]
            margin = y[i] * _margin(problem, G, t, i, v)
            curvature = 0.0
            for b in range(n_maps):
                curvature += G[b, t, t] * problem.norms[b, i]
            gap += C * _loss(margin, problem.logistic) + old * margin
            if problem.logistic:
                gap += _logistic_share(old, C)
                new = logistic_step(old, margin, curvature, C)
            else:
                gap -= old
                gradient = 1.0 - margin
                if (old == 0.0 and gradient < lower_bound) or (
                    old == C and gradient > upper_bound
                ):
                    last[t] -= 1
                    order[position] = order[last[t]]
                    order[last[t]] = i
                    continue
                violation = gradient
                if (old == 0.0 and gradient < 0.0) or (old == C and gradient > 0.0):
                    violation = 0.0
                largest = max(largest, violation)
                least = min(least, violation)
                # Without curvature the gradient is 1, its quotient infinite, and α = C.
                new = min(max(old + gradient / curvature, 0.0), C)
            position += 1
            if new == old:
                continue
            alpha[i] = new
            step = y[i] * (new - old)
            for b in range(n_maps):
                own = slice(offsets[b], offsets[b + 1])
                if G[b, t, t] > 0.0:
                    _add(maps[b], i, step * G[b, t, t], v[own])
                if not deducible[b, t]:
                    _add(maps[b], i, step, U[t, own])
        for b in range(n_maps):
            if deducible[b, t]:
                own = slice(offsets[b], offsets[b + 1])
                add_scaled(U[t, own], 1.0 / G[b, t, t], v[own])
    # Without a violation on a side there is nothing to measure settled samples by.
    if largest <= 0.0:
        largest = np.inf
    if least >= 0.0:
        least = -np.inf
    return gap, largest, least


@compiled
def _total_loss(
    problem: Problem, G: FloatArray, U: FloatArray, order: IntArray, first: IntArray
) -> float:
    """Return Σ_i l(y_i f_i)."""
    v = np.empty(U.shape[1])
    total = 0.0
    for t in range(first.size - 1):
        if first[t] == first[t + 1]:
            continue
        _enter(problem.offsets, G, t, U, v)
        for position in range(first[t], first[t + 1]):
            i = order[position]
            margin = problem.y[i] * _margin(problem, G, t, i, v)
            total += _loss(margin, problem.logistic)
    return total
