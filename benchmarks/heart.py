"""Support vector duals on the path that methods take, against SVC and LIBSVM.

`mtmkl.solvers.svm.sum_kernel.SumKernelPath` is what
:class:`mtmkl.methods.IndependentSVMClassifier` runs; methods that learn weights run
the duals beneath it. "ours" begins from nothing, "ours, grid" is the share of one C in
a search over three, the others a quarter and a sixteenth of it. All have one Gram
matrix per task and the same relative error of the objective.

SVC     ``sklearn.svm.SVC(kernel="precomputed").fit`` of each task
LIBSVM  ``sklearn.svm._libsvm.fit``, its C routine with nothing around it

The estimators themselves are compared on one task of 20 samples and on 30 of 40.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from measuring import Outcome, Series, Solver, processor_seconds
from sklearn.datasets import make_classification

from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelTerms
from mtmkl.methods import IndependentSVMClassifier
from mtmkl.solvers.svm.sum_kernel import SumKernelPath
from mtmkl.solvers.svm.task_duals import DualProblem
from mtmkl.typing import FloatArray

TITLE = "Support vector machines on Gram matrices"
KERNELS = {
    "Gaussian": {"name": "gaussian", "median_factor": 1.0},
    "cubic": {"name": "polynomial", "degree": 3},
}
WIDE = {"name": "gaussian", "width": 3.0}
POWERS = (-10, -5, 0, 5, 10)
SIZES = (20, 63, 200, 632, 2000)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class Machines:
    """The same tasks as ours and as others take them."""

    ours: DualProblem
    tasks: list[tuple[FloatArray, FloatArray]]
    C: float


def draw(n: int, n_tasks: int) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return features and labels of tasks of n samples each."""
    X, y = [], []
    for t in range(n_tasks):
        features, labels = make_classification(
            n, 10, n_informative=4, n_redundant=2, flip_y=0.1, class_sep=0.8,
            random_state=t,
        )  # fmt: skip
        X.append(features)
        y.append(2.0 * labels - 1.0)
    return X, y


def machines(n: int, n_tasks: int, kernel: Any, C: float) -> Machines:
    """Return tasks of n samples each."""
    X, y = draw(n, n_tasks)
    features, labels = np.concatenate(X), np.concatenate(y)
    terms = KernelTerms.of(features, [kernel], normalize="cosine")
    task = np.repeat(np.arange(n_tasks), n)
    blocks = TrainingSet(terms, features, task, n_tasks).blocks()
    parts = [
        (blocks.grams[t * n * n : (t + 1) * n * n, 0].reshape(n, n).copy(), y[t])
        for t in range(n_tasks)
    ]
    return Machines(DualProblem.of(labels, blocks), parts, C)


def ours(problem: Machines, accuracy: float) -> Outcome:
    """Return the machines from nothing."""
    found = SumKernelPath(problem.ours, tol=accuracy).solve(problem.C)
    return Outcome(found.certificate.objective, found.certificate.dual_objective)


def on_grid(problem: Machines, accuracy: float) -> Outcome:
    """Return the last machines of a short grid, with their share of its time."""
    costs = [problem.C / 16.0, problem.C / 4.0, problem.C]
    path = SumKernelPath(problem.ours, tol=accuracy)
    seconds, found = processor_seconds(lambda: [path.solve(C) for C in costs])
    return Outcome(found[-1].certificate.objective, seconds=seconds / len(costs))


def each(problem: Machines, fit: Any, tol: float) -> Outcome:
    """Return what another gives for all tasks; objectives are not timed."""
    seconds, objective = 0.0, 0.0
    for K, y in problem.tasks:
        spent, (beta, offset) = processor_seconds(
            lambda K=K, y=y: fit(K, y, problem.C, tol)
        )
        seconds += spent
        f = K @ beta
        objective += 0.5 * beta @ f
        objective += problem.C * np.maximum(1.0 - y * (f + offset), 0.0).sum()
    return Outcome(float(objective), seconds=seconds)


