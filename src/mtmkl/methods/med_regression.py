"""Regression with kernel selection by maximum entropy discrimination."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from mtmkl.checks import checks, one_of
from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.methods._base.switched import SwitchedMachine


@dataclass(eq=False, repr=False)
class MEDRegressor(SwitchedMachine, MultiTaskRegressor):
    r"""Regression of many tasks that share a selection of kernels.

    Solves, to a relative duality gap, over expected switches s, models θ and intercepts
    b,

    .. math::

        \min \sum_d \mathrm{KL}\bigl(\mathrm{Bern}(s_d) \,\|\,
        \mathrm{Bern}(\tfrac{1}{1 + \alpha})\bigr) + \tfrac12 \sum_{m,d}
        \|\theta_{md}\|^2 / s_d + C \sum_{m,t} \ell(y_{mt} - f_m(x_{mt})),

    whose dual for the ε-insensitive loss max(|r| − ε, 0) is the problem of Jebara
    (2011), section 9. The squared loss r²/2 is that of appendix C, with its bound Υ on
    the sum of squares replaced by the weight C.

    Parameters
    ----------
    C : float
        Weight of the losses, positive.
    alpha, relative_alpha
        As for :class:`MEDKernelSelectionClassifier`.
    loss : {"epsilon_insensitive", "squared"}
        The ε-insensitive or the squared loss.
    epsilon : float
        Half the width of the tube, at least 0, in units of the target; without effect
        on the squared loss.
    kernels, normalize, standardize, tol, max_iter
        As for :class:`MEDKernelSelectionClassifier`.

    Attributes
    ----------
    switches_ : ndarray of shape (D,)
        Expected switches, in [1/(1 + α), 1].
    kernel_names_ : tuple of str of length D
    alpha_, log_alpha_ : float
        As for :class:`MEDKernelSelectionClassifier`.
    dual_coef_ : ndarray of shape (n,)
        λ_i − λ'_i of the training samples.
    coef_ : ndarray of shape (d, T)
        Weights of the features, if ``kernels`` is "features".
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_ : float
        Value of the primal at ``coef_`` (or ``dual_coef_``), and of the dual.
    duality_gap_ : float
        Their difference, relative to the objective or, where that is less, to 1e-9 of
        the objective of the model that is zero.
    history_ : ndarray
        Objective at each check of the gap.
    n_iter_ : int
        Switches visited by Newton's method.

    References
    ----------
    T. Jebara, Multitask sparsity via maximum entropy discrimination, Journal of Machine
    Learning Research 12, 2011.
    """

    _checks = checks(
        loss=one_of("epsilon_insensitive", "squared"), normalize=one_of("trace", None)
    )

    _: KW_ONLY
    loss: Literal["epsilon_insensitive", "squared"] = "epsilon_insensitive"
    epsilon: float = 0.1

    def _tube(self) -> float:
        return float(self.epsilon) if self.loss == "epsilon_insensitive" else 0.0

    def _path(self, problem: Any) -> Any:
        from mtmkl.solvers.med.med import MedPath
        from mtmkl.solvers.med.med_squared import SquaredPath

        path = MedPath if self.loss == "epsilon_insensitive" else SquaredPath
        return path(problem, **self._limits)
