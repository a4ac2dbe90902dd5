"""Options of data sets, checked by the annotations of their loaders."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from inspect import get_annotations
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError
from sklearn.utils._param_validation import make_constraint

from mtmkl_suite.documents import demand

_YAML = (bool, int, float, str, NoneType, Any)
_STRICT = ConfigDict(strict=True, allow_inf_nan=False)


def option_problem(loader: Callable[..., Any], option: str, value: Any) -> str | None:
    """Return the demand on an option of a loader that a value does not meet.

    The loader's annotations say what its options are, or scikit-learn's
    ``validate_params`` does; one that says nothing, or names a type that YAML does not
    have, takes anything.
    """
    if constraints := getattr(loader, "_skl_parameter_constraints", None):
        possible = list(map(make_constraint, constraints[option]))
        if any(each.is_satisfied_by(value) for each in possible):
            return None
        return f"input should be {' or '.join(map(str, possible))}"
    adapter = _type_of(loader, option)
    if adapter is None:
        return None
    try:
        adapter.validate_python(
            value.item() if isinstance(value, np.generic) else value
        )
    except ValidationError as error:
        return demand(error)
    return None


@lru_cache(maxsize=512)
def _type_of(loader: Callable[..., Any], option: str) -> TypeAdapter[Any] | None:
    # Of a partial function, those of the function itself.
    function = getattr(loader, "func", loader)
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError):  # names that only a type checker knows
        hints = get_annotations(function)
    hint = hints.get(option, Any)
    return TypeAdapter(hint, config=_STRICT) if _is_yaml(hint) else None


def _is_yaml(hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _is_yaml(arguments[0])
    if origin in (Union, UnionType, Sequence, Mapping):
        return all(map(_is_yaml, arguments))
    return origin is Literal or hint in _YAML
