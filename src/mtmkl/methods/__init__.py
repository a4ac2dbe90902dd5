"""The methods, one file each, as scikit-learn estimators with a ``task`` argument.

Every public class of a module here is a method, found in the module's source and
imported when it is first asked for. One that predicts nothing, a transformer, is not.
"""

import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_MODULES = {
    name: path.stem
    for path in Path(__file__).parent.glob("[!_]*.py")
    for name in re.findall(
        r"^class ([A-Z]\w*)\((?!TransformerMixin)", path.read_text("utf-8"), re.M
    )
}

__all__ = ["REGISTRY", *sorted(_MODULES)]


class _Registry(Mapping[str, type]):
    """The methods by name, imported when they are first asked for."""

    def __getitem__(self, name: str) -> type:
        module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
        method: type = getattr(module, name)
        return method

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(_MODULES))

    def __len__(self) -> int:
        return len(_MODULES)


#: Every method of the package by its name.
REGISTRY: Mapping[str, type] = _Registry()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return REGISTRY[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
