"""Every convex method of the five papers against general solvers and the papers' own.

Data are those of the papers, standardised, or drawn where a size has to vary beyond
them. What ours times begins where the baselines' does: with Gram matrices, or features.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import printed
from measuring import Outcome, Series, Solver
from reference_solvers import by_cvxpy
from sklearn.preprocessing import StandardScaler

from mtmkl.datasets.container import MultiTaskData
from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelTerms
from mtmkl.methods._base.kernel_machine import TEN_KERNELS
from mtmkl.methods.mkmtfl import SEVEN_KERNELS
from mtmkl.solvers.solution import Solution
from mtmkl.solvers.svm.task_duals import DualProblem
from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.data.registry import load

TITLE = "Convex methods of the five papers"
EPSILON = 0.1


def outcome(solution: Solution) -> Outcome:
    """Return what a solver of ours reports."""
    certificate = solution.certificate
    return Outcome(certificate.objective, certificate.dual_objective)


@cache
def school() -> MultiTaskData:
    return load("school", download=False)


@cache
def landmine() -> MultiTaskData:
    return load("landmine_balanced", download=False, seed=0)


@cache
def letters() -> MultiTaskData:
    return load("ocr_letters", download=False, n_per_class=200, seed=0)


@dataclass(frozen=True)
class Tasks:
    """Examples sorted by task, and the Gram matrices of each task, (D, n, n)."""

    X: FloatArray
    y: FloatArray
    task: IntArray
    kernels: tuple[Any, ...] = ()
    normalize: Any = "trace"

    @classmethod
    def of(
        cls, data: MultiTaskData, n_tasks: int, n: int, *kernels: Any, **options: Any
    ) -> "Tasks":
        """Return n samples, half of each class of labels, of the first tasks."""
        rng, rows = np.random.default_rng(0), []
        is_labels = set(np.unique(data.y)) <= {-1.0, 1.0}
        for t in range(n_tasks):
            own = rng.permutation(data.rows_of(t))
            if is_labels:
                parts = [own[data.y[own] == label][: n // 2] for label in (-1, 1)]
                own = np.concatenate(parts)
            rows.append(own[:n])
        chosen = np.concatenate(rows)
        y = data.y[chosen]
        if not is_labels:
            y = (y - y.mean()) / y.std()
        X = StandardScaler().fit_transform(data.X[chosen])
        return cls(X, y, data.task[chosen], kernels, **options)

    @property
    def n_tasks(self) -> int:
        return int(self.task.max()) + 1

    @property
    def rows(self) -> list[IntArray]:
        return [np.flatnonzero(self.task == t) for t in range(self.n_tasks)]

    @property
    def targets(self) -> list[FloatArray]:
        return [self.y[rows] for rows in self.rows]

    @property
    def features(self) -> list[FloatArray]:
        return [self.X[rows] for rows in self.rows]

    def dual_problem(self, block: Any = None, epsilon: float | None = None) -> Any:
        terms = KernelTerms.of(self.X, list(self.kernels), normalize=self.normalize)
        training = TrainingSet(terms, self.X, self.task, self.n_tasks)
        weight = terms.order
        if block is not None:
            weight = np.asarray(block)[:, None] * terms.n_terms + weight
        else:
            weight = np.tile(weight, (self.n_tasks, 1))
        return DualProblem.of(self.y, training.blocks(), weight=weight, epsilon=epsilon)

    def grams(self) -> list[FloatArray]:
        terms = KernelTerms.of(self.X, list(self.kernels), normalize=self.normalize)
        out = []
        for rows in self.rows:
            Z = self.X[rows]
            features = terms.features(Z)
            own = [np.outer(x, x) for x in features.T]
            own += list(terms.grams(Z, Z).transpose(1, 0, 2))
            out.append(np.array(own))
        return out


@dataclass(frozen=True)
class Problem:
    """Problem that all solvers of a series are given."""

    tasks: Tasks
    ours: Any
    grams: Any = None
    log_alpha: float = 0.0


# Argyriou et al. (2008), and RR-Het

GAMMA = 20.0


def _linear(n_tasks: int) -> Problem:
    tasks = Tasks.of(school(), n_tasks, 10_000)
    # Baselines are given as many rows per task as there are features: the rest is
    # constant.
    X, y, task, constant = [], [], [], 0.0
    for t, (A, b) in enumerate(zip(tasks.features, tasks.targets, strict=True)):
        Q, R = np.linalg.qr(A)
        X.append(R)
        y.append(Q.T @ b)
        task.append(np.full(len(R), t))
        constant += float(b @ b - y[-1] @ y[-1])
    less = (np.concatenate(X), np.concatenate(y), np.concatenate(task))
    return Problem(tasks, None, grams=less, log_alpha=constant)


def _solve_linear(problem: Problem, accuracy: float, penalty: Any) -> Outcome:
    from mtmkl.solvers.linear import working_sets
    from mtmkl.solvers.linear.squared_norm import solve
    from mtmkl.solvers.linear.task_decomposition import decompose

    data = problem.tasks.X, problem.tasks.y, problem.tasks.task
    n_tasks = problem.tasks.n_tasks
    if penalty == "rows":
        rows = working_sets.RowProblem.of(*data, n_tasks=n_tasks)
        return outcome(working_sets.solve(rows, GAMMA, tol=accuracy))
    parts = decompose(*data, n_tasks=n_tasks)
    return outcome(solve(parts, GAMMA, penalty=penalty, tol=accuracy))


def linear_series(name: str, penalty: Any) -> Series:
    def state(stated: Any, p: Problem) -> Any:
        import cvxpy as cp

        constant = cp.Problem(cp.Minimize(p.log_alpha))
        return stated.squared_norm(p.grams, GAMMA, penalty) + constant

    baselines = by_cvxpy(
        state, largest=139, largest_cvxopt=80, module="linear_problems"
    )
    if penalty == "trace":
        baselines.append(
            Solver(
                "as printed",
                lambda p, n: Outcome(
                    printed.feature_learning(
                        p.tasks.X, p.tasks.y, p.tasks.task, GAMMA, int(n)
                    )
                ),
                accuracies=(20, 40, 80, 160, 320, 640, 1280),
                is_share=False,
            )
        )
    return Series(
        name=name,
        axis="tasks",
        sizes=(5, 10, 20, 40, 80, 139),
        make=_linear,
        ours=Solver("ours", lambda p, a: _solve_linear(p, a, penalty), (1.0,)),
        baselines=baselines,
        accuracy=1e-4,
    )


# Jebara (2011)

COST = 1.0


def _switched(size: int) -> Problem:
    from mtmkl.solvers.med.med import MedPath

    gaussians = [{"name": "gaussian", "median_factor": 2.0**k} for k in (-2, 0, 2)]
    data = landmine()
    tasks = Tasks.of(data, data.n_tasks, size, "features", *gaussians)
    ours = tasks.dual_problem()
    largest = MedPath(ours, tol=1e-4).largest_q(COST)
    return Problem(
        tasks, ours, tasks.grams(), log_alpha=float(np.log(np.expm1(0.7 * largest)))
    )


def _switched_baselines(
    cost: float, epsilon: float | None, *, largest: int
) -> list[Solver]:
    """Return the baselines of MED's kernel selection: cvxopt lacks the cones."""
    return by_cvxpy(
        lambda stated, p: stated.kernel_selection(
            p.tasks.targets, p.grams, cost, p.log_alpha, epsilon=epsilon
        ),
        largest=largest,
    )


