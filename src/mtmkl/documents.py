"""YAML documents: read, checked against a schema; errors name file, key and value."""

import difflib
import json
import re
from collections.abc import Collection, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

_LONGEST_VALUE = 80

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}

_BOUNDS = {
    "minimum": "of at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "of at most {}",
    "minLength": "of length at least {}",
    "minItems": "of length at least {}",
    "minProperties": "of length at least {}",
    "maxProperties": "of length at most {}",
    "pattern": "that matches {}",
}

# JSON Schema takes 2.0 for an integer, range() does not.
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer",
        lambda checker, value: isinstance(value, int) and not isinstance(value, bool),
    ),
)


def first_problem(document: Any, schema: Mapping[str, Any]) -> str | None:
    """Return the first thing that is wrong with a document, None if nothing is.

    Parameters
    ----------
    document : object
        Parsed YAML.
    schema : mapping
        A JSON schema. A ``description`` says in words what a value must be, or why a
        key is not allowed.

    Returns
    -------
    str or None
        Names the key, its value and what it should be.
    """
    errors: list[Any] = list(_Validator(schema).iter_errors(document))
    if not errors:
        return None
    # Of a misspelt key and the required key that it was meant to be, the former.
    error = min(errors, key=lambda error: error.validator != "additionalProperties")
    path = _named(document, error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        name = next(key for key in error.instance if key not in known)
        return f"key {_dotted([*path, name])}: {unknown('key', name, known)}"
    return f"key {_dotted(path)}: {_words(error)}"


def unknown(kind: str, name: object, known: Collection[str]) -> str:
    """Return that a name is not known, the nearest known one, and all of them."""
    near = difflib.get_close_matches(str(name), known, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown {kind} {name!r}{meant} (known: {', '.join(known) or 'none'})"


def _words(error: Any) -> str:
    schema, value = error.schema, error.instance
    description = schema.get("description", "")
    if error.validator == "required":
        name = next(key for key in error.validator_value if key not in value)
        wanted = _wanted(schema.get("properties", {}).get(name, {}))
        remedy = description or (f"it must be {wanted}" if wanted else "")
        return f"the key {name!r} is missing" + (f"; {remedy}" if remedy else "")
    if error.validator == "not":
        return f"{_shown(value)} cannot stand here: {description}"
    if error.validator == "uniqueItems":
        return f"{_shown(value)} has a value twice"
    return f"{_shown(value)} is not {_wanted(schema)}{_hint(schema, value)}"


def _wanted(schema: Mapping[str, Any]) -> str:
    """Return in words what a value must be."""
    if "description" in schema:
        return str(schema["description"])
    if "enum" in schema:
        return "one of " + ", ".join(map(_shown, schema["enum"]))
    if "const" in schema:
        return _shown(schema["const"])
    types = schema.get("type", [])
    names = [types] if isinstance(types, str) else types
    words = [" or ".join(_TYPES[name] for name in names)]
    words += [_BOUNDS[key].format(schema[key]) for key in _BOUNDS if key in schema]
    return " ".join(filter(None, words))


def _hint(schema: Mapping[str, Any], value: Any) -> str:
    types = schema.get("type")
    if types == "array" and isinstance(value, int | float | str):
        return f"; write [{value}]"
    if types != "object" and isinstance(value, Mapping):
        near = [
            difflib.get_close_matches(str(key), ("quick", "paper"), n=1)
            for key in value
        ]
        if any(near):
            return "; values of the tiers are written {quick: …, paper: …}"
    return ""


def _named(document: Any, path: Collection[str | int]) -> list[str | int]:
    """Return a path with the ids of list items in place of their numbers."""
    names = []
    for step in path:
        document = document[step]
        has_id = isinstance(step, int) and isinstance(document, Mapping)
        names.append(document.get("id", step) if has_id else step)
    return names


def _dotted(path: Collection[str | int]) -> str:
    return repr(".".join(map(str, path))) if path else "(top level)"


def _shown(value: Any) -> str:
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

    def get_single_node(self) -> yaml.Node | None:
        """Return the document's nodes, all keys distinct.

        Raises
        ------
        yaml.MarkedYAMLError
            If a mapping has a key twice; says on which lines.
        """
        root: yaml.Node | None = super().get_single_node()
        _refuse_repeated_keys(root, set())
        return root


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def _refuse_repeated_keys(node: yaml.Node | None, seen: set[int]) -> None:
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(item, seen)
    elif isinstance(node, yaml.MappingNode):
        first: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in first:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {key.value!r} is already in line "
                        f"{first[key.value].start_mark.line + 1}; remove or rename one",
                        problem_mark=key.start_mark,
                    )
                first[key.value] = key
            _refuse_repeated_keys(value, seen)


class ConfigError(ValueError):
    """A configuration file has an unknown key, a wrong value or a missing name."""


def config_dir() -> Path:
    """Return the folder that holds ``datasets.yaml`` and ``papers/``.

    Raises
    ------
    FileNotFoundError
        If neither the installed package nor the checkout has it.
    """
    return _shipped_dir("config", "config.yaml")


def schema_dir() -> Path:
    """Return the folder of the JSON schemas of all configuration files.

    Raises
    ------
    FileNotFoundError
        If neither the installed package nor the checkout has it.
    """
    return _shipped_dir("schemas", "config.schema.json", checkout="workflow/schemas")


def _shipped_dir(name: str, witness: str, checkout: str | None = None) -> Path:
    package = Path(__file__).resolve().parent
    for candidate in (package / name, package.parents[1] / (checkout or name)):
        if (candidate / witness).is_file():
            return candidate
    raise FileNotFoundError(
        f"{name}/{witness} not found: install mtmkl from a checkout or a wheel"
    )


def read_yaml(path: Path) -> Any:
    """Parse a YAML file; ``1e-3`` is a number.

    Raises
    ------
    ConfigError
        If the file does not exist, is not YAML, or has a key twice; names the file
        and the line.
    """
    if not path.is_file():
        raise ConfigError(f"{path} does not exist")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from error
    return read_yaml_text(text, source=str(path))


def read_yaml_text(text: str, *, source: str) -> Any:
    """Parse YAML as :func:`read_yaml` does; ``source`` names it in messages."""
    import yaml

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
def _loaded_yaml(text: str) -> Any:
    import yaml

    from mtmkl.documents import Loader

    return yaml.load(text, Loader=Loader)


def validate(document: Any, schema_name: str, *, source: str) -> None:
    """Check a document against ``<schema_name>.schema.json``.

    Parameters
    ----------
    document : object
        Parsed configuration.
    schema_name : str
        Of a file in the folder of schemas, such as "experiments".
    source : str
        Name of the file, for the message.

    Raises
    ------
    ConfigError
        Names the file, the key, its value and what it should be.
    """
    from mtmkl.documents import first_problem

    problem = first_problem(document, _schema(schema_name))
    if problem is not None:
        raise ConfigError(f"{source}: {problem}")


@cache
def _schema(name: str) -> Any:

    return json.loads((schema_dir() / f"{name}.schema.json").read_text())
