"""Multiple kernel multi-task sparse feature learning (Jawanpuria and Nath 2011)."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mtmkl.checks import check_that, checks, is_number, one_of
from mtmkl.kernels.basis import KernelBasis, kernel_basis
from mtmkl.kernels.gram import MAX_BYTES, GramMemoryError
from mtmkl.kernels.terms import KernelList, KernelTerms, Normalization, check_kernels
from mtmkl.methods._base.estimator import Mixin, MultiTaskClassifier, MultiTaskRegressor
from mtmkl.methods._base.kernel_machine import TubeRegression
from mtmkl.methods.mkmtfl import SEVEN_KERNELS
from mtmkl.solvers.solution import Solution
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from mtmkl.solvers.weights.mixed_schatten import SchattenProblem


@dataclass(eq=False, repr=False)
class _MixedSchattenMachine(Mixin):
    """Mixin of machines with trace norms over tasks and a q-norm over kernels.

    Points of a grid that differ in ``C`` or ``q`` alone share the coordinates.
    """

    along: ClassVar[tuple[str, ...]] = ("q", "C")
    _checks = checks(
        q=check_that("from 1 to 2", lambda q: is_number(q) and 1 <= q <= 2),
        normalize=one_of("trace", "cosine", None),
        basis_tol=check_that(
            "at least 0 and below 1", lambda tol: is_number(tol) and 0 <= tol < 1
        ),
    )

    C: float = 1.0
    q: float = 1.5
    _: KW_ONLY
    kernels: KernelList = SEVEN_KERNELS
    normalize: Normalization = "trace"
    standardize: bool = False
    basis_tol: float = 1e-6
    tol: float = 1e-4
    max_iter: int = 5000

    def _tube(self) -> float | None:
        """Return the ε of regression, None for classification."""
        return None

    def _cost(self) -> float:
        """Return the weight of the loss that the solver sees."""
        return self.C

    def _check_params(self) -> None:
        super()._check_params()
        check_kernels(self.kernels)

    def _dense_only(self) -> str | None:
        return "the coordinates of its kernels are computed from distinct dense rows"

    def _prepare(self, X: FloatArray, y: FloatArray, task: IntArray) -> "_Prepared":
        order = np.argsort(task, kind="stable")
        coordinates, factors = _Coordinates.of(
            X[order],
            self.kernels,
            normalize=self.normalize,
            standardize=self.standardize,
            basis_tol=self.basis_tol,
        )
        sizes = np.bincount(task, minlength=self.tasks_.size)
        return _Prepared(coordinates, factors, y[order], sizes, order)

    def _follow(self, prepared: "_Prepared", previous: None) -> None:
        from mtmkl.solvers.weights.mixed_schatten import SchattenProblem

        q = float(self.q)
        if q not in prepared.solve:
            data = prepared.factors, prepared.y, prepared.sizes
            problem = SchattenProblem.of(*data, q, epsilon=self._tube())
            prepared.solve[q] = self._path(problem)
        self._keep(prepared, prepared.solve[q](float(self._cost())))

    def _path(self, problem: "SchattenProblem") -> Callable[[float], Solution]:
        """Return the solver for one C after the other."""
        from mtmkl.solvers.weights.mixed_schatten import MixedSchattenPath

        return MixedSchattenPath(problem, **self._limits).solve

    def _keep(self, prepared: "_Prepared", solution: Solution) -> None:
        """Set the fitted attributes."""
        coordinates = prepared.coordinates
        self.kernel_names_ = coordinates.terms.names
        self.norms_ = solution.extra["norms"]
        self.ranks_ = solution.extra["ranks"]
        self.basis_dimensions_ = np.diff(coordinates.ends)
        self.discarded_trace_ = np.array(
            [0.0 if b is None else b.discarded_trace for b in coordinates.bases]
        )
        self.dual_coef_ = np.empty(prepared.order.size)
        self.dual_coef_[prepared.order] = solution.dual
        self.intercept_ = solution.intercept
        self._keep_certificate(solution)
        self._coordinates = coordinates
        self._coef = coordinates.coefficients(solution.coef)

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        out = self._coordinates.outputs(X, task, self._coef)
        return out + self.intercept_[task]


@dataclass
class _Prepared:
    """Data that the points of a path share."""

    coordinates: "_Coordinates"
    factors: list[FloatArray]
    y: FloatArray
    sizes: IntArray
    order: IntArray
    solve: dict[float, Callable[[float], Solution]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Coordinates:
    """Orthonormal coordinates of the training span in each kernel."""

    terms: KernelTerms
    #: None for a single feature, whose value is its coordinate.
    bases: tuple[KernelBasis | None, ...]
    #: Kernel j has the coordinates ``ends[j]:ends[j + 1]``, (k + 1,).
    ends: IntArray

    @classmethod
    def of(
        cls,
        X: FloatArray,
        kernels: KernelList,
        *,
        normalize: Normalization,
        standardize: bool,
        basis_tol: float,
    ) -> "tuple[_Coordinates, list[FloatArray]]":
        """Return the coordinates of training samples, and their values there.

        Raises GramMemoryError if these would need more than ``MAX_BYTES``.
        """
        terms = KernelTerms.of(X, kernels, normalize=normalize, standardize=standardize)
        Z = terms.inputs(X)
        bases: list[KernelBasis | None] = []
        factors: list[FloatArray] = []
        n_bytes = 0
        for j, kernel in enumerate(terms.kernels):
            root = np.sqrt(terms.scale[j])
            if kernel is None:
                bases.append(None)
                factors.append(root * Z[:, [terms.column[j]]])
            else:
                basis, values = kernel_basis(kernel, Z, tol=basis_tol)
                bases.append(basis)
                factors.append(root * values)
            n_bytes += factors[-1].nbytes
            if n_bytes > MAX_BYTES:
                raise GramMemoryError(
                    f"coordinates of {len(X)} samples in {j + 1} of {terms.n_terms} "
                    f"kernels need {1e-9 * n_bytes:.1f} GB, the bound is "
                    f"{1e-9 * MAX_BYTES:.1f} GB. Take fewer samples or kernels, or "
                    "raise basis_tol"
                )
        ends = np.cumsum([0, *(each.shape[1] for each in factors)]).astype(np.intp)
        return cls(terms, tuple(bases), ends), factors

    def coefficients(self, W: FloatArray) -> list[FloatArray | None]:
        """Return what multiplies the kernels with the landmarks, for W' (T, D).

        None for kernels without models.
        """
        out: list[FloatArray | None] = []
        for j, basis in enumerate(self.bases):
            part = W[:, self.ends[j] : self.ends[j + 1]].T * np.sqrt(
                self.terms.scale[j]
            )
            if not part.any():
                out.append(None)
            else:
                out.append(part if basis is None else basis.models(part))
        return out

    def outputs(
        self, X: FloatArray, task: IntArray, coefficients: list[FloatArray | None]
    ) -> FloatArray:
        """Return Σ_j w_jt'z_j(x) of raw features x of tasks t."""
        Z, out = self.terms.inputs(X), np.zeros(task.size)
        # Rows as bytes sort several times faster than as records of numbers.
        as_bytes = np.ascontiguousarray(Z).view(f"V{Z.itemsize * Z.shape[1]}")[:, 0]
        _, first, index = np.unique(as_bytes, return_index=True, return_inverse=True)
        distinct = Z[first]
        groups = [(np.flatnonzero(task == t), t) for t in np.unique(task)]
        is_shared = 2 * len(distinct) <= len(Z)
        for j, values in enumerate(coefficients):
            basis = self.bases[j]
            if values is None:
                continue
            if basis is None:
                out += Z[:, self.terms.column[j]] * values[0, task]
            elif is_shared:  # by the tasks
                outputs = basis.kernel(distinct, basis.landmarks) @ values
                out += outputs[index.ravel(), task]
            else:
                for rows, t in groups:
                    cross = basis.kernel(Z[rows], basis.landmarks)
                    out[rows] += cross @ values[:, t]
        return out


