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

__all__ = ["REGISTRY", "resolve", *sorted(_MODULES)]


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


#: Every method of the package by the name that configurations use.
REGISTRY: Mapping[str, type] = _Registry()


def resolve(name: str) -> type:
    """Return the class of a method.

    Parameters
    ----------
    name : str
        A name in ``REGISTRY``, or ``package.module:Class`` for a class of one's own.

    Returns
    -------
    type

    Raises
    ------
    ValueError
        If there is no such method, or its module cannot be imported; the message
        lists the known methods, or says where the module has to be.
    """
    if name in REGISTRY:
        return REGISTRY[name]
    module_name, separator, class_name = name.partition(":")
    if not separator:
        from mtmkl.errors import unknown  # estimators load nothing of configuration

        raise ValueError(
            f"{unknown('method', name, REGISTRY)}; a class of your own is written "
            "package.module:Class"
        )
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ValueError(
            f"method {name!r}: {error}{_hint(error, module_name)}"
        ) from error
    method = getattr(module, class_name, None)
    if not isinstance(method, type):
        raise ValueError(f"method {name!r}: {module_name} has no class {class_name}")
    return method


def _hint(error: ImportError, module_name: str) -> str:
    """Return the remedy if the module itself is missing, not one that it imports."""
    missing = isinstance(error, ModuleNotFoundError)
    if missing and f"{module_name}.".startswith(f"{error.name}."):
        return (
            "; a module of your own must be in a folder on PYTHONPATH "
            "(PYTHONPATH=. mtmkl … for the working folder)"
        )
    return ""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return REGISTRY[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
