import pytest

from mtmkl.documents import first_problem, unknown

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
        "share": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "code": {"type": "string", "pattern": "^a"},
        "word": {"type": "string", "pattern": "^b", "description": "a word with b"},
        "list": {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True},
        "none": {"not": {}, "description": "it is out of use"},
    },
}


def test_a_document_that_fits_has_no_problem():
    assert first_problem({"name": "x", "count": 1, "list": [True]}, SCHEMA) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": 0}, "key 'count': 0 is not a whole number of at least 1"),
        ({"count": 2.0}, "key 'count': 2.0 is not a whole number of at least 1"),
        ({"count": True}, "key 'count': true is not a whole number of at least 1"),
        ({"share": 0}, "key 'share': 0 is not a number or null above 0"),
        ({"code": "b"}, "key 'code': 'b' is not text that matches ^a"),
        ({"word": "a"}, "key 'word': 'a' is not a word with b"),
        ({"list": [3]}, "key 'list.0': 3 is not true or false"),
        ({"list": [True, True]}, "key 'list': [True, True] has a value twice"),
        ({"none": 1}, "key 'none': 1 cannot stand here: it is out of use"),
        (
            {"cuont": 1},
            "key 'cuont': unknown key 'cuont'; did you mean 'count'? "
            "(known: name, count, share, code, word, list, none)",
        ),
    ],
)
def test_a_problem_names_key_value_and_what_is_wanted(change, message):
    assert first_problem({"name": "x"} | change, SCHEMA) == message


def test_a_misspelt_key_comes_before_the_key_that_it_replaces():
    assert "did you mean 'name'?" in first_problem({"nmae": "x"}, SCHEMA)
    missing = "key (top level): the key 'name' is missing; it must be text"
    assert first_problem({}, SCHEMA) == missing


def test_a_long_value_is_cut():
    problem = first_problem({"name": ["x" * 1000]}, SCHEMA)
    assert len(problem) < 150


def test_what_is_known_is_listed():
    assert unknown("colour", "rde", ["red", "blue"]) == (
        "unknown colour 'rde'; did you mean 'red'? (known: red, blue)"
    )
    assert unknown("colour", "x", []) == "unknown colour 'x' (known: none)"
