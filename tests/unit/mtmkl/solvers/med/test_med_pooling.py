from itertools import combinations

import dual_problems
import numpy as np
import pytest
from bounds import assert_between
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from mtmkl.certify.kernel_problems import adaptive_pooling
from mtmkl.kernels.gram import GramMemoryError
from mtmkl.solvers.med import med_pooling, med_pooling_steps
from mtmkl.solvers.med.med_pooling import PoolingPath


class Problem:
    """One communal kernel and one of each task, on samples in blocks."""

    def __init__(self, kernel, c, sizes, specialised=None):
        self.sizes, self.c = sizes, c
        self.ends = np.cumsum([0, *sizes])
        self.communal = 0.1 * kernel
        blocks = [kernel[self.rows(t), self.rows(t)] for t in range(len(sizes))]
        scale = 0.9 * len(sizes) if specialised is None else specialised
        self.specialised = [scale * block for block in blocks]
        self.within = [0.1 * block for block in blocks]

    def rows(self, t):
        return slice(self.ends[t], self.ends[t + 1])

    def stated(self, C, log_alpha):
        """Return the printed dual."""
        targets = [self.c[self.rows(t)] for t in range(len(self.sizes))]
        return adaptive_pooling(targets, self.communal, self.specialised, C, log_alpha)

    def path(self, **kwargs):
        return PoolingPath(self.communal, self.specialised, self.c, **kwargs)


class Toy(Problem):
    def __init__(self, seed=0):
        toy = dual_problems.Toy((8, 10, 7, 9), seed=seed)
        X = np.vstack(toy.X)
        super().__init__((X @ X.T + 1) ** 2 / 10, np.concatenate(toy.y), toy.sizes)


class Pairs(Problem):
    """One-vs-one tasks of classes of points with one linear kernel."""

    def __init__(self, n_classes, n_features, *, seed, spread):
        rng = np.random.default_rng(seed)
        centres = spread * rng.standard_normal((n_classes, n_features))
        pairs = list(combinations(range(n_classes), 2))
        means = np.vstack([centres[np.repeat(pair, 4)] for pair in pairs])
        X = means + rng.standard_normal(means.shape)
        c = np.tile(np.repeat([1.0, -1.0], 4), len(pairs))
        super().__init__(X @ X.T / n_features, c, (8,) * len(pairs))


@pytest.mark.parametrize("log_alpha", [-np.inf, 0.0, 5.0])
@pytest.mark.parametrize("C", [1, 10])
def test_against_the_printed_dual(C, log_alpha):
    toy = Toy()
    solution, stated = toy.path(tol=1e-9).solve(C, log_alpha), toy.stated(C, log_alpha)
    assert_between(solution.certificate, stated, 1e-9)
    q = stated.var_dict["q"].value
    np.testing.assert_allclose(solution.coef, expit(q - log_alpha), atol=1e-4)


@pytest.mark.parametrize(
    ("seed", "spread", "C", "relative"),
    [(0, 2.0, 64.0, 5.0), (0, 2.0, 1024.0, 0.5), (5, 0.5, 64.0, 5.0)],
)
def test_a_large_box_and_switches_almost_off(seed, spread, C, relative):
    # V grows like 1/s there: a line search that cuts steps by the secant of its slopes
    # is still at gaps of 0.05 to 0.78 after 100 steps.
    toy = Pairs(4, 3, seed=seed, spread=spread)
    path = toy.path()
    log_alpha = relative * path.largest_q(C)
    certificate = path.solve(C, log_alpha).certificate
    assert certificate.n_iter <= 30
    assert_between(certificate, toy.stated(C, log_alpha), 1e-6)


def outputs(toy, solution):
    out = toy.communal @ solution.dual
    for t, K in enumerate(toy.specialised):
        rows = toy.rows(t)
        out[rows] += solution.coef[t] * K @ solution.dual[rows]
    return out


def test_task_of_one_class_leans_on_the_communal_classifier():
    toy = Toy()
    toy.c[toy.rows(2)] = 1.0
    solution = toy.path().solve(1.0, 1.0)
    np.testing.assert_array_equal(solution.dual[toy.rows(2)], 0.0)
    scores = outputs(toy, solution)[toy.rows(2)] + solution.intercept[2]
    # No bias above it is needed by any example, none below it suffices for all.
    assert scores.min() == pytest.approx(1.0)


