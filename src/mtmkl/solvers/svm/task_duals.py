r"""The support vector duals of many tasks, for given weights of their kernels.

Task t has samples with signed duals β (β_i = y_i α_i in classification, α_i − α*_i in
regression) and terms f = 1 … F with kernels k_f, each with one of the weights w_d,
d = σ(t, f). For given weights the duals of all tasks are

    max_β  Σ_t (c_t'β_t − ε‖β_t‖₁ − ½ Σ_f w_σ(t,f) β_t'K_tf β_t)
    s.t.   lo ≤ β ≤ hi,  and, with intercepts, 1'β_t = 0 for each task t,

with c = y and β_i between 0 and C y_i (hinge loss, ε = 0), or −C ≤ β_i ≤ C
(ε-insensitive loss). "Task" stands for a block of samples: tasks that are joined make
one.

A term is either one feature, of rank one (k(x, z) = x_f z_f: nothing is built), or a
Gram matrix. With outputs g_tf = K_tf β_t kept at hand, the dual of a task for new
weights starts with a gradient in O(n) per term, and only the Gram entries between its
support vectors and the samples that violate their condition are summed. The compiled
steps are in :mod:`mtmkl.solvers.svm.task_steps`.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from mtmkl.kernels.gram import GramBlocks
from mtmkl.solvers.descent import Inner
from mtmkl.solvers.solution import LEAST_SHARE
from mtmkl.solvers.svm import task_steps as steps
from mtmkl.solvers.svm.smo import step_cost
from mtmkl.typing import FloatArray, IntArray

_LEAST_WORK = 1e9
_WORK_PER_EXAMPLE = 1000  # pair steps, and rows of kernel sums
# At ε = 0 a variable at 0 would be free, and where it alone is, its own v would be the
# intercept by which the steps choose who violates: it would never be chosen. A kink
# that no sum feels makes 0 a corner, as at any other ε.
_LEAST_TUBE = 1e-300
_UPDATES = 100.0  # rounding errors that outputs gather, in those of one sum
_NEGLIGIBLE = 1e-8  # relative error of an objective
_APART = 1e6  # ratio of the sizes of kernels worth mentioning


@dataclass(frozen=True)
class DualProblem:
    """Support vector machines of T tasks on weighted kernels."""

    #: The samples and kernels of the tasks, one block per task.
    blocks: GramBlocks
    #: Targets (N,): −1 and +1, or real numbers.
    c: FloatArray
    #: Which of the S weights each term of each task has, (T, F + G).
    weight: IntArray
    n_weights: int
    #: ε of regression, 0 in classification.
    epsilon: float
    is_classification: bool
    fit_intercept: bool
    #: How many equal samples each stands for, (N,): their β is a sum, C a multiple.
    copies: FloatArray

    @classmethod
    def of(
        cls,
        c: ArrayLike,
        blocks: GramBlocks,
        *,
        weight: ArrayLike | None = None,
        n_weights: int | None = None,
        epsilon: float | None = None,
        fit_intercept: bool = True,
        copies: ArrayLike | None = None,
    ) -> "DualProblem":
        """Return a problem, of the arguments that the attributes are.

        By default term f has weight f in every task, ``n_weights`` is one more than the
        largest of these, the tasks are classifications, and each sample stands for
        itself.
        """
        if weight is None:
            weight = np.tile(np.arange(blocks.n_terms), (blocks.sizes.size, 1))
        table = np.ascontiguousarray(weight, dtype=np.intp)
        targets = np.ascontiguousarray(c, dtype=np.float64)
        ones = np.ones(targets.size)
        return cls(
            blocks=blocks,
            c=targets,
            copies=ones if copies is None else np.asarray(copies, dtype=np.float64),
            weight=table,
            n_weights=int(table.max()) + 1 if n_weights is None else n_weights,
            epsilon=0.0 if epsilon is None else max(float(epsilon), _LEAST_TUBE),
            is_classification=epsilon is None,
            fit_intercept=fit_intercept,
        )

    @property
    def offsets(self) -> IntArray:
        """Task t has the rows ``offsets[t]:offsets[t + 1]``, shape (T + 1,)."""
        return self.blocks.offsets

    @property
    def n_tasks(self) -> int:
        """Number of tasks T."""
        return self.offsets.size - 1

    def box(self, C: float) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds of β."""
        if self.is_classification:
            bound = C * self.copies * self.c
            return np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        return -C * self.copies, C * self.copies

    def floor(self, C: float) -> float:
        """Return the least that an objective counts for in a relative gap.

        The optimum of regression may be zero; that of classification is so only where
        every task is of one class, and then without rounding.
        """
        if self.is_classification:
            return 0.0
        outside = np.maximum(np.abs(self.c) - self.epsilon, 0.0)
        return LEAST_SHARE * C * float(self.copies @ outside)

    def task(self, t: int) -> "DualProblem":
        """Return task t alone, its terms with the same weights."""
        rows = slice(self.offsets[t], self.offsets[t + 1])
        return replace(
            self,
            blocks=self.blocks.block(t),
            c=self.c[rows],
            copies=self.copies[rows],
            weight=self.weight[t : t + 1],
        )


