import itertools

import numpy as np
import pytest

from mtmkl_suite.evaluation.cross_validation import best_points

GRID = [{"gamma": g} for g in (0.1, 1.0, 10.0, 100.0, 1000.0)]


def errors_of(*values):
    return np.array(values)[:, None]


def chosen(errors, grid=GRID):
    ((pick,), _) = best_points(errors, grid)
    return grid[pick]


def edge(errors, grid=GRID):
    return best_points(errors, grid)[1]


@pytest.mark.parametrize("last_digits", [*itertools.permutations((0.0, 2e-5, 4e-5))])
@pytest.mark.parametrize("unit", [1e-3, 1e6])
def test_what_tolerances_leave_undecided_is_a_tie(last_digits, unit):
    # No bound holds from γ = 10 on: one problem, fitted three times.
    errors = unit * np.concatenate([[3.0, 2.0], 1.0 + np.array(last_digits)])
    assert chosen(errors[:, None]) == {"gamma": 10.0}
    assert chosen(errors[::-1, None]) == {"gamma": 10.0}
    clear = unit * np.array([3.0, 2.0, 1.001, 1.0, 1.0 + last_digits[0]])
    assert chosen(clear[:, None]) == {"gamma": 100.0}


def test_rounding_of_no_error_is_a_tie():
    assert chosen(errors_of(0.0, 1e-15, 1e-15, 3.0, 4.0)) == {"gamma": 10.0}
    assert chosen(errors_of(0.0, 1e-9, 1e-9, 3.0, 4.0)) == {"gamma": 0.1}


def test_edge_counts_only_if_strictly_better_than_its_neighbour():
    assert edge(errors_of(1, 2, 3, 4, 5)) == 1
    assert edge(errors_of(1, 1, 3, 4, 5)) == 0


def test_an_axis_of_two_values_has_nothing_but_ends():
    two = [{"gamma": g} for g in (1.0, 2.0)]
    assert edge(errors_of(1, 2), two) is None
    wider = [{"gamma": g, "p": p} for p in (1, 2) for g in (0.1, 1.0, 10.0)]
    # p, at its end, does not count; γ does.
    inner, end = errors_of(2, 1, 2, 5, 5, 5), errors_of(1, 2, 3, 5, 5, 5)
    assert edge(inner, wider) == 0
    assert edge(end, wider) == 1


def test_zero_is_never_an_edge():
    grid = [{"alpha": a} for a in (0.0, 1.0, 2.0)]
    assert edge(errors_of(1, 2, 3), grid) == 0


def test_the_edge_of_several_columns_is_a_share():
    errors = np.array([[1.0, 9.0], [2.0, 1.0], [5.0, 2.5]])
    assert best_points(errors, GRID[:3]) == ([0, 1], 0.5)


def test_structured_values_can_be_chosen():
    grid = [
        {"gamma": g, "kernel": {"name": "gaussian", "median_factor": f}}
        for f in (0.5, 1.0, 2.0)
        for g in (1.0, 10.0, 100.0)
    ]
    errors = np.ones((9, 1))
    errors[7] = 0.5
    assert best_points(errors, grid) == ([7], 0)


def product(*sizes):
    """Points with the numbers 1, 2, … on the axes a and b."""
    axes = [range(1, size + 1) for size in sizes]
    return [dict(zip("ab", point, strict=True)) for point in itertools.product(*axes)]


def test_edge_of_a_design_whose_neighbour_is_missing():
    # a = 1 is an end; its neighbour (2, 2) is not among the points.
    design = [p for p in product(3, 3) if p != {"a": 2, "b": 2}]
    pick = design.index({"a": 1, "b": 2})
    errors = np.full((len(design), 1), 2.0)
    errors[pick] = 1.0
    assert edge(errors, design) == 1
    # A point away from that end that is as good, if worse placed, speaks against it.
    errors[design.index({"a": 3, "b": 3})] = 1.0
    assert best_points(errors, design) == ([pick], 0)


def test_ends_and_middle_of_a_design_are_those_of_the_values():
    # In this order the values of b are first met as 3, 1, 5, 2, 4.
    design = [
        {"a": a, "b": b} for a, b in ((1, 3), (2, 1), (2, 5), (3, 2), (3, 4), (4, 3))
    ]
    errors = np.ones((6, 1))
    errors[[1, 4]] = 0.0  # (2, 1) lies farther from the middle (2.5, 3) than (3, 4)
    assert chosen(errors, design) == {"a": 3, "b": 4}
    errors = np.ones((6, 1))
    errors[0] = 0.0  # b = 3 is no end, a = 1 is
    assert edge(errors, design) == 1
    errors = np.ones((6, 1))
    errors[3] = 0.0
    assert edge(errors, design) == 0