def _med_series() -> Series:
    from mtmkl.solvers.med.med import MedPath

    return Series(
        name="Kernel selection (Jebara 2011), Landmine",
        axis="samples per task",
        sizes=(6, 10, 16, 24, 40),
        make=_switched,
        ours=Solver(
            "ours",
            lambda p, a: outcome(MedPath(p.ours, tol=a).solve(COST, p.log_alpha)),
            (1.0,),
        ),
        baselines=[
            *_switched_baselines(COST, None, largest=24),
            Solver(
                "as printed",
                lambda p, n: Outcome(
                    printed.kernel_selection(
                        p.tasks.targets, p.grams, COST, np.exp(p.log_alpha), int(n)
                    )
                ),
                accuracies=(3, 10, 30),
                is_share=False,
                package="cvxopt",
            ),
        ],
    )


def _pooled(size: int) -> Problem:
    """Return ten tasks, with the communal matrix and those of the tasks."""
    tasks = Tasks.of(landmine(), 10, size)
    square = np.sum((tasks.X[:, None] - tasks.X[None]) ** 2, axis=2)
    K = np.exp(-square / (2 * np.median(square)))
    own = [9.0 * K[np.ix_(rows, rows)] for rows in tasks.rows]
    return Problem(tasks, None, grams=(0.1 * K, own))


