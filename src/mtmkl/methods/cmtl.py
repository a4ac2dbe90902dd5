"""CMTL: the convex relaxation of clustering tasks."""

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from mtmkl.checks import check_positive, checks
from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.linear_classifier import LinearTaskClassifier, number_of_groups

if TYPE_CHECKING:
    from mtmkl.solvers.linear.clustered_tasks import ClusteredTasks


@dataclass(eq=False, repr=False)
class CMTLClassifier(LinearTaskClassifier, MultiTaskClassifier):
    r"""Least-squares classifiers whose tasks form a few clusters, relaxed.

    With w̄ the mean of the T tasks, Π = I − 11'/T and r clusters, minimises over W
    (d × T), S and intercepts b

    .. math::

        \sum_t \|y_t - X_t w_t - b_t\|^2 + \lambda \bigl(\varepsilon_M T \|\bar w\|^2 +
        \mathrm{tr}(W \Pi S^{-1} \Pi W')\bigr), \quad
        \tfrac{1}{\varepsilon_W} I \preceq S \preceq \tfrac{1}{\varepsilon_B} I,
        \quad \mathrm{tr}\, S = \tfrac{T - r + 1}{\varepsilon_W} +
        \tfrac{r - 1}{\varepsilon_B},

    with y = ±1 and X standardised over the training samples of all tasks together;
    features that are constant there are left out. ε_M weighs the mean of all tasks, ε_B
    the distances between clusters and ε_W those within: ε_M < ε_B < ε_W. With r = 1
    the deviations from the mean have the one ridge λε_W.

    Parameters
    ----------
    lam : float
        λ > 0.
    n_clusters : int or float
        r, of which at most T count, or a share of T in (0, 0.5], rounded to the nearest
        whole number (halves up), at least 1.
    epsilon_mean, epsilon_between, epsilon_within : float
        ε_M, ε_B and ε_W, positive and increasing.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Maximum number of iterations; reaching it gives a ``ConvergenceWarning``.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
        Weights of the features in their original units.
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_, duality_gap_ : float
        Value of the problem, a lower bound on its minimum, and their relative
        difference.
    n_iter_ : int
    history_ : ndarray
        Best objective so far at each check of the gap.

    Notes
    -----
    A task with samples of one class has the constant score ±1, weights of zero, and no
    part in the problem: T counts the others.

    References
    ----------
    L. Jacob, F. Bach and J.-P. Vert, Clustered multi-task learning: a convex
    formulation, Advances in Neural Information Processing Systems 21, 2008.
    """

    _checks = checks(
        epsilon_mean=check_positive,
        epsilon_between=check_positive,
        epsilon_within=check_positive,
    )

    lam: float = 1.0
    n_clusters: int | float = 0.25
    _: KW_ONLY
    epsilon_mean: float = 0.1
    epsilon_between: float = 1.0
    epsilon_within: float = 10.0

    def _check_params(self) -> None:
        super()._check_params()
        values = self.epsilon_mean, self.epsilon_between, self.epsilon_within
        if not values[0] < values[1] < values[2]:
            raise ValueError(
                "epsilon_mean < epsilon_between < epsilon_within is needed, got "
                + ", ".join(f"{value:g}" for value in values)
            )

    def _position(self) -> tuple[float, ...]:
        return -self.lam, self.epsilon_within, self.epsilon_between, self.n_clusters

    def _penalty(self, n_tasks: int) -> "ClusteredTasks":
        from mtmkl.solvers.linear.clustered_tasks import ClusteredTasks

        return ClusteredTasks(
            self.lam,
            number_of_groups(self.n_clusters, n_tasks),
            self.epsilon_mean,
            self.epsilon_between,
            self.epsilon_within,
        )
