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
    return sorted({*globals(), *__getattr__("__all__")})


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [n for module in _MODULES for n in import_module(module).__all__]
    if not name.startswith("_"):
        for module in map(import_module, _MODULES):
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
