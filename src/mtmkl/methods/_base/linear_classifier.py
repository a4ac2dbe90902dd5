"""Linear classifiers of all tasks by penalised least squares."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from mtmkl.methods._base.estimator import Mixin
from mtmkl.methods._base.linear import span_of, task_means, task_outputs
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition, decompose
from mtmkl.solvers.solution import Solution, certified
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from mtmkl.solvers.linear.task_admm import TaskPenalty


@dataclass(frozen=True)
class PreparedTasks:
    """Training data of the tasks that hold both classes, ready for every penalty."""

    #: Of the standardised features, centred within each task, in coordinates of their
    #: span; None if no task holds both classes or no input varies.
    decomposition: TaskDecomposition | None
    #: The tasks that hold both classes, (T,).
    taking_part: NDArray[np.bool_]
    #: The features that are not constant, (d,), and their standard deviations.
    varying: NDArray[np.bool_]
    scale: FloatArray
    #: Orthonormal basis of the span; None where the coordinates are the features.
    basis: FloatArray | None
    #: Means of the raw features, (T, d), and of the signs, (T,): ±1 of a single class.
    input_means: FloatArray
    target_means: FloatArray
    #: Σ_t ||y_t − ȳ_t||², the loss of intercepts alone.
    null: float

    @classmethod
    def of(
        cls, X: FloatArray, y: FloatArray, task: IntArray, *, rotate: bool
    ) -> "PreparedTasks":
        """Prepare features and signs; ``rotate`` allows any coordinates of the span."""
        n_tasks = int(task.max()) + 1
        target_means = task_means(y[:, None], task, n_tasks)[:, 0]
        taking_part = np.abs(target_means) < 1.0
        varying = np.ptp(X, axis=0) > 0.0
        scale = np.ones(np.count_nonzero(varying))
        decomposition = basis = None
        if taking_part.any() and varying.any():
            rows = taking_part[task]
            number = np.cumsum(taking_part) - 1
            scaler = StandardScaler().fit(X[:, varying])
            scale = scaler.scale_
            Z, member = scaler.transform(X[rows][:, varying]), number[task[rows]]
            if rotate:
                basis = span_of(Z)
                Z = Z if basis is None else Z @ basis
            decomposition = decompose(
                Z - task_means(Z, member, int(number[-1]) + 1)[member],
                y[rows] - target_means[task[rows]],
                member,
                n_tasks=int(number[-1]) + 1,
            )
        return cls(
            decomposition,
            taking_part,
            varying,
            scale,
            basis,
            task_means(X, task, n_tasks),
            target_means,
            float(np.sum((y - target_means[task]) ** 2)),
        )

    def offsets_alone(self) -> Solution:
        """Return the solution where nothing can be learned but the intercepts."""
        return Solution(
            coef=np.zeros((self.scale.size, int(self.taking_part.sum()))),
            certificate=certified([self.null], self.null, 1, "converged"),
        )

    def expand(self, W: FloatArray) -> FloatArray:
        """Return coefficients of raw features, (d, T), for those of the problem."""
        if self.basis is not None:
            W = self.basis @ W
        rows, columns = np.flatnonzero(self.varying), np.flatnonzero(self.taking_part)
        coef = np.zeros((self.varying.size, self.taking_part.size))
        coef[np.ix_(rows, columns)] = W / self.scale[:, None]
        return coef


@dataclass(eq=False, repr=False)
class LinearTaskClassifier(Mixin):
    """Mixin of classifiers that minimise Σ_t ||y_t − X_t w_t − b_t||² + a penalty.

    Labels are ±1; features are brought to mean 0 and standard deviation 1 over the
    training samples of all tasks together, constant ones left out; the intercepts b_t
    are not penalised. A task that holds samples of one class has the constant score ±1
    and no part in the problem. All points of a grid share the preparation.

    A subclass implements ``_penalty`` or ``_minimise`` and, for the order in which the
    points of a grid are solved, ``_position``.
    """

    #: Whether the penalty is the same in all orthonormal coordinates.
    _rotation_invariant: ClassVar[bool] = True
    #: Whether the minimum is bounded from below by a dual point.
    _convex: ClassVar[bool] = True

    _: KW_ONLY
    tol: float = 1e-4
    max_iter: int = 10_000

    def _group_key(self, params: Mapping[str, Any]) -> Hashable:
        return ()

    def _penalty(self, n_tasks: int) -> "TaskPenalty":
        """Return the penalty on so many tasks."""
        raise NotImplementedError

    def _minimise(self, tasks: TaskDecomposition, start: Any) -> Solution:
        """Solve for the tasks in the problem, from the previous point of the path."""
        from mtmkl.solvers.linear.task_admm import solve

        penalty = self._penalty(tasks.n_tasks)
        return solve(tasks, penalty, start=start, **self._limits)

    def _prepare(self, X: FloatArray, y: FloatArray, task: IntArray) -> PreparedTasks:
        return PreparedTasks.of(X, y, task, rotate=self._rotation_invariant)

    def _follow(self, prepared: PreparedTasks, previous: Any) -> Any:
        if prepared.decomposition is None:
            solution = prepared.offsets_alone()
        else:
            solution = self._minimise(prepared.decomposition, previous)
        self._keep(prepared, solution)
        return solution.extra.get("warm_start")

    def _keep(self, prepared: PreparedTasks, solution: Solution) -> None:
        self._keep_certificate(solution)
        if not self._convex:
            del self.dual_objective_, self.duality_gap_
        self.coef_ = prepared.expand(solution.coef)
        shift = np.einsum("td,dt->t", prepared.input_means, self.coef_)
        self.intercept_ = prepared.target_means - shift

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        return task_outputs(X, self.coef_, task) + self.intercept_[task]


@dataclass(eq=False, repr=False)
class RestartedClassifier(LinearTaskClassifier):
    """Mixin of classifiers whose problem is not convex: the best of seeded starts.

    A subclass implements ``_local_minima``. No point of a grid starts from another, so
    that a fit depends on its own parameters alone.
    """

    _convex = False

    _: KW_ONLY
    n_restarts: int = 3
    random_state: int | None = 0

    def _local_minima(
        self, tasks: TaskDecomposition, rngs: Sequence[np.random.Generator]
    ) -> list[Solution]:
        """Return the local minimum that each start, a generator, leads to."""
        raise NotImplementedError

    def _minimise(self, tasks: TaskDecomposition, start: None) -> Solution:
        seeds = np.random.SeedSequence(self.random_state).spawn(self.n_restarts)
        rngs = [np.random.default_rng(seed) for seed in seeds]
        solutions = self._local_minima(tasks, rngs)
        best = min(solutions, key=lambda each: each.certificate.objective)
        histories = [each.certificate.history for each in solutions]
        return replace(best, extra={**best.extra, "histories": histories})

    def _keep(self, prepared: PreparedTasks, solution: Solution) -> None:
        super()._keep(prepared, solution)
        self.restart_histories_ = solution.extra.get("histories", [self.history_])


def number_of_groups(value: int | float, n_tasks: int) -> int:
    """Return a number of groups given as such or as a share of the tasks.

    A share is rounded to the nearest whole number (halves up), at least 1; a number
    larger than that of the tasks counts as that of the tasks.
    """
    if isinstance(value, Integral):
        return min(int(value), n_tasks)
    return max(1, int(np.floor(value * n_tasks + 0.5)))
