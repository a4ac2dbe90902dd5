"""Kernel and feature selection by maximum entropy discrimination."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from mtmkl.checks import checks, one_of
from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.switched import SwitchedMachine


@dataclass(eq=False, repr=False)
class MEDKernelSelectionClassifier(SwitchedMachine, MultiTaskClassifier):
    r"""Support vector machines of many tasks that share a selection of kernels.

    Solves, to a relative duality gap, the dual of Jebara (2011), section 7,

    .. math::

        \max_\lambda \sum_{m,t} \lambda_{mt} - \sum_{d=1}^D \log\Bigl(\alpha +
        e^{\frac12 \sum_m \sum_{t,\tau} \lambda_{mt} \lambda_{m\tau} y_{mt} y_{m\tau}
        k_d(x_{mt}, x_{m\tau})}\Bigr) + D \log(\alpha + 1),
        \quad 0 \le \lambda_{mt} \le C, \quad \sum_t y_{mt} \lambda_{mt} = 0,

    whose primal is, over expected switches s, models θ and intercepts b,

    .. math::

        \min \sum_d \mathrm{KL}\bigl(\mathrm{Bern}(s_d) \,\|\,
        \mathrm{Bern}(\tfrac{1}{1 + \alpha})\bigr) + \tfrac12 \sum_{m,d}
        \|\theta_{md}\|^2 / s_d + C \sum_{m,t} \mathrm{hinge}.

    A task decides by Σ_d s_d Σ_t λ_mt y_mt k_d(x, x_mt) + b_m. With α = 0 all switches
    are 1 and the tasks are independent support vector machines on the sum kernel.
    Feature selection is ``kernels="features"``: k_d(x, z) = x_d z_d.

    Parameters
    ----------
    C : float
        Cost of slack, positive.
    alpha : float
        α ≥ 0: the prior probability of a switch is 1/(1 + α).
    relative_alpha : float, optional
        Instead of ``alpha``: log(1 + α) as a multiple, at least 0, of the largest
        q_d = ½ λ'H_dλ at α = 0 with the same C, the scale on which switches move.
    kernels : kernel, list of kernels, "features" or "precomputed"
        Kernels of :mod:`mtmkl.kernels.base` or their specifications; the entry
        "features" stands for one kernel per feature.
    switches : {"shared", "per_task"}
        Whether all tasks share the switches, or each has its own (section 7.1).
    normalize, standardize
        As for :class:`IndependentSVMClassifier`.
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Limit on Newton steps.

    Attributes
    ----------
    switches_ : ndarray of shape (D,) or (T, D)
        Expected switches, in [1/(1 + α), 1].
    kernel_names_ : tuple of str of length D
    alpha_, log_alpha_ : float
        α and log α; α may be infinite by overflow, log α is not.
    dual_coef_ : ndarray of shape (n,)
        λ_i y_i of the training samples.
    coef_ : ndarray of shape (d, T)
        Weights of the features, if ``kernels`` is "features".
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_, duality_gap_ : float
        Value of the primal at the solution, that of the paper's problem, a lower bound
        on the minimum, and their relative difference.
    history_ : ndarray
        Objective at each check of the gap.
    n_iter_ : int
        Switches visited by Newton's method, one more than its steps; with switches per
        task the sum over the tasks.

    Notes
    -----
    A task with samples of one class gets the constant decision ±1.

    References
    ----------
    T. Jebara, Multitask sparsity via maximum entropy discrimination, Journal of Machine
    Learning Research 12, 2011.
    """

    _checks = checks(
        switches=one_of("shared", "per_task"), normalize=one_of("trace", None)
    )

    _: KW_ONLY
    switches: Literal["shared", "per_task"] = "shared"
    max_iter: int = 1000

    def _path(self, problem: Any) -> Any:
        from mtmkl.solvers.med.med import PerTaskPath

        if self.switches == "shared":
            return self._shared_path(problem)
        return PerTaskPath(problem, self._shared_path)

    def _shared_path(self, tasks: Any) -> Any:
        from mtmkl.solvers.med.med import MedPath

        return MedPath(tasks, **self._limits)
