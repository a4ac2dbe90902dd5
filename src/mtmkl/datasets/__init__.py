"""Multi-task data: a container, tasks made of labels or groups, and synthetic sets."""

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.ising import ising_graphs
from mtmkl.datasets.synthetic import linear_synthetic, nonlinear_synthetic
from mtmkl.datasets.tasks import by_group, one_vs_one, one_vs_rest
from mtmkl.datasets.toy_tree import toy_tree

__all__ = [
    "MultiTaskData",
    "by_group",
    "ising_graphs",
    "linear_synthetic",
    "nonlinear_synthetic",
    "one_vs_one",
    "one_vs_rest",
    "toy_tree",
]
