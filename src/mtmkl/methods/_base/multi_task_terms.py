"""Terms of multi-task kernel learning: pairs of a kernel and a kernel of the tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mtmkl.kernels.base import Kernel, from_spec
from mtmkl.kernels.task_kernel_specs import task_kernels_from_spec
from mtmkl.typing import FloatArray, IntArray


@dataclass(frozen=True)
class MultiTaskTerms:
    """Pairs of a kernel and a matrix over the tasks of a fit."""

    kernels: list[Kernel]  # each once
    base: IntArray  # (M,), the kernel of each term
    labels: tuple[str, ...]
    task_kernels: FloatArray  # (M, T, T)

    @classmethod
    def of(
        cls, terms: Any, tasks: list[Any], task_order: Any, task_relations: Any
    ) -> "MultiTaskTerms":
        """Resolve parameters of `MultiTaskMKLClassifier` on the labels of the tasks."""
        order = tasks if task_order is None else _labels(task_order, tasks)
        rows = [order.index(label) for label in tasks]
        is_named = isinstance(task_order, Mapping)
        names = [str(name) for name in (task_order.values() if is_named else order)]
        if not isinstance(task_relations, Mapping | None):
            raise ValueError(
                "task_relations must be a mapping of names to matrices or Newick "
                f"texts, got {task_relations!r}"
            )
        is_list = isinstance(terms, Sequence) and not isinstance(terms, str)
        if not is_list or not len(terms):
            raise ValueError(
                "terms must be a list of pairs (kernel, task kernel), such as "
                f'[("linear", "union")], got {terms!r}'
            )
        kernels: list[Kernel] = []
        base, labels, matrices = [], [], []
        for term in terms:
            try:
                spec, task_spec = _pair(term)
                kernel = from_spec(spec)
                found = task_kernels_from_spec(
                    task_spec, names, relations=task_relations
                )
            except ValueError as error:
                raise ValueError(f"terms: {error}") from None
            if kernel not in kernels:
                kernels.append(kernel)
            for label, matrix in found:
                base.append(kernels.index(kernel))
                labels.append(label)
                matrices.append(matrix[np.ix_(rows, rows)])
        return cls(
            kernels, np.array(base, dtype=np.intp), tuple(labels), np.array(matrices)
        )

    def names(self, kernels: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the terms, from those of the kernels."""
        return tuple(
            f"{kernels[b]} × {label}"
            for b, label in zip(self.base, self.labels, strict=True)
        )

    def combined(self, theta: FloatArray) -> FloatArray:
        """Return Σ_m θ_m R_m over the terms of each kernel, shape (B, T, T)."""
        out = np.zeros((len(self.kernels), *self.task_kernels.shape[1:]))
        np.add.at(out, self.base, theta[:, None, None] * self.task_kernels)
        return out


def _labels(order: Any, tasks: list[Any]) -> list[Any]:
    """Return the labels of an order, which must name each task once."""
    is_list = isinstance(order, Sequence | np.ndarray) and not isinstance(order, str)
    if not is_list and not isinstance(order, Mapping):
        raise ValueError(
            "task_order must be a list of task labels, or a mapping of labels to "
            f"names, got {order!r}"
        )
    labels = list(order) if isinstance(order, Mapping) else np.asarray(order).tolist()
    missing = [label for label in tasks if label not in labels]
    if missing or len(set(labels)) < len(labels):
        what = f"lacks {missing[0]!r}" if missing else "has a label twice"
        raise ValueError(f"task_order must have each task once, but {what}: {labels!r}")
    return labels


def _pair(term: Any) -> tuple[Any, Any]:
    if isinstance(term, Mapping):
        if set(term) != {"kernel", "task_kernel"}:
            raise ValueError(
                f"a mapping has kernel and task_kernel, and nothing else, got {term!r}"
            )
        return term["kernel"], term["task_kernel"]
    if isinstance(term, str) or not isinstance(term, Sequence) or len(term) != 2:
        raise ValueError(f"not a pair of a kernel and a task kernel: {term!r}")
    return term[0], term[1]