@pytest.mark.parametrize("scale", [1e5, 1e7, 1e12])
def test_joint_solves_end_at_rounding_and_say_so(scale):
    X = np.random.default_rng(0).normal(size=(120, 5))
    c = np.where(X.sum(axis=1) > 0.3, 1.0, -1.0)
    X[:, 0] *= scale
    blocks = [X[:40], X[40:80], X[80:]]
    path = PoolingPath(X @ X.T, [x @ x.T for x in blocks], c)
    granted = path._problem.work_left
    with pytest.warns(ConvergenceWarning, match=r"rounding .*standardize=True"):
        solution = path.solve(100.0, 0.0)
    assert solution.certificate.dual_objective <= solution.certificate.objective
    assert 0 < granted - path._problem.work_left < 0.5 * granted


def test_without_pair_steps_the_point_at_hand_is_returned():
    toy = Toy()
    problem = toy.path()._problem
    problem.set_box(1.0)
    problem.work_left = 0
    inner = problem.solve(np.ones(4), 1e-12)
    assert "bound on their work" in inner.limit
    assert inner.dual <= inner.primal


def test_curvature_is_the_change_of_q_with_the_switches():
    toy = Toy(seed=3)
    problem = toy.path()._problem
    problem.set_box(5.0)
    s = np.array([0.3, 0.9, 0.6, 0.5])
    problem.solve(s, 1e-11)
    free = (np.abs(problem.beta) > 0) & (np.abs(problem.beta) < 5.0)
    assert 0 < free.sum() < free.size
    found, step = problem.curvature(s), 1e-6
    for t, change in enumerate(step * np.eye(4)):
        up, down = (problem.solve(moved, 1e-11).q for moved in (s + change, s - change))
        slope = (down - up) / (2 * step)
        np.testing.assert_allclose(slope, found[t], rtol=1e-4, atol=1e-5)
    # The last factor belongs to other switches and is not taken for theirs.
    problem.solve(s, 1e-11)
    assert not np.allclose(problem.curvature(0.5 * s), found, rtol=0.01)
    np.testing.assert_allclose(problem.curvature(s), found, rtol=1e-6, atol=1e-9)


def test_work_in_slices_comes_to_the_same_solution(monkeypatch):
    ended, solve_joint = [], med_pooling_steps.solve_joint

    def counted(*arguments):
        ended.append(bool(solve_joint(*arguments)))
        return ended[-1]

    def solved():
        problem = Toy(seed=4).path()._problem
        problem.set_box(50.0)
        return problem.solve(np.full(4, 0.4), 1e-10)

    expected = solved()
    monkeypatch.setattr(med_pooling, "SLICE", 1.0)
    monkeypatch.setattr(med_pooling_steps, "solve_joint", counted)
    found = solved()
    assert ended == [False] * (len(ended) - 1) + [True]
    assert len(ended) > 3
    assert found.dual == pytest.approx(expected.dual, rel=1e-9)
    assert found.primal == pytest.approx(expected.primal, rel=1e-9)


class Shared(Problem):
    """Many tasks on one kernel, of which a factor of some columns is known."""

    def __init__(self, rank, *, spread=1.0, specialised=None, seed=0):
        rng = np.random.default_rng(seed)
        sizes = (9, 14, 6, 11, 10, 12, 1, 8)
        X = rng.normal(size=(sum(sizes), 4))
        own = rng.normal(size=(len(sizes), 4))
        scores = np.einsum("ij,ij->i", X, np.repeat(1 + own, sizes, axis=0))
        c = np.where(scores + 0.5 * rng.normal(size=len(X)) > 0, 1.0, -1.0)
        factor, kernel = X, X @ X.T
        if rank is not None:
            distances = np.sum((X[:, None] - X[None]) ** 2, axis=2)
            kernel = np.exp(-distances / (2 * spread**2))
            # Columns of the Cholesky factor: the rest is positive semi-definite.
            factor = np.linalg.cholesky(kernel + 1e-10 * np.eye(len(X)))[:, :rank]
        super().__init__(kernel, c, sizes, specialised)
        self.factor = np.sqrt(0.1) * factor
        self.products = self.matrices = 0

    def factored(self, *, whole=None, **kwargs):
        return PoolingPath(
            self.factor, self.specialised, self.c, within=self.within, whole=whole,
            **kwargs,
        )  # fmt: skip

    def product(self, beta):
        self.products += 1
        return self.communal @ beta

    def matrix(self):
        self.matrices += 1
        return self.communal


