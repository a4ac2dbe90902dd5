"""What options of data sets must be, read from the annotations of their loaders."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Range:
    """A range of numbers, as an annotation.

    Attributes
    ----------
    least, most : float
        Ends of the range; infinite where it has none.
    is_open : bool
        Whether the ends themselves are outside.
    """

    least: float = -math.inf
    most: float = math.inf
    is_open: bool = False

    def holds(self, value: float) -> bool:
        """Tell whether a number lies in the range."""
        if self.is_open:
            return self.least < value < self.most
        return self.least <= value <= self.most

    def words(self) -> str:
        """Return the range in words, to follow the name of a type."""
        if math.isinf(self.least):
            return ""
        if self.is_open:
            upper = f" and below {self.most:g}" if math.isfinite(self.most) else ""
            return f" above {self.least:g}{upper}"
        if math.isfinite(self.most):
            return f" from {self.least:g} to {self.most:g}"
        return f" of at least {self.least:g}"


Count = Annotated[int, Range(1)]
"""A whole number of at least 1."""

NotNegative = Annotated[int, Range(0)]
"""A whole number of at least 0."""

Positive = Annotated[float, Range(0, is_open=True)]
"""A finite number above 0."""

TaskKind = Literal["one_vs_one", "one_vs_rest"]
"""How classes become tasks of two."""

_WORDS = {
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    str: "text",
    NoneType: "null",
}


def option_problem(loader: Callable[..., Any], option: str, value: Any) -> str | None:
    """Return what an option of a loader must be, None if the value is that.

    Parameters
    ----------
    loader : callable
        Its annotations say what its options are; one that says nothing takes anything.
    option : str
    value : object

    Returns
    -------
    str or None
        Such as "a whole number of at least 1 or null".
    """
    hint = _hints(loader).get(option, Any)
    return None if _fits(value, hint) else _words(hint)


def missing_options(loader: Callable[..., Any], given: Mapping[str, Any]) -> list[str]:
    """Return the options that a loader needs and that are not given."""
    return [
        parameter.name
        for parameter in inspect.signature(loader).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
        and parameter.default is parameter.empty
        and parameter.name not in given
    ]


def _hints(loader: Callable[..., Any]) -> dict[str, Any]:
    # Of a partial function, those of the function itself.
    function = getattr(loader, "func", loader)
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError):  # names that only a type checker knows
        known = inspect.get_annotations(function)
        return {name: hint for name, hint in known.items() if not isinstance(hint, str)}


def _fits(value: Any, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        kind, *extras = arguments
        ranges = [extra for extra in extras if isinstance(extra, Range)]
        return _fits(value, kind) and all(r.holds(value) for r in ranges)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in arguments)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in arguments)
    if hint is float:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        return is_number and math.isfinite(value)
    if hint is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if hint in _WORDS:
        return isinstance(value, hint)
    if origin is not None and issubclass(origin, Sequence):
        items = isinstance(value, Sequence) and not isinstance(value, str)
        return items and all(_fits(each, arguments[0]) for each in value)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping)
    return True


def _words(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        kind, *extras = arguments
        ranges = [extra.words() for extra in extras if isinstance(extra, Range)]
        return "".join([_words(kind), *ranges])
    if origin in (Union, UnionType):
        return " or ".join(map(_words, arguments))
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if hint in _WORDS:
        return _WORDS[hint]
    if origin is not None and issubclass(origin, Sequence):
        return f"a list of {_words(arguments[0])}"
    return "a mapping"
