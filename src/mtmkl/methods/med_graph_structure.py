"""Structure of a graphical model by maximum entropy discrimination."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mtmkl.kernels.gram import GramBlocks
from mtmkl.methods._base.graph import GraphEstimator, symmetric
from mtmkl.methods._base.switched import SwitchedEstimator
from mtmkl.typing import FloatArray, IntArray


@dataclass(eq=False, repr=False)
class MEDGraphStructure(SwitchedEstimator, GraphEstimator):
    r"""Edges of a graph over binary variables, as switches shared by their two ends.

    Node m of D predicts y_m = 2x(m) − 1 from the other x(d) by a linear support vector
    machine whose weight on x(d) is switched by s(m, d) = s(d, m). Solves, to a relative
    duality gap, the dual of Jebara (2011), section 12, with its constant,

    .. math::

        \max_\lambda \sum_{m,t} \lambda_{mt} - \sum_{m < d} \log\Bigl(\alpha +
        e^{\frac12 (v_{md}^2 + v_{dm}^2)}\Bigr) + \tbinom{D}{2} \log(\alpha + 1), \quad
        v_{md} = \sum_t \lambda_{mt} y_{mt} x_t(d),

    with 0 ≤ λ ≤ C and Σ_t y_mt λ_mt = 0 for each node.

    Parameters
    ----------
    C : float
        Cost of slack, positive.
    alpha, relative_alpha
        As for :class:`MEDKernelSelectionClassifier`, with the switches and the
        ½(v_md² + v_dm²) of edges in place of q_d.
    binarize : float
        Values above it are 1, others 0.
    tol, max_iter
        As for :class:`MEDKernelSelectionClassifier`.

    Attributes
    ----------
    switches_ : ndarray of shape (D, D)
        Expected switches, symmetric with a zero diagonal.
    edge_scores_ : ndarray of shape (D, D)
        ½(v_md² + v_dm²), which ranks the edges as the switches do, to the accuracy
        ``tol`` of the largest, so that edges which only rounding tells apart are tied.
        All are 0 at α = 0, where every switch is 1.
    coef_ : ndarray of shape (D, D)
        Row m: the weights by which node m is predicted.
    intercept_ : ndarray of shape (D,)
    alpha_, log_alpha_ : float
        α and log α; α may be infinite by overflow, log α is not.
    tasks_ : ndarray of shape (D,)
        The nodes.
    binarize_ : float
        ``binarize`` of the fit, by which samples to predict are read, too.
    objective_, dual_objective_, duality_gap_ : float
    history_ : ndarray
        Objective at each check of the gap.
    n_iter_ : int
        Switches visited by Newton's method.

    References
    ----------
    T. Jebara, Multitask sparsity via maximum entropy discrimination, Journal of Machine
    Learning Research 12, 2011.
    """

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray
    ) -> tuple[FloatArray, Any]:
        from mtmkl.solvers.med.med import MedPath
        from mtmkl.solvers.svm.task_duals import DualProblem

        X = super()._prepare(X, y, task)
        # Of few binary nodes many samples are equal.
        codes = np.packbits(X.astype(bool), axis=1)
        _, first, copies = np.unique(
            codes.view(f"V{codes.shape[1]}"), return_index=True, return_counts=True
        )
        X = X[first]
        n, n_nodes = X.shape
        edge = np.zeros((n_nodes, n_nodes), dtype=np.intp)
        edge[np.triu_indices(n_nodes, 1)] = np.arange(n_nodes * (n_nodes - 1) // 2)
        edge += edge.T
        inputs = np.tile(X, (n_nodes, 1))
        for m in range(n_nodes):
            # The node itself is no input; the switch on its diagonal acts on nothing.
            inputs[m * n : (m + 1) * n, m] = 0.0
        tasks = DualProblem.of(
            (2.0 * X - 1.0).T.ravel(),
            GramBlocks.of(np.full(n_nodes, n), features=inputs),
            weight=edge,
            n_weights=n_nodes * (n_nodes - 1) // 2,
            copies=np.tile(copies, n_nodes),
        )
        return X, MedPath(tasks, **self._limits)

    def _follow(self, prepared: tuple[FloatArray, Any], previous: None) -> None:
        X, path = prepared
        solution = self._solve(path)
        n_nodes = X.shape[1]
        self.switches_ = symmetric(solution.coef, n_nodes)
        self.edge_scores_ = symmetric(
            _ranking(solution.extra["q"], self.log_alpha_, self.tol), n_nodes
        )
        self.coef_ = self.switches_ * (solution.dual.reshape(n_nodes, -1) @ X)
        self.intercept_ = solution.intercept
        self._keep_certificate(solution)


def _ranking(q: FloatArray, log_alpha: float, tol: float) -> FloatArray:
    """Return scores of edges, tied where they differ by less than the accuracy."""
    unit = tol * q.max(initial=0.0)
    if unit == 0.0 or log_alpha == -np.inf:
        return np.zeros_like(q)
    ranking: FloatArray = np.round(q / unit) * unit
    return ranking