@pytest.mark.parametrize(
    ("C", "log_alpha"), [(30.0, -np.inf), (1.0, 0.0), (30.0, 4.0), (1.0, 60.0)]
)
def test_a_factor_leads_to_the_same_solution_as_the_matrix(C, log_alpha):
    shared = Shared(None)
    expected = shared.path(tol=1e-10).solve(C, log_alpha)
    solution = shared.factored(tol=1e-10).solve(C, log_alpha)
    assert solution.certificate.objective == pytest.approx(
        expected.certificate.objective, rel=1e-9
    )
    np.testing.assert_allclose(solution.coef, expected.coef, atol=1e-5)
    np.testing.assert_allclose(
        outputs(shared, solution), outputs(shared, expected), atol=1e-4
    )


@pytest.mark.parametrize("log_alpha", [-np.inf, 0.0, 30.0])
def test_what_a_factor_lacks_is_made_up_for(log_alpha):
    shared = Shared(10)
    lacking = np.trace(shared.communal) - np.sum(shared.factor**2)
    assert lacking > 0.3 * np.trace(shared.communal)
    path = shared.factored(whole=shared, tol=1e-8)
    solution = path.solve(2.0, log_alpha)
    assert solution.certificate.status == "converged"
    expected = shared.path(tol=1e-10).solve(2.0, log_alpha)
    assert solution.certificate.dual_objective <= expected.certificate.objective
    assert solution.certificate.objective >= expected.certificate.dual_objective
    assert solution.certificate.duality_gap <= 1e-8
    np.testing.assert_allclose(
        outputs(shared, solution), outputs(shared, expected), atol=1e-3
    )
    assert 2 < shared.products < 30
    assert shared.matrices == 0
    # Along a path it begins with what was lacking at the last solution.
    before = shared.products
    path.solve(2.0, log_alpha)
    assert shared.products - before < before


def test_the_matrix_takes_over_from_a_factor_that_is_too_poor(monkeypatch):
    monkeypatch.setattr(med_pooling, "_MOST_CORRECTIONS", 3)
    shared = Shared(1, specialised=0.05)
    path = shared.factored(whole=shared, tol=1e-8)
    for C in (5.0, 1.0):
        solution = path.solve(C, 1.0)
        expected = shared.path(tol=1e-8).solve(C, 1.0)
        assert solution.certificate.status == "converged"
        assert solution.certificate.objective == pytest.approx(
            expected.certificate.objective, rel=1e-7
        )
    assert shared.matrices == 1


def test_bounds_hold_where_no_matrix_can_take_over(monkeypatch):
    monkeypatch.setattr(med_pooling, "_MOST_CORRECTIONS", 3)
    shared = Shared(1, specialised=0.05)

    def refuse():
        raise GramMemoryError("too large")

    monkeypatch.setattr(shared, "matrix", refuse)
    with pytest.warns(ConvergenceWarning, match="switches"):
        found = shared.factored(whole=shared, tol=1e-8).solve(5.0, 1.0).certificate
    expected = shared.path(tol=1e-8).solve(5.0, 1.0).certificate
    assert found.status == "stopped"
    assert found.dual_objective < expected.dual_objective * (1 - 1e-6)
    assert found.objective > expected.objective * (1 + 1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("scale", "matrices"), [(1e8, 0), (1e10, 1)])
def test_rounding_ends_a_factor_no_sooner_than_the_matrix(scale, matrices):
    shared = Shared(10)
    shared.factor = np.sqrt(scale) * shared.factor
    shared.communal = scale * shared.communal
    shared.within = [scale * block for block in shared.within]
    shared.specialised = [scale * block for block in shared.specialised]
    expected = shared.path().solve(5.0, 1.0).certificate
    found = shared.factored(whole=shared).solve(5.0, 1.0).certificate
    assert found.status == expected.status
    assert found.duality_gap <= max(1e-6, 2.0 * expected.duality_gap)
    assert found.objective >= expected.dual_objective
    assert expected.objective >= found.dual_objective
    assert shared.matrices == matrices
