"""The protocol of the code published with Yousefi et al. (2015).

It is here to measure what it is worth, never to report a method by it. It alternates
between support vector machines and the step of the weights (the paper's Algorithm 1,
which cycles), chooses C again for each task in each round by the validation samples,
and reports the best of its rounds on the test samples. The code itself runs 15 rounds
on features as they are stored, which only the cosine of the kernels normalises, and
permutes the roles of the samples in each task without strata. By default the features
are standardised here, by the training samples, as in our protocol.

The round whose validation accuracy is best asks no test sample: its accuracy is what
the protocol gives without the leak.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mtmkl.datasets.container import MultiTaskData
from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelList, KernelTerms
from mtmkl.methods._base.kernel_machine import TEN_KERNELS
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals
from mtmkl.solvers.weights.pairwise_weights import minimise_weights
from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.data.splits import Split
from mtmkl_suite.evaluation.selectors import Fitted, Part, Selector

#: The values of C among which each round chooses for each task.
C_VALUES = tuple(2.0**power for power in range(-17, 18))
_FINAL_C = 1.0
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Round:
    """Weights with which the SVMs of a round are trained, and accuracies, task by task.

    ``C`` is the smallest of the best values on validation samples. The accuracies are
    those with it, but for ``final_test_accuracy``: with C = 1 and the same weights.
    """

    weights: FloatArray
    C: FloatArray
    validation_accuracy: FloatArray
    test_accuracy: FloatArray
    final_test_accuracy: FloatArray


def alternate(
    data: MultiTaskData,
    split: Split,
    lam: float,
    *,
    kernels: KernelList = TEN_KERNELS,
    C_values: Sequence[float] = C_VALUES,
    n_rounds: int = 20,
    standardize: bool = True,
) -> Iterator[Round]:
    """Yield the rounds of the alternation, from uniform weights."""
    machines = _Machines.of(data, split, kernels, standardize=standardize)
    yield from machines.rounds(lam, C_values=C_values, n_rounds=n_rounds)


@dataclass(frozen=True)
class _Machines:
    """Kernels of training and other samples, which rounds of every λ share."""

    training: TrainingSet
    problem: DualProblem
    #: Of validation and test samples, sorted by task.
    task: IntArray
    label: FloatArray
    #: Their task, plus the number of tasks for test samples.
    role: IntArray
    #: By task.
    cross: list[FloatArray]

    @classmethod
    def of(
        cls,
        data: MultiTaskData,
        split: Split,
        kernels: KernelList = TEN_KERNELS,
        *,
        standardize: bool = True,
    ) -> "_Machines":
        """Compute the kernels."""
        terms = KernelTerms.of(
            data.X[split.train], kernels, normalize="cosine", standardize=standardize
        )
        n_tasks, n_kernels = data.n_tasks, terms.n_terms
        training = TrainingSet(
            terms, data.X[split.train], data.task[split.train], n_tasks
        )
        number = np.arange(n_tasks * n_kernels).reshape(n_tasks, n_kernels)
        problem = DualProblem.of(
            data.y[split.train][training.order],
            training.blocks(),
            weight=number[:, terms.order],
        )
        others = np.concatenate([split.validation, split.test])
        is_test = np.arange(others.size) >= split.validation.size
        by_task = np.argsort(data.task[others], kind="stable")
        others, is_test = others[by_task], is_test[by_task]
        task, X = data.task[others], terms.inputs(data.X[others])
        cross = [
            terms.grams(X[task == t], training.X[training.rows(t)])
            for t in range(n_tasks)
        ]
        role = task + n_tasks * is_test
        return cls(training, problem, task, data.y[others], role, cross)

    def rounds(
        self, lam: float, *, C_values: Sequence[float] = C_VALUES, n_rounds: int = 20
    ) -> Iterator[Round]:
        """Yield the rounds of the alternation, from uniform weights."""
        training, cross = self.training, self.cross
        task, label, role = self.task, self.label, self.role
        n_tasks, n_kernels = len(cross), cross[0].shape[1]
        theta = np.full((n_tasks, n_kernels), 1.0 / n_kernels)
        nothing = np.zeros((n_tasks, n_kernels, n_kernels))
        for _ in range(n_rounds):
            q = np.empty_like(theta)
            chosen, best = np.empty(n_tasks), np.full(n_tasks, -1.0)
            tested, final = np.empty(n_tasks), np.empty(n_tasks)
            mixed = [
                np.einsum("m,rmn->rn", w, K) for w, K in zip(theta, cross, strict=True)
            ]
            costs = sorted({*C_values, _FINAL_C})
            machines = TaskDuals(self.problem, costs[0])
            for C in costs:
                if C != machines.C:
                    machines.rescale(C)
                machines.renew()
                inner = machines.solve(theta.ravel(), _TOLERANCE)
                if inner.limit:
                    warnings.warn(
                        f"C={C:g}: {inner.limit}", ConvergenceWarning, stacklevel=2
                    )
                beta, offsets = machines.beta, machines.intercept
                scores = np.concatenate(
                    [K @ beta[training.rows(t)] for t, K in enumerate(mixed)]
                )
                is_right = (scores + offsets[task] > 0) == (label > 0)
                accuracy = np.bincount(role, is_right) / np.bincount(role)
                on_validation, on_test = accuracy[:n_tasks], accuracy[n_tasks:]
                if C == _FINAL_C:
                    final = on_test
                if C in C_values:
                    better = on_validation > best
                    chosen[better], tested[better] = C, on_test[better]
                    best[better] = on_validation[better]
                    q[better] = inner.q.reshape(q.shape)[better]
            yield Round(theta, chosen, best, tested, final)
            scale = max(float(q.max()), 1e-300)
            theta = minimise_weights(
                -q,
                nothing,
                theta,
                lam,
                tol=_TOLERANCE * scale * n_tasks,
            ).theta


REPORTED, CHOSEN_C, LAST_ROUND = "accuracy", "accuracy_chosen_C", "accuracy_last_round"
"""Scores reported; with the chosen C; and with it in the last round alone."""
VALIDATED = "accuracy_validated_round"
"""Score with the chosen C of the round that is best on the validation samples."""


def accuracies(rounds: Sequence[Round]) -> dict[str, float]:
    """Return what the protocol reports of its rounds, and two steps towards it.

    The published code reports the largest mean over tasks of any round, with C = 1. For
    the last round, and for the best on validation samples, no test sample is asked.
    """
    chosen = [float(each.test_accuracy.mean()) for each in rounds]
    best = int(np.argmax([each.validation_accuracy.mean() for each in rounds]))
    return {
        REPORTED: max(float(each.final_test_accuracy.mean()) for each in rounds),
        CHOSEN_C: max(chosen),
        LAST_ROUND: chosen[-1],
        VALIDATED: chosen[best],
    }


def _select(part: Part) -> Iterator[Fitted]:
    """Run the protocol; λ has the best validation accuracy of any round."""
    params = dict(part.method.params)
    start = time.process_time()
    of_kernels = {k: params.pop(k) for k in ("kernels", "standardize") if k in params}
    machines = _Machines.of(part.data, part.split, **of_kernels)
    found: list[tuple[float, dict[str, Any], dict[str, float]]] = []
    for point in part.grid:
        rounds = list(machines.rounds(**point, **params))
        accuracy = max(float(each.validation_accuracy.mean()) for each in rounds)
        found.append((accuracy, point, accuracies(rounds)))
    _, point, measured = max(found, key=lambda each: each[0])
    seconds = time.process_time() - start
    yield Fitted(None, point, None, "", seconds, measured=measured)


best_on_test = Selector(_select, takes=alternate)
"""The protocol as a way to choose hyper-parameters: rows of :func:`accuracies`."""
