"""What all support vector machines on weighted kernels share."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelList, KernelTerms, Normalization, has_features
from mtmkl.methods._base.estimator import PathEstimator, check_flag, check_not_negative
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from mtmkl.solvers.solution import Solution


class KernelMachine(PathEstimator):
    """Base of estimators that are support vector machines on weighted sums of kernels.

    The points of a path share the kernels. A subclass has the parameters ``C``,
    ``kernels``, ``normalize``, ``standardize`` and ``tol``.

    Inputs may be sparse if they are not standardised and no kernel is a single feature:
    the solvers see nothing of them but Gram matrices.
    """

    C: float
    tol: float
    kernels: KernelList
    normalize: Normalization
    standardize: bool

    along: ClassVar[tuple[str, ...]] = ("C",)

    def _cost(self) -> float:
        """Return the weight of the loss that the solver sees."""
        return self.C

    #: Whether one support vector machine serves all tasks.
    _joined: ClassVar[bool] = False

    def _dense_only(self) -> str | None:
        if self.standardize:
            return (
                "standardize=True subtracts the means of the features, so that no zero "
                "stays zero"
            )
        if has_features(self.kernels):
            return (
                '"features" makes a dense column of each feature (take kernels such as '
                '"linear", whose Gram matrices are sparse products)'
            )
        return None

    def _training_set(
        self, X: FloatArray, task: IntArray, *, n_points: int
    ) -> TrainingSet:
        """Resolve the kernels on the training inputs."""
        terms = KernelTerms.of(
            X, self.kernels, normalize=self.normalize, standardize=self.standardize
        )
        return TrainingSet(
            terms,
            X,
            task,
            self.tasks_.size,
            joined=self._joined,
            keep_last=n_points > 1,
        )

    def _keep_machine(
        self, training: TrainingSet, weights: FloatArray, solution: "Solution"
    ) -> None:
        """Set the fitted attributes, with weights (T, D) or (D,) of the kernels."""
        terms, block = training.terms, training.block_of_task
        beta, intercept = solution.dual, solution.intercept
        assert beta is not None
        assert intercept is not None
        self.kernel_names_ = terms.names
        self.dual_coef_ = np.empty(beta.size)
        self.dual_coef_[training.order] = beta
        self.intercept_ = intercept[block]
        keep_certificate(self, solution)
        self._training = training
        self._beta = beta
        self._weights = np.broadcast_to(weights, (training.sizes.size, terms.n_terms))
        if terms.is_feature.all():
            self._fold_into_weights(training)
        elif hasattr(self, "coef_"):
            del self.coef_  # of an earlier fit on features

    def _fold_into_weights(self, training: TrainingSet) -> None:
        """Write the models as weights of the raw inputs."""
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

    def _scores(self, X: FloatArray, task: IntArray) -> FloatArray:
        if hasattr(self, "coef_"):
            values: FloatArray = np.einsum("ij,ji->i", X, self.coef_[:, task])
        else:
            values = self._training.outputs(X, task, self._beta, self._weights)
        return values + self.intercept_[task]


class TubeRegression(PathEstimator):
    """Base of support vector regression, to stand before that of the machine.

    A subclass has the parameters ``C``, ``epsilon`` and ``standardize_target``. Targets
    are not changed: ½||w||² + C·Σ max(|r| − ε, 0) on targets that are divided by s is
    the problem with C·s and ε·s, and offsets take the means.
    """

    C: float
    epsilon: float
    standardize_target: bool

    def _check_params(self) -> None:
        super()._check_params()
        check_not_negative("epsilon", self.epsilon)
        check_flag("standardize_target", self.standardize_target)

    def _cost(self) -> float:
        return self.C * self.target_scale_

    def _tube(self) -> float:
        return float(self.epsilon) * self.target_scale_

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray, *, n_points: int
    ) -> Any:
        spread = float(np.std(y)) if self.standardize_target else 1.0
        self.target_scale_ = spread if spread > 0 else 1.0
        prepared = super()._prepare(X, y, task, n_points=n_points)
        return prepared, self.target_scale_

    def _follow(self, prepared: Any, previous: Any) -> Any:
        inner, self.target_scale_ = prepared
        return super()._follow(inner, previous)


def keep_certificate(estimator: Any, solution: "Solution") -> None:
    """Set the fitted attributes that say how good a solution is."""
    certificate = solution.certificate
    estimator.objective_ = certificate.objective
    estimator.dual_objective_ = certificate.dual_objective
    estimator.duality_gap_ = certificate.duality_gap
    estimator.n_iter_ = certificate.n_iter
    estimator.history_ = certificate.history
