"""What is wrong with a document that does not fit its JSON schema, in words."""

import difflib
from collections.abc import Collection, Mapping
from typing import Any

import jsonschema

from mtmkl.config import TIERS

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
        near = [difflib.get_close_matches(str(key), TIERS, n=1) for key in value]
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