def _pooling_series() -> Series:
    from mtmkl.solvers.med.med_pooling import PoolingPath

    log_alpha = float(np.log(20.0))

    def ours(p: Problem, accuracy: float) -> Outcome:
        path = PoolingPath(*p.grams, p.tasks.y, tol=accuracy)
        return outcome(path.solve(COST, log_alpha))

    return Series(
        name="Adaptive pooling (Jebara 2011), Landmine",
        axis="samples per task",
        sizes=(6, 10, 16, 24, 40),
        make=_pooled,
        ours=Solver("ours", ours, (1.0,)),
        baselines=by_cvxpy(
            lambda stated, p: stated.adaptive_pooling(
                p.tasks.targets, *p.grams, COST, log_alpha
            ),
            largest=40,
        ),
    )


def _regression(n_tasks: int) -> Problem:
    from mtmkl.solvers.med.med import MedPath

    tasks = Tasks.of(school(), n_tasks, 15, "features")
    ours = tasks.dual_problem(epsilon=EPSILON)
    largest = MedPath(ours, tol=1e-4).largest_q(0.1)
    return Problem(
        tasks, ours, tasks.grams(), log_alpha=float(np.log(np.expm1(0.7 * largest)))
    )


def _regression_series() -> Series:
    from mtmkl.solvers.med.med import MedPath

    cost = 0.1
    return Series(
        name="Regression (Jebara 2011), School",
        axis="tasks",
        sizes=(8, 16, 32, 64, 139),
        make=_regression,
        ours=Solver(
            "ours",
            lambda p, a: outcome(MedPath(p.ours, tol=a).solve(cost, p.log_alpha)),
            (1.0,),
        ),
        baselines=_switched_baselines(cost, EPSILON, largest=64),
    )


@dataclass(frozen=True)
class Nodes:
    """Samples of 0 and 1, one column per node."""

    X: FloatArray


def _nodes(n: int) -> Nodes:
    """Return samples of eight nodes along a chain."""
    rng = np.random.default_rng(0)
    X = np.empty((n, 8))
    X[:, 0] = rng.random(n) < 0.5
    for node in range(1, 8):
        same = rng.random(n) < 0.75
        X[:, node] = np.where(same, X[:, node - 1], 1.0 - X[:, node - 1])
    return Nodes(X)


def _graph_series() -> Series:
    from mtmkl.methods import MEDGraphStructure

    cost, alpha = 0.1, 20.0

    def ours(p: Nodes, accuracy: float) -> Outcome:
        model = MEDGraphStructure(cost, alpha, tol=accuracy).fit(p.X)
        return Outcome(model.objective_, model.dual_objective_)

    def state(stated: Any, p: Nodes) -> Any:
        nodes = range(p.X.shape[1])
        edges = [(m, d) for m in nodes for d in nodes if m < d]
        grams = [
            [p.X[:, b if m == a else a] if m in (a, b) else None for a, b in edges]
            for m in nodes
        ]
        targets = list(2.0 * p.X.T - 1.0)
        return stated.kernel_selection(targets, grams, cost, float(np.log(alpha)))

    return Series(
        name="Graph structure (Jebara 2011), drawn",
        axis="samples",
        sizes=(25, 50, 100, 200, 400),
        make=_nodes,
        ours=Solver("ours", ours, (1.0,)),
        baselines=by_cvxpy(state, largest=400),
    )


