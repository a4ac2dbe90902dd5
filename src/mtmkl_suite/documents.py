"""YAML documents: read, and checked by models; errors name file, key and value."""

import re
from collections.abc import Collection
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetPydanticSchema,
    ValidationError,
    WrapValidator,
    model_validator,
)

from mtmkl.errors import unknown
from mtmkl_suite.errors import ConfigError

_LONGEST_VALUE = 80


class _WrongError(ValueError):
    """Error in a document; ``key`` is one of the place that is checked."""

    def __init__(self, text: str, key: str = "") -> None:
        super().__init__(text)
        self.key = key


def _as_written(value: Any, check: Any) -> Any:
    check(value)
    return value


def checked_by(model: type["Model"]) -> GetPydanticSchema:
    """Check a mapping by a model and leave it a mapping: an annotation."""
    written: Any = Annotated[model, WrapValidator(_as_written)]
    return GetPydanticSchema(lambda _, handler: handler.generate_schema(written))


def wrong(key: str, text: str) -> ValueError:
    """Return the error that something is wrong with a key of a model."""
    return _WrongError(text, key)


def missing(key: str, remedy: str = "") -> ValueError:
    """Return the error that a model lacks a key."""
    text = f"the key {key!r} is missing" + (f"; {remedy}" if remedy else "")
    return _WrongError(text)


def some_keys(document: Any) -> Any:
    """Refuse a mapping without keys."""
    if document == {}:
        raise ValueError("give at least one key")
    return document


def without_repeats(values: list[Any]) -> list[Any]:
    """Refuse a list that has a value twice."""
    if any(value in values[:k] for k, value in enumerate(values)):
        raise ValueError(f"{shown(values)} has a value twice")
    return values


_T = TypeVar("_T")
Count = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]
Number = Annotated[float, WrapValidator(_as_written)]
"""A number; whole ones stay whole, as tables and rules print them."""
Positive = Annotated[float, Field(gt=0), WrapValidator(_as_written)]
Some = Annotated[list[_T], Field(min_length=1)]
Distinct = Annotated[list[_T], Field(min_length=1), AfterValidator(without_repeats)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]


class Model(BaseModel):
    """Part of a document: its fields, or their aliases, are the keys that it has."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", regex_engine="python-re"
    )

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, document: Any) -> Any:
        """Refuse unknown keys, and name the nearest that is known."""
        if isinstance(document, dict) and cls.model_config["extra"] == "forbid":
            fields = [f.alias or name for name, f in cls.model_fields.items()]
            for key in document:
                if key not in fields:
                    raise _WrongError(unknown("key", key, fields), str(key))
        return document

    def given(self, *, but: Any = None) -> dict[str, Any]:
        """Return the keys that were given as a document has them, ``but`` left out."""
        return self.model_dump(
            exclude=but,
            by_alias=True,
            exclude_unset=True,
            exclude_none=True,
            serialize_as_any=True,
        )


_M = TypeVar("_M", bound=BaseModel)


def validated(model: type[_M], document: Any, *, source: str) -> _M:
    """Return a document, parsed YAML, as an object of a model.

    The error names the file (``source``), the key, its value and what it should be.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise ConfigError(f"{source}: {_first_problem(document, error)}") from None


def _first_problem(document: Any, error: ValidationError) -> str:
    """Return the first thing that is wrong with a document."""
    first: Any = error.errors(include_url=False)[0]
    raised = first.get("ctx", {}).get("error")
    if first["type"] == "missing":
        path = _named(document, first["loc"][:-1])
        return f"key {_dotted(path)}: the key {first['loc'][-1]!r} is missing"
    path = _named(document, first["loc"])
    if raised is not None:
        path += [raised.key] if getattr(raised, "key", "") else []
        return f"key {_dotted(path)}: {raised}"
    return f"key {_dotted(path)}: {shown(first['input'])}: {demand(error)}"


def demand(error: ValidationError) -> str:
    """Return the demand on the first value that is wrong, by each type it may have."""
    first, *others = error.errors(include_url=False)
    same = [each for each in others if each["input"] is first["input"]]
    text = " or ".join(dict.fromkeys(each["msg"] for each in (first, *same)))
    text = re.sub(r" or instance of \w+|(?<= or )Input should be ", "", text)
    return text[0].lower() + text[1:]


def _named(document: Any, path: Collection[str | int]) -> list[str | int]:
    """Return a path with the ids of list items in place of their numbers."""
    names = []
    for step in path:
        is_place = (
            step in document
            if isinstance(document, dict)
            else isinstance(document, list) and isinstance(step, int)
        )
        if is_place:  # and not the name of one of several models
            document = document[step]
            has_id = isinstance(step, int) and isinstance(document, dict)
            names.append(document.get("id", step) if has_id else step)
    return names


def _dotted(path: Collection[str | int]) -> str:
    return repr(".".join(map(str, path))) if path else "(top level)"


def shown(value: Any) -> str:
    """Return a value as messages show it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Loader(_Safe):
    """PyYAML's safe loader, with ``1e-3`` a number and a repeated key an error.

    PyYAML follows YAML 1.1: there ``1e-3`` is text because it has no point, and of two
    equal keys the second silently replaces the first.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """Return the mapping of a node; a repeated key is an error with both lines."""
        first: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if first.setdefault(key.value, key) is not key:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} is already in line "
                    f"{first[key.value].start_mark.line + 1}; remove or rename one",
                    problem_mark=key.start_mark,
                )
        return super().construct_mapping(node, deep)


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def config_dir() -> Path:
    """Return the folder that holds ``datasets.yaml`` and ``papers/``."""
    package = Path(__file__).resolve().parent
    for candidate in (package / "workflow/config", package.parents[1] / "config"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise FileNotFoundError(
        "config/config.yaml not found: install mtmkl from a checkout or a wheel"
    )


def read_yaml(path: Path) -> Any:
    """Parse a YAML file; ``1e-3`` is a number."""
    if not path.is_file():
        raise ConfigError(f"{path} does not exist")
    return read_yaml_text(path.read_bytes(), source=str(path))


def read_yaml_text(text: str | bytes, *, source: str) -> Any:
    """Parse YAML as :func:`read_yaml` does; ``source`` names it in messages."""
    try:
        # A copy: what a caller changes must not be in the next one's document.
        return deepcopy(_loaded_yaml(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(
            f"{source}{line}: not valid YAML: {error.problem or error.context}"
        ) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: not valid YAML: {error}") from error


@cache
def _loaded_yaml(text: str | bytes) -> Any:
    return yaml.load(text, Loader=Loader)
