import numpy as np
import pytest

from mtmkl.datasets.container import MultiTaskData
from mtmkl.kernels.precomputed import Precomputed
from mtmkl_suite.evaluation.supplied import as_json, with_matrices


def data(**matrices):
    return MultiTaskData(
        X=np.arange(4.0)[:, None], y=[1, -1, 1, -1], task=[0, 0, 1, 1], name="given",
        matrices=matrices,
    )  # fmt: skip


def test_named_matrices_become_kernels():
    known = data(a=np.eye(4), b=2 * np.eye(4))
    spec = {"kernels": [{"name": "precomputed", "matrix": "b"}, "linear"], "C": 2.0}
    found = with_matrices(spec, known)
    kernel, other = found["kernels"]
    assert (other, found["C"]) == ("linear", 2.0)
    assert isinstance(kernel, Precomputed)
    np.testing.assert_array_equal(kernel.matrix, 2 * np.eye(4))
    assert as_json(found) == ('{"C": 2.0, "kernels": ["Precomputed(\'b\')", "linear"]}')


@pytest.mark.parametrize("spec", ["precomputed", {"name": "precomputed"}])
def test_all_matrices_have_one_kernel_each(spec):
    kernels = with_matrices([spec], data(a=np.eye(4), b=np.eye(4)))
    assert [kernel.label for kernel in kernels] == ["a", "b"]


def test_an_unknown_matrix_lists_those_known():
    unknown = [{"name": "precomputed", "matrix": "c"}]
    with pytest.raises(ValueError, match="'given' has no matrix 'c'; it has: a, b"):
        with_matrices(unknown, data(a=np.eye(4), b=np.eye(4)))
    with pytest.raises(ValueError, match="'given' has no matrix 'all', nor any other"):
        with_matrices(["precomputed"], data())