class MKMTSFLClassifier(_MixedSchattenMachine, MultiTaskClassifier):
    r"""Support vector machines of many tasks on few learned features of few kernels.

    Solves, to a relative duality gap, the problem MK-MTSFL of Jawanpuria and Nath
    (2011), section 4, over matrices W_j of the models of all tasks in kernel j and
    intercepts b_t,

    .. math::

        \min \tfrac12 \Bigl(\sum_j \|W_j\|_{\mathrm{tr}}^q\Bigr)^{2/q}
        + C \sum_{t,i} \mathrm{hinge}, \qquad 1 \le q \le 2,

    where the trace norm, the sum of the singular values, is the least
    Σ_l ||w_·jl||_2 over rotations of the features. With one kernel, whatever q, this is
    multi-task sparse feature learning (MTSFL),
    :class:`MultiTaskFeatureLearningRegressor` with another loss; with the kernel
    ``{"name": "average", ...}`` MTSFL on the average of several.

    Parameters
    ----------
    C : float
        Cost of slack, positive; the same in every task.
    q : float
        The norm over the kernels, from 1 (few of them) to 2 (all).
    kernels, normalize, standardize
        As for :class:`MKMTFLClassifier`, but for "precomputed".
    basis_tol : float
        At least 0, below 1. Eigenvalues of the Gram matrix of the distinct training
        samples at most this share of the largest are cut, in each kernel; the problem
        is that of the coordinates kept.
    tol : float
        Relative duality gap to reach, positive.
    max_iter : int
        Limit on iterations.

    Attributes
    ----------
    norms_ : ndarray of shape (k,)
        ||W_j||_tr.
    ranks_ : ndarray of shape (k,)
        Of the W_j.
    kernel_names_ : tuple of str of length k
    basis_dimensions_ : ndarray of shape (k,)
        Coordinates kept of each kernel.
    discarded_trace_ : ndarray of shape (k,)
        Share of the trace of each Gram matrix beyond ``basis_tol``.
    dual_coef_ : ndarray of shape (n,)
        The dual point y_i α_i of ``dual_objective_``.
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_, duality_gap_ : float
        Value of the problem at the solution, a lower bound on its minimum (the value of
        feasible dual variables), and their relative difference. All three are of the
        problem in the coordinates that ``basis_tol`` keeps: with all of them
        (``basis_tol=0``) the minimum may be lower.
    history_ : ndarray
        Least objective at each check of the gap.
    n_iter_ : int

    Notes
    -----
    A task with samples of one class gets the constant decision ±1.

    References
    ----------
    P. Jawanpuria, J. S. Nath, Multi-task multiple kernel learning, SIAM International
    Conference on Data Mining, 2011.
    """


@dataclass(eq=False, repr=False)
class MKMTSFLRegressor(TubeRegression, _MixedSchattenMachine, MultiTaskRegressor):
    r"""Support vector regression of many tasks on few learned features of few kernels.

    The problem of :class:`MKMTSFLClassifier` with the ε-insensitive loss
    max(|r| − ε, 0).

    Parameters
    ----------
    C, epsilon, standardize_target
        As for :class:`IndependentSVMRegressor`.
    q, kernels, normalize, standardize, basis_tol, tol, max_iter
        As for :class:`MKMTSFLClassifier`.

    Attributes
    ----------
    norms_, ranks_, basis_dimensions_, discarded_trace_, intercept_ : ndarray
    history_ : ndarray
    kernel_names_ : tuple of str of length k
    objective_, dual_objective_, duality_gap_ : float
    n_iter_ : int
        As for :class:`MKMTSFLClassifier`.
    target_scale_ : float
        As for :class:`IndependentSVMRegressor`.
    dual_coef_ : ndarray of shape (n,)
        The dual point α_i − α*_i of ``dual_objective_``.
    """
