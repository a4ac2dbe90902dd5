"""Facts that the checks of all methods need of each: ``CASES`` beside its tests.

A test module in ``tests/unit/mtmkl/methods`` may have a table ``CASES`` of classes by
name. A method without an entry is checked with its defaults.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mtmkl.methods import REGISTRY

METHOD_TESTS = Path(__file__).parents[1] / "unit" / "mtmkl" / "methods"

GAUSSIAN, SQUARE = (
    {"name": "gaussian", "width": 1.5},
    {"name": "polynomial", "degree": 2},
)
KERNELS = {"kernels": [GAUSSIAN, SQUARE, "linear"]}
MIXED = {"kernels": ["features", GAUSSIAN], "normalize": "trace", "standardize": True}
#: Kernels for the contract that every method keeps.
FEW_KERNELS = ["features", {"name": "gaussian", "median_factor": 1.0}, SQUARE]

COSTS = [{"C": C} for C in (1.0, 1e3, 1e-3, 30.0)]
RIDGES = [{"gamma": gamma} for gamma in (1.0, 1e3, 1e-4, 1e-1)]
SWITCHED = [{"C": C, "alpha": a} for C in (1.0, 1e3, 1e-2) for a in (2.0, 0.0, 50.0)]
WEIGHTS = (1.0, 30.0, 1e-2)


@dataclass(frozen=True)
class Case:
    """Facts that the checks need of a method."""

    #: Parameters for the contract, by what they try; small if the defaults are slow.
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})
    #: The problem's value at a model less its losses, ``penalty(model, X, task)``.
    penalty: Callable[..., float] | None = None
    #: All of it, of other losses than most: ``objective(model, X, y, task)``.
    objective: Callable[..., float] | None = None
    #: Parameters with which the objective is compared, and points of a path.
    variants: Sequence[Mapping[str, Any]] = ({},)
    grid: Sequence[Mapping[str, Any]] = ({},)


@cache
def _tables() -> Mapping[str, Case]:
    found: dict[str, Case] = {}
    for path in sorted(METHOD_TESTS.glob("test_*.py")):
        module = importlib.import_module(f"unit.mtmkl.methods.{path.stem}")
        own = getattr(module, "CASES", {})
        assert found.keys().isdisjoint(own), path
        found |= own
    assert found.keys() <= REGISTRY.keys()
    return found


def case_of(name: str) -> Case:
    """Return the case of a method."""
    return _tables().get(name, Case())


def with_objective() -> dict[str, Case]:
    """Return the cases of the methods whose objective is computed from the model."""
    return {
        name: case
        for name, case in sorted(_tables().items())
        if case.penalty or case.objective
    }


def path_of(name: str) -> Sequence[Mapping[str, Any]]:
    """Return the points of a method's path: of γ, C, α and λ, or those of its case."""
    known = REGISTRY[name]().get_params()
    if "gamma" in known:
        return [{"gamma": gamma} for gamma in (1.0, 100.0, 1e-4, 1.0)]
    if "C" not in known:
        return case_of(name).grid
    for weight, middle in (("alpha", 2.0), ("lam", 0.3)):
        if weight in known:
            levels = (0.0, 50.0, middle)
            return [{"C": C, weight: v} for C in (10.0, 0.1, 1.0) for v in levels]
    return [{"C": C} for C in (1.0, 0.1, 10.0, 1.0)]