class TaskDuals:
    """The support vector duals of all tasks, continued from weights to weights.

    An :class:`~mtmkl.solvers.descent.InnerProblem`.

    No accuracy can be had that is far below the rounding errors of the outputs, which
    grow with the kernels and with C: a solve ends there, and says so. All solves of one
    solution share a bound on their work (`renew`); when it is used up, they return the
    point at hand.

    Parameters
    ----------
    problem : DualProblem
    C : float
        Positive.

    Attributes
    ----------
    beta : ndarray of shape (N,)
        The last solution.
    work_left : float
        Multiplications left to the solution in progress.
    """

    def __init__(self, problem: DualProblem, C: float) -> None:
        blocks = problem.blocks
        self.problem = problem
        self._unit = float(np.abs(problem.c).max(initial=1e-300))
        self._kernels = (
            blocks.offsets,
            blocks.entries,
            blocks.features,
            blocks.grams.reshape(-1),
            problem.weight,
        )
        self._diagonal = steps.diagonals(self._kernels, np.ones(problem.n_weights))
        self._unit_box = problem.box(1.0)
        self._granted = work_of(problem)
        self._c = problem.c
        self._solved: tuple[FloatArray, Inner] | None = None
        self._clear()
        self.renew()
        self.set_box(C)

    def _clear(self) -> None:
        """Begin at β = 0 in new arrays."""
        problem, n_grams = self.problem, self.problem.blocks.grams.shape[1]
        self.beta = np.zeros(problem.c.size)
        self._statistics = np.zeros((problem.n_tasks + 1, steps.N_STATISTICS))
        self._outputs = np.zeros(problem.c.size * n_grams)
        self._weights = np.zeros((problem.n_tasks, problem.blocks.features.shape[1]))

    def renew(self) -> None:
        """Grant the work of one solution."""
        self.work_left = self._granted

    def set_box(self, C: float) -> None:
        """Change C and with it the box."""
        self.C = C
        lo, hi = self._unit_box
        self._box = C * lo, C * hi
        self._solved = None

    def shift(self, outputs: FloatArray) -> None:
        """Solve from now on for what models are to add to given outputs, (N,)."""
        self._c = self.problem.c - outputs
        self._solved = None

    def start(self, beta: FloatArray) -> None:
        """Continue from a feasible β."""
        self.beta[:] = beta
        self._solved = None
        steps.write_sums(self._kernels, (self.beta, self._weights, self._outputs))

    def at(self, beta: FloatArray) -> "TaskDuals":
        """Return the duals at a feasible β, in a state of their own."""
        other = self._copy()
        other._clear()
        other.start(beta)
        return other

    def _copy(self) -> "TaskDuals":
        other = object.__new__(type(self))  # much quicker than copy.copy
        other.__dict__.update(self.__dict__)
        return other

    def refresh(self) -> None:
        """Compute weights and outputs from β, from scratch."""
        self.start(self.beta)

    def evaluate(self, weights: FloatArray) -> Inner:
        """Return the value of β for given weights, with all sums from scratch.

        The intercepts are those that belong to them; otherwise the state is left alone,
        so that what is solved next does not depend on it. The primal is an upper bound
        for the support vectors' outputs as rounded. Outputs of Gram matrices, which are
        expensive, are kept where the rounding that they may have gathered is too small
        to show.
        """
        totals = self._statistics[-1]
        is_kept = _UPDATES * totals[steps.DRIFT] <= _NEGLIGIBLE * totals[steps.LOSS]
        has_features, solved = self._weights.size > 0, self._solved
        if (
            solved is not None
            and is_kept
            and not has_features
            and np.array_equal(weights, solved[0])
        ):
            inner = solved[1]
        else:
            fresh = self._copy() if is_kept else self.at(self.beta)
            fresh._statistics = np.empty_like(self._statistics)
            if is_kept and has_features:
                fresh._weights = feature_weights(self.problem.blocks, self.beta)
            inner = TaskDuals.solve(fresh, weights, np.inf)  # whatever the subclass
            totals = fresh._statistics[-1]
            own = fresh._statistics[:, steps.INTERCEPT]
            self._statistics[:, steps.INTERCEPT] = own
        rounding = float(totals[steps.ROUNDING])
        return Inner(inner.q, inner.linear, inner.primal + rounding, inner.dual)

    def rescale(self, C: float) -> None:
        """Change C, and each task's β by the best multiple of it in the new box."""
        self.set_box(C)
        sums = self.beta, self._weights, self._outputs
        steps.rescale(self._kernels, sums, *self._box, self._statistics)

    @property
    def intercept(self) -> FloatArray:
        """Intercepts of the last solution, shape (T,); zeros if there are none."""
        return self._statistics[:-1, steps.INTERCEPT].copy()

    @property
    def linear(self) -> FloatArray:
        """c_t'β_t − ε‖β_t‖₁ of the last solution, shape (T,)."""
        return self._statistics[:-1, steps.LINEAR].copy()

    def solve(self, weights: FloatArray, tolerance: float) -> Inner:
        """Solve for weights ≥ 0 until no optimality condition is violated by more.

        The tolerance is in units of the largest |c|, and infinite for the values at the
        present β.
        """
        tol = tolerance * self._unit
        q = np.zeros(self.problem.n_weights)
        progress = steps.first_progress(self.work_left)
        state, statistics = self._state(weights), self._statistics
        finished = False
        while not finished:  # back in Python, an interrupt is seen
            finished = steps.solve_tasks(*state, tol, q, statistics, progress)
        self.work_left = float(progress[steps.WORK])
        totals = statistics[-1].tolist()
        linear, quadratic = totals[steps.LINEAR], totals[steps.QUADRATIC]
        violation, limit = totals[steps.VIOLATION], ""
        if violation > tol:
            limit = limit_of_tolerance(
                violation, float(self._diagonal.max()), self.C, self.work_left
            )
        inner = Inner(
            q=q,
            linear=linear,
            primal=0.5 * quadratic + totals[steps.LOSS],
            dual=linear - 0.5 * quadratic,
            limit=limit,
        )
        self._solved = weights.copy(), inner
        return inner

    def _state(
        self, weights: FloatArray
    ) -> tuple[steps.Kernels, steps.Machines, steps.Sums, FloatArray]:
        """Return what the compiled steps take."""
        epsilon, equality = self.problem.epsilon, self.problem.fit_intercept
        machines = self._c, *self._box, self._diagonal, epsilon, equality
        sums = self.beta, self._weights, self._outputs
        return self._kernels, machines, sums, weights

    def curvature(self, weights: FloatArray) -> FloatArray:
        """Return V''(w), shape (S, S), at the last solution."""
        problem = self.problem
        block = np.zeros(problem.n_tasks, dtype=np.intp)
        return self.block_curvature(weights, block, problem.weight)[0]

    def block_curvature(
        self, weights: FloatArray, block: IntArray, weight: IntArray
    ) -> FloatArray:
        """Return V'' of blocks (T,) of tasks that share no weight, (blocks, M, M).

        ``weight`` (T, F + G) says which of the M of its block each term of a task has.
        """
        factors, counts = self.curvature_factors(weights)
        n_weights = self.problem.n_weights // (int(block.max()) + 1)
        out = np.zeros((int(block.max()) + 1, n_weights, n_weights))
        steps.add_curvature(self.problem.offsets, block, weight, factors, counts, out)
        return out

    def curvature_factors(self, weights: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return U (N, F + G) and a number of rows for each task, at the last solution.

        So many of the first rows of task t make U_t, with V_t'' = U_t'U_t in its terms;
        the other rows are 0.
        """
        problem = self.problem
        factors = np.zeros((problem.c.size, problem.blocks.n_terms))
        counts = np.zeros(problem.n_tasks, dtype=np.intp)
        steps.write_curvature_factors(*self._state(weights), factors, counts)
        return factors, counts


def work_of(problem: DualProblem) -> float:
    """Return a bound on the multiplications of one solution."""
    n = max(problem.blocks.sizes.tolist())
    of_an_example = step_cost(n) + 0.5 * n * problem.blocks.n_terms
    return max(_LEAST_WORK, _WORK_PER_EXAMPLE * problem.c.size * of_an_example)


def feature_weights(blocks: GramBlocks, beta: FloatArray) -> FloatArray:
    """Return X_t'β_t, shape (T, F), to the last bit as certificates have it."""
    weights = np.empty((blocks.sizes.size, blocks.features.shape[1]))
    no_terms = np.empty((blocks.sizes.size, weights.shape[1]), np.intp)
    nothing = np.empty(0)
    kernels = blocks.offsets, blocks.entries, blocks.features, nothing, no_terms
    steps.write_sums(kernels, (beta, weights, nothing))
    return weights


def kernels_apart(problem: DualProblem) -> str:
    """Say so where the kernels are of very different sizes, which makes searches slow.

    Empty if they are not.
    """
    blocks = problem.blocks
    sizes = np.square(blocks.features).max(axis=0, initial=0.0)
    if blocks.grams.shape[1]:
        sizes = np.append(sizes, blocks.grams.max(axis=0, initial=0.0))
    sizes = sizes[sizes > 0.0]
    if sizes.size == 0 or sizes.max() < _APART * sizes.min():
        return ""
    return (
        f"kernel values reach {sizes.max():.1g} for one kernel and {sizes.min():.1g} "
        "for another: bring the features to one scale (standardize=True) or normalise "
        "the kernels"
    )


def remedy_of(problem: DualProblem) -> str:
    """Return what to do about a search that its limit on steps stopped."""
    said = kernels_apart(problem)
    return f"{said}, or raise max_iter or tol" if said else "raise max_iter or tol"


def limit_of_tolerance(error: float, largest: float, C: float, work_left: float) -> str:
    """Return why support vector machines end with an error of their outputs.

    ``largest`` is the largest kernel value; ``work_left`` is not positive where the
    bound on work ended them.
    """
    cause = "rounding" if work_left > 0.0 else "the bound on their work"
    return (
        f"{cause} leaves the outputs of the support vector machines an error of "
        f"{error:.1g}, with kernel values up to {largest:.1g} and C={C:g}: bring the "
        "features to one scale (standardize=True), normalise the kernels or lower C"
    )
