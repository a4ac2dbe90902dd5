"""Specifications of task kernels, as configuration files have them."""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mtmkl.checks import check_flag
from mtmkl.kernels import task_kernels as kernels
from mtmkl.kernels.gram import check_task_kernel
from mtmkl.kernels.task_trees import clusters
from mtmkl.specs import read_spec
from mtmkl.typing import FloatArray, Spec


def task_kernels_from_spec(
    spec: Spec | Sequence[Spec] | ArrayLike,
    tasks: Sequence[str],
    *,
    relations: Mapping[str, ArrayLike | str] | None = None,
) -> list[tuple[str, FloatArray]]:
    """Return task kernels, (T, T), with labels, from specifications or a matrix.

    Parameters
    ----------
    spec : mapping, str, sequence of these, or array-like of shape (T, T)
        A task kernel itself, or a name, or a mapping of ``name`` and the parameters:

        ==================== =========================================================
        name                 parameters
        ==================== =========================================================
        single_task
        each_task
        union
        dirac_uniform
        frustratingly_easy
        task_clustering      assignments; centre, ridge
        graph_laplacian      adjacency
        hierarchy            tree; centre
        smooth               distances, scales; squared
        proximity            distances
        given                similarity
        ==================== =========================================================

        as in the functions of :mod:`mtmkl.kernels.task_kernels`. Several graphs are a
        list of ``graph_laplacian``. ``adjacency``, ``distances`` and ``similarity`` are
        matrices, or names of matrices in ``relations``; ``tree`` is Newick text, or the
        name of a text in ``relations``. With ``normalize: true`` each kernel is passed
        through `unit_mean_diagonal`.
    tasks : sequence of str
        Names of the tasks, in the order of the rows.
    relations : mapping, optional
        Relations between the tasks, by name: matrices over them, such as the distances
        of a phylogeny, and trees as Newick text.

    Raises
    ------
    ValueError
        If a name or a parameter is not known or missing, or a value is not valid; of
        an unknown name, those known are listed.

    Examples
    --------
    >>> spec = ["union", {"name": "smooth", "distances": [[0, 1], [1, 0]],
    ...                   "scales": [0.5]}]
    >>> [label for label, _ in task_kernels_from_spec(spec, ["a", "b"])]
    ['union', 'smooth, σ = 0.5']
    """
    specs: Any = [spec] if isinstance(spec, str | Mapping) else spec
    is_list = isinstance(specs, Sequence) and len(specs) > 0
    if is_list and all(isinstance(each, str | Mapping) for each in specs):
        names, known = [str(task) for task in tasks], relations or {}
        return [found for each in specs for found in _kernels_of(each, names, known)]
    try:
        matrix = np.array(spec, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"not a task kernel: {spec!r}") from None
    return [("given", check_task_kernel(matrix, len(tasks)))]


_BUILDERS: dict[str, Callable[..., Any]] = {
    build.__name__: build
    for build in (
        kernels.single_task, kernels.each_task, kernels.union, kernels.dirac_uniform,
        kernels.frustratingly_easy, kernels.task_clustering, kernels.graph_laplacian,
        kernels.hierarchy, kernels.smooth, kernels.proximity, kernels.given,
    )
}  # fmt: skip
_MATRICES = ("adjacency", "distances", "similarity")
_NOT_IN_SPEC = ("n_tasks", "tasks")  # known from the data


def _kernels_of(
    spec: Spec,
    tasks: list[str],
    relations: Mapping[str, ArrayLike | str],
) -> list[tuple[str, FloatArray]]:
    name, values = read_spec(
        "task kernel", spec, _BUILDERS, more=["normalize"], hidden=_NOT_IN_SPEC
    )
    normalize = values.pop("normalize", False)
    check_flag(f"{name}: normalize", normalize)
    accepted = signature(_BUILDERS[name]).parameters
    for key, each in accepted.items():
        if each.default is each.empty and key not in (*values, *_NOT_IN_SPEC):
            raise ValueError(f"task kernel {name!r} needs {key}")
    for key in _MATRICES:
        if isinstance(values.get(key), str):
            values[key] = _named(relations, values[key], f"{name}: {key}", "matrix")
    if isinstance(values.get("tree"), str) and ";" not in values["tree"]:
        values["tree"] = _named(relations, values["tree"], f"{name}: tree", "tree")
    if "n_tasks" in accepted:
        values["n_tasks"] = len(tasks)
    if "tasks" in accepted:
        values["tasks"] = tasks
    built = _BUILDERS[name](**values)
    labels = [name.replace("_", " ")]
    if isinstance(built, list):
        labels = [f"{labels[0]}, {part}" for part in _parts(name, values, tasks)]
    else:
        built = [built]
    for kernel in built:
        if len(kernel) != len(tasks):
            raise ValueError(
                f"task kernel {name!r} is over {len(kernel)} tasks, the data have "
                f"{len(tasks)}"
            )
    if normalize:
        built = [kernels.unit_mean_diagonal(kernel) for kernel in built]
    return list(zip(labels, built, strict=True))


def _parts(name: str, values: Mapping[str, Any], tasks: list[str]) -> list[str]:
    """Return labels of the kernels of a list."""
    if name == "smooth":
        return [f"σ = {scale:g}" for scale in values["scales"]]
    if name == "hierarchy":
        return [
            " + ".join(tasks[t] for t in members)
            for members in clusters(values["tree"], tasks)
        ]
    return tasks if name == "each_task" else ["Dirac", "uniform"]


def _named(
    relations: Mapping[str, ArrayLike | str], name: str, what: str, kind: str
) -> ArrayLike | str:
    """Return a matrix, or a tree as Newick text, by its name."""
    is_tree = kind == "tree"
    found = {k: v for k, v in relations.items() if isinstance(v, str) == is_tree}
    if name not in found:
        raise ValueError(
            f"{what}: no {kind} of this name {name!r} is known; known: "
            f"{', '.join(sorted(found)) or 'none'}"
            + ("; Newick text ends with a semicolon" if is_tree else "")
        )
    return found[name]
