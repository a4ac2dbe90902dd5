"""Other readings of the linear baselines, which the paper only cites.

Each keeps its penalty, and has other features, no intercept, the squared hinge loss, or
a gradient method that is stopped early.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse.linalg import eigsh
from sklearn.preprocessing import StandardScaler

from mtmkl.kernels.terms import KernelTerms
from mtmkl.methods._base.kernel_machine import TEN_KERNELS
from mtmkl.methods._base.linear import task_means
from mtmkl.methods._base.linear_classifier import (
    LinearTaskClassifier,
    PreparedTasks,
    number_of_groups,
)
from mtmkl.methods.cmtl import CMTLClassifier
from mtmkl.methods.co_clus import CoClusClassifier
from mtmkl.methods.flex_clus import FlexClusClassifier
from mtmkl.methods.me_ta_g import MeTaGClassifier
from mtmkl.methods.whom import WhomClassifier
from mtmkl.solvers.linear.penalties import TRACE, SquaredNorm
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition, decompose
from mtmkl.solvers.solution import Certificate, Solution
from mtmkl.typing import FloatArray, IntArray

MOST_FEATURES = 50
"""Principal components of the mean kernel that are kept at most."""

VARIANCE_KEPT = 0.95
"""Share of the trace of the centred Gram matrix that they need not exceed."""

SMOOTHING = 0.01
"""μ of the smoothed norm √(‖·‖² + μ²) of :class:`StoppedMeTaG`."""


@dataclass(frozen=True)
class Features:
    """Principal components of the mean of the kernels.

    ``landmarks`` are the distinct training samples, ``means`` those of the columns of
    their Gram matrix. The components of the last features are kept: all points of a
    search are asked for those of the same validation rows, then of the same test rows.
    """

    terms: KernelTerms
    landmarks: FloatArray
    means: FloatArray
    coefficients: FloatArray
    _last: list[FloatArray] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, X: FloatArray, *, standardize: bool = True) -> "Features":
        """Find them on training samples (n, d) of all tasks together."""
        terms = KernelTerms.of(
            X, TEN_KERNELS, normalize="cosine", standardize=standardize
        )
        landmarks = np.unique(X, axis=0)
        gram = _mean_kernel(terms, landmarks, landmarks)
        means = gram.mean(axis=0)
        centred = gram - means - means[:, None] + means.mean()
        n_samples = len(centred)
        if n_samples > 10 * MOST_FEATURES:
            # Landmine has 7,000 samples: all eigenvectors would take ten times as long.
            start = np.random.default_rng(0).normal(size=n_samples)
            values, vectors = eigsh(centred, MOST_FEATURES, v0=start)
        else:
            values, vectors = np.linalg.eigh(centred)
        values, vectors = values[::-1], vectors[:, ::-1]
        reached = np.cumsum(values) < VARIANCE_KEPT * centred.trace()
        n_kept = min(int(reached.sum()) + 1, MOST_FEATURES)
        scaled = vectors[:, :n_kept] / np.sqrt(values[:n_kept])
        # Of centred kernel values; k(x, x) does not enter.
        return cls(terms, landmarks, means, scaled - scaled.mean(axis=0))

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the components of features, shape (n, p)."""
        if not self._last or not np.array_equal(self._last[0], X):
            # Rows that tasks share are asked for once.
            distinct, place = np.unique(X, axis=0, return_inverse=True)
            values = _mean_kernel(self.terms, distinct, self.landmarks) - self.means
            self._last[:] = [X, (values @ self.coefficients)[place.ravel()]]
        return self._last[1]


def _mean_kernel(terms: KernelTerms, X: FloatArray, Z: FloatArray) -> FloatArray:
    mean: FloatArray = terms.grams(terms.inputs(X), terms.inputs(Z)).mean(axis=1)
    return mean


@dataclass(frozen=True)
class _Prepared(PreparedTasks):
    features: Features | None = None


def _prepared(
    X: FloatArray,
    y: FloatArray,
    task: IntArray,
    *,
    centres: FloatArray,
    scale: FloatArray,
    target_means: FloatArray,
    features: Features | None = None,
) -> _Prepared:
    """Prepare tasks with features (x − centre of the task) / scale, (T, d) and (d,).

    ``target_means`` (T,) are subtracted from the signs; ±1 in a task of one class.
    """
    taking_part = np.abs(target_means) < 1.0
    decomposition = None
    if taking_part.any():
        rows = taking_part[task]
        number = np.cumsum(taking_part) - 1
        decomposition = decompose(
            (X[rows] - centres[task[rows]]) / scale,
            y[rows] - target_means[task[rows]],
            number[task[rows]],
            n_tasks=int(number[-1]) + 1,
        )
    return _Prepared(
        decomposition,
        taking_part,
        np.ones(X.shape[1], dtype=bool),
        scale,
        None,
        centres,
        target_means,
        float(np.sum((y - target_means[task]) ** 2)),
        features,
    )


