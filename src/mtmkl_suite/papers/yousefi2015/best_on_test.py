"""The protocol of the code published with Yousefi et al. (2015).

It is here to measure what it is worth, never to report a method by it. It alternates
between support vector machines and the step of the weights (the paper's Algorithm 1,
which cycles), chooses C again for each task in each round by the validation examples,
and reports the best of its rounds on the test examples. The code itself runs 15 rounds
on inputs as they are stored, which only the cosine of the kernels normalises, and
permutes the roles of the examples in each task without strata. By default the inputs
are standardised here, over all examples, so that the choice alone differs from ours.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.splits import Split
from mtmkl.kernels.terms import KernelList, KernelTerms
from mtmkl.methods._base.group_sharing import TEN_KERNELS
from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.evaluation.selectors import Fitted, Part, Selector

#: The values of C among which each round chooses for each task.
C_VALUES = tuple(2.0**power for power in range(-17, 18))
_FINAL_C = 1.0
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Round:
    """What one round of the alternation gives.

    Attributes
    ----------
    weights : ndarray of shape (T, M)
        Kernel weights θ with which the SVMs of the round are trained.
    C : ndarray of shape (T,)
        The value chosen for each task, the smallest of the best.
    validation_accuracy : ndarray of shape (T,)
        With these values.
    test_accuracy : ndarray of shape (T,)
        With these values.
    final_test_accuracy : ndarray of shape (T,)
        With C = 1 and the same weights.
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
    from mtmkl.solvers.svm.svm import svc
    from mtmkl.solvers.weights.group_sharing_weights import minimise_weights

    if not 0 <= lam < np.inf:
        raise ValueError(f"lam must be at least 0 and finite, got {lam!r}")
    if not len(C_values) or min(C_values) <= 0:
        raise ValueError(f"C_values must be positive, got {C_values!r}")
    tasks = _tasks(data, split, kernels, standardize=standardize)
    n_tasks, n_kernels = len(tasks), tasks[0].train.shape[-1]
    theta = np.full((n_tasks, n_kernels), 1.0 / n_kernels)
    nothing = np.zeros((n_tasks, n_kernels, n_kernels))
    for _ in range(n_rounds):
        q = np.empty_like(theta)
        chosen, best = np.empty(n_tasks), np.full(n_tasks, -1.0)
        tested, final = np.empty(n_tasks), np.empty(n_tasks)
        for t, task in enumerate(tasks):
            K, start = task.train @ theta[t], None
            others = (task.validation @ theta[t], task.test @ theta[t])
            for C in sorted({*C_values, _FINAL_C}):
                machine = svc(K, task.y, C=C, start=start, tol=_TOLERANCE)
                start, intercept = machine.coef, machine.intercept
                assert intercept is not None
                scores = [
                    np.where(cross @ start + intercept[0] > 0, 1.0, -1.0)
                    for cross in others
                ]
                on_validation = float(np.mean(scores[0] == task.y_validation))
                on_test = float(np.mean(scores[1] == task.y_test))
                if C == _FINAL_C:
                    final[t] = on_test
                if C in C_values and on_validation > best[t]:
                    chosen[t], best[t], tested[t] = C, on_validation, on_test
                    q[t] = 0.5 * np.einsum("i,ijm,j->m", start, task.train, start)
        yield Round(theta, chosen, best, tested, final)
        scale = max(float(q.max()), 1e-300)
        theta = minimise_weights(
            -q,
            nothing,
            np.zeros_like(theta),
            lam,
            start=theta,
            tol=_TOLERANCE * scale * n_tasks,
        ).theta


REPORTED, CHOSEN_C, LAST_ROUND = "accuracy", "accuracy_chosen_C", "accuracy_last_round"
"""What is reported; the same with the chosen C; and that in the last round alone."""


def accuracies(rounds: Sequence[Round]) -> dict[str, float]:
    """Return what the protocol reports of its rounds, and two steps towards it.

    Returns ``accuracy``: with C = 1, the largest mean over tasks of any round, as the
    published code reports; ``accuracy_chosen_C``: the same with the chosen values of C;
    ``accuracy_last_round``: with these, in the last round, for which no test example
    was asked.
    """
    chosen = [float(each.test_accuracy.mean()) for each in rounds]
    return {
        REPORTED: max(float(each.final_test_accuracy.mean()) for each in rounds),
        CHOSEN_C: max(chosen),
        LAST_ROUND: chosen[-1],
    }


def _select(part: Part) -> Iterator[Fitted]:
    """Run the protocol; λ has the best validation accuracy of any round."""
    params = part.job.spec.params
    start = time.process_time()
    found: list[tuple[float, dict[str, Any], dict[str, float]]] = []
    for point in part.grid:
        rounds = list(alternate(part.data, part.split, **point, **params))
        accuracy = max(float(each.validation_accuracy.mean()) for each in rounds)
        found.append((accuracy, point, accuracies(rounds)))
    _, point, measured = max(found, key=lambda each: each[0])
    seconds = time.process_time() - start
    yield Fitted(None, point, None, "", seconds, measured=measured)


best_on_test = Selector(_select, takes=alternate)
"""The protocol as a way to choose hyper-parameters: rows of :func:`accuracies`."""


@dataclass(frozen=True)
class _Task:
    """Kernels (rows, training rows, M) and labels of one task."""

    train: FloatArray
    validation: FloatArray
    test: FloatArray
    y: FloatArray
    y_validation: FloatArray
    y_test: FloatArray


def _tasks(
    data: MultiTaskData, split: Split, kernels: KernelList, *, standardize: bool
) -> list[_Task]:
    terms = KernelTerms.of(data.X, kernels, normalize="cosine", standardize=standardize)
    X = terms.inputs(data.X)
    tasks = []
    for t in range(data.n_tasks):
        roles: dict[str, IntArray] = {}
        for role in ("train", "validation", "test"):
            rows = getattr(split, role)
            roles[role] = rows[data.task[rows] == t]
            if not roles[role].size:
                raise ValueError(
                    f"task {data.task_names[t]!r} has no {role} examples: take a "
                    "split with all three roles in every task"
                )
        grams = {
            role: np.ascontiguousarray(
                terms.grams(X[rows], X[roles["train"]]).transpose(0, 2, 1)
            )
            for role, rows in roles.items()
        }
        labels = {role: data.y[rows] for role, rows in roles.items()}
        tasks.append(
            _Task(
                grams["train"],
                grams["validation"],
                grams["test"],
                labels["train"],
                labels["validation"],
                labels["test"],
            )
        )
    return tasks
