"""Checks of parameters: each takes a name and a value, and raises ValueError."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

Check = Callable[[str, Any], None]


def require(condition: bool, name: str, value: object, demand: str) -> None:
    """Raise ValueError, with name, value and demand, unless a condition holds."""
    if not condition:
        raise ValueError(f"{name} must be {demand}, got {value!r}")


def is_number(value: Any) -> bool:
    """Tell whether the value is a number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Tell whether the value is a finite number; True and False are none."""
    return is_number(value) and bool(np.isfinite(float(value)))


def is_count(value: Any, least: int) -> bool:
    """Tell whether the value is a whole number of at least ``least``."""
    return is_number(value) and isinstance(value, Integral) and int(value) >= least


def _is_group(value: Any) -> bool:
    """Tell whether the value is a number of groups, or a share of the tasks."""
    is_share = not isinstance(value, Integral) and is_finite(value)
    return (is_share and 0 < value <= 0.5) or is_count(value, 1)


def check_that(demand: str, is_valid: Callable[[Any], bool]) -> Check:
    """Return the check that a value is as demanded."""
    return lambda name, value: require(is_valid(value), name, value, demand)


def count_from(least: int) -> Check:
    """Return the check that a value is a whole number of at least ``least``."""
    demand = f"a whole number of at least {least}"
    return check_that(demand, lambda value: is_count(value, least))


def at_least(least: float) -> Check:
    """Return the check that a value is a finite number of at least ``least``."""
    demand = f"at least {least} and finite"
    return check_that(demand, lambda value: is_finite(value) and value >= least)


def one_of(*choices: str | None) -> Check:
    """Return the check that a value is one of the choices."""
    *others, last = map(repr, choices)
    demand = f"{', '.join(others)} or {last}"
    return check_that(demand, lambda v: isinstance(v, str | None) and v in choices)


check_flag = check_that("True or False", lambda v: isinstance(v, bool | np.bool_))
check_count = count_from(1)
check_number = check_that("a finite number", is_finite)
check_positive = check_that("positive and finite", lambda v: is_finite(v) and v > 0)
check_share = check_that(
    "positive and less than 1", lambda v: is_finite(v) and 0 < v < 1
)
check_not_negative = at_least(0)
check_groups = check_that(
    "a whole number of at least 1, or a share of the tasks in (0, 0.5]", _is_group
)


def optional(check: Check) -> Check:
    """Return the check that a value is None, or passes another check."""
    return lambda name, value: None if value is None else check(name, value)


def checks(**own: Check) -> Mapping[str, Check]:
    """Return checks by parameter: those of a method, and the common ones."""
    return {**_COMMON, **own}


# Of the parameters that mean the same in every method.
_COMMON: Mapping[str, Check] = {
    "C": check_positive,
    "alpha": check_not_negative,
    "basis_tol": check_share,
    "binarize": check_number,
    "epsilon": check_not_negative,
    "fit_intercept": check_flag,
    "lam": check_positive,
    "lam_1": check_positive,
    "lam_2": check_positive,
    "max_iter": check_count,
    "n_clusters": check_groups,
    "n_groups": check_groups,
    "n_restarts": check_count,
    "random_state": optional(count_from(0)),
    "relative_alpha": optional(check_not_negative),
    "standardize": check_flag,
    "standardize_target": check_flag,
    "tol": check_positive,
}
