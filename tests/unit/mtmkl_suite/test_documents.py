from typing import Annotated, Any, Literal

import pytest
import yaml
from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from mtmkl.errors import unknown
from mtmkl_suite.documents import (
    Count,
    Loader,
    Model,
    Name,
    Number,
    Some,
    missing,
    some_keys,
    validated,
    without_repeats,
    wrong,
)
from mtmkl_suite.errors import ConfigError


class Part(Model):
    size: Count
    id: str = ""
    mode: Literal["fast", "slow"] = "fast"
    _not_empty = model_validator(mode="before")(some_keys)


class Other(Model):
    colour: str


def kind(value):
    return "other" if "colour" in value else "part"


class Document(Model):
    name: str
    count: Count = 1
    flags: Annotated[Some[bool], AfterValidator(without_repeats)] = [True]
    number: Number = 1
    size: Count | list[Count] = 1
    parts: list[Part] = []
    named: dict[Name, Part] = {}
    either: Annotated[
        Annotated[Part, Tag("part")] | Annotated[Other, Tag("other")],
        Discriminator(kind),
    ] = Part(size=1)
    class_name: str = Field(default="", alias="class")
    never: Any = None

    @model_validator(mode="after")
    def _check(self):
        if self.never is not None:
            raise wrong("never", "it is out of use")
        if self.count == 13:
            raise missing("luck", "give some")
        return self


def problem(document):
    with pytest.raises(ConfigError) as refusal:
        validated(Document, document, source="file")
    return str(refusal.value).removeprefix("file: ")


def test_a_document_that_fits_becomes_an_object():
    found = validated(
        Document,
        {"name": "x", "flags": [True], "parts": [{"size": 2}], "class": "C"},
        source="file",
    )
    assert (found.name, found.count, found.parts[0].size) == ("x", 1, 2)
    assert found.class_name == "C"
    with pytest.raises(ValueError, match="frozen"):
        found.name = "y"


def test_whole_numbers_stay_whole():
    for number in (2, 2.5):
        found = validated(Document, {"name": "x", "number": number}, source="").number
        assert repr(found) == repr(number)


def test_an_object_gives_the_keys_of_its_document():
    document = {"name": "x", "class": "C", "named": {"a": {"size": 1}}}
    found = validated(Document, document, source="")
    assert found.given() == document
    del document["class"]
    assert found.given(but={"class_name"}) == document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": 0}, "key 'count': 0: input should be greater than or equal to 1"),
        ({"count": 2.0}, "key 'count': 2.0: input should be a valid integer"),
        ({"flags": True}, "key 'flags': true: input should be a valid list"),
        ({"flags": []}, "key 'flags': []: list should have at least 1 item"),
        ({"flags": [True, True]}, "key 'flags': [True, True] has a value twice"),
        ({"never": 1}, "key 'never': it is out of use"),
        ({"count": 13}, "key (top level): the key 'luck' is missing; give some"),
        (
            {"cuont": 1},
            "key 'cuont': unknown key 'cuont'; did you mean 'count'? "
            "(known: name, count, flags, number, size, parts, named, either, class, "
            "never)",
        ),
        ({"parts": [{}]}, "key 'parts.0': give at least one key"),
        ({"parts": [3]}, "key 'parts.0': 3: input should be a valid dictionary"),
        ({"parts": [{"id": "p", "size": 0}]}, "key 'parts.p.size': 0: input should"),
        ({"named": {"a": {"mode": "fats", "size": 1}}}, "key 'named.a.mode': 'fats':"),
        ({"named": {"A": {"size": 1}}}, "key 'named.A': 'A': string should match"),
        ({"named": {"a": {"id": "x"}}}, "key 'named.a': the key 'size' is missing"),
        ({"either": {"colour": 3}}, "key 'either.colour': 3: input should be a valid"),
        ({"size": "x"}, "key 'size': 'x': input should be a valid integer or a valid"),
    ],
)  # fmt: skip
def test_a_problem_names_key_value_and_what_is_wanted(change, message):
    assert problem({"name": "x"} | change).startswith(message)


def test_the_top_level_has_no_key():
    assert problem({}) == "key (top level): the key 'name' is missing"
    assert problem(None) == "key (top level): null: input should be a valid dictionary"


def test_what_is_known_is_listed():
    assert unknown("colour", "rde", ["red", "blue"]) == (
        "unknown colour 'rde'; did you mean 'red'? (known: red, blue)"
    )
    assert unknown("figure", "3", ["3a", "3b", "4"]) == (
        "unknown figure '3'; did you mean '3a' or '3b'? (known: 3a, 3b, 4)"
    )
    assert unknown("colour", "x", []) == "unknown colour 'x' (known: none)"


def loaded(text):
    return yaml.load(text, Loader=Loader)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("-1E+4", -1e4),
        (".5e1", 5.0),
        ("2.e2", 200.0),
    ],
)
def test_a_number_needs_no_point(text, value):
    assert loaded(text) == value


@pytest.mark.parametrize(
    "text", ["'1e-3'", "e-3", "1e", "1e3x", "v1e3", "1e-", "1e-3 s"]
)
def test_other_text_stays_text(text):
    assert loaded(text) == text.strip("'")


@pytest.mark.parametrize(
    ("text", "key", "first", "second"),
    [
        ("a: 1\nb: 2\na: 3\n", "a", 1, 3),
        ("- {x: 1}\n- {x: 1,\n   x: 2}\n", "x", 2, 3),
        ("top:\n  deep:\n    k: 1\n    'k': 1\n", "k", 3, 4),
    ],
)
def test_a_key_that_comes_twice_is_an_error(text, key, first, second):
    message = rf"(?s)'{key}' is already in line {first};.*line {second},"
    with pytest.raises(yaml.MarkedYAMLError, match=message):
        loaded(text)


def test_merged_keys_may_be_replaced():
    text = "a: &a {x: 1, y: 2}\nb: &b {<<: *a, x: 3}\nc: {<<: *b, y: 4}\n"
    assert loaded(text)["c"] == {"x": 3, "y": 4}
