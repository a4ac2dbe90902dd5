"""Random and extreme problems for every method that certifies what it finds.

Each is fitted twice, to the tolerance and to a looser one. What must hold:

- nothing is NaN or infinite: objective, gap, predictions;
- the gap is at most the tolerance, or a warning says what it is;
- the objective is that of the model, computed from its predictions and coefficients
  (``model_objectives``);
- the lower bound of either fit is at most the objective of the other.
"""

import functools
import warnings
from dataclasses import dataclass

import model_objectives
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from sklearn.base import clone, is_classifier
from warned_fits import said_by_fit

from checks.test_model_objectives import CASES, GRAPHS
from faults.table import fault
from mtmkl.kernels.precomputed import Precomputed
from mtmkl.methods import REGISTRY
from mtmkl.solvers.solution import LEAST_SHARE

# Of two sums of the same terms, relative to the larger of sum and terms.
ROUNDING = 1e-6
NOT_CONVEX = {"CoClusClassifier", "WhomClassifier"}
STRENGTHS = ("C", "gamma", "lam", "lam_1", "alpha")


class BrokenPromiseError(AssertionError):
    """A promise that a solver has not kept."""


@dataclass
class Problem:
    """A problem with tasks; copies have another output, one class is of task 0."""

    seed: int
    sizes: list[int]
    d: int
    scale: float
    has_copies: bool
    has_constant: bool
    has_one_class: bool

    def __post_init__(self):
        rng, d, n_tasks = np.random.default_rng(self.seed), self.d, len(self.sizes)
        self.task = np.repeat(np.arange(n_tasks), self.sizes)
        n = self.task.size
        X = rng.standard_normal((n, d)) + 0.3
        W = rng.standard_normal((d, 1)) + 0.7 * rng.standard_normal((d, n_tasks))
        self.target = np.einsum("ij,ji->i", X, W[:, self.task])
        self.target += 0.5 * rng.standard_normal(n)
        if self.has_constant:
            X[:, -1] = 1.0
        if self.has_copies:
            X[1::2] = X[: 2 * (n // 2) : 2]
        self.X = self.scale * X
        self.label = np.where(self.target > np.median(self.target), 1.0, -1.0)
        if self.has_one_class:
            self.label[self.task == 0] = 1.0
            self.target[self.task == 0] = 1.0

    def outputs(self, estimator):
        return self.label if is_classifier(estimator) else self.target


flags = st.booleans()
seeds = st.integers(0, 10**6)


@st.composite
def extreme_problems(draw):
    """Problems of 1 to 200 ragged tasks and of features from 1e-8 to 1e8."""
    n_tasks = draw(st.sampled_from([1, 2, 3, 3, 5, 5, 20, 200]))
    most = 12 if n_tasks <= 5 else 4
    rng = np.random.default_rng(draw(seeds))
    sizes = rng.integers(2, most + 1, n_tasks).tolist()
    return Problem(
        draw(seeds), sizes, draw(st.integers(1, 4)), 10.0 ** draw(st.integers(-8, 8)),
        draw(flags), draw(flags), draw(flags),
    )  # fmt: skip


@st.composite
def moderate_problems(draw):
    """Problems of three ragged tasks that an interior point solves."""
    sizes = [draw(st.integers(3, 9)) for _ in range(3)]
    scale = 10.0 ** draw(st.integers(-1, 1))
    return Problem(draw(seeds), sizes, 3, scale, draw(flags), draw(flags), draw(flags))


powers = st.integers(-10, 10)


def assert_certified(model, said, X, y, task):
    """Check the promises of one fit."""
    values = getattr(model, "decision_function", model.predict)(X, task)
    for name, value in (
        ("objective_", model.objective_),
        ("duality_gap_", model.duality_gap_),
        ("predictions", values),
    ):
        if not np.isfinite(value).all():
            raise BrokenPromiseError(f"{name} not finite")
    tol = getattr(model, "tol", 1e-9)
    if model.duality_gap_ > tol and "gap of " not in said:
        raise BrokenPromiseError(
            f"gap {model.duality_gap_:.1e} above tol={tol:g} without warning"
        )


def rounding(model, X):
    """Return what rounding alone can do to a sum of losses over kernel values."""
    if not hasattr(model, "dual_coef_"):
        return 0.0
    degree = 2 if "degree" in str(model.get_params()) else 1
    largest = (1.0 + np.max(np.sum(X**2, axis=1))) ** degree
    size = np.sum(np.abs(np.concatenate([*map(np.ravel, model.dual_coef_)])))
    return (
        4.0 * np.finfo(float).eps * getattr(model, "C", 1.0) * len(X) * largest * size
    )


def own_objective(model, X, y, task):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(model_objectives.objective(model, X, y, task))
        except (AssertionError, ValueError):
            # Too few digits are left to compare predictions with, or no input varies.
            return np.nan


def check_extreme(estimator, problem_inputs):
    """Fit to two tolerances and compare the bounds."""
    X, y, task = problem_inputs
    models = [clone(estimator)]
    if hasattr(estimator, "tol"):
        models.append(clone(estimator).set_params(tol=0.1))
    for model in models:
        try:
            said = said_by_fit(model, X, y, task)
        except ValueError as error:
            if len(str(error)) < 20 or "array" in str(error):
                raise BrokenPromiseError(f"refused by {error!r}") from error
            return
        assert_certified(model, said, X, y, task)
    uppers = [model.objective_ for model in models]
    lowers = [model.dual_objective_ for model in models]
    # The sums that a value is the rest of have the size of the outputs.
    slack = ROUNDING * max(map(abs, uppers)) + ROUNDING * LEAST_SHARE * np.sum(y**2)
    slack += max(rounding(model, X) for model in models)
    if max(lowers) > min(uppers) + slack:
        raise BrokenPromiseError(f"lower bounds {lowers} above objectives {uppers}")
    for model, lower in zip(models, lowers, strict=True):
        value = own_objective(model, X, y, task)
        if value < lower - slack:
            raise BrokenPromiseError(
                f"the model has objective {value}, below the bound {lower}"
            )


def given_matrix(rng, n, rank, dip):
    """Return a positive semi-definite matrix less a multiple of the identity."""
    half = rng.standard_normal((n, rank))
    K = half @ half.T / rank
    return K - dip * np.trace(K) / n * np.eye(n)


WITH_KERNELS = {
    name: cases[0][0]
    for name, cases in CASES.items()
    if name not in NOT_CONVEX and "kernels" in REGISTRY[name]().get_params()
}


def _examples(count, property_of, *strategies):
    """Run a property; return a line for each example, the least that fails in words.

    Samples that the property rejects are none.
    """
    done, passed = [], []

    @settings(
        max_examples=count, derandomize=True, deadline=None, database=None,
        phases=[Phase.generate, Phase.shrink], print_blob=False,
        suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
    )  # fmt: skip
    @given(st.tuples(*strategies))
    def check(drawn):
        done.append(drawn)
        property_of(*drawn)
        passed.append(drawn)

    try:
        check()
    except HypothesisException:
        raise
    except Exception as error:
        return [f"{type(error).__name__}: {error}; {done[-1]}"]
    return [""] * len(passed)


@fault(
    "Extreme problems",
    "Each convex method on 1 to 200 ragged tasks, copied rows, constant features, "
    "tasks of one class, features times 1e-8 to 1e8, C and λ from 1e-10 to 1e10: "
    "nothing NaN, the gap reached or said, no bound above an objective",
    few=1,
    many=30,
)
def extreme(count, scratch):
    """Try every method with its settings."""
    for name, (variants, _) in CASES.items():
        if name in NOT_CONVEX or name in GRAPHS:
            continue
        for number, params in enumerate(variants):
            estimator = REGISTRY[name](**params)
            check = functools.partial(_extreme, estimator)
            for line in _examples(count, check, extreme_problems(), powers, powers):
                yield line and f"{name}, {number}: {line}"


def _extreme(estimator, problem, first, second):
    strengths = [s for s in STRENGTHS if s in estimator.get_params()]
    drawn = zip(strengths, (first, second), strict=False)
    changed = clone(estimator).set_params(**{s: 10.0**power for s, power in drawn})
    y = problem.outputs(estimator)
    check_extreme(changed, (problem.X, y, problem.task))


@fault(
    "Matrices that are not quite kernels",
    "Each kernel method on given matrices of any rank less up to 0.3 of their mean "
    "diagonal: refused by name, or certified as any other",
    few=1,
    many=40,
)
def matrices(count, scratch):
    """Try every kernel method with matrices that are not quite kernels."""
    dips = st.sampled_from([0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 0.3])
    for name in WITH_KERNELS:
        check = functools.partial(_matrices, REGISTRY[name])
        for line in _examples(
            count, check, moderate_problems(), st.integers(1, 20), dips, powers
        ):
            yield line and f"{name}: {line}"


def _matrices(method, problem, rank, dip, power):
    rng = np.random.default_rng([rank, *problem.sizes])
    n = problem.task.size
    kernels = [
        Precomputed(given_matrix(rng, n, rank, each), f"K{k}")
        for k, each in enumerate((dip, 0.0))
    ]
    estimator = method(kernels=kernels, C=10.0**power)
    rows = np.arange(float(n))[:, None]
    check_extreme(estimator, (rows, problem.outputs(estimator), problem.task))
