import pytest
import yaml

from mtmkl_suite.documents import Loader


def loaded(text):
    return yaml.load(text, Loader=Loader)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("-1E+4", -1e4),
        (".5e1", 5.0),
        ("2.e2", 200.0),
        ("1.0e-3", 1e-3),
        ("[1e3]", [1000.0]),
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
