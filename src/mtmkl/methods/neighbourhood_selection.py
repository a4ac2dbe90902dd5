"""Structure of a graphical model by L1-penalised logistic regressions."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from mtmkl.checks import check_positive, checks, one_of
from mtmkl.methods._base.graph import GraphEstimator
from mtmkl.solvers.solution import relative_gap
from mtmkl.typing import FloatArray


@dataclass(eq=False, repr=False)
class NeighbourhoodSelection(GraphEstimator):
    r"""Edges of a graph over binary variables, by one sparse regression per node.

    For each node m minimises

    .. math::

        \nu \sum_{d \ne m} |\theta_m(d)| + \sum_t \log(1 + e^{z_t}) - x_t(m) z_t, \qquad
        z_t = \sum_{d \ne m} \theta_m(d) x_t(d) + \theta_m(m),

    and joins the two weights of an edge by the smaller (AND) or the larger (OR) of
    their magnitudes.

    Parameters
    ----------
    alpha : float
        ν, the weight of the L1 norm, positive.
    rule : {"and", "or"}
        Rule that joins the two regressions of an edge.
    binarize : float
        Values above it are 1, others 0.
    tol : float
        Relative duality gap to reach in each regression.
    max_iter : int
        Limit on proximal Newton steps of one regression.

    Attributes
    ----------
    edge_scores_ : ndarray of shape (D, D)
        min or max of |θ_m(d)| and |θ_d(m)|, zero on the diagonal; it ranks the edges.
    adjacency_ : ndarray of bool of shape (D, D)
        Where the score is positive: the AND or OR of the paper.
    coef_ : ndarray of shape (D, D)
        Row m: θ_m, zero on the diagonal.
    intercept_ : ndarray of shape (D,)
        θ_m(m); infinite for a node that never varies.
    tasks_ : ndarray of shape (D,)
        The nodes.
    binarize_ : float
        ``binarize`` of the fit, by which samples to predict are read, too.
    objective_, dual_objective_, duality_gap_ : float
        Summed over the nodes.
    n_iter_ : int
        Largest number of proximal Newton steps of any regression.

    References
    ----------
    M. Wainwright, P. Ravikumar and J. Lafferty, High-dimensional graphical model
    selection using l1-regularized logistic regression, NIPS 2007.
    """

    along: ClassVar[tuple[str, ...]] = ("alpha",)
    _checks = checks(alpha=check_positive, rule=one_of("and", "or"))

    alpha: float = 1.0
    _: KW_ONLY
    rule: Literal["and", "or"] = "and"
    tol: float = 1e-8
    max_iter: int = 200

    def _follow(self, prepared: FloatArray, previous: Any) -> None:
        from mtmkl.solvers.linear.l1_logistic import solve_l1_logistic

        X, n_nodes = prepared, prepared.shape[1]
        self.coef_ = np.zeros((n_nodes, n_nodes))
        self.intercept_ = np.zeros(n_nodes)
        self.objective_, self.dual_objective_, self.n_iter_ = 0.0, 0.0, 1
        for m in range(n_nodes):
            others = np.arange(n_nodes) != m
            solution = solve_l1_logistic(
                X[:, others], X[:, m], self.alpha, **self._limits
            )
            self.coef_[m, others] = solution.coef
            self.intercept_[m] = solution.intercept[0]
            self.objective_ += solution.certificate.objective
            self.dual_objective_ += solution.certificate.dual_objective
            self.n_iter_ = max(self.n_iter_, solution.certificate.n_iter)
        self.duality_gap_ = relative_gap(self.objective_, self.dual_objective_)
        magnitude = np.abs(self.coef_)
        join = np.minimum if self.rule == "and" else np.maximum
        self.edge_scores_ = join(magnitude, magnitude.T)
        self.adjacency_ = self.edge_scores_ > 0
