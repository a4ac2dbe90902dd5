"""Methods by name, and classes of one's own by dotted path."""

import pytest
from sklearn.svm import SVC

from mtmkl.methods import REGISTRY, RRHetRegressor
from mtmkl.wrappers import PerTask
from mtmkl_suite.methods import resolve


def test_names_and_dotted_paths():
    assert resolve("RRHetRegressor") is RRHetRegressor is REGISTRY["RRHetRegressor"]
    assert resolve("mtmkl.methods.rr_het:RRHetRegressor") is RRHetRegressor
    assert resolve("OracleControl").__module__ == "mtmkl_suite.baselines.controls"
    wrapped = resolve("PerTask(sklearn.svm:SVC)")
    assert issubclass(wrapped, PerTask)
    assert isinstance(wrapped(C=3.0).estimator, SVC)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("RidgeRegression", "method 'RidgeRegression'.*known: AggregateRidgeRegressor"),
        ("IndependentRigde", r"unknown method 'IndependentRigde'; did you mean 'Indep"),
        ("no_such_module:Class", r"method 'no_such_module:Class': No module named"),
        ("mtmkl.methods.rr_het:Other", r"mtmkl.methods.rr_het has no class Other"),
        ("mtmkl.methods.rr_het:np", r"has no class np"),
        ("PerTask(SVC)", r"in PerTask\(\.\.\.\) stands sklearn\.module:Class, LGBMC"),
        ("Pooled(sklearn.svm:SVX)", r"sklearn\.svm has no class SVX"),
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
