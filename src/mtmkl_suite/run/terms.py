"""Terms of multi-task kernel learning in a configuration, checked before any fit.

A fit makes their matrices, as these need the tasks of the data; the names of kernels
and of their parameters can be told without.
"""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from mtmkl.errors import unknown
from mtmkl.kernels import task_kernels
from mtmkl.kernels.base import from_spec
from mtmkl_suite.errors import ConfigError

TASK_KERNELS = (
    "single_task", "each_task", "union", "dirac_uniform", "frustratingly_easy",
    "task_clustering", "graph_laplacian", "hierarchy", "smooth", "proximity", "given",
)  # fmt: skip
"""Functions of :mod:`mtmkl.kernels.task_kernels` that a configuration can name."""


def check_terms(key: str, terms: Any) -> None:
    """Check the kernels and task kernels of terms."""
    for number, term in enumerate(terms if isinstance(terms, list) else []):
        for place, problem in _problems(term):
            raise ConfigError(f"key '{key}.{number}{place}': {problem}")


def _problems(term: Any) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a term, and where in it."""
    if isinstance(term, Mapping) and set(term) == {"kernel", "task_kernel"}:
        term = [term["kernel"], term["task_kernel"]]
    if not isinstance(term, list) or len(term) != 2:
        yield "", f"{term!r} is no mapping of kernel and task_kernel"
        return
    try:
        from_spec(term[0])
    except ValueError as error:
        yield ".kernel", str(error)
    for spec in term[1] if isinstance(term[1], list) else [term[1]]:
        if not isinstance(spec, list):  # a row of a matrix
            named = spec if isinstance(spec, Mapping) else {"name": spec}
            yield from ((".task_kernel", text) for text in _of_task_kernel(named))


def _of_task_kernel(spec: Mapping[str, Any]) -> Iterator[str]:
    name = spec.get("name")
    if name not in TASK_KERNELS:
        yield unknown("task kernel", name, TASK_KERNELS)
        return
    if not isinstance(spec.get("normalize", False), bool):
        yield f"normalize is {spec['normalize']!r}, wanted true or false"
    takes = [*inspect.signature(getattr(task_kernels, name)).parameters, "normalize"]
    for parameter in spec:
        if parameter not in (*takes, "name"):
            yield unknown(f"parameter of {name}", parameter, takes)
