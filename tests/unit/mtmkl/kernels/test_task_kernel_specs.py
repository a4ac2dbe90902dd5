"""Task kernels from the mappings of a configuration file."""

import numpy as np
import pytest

from mtmkl.kernels.task_kernel_specs import task_kernels_from_spec
from mtmkl.kernels.task_kernels import (
    dirac_uniform,
    each_task,
    graph_laplacian,
    hierarchy,
    smooth,
    unit_mean_diagonal,
)

from .test_task_kernels import NAMES, TREE, tree_distances


def test_specifications_give_labelled_kernels():
    D = tree_distances()
    spec = [
        "dirac_uniform",
        {"name": "smooth", "distances": "phylogeny", "scales": [0.5, 2]},
        {"name": "hierarchy", "tree": "life", "centre": 2, "normalize": True},
        {"name": "graph_laplacian", "adjacency": (D < 4).tolist()},
        {"name": "each_task", "normalize": True},
    ]
    relations = {"phylogeny": D, "life": TREE}
    labelled = task_kernels_from_spec(spec, NAMES, relations=relations)
    assert [label for label, _ in labelled] == [
        "dirac uniform, Dirac",
        "dirac uniform, uniform",
        "smooth, σ = 0.5",
        "smooth, σ = 2",
        "hierarchy, a + b + c + d",
        "hierarchy, a + b",
        "hierarchy, c + d",
        "graph laplacian",
        *(f"each task, {name}" for name in NAMES),
    ]
    expected = [
        *dirac_uniform(4),
        *smooth(D, [0.5, 2]),
        *map(unit_mean_diagonal, hierarchy(TREE, NAMES, centre=2)),
        graph_laplacian(D < 4),
        *map(unit_mean_diagonal, each_task(4)),
    ]
    np.testing.assert_array_equal([R for _, R in labelled], expected)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tree", "unknown task kernel 'tree' .known: dirac_uniform, each_task"),
        ([1, "union"], r"not a task kernel: \[1, 'union'\]"),
        ([], r"a task kernel of 4 tasks has the shape \(4, 4\), got \(0,\)"),
        ({"name": "union", "n_tasks": 3}, "'union' has no 'n_tasks'"),
        ({"name": "smooth", "scales": [1]}, "'smooth' needs distances"),
        (
            {"name": "smooth", "distances": "tree", "scales": [1]},
            "smooth: distances: no matrix of this name 'tree' is known; known: phylog",
        ),
        ({"name": "hierarchy", "tree": "phylogeny"}, "hierarchy: tree: no tree of thi"),
        ({"name": "union", "normalize": 1}, "normalize must be True or False, got 1"),
        ({"name": "given", "similarity": [[1]]}, "is over 1 tasks, the data have 4"),
    ],
)
def test_wrong_specifications(spec, message):
    relations = {"phylogeny": tree_distances(), "life": TREE}
    with pytest.raises(ValueError, match=message):
        task_kernels_from_spec(spec, NAMES, relations=relations)
