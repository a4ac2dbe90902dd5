import pytest

from mtmkl_suite.data.protocols import (
    AS_PUBLISHED,
    WITH_VALIDATION,
    check_protocol,
    train_unit,
)

RANDOM = {"id": "r", "kind": "random", "repeats": 3, "folds": 5, "train_samples": 40}


@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        ("first_rows", "samples per task"), ("halves", "samples per task"),
        ("random", "samples"), ("fractions", "%"), ("given", ""), ("published", ""),
        ("thirds", ""),
    ],
)  # fmt: skip
def test_a_kind_says_what_its_train_sizes_count(kind, unit):
    assert train_unit(kind) == unit
    keys = {
        "halves": "train_sizes",
        "random": "train_samples",
        "fractions": "train_percent",
    }
    protocol = {"id": "p", "kind": kind, "repeats": 1}
    if kind not in WITH_VALIDATION:
        protocol["folds"] = 2
    if kind in keys:
        protocol[keys[kind]] = 20
    # A kind without a unit is one whose sizes the data decide.
    assert (check_protocol(protocol).sizes == [AS_PUBLISHED]) == (unit == "")


def test_whether_examples_share_their_role_is_told_of_fractions_and_halves():
    fractions = {"id": "p", "kind": "fractions", "train_percent": 20, "repeats": 1}
    halves = {"id": "p", "kind": "halves", "train_sizes": 5, "repeats": 1}
    for protocol in (fractions, halves):
        assert check_protocol(protocol).shared is True
        assert check_protocol({**protocol, "shared": False}).shared is False
    with pytest.raises(ValueError, match="key 'shared': 1: input should be a valid"):
        check_protocol({**fractions, "shared": 1})
    thirds = {"id": "p", "kind": "thirds", "repeats": 1}
    with pytest.raises(ValueError, match="'shared': it is not a key of kind 'thirds'"):
        check_protocol({**thirds, "shared": False})