# Yousefi et al. (2015)

LAM = 0.3


def _letters(size: int) -> Problem:
    data = letters()
    tasks = Tasks.of(data, data.n_tasks, size, *TEN_KERNELS, normalize="cosine")
    return Problem(
        tasks, tasks.dual_problem(block=np.arange(data.n_tasks)), tasks.grams()
    )


def _sharing_series() -> Series:
    from mtmkl.solvers.weights.pairwise_sharing import PairwiseSharingPath

    return Series(
        name="Group sharing (Yousefi 2015), Letter",
        axis="samples per task",
        sizes=(10, 20, 40, 80, 160),
        make=_letters,
        ours=Solver(
            "ours",
            lambda p, a: outcome(PairwiseSharingPath(p.ours, tol=a).solve(COST, LAM)),
            (1.0,),
        ),
        baselines=[
            *by_cvxpy(
                lambda stated, p: stated.group_sharing(
                    p.tasks.targets, p.grams, COST, LAM
                ),
                largest=80,
                largest_cvxopt=80,
            ),
            Solver(
                "as printed",
                lambda p, n: Outcome(
                    printed.group_sharing(p.tasks.targets, p.grams, COST, LAM, int(n))
                ),
                accuracies=(5, 20, 80),
                is_share=False,
            ),
        ],
    )


# Jawanpuria and Nath (2011)

P_NORM, Q_NORM, SCHOOL_COST = 6.0, 1.5, 0.5


def _school_kernels(n_tasks: int) -> Problem:
    tasks = Tasks.of(school(), n_tasks, 15, *SEVEN_KERNELS)
    return Problem(tasks, tasks.dual_problem(epsilon=EPSILON), tasks.grams())


def _mixed_series() -> Series:
    from mtmkl.solvers.weights.mixed_norm import MixedNormPath

    return Series(
        name="MK-MTFL (Jawanpuria 2011), School",
        axis="tasks",
        sizes=(8, 16, 32, 64, 139),
        make=_school_kernels,
        ours=Solver(
            "ours",
            lambda p, a: outcome(
                MixedNormPath(p.ours, P_NORM, tol=a).solve(SCHOOL_COST)
            ),
            (1.0,),
        ),
        baselines=[
            *by_cvxpy(
                lambda stated, p: stated.mixed_norm(
                    p.tasks.targets, p.grams, SCHOOL_COST, P_NORM, EPSILON
                ),
                largest=139,
                largest_cvxopt=64,
            ),
            Solver(
                "as printed",
                lambda p, n: Outcome(
                    printed.mixed_norm(
                        p.tasks.targets, p.grams, SCHOOL_COST, P_NORM, EPSILON, int(n)
                    )
                ),
                accuracies=(10, 30, 100),
                is_share=False,
            ),
        ],
        accuracy=1e-3,
        reference=1e-7,
    )


def _school_linear(n_tasks: int) -> Problem:
    from mtmkl.solvers.weights.mixed_schatten import SchattenProblem

    tasks = Tasks.of(school(), n_tasks, 15)
    tasks = Tasks(
        tasks.X / np.sqrt(np.mean(np.sum(tasks.X**2, axis=1))), tasks.y, tasks.task
    )
    ours = SchattenProblem.of(
        [tasks.X], tasks.y, np.full(n_tasks, 15), Q_NORM, epsilon=EPSILON
    )
    return Problem(tasks, ours)


