"""Methods by name, and classes of one's own by dotted path."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

import mtmkl.methods
from mtmkl.methods import REGISTRY, RRHet
from mtmkl_suite.methods import resolve


def test_names_and_dotted_paths():
    assert resolve("RRHet") is RRHet is REGISTRY["RRHet"]
    assert resolve("mtmkl.methods.rr_het:RRHet") is RRHet
    assert "RRHet" in dir(mtmkl.methods)
    assert sorted(REGISTRY) == list(REGISTRY)
    assert len(REGISTRY) == len(list(REGISTRY))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("RidgeRegression", r"method 'RidgeRegression'.*known: AggregateRidge, CMTL,"),
        ("IndependentRigde", r"unknown method 'IndependentRigde'; did you mean 'Indep"),
        ("no_such_module:Class", r"method 'no_such_module:Class': No module named"),
        ("mtmkl.methods.rr_het:Other", r"mtmkl.methods.rr_het has no class Other"),
        ("mtmkl.methods.rr_het:np", r"has no class np"),
    ],
)
def test_unknown_methods(name, message):
    with pytest.raises(ValueError, match=message):
        resolve(name)


def test_a_module_that_is_not_found_has_to_be_on_the_path(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"'own_method_1'; a module .* on PYTHONPATH"):
        resolve("own_method_1:Own")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_method_1.py").write_text("class Own: pass\n")
    assert resolve("own_method_1:Own").__name__ == "Own"
    # Here the module itself is found: the path is not what is wrong.
    (tmp_path / "own_method_2.py").write_text("import no_such_library\n")
    with pytest.raises(ValueError, match=r"No module named 'no_such_library'$"):
        resolve("own_method_2:Own")


def test_star_imports_every_method():
    names: dict[str, object] = {}
    exec("from mtmkl.methods import *", names)
    del names["__builtins__"]
    assert set(names) == {*REGISTRY, "REGISTRY", "resolve"}
    assert all(names[name] is REGISTRY[name] for name in REGISTRY)


def test_every_class_of_a_module_is_a_method_and_others_are_not():
    found = {
        name
        for module in pkgutil.iter_modules(mtmkl.methods.__path__)
        for name, value in vars(
            importlib.import_module(f"mtmkl.methods.{module.name}")
        ).items()
        if inspect.isclass(value)
        and value.__module__ == f"mtmkl.methods.{module.name}"
        and not name.startswith("_")
        and issubclass(value, BaseEstimator)
    }
    assert found - {"MEDMetric"} == set(REGISTRY)


def test_methods_are_imported_when_asked_for():
    code = "import sys, mtmkl.methods; assert 'mtmkl.methods.rr_het' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = mtmkl.methods.Nothing
    with pytest.raises(KeyError):
        _ = REGISTRY["Nothing"]
