from dataclasses import replace

import numpy as np
import pytest

from mtmkl.solvers.descent import Inner
from mtmkl.solvers.med.switches import (
    divergence,
    minimise_over_switches,
    switch_cost,
    switch_costs,
)


def test_switch_cost_neither_overflows_nor_cancels():
    q = np.array([5000.0])
    assert switch_cost(q, 1000.0) == pytest.approx(4000.0)
    assert switch_cost(q, -1000.0) == pytest.approx(5000.0)
    np.testing.assert_array_equal(switch_costs(q, -np.inf), q)
    # For log α far above q it is (e^q − 1)/α to first order.
    assert switch_cost(np.array([1.0]), 40.0) == pytest.approx(
        np.expm1(1.0) * np.exp(-40.0), rel=1e-6
    )


def test_divergence_is_zero_of_equal_odds_and_does_not_overflow():
    u = np.array([-3.0, 0.2, 4.0])
    assert divergence(u, u) == 0.0
    assert divergence(np.array([800.0]), np.array([-800.0])) == pytest.approx(800.0)


class Quadratic:
    """V(s) = max over β of b'β − ½ Σ_d s_d a_d β², solved to a wanted error."""

    def __init__(self, a, b):
        self.a, self.b = np.asarray(a), b

    def solve(self, s, accuracy):
        total = s @ self.a
        beta = self.b / total * (1 - accuracy)
        q = 0.5 * self.a * beta**2
        self.last = Inner(
            q=q,
            linear=self.b * beta,
            primal=0.5 * self.b**2 / total,
            dual=self.b * beta - s @ q,
        )
        return self.last

    def curvature(self, s):
        return np.outer(self.a, self.a) * self.b**2 / (s @ self.a) ** 3

    def evaluate(self, s):
        return self.last

    def refresh(self):
        pass


def test_a_far_start_is_brought_back_by_the_line_search():
    problem = Quadratic([1.0, 4.0, 0.2], 30.0)
    far = np.array([-40.0, 20.0, 5.0])
    from_far, from_near = (
        minimise_over_switches(problem, 20.0, n_switches=3, start=start, tol=1e-10)
        for start in (far, None)
    )
    assert from_far.certificate.status == "converged"
    assert from_far.certificate.objective == pytest.approx(
        from_near.certificate.objective, rel=1e-9
    )


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("q", [np.nan, np.inf])
def test_a_problem_without_a_minimum_ends(q):
    class Broken(Quadratic):
        def solve(self, s, accuracy):
            self.last = replace(super().solve(s, accuracy), q=np.array([q, 0.0, 0.0]))
            return self.last

        def curvature(self, s):
            return np.full((3, 3), q)

    problem = Broken([1.0, 4.0, 0.2], 3.0)
    result = minimise_over_switches(problem, 0.0, n_switches=3, start=np.zeros(3))
    assert result.certificate.status == "stalled"


def test_a_line_search_without_a_decrease_is_not_repeated_for_ever():
    class Rising(Quadratic):
        n_solved = 0

        def solve(self, s, accuracy):
            self.n_solved += 1
            inner = super().solve(s, accuracy)
            rise = self.n_solved
            self.last = replace(
                inner, primal=inner.primal + rise, dual=inner.dual + rise
            )
            return self.last

    problem = Rising([1.0, 4.0, 0.2], 3.0)
    result = minimise_over_switches(problem, 0.0, n_switches=3, max_iter=10_000)
    assert result.certificate.status == "stalled"
    assert problem.n_solved < 1000
