import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import Field

from mtmkl_suite.data import default_registry
from mtmkl_suite.data.registry import option_problem
from mtmkl_suite.documents import Count, NotNegative, Positive


def load(
    path,
    *,
    task: str,
    count: Count | None = None,
    seed: NotNegative = 0,
    spread: Positive = 1.0,
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5,
    size: Annotated[int, Field(ge=2, le=10)] = 2,
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
        ("task", 1, "a valid string"), ("count", "zzz", "a valid integer"),
        ("count", 0, "greater than or equal to 1"), ("count", 2.0, "a valid integer"),
        ("count", True, "a valid integer"), ("seed", -1, "greater than or equal to 0"),
        ("spread", 0, "greater than 0"), ("spread", math.inf, "a finite number"),
        ("size", 11, "less than or equal to 10"), ("kind", "pair", "'pairs' or 'rest'"),
        ("bias", 1, "a valid boolean"), ("ignore", [1], "a valid string"),
        ("features", 3, "a valid dictionary or a valid string"),
    ],
)  # fmt: skip
def test_what_an_option_must_be(option, value, wanted):
    # A file is bound before its options are checked.
    for each in (load, partial(load, "schools.csv")):
        assert option_problem(each, option, value) == f"input should be {wanted}"


@pytest.mark.parametrize(
    ("name", "option", "value", "wanted"),
    [
        ("digits", "n_per_class", 175, "less than or equal to 174"),
        ("ising_graphs", "edge_probability", 1, "a float in the range (0.0, 1.0) or"),
        ("landmine", "inputs", "zzz", "'unit_range'"),
    ],
)
def test_registered_sets_say_what_their_options_are(name, option, value, wanted):
    text = f"data set {name!r}: {option} is {value!r}: input should be {wanted}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        default_registry().check_options(name, {option: value})


def test_an_option_that_is_needed():
    with pytest.raises(ValueError, match="needs the option 'target'"):
        default_registry().check_options("schools.csv", {"task": "school"})