def _without_offset(
    X: FloatArray, y: FloatArray, task: IntArray, centre: FloatArray, scale: FloatArray
) -> _Prepared:
    """Prepare tasks with features (x − centre) / scale, both (d,), and signs.

    A task of one class has it for an intercept, and takes no part.
    """
    means = _means(y[:, None], task)[:, 0]
    return _prepared(
        X,
        y,
        task,
        centres=np.tile(centre, (means.size, 1)),
        scale=scale,
        target_means=np.where(np.abs(means) < 1.0, 0.0, means),
    )


def _means(values: FloatArray, task: IntArray) -> FloatArray:
    return task_means(values, task, int(task.max()) + 1)


class KernelFeatures(LinearTaskClassifier):
    """A baseline on the principal components of the mean of the ten kernels.

    The kernels are those of the paper's method, normalised by their cosine, on
    standardised features. The components are found on the training samples of all tasks
    together, up to :data:`VARIANCE_KEPT` of their variance, at most
    :data:`MOST_FEATURES`. One factor brings their mean variance to 1.
    """

    standardize: ClassVar[bool] = True

    def _prepare(self, X: FloatArray, y: FloatArray, task: IntArray) -> PreparedTasks:
        features = Features.of(X, standardize=self.standardize)
        components = features(X)
        size = np.sqrt(components.var(axis=0).mean())
        return _prepared(
            components,
            y,
            task,
            centres=_means(components, task),
            scale=np.full(components.shape[1], size),
            target_means=_means(y[:, None], task)[:, 0],
            features=features,
        )

    def _keep(self, prepared: PreparedTasks, solution: Solution) -> None:
        super()._keep(prepared, solution)
        assert isinstance(prepared, _Prepared)
        assert prepared.features is not None
        self.features_ = prepared.features

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        return super()._outputs(self.features_(X), task)


class WithoutIntercept(LinearTaskClassifier):
    """A baseline without intercepts; features are standardised over all tasks."""

    def _prepare(self, X: FloatArray, y: FloatArray, task: IntArray) -> PreparedTasks:
        scaler = StandardScaler().fit(X)
        return _without_offset(X, y, task, scaler.mean_, scaler.scale_)


class InputsAsStored(LinearTaskClassifier):
    """A baseline on features as they are stored, without intercepts."""

    def _prepare(self, X: FloatArray, y: FloatArray, task: IntArray) -> PreparedTasks:
        n_features = X.shape[1]
        return _without_offset(X, y, task, np.zeros(n_features), np.ones(n_features))


class StoredFeatures(KernelFeatures):
    """A baseline on such components of kernels whose inputs are as stored."""

    standardize: ClassVar[bool] = False


HINGE_STEPS = 30
"""Problems of least squares that :class:`SquaredHinge` solves at most."""

HINGE_TOL = 1e-3
"""Relative decrease of its objective at which it stops."""


class SquaredHinge(LinearTaskClassifier):
    """A baseline with Σ max(0, 1 − y f(x))² in place of the squared loss.

    At outputs f₀ and with z = y max(1, y f₀), (z − f)² is at least max(0, 1 − y f)² for
    every f, and equal to it at f₀. So each problem of least squares with these targets
    lowers the objective; the first has the signs as targets.
    """

    _convex = False

    def _follow(self, prepared: PreparedTasks, previous: Any) -> Any:
        tasks = prepared.decomposition
        if tasks is None:
            return super()._follow(prepared, previous)
        task = np.empty(tasks.orthogonal.size, dtype=np.intp)
        for t, rows in enumerate(tasks.rows):
            task[rows] = t
        offsets = prepared.target_means[prepared.taking_part]
        targets = tasks.orthogonal + _of_rows(tasks, tasks.target)
        sign = np.sign(targets + offsets[task])
        history: list[float] = []
        while True:
            solution = self._minimise(tasks, previous)
            previous = solution.extra.get("warm_start")
            fitted = _of_rows(tasks, tasks.singular * _along(tasks, solution.coef))
            outputs = fitted + offsets[task]
            objective = solution.certificate.objective
            objective -= float(np.sum((targets - fitted) ** 2))
            objective += float(np.sum(np.maximum(0.0, 1.0 - sign * outputs) ** 2))
            history.append(objective)
            is_stalled = history[-1] > (1.0 - HINGE_TOL) * min([*history[:-1], np.inf])
            if is_stalled or len(history) == HINGE_STEPS:
                break
            wanted = sign * np.maximum(1.0, sign * outputs)
            offsets = _means(wanted[:, None], task)[:, 0]
            targets = wanted - offsets[task]
            tasks = _with_targets(tasks, targets)
        means = prepared.target_means.copy()
        means[prepared.taking_part] = offsets
        certificate = replace(
            solution.certificate, objective=objective, history=np.array(history)
        )
        self._keep(
            replace(prepared, target_means=means),
            replace(solution, certificate=certificate),
        )
        return previous


