import pytest

from mtmkl.kernels.task_kernel_specs import _BUILDERS
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.run.terms import TASK_KERNELS, check_terms


def test_every_task_kernel_can_be_named():
    assert set(TASK_KERNELS) == set(_BUILDERS)


@pytest.mark.parametrize(
    "terms",
    [
        [{"kernel": "linear", "task_kernel": "union"}],
        [["linear", "single_task"]],
        [["linear", [[1, 0], [0, 1]]]],
        [{"kernel": {"name": "gaussian", "width": 2}, "task_kernel": ["union"]}],
        [["linear", {"name": "smooth", "distances": "phylogeny", "scales": [1]}]],
        [["linear", {"name": "given", "similarity": "s", "normalize": True}]],
        None,
    ],
)
def test_terms_that_a_fit_can_make(terms):
    check_terms("terms", terms)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("linear", "'terms.0': 'linear' is no mapping of kernel and task_kernel"),
        ({"kernel": "linear"}, "'terms.0': .* is no mapping of kernel and task_kernel"),
        (["zzz", "union"], "'terms.0.kernel': unknown kernel 'zzz'"),
        ([{"name": "gaussian", "width": "zzz"}, "union"], r"terms\.0\.kernel.*'zzz'"),
        (["linear", "uniom"], r"task_kernel': unknown .*did you mean 'union'"),
        (["linear", {"name": "hierarchy", "tre": "(a,b);"}], "did you mean 'tree'"),
        (
            ["linear", {"name": "union", "normalize": "zzz"}],
            "normalize is 'zzz', wanted true or false",
        ),
    ],
)
def test_terms_that_no_fit_can_make(term, message):
    with pytest.raises(ConfigError, match=message):
        check_terms("terms", [term])
