"""Parameters of a method that a data set supplies: tasks, matrices."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mtmkl.kernels.base import KERNELS, Kernel, from_spec
from mtmkl.kernels.precomputed import ALL

if TYPE_CHECKING:
    from mtmkl.datasets.container import MultiTaskData


def tell_tasks(estimator: Any, data: "MultiTaskData") -> None:
    """Tell an estimator what the data know of their tasks, which are numbers in a run.

    A parameter ``task_order`` that is None gets their names, as a mapping of numbers to
    names; ``task_relations`` what it is not configured with.
    """
    params = estimator.get_params()
    if "task_order" in params and params["task_order"] is None:
        estimator.set_params(task_order=dict(enumerate(data.task_names)))
    if "task_relations" in params:
        given = params["task_relations"] or {}
        estimator.set_params(task_relations={**data.task_relations, **given})


def with_matrices(value: Any, data: "MultiTaskData") -> Any:
    """Return parameters with the matrices of the data for their names ("all": all)."""
    if isinstance(value, Mapping):
        kernel = _unresolved(value)
        if kernel is None:
            return {key: with_matrices(each, data) for key, each in value.items()}
        kernels = _kernels(kernel, data)
        return kernels if kernel.matrix == ALL else kernels[0]
    if not isinstance(value, list | tuple):
        return value
    entries: list[Any] = []
    for each in value:
        kernel = _unresolved(each)
        own = [with_matrices(each, data)] if kernel is None else _kernels(kernel, data)
        entries += own
    return entries


def refusal_of_matrices(
    method: type, settings: Iterable[Mapping[str, Any]], data: "MultiTaskData"
) -> str | None:
    """Return why a method is not run on samples known by matrices, None if it is.

    Their one feature is a row number, in an order that tells the classes. A method
    takes matrices if each of its settings names a kernel of them, or if its class says
    so.
    """
    if not data.matrices or getattr(method, "takes_matrices", False):
        return None
    if all(_names_matrix(each) for each in settings):
        return None
    return (
        f"samples of {data.name} are known by matrices ({', '.join(data.matrices)}), "
        f"and its one feature is their row number, of which {method.__name__} would "
        'learn their order: give it kernels of the matrices (--grid \'{"kernels": '
        '[["exponential_distance"]]}\' of a method with kernels), or set '
        "takes_matrices = True in its class"
    )


def _names_matrix(value: Any) -> bool:
    if isinstance(value, str | Mapping) and _unresolved(value) is not None:
        return True
    if isinstance(value, Mapping):
        value = list(value.values())
    return isinstance(value, list | tuple) and any(map(_names_matrix, value))


def as_json(value: Any) -> str:
    """Return parameters or arrays as JSON, matrices by their names."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        if isinstance(value, Kernel):
            return repr(value)
        raise TypeError(f"{value!r} cannot be written as JSON")

    return json.dumps(value, sort_keys=True, default=plain)


def _unresolved(value: Any) -> Any:
    """Return the kernel that a value specifies, if it names a matrix."""
    name = value.get("name") if isinstance(value, Mapping) else value
    is_given = isinstance(name, str) and hasattr(KERNELS.get(name), "matrix")
    kernel = from_spec(value) if is_given else None
    return kernel if isinstance(getattr(kernel, "matrix", None), str) else None


def _kernels(kernel: Any, data: "MultiTaskData") -> list[Any]:
    """Return the kernel of a named matrix, or those of all matrices."""
    if not data.matrices:
        raise ValueError(
            f"{data.name!r} has no matrix {kernel.matrix!r}, nor any other: choose "
            "kernels of its features"
        )
    names = list(data.matrices) if kernel.matrix == ALL else [kernel.matrix]
    for name in names:
        if name not in data.matrices:
            raise ValueError(
                f"{data.name!r} has no matrix {name!r}; it has: "
                f"{', '.join(data.matrices)}"
            )
    return [replace(kernel, matrix=data.matrices[name], label=name) for name in names]
