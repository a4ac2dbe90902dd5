"""Every registered method refuses a parameter of the wrong type, and names it."""

import numpy as np
import pytest

from checks.test_methods import ESTIMATORS, samples
from mtmkl.methods import REGISTRY
from mtmkl.methods._base.estimator import MultiTaskEstimator
from mtmkl.methods._base.graph import GraphEstimator

every_method = pytest.mark.parametrize("name", ESTIMATORS)


def wrong_values(name, parameter, default):
    """Yield values of another type, or out of the range, of a parameter."""
    yield from ("1", "yes", 1j, np.nan, {1})  # of no parameter
    is_flag = isinstance(default, bool) or parameter == "fit_intercept"
    yield 1 if is_flag else True
    if default is not None and parameter not in ("normalize", "random_state"):
        yield None
    if type(default) in (int, float) and parameter != "binarize":
        yield -1
        if (name, parameter) != ("MultiTaskMKLClassifier", "p"):
            yield np.inf


def _defaults(name):
    return ESTIMATORS[name]().get_params()


def _examples(name):
    X, *others = samples(name)
    return (X,) if issubclass(ESTIMATORS[name], GraphEstimator) else (X, *others)


@every_method
def test_a_wrong_value_is_refused_with_the_name_of_the_parameter(name):
    for parameter, default in _defaults(name).items():
        for value in wrong_values(name, parameter, default):
            estimator = ESTIMATORS[name](**{parameter: value})
            with pytest.raises((ValueError, TypeError)) as refusal:
                estimator.fit(*_examples(name))
            message = str(refusal.value)
            assert message.startswith(parameter), (parameter, value)
            assert repr(value) in message


@pytest.mark.parametrize(
    "name",
    [name for name, each in ESTIMATORS.items() if issubclass(each, MultiTaskEstimator)],
)
def test_a_path_refuses_before_its_first_fit(name):
    for parameter in _defaults(name):
        grid = [{}, {parameter: "1"}]
        path = ESTIMATORS[name]().fit_path(*_examples(name), grid=grid)
        with pytest.raises(ValueError, match=f"^{parameter}.*'1'"):
            next(path)


@pytest.mark.parametrize("name", REGISTRY)
def test_numpy_scalars_are_numbers(name):
    """NumPy's numbers in a grid are as good as Python's own."""
    for parameter, default in _defaults(name).items():
        if not isinstance(default, int | float):
            continue
        value = np.asarray(default)[()]
        estimator = ESTIMATORS[name](**{parameter: value})
        estimator.n_features_in_ = 2
        estimator.tasks_ = np.arange(2)
        estimator._check_params()
