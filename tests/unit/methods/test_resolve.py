"""Methods by name, and classes of one's own by dotted path."""

import pytest

import mtmkl.methods
from mtmkl.methods import REGISTRY, RRHet, resolve


def test_names_and_dotted_paths():
    assert resolve("RRHet") is RRHet is REGISTRY["RRHet"]
    assert resolve("mtmkl.methods.rr_het:RRHet") is RRHet
    assert "RRHet" in dir(mtmkl.methods)
    assert sorted(REGISTRY) == list(REGISTRY)
    assert len(REGISTRY) == len(list(REGISTRY))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("RidgeRegression", r"unknown method 'RidgeRegression'; known methods: Aggreg"),
        ("no_such_module:Class", r"method 'no_such_module:Class': No module named"),
        ("mtmkl.methods.rr_het:Other", r"mtmkl.methods.rr_het has no class Other"),
        ("mtmkl.methods.rr_het:np", r"has no class np"),
    ],
)
def test_unknown_methods(name, message):
    with pytest.raises(ValueError, match=message):
        resolve(name)


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = mtmkl.methods.Nothing
    with pytest.raises(KeyError):
        _ = REGISTRY["Nothing"]
