"""Names that the library offers, and their types."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator, is_classifier, is_regressor

import mtmkl
import mtmkl.methods
from mtmkl.methods import REGISTRY

USER = """
from mtmkl import MultiTaskFeatureLearningRegressor, PathSearchCV
model = MultiTaskFeatureLearningRegressor(gamma=0.1)
model.fit([[1.0]], [1.0]).coef_.shape
PathSearchCV(model, {"gamma": [1.0]}).best_score_ + 1.0
MultiTaskFeatureLearningRegressor(gama=0.1)
mtmkl.NoSuchThing
from mtmkl import NoSuchThing
"""


def test_every_estimator_of_a_module_is_exported():
    listed = pkgutil.iter_modules(mtmkl.methods.__path__, "mtmkl.methods.")
    modules = [importlib.import_module(each.name) for each in listed]
    found = {
        name
        for module in modules
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
        and issubclass(value, BaseEstimator)
    }
    assert found == {*REGISTRY, "MEDMetric"}
    assert found == {*mtmkl.methods.__all__} - {"REGISTRY"}
    assert all(getattr(mtmkl, name) is REGISTRY[name] for name in REGISTRY)
    offered = found | {"PathSearchCV", "PerTask", "TaskKFold"}
    assert offered <= set(dir(mtmkl))
    imported: dict = {}
    exec("from mtmkl import *", imported)
    assert offered <= set(imported)


def test_names_say_what_is_predicted():
    for name, method in REGISTRY.items():
        kinds = is_classifier(method()), is_regressor(method())
        ends = name.endswith("Classifier"), name.endswith("Regressor")
        assert kinds == ends, name


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = mtmkl.Nothing


def test_a_type_checker_knows_names_and_parameters(tmp_path):
    (tmp_path / "user.py").write_text("import mtmkl\n" + USER)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "", "user.py"], cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = [line.split(": ", 1) for line in done.stdout.splitlines()[:-1]]
    assert [place for place, _ in lines] == ["user.py:7", "user.py:8", "user.py:9"]
    assert 'Unexpected keyword argument "gama"' in lines[0][1]
    assert all("NoSuchThing" in text for _, text in lines[1:])
