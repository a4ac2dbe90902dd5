"""Multi-task and multiple-kernel learning with certified solvers.

Every estimator can be imported from here. Names are loaded when they are first asked
for; their types are in ``__init__.pyi``.
"""

from importlib import import_module, metadata
from typing import Any

#: Version of the installed package.
__version__ = metadata.version("mtmkl")

_MODULES = ("mtmkl.methods", "mtmkl.model_selection", "mtmkl.wrappers")


def __dir__() -> list[str]:
    names = [import_module(module).__all__ for module in _MODULES]
    return sorted({*globals(), *(name for each in names for name in each)})


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        for module in map(import_module, _MODULES):
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