def _along(tasks: TaskDecomposition, W: FloatArray) -> FloatArray:
    """Return V_t'w_t of all tasks, stacked."""
    task = np.repeat(np.arange(tasks.n_tasks), np.diff(tasks.offsets))
    along: FloatArray = np.einsum("rd,dr->r", tasks.right, W[:, task])
    return along


def _of_rows(tasks: TaskDecomposition, stacked: FloatArray) -> FloatArray:
    """Return U_t c_t in the order of the samples."""
    values = np.empty(tasks.orthogonal.size)
    for t, (rows, left) in enumerate(zip(tasks.rows, tasks.left, strict=True)):
        values[rows] = left @ stacked[tasks.offsets[t] : tasks.offsets[t + 1]]
    return values


def _with_targets(tasks: TaskDecomposition, y: FloatArray) -> TaskDecomposition:
    parts = zip(tasks.rows, tasks.left, strict=True)
    target = np.concatenate([left.T @ y[rows] for rows, left in parts])
    orthogonal = y - _of_rows(tasks, target)
    constant = float(orthogonal @ orthogonal)
    return replace(tasks, target=target, orthogonal=orthogonal, constant=constant)


def _under(
    reading: type,
    prefix: str,
    baselines: Sequence[type] = (
        CMTLClassifier,
        WhomClassifier,
        FlexClusClassifier,
        CoClusClassifier,
        MeTaGClassifier,
    ),
) -> list[type]:
    """Return baselines under a reading, such as ``KernelCMTL``."""
    return [
        type(
            f"{prefix}{baseline.__name__}",
            (reading, baseline),
            {"__module__": __name__},
        )
        for baseline in baselines
    ]


KernelCMTL, KernelWhom, KernelFlexClus, KernelCoClus, KernelMeTaG = _under(
    KernelFeatures, "Kernel"
)
(
    StoredKernelCMTL,
    StoredKernelWhom,
    StoredKernelFlexClus,
    StoredKernelCoClus,
    StoredKernelMeTaG,
) = _under(StoredFeatures, "StoredKernel")
PlainCMTL, PlainWhom, PlainFlexClus, PlainCoClus, PlainMeTaG = _under(
    WithoutIntercept, "Plain"
)
StoredCMTL, StoredWhom, StoredFlexClus, StoredCoClus, StoredMeTaG = _under(
    InputsAsStored, "Stored"
)
HingeCMTL, HingeFlexClus, HingeMeTaG = _under(
    SquaredHinge, "Hinge", (CMTLClassifier, FlexClusClassifier, MeTaGClassifier)
)


class StoppedMeTaG(MeTaGClassifier):
    """MeTaG after a fixed number of steps of a smoothed, accelerated gradient method.

    From W_h = 0, with √(‖·‖² + μ²) for each norm and μ = :data:`SMOOTHING`.
    ``max_iter`` is the number of steps; ``tol`` has no effect.
    """

    _convex = False

    def _position(self) -> tuple[float, ...]:
        return ()

    def _minimise(self, tasks: TaskDecomposition, start: object) -> Solution:
        weights = self.lam / self.phi ** np.arange(self.n_levels)
        T = tasks.n_tasks

        def gradient(levels: FloatArray) -> FloatArray:
            common = _loss_gradient(tasks, levels.sum(axis=0))
            inner = np.einsum("hdi,hdj->hij", levels, levels)
            own = np.einsum("hii->hi", inner)
            apart = own[:, :, None] + own[:, None, :] - 2 * inner
            inverse = 1.0 / np.sqrt(np.maximum(apart, 0.0) + SMOOTHING**2)
            # Σ_j (w_i − w_j) / norm_ij
            pulled = levels * inverse.sum(axis=2)[:, None] - levels @ inverse
            return common + weights[:, None, None] * pulled

        steepest = self.n_levels * _curvature(tasks) + weights.max() * T / SMOOTHING
        shape = (self.n_levels, tasks.n_features, T)
        levels = _accelerated(gradient, shape, steepest, self.max_iter)
        return _stopped(levels.sum(axis=0), self.max_iter)


