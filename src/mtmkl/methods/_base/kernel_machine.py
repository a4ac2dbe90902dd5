"""Support vector machines on weighted kernels."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags

from mtmkl.checks import checks, one_of
from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.precomputed import TrainingGram
from mtmkl.kernels.terms import (
    KernelList,
    KernelTerms,
    Normalization,
    check_kernels,
    has_features,
)
from mtmkl.methods._base.checks import NO_ZEROS
from mtmkl.methods._base.estimator import Mixin
from mtmkl.solvers.solution import Solution
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from mtmkl.solvers.svm.task_duals import DualProblem


#: The ten kernels of Yousefi et al. (2015).
TEN_KERNELS: tuple[Mapping[str, Any], ...] = (
    {"name": "linear"},
    {"name": "polynomial", "degree": 2},
    *({"name": "gaussian", "width": 2.0**power} for power in range(8)),
)


@dataclass(eq=False, repr=False)
class KernelMachine(Mixin):
    """Mixin of support vector machines on weighted sums of kernels.

    The points of a path share the kernels. The weights are all 1, unless a subclass
    overrides ``_path``.

    Features may be sparse if they are not standardised and no kernel is a single
    feature: the solvers see nothing of them but Gram matrices.
    """

    C: float = 1.0
    _: KW_ONLY
    kernels: KernelList = "features"
    normalize: Normalization = None
    standardize: bool = False
    tol: float = 1e-6

    fit_intercept = True
    along: ClassVar[tuple[str, ...]] = ("C",)
    _checks = checks(normalize=one_of("trace", None))
    #: Whether one support vector machine serves all tasks.
    _joined: ClassVar[bool] = False
    #: Whether each task has kernel weights of its own.
    _own_weights: ClassVar[bool] = False

    def _cost(self) -> float:
        """Return the weight of the loss that the solver sees."""
        return self.C

    def _tube(self) -> float | None:
        """Return the ε of regression, None for classification."""
        return None

    def _path(self, problem: "DualProblem") -> Any:
        """Return the solver of the duals, for one point after the other."""
        from mtmkl.solvers.svm.sum_kernel import SumKernelPath

        return SumKernelPath(problem, tol=self.tol)

    def _solve(self, path: Any) -> Solution:
        """Solve at this point."""
        solution: Solution = path.solve(self._cost())
        return solution

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags

    @property
    def _is_precomputed(self) -> bool:
        """True if X holds kernel values, as for ``SVC(kernel="precomputed")``."""
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def _check_params(self) -> None:
        super()._check_params()
        check_kernels(self.kernels)
        if self._is_precomputed and (self.standardize or self.normalize == "cosine"):
            raise ValueError(
                'kernels="precomputed" goes with standardize=False, as X holds kernel '
                'values, and with normalize="trace" or None, as k(x, x) of new samples '
                "is not known"
            )

    def _given_gram(self, X: FloatArray) -> tuple[TrainingGram, FloatArray]:
        """Return the kernel of given values, and the numbers of the samples, (n, 1)."""
        # With a column of y for each task, samples repeat.
        n = X.shape[1]
        if len(X) % n or (len(X) > n and not self._has_columns) or n < 2:
            raise ValueError(
                'with kernels="precomputed", X must be a square matrix of the kernel '
                "values of two training samples or more (of new ones with these in "
                f"predict), got shape {X.shape}"
            )
        return TrainingGram(X[:n]), (np.arange(len(X)) % n)[:, None].astype(np.float64)

    def _dense_only(self) -> str | None:
        if self._is_precomputed:
            return "it holds kernel values"
        if self.standardize:
            return NO_ZEROS
        if has_features(self.kernels):
            return (
                '"features" makes a dense column of each feature (take kernels such as '
                '"linear", whose Gram matrices are sparse products)'
            )
        return None

    def _prepare(self, X: FloatArray, y: FloatArray, task: IntArray) -> Any:
        from mtmkl.solvers.svm.task_duals import DualProblem

        kernels = self.kernels
        if self._is_precomputed:
            kernels, X = self._given_gram(X)
        terms = KernelTerms.of(
            X, kernels, normalize=self.normalize, standardize=self.standardize
        )
        training = TrainingSet(terms, X, task, self.tasks_.size, joined=self._joined)
        first = np.arange(training.sizes.size) * self._own_weights
        problem = DualProblem.of(
            y[training.order],
            training.blocks(),
            weight=first[:, None] * terms.n_terms + terms.order,
            epsilon=self._tube(),
            fit_intercept=self.fit_intercept,
        )
        return training, self._path(problem)

    def _follow(self, prepared: Any, previous: Solution | None) -> Solution:
        training, path = prepared
        training.keep_last = previous is not None  # the path has other models
        solution = self._solve(path)
        self._keep(training, solution)
        return solution

    def _keep(self, training: TrainingSet, solution: Solution) -> None:
        """Set the fitted attributes; ``coef`` has weights (T, D) or (D,) of kernels."""
        terms, block = training.terms, training.block_of_task
        beta, intercept = solution.dual, solution.intercept
        self.kernel_names_ = terms.names
        self.dual_coef_ = np.empty(beta.size)
        self.dual_coef_[training.order] = beta
        self.intercept_ = intercept[block]
        self._keep_certificate(solution)
        self._training = training
        self._beta = beta
        shape = training.sizes.size, terms.n_terms
        self._weights = np.broadcast_to(solution.coef, shape)
        if terms.is_feature.all():
            self._fold_into_weights(training)
        elif hasattr(self, "coef_"):
            del self.coef_  # of an earlier fit on features

    def _fold_into_weights(self, training: TrainingSet) -> None:
        """Write the models as weights of the raw features."""
        from mtmkl.solvers.svm.task_duals import feature_weights

        terms, block = training.terms, training.block_of_task
        weights = feature_weights(training.blocks(), self._beta)
        weights = weights * self._weights * np.sqrt(terms.scale)
        coef = np.zeros((self.n_features_in_, training.sizes.size))
        for t in range(training.sizes.size):
            np.add.at(coef[:, t], terms.column, weights[t])
        self.coef_ = coef[:, block]
        if terms.scaler is not None:
            self.coef_ /= terms.scaler.scale_[:, None]
            self.intercept_ = self.intercept_ - terms.scaler.mean_ @ self.coef_

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        if hasattr(self, "coef_"):
            values: FloatArray = np.einsum("ij,ji->i", X, self.coef_[:, task])
        else:
            values = self._training.outputs(X, task, self._beta, self._weights)
        return values + self.intercept_[task]


@dataclass(eq=False, repr=False)
class SumKernelMachine(KernelMachine):
    """Mixin of support vector machines on a sum of kernels."""

    _: KW_ONLY
    fit_intercept: bool = True


@dataclass(eq=False, repr=False)
class WeightedKernelMachine(KernelMachine):
    """Mixin of support vector machines that learn kernel weights θ_t in a simplex."""

    _checks = checks(normalize=one_of("cosine", "trace", None))
    _own_weights = True
    #: λ, the weight of the pairs of tasks.
    lam = 0.0

    _: KW_ONLY
    kernels: KernelList = TEN_KERNELS
    normalize: Normalization = "cosine"
    tol: float = 1e-4
    max_iter: int = 500

    def _path(self, problem: Any) -> Any:
        from mtmkl.solvers.weights.pairwise_sharing import PairwiseSharingPath

        return PairwiseSharingPath(problem, **self._limits)

    def _solve(self, path: Any) -> Solution:
        solution: Solution = path.solve(self._cost(), float(self.lam))
        return solution

    def _keep(self, training: TrainingSet, solution: Solution) -> None:
        super()._keep(training, solution)
        self.weights_ = self._weights


@dataclass(eq=False, repr=False)
class TubeRegression(Mixin):
    """Mixin of support vector regression; its machine comes after it.

    Targets are not changed: ½||w||² + C·Σ max(|r| − ε, 0) on targets that are divided
    by s is the problem with C·s and ε·s, and intercepts take the means.
    """

    C: float = 1.0
    _: KW_ONLY
    epsilon: float = 0.1
    standardize_target: bool = False

    def _cost(self) -> float:
        return self.C * self.target_scale_

    def _tube(self) -> float:
        return float(self.epsilon) * self.target_scale_

    def _fit_group(
        self, group: Sequence[Self], X: FloatArray, y: FloatArray, task: IntArray
    ) -> None:
        spread = float(np.std(y)) if self.standardize_target else 1.0
        for each in group:
            each.target_scale_ = spread if spread > 0 else 1.0
        super()._fit_group(group, X, y, task)
