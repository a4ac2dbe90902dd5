"""Figures of Widmer et al. 2015 that are more than panels of curves, and of ours.

Every function takes a :class:`~mtmkl_suite.report.context.Context` and returns a
figure and the plotted numbers.
"""

from mtmkl_suite.papers.widmer2015.data_figures import (
    figure_2,
    figure_4,
)
from mtmkl_suite.papers.widmer2015.solver_figure import figure_solvers
from mtmkl_suite.papers.widmer2015.toy_figures import (
    figure_3a,
    figure_3b,
    figure_spread,
)

__all__ = [
    "figure_2", "figure_3a", "figure_3b", "figure_4",
    "figure_solvers", "figure_spread",
]  # fmt: skip
