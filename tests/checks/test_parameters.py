"""Every registered method refuses a parameter of the wrong type, and names it."""

import numpy as np
import pytest
from sklearn.base import is_classifier

from mtmkl.methods import REGISTRY
from mtmkl.methods._base.estimator import MultiTaskEstimator
from mtmkl.methods._base.graph import GraphEstimator
from mtmkl.methods.med_metric import MEDMetric

ESTIMATORS = {**REGISTRY, "MEDMetric": MEDMetric}
every_method = pytest.mark.parametrize("name", ESTIMATORS)
# None of these is a value of any parameter.
WRONG = ["1", "yes", 1j, np.nan, {1}]


def _defaults(name):
    return ESTIMATORS[name]().get_params()


def _examples(name):
    rng = np.random.default_rng(0)
    task = np.repeat([0, 1], 10)
    X = rng.standard_normal((20, 2))
    y = X[:, 0] + 0.1 * rng.standard_normal(20)
    estimator = ESTIMATORS[name]()
    if isinstance(estimator, GraphEstimator):
        return (X,)
    if is_classifier(estimator) or name == "MEDMetric":
        y = np.where(y > np.median(y), 1, -1)
    return X, y, task


def _refusal(name, parameter, value):
    estimator = ESTIMATORS[name](**{parameter: value})
    try:
        estimator.fit(*_examples(name))
    except (ValueError, TypeError) as refusal:
        return str(refusal)
    return pytest.fail(f"{name} takes {parameter}={value!r}")


@every_method
def test_a_wrong_type_is_refused_by_name_and_value(name):
    for parameter in _defaults(name):
        for value in WRONG:
            message = _refusal(name, parameter, value)
            assert message.startswith(parameter)
            assert repr(value) in message


@every_method
def test_numbers_and_truth_values_are_not_mixed_up(name):
    for parameter, default in _defaults(name).items():
        is_flag = isinstance(default, bool) or parameter == "fit_intercept"
        message = _refusal(name, parameter, 1 if is_flag else True)
        assert message.startswith(parameter)


@every_method
def test_a_number_out_of_range_is_refused_by_name(name):
    for parameter, default in _defaults(name).items():
        if type(default) not in (int, float) or parameter == "binarize":
            continue
        assert _refusal(name, parameter, -1).startswith(parameter)
        if (name, parameter) != ("MultiTaskMKLClassifier", "p"):
            assert _refusal(name, parameter, np.inf).startswith(parameter)


@every_method
def test_none_is_refused_where_it_means_nothing(name):
    for parameter, default in _defaults(name).items():
        if default is not None and parameter not in ("normalize", "random_state"):
            assert _refusal(name, parameter, None).startswith(parameter)


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