def _schatten_series() -> Series:
    from mtmkl.solvers.weights.mixed_schatten import MixedSchattenPath

    return Series(
        name="MK-MTSFL (Jawanpuria 2011), School, linear",
        axis="tasks",
        sizes=(8, 16, 32, 64, 139),
        make=_school_linear,
        ours=Solver(
            "ours",
            lambda p, a: outcome(MixedSchattenPath(p.ours, tol=a).solve(SCHOOL_COST)),
            (1.0,),
        ),
        baselines=[
            *by_cvxpy(
                lambda stated, p: stated.mixed_schatten(
                    p.tasks.y,
                    [p.tasks.X],
                    p.tasks.task,
                    SCHOOL_COST,
                    2.0,  # with one kernel every q is the same
                    EPSILON,
                ),
                largest=32,
                largest_cvxopt=32,
            ),
            Solver(
                "as printed",
                lambda p, n: Outcome(
                    printed.mixed_schatten(
                        p.tasks.targets, p.tasks.features, SCHOOL_COST, EPSILON, int(n)
                    )
                ),
                accuracies=(10, 30, 100, 300),
                is_share=False,
            ),
        ],
        accuracy=1e-3,
        reference=1e-6,
    )


# Widmer et al. (2015)


def _related(n: int) -> Problem:
    """Four tasks, near and far, with two kernels and three kernels of the tasks."""
    from mtmkl.kernels.gram import GramBlocks

    rng = np.random.default_rng(0)
    task = np.sort(np.arange(n) % 4)
    X = rng.standard_normal((n, 10))
    W = rng.standard_normal((10, 2))[:, [0, 0, 1, 1]] + rng.standard_normal((10, 4))
    score = np.einsum("ij,ji->i", X, W[:, task])
    y = np.where(score + score.std() * rng.standard_normal(n) > 0, 1.0, -1.0)
    square = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    base = [X @ X.T / 10, np.exp(-square / 20)]
    pairs = np.kron(np.eye(2), np.ones((2, 2)))
    relations = [R[np.ix_(task, task)] for R in (np.eye(4), pairs, np.ones((4, 4)))]
    grams = np.array([R * K for K in base for R in relations])
    blocks = GramBlocks.of([n], grams=np.stack(list(grams), axis=-1).reshape(n * n, -1))
    return Problem(Tasks(X, y, task), blocks, grams)


def _related_series() -> Series:
    from mtmkl.solvers.weights.mt_mkl_gram import GramPath

    def ours(p: Problem, accuracy: float) -> Outcome:
        path = GramPath(
            p.ours,
            p.tasks.y,
            p=2.0,
            loss="hinge",
            fit_intercept=True,
            tol=accuracy,
            max_iter=10_000,
            rng=np.random.default_rng(0),
        )
        return outcome(path.solve(COST))

    return Series(
        name="Multi-task MKL (Widmer 2015), drawn",
        axis="samples",
        sizes=(50, 100, 200, 400, 800),
        make=_related,
        ours=Solver("ours", ours, (1.0,)),
        baselines=[
            *by_cvxpy(
                lambda stated, p: stated.multi_task_mkl(
                    p.tasks.y, p.grams, COST, 2, fit_intercept=True
                ),
                largest=400,
                largest_cvxopt=400,
            ),
            Solver(
                "as printed",
                lambda p, n: Outcome(
                    printed.multi_task_mkl(p.tasks.y, p.grams, COST, 2.0, int(n))
                ),
                accuracies=(5, 10, 20, 40),
                is_share=False,
            ),
        ],
    )


SERIES = [
    linear_series("Trace norm (Argyriou 2008), School", "trace"),
    linear_series("Row norms (Argyriou 2008), School", "rows"),
    linear_series("Deviations (RR-Het), School", "deviations"),
    _med_series(),
    _pooling_series(),
    _regression_series(),
    _graph_series(),
    _sharing_series(),
    _mixed_series(),
    _schatten_series(),
    _related_series(),
]