def by_svc(
    K: FloatArray, y: FloatArray, C: float, tol: float
) -> tuple[FloatArray, float]:
    from sklearn.svm import SVC

    machine = SVC(kernel="precomputed", C=C, tol=tol).fit(K, y)
    beta = np.zeros(y.size)
    beta[machine.support_] = machine.dual_coef_[0]
    return beta, float(machine.intercept_[0])


def by_libsvm(
    K: FloatArray, y: FloatArray, C: float, tol: float
) -> tuple[FloatArray, float]:
    from sklearn.svm import _libsvm

    _libsvm.set_verbosity_wrap(0)
    fit = _libsvm.fit(
        K, y, svm_type=0, kernel="precomputed", C=C, tol=tol, cache_size=200
    )
    beta = np.zeros(y.size)
    # LIBSVM's first class is the one with the smaller label, and its signs.
    beta[fit[0]] = -fit[3][0]
    return beta, float(-fit[4][0])


def fitted(problem: Any, accuracy: float) -> Outcome:
    """Return what the estimator does, kernels and checks of its input included."""
    X, y = problem
    task = np.repeat(np.arange(len(X)), len(X[0]))
    machine = IndependentSVMClassifier(
        1.0, kernels=[WIDE], normalize=None, tol=accuracy
    )
    machine.fit(np.concatenate(X), np.concatenate(y), task=task)
    return Outcome(machine.objective_, machine.dual_objective_)


def fitted_by_svc(problem: Any, tol: float) -> Outcome:
    from sklearn.svm import SVC

    def fit() -> list[Any]:
        gamma = 0.5 / WIDE["width"] ** 2
        tasks = zip(*problem, strict=True)
        return [SVC(C=1.0, gamma=gamma, tol=tol).fit(X, y) for X, y in tasks]

    seconds, found = processor_seconds(fit)
    objective = 0.0
    for machine, X, y in zip(found, *problem, strict=True):
        f = machine.decision_function(X)
        norm = machine.dual_coef_[0] @ (f - machine.intercept_)[machine.support_]
        objective += 0.5 * norm + np.maximum(1.0 - y * f, 0.0).sum()
    return Outcome(float(objective), seconds=seconds)


def series(name: str, kernel: Any, n_tasks: int, power: int, sizes: Any) -> Series:
    C = 2.0**power
    return Series(
        name=f"{name}, C = 2^{power}",
        axis="samples per task",
        sizes=sizes,
        make=lambda n: machines(n, n_tasks, kernel, C),
        ours=Solver("ours", ours, (1.0,)),
        baselines=[
            Solver("ours, grid", on_grid, (1.0,)),
            Solver(
                "SVC", lambda p, tol: each(p, by_svc, tol), TOLERANCES, is_share=False
            ),
            Solver(
                "LIBSVM",
                lambda p, tol: each(p, by_libsvm, tol),
                TOLERANCES,
                is_share=False,
            ),
        ],
        accuracy=1e-3,
        reference=1e-7,
        has_peaks=power == 0,
    )


SERIES = [
    Series(
        name="IndependentSVMClassifier.fit, Gaussian, C = 1",
        axis="tasks",
        sizes=(1, 30),
        make=lambda n_tasks: draw(20 if n_tasks == 1 else 40, n_tasks),
        ours=Solver("ours", fitted, (1.0,)),
        baselines=[Solver("SVC.fit", fitted_by_svc, TOLERANCES, is_share=False)],
        accuracy=1e-3,
        reference=1e-7,
    ),
    *(
        series(name, kernel, 1, power, SIZES)
        for name, kernel in KERNELS.items()
        for power in POWERS
    ),
    *(
        series("29 tasks, Gaussian", KERNELS["Gaussian"], 29, power, (20, 40, 80, 160))
        for power in (-5, 0, 5)
    ),
]
