import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import Field

from mtmkl_suite.data import default_registry
from mtmkl_suite.data.options import option_problem
from mtmkl_suite.documents import Count, NotNegative, Positive, words

if TYPE_CHECKING:
    pass


def load(
    path,
    *,
    task: str,
    count: Count | None = None,
    seed: NotNegative = 0,
    spread: Positive = 1.0,
    share: Annotated[
        float, Field(gt=0, lt=1), words("a number above 0 and below 1")
    ] = 0.5,
    size: Annotated[int, Field(ge=2, le=10), words("a whole number from 2 to 10")] = 2,
    kind: Literal["pairs", "rest"] = "pairs",
    bias: bool = True,
    ignore: Sequence[str] = (),
    features: Mapping[str, Any] | str | None = None,
    anything: Any = None,
):
    """A loader with options of every kind."""


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("task", "school"), ("count", 1), ("count", None), ("count", np.int64(3)),
        ("seed", 0), ("spread", 20), ("spread", 0.1), ("share", 0.5), ("size", 10),
        ("kind", "rest"), ("bias", False), ("ignore", ["a"]), ("features", "spectrum"),
        ("features", {"name": "spectrum"}), ("anything", [[1]]), ("unknown", 1),
    ],
)  # fmt: skip
def test_what_an_option_may_be(option, value):
    assert option_problem(load, option, value) is None


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("task", 1, "text"),
        ("count", "zzz", "a whole number of at least 1 or null"),
        ("count", 0, "a whole number of at least 1 or null"),
        ("count", 2.0, "a whole number of at least 1 or null"),
        ("count", True, "a whole number of at least 1 or null"),
        ("seed", -1, "a whole number of at least 0"),
        ("spread", 0, "a number above 0"),
        ("spread", math.inf, "a number above 0"),
        ("share", 1.0, "a number above 0 and below 1"),
        ("size", 11, "a whole number from 2 to 10"),
        ("kind", "pair", "one of 'pairs', 'rest'"),
        ("bias", 1, "true or false"),
        ("ignore", "a", "a list"),
        ("ignore", [1], "a list"),
        ("features", 3, "a mapping or text or null"),
    ],
)
def test_what_an_option_must_be(option, value, wanted):
    assert option_problem(load, option, value) == wanted


def test_a_file_is_bound_before_its_options_are_checked():
    bound = partial(load, "schools.csv")
    assert option_problem(bound, "count", 0) == "a whole number of at least 1 or null"


@pytest.mark.parametrize(
    ("name", "option", "value", "wanted"),
    [
        ("digits", "n_per_class", 175, "a whole number from 1 to 174 or null"),
        (
            "ising_graphs",
            "edge_probability",
            1,
            "a float in the range (0.0, 1.0) or None",
        ),
        ("mnist", "tasks", "all", "one of 'one_vs_one', 'one_vs_rest'"),
        ("school", "bias", "zzz", "true or false"),
        ("pendigits", "n_per_class", 0, "a whole number of at least 1 or null"),
        ("landmine", "inputs", "zzz", "one of 'unit_range'"),
    ],
)
def test_registered_sets_say_what_their_options_are(name, option, value, wanted):
    text = f"data set {name!r}: {option} is {value!r}, wanted {wanted}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        default_registry().check_options(name, {option: value})


def test_an_option_that_is_needed():
    with pytest.raises(ValueError, match="needs the option 'target'"):
        default_registry().check_options("schools.csv", {"task": "school"})
