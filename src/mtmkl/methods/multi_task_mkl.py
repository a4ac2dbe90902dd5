"""Multi-task multiple kernel learning."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from mtmkl.checks import check_flag, check_that, checks, is_number, one_of, optional
from mtmkl.kernels.feature_maps import feature_map, has_feature_map
from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelTerms, Normalization
from mtmkl.methods._base.checks import NO_ZEROS
from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.linear import task_outputs
from mtmkl.methods._base.multi_task_terms import MultiTaskTerms
from mtmkl.solvers.solution import Solution
from mtmkl.sparse import Inputs
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from mtmkl.solvers.weights.mt_mkl_gram import GramPath

Term = Mapping[str, Any] | tuple[Any, Any]

_MOST_BY_GRAM = 3000  # samples whose Gram matrices are small
_MOST_BY_DEFAULT = 10_000  # samples whose Gram matrices nobody asked for


@dataclass(eq=False, repr=False)
class MultiTaskMKLClassifier(MultiTaskClassifier):
    r"""Learn the weights of kernels of the features and kernels of the tasks.

    A term m is a pair of a kernel k_m of the features and a kernel R_m of the tasks, a
    matrix over them. Minimises over the models W_m, weights θ ≥ 0 with ||θ||_p ≤ 1, and
    an intercept b if there is one,

    .. math::

        \tfrac12 \sum_m \|W_m\|_{Q_m}^2 / \theta_m + C \sum_i \ell(y_i (f(x_i) + b)),
        \quad f(x) = \sum_m \langle w_{m,t}, \varphi_m(x) \rangle,

    with x an example of task t, the hinge loss ℓ(a) = max(0, 1 − a) or the logistic
    loss ℓ(a) = log(1 + exp(−a)), ||W||²_Q = Σ_st Q[s,t] ⟨w_s, w_t⟩ and Q_m = R_m^{-1}.
    Where R_m is singular, Q_m is its pseudo-inverse and W_m lies in its range. The
    dual, with β = yα, is

    .. math::

        \max_{0 \le \alpha \le C} h(\alpha) - \tfrac12 \|q\|_{p^*}, \quad
        \tfrac1p + \tfrac{1}{p^*} = 1, \quad q_m = \sum_{i,j} \beta_i \beta_j
        R_m[\tau(i), \tau(j)] k_m(x_i, x_j),

    and 1'β = 0 with an intercept. h(α) = 1'α for the hinge loss, and
    −Σ_i [α_i log(α_i/C) + (C − α_i) log(1 − α_i/C)] for the logistic loss.

    Methods of fixed weights are choices of parameters:

    ============== ================================================ ==================
    method         ``terms``                                        ``p``
    ============== ================================================ ==================
    individual     ``[(kernel, "single_task")]``                    any
    union          ``[(kernel, "union")]``                          any
    fixed MTL      one pair, of a task kernel that is one matrix    any
    vanilla        as for the weights to be learned                 ``np.inf``: θ = 1
    ============== ================================================ ==================

    Individual tasks are independent but for the common intercept, and entirely so with
    ``fit_intercept=False``.

    Parameters
    ----------
    terms : sequence of pairs or mappings
        Pairs (kernel, task kernel), or mappings with these as ``kernel`` and
        ``task_kernel``. A kernel is one of :mod:`mtmkl.kernels.base`, or a
        specification. A task kernel is a matrix R of shape (T, T), or a specification
        or a list of them as in :mod:`mtmkl.kernels.task_kernel_specs`; one that stands
        for several matrices makes as many terms.
    p : float
        Norm of the weights, at least 1. The smaller, the fewer terms have weights that
        matter; with 1 some are 0, with ``np.inf`` (in YAML ``.inf``) all are 1.
    C : float
        Weight of the loss, positive.
    loss : {"hinge", "logistic"}
    fit_intercept : bool or None
        Whether there is an intercept, common to all tasks and not penalised. It needs
        the hinge loss and Gram matrices. None, the default, has one wherever there can
        be one: with the hinge loss, unless ``solver="features"``. Linear kernels then
        need Gram matrices too, of 8 n² bytes per term. More than 10,000 samples of
        these are refused: give False, or True to build the matrices all the same.
    solver : {"auto", "gram", "features"}
        "gram" takes any kernels, and builds a Gram matrix of all samples per term.
        "features" is for linear kernels (of dense or sparse features) without
        intercept, and builds none; its time grows with the number of samples as that of
        a linear support vector machine; with p = 1 it may need thousands of epochs
        where "gram" visits a few weights. "auto" takes "features" where it can, for
        linear kernels without intercept, and "gram" if they end short of ``tol`` on at
        most 3,000 samples.
    normalize : {"cosine", "trace", None}
        "cosine" takes k(x, z) / sqrt(k(x, x) k(z, z)); "trace" divides each kernel by
        the mean of k(x, x) over the training samples. Task kernels are normalised by
        their own specifications.
    standardize
        As for :class:`IndependentSVMClassifier`.
    task_order : sequence of labels, or mapping of labels to names, optional
        The labels of the tasks that rows and columns of the task kernels stand for,
        in order. It may name tasks without samples; their rows are left out. By
        default the sorted labels, ``tasks_``. Specifications that name tasks, such as
        trees, name these labels, or the names that a mapping gives them.
    task_relations : mapping, optional
        Relations between the tasks, by the names that specifications of task kernels
        may have in their place: matrices, in the order of the tasks, and trees as
        Newick text.
    tol : float
        Relative duality gap to reach, positive.
    max_iter : int
        Limit on visited weights (solver "gram") or epochs ("features").
    random_state : int or None
        Draws the order of samples.

    Attributes
    ----------
    weights_ : ndarray of shape (M,)
        θ.
    term_names_ : tuple of str of length M
    task_similarity_ : ndarray of shape (T, T)
        Σ_m θ_m R_m, in the order of ``tasks_``.
    dual_coef_ : ndarray of shape (n,)
        y_i α_i of the training samples.
    coef_ : ndarray of shape (d, T)
        Weights of the features, if all kernels are linear and ``normalize`` is not
        "cosine".
    intercept_ : ndarray of shape (T,)
        The intercept T times; with ``coef_`` also what standardisation and the
        constants of kernels come to.
    solver_ : {"gram", "features"}
        The solver that ran.
    objective_, dual_objective_, duality_gap_ : float
        Value of the problem, a lower bound on its minimum, and their relative
        difference.
    history_ : ndarray
        Objective at each check of the gap.
    n_iter_ : int
        Visited weights, or epochs.

    References
    ----------
    C. Widmer, M. Kloft, V. T. Sreedharan and G. Rätsch, Framework for multi-task
    multiple kernel learning and applications in genome analysis, arXiv:1506.09153,
    2015.

    Examples
    --------
    Two tasks that agree and one that does not:

    >>> import numpy as np
    >>> from mtmkl.methods import MultiTaskMKLClassifier
    >>> X = np.random.default_rng(0).standard_normal((90, 2))
    >>> task = np.repeat(["a", "b", "c"], 30)
    >>> y = np.sign(X[:, 0]) * np.where(task == "c", -1, 1)
    >>> alike = {"name": "task_clustering", "assignments": [[1, 1, 0], [0, 0, 1]]}
    >>> terms = [("linear", alike), ("linear", "union")]
    >>> model = MultiTaskMKLClassifier(terms).fit(X, y, task)
    >>> bool(model.weights_[0] > 3 * model.weights_[1])
    True
    >>> model.solver_
    'gram'
    """

    along: ClassVar[tuple[str, ...]] = ("C",)
    _checks = checks(
        p=check_that(
            "a number of at least 1, or infinite", lambda p: is_number(p) and p >= 1
        ),
        loss=one_of("hinge", "logistic"),
        solver=one_of("auto", "gram", "features"),
        normalize=one_of("cosine", "trace", None),
        fit_intercept=optional(check_flag),
    )

    terms: Sequence[Term] = (("linear", "dirac_uniform"),)
    _: KW_ONLY
    p: float = 2.0
    C: float = 1.0
    loss: Literal["hinge", "logistic"] = "hinge"
    fit_intercept: bool | None = None
    solver: str = "auto"
    normalize: Normalization = None
    standardize: bool = False
    task_order: Sequence[Any] | Mapping[Any, str] | None = None
    task_relations: Mapping[str, ArrayLike | str] | None = None
    tol: float = 1e-4
    max_iter: int = 10_000
    random_state: int | None = 0

    def _check_params(self) -> None:
        super()._check_params()
        if self.fit_intercept and self.loss == "logistic":
            raise ValueError(
                "fit_intercept=True is for the hinge loss; a penalised intercept "
                'comes with the kernel {"name": "linear", "constant": 1.0}'
            )
        terms = self._terms()
        if self.solver == "features":
            others = [str(k) for k in terms.kernels if not has_feature_map(k)]
            if others or self.fit_intercept:
                what = others[0] if others else "fit_intercept=True"
                raise ValueError(
                    'solver="features" is for linear kernels without intercept, got '
                    f'{what}: take solver="gram"'
                )

    @property
    def _has_offset(self) -> bool:
        if self.fit_intercept is None:
            return self.loss == "hinge" and self.solver != "features"
        return self.fit_intercept

    def _check_size(self, n: int) -> None:
        """Refuse large Gram matrices of linear kernels that a default asks for."""
        asked = self.solver == "gram" or self.fit_intercept is not None
        if not asked and n > _MOST_BY_DEFAULT:
            raise ValueError(
                f"an intercept needs Gram matrices of {n:,} samples, "
                f"{8e-9 * n**2:.1f} GB per term: give fit_intercept=False, with the "
                'kernel {"name": "linear", "constant": 1.0} for a penalised intercept, '
                "or fit_intercept=True to build them"
            )

    def _terms(self) -> MultiTaskTerms:
        return MultiTaskTerms.of(
            self.terms, self.tasks_.tolist(), self.task_order, self.task_relations
        )

    def _dense_only(self) -> str | None:
        return NO_ZEROS if self.standardize else None

    def _prepare(self, X: FloatArray, y: FloatArray, task: IntArray) -> "_Prepared":
        terms = self._terms()
        resolved = KernelTerms.of(
            X, terms.kernels, normalize=self.normalize, standardize=self.standardize
        )
        is_linear = all(has_feature_map(kernel) for kernel in resolved.kernels)
        prepared = _Prepared(terms, resolved, X, y, task)
        if self.solver == "gram" or not is_linear or self._has_offset:
            if is_linear:
                self._check_size(y.size)
            prepared.path = self._gram_path(prepared)
        if is_linear:
            prepared.maps = _maps(resolved, X)
        return prepared

    def _gram_path(self, prepared: "_Prepared") -> "GramPath":
        from mtmkl.solvers.weights.mt_mkl_gram import GramPath

        terms, resolved = prepared.terms, prepared.resolved
        training = TrainingSet(
            resolved.take(terms.base),
            prepared.X,
            prepared.task,
            self.tasks_.size,
            joined=True,
            task_kernels=terms.task_kernels,
        )
        return GramPath(
            training.blocks(),
            prepared.y,
            p=self.p,
            loss=self.loss,
            fit_intercept=self._has_offset,
            rng=np.random.default_rng(self.random_state),
            **self._limits,
        )

    def _follow(self, prepared: "_Prepared", previous: Solution | None) -> Solution:
        terms = prepared.terms
        solution = None
        if prepared.path is None:
            solution = self._by_features(prepared, previous)
        if solution is not None:
            self.solver_ = "features"
            theta, beta = solution.extra["theta"], prepared.y * solution.dual
            intercept = 0.0
        else:
            assert prepared.path is not None
            self.solver_ = "gram"
            solution = prepared.path.solve(self.C)
            theta, beta = solution.coef, solution.dual
            intercept = float(solution.intercept[0])
        self._keep_certificate(solution)
        self.weights_ = theta
        self.dual_coef_ = beta
        self.intercept_ = np.full(self.tasks_.size, intercept)
        self.term_names_ = terms.names(prepared.resolved.names)
        self.task_similarity_ = np.tensordot(theta, terms.task_kernels, axes=1)
        self._keep_outputs(prepared, terms.combined(theta), solution)
        return solution

    def _by_features(
        self, prepared: "_Prepared", previous: Solution | None
    ) -> Solution | None:
        """Return the solution by epochs, or None where they end short of ``tol``.

        Then Gram matrices take over, if ``solver`` leaves it open and they are small.
        """
        from mtmkl.solvers.weights import mt_mkl_features

        terms = prepared.terms
        has_other = self.solver == "auto" and prepared.y.size <= _MOST_BY_GRAM
        with warnings.catch_warnings():
            if has_other:
                warnings.simplefilter("ignore", ConvergenceWarning)
            solution = mt_mkl_features.solve(
                prepared.maps,
                prepared.y,
                prepared.task,
                list(zip(terms.base.tolist(), terms.task_kernels, strict=True)),
                C=self.C,
                p=self.p,
                rng=np.random.default_rng(self.random_state),
                loss=self.loss,
                start=previous,
                **self._limits,
            )
        if has_other and solution.certificate.status != "converged":
            prepared.path = self._gram_path(prepared)
            return None
        return solution

    def _keep_outputs(
        self, prepared: "_Prepared", similarities: FloatArray, solution: Solution
    ) -> None:
        """Set what outputs need, with Σ_m θ_m R_m over the terms of each kernel."""
        for name in ("coef_", "_machine", "_map_weights"):
            self.__dict__.pop(name, None)  # of an earlier fit
        resolved = self._resolved = prepared.resolved
        if prepared.maps is None:
            self._machine = TrainingSet(
                resolved,
                prepared.X,
                prepared.task,
                self.tasks_.size,
                joined=True,
                task_kernels=similarities,
            )
            return
        if self.solver_ == "features":
            ends = np.cumsum([phi.shape[1] for phi in prepared.maps])[:-1]
            self._map_weights = np.split(solution.coef, ends, axis=1)
        else:
            by_task = np.zeros((self.tasks_.size, prepared.y.size))
            by_task[prepared.task, np.arange(prepared.y.size)] = self.dual_coef_
            self._map_weights = [
                G @ (by_task @ phi)
                for G, phi in zip(similarities, prepared.maps, strict=True)
            ]
        if self.normalize != "cosine":
            self._fold_into_inputs()

    def _fold_into_inputs(self) -> None:
        """Write the models as weights of the raw features."""
        d, resolved = self.n_features_in_, self._resolved
        self.coef_ = np.zeros((d, self.tasks_.size))
        for kernel, scale, weights in zip(
            resolved.kernels, resolved.scale, self._map_weights, strict=True
        ):
            self.coef_ += np.sqrt(scale) * weights[:, :d].T
            constant = scale * getattr(kernel, "constant", 0.0)
            self.intercept_ += np.sqrt(constant) * weights[:, d:].sum(axis=1)
        if resolved.scaler is not None:
            self.coef_ /= resolved.scaler.scale_[:, None]
            self.intercept_ -= resolved.scaler.mean_ @ self.coef_

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        if hasattr(self, "_machine"):
            ones = np.ones((1, self._resolved.n_terms))
            out = self._machine.outputs(X, task, self.dual_coef_, ones)
        elif hasattr(self, "coef_"):
            out = task_outputs(X, self.coef_, task)
        else:
            pairs = zip(_maps(self._resolved, X), self._map_weights, strict=True)
            parts = (task_outputs(phi, w.T, task) for phi, w in pairs)
            out = sum(parts, np.zeros(task.size))
        return out + self.intercept_[task]

    @available_if(lambda self: self.loss == "logistic")
    def predict_proba(self, X: ArrayLike, task: ArrayLike | None = None) -> FloatArray:
        """Return the probabilities of the classes, (n, classes), for the logistic loss.

        In the order of ``classes_``; parameters as for :meth:`predict`. After a fit of
        T columns of targets, those of ``classes_[1]``, (n, T).
        """
        scores = self.decision_function(X, task)
        if scores.ndim > 1:
            columns: FloatArray = expit(scores)
            return columns
        if self.classes_.size == 1:
            return np.ones((scores.size, 1))
        return np.column_stack([expit(-scores), expit(scores)])


@dataclass
class _Prepared:
    """Data that the points of a path share; ``maps`` if all kernels are linear."""

    terms: MultiTaskTerms
    resolved: KernelTerms
    X: Inputs
    y: FloatArray
    task: IntArray
    path: "GramPath | None" = None
    maps: Any = None


def _maps(resolved: KernelTerms, X: Inputs) -> list[Inputs]:
    """Return the features of each linear kernel for raw features."""
    Z = resolved.inputs(X)
    maps = []
    for kernel, scale in zip(resolved.kernels, resolved.scale, strict=True):
        assert kernel is not None
        maps.append(feature_map(kernel, Z, float(scale)))
    return maps