class StoppedCoClus(CoClusClassifier):
    """CoClus after a fixed number of accelerated gradient steps from P = Q = 0.

    ``max_iter`` is their number; ``tol`` and the restarts have no effect.
    """

    def _minimise(self, tasks: TaskDecomposition, start: None) -> Solution:
        rank = number_of_groups(self.n_clusters, tasks.n_tasks)

        def gradient(parts: FloatArray) -> FloatArray:
            P, Q = parts
            common = _loss_gradient(tasks, P + Q)
            left, values, right = np.linalg.svd(Q, full_matrices=False)
            values[:rank] = 0.0
            return np.stack(
                [
                    common + 2 * self.lam_1 * (P - P.mean(axis=1, keepdims=True)),
                    common + 2 * self.lam_2 * (left * values) @ right,
                ]
            )

        steepest = 2 * _curvature(tasks) + 2 * max(self.lam_1, self.lam_2)
        shape = (2, tasks.n_features, tasks.n_tasks)
        parts = _accelerated(gradient, shape, steepest, self.max_iter)
        return _stopped(parts.sum(axis=0), self.max_iter)


class _StoppedSteps(LinearTaskClassifier):
    """A baseline after ``max_iter`` accelerated proximal steps from W = 0."""

    _convex = False

    def _minimise(self, tasks: TaskDecomposition, start: Any) -> Solution:
        return _after_steps(tasks, self._penalty(tasks.n_tasks).prox, self.max_iter)


StoppedCMTL, StoppedFlexClus = _under(
    _StoppedSteps, "Stopped", (CMTLClassifier, FlexClusClassifier)
)


class StoppedWhom(WhomClassifier):
    """Whom, in its best groups, after ``max_iter`` accelerated proximal steps."""

    def _minimise(self, tasks: TaskDecomposition, start: None) -> Solution:
        whole = WhomClassifier(self.lam, self.n_groups, random_state=self.random_state)
        groups = whole._minimise(tasks, start).extra["groups"]
        penalty = SquaredNorm(self.lam, TRACE)

        def prox(B: FloatArray, step: float) -> tuple[FloatArray, float]:
            Z, value = np.empty_like(B), 0.0
            for group in np.unique(groups):
                Z[groups == group], of_group = penalty.prox(B[groups == group], step)
                value += of_group
            return Z, value

        return _after_steps(tasks, prox, self.max_iter)


Prox = Callable[[FloatArray, float], tuple[FloatArray, float]]
"""The Z that minimises Ω(Z) + (ρ/2)||Z − B||² for B (T, d) and ρ, and Ω(Z)."""


def _after_steps(tasks: TaskDecomposition, prox: Prox, n_steps: int) -> Solution:
    """Return W after some accelerated proximal steps from zero."""
    shape, steepest = (tasks.n_features, tasks.n_tasks), _curvature(tasks)

    def nearest(W: FloatArray) -> FloatArray:
        return prox(np.ascontiguousarray(W.T), steepest)[0].T

    def gradient(W: FloatArray) -> FloatArray:
        return _loss_gradient(tasks, W)

    W = _accelerated(gradient, shape, steepest, n_steps, nearest)
    return _stopped(W, n_steps)


def _loss_gradient(tasks: TaskDecomposition, W: FloatArray) -> FloatArray:
    gradient = np.empty_like(W)
    for t in range(tasks.n_tasks):
        own = slice(tasks.offsets[t], tasks.offsets[t + 1])
        right, singular = tasks.right[own], tasks.singular[own]
        residual = singular * (right @ W[:, t]) - tasks.target[own]
        gradient[:, t] = 2 * (singular * residual) @ right
    return gradient


def _curvature(tasks: TaskDecomposition) -> float:
    return 2 * float(tasks.singular.max() ** 2)


def _accelerated(
    gradient: Callable[[FloatArray], FloatArray],
    shape: tuple[int, ...],
    steepest: float,
    n_steps: int,
    nearest: Callable[[FloatArray], FloatArray] = np.asarray,
) -> FloatArray:
    """Return the point after some steps of Nesterov's method from zero.

    Each step ends at the proximal point ``nearest`` of a gradient step.
    """
    point = np.zeros(shape)
    ahead, momentum = point, 1.0
    for _ in range(n_steps):
        before, point = point, nearest(ahead - gradient(ahead) / steepest)
        larger = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = point + (momentum - 1) / larger * (point - before)
        momentum = larger
    return point


def _stopped(W: FloatArray, n_steps: int) -> Solution:
    nothing = float("nan")
    history = np.full(1, nothing)
    return Solution(W, Certificate(nothing, nothing, n_steps, "stopped", history))
